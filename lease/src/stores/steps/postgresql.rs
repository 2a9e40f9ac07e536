//! The SQL dialect of `PostgreSQL`. Table names are schema-qualified, so the store does not depend on roles or on the
//! `search_path`. Each transaction requests a synchronous commit, and checks whether the server's commits are durable. It
//! also reads the server's identity, the server's timeline and the table's ID, because a restored backup and a promoted
//! replica are different incarnations. If an operator restores rows into existing tables, the store looks unchanged. The
//! operator must then report the restore to the namespace (`quiet_until`).

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    Access, Create, Failure, Rows, Schema, Statement, Value,
    sql::{Dialect, State, commands, statement},
};
use crate::{Error, ErrorKind, Result, rules::error::damaged_record, rules::platforms};

/// The scheme under which the platforms are listed.
pub(super) const SCHEME: &str = "postgres";

/// The query that identifies the server.
pub(super) const VERSION: &str = "SELECT version()";

/// Creates the schema and then the tables.
const TABLES: &str = include_str!("../../../sql/postgresql.sql");

/// The statements that grant a role the privileges that a lease needs.
const PRIVILEGES: &str = include_str!("../../../sql/postgresql-role.sql");

/// A query that acquires this crate's advisory lock, which is held until the end of the transaction. The lock's key is
/// arbitrary. The lock is necessary because `IF NOT EXISTS` fails if two transactions create a table at the same time.
const LOCK_QUERY: &str = "SELECT count(*) FROM pg_advisory_xact_lock(7089336938131513954)";

/// Applies the settings of a transaction. The statement timeout exceeds the longest time that any holder waits for a reply.
/// A shorter timeout could cancel a commit's wait for a replica, and the commit would then succeed with a warning, which
/// not every client reports. The settings are in the query's `FROM` clause, so they are applied before the query's columns
/// are read.
const SETTINGS: &str =
    "(SELECT set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '5s', true),
    set_config('statement_timeout', '20s', true) OFFSET 0) AS settings";

/// The ID of a Neon branch, or NULL. A client can set a parameter of this name, but only the server can set one that takes
/// effect at its start. Reading one parameter first is much cheaper than reading the view.
const NEON_TIMELINE: &str = "CASE WHEN current_setting('neon.timeline_id', true) <> '' THEN
    (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'neon.timeline_id' AND context = 'postmaster') END";

/// Whether the server is Neon and its commits wait for the storage servers.
const IS_NEON: &str =
    "(current_setting('synchronous_standby_names') = 'walproposer' AND EXISTS (SELECT 1
    FROM pg_catalog.pg_settings WHERE name = 'neon.timeline_id' AND context = 'postmaster'))";

/// Returns an expression for the reason why the server's commits may not be durable, or NULL. Neon turns `fsync` off,
/// because a commit waits for its storage servers (`walproposer`) instead of for a local disk. An operator can declare that
/// a server's storage keeps writes and never writes partial pages (`storage=durable`). An older declaration is a setting of
/// the database, the role or the connection, and covers `full_page_writes` only.
fn fault(access: Access) -> String {
    let storage = format!(
        "WHEN current_setting('fsync') <> 'on' AND NOT {IS_NEON} THEN 'fsync=off, and must be on'
    WHEN current_setting('full_page_writes') <> 'on'
        AND current_setting('polyflake.full_page_writes', true) IS DISTINCT FROM 'unneeded' AND NOT {IS_NEON}
        THEN 'full_page_writes=off, and must be on'"
    );
    let storage = if access.has_durable_storage { "" } else { &*storage };
    let rejected = platforms::rejected_words(SCHEME);
    format!(
        "CASE
    WHEN version() ~ '{rejected}' THEN version()
    WHEN pg_is_in_recovery() THEN 'a server in recovery'
    WHEN current_setting('synchronous_commit') <> 'on' THEN 'an asynchronous commit'
    {storage} END"
    )
}

/// The statement that begins a read-write transaction.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// The OID of the leases table, or NULL.
const TABLE: &str = "to_regclass('polyflake_leases')::oid::bigint";

/// The timeline of the server.
const TIMELINE: &str = "left(pg_walfile_name(pg_current_wal_lsn()), 8)";

/// The word that replaces the timeline in Aurora, which reports no position of the log unless logical replication is
/// enabled. The expression fails on any other server, because the function is part of Aurora.
const AURORA: &str = "CASE WHEN pg_catalog.aurora_version() IS NOT NULL THEN 'aurora' END";

/// The query that fails on any server except for Aurora. The catalog of functions does not list this function, so only a
/// call shows whether it exists.
pub(super) const AURORA_VERSION: &str = "SELECT pg_catalog.aurora_version()";

/// The OID of the database. A database that is copied by `CREATE DATABASE ... TEMPLATE` keeps the OIDs of its tables.
const DATABASE: &str =
    "(SELECT oid::bigint FROM pg_catalog.pg_database WHERE datname = current_database())";

