//! The words of `PostgreSQL`. Each transaction asks for a synchronous commit, and also reads whether the server's commits are durable,
//! the server's identity, its timeline and its tables: a restored backup and a promoted replica are other incarnations. Rows that are
//! restored into tables that are there look like the same store: an operator who does that must tell the namespace (`quiet_until`).

use alloc::{format, vec::Vec};

use super::{
    Failure, Statement,
    sql::{Dialect, commands, statement},
};
use crate::{Error, ErrorKind, rules::error::damaged};

const SCHEMA: &str = include_str!("../../../sql/postgresql.sql");

/// Takes this crate's lock for the transaction; its number is arbitrary. "If not exists" fails if two create a table at the same time.
const LOCK: &str = "SELECT count(*) FROM pg_advisory_xact_lock(7089336938131513954)";

/// Sets the settings of a transaction. A statement ends after every holder has given it up: a commit whose wait for a replica is cut short
/// ends with a warning, which not every client shows. In a query's FROM they are set before its columns are read.
const SETTINGS: &str =
    "(SELECT set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '5s', true),
    set_config('statement_timeout', '20s', true) OFFSET 0) AS settings";

/// The reason why the server's commits may not last, or NULL. Where pages cannot be torn, an operator vouches for that by a setting of
/// the database, of the role or of the connection.
const FAULT: &str = "CASE
    WHEN pg_is_in_recovery() THEN 'a server in recovery'
    WHEN current_setting('fsync') <> 'on' THEN 'fsync=off'
    WHEN current_setting('full_page_writes') <> 'on'
        AND current_setting('polyflake.full_page_writes', true) IS DISTINCT FROM 'unneeded' THEN 'full_page_writes=off'
    WHEN current_setting('synchronous_commit') <> 'on' THEN 'an asynchronous commit' END";

/// Where the tables are, with the server's identity and its timeline.
const NAME: &str = "'postgresql:' || (SELECT system_identifier FROM pg_control_system())
    || ':' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || ':' || to_regclass('polyflake_leases')::oid::bigint";

/// The code of the server's refusal of a column that is not there.
const NO_COLUMN: &str = "42703";

/// The code of the server's refusal of a role.
const NO_RIGHT: &str = "42501";

pub(super) fn dialect() -> Dialect {
    let store = format!("(SELECT CASE WHEN {FAULT} IS NULL THEN {NAME} END)");
    let now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    Dialect {
        state: format!("SELECT {FAULT}, {store}, {now} FROM {SETTINGS}"),
        store,
        write: "BEGIN ISOLATION LEVEL READ COMMITTED",
        read: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        shared: "FOR SHARE",
        locked: "FOR UPDATE",
        mark: "$",
        version: None,
    }
}

/// Ends a transaction that failed because there are no tables, and makes them, one connection at a time.
pub(super) fn tables() -> Vec<Statement> {
    let Dialect { write, state, .. } = dialect();
    let mut statements: Vec<_> = ["ROLLBACK", write, &state, LOCK].map(statement).into();
    statements.extend(commands(SCHEMA));
    statements.push(statement("COMMIT"));
    statements
}

pub(super) fn error(failure: &Failure) -> Error {
    let message = &failure.message;
    match failure.code.as_deref() {
        Some(NO_COLUMN) => damaged(format!("expected the columns of format 1, found: {message}")),
        Some(NO_RIGHT) => unavailable("a role with the rights that `lease/sql` grants", message),
        _ => unavailable("an answer from PostgreSQL", message),
    }
}

fn unavailable(expected: &str, found: &str) -> Error {
    let reason = format!("expected {expected}, found: {found}");
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
