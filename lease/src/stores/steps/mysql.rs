//! The SQL dialect of `MySQL` 8.0.19 or later and `MariaDB` 10.6 or later. Where the two differ, the statements contain
//! comments that only one of them executes: `/*!80019 ... */` for `MySQL` and `/*M!100600 ... */` for `MariaDB`. Therefore,
//! no request has to read the server's version first, and an older server reports a syntax error.
//!
//! Each transaction reads whether the server's commits are durable. It also reads the server's identity and the table's ID,
//! which form the store's name, because a restored backup or a promoted replica is a new incarnation of the store. In
//! `MariaDB`, the identity and the table's ID are small numbers that can repeat on another server, so the name also
//! contains the time at which the only row of `polyflake_store` was inserted. The server records this time (system
//! versioning), and a dump does not contain it. After the promotion of a `MariaDB` replica, the store's name is different
//! only if the replica's `server_id` differs. A store in a copied data directory keeps its name. If the name stays the
//! same, an operator must report the new incarnation (`quiet_until`). A connection must be used only for leases, because
//! the statements change the session's settings.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{
    Access, Failure, Statement,
    postgresql::{CERTIFICATE_MESSAGES, contains_any},
    sql::{Dialect, commands, statement},
};
use crate::{Error, ErrorKind, rules::error::damaged_record, rules::platforms};

/// The scheme under which the platforms are listed.
pub(super) const SCHEME: &str = "mysql";

/// The query that identifies the server.
pub(super) const VERSION: &str = "SELECT CONCAT_WS(' ', @@version, @@version_comment)";

const TABLES: &str = include_str!("../../../sql/mysql.sql");

/// The statements that grant a user the privileges that a lease needs.
const PRIVILEGES: &str = include_str!("../../../sql/mysql-user.sql");

/// An expression that reads the session's isolation level.
const ISOLATION: &str =
    "/*M!100600 @@SESSION.tx_isolation */ /*!80019 @@SESSION.transaction_isolation */";

/// The reasons why the server's commits may not be durable, except for [`DOUBLEWRITE_FAULT`]. Depending on the version, the server returns a boolean variable as
/// a number or as a string such as `ON`. The database's name becomes part of a file name, in which the server encodes some
/// characters. The query looks up each table separately, because the server would otherwise open every table of the
/// database.
const FAULT: &str = "
    WHEN @@GLOBAL.innodb_flush_method IN ('nosync', 'littlesync')
        THEN CONCAT('innodb_flush_method=', @@GLOBAL.innodb_flush_method, ', which does not synchronize the log')
    WHEN @@GLOBAL.innodb_flush_log_at_trx_commit <> 1
        THEN CONCAT('innodb_flush_log_at_trx_commit=', @@GLOBAL.innodb_flush_log_at_trx_commit, ', and must be 1')
    WHEN CONCAT(@@GLOBAL.log_bin) NOT IN ('0', 'OFF') AND @@GLOBAL.sync_binlog <> 1
        THEN CONCAT('sync_binlog=', @@GLOBAL.sync_binlog, ', and must be 1')
    /*!80019 WHEN CONCAT(@@GLOBAL.log_bin) NOT IN ('0', 'OFF') AND @@GLOBAL.binlog_error_action <> 'ABORT_SERVER'
        THEN CONCAT('binlog_error_action=', @@GLOBAL.binlog_error_action, ', and must be ABORT_SERVER')
    WHEN EXISTS (SELECT 1 FROM performance_schema.global_status
        WHERE variable_name = 'Innodb_redo_log_enabled' AND variable_value <> 'ON')
        THEN 'Innodb_redo_log_enabled=OFF, and must be ON' */
    WHEN CONCAT(@@GLOBAL.read_only) NOT IN ('0', 'OFF') THEN 'read_only=1, and must be 0; it may be a replica'
    WHEN CONCAT(@@GLOBAL.innodb_read_only) NOT IN ('0', 'OFF') THEN 'innodb_read_only=1, and must be 0; it may be a replica'
    WHEN /*M!100600 CONCAT(@@GLOBAL.wsrep_on) NOT IN ('0', 'OFF') */ /*!80019 EXISTS (SELECT 1
        FROM performance_schema.global_variables WHERE variable_name = 'wsrep_on' AND variable_value <> 'OFF') */
        THEN 'wsrep_on=ON, and must be OFF; a cluster of Galera is no store'
    WHEN DATABASE() REGEXP '[^0-9A-Za-z_-]'
        THEN 'a database whose name has other characters than letters, digits, `_` and `-`'
    WHEN EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE()
            AND table_name = 'polyflake_leases' AND engine <> 'InnoDB')
        OR EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE()
            AND table_name = 'polyflake_namespaces' AND engine <> 'InnoDB')
        THEN 'a table of another engine; it must be InnoDB'";

