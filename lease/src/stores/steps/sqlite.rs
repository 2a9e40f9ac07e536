//! The SQL dialect of `SQLite`. A store is durable if it uses a rollback journal with `synchronous=EXTRA`, or a write-ahead
//! log with `synchronous` set to at least `FULL`. The store's time is the host's time, as `SQLite` reads it.

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    Failure, Rows, Statement, Value,
    sql::{Dialect, commands, parse_integer, statement},
};
use crate::{Error, ErrorKind, Result};

const SCHEMA: &str = include_str!("../../../sql/sqlite.sql");

const VERSION: &str = "PRAGMA schema_version";

/// Substrings of `SQLite`'s error messages for a file that is not a store or is damaged.
const DAMAGE_MESSAGES: [&str; 4] =
    ["malformed", "not a database", "no column named", "no such column"];

/// Substrings of `SQLite`'s error messages for a file that `SQLite` cannot write, for example because it lacks permission
/// to create a journal in the folder.
const PERMANENT_FAILURES: [&str; 2] = ["unable to open database file", "readonly database"];

/// The substring of `SQLite`'s error message for a table that does not exist.
const NO_TABLE_MESSAGE: &str = "no such table";

/// Returns the dialect for the file named `name`, which contains no quotation marks. An immediate transaction has exclusive
/// write access to the file.
pub(super) fn dialect(name: &str) -> Dialect {
    let now = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
    Dialect {
        store: format!("'{name}'"),
        state: format!("SELECT NULL, '{name}', {now}"),
        // IMMEDIATE acquires the write lock at the start. Without it, a transaction that reads first and acquires the lock
        // later would fail instead of waiting if another process wrote in between.
        write: vec!["BEGIN IMMEDIATE".into()],
        read: vec!["BEGIN".into()],
        shared: "",
        locked: "",
        integer: "BIGINT",
        mark: "?",
        returns: true,
        place: String::new(),
        version: Some(statement(VERSION)),
    }
}

/// Requests durable writes. With a write-ahead log, `EXTRA` is equivalent to `FULL`.
pub(super) fn settings() -> Vec<Statement> {
    let settings =
        "PRAGMA synchronous = EXTRA; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;
        PRAGMA synchronous; PRAGMA journal_mode";
    commands(settings).chain([statement(VERSION)]).collect()
}

/// Rejects a file whose settings do not make writes durable, and returns the version of its tables.
pub(super) fn check_settings(rows: &[Rows]) -> Result<i64> {
    let [.., synchronous, journal, version] = rows else {
        return Err(unsupported_setting_error("no settings"));
    };
    match journal.first().map(Vec::as_slice) {
        Some([Value::Text(journal)])
            if matches!(&**journal, "delete" | "truncate" | "persist" | "wal") => {}
        Some([Value::Text(other)]) => {
            return Err(unsupported_setting_error(&format!("the journal `{other}`")));
        }
        _ => return Err(unsupported_setting_error("no journal")),
    }
    match parse_integer(synchronous)? {
        3 => parse_integer(version),
        other => Err(unsupported_setting_error(&format!("synchronous={other}"))),
    }
}

fn unsupported_setting_error(found: &str) -> Error {
    let reason = format!(
        "the file is not written durably: it has {found}, and needs a rollback journal or a write-ahead log"
    );
    Error::new(ErrorKind::StoreNotDurable, reason).permanent()
}

pub(super) fn tables() -> Vec<Statement> {
    let mut statements = vec![statement("BEGIN IMMEDIATE")];
    statements.extend(commands(SCHEMA));
    statements.push(statement("COMMIT"));
    statements
}

pub(super) fn has_no_tables(failure: &Failure) -> bool {
    failure.message.contains(NO_TABLE_MESSAGE)
}

/// Classifies an error by its message, because some languages do not provide the error codes of `SQLite`.
pub(super) fn error(failure: &Failure) -> Error {
    let message: &String = &failure.message;
    let unavailable = |reason| Error::new(ErrorKind::LeaseUnavailable, reason);
    if message.contains(NO_TABLE_MESSAGE) {
        return unavailable("the file has no tables of leases".into()).permanent();
    }
    if DAMAGE_MESSAGES.iter().any(|words| message.contains(words)) {
        return Error::new(ErrorKind::StoreDamaged, format!("SQLite reports: {message}"));
    }
    let error = unavailable(format!("SQLite reports: {message}"));
    if PERMANENT_FAILURES.iter().any(|words| message.contains(words)) {
        error.permanent()
    } else {
        error
    }
}
