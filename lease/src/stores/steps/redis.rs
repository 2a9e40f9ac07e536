//! The script for `Redis` and `Valkey`. The store has a single kind of statement, which runs this script.
//!
//! The text of the statement is the script. Its values are the number of the script's keys, the keys, and the arguments,
//! all as strings. A driver therefore sends `EVAL`, the text and the values, and returns one row with the strings of the
//! script's reply.
//!
//! A `Redis` or `Valkey` server may lose any of its data, so it is a volatile store (`rules::volatile_store`). The store's
//! name consists of two IDs: the server's run ID, which changes at each start, and its replication ID, which changes when a
//! replica is promoted. The script rejects servers that could be replaced by another server while both still acknowledge
//! writes.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{
    Failure, Outcome, Statement, Value,
    postgresql::{CERTIFICATE_MESSAGES, contains_any},
};
use crate::{
    Error, ErrorKind, Result,
    protocol::{Namespace, Operation, Record, Reply, ReplyContent, Request},
    rules::error::damaged_record,
    rules::platforms,
    rules::volatile_store,
};

const SCRIPT: &str = include_str!("../../../sql/redis.lua");

/// The scheme under which the platforms are listed.
const SCHEME: &str = "redis";

/// The command that an operator runs to create a user.
const USER_ACL: &str = include_str!("../../../sql/redis-user.acl");

pub(super) fn statement(request: &Request) -> Statement {
    let namespace = &request.namespace;
    let keys = ["namespace", "records", "ends"].map(|kind| format!("polyflake:{kind}:{namespace}"));
    let values = ["4", "polyflake:namespaces"].map(ToOwned::to_owned).into_iter().chain(keys);
    let values = values.chain(arguments(request)).map(Value::Text).collect();
    Statement { text: SCRIPT.to_owned(), values }
}

/// Returns the arguments of the script.
fn arguments(request: &Request) -> Vec<String> {
    let (name, more) = match &request.operation {
        Operation::Open(namespace) => ("open", open(namespace)),
        Operation::Find { limit } => ("find", vec![limit.saturating_sub(1).to_string()]),
        Operation::Read { first } => ("read", vec![record_key(*first)]),
        Operation::Put { old, new } => {
            let end = new.granted_until.to_string();
            let incarnation = new.incarnation.to_string();
            ("put", vec![record_key(new.first), end, old.to_json(), new.to_json(), incarnation])
        }
        Operation::PutNamespace { old, new, first, count } => {
            ("put_namespace", put_namespace(old, new, (*first, *count)))
        }
        Operation::Survey => ("survey", Vec::new()),
        Operation::List => ("list", Vec::new()),
    };
    [name.to_owned(), request.namespace.clone()].into_iter().chain(more).collect()
}

/// Returns the key of a record. The key is the same in the hash of records and in the sorted set, which orders records by
/// the end of their grants. It is the worker ID, padded with zeros so that records whose grants end at the same time are
/// sorted by worker ID.
fn record_key(first: u64) -> String {
    format!("{first:016}")
}

/// Returns a namespace's record as JSON, split into two parts, followed by the incarnation. The script inserts the store's
/// name between the two parts.
fn open(namespace: &Namespace) -> Vec<String> {
    let namespace = Namespace { store: String::new(), ..namespace.clone() };
    let [before, after] = split(&namespace.to_json(), ",\"store\":\"");
    vec![before, after, namespace.incarnation.to_string()]
}

fn put_namespace(old: &Namespace, new: &Namespace, (first, count): (u64, u64)) -> Vec<String> {
    let fresh = Record::fresh(0, count, new.incarnation).to_json();
    let [before, rest] = split(&fresh, ",\"first\":");
    let after = rest.strip_prefix('0').unwrap_or_default().to_owned();
    vec![
        old.to_json(),
        new.to_json(),
        new.store.clone(),
        new.incarnation.to_string(),
        u8::from(volatile_store::is_new_incarnation(old, new)).to_string(),
        new.quiet_until.to_string(),
        new.records.saturating_sub(old.records).to_string(),
        first.to_string(),
        count.to_string(),
        before,
        after,
    ]
}