/// The server's error code if a function cannot be called in its present configuration.
pub(super) const PREREQUISITE_STATE: &str = "55000";

/// The server's error code for a function that does not exist.
pub(super) const UNDEFINED_FUNCTION: &str = "42883";

/// The server's error code for a column that does not exist.
const UNDEFINED_COLUMN: &str = "42703";

/// The server's error codes for an object that does not exist, such as a setting, and for unknown syntax.
const UNDEFINED_OBJECT: &str = "42704";
const SYNTAX_ERROR: &str = "42601";

/// The server's error code for a role without privileges.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

pub(super) fn dialect(schema: &Schema, access: Access, is_aurora: bool) -> Dialect {
    let (fault, timeline) = (fault(access), if is_aurora { AURORA } else { TIMELINE });
    let server = format!(
        "'postgresql:' || (SELECT system_identifier FROM pg_control_system()) || ':' || {timeline}"
    );
    let store = format!(
        "(SELECT CASE WHEN {fault} IS NULL THEN
    {server} || ':' || {DATABASE} || ':' || {TABLE} || coalesce(':' || {NEON_TIMELINE}, '') END)"
    );
    let now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    Dialect {
        state: format!("SELECT {fault}, {store}, {now} FROM {SETTINGS}"),
        store,
        // A compare-and-swap needs the latest committed row. Under REPEATABLE READ, another holder's write after the
        // snapshot would cause a serialization error instead of a failed comparison.
        write: vec![BEGIN_WRITE.into()],
        // All statements of a read see the same snapshot, so that the namespace's record is consistent with the records of
        // its worker IDs.
        read: vec!["BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY".into()],
        shared: "FOR SHARE",
        locked: "FOR UPDATE",
        integer: "BIGINT",
        mark: "$",
        returns: true,
        place: format!("{schema}."),
        version: None,
    }
}

/// Returns the statements that roll back a transaction that failed because of missing tables, and begin a transaction that
/// can create the tables. Only one connection at a time runs the second transaction. The row of the last statement states
/// whether another connection has created the tables in the meantime, whether the schema exists, and which other schema of
/// the database contains lease tables, if any.
pub(super) fn find_tables(schema: &Schema, dialect: &Dialect) -> Vec<Statement> {
    let (table, state) = (dialect.qualify(TABLE), dialect.qualify(&dialect.state));
    let name = schema.name();
    let found = format!(
        "SELECT {table}, to_regnamespace('{schema}')::oid::bigint, (SELECT min(nspname::text)
        FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
        WHERE relname IN ('polyflake_leases', 'polyflake_namespaces') AND relkind IN ('r', 'p')
            AND relpersistence <> 't' AND nspname <> '{name}')"
    );
    ["ROLLBACK", BEGIN_WRITE, &state, LOCK_QUERY, &found].map(statement).into()
}

/// Returns the statements to run after [`find_tables`]. They create the schema and the tables if they are missing, and
/// commit the transaction. The statement that creates the schema is omitted if the schema exists, because `PostgreSQL`
/// rejects that statement for a role without the privilege to create schemas, even if the schema exists.
///
/// # Errors
/// Returns `lease_unavailable` if the database contains another store, because two stores would lease each worker ID twice.
pub(super) fn tables(schema: &Schema, create: Create, rows: &[Rows]) -> Result<Vec<Statement>> {
    let [_, _, state, _, found] = rows else {
        return Err(damaged_record("expected the rows of each statement, found fewer"));
    };
    State::from_rows(state)?;
    let commit = statement("COMMIT");
    match found.first().map(Vec::as_slice) {
        Some([Value::Integer(_), ..]) => Ok(vec![commit]),
        Some([_, _, Value::Text(other)]) if !create.allows_second_store() => {
            Err(second_store_error(schema, other))
        }
        Some([_, has_schema, _]) => {
            let known = usize::from(*has_schema != Value::Null);
            let script = TABLES.replace("polyflake.", &format!("{schema}."));
            let script = script.replace("EXISTS polyflake;", &format!("EXISTS {schema};"));
            Ok(commands(&script).skip(known).chain([commit]).collect())
        }
        _ => Err(damaged_record("expected a row with the properties of the database, found none")),
    }
}

fn second_store_error(schema: &Schema, other: &str) -> Error {
    let found = format!("the database has a store in the schema \"{other}\" and none in {schema}");
    let remedy = format!(
        "lease from that one by `?schema={other}`, or add `?create=second-store` to the URL if the two share no namespace"
    );
    unavailable_error(format!("{found}: {remedy}")).permanent()
}

/// Returns the error for a request that needs the tables but is not allowed to create them.
pub(super) fn no_store_error(schema: &Schema) -> Error {
    let reason = format!(
        "there are no tables of leases in the schema {schema}; the first lease creates them"
    );
    unavailable_error(reason).permanent()
}