/// The fault of a server that can write partial pages, unless the operator declares that its storage prevents them. RDS
/// turns the doublewrite buffer off on storage that writes whole pages, and its programs are in a folder of their own. An
/// older declaration is a user variable that `init_connect` sets, because `MySQL` has no application-defined settings.
const DOUBLEWRITE_FAULT: &str = "
    WHEN CONCAT(@@GLOBAL.innodb_doublewrite) NOT IN ('1', 'ON', 'DETECT_AND_RECOVER') AND NOT (@polyflake_doublewrite <=> 'unneeded')
        THEN CONCAT('innodb_doublewrite=', @@GLOBAL.innodb_doublewrite, IF(@@GLOBAL.basedir LIKE '/rdsdbbin%',
            '; the storage of RDS writes whole pages, so add `storage=durable` to the URL', ', and must be ON'))";

/// The table's ID, or NULL. The query compares each name twice: first as a string, and then as bytes, because database
/// names may differ only in case. The server reads the names of all its tables, so the string comparison, which is cheaper,
/// comes first.
const TABLE: &str =
    "(SELECT table_id FROM information_schema./*M!100600 innodb_sys_tables */ /*!80019 innodb_tables */
    WHERE name = CONCAT(REPLACE(IF(@@lower_case_table_names = 0, DATABASE(), LOWER(DATABASE())), '-', '@002d'),
        '/polyflake_leases') AND CAST(name AS BINARY) = CAST(CONCAT(REPLACE(IF(@@lower_case_table_names = 0, DATABASE(), LOWER(DATABASE())), '-', '@002d'),
        '/polyflake_leases') AS BINARY))";

/// In `MariaDB`, the time at which the store's row was inserted, in microseconds since 1970. It does not depend on the
/// session's time zone.
const ROW_START: &str = "/*M!100600 , ':', (SELECT CAST(UNIX_TIMESTAMP(row_start) * 1000000 AS SIGNED) FROM polyflake_store WHERE id = 1) */";

/// The server's identity.
const SERVER: &str =
    "/*M!100600 'mariadb:', @@GLOBAL.server_id */ /*!80019 'mysql:', @@GLOBAL.server_uuid */";

/// The store's name during a transaction, or NULL if the server may lose commits.
const STORE: &str = "IF(@polyflake_fault IS NULL, @polyflake_store, NULL)";

/// Returns the statements that begin a transaction and read the store's name. The session's time zone has no daylight
/// saving time, so that the server's time is unambiguous. The recursion limit allows one statement to create 2^20 records.
/// A statement stops waiting for a row lock, table lock or server lock after 5 seconds. `MariaDB` ends the transaction of a
/// client that has been silent for 3 seconds, so a statement that waits for this client's locks obtains them in time.
/// `MySQL` has no timeout for idle transactions, only one that closes any idle connection. This timeout is longer, because
/// the lease service keeps a connection open between two probes. The other settings override unusual server defaults.
fn begin(isolation: &str, begin: &str, access: Access) -> Vec<String> {
    let settings = format!(
        "SET SESSION autocommit = 1, completion_type = 'NO_CHAIN', sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00',
        innodb_lock_wait_timeout = 5, lock_wait_timeout = 5,
        /*M!100600 idle_transaction_timeout = 3, max_recursive_iterations = 2097152, tx_read_only = 0, tx_isolation */
        /*!80019 wait_timeout = 12, cte_max_recursion_depth = 2097152, transaction_read_only = 0, transaction_isolation */ = '{isolation}'"
    );
    let rejected = platforms::rejected_words(SCHEME);
    let doublewrite = if access.has_durable_storage { "" } else { DOUBLEWRITE_FAULT };
    let store = format!(
        "SET @polyflake_fault = CASE WHEN CONCAT_WS(' ', @@version, @@version_comment) REGEXP '{rejected}'
        THEN CONCAT_WS(' ', @@version, @@version_comment) WHEN {ISOLATION} <> '{isolation}'
        THEN CONCAT('transaction_isolation=', {ISOLATION}, ', and must be {isolation}') {FAULT} {doublewrite} END,
        @polyflake_store = CONVERT(CONCAT({SERVER}, ':', {TABLE} {ROW_START}) USING utf8mb4) COLLATE utf8mb4_bin"
    );
    vec![settings, begin.to_owned(), store]
}

pub(super) fn dialect(access: Access) -> Dialect {
    // SYSDATE does not depend on the `timestamp` variable, which a session can set.
    let now = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', SYSDATE(3)) DIV 1000";
    Dialect {
        store: STORE.to_owned(),
        state: format!("SELECT @polyflake_fault, {STORE}, {now}"),
        // As in PostgreSQL, a compare-and-swap needs the latest committed row, and all statements of a read need the same
        // snapshot.
        write: begin("READ-COMMITTED", "START TRANSACTION", access),
        read: begin(
            "REPEATABLE-READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
            access,
        ),
        // MariaDB has no `FOR SHARE`.
        shared: "LOCK IN SHARE MODE",
        locked: "FOR UPDATE",
        integer: "SIGNED",
        mark: "?",
        returns: false,
        place: String::new(),
        version: None,
    }
}