/// Splits JSON text after the last occurrence of `mark`. `mark` contains quotation marks, which are escaped inside JSON
/// strings, so it never matches part of a string.
fn split(json: &str, mark: &str) -> [String; 2] {
    let at = json.rfind(mark).map_or(0, |at| at + mark.len());
    [&json[..at], &json[at..]].map(ToOwned::to_owned)
}

/// Returns the reply contained in the script's outcome.
///
/// # Errors
/// Returns `store_not_durable` if the script rejects the server. If the server reports an error, returns that error.
pub(super) fn reply(request: &Request, outcome: &Outcome) -> Result<Reply> {
    if let Some(failure) = &outcome.failure {
        return Err(error(failure));
    }
    let row =
        outcome.rows.first().and_then(|rows| rows.first()).ok_or_else(unexpected_reply_error)?;
    let texts: Vec<_> = row.iter().map(text).collect::<Result<_>>()?;
    match &*texts {
        ["rejected", setting, expected, found, system] => {
            Err(setting_error(setting, expected, found, system))
        }
        [result, seconds, micros, store, namespace, values @ ..] => {
            let namespace = Some(*namespace).filter(|record| !record.is_empty());
            Ok(Reply {
                now: number(seconds)? * 1000 + number(micros)? / 1000,
                store: (*store).to_owned(),
                namespace: namespace.map(Namespace::from_json).transpose()?,
                content: content(&request.operation, result, values)?,
            })
        }
        _ => Err(unexpected_reply_error()),
    }
}

fn text(value: &Value) -> Result<&str> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(unexpected_reply_error()),
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse().ok().filter(|number| *number < 1 << 40).ok_or_else(unexpected_reply_error)
}

fn content(operation: &Operation, result: &str, values: &[&str]) -> Result<ReplyContent> {
    Ok(match (operation, result, values) {
        (Operation::Open(_), "nothing", []) => ReplyContent::Nothing,
        (Operation::Find { limit }, "records", _) => {
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            ReplyContent::Records(records(&values[..limit.min(values.len())])?)
        }
        (Operation::Read { .. }, "records", [] | [_]) => ReplyContent::Records(records(values)?),
        (Operation::Put { .. } | Operation::PutNamespace { .. }, "done", []) => ReplyContent::Done,
        (Operation::Put { .. }, "differs", [] | [_]) => {
            ReplyContent::Differs(records(values)?.pop())
        }
        (Operation::PutNamespace { .. }, "differs", []) => ReplyContent::Differs(None),
        (Operation::Survey, "survey", [count, last]) => {
            let last = Some(*last).filter(|record| !record.is_empty());
            let last = last.map(Record::from_json).transpose()?;
            ReplyContent::Survey {
                records: number(count)?,
                latest_end: last.map_or(0, |record| record.granted_until),
            }
        }
        (Operation::List, "names", _) => {
            let mut names: Vec<_> = values.iter().map(ToString::to_string).collect();
            names.sort_unstable();
            ReplyContent::Names(names)
        }
        _ => return Err(unexpected_reply_error()),
    })
}

/// Parses records and skips invalid ones. Returns an error only if every record is invalid.
fn records(values: &[&str]) -> Result<Vec<Record>> {
    let read = values.iter().map(|record| Record::from_json(record));
    let (records, errors): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
    match errors.into_iter().next() {
        Some(Err(error)) if records.is_empty() => Err(error),
        _ => Ok(records.into_iter().flatten().collect()),
    }
}

fn unexpected_reply_error() -> Error {
    damaged_record("expected the reply of the script of leases, found another one")
}

fn setting_error(setting: &str, expected: &str, found: &str, system: &str) -> Error {
    if let Some(error) =
        platforms::reject(SCHEME, setting).or_else(|| platforms::reject(SCHEME, system))
    {
        return error;
    }
    let platform = platforms::from_words(SCHEME, system);
    let advice = platform.map_or_else(String::new, |it| format!("; {}", it.description()));
    let (remedy, is_permanent) = match setting {
        "redis_mode" | "server_mode" => ("a cluster is no store", true),
        "role" => ("a replica is no store until it is promoted", false),
        "connected_slaves" => ("a replica could be promoted while this server grants", false),
        "repl_backlog_active" => (
            "the server was or had a replica; once it has none, the value is 0 after `repl-backlog-ttl`",
            false,
        ),
        "maxmemory_policy" => ("the server may remove records", true),
        _ => ("the server is no Redis and no Valkey", true),
    };
    let reason =
        format!("the server reports {setting}={found}, expected {expected}: {remedy}{advice}");
    let error = Error::new(ErrorKind::StoreNotDurable, reason);
    if is_permanent { error.permanent() } else { error }
}