pub(super) fn error(failure: &Failure, schema: &Schema) -> Error {
    // The first line of libpq's message contains the server's address and error message.
    let message = failure.message.lines().next().unwrap_or_default();
    let message = message.rsplit_once("FATAL: ").map_or(message, |(_, words)| words.trim_start());
    match failure.code.as_deref() {
        Some(UNDEFINED_COLUMN) => {
            damaged_record(format!("expected the columns of format 1, found: {message}"))
        }
        Some(INSUFFICIENT_PRIVILEGE) => {
            let lines = setup_statements(schema);
            unavailable_error(format!("the role lacks a right: {message}; {lines}")).permanent()
        }
        // The server has no such function, type or syntax, so it is no PostgreSQL, or an old one. The codes are listed
        // singly, because other codes of their classes occur during a restart or a restore.
        Some(UNDEFINED_FUNCTION | UNDEFINED_OBJECT | SYNTAX_ERROR) => {
            let expected = "expected PostgreSQL 10 or later";
            unavailable_error(format!("{expected}, found a server that reports: {message}"))
                .permanent()
        }
        // The server rejected a user or a password, `pg_hba.conf` does not permit the connection, or the database does not
        // exist.
        Some(code) if code.starts_with("28") || code == "3D000" => rejection_error(message),
        // Poolers reject settings of a connection.
        _ if message.contains("unsupported startup parameter") => {
            let remedy = "a pooler accepts no `options`, so leave them out of the URL";
            unavailable_error(format!("the server rejects the connection: {message}; {remedy}"))
                .permanent()
        }
        Some(_) => unavailable_error(format!("the server reports: {message}")),
        // These messages must be checked before the rejections, because a message about a certificate file may also contain
        // "does not exist".
        None if contains_any(message, &CERTIFICATE_MESSAGES) => {
            let remedy = "name the file of its root certificates by `sslrootcert` in the URL";
            unavailable_error(format!(
                "the server's certificate is not trusted: {message}; {remedy}"
            ))
            .permanent()
        }
        None if contains_any(message, &REJECTION_MESSAGES) => rejection_error(message),
        None if contains_any(message, &READ_ONLY_MESSAGES) => {
            unavailable_error(format!("no host of the URL accepts writes: {message}"))
        }
        None if contains_any(message, &NO_TLS_MESSAGES) => {
            let reason = "the server has no TLS, which a connection over a network needs; add `sslmode=disable` to the URL if the network is trusted";
            unavailable_error(reason.into()).permanent()
        }
        None => unavailable_error(format!("no answer from the server: {message}")),
    }
}

/// Substrings of the server's messages about rejected connections. The messages must be checked because libpq does not
/// report an SQLSTATE for these errors.
const REJECTION_MESSAGES: [&str; 8] = [
    "\" does not exist",
    "authentication failed",
    "no pg_hba.conf entry",
    "pg_hba.conf rejects",
    "no password supplied",
    "password missing",
    "password must be a string",
    "is not permitted to log in",
];

/// Substrings of the messages that clients report when they skip servers that do not accept writes.
const READ_ONLY_MESSAGES: [&str; 4] = [
    "session is read-only",
    "does not allow writes",
    "does not accept writes",
    "match the target attribute requirement",
];

/// Substrings of the messages that clients report for a server without TLS.
const NO_TLS_MESSAGES: [&str; 4] = [
    "does not support SSL",
    "does not support TLS",
    "rejected SSL upgrade",
    "server does not support SSL connections",
];

/// Substrings of the clients' messages about a certificate.
pub(super) const CERTIFICATE_MESSAGES: [&str; 14] = [
    "certificate verify failed",
    "certificate signature failure",
    "does not match host name",
    "root certificate file",
    "invalid peer certificate",
    "self-signed certificate",
    "self signed certificate",
    "unable to verify the first certificate",
    "unable to get issuer certificate",
    "unable to get local issuer certificate",
    "certificate has expired",
    "certificate is not yet valid",
    "certificate revoked",
    "does not match certificate's altnames",
];

pub(super) fn contains_any(message: &str, words: &[&str]) -> bool {
    words.iter().any(|words| message.contains(words))
}

fn rejection_error(message: &str) -> Error {
    let wants_tls = message.contains("no encryption") || message.contains("SSL off");
    let remedy =
        if wants_tls { "; if the server wants TLS, add `sslmode=require` to the URL" } else { "" };
    unavailable_error(format!("the server rejects the connection: {message}{remedy}")).permanent()
}

/// Returns the statements that an operator must execute if a role lacks the privilege to create tables.
fn setup_statements(schema: &Schema) -> String {
    let rights = PRIVILEGES.replace("polyflake.", &format!("{schema}."));
    let rights = rights.replace("SCHEMA polyflake ", &format!("SCHEMA {schema} "));
    let grants = commands(&rights).map(|it| it.text.replace(":\"role\"", "ROLE"));
    let grants: Vec<_> = grants.filter(|text| text.starts_with("GRANT")).collect();
    format!(
        "an operator runs CREATE SCHEMA {schema}; then the tables of postgresql.sql; then for each role {}",
        grants.join("; ")
    )
}

fn unavailable_error(reason: String) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