/// Returns the statements with which a check reads the state of a server without tables. They are those at the beginning
/// of a request, but without the part of the store's name that a table contains.
pub(super) fn trial(access: Access) -> Vec<Statement> {
    let Dialect { read, state, .. } = dialect(access);
    let begin = read.iter().map(|text| statement(&text.replace(ROW_START, "")));
    let [rollback, state] = ["ROLLBACK", &state].map(statement);
    [rollback.clone()].into_iter().chain(begin).chain([state, rollback]).collect()
}

/// Returns the statements that create the tables. The first statement ends the transaction in which the tables were found
/// to be missing. Each statement that creates a table commits implicitly.
pub(super) fn tables() -> Vec<Statement> {
    [statement("ROLLBACK")].into_iter().chain(commands(TABLES)).collect()
}

/// Returns whether a statement failed because a table of leases does not exist. A missing table of the server itself shows
/// that the server is not `MySQL`.
pub(super) fn is_missing_table(failure: &Failure) -> bool {
    failure.code.as_deref() == Some("1146") && failure.message.contains("polyflake_")
}

/// Returns the error for a request that needs the tables but is not allowed to create them.
pub(super) fn no_store_error() -> Error {
    unavailable_error("the database has no tables of leases; the first lease creates them".into())
        .permanent()
}

/// Classifies an error by its number, because some clients do not provide the SQLSTATE.
pub(super) fn error(failure: &Failure) -> Error {
    let message = failure.message.lines().next().unwrap_or_default();
    match failure.code.as_deref() {
        // The server rejected the user, password, host or unencrypted connection, or the database does not exist or is not
        // accessible.
        Some(
            "1044" | "1045" | "1049" | "1130" | "1251" | "1698" | "1820" | "1862" | "3118" | "3159"
            | "4151",
        ) => unavailable_error(format!("the server rejects the connection: {message}")).permanent(),
        Some("1046") => {
            unavailable_error("the connection has no database; name one in the URL".into())
                .permanent()
        }
        Some("1054") => {
            damaged_record(format!("expected the columns of format 1, found: {message}"))
        }
        // The server has no such table, variable, function or syntax. The numbers are listed singly, because the SQLSTATE of
        // some temporary errors, such as too many connections of a user, is the same.
        Some(code) if is_other_server(code, failure) => {
            let expected = "expected MySQL 8.0.19 or MariaDB 10.6, or later";
            unavailable_error(format!("{expected}, found a server that reports: {message}"))
                .permanent()
        }
        Some("1146") => {
            damaged_record(format!("expected the tables of format 1, found: {message}"))
        }
        Some("1071") => {
            unavailable_error(format!("the server cannot create the tables: {message}")).permanent()
        }
        Some("1665") => {
            let remedy = "set `binlog_format` to ROW or MIXED";
            unavailable_error(format!("the server cannot log changes: {message}; {remedy}"))
                .permanent()
        }
        Some("1142" | "1143" | "1227") => {
            let grants: Vec<_> = commands(PRIVILEGES)
                .map(|it| it.text.lines().filter(|line| !line.starts_with("--")).collect())
                .map(|text: String| {
                    text.replace("'orders'@'%'", "USER").replace(" app.", " DATABASE.")
                })
                .collect();
            let lines = format!(
                "an operator runs the statements of mysql.sql; then for each user {}",
                grants.join("; ")
            );
            unavailable_error(format!("the user lacks a right: {message}; {lines}")).permanent()
        }
        Some(_) => unavailable_error(format!("the server reports: {message}")),
        None if contains_any(message, &CERTIFICATE_MESSAGES) => {
            let remedy = "name the file of its root certificates by `sslrootcert` in the URL";
            unavailable_error(format!(
                "the server's certificate is not trusted: {message}; {remedy}"
            ))
            .permanent()
        }
        None if contains_any(message, &NO_TLS_MESSAGES) => {
            let reason = "the server has no TLS, which a connection over a network needs; add `sslmode=disable` to the URL if the network is trusted";
            unavailable_error(reason.to_string()).permanent()
        }
        None if message.contains(NO_CRYPTOGRAPHY_MESSAGE) => {
            let reason = "PyMySQL needs the package `cryptography` for this user's password (pip install \"pymysql[rsa]\"), or a connection that is encrypted or uses a Unix socket";
            unavailable_error(reason.to_string()).permanent()
        }
        None => unavailable_error(format!("no answer from the server: {message}")),
    }
}

/// Returns whether the error shows that the server is neither `MySQL` nor `MariaDB`, or too old.
fn is_other_server(code: &str, failure: &Failure) -> bool {
    let lacks_own_table = code == "1146" && !is_missing_table(failure);
    matches!(code, "1064" | "1109" | "1193" | "1235" | "1305") || lacks_own_table
}

/// A substring of the error message that `PyMySQL` reports if it cannot encrypt a password for the server.
const NO_CRYPTOGRAPHY_MESSAGE: &str = "'cryptography' package is required";

/// Substrings of the messages that clients report for a server without TLS.
const NO_TLS_MESSAGES: [&str; 3] =
    ["does not support secure connection", "does not have this capability", "does not support SSL"];

fn unavailable_error(reason: String) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