/// Classifies an error by the first word of the server's message, which clients return as the code or in the message. In
/// Redis 6, the error of a command that a script runs is embedded in the script's error.
pub(super) fn error(failure: &Failure) -> Error {
    let message = failure.message.lines().next().unwrap_or_default();
    let Some(code) = failure.code.as_deref() else {
        return connection_error(message);
    };
    if let Some(error) = platforms::reject(SCHEME, message) {
        return error;
    }
    let is = |word: &&str| {
        let within = [format!(": -{word} "), format!(": {word} ")];
        code == *word || message.starts_with(word) || within.iter().any(|it| message.contains(it))
    };
    if is(&"NOPERM") || contains_any(message, &PERMISSION_MESSAGES) {
        let line = USER_ACL.trim();
        unavailable_error(format!("the user lacks a right: {message}; an operator runs {line}"))
            .permanent()
    } else if AUTH_ERROR_CODES.iter().any(is) || contains_any(message, &REJECTION_MESSAGES) {
        unavailable_error(format!("the server rejects the connection: {message}")).permanent()
    } else if CLUSTER_ERROR_CODES.iter().any(is) {
        let reason = format!("a cluster is no store; the server reports: {message}");
        Error::new(ErrorKind::StoreNotDurable, reason).permanent()
    } else if REPLICA_ERROR_CODES.iter().any(is) {
        let reason = "a replica is no store until it is promoted; the server reports";
        Error::new(ErrorKind::StoreNotDurable, format!("{reason}: {message}"))
    } else if is(&"WRONGTYPE") {
        damaged_record(format!("expected the keys of leases, found: {message}"))
    } else {
        let remedy = REMEDIES.iter().find(|(word, _)| is(word)).map_or("", |(_, remedy)| *remedy);
        unavailable_error(format!("the server reports: {message}{remedy}"))
    }
}

/// The first words of the errors for rejected connections. The next two constants list the first words of the errors for
/// clusters and for replicas.
const AUTH_ERROR_CODES: [&str; 3] = ["NOAUTH", "WRONGPASS", "DENIED"];
const CLUSTER_ERROR_CODES: [&str; 4] = ["CROSSSLOT", "MOVED", "ASK", "CLUSTERDOWN"];
const REPLICA_ERROR_CODES: [&str; 2] = ["READONLY", "MASTERDOWN"];

/// Remedies that an operator can apply, keyed by the first word of the error.
const REMEDIES: [(&str, &str); 3] = [
    ("OOM", "; raise `maxmemory`"),
    ("MISCONF", "; leases need no snapshot, so `stop-writes-on-bgsave-error` can be `no`"),
    ("NOREPLICAS", "; set `min-replicas-to-write` to 0"),
];

/// Substrings of the server's messages about a command that a user may not run. An error with such a message does not
/// always have an error code of its own.
const PERMISSION_MESSAGES: [&str; 3] =
    ["has no permissions to", "can't run this command", "No permissions to access a key"];

/// Substrings of the server's messages about a connection that cannot be used.
const REJECTION_MESSAGES: [&str; 5] = [
    "unauthenticated",
    "without any password configured",
    "invalid password",
    "DB index is out of range",
    "unknown command",
];

fn connection_error(message: &str) -> Error {
    if contains_any(message, &CERTIFICATE_MESSAGES) {
        let remedy = "name the file of its root certificates by `sslrootcert` in the URL";
        return unavailable_error(format!(
            "the server's certificate is not trusted: {message}; {remedy}"
        ))
        .permanent();
    }
    unavailable_error(format!("no answer from the server: {message}"))
}

fn unavailable_error(reason: String) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
