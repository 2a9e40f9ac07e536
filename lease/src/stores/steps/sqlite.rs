//! The SQL dialect of `SQLite`. Durable means a rollback journal with `synchronous=EXTRA`, or a write-ahead log with at least
//! `FULL`. The store's time is that of the host, as `SQLite` reads it.

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    Failure, Rows, Statement, Value,
    sql::{Dialect, commands, integer_of, statement},
};
use crate::{Error, ErrorKind, Result};

const SCHEMA: &str = include_str!("../../../sql/sqlite.sql");

const VERSION: &str = "PRAGMA schema_version";

/// Parts of `SQLite`'s error messages for a file that is not a store or is damaged.
const DAMAGED: [&str; 4] = ["malformed", "not a database", "no column named", "no such column"];

/// The part of `SQLite`'s error message for a table that does not exist.
const NO_TABLE: &str = "no such table";

/// An immediate transaction has the file for itself. The file's name has no quotation marks.
pub(super) fn dialect(name: &str) -> Dialect {
    let now = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
    Dialect {
        store: format!("'{name}'"),
        state: format!("SELECT NULL, '{name}', {now}"),
        write: "BEGIN IMMEDIATE",
        read: "BEGIN",
        shared: "",
        locked: "",
        mark: "?",
        place: String::new(),
        version: Some(statement(VERSION)),
    }
}

/// Asks for durable writes. With a write-ahead log `EXTRA` is the same as `FULL`.
pub(super) fn settings() -> Vec<Statement> {
    let settings =
        "PRAGMA synchronous = EXTRA; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;
        PRAGMA synchronous; PRAGMA journal_mode";
    commands(settings).chain([statement(VERSION)]).collect()
}

/// Refuses a file without durable writes, and returns the version of its tables.
pub(super) fn check(rows: &[Rows]) -> Result<i64> {
    let [.., synchronous, journal, version] = rows else { return Err(refused("no settings")) };
    match journal.first().map(Vec::as_slice) {
        Some([Value::Text(journal)])
            if matches!(&**journal, "delete" | "truncate" | "persist" | "wal") => {}
        Some([Value::Text(other)]) => return Err(refused(&format!("the journal `{other}`"))),
        _ => return Err(refused("no journal")),
    }
    match integer_of(synchronous)? {
        3 => integer_of(version),
        other => Err(refused(&format!("synchronous={other}"))),
    }
}

fn refused(found: &str) -> Error {
    let reason =
        format!("expected a journal or a write-ahead log with synchronous=EXTRA, found {found}");
    Error::new(ErrorKind::StoreNotDurable, reason)
}

pub(super) fn tables() -> Vec<Statement> {
    let mut statements = vec![statement("BEGIN IMMEDIATE")];
    statements.extend(commands(SCHEMA));
    statements.push(statement("COMMIT"));
    statements
}

/// `SQLite` is told by its words: not every language has its codes.
pub(super) fn error(failure: &Failure) -> Error {
    let message: &String = &failure.message;
    if message.contains(NO_TABLE) {
        let expected = "expected a store in the file, found one without tables of leases";
        return Error::new(ErrorKind::LeaseUnavailable, format!("{expected}: {message}"));
    }
    let is_damaged = DAMAGED.iter().any(|words| message.contains(words));
    let kind = if is_damaged { ErrorKind::StoreDamaged } else { ErrorKind::LeaseUnavailable };
    Error::new(kind, format!("expected an answer from SQLite, found: {message}"))
}
