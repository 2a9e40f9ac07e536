//! Translates requests into SQL statements. Apart from the parts in [`Dialect`], the statements use only features that
//! every database with recursive queries supports. Each request is one transaction.
//!
//! ```text
//! BEGIN            with the isolation of a read or of a write
//! state            the reason why commits may not last, the store's name, its time
//! statements       a change has its conditions in its own WHERE clause, among them the store's name
//! COMMIT
//! ```
//!
//! No statement depends on the rows of an earlier statement, because each statement contains its own conditions. Therefore,
//! a client that pipelines can send all statements in one round trip. The database needs no stored functions, which would
//! require the permission to execute them and would have to be versioned. A write whose conditions are not met changes no
//! row. The driver recognizes such a write by the rows that the transaction returns.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{Rows, Statement, Value};
use crate::{
    Error, ErrorKind, Result,
    protocol::{Namespace, Operation, Random, Record, ReplyContent, Request},
    rules::error::damaged_record,
    rules::json::Fields,
    rules::platforms,
};

/// The columns of a record.
const RECORD_COLUMNS: &str =
    "first, count, format, granted_until, holder, incarnation, start, token, version";

/// The columns of a namespace's record.
const NAMESPACE_COLUMNS: &str = "namespace, digest, format, incarnation, longest_ms, previous_quiet_until, previous_store, quiet_until, records, shape, store, version";

/// The parts of the SQL statements that differ between databases.
pub(super) struct Dialect {
    /// An expression for the store's name. It is NULL in a store that may lose committed data.
    pub(super) store: String,
    /// A query with three columns: the reason why commits may not be durable, or NULL; the store's name, or NULL if the
    /// store has no tables; and the store's time in Unix milliseconds.
    pub(super) state: String,
    /// The statements that begin a read-write transaction. The transaction sees the latest commits, so that a
    /// compare-and-swap of an outdated record reports a mismatch instead of failing.
    pub(super) write: Vec<String>,
    /// The statements that begin a read-only transaction. The transaction reads the records and the namespace from one
    /// snapshot. Otherwise, records that another holder creates between the two reads would appear to be lost. This list
    /// has as many statements as `write`.
    pub(super) read: Vec<String>,
    /// The clause at the end of a query that locks the selected row against changes until the end of the transaction.
    pub(super) shared: &'static str,
    /// The clause that replaces `shared` if the transaction also changes the row.
    pub(super) locked: &'static str,
    /// The type name used to cast a value to an integer.
    pub(super) integer: &'static str,
    /// The character that introduces a parameter.
    pub(super) mark: &'static str,
    /// Whether the database supports `RETURNING`, `ON CONFLICT` and numbered parameters. Without them, a change first locks
    /// the namespace's row, so that changes cannot deadlock. Then it locks the row to replace. The change succeeded if that
    /// row was found and has the new values afterwards. The number of changed rows does not prove success, because it
    /// depends on the client's settings.
    pub(super) returns: bool,
    /// The prefix of table names, which consists of the schema and a period, or is empty. [`Dialect::qualify`] inserts it
    /// before the table names in every statement.
    pub(super) place: String,
    /// The statement to run after a probe. It returns the version of the tables.
    pub(super) version: Option<Statement>,
}

impl From<u64> for Value {
    /// Converts an integer field of a record. These integers are below 2^53.
    fn from(value: u64) -> Self {
        Self::Integer(value.cast_signed())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<Random> for Value {
    fn from(value: Random) -> Self {
        Self::Text(value.to_string())
    }
}

/// Returns a statement without values.
pub(super) fn statement(text: &str) -> Statement {
    Statement { text: text.to_owned(), values: Vec::new() }
}

/// Splits an SQL script into its statements.
pub(super) fn commands(script: &str) -> impl Iterator<Item = Statement> {
    script.split(';').map(str::trim).filter(|command| !command.is_empty()).map(statement)
}

impl Dialect {
    /// Returns the transaction that processes a request.
    pub(super) fn request(&self, request: &Request) -> Vec<Statement> {
        let begin = match &request.operation {
            Operation::Open(_) | Operation::Put { .. } | Operation::PutNamespace { .. } => {
                &self.write
            }
            Operation::Find { .. }
            | Operation::Read { .. }
            | Operation::Survey
            | Operation::List => &self.read,
        };
        self.transaction(begin, statements(request, self), "COMMIT")
    }

    /// Returns the probe transaction, which ends with a rollback. [`check_probe`] checks the rows that it returns.
    pub(super) fn probe(&self, random: Random, store: &str) -> Vec<Statement> {
        let requests = probe(random, store);
        let inner = requests.iter().flat_map(|request| statements(request, self)).collect();
        let mut statements = self.transaction(&self.write, inner, "ROLLBACK");
        statements.extend(self.version.clone());
        statements
    }

    fn transaction(&self, begin: &[String], inner: Vec<Statement>, end: &str) -> Vec<Statement> {
        let begin = begin.iter().map(|text| statement(text)).chain([statement(&self.state)]);
        let statements = begin.chain(inner).chain([statement(end)]);
        statements.map(|statement| self.to_dialect(&statement)).collect()
    }

    /// Converts a statement to the database's SQL dialect. If the database does not support numbered parameters, the values
    /// are listed in the order in which they occur in the text.
    fn to_dialect(&self, statement: &Statement) -> Statement {
        let text = self.qualify(&statement.text);
        if self.returns {
            return Statement {
                text: text.replace('$', self.mark),
                values: statement.values.clone(),
            };
        }
        let mut parts = text.split('$');
        let (mut text, mut values) = (parts.next().unwrap_or_default().to_owned(), Vec::new());
        for part in parts {
            let rest = part.trim_start_matches(|it: char| it.is_ascii_digit());
            let number: Option<usize> = part[..part.len() - rest.len()].parse().ok();
            values.extend(number.and_then(|it| statement.values.get(it.checked_sub(1)?)).cloned());
            text += self.mark;
            text += rest;
        }
        Statement { text, values }
    }

    /// Returns the clause that makes an `INSERT` statement leave an existing row unchanged.
    fn on_conflict_clause(&self, table: &str, key: &str) -> String {
        if self.returns {
            format!("ON CONFLICT ({key}) DO NOTHING")
        } else {
            format!("ON DUPLICATE KEY UPDATE namespace = {table}.namespace")
        }
    }

    /// Returns the statement that locks a namespace's row before a change, if the database needs a separate statement.
    fn lock(&self, name: &str, lock: &str) -> Option<Statement> {
        let text =
            format!("SELECT namespace FROM polyflake_namespaces WHERE namespace = $1 {lock}");
        (!self.returns).then(|| Statement { text, values: vec![name.into()] })
    }

    /// Returns the locking clause of a subquery whose row must not change. The clause is empty if [`Dialect::lock`] has
    /// locked the row.
    fn lock_clause(&self, lock: &'static str) -> &'static str {
        if self.returns { lock } else { "" }
    }

    /// Returns the statements that update the row matching a condition. The first statement returns the row's key.
    fn update(
        &self,
        [table, key]: [&str; 2],
        change: &str,
        condition: &str,
        values: Vec<Value>,
    ) -> Vec<Statement> {
        let update = format!("UPDATE {table} SET {change} WHERE {condition}");
        if self.returns {
            return vec![Statement { text: format!("{update} RETURNING {key}"), values }];
        }
        let find = format!("SELECT {key} FROM {table} WHERE {condition} {}", self.locked);
        vec![Statement { text: find, values: values.clone() }, Statement { text: update, values }]
    }

    /// Adds the schema to the table names in a statement, unless the database uses unqualified names.
    pub(super) fn qualify(&self, text: &str) -> String {
        text.replace("polyflake_", &format!("{}polyflake_", self.place))
    }
}

/// The state of a store at the beginning of a transaction.
pub(super) struct State {
    /// The store's name, or `None` if the store has no tables.
    pub(super) store: Option<String>,
    pub(super) now: u64,
}

impl State {
    /// Reads the row of [`Dialect::state`], and rejects a store that may lose committed data.
    pub(super) fn from_rows(rows: &Rows) -> Result<Self> {
        let (store, now) = match rows.first().map(Vec::as_slice) {
            Some([Value::Text(fault), ..]) => {
                let rejection =
                    ["postgres", "mysql"].iter().find_map(|it| platforms::reject(it, fault));
                if let Some(error) = rejection {
                    return Err(error);
                }
                let reason = format!("the server may lose what it commits: {fault}");
                let error = Error::new(ErrorKind::StoreNotDurable, reason);
                // A replica may be promoted soon, so an error about a replica is not permanent.
                let lasts = !["recovery", "read_only"].iter().any(|words| fault.contains(words));
                return Err(if lasts { error.permanent() } else { error });
            }
            Some([Value::Null, Value::Text(store), Value::Integer(now)]) => (Some(store), now),
            Some([Value::Null, Value::Null, Value::Integer(now)]) => (None, now),
            _ => return Err(damaged_record("expected the store's state, found none")),
        };
        let now = u64::try_from(*now).map_err(|_| damaged_record("expected a time after 1970"))?;
        Ok(Self { store: store.cloned(), now })
    }
}

/// Extracts the reply and the namespace's record from the rows of a transaction.
pub(super) fn answer(
    operation: &Operation,
    rows: &[Rows],
    dialect: &Dialect,
) -> Result<(ReplyContent, Option<Namespace>)> {
    match rows.get(dialect.write.len()..) {
        Some([_, inner @ .., _]) => parse_reply(operation, inner, dialect),
        _ => Err(missing_rows_error()),
    }
}

fn missing_rows_error() -> Error {
    damaged_record("expected the rows of each statement, found fewer")
}

/// Returns the statements that process a request.
fn statements(request: &Request, dialect: &Dialect) -> Vec<Statement> {
    let name = &*request.namespace;
    let mut statements = match &request.operation {
        Operation::Open(new) => vec![insert_namespace(new, dialect)],
        Operation::Find { limit } => {
            let text = format!(
                "SELECT {RECORD_COLUMNS} FROM polyflake_leases WHERE namespace = $1 ORDER BY granted_until, first LIMIT {limit}"
            );
            vec![Statement { text, values: vec![name.into()] }]
        }
        Operation::Read { first } => vec![select_record(name, *first)],
        // If the swap changes no row, the reply contains the stored record. The driver always reads the record, because it
        // sends all statements of a request together, before the result of the swap is available.
        Operation::Put { old, new } => {
            let lock = dialect.lock(name, dialect.shared).into_iter();
            lock.chain(swap(name, old, new, dialect))
                .chain([select_record(name, new.first)])
                .collect()
        }
        Operation::PutNamespace { old, new, first, count } => {
            let fresh = Record::fresh(*first, *count, new.incarnation);
            // The order of the statements matters: the records are created only if the namespace still has the version that
            // the swap replaces.
            let lock = dialect.lock(&new.name, dialect.locked).into_iter();
            let lock = lock.chain([insert_fresh(old, new, &fresh, dialect)]);
            lock.chain(swap_namespace(old, new, dialect)).collect()
        }
        Operation::Survey => vec![survey(name)],
        Operation::List => {
            vec![statement("SELECT namespace FROM polyflake_namespaces ORDER BY namespace")]
        }
    };
    let text = format!("SELECT {NAMESPACE_COLUMNS} FROM polyflake_namespaces WHERE namespace = $1");
    // The read comes last, so that the reply contains the namespace's record in its state after the request.
    statements.push(Statement { text, values: vec![name.into()] });
    statements
}

fn parse_reply(
    operation: &Operation,
    rows: &[Rows],
    dialect: &Dialect,
) -> Result<(ReplyContent, Option<Namespace>)> {
    if rows.len() != statement_count(operation, dialect) {
        return Err(missing_rows_error());
    }
    let namespace = rows.last().and_then(|found| found.first());
    let namespace = namespace.map(|row| parse_namespace(row)).transpose()?;
    // Without RETURNING, two checks are necessary: finding the row does not prove that the swap changed it, and the record
    // after the swap does not prove that this swap wrote it. The lock precedes the statement that finds the row.
    let is_new = match (operation, rows) {
        (Operation::Put { new, .. }, [.., found, _]) if !dialect.returns => {
            found.first().map(|row| parse_record(row)).transpose()?.as_ref() == Some(new)
        }
        (Operation::PutNamespace { new, .. }, _) if !dialect.returns => {
            namespace.as_ref() == Some(new)
        }
        _ => true,
    };
    let is_swapped = |at: usize| is_new && !rows[usize::from(!dialect.returns) + at].is_empty();
    let found = match (operation, rows) {
        (Operation::Find { .. } | Operation::Read { .. }, [found, _]) => {
            ReplyContent::Records(parse_records(found)?)
        }
        (Operation::Put { .. }, _) if is_swapped(0) => ReplyContent::Done,
        (Operation::Put { .. }, [.., found, _]) => {
            ReplyContent::Differs(found.first().map(|row| parse_record(row)).transpose()?)
        }
        (Operation::PutNamespace { .. }, _) if is_swapped(1) => ReplyContent::Done,
        (Operation::PutNamespace { .. }, _) => ReplyContent::Differs(None),
        (Operation::Survey, [found, _]) => parse_survey(found)?,
        (Operation::List, [found, _]) => parse_names(found)?,
        _ => ReplyContent::Nothing,
    };
    Ok((found, namespace))
}

/// Returns the number of statements that a request adds between the state query and the end of the transaction.
fn statement_count(operation: &Operation, dialect: &Dialect) -> usize {
    match operation {
        Operation::Put { .. } | Operation::PutNamespace { .. } if dialect.returns => 3,
        // Without `RETURNING`, a write has two more statements: the lock, and the statement that finds the row.
        Operation::Put { .. } | Operation::PutNamespace { .. } => 5,
        _ => 2,
    }
}

fn select_record(name: &str, first: u64) -> Statement {
    let text = format!(
        "SELECT {RECORD_COLUMNS} FROM polyflake_leases WHERE namespace = $1 AND first = $2"
    );
    Statement { text, values: vec![name.into(), first.into()] }
}

fn survey(name: &str) -> Statement {
    // Reserved worker IDs are excluded, because their `granted_until` is not a time and would be later than the end of any
    // grant.
    let text = "SELECT (SELECT count(*) FROM polyflake_leases WHERE namespace = $1),
        coalesce((SELECT max(granted_until) FROM polyflake_leases WHERE namespace = $1 AND granted_until <> $2), 0)";
    Statement { text: text.into(), values: vec![name.into(), Record::RESERVED.into()] }
}

fn insert_namespace(new: &Namespace, dialect: &Dialect) -> Statement {
    let text = format!(
        "INSERT INTO polyflake_namespaces ({NAMESPACE_COLUMNS})
        VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, {}, $10) {}",
        dialect.store,
        dialect.on_conflict_clause("polyflake_namespaces", "namespace")
    );
    let values = vec![
        (&*new.name).into(),
        (&*new.digest()).into(),
        new.incarnation.into(),
        new.longest_ms.into(),
        new.previous_quiet_until.into(),
        (&*new.previous_store).into(),
        new.quiet_until.into(),
        new.records.into(),
        (&*new.shape).into(),
        new.version.into(),
    ];
    Statement { text, values }
}

/// Returns the statements that replace a record if it has not changed since it was read. The namespace must have the same
/// incarnation as the new record, and the namespace's record must name this store. The namespace's record and the replaced
/// record stay locked until the replacement is done.
fn swap(name: &str, old: &Record, new: &Record, dialect: &Dialect) -> Vec<Statement> {
    let (store, shared) = (&dialect.store, dialect.lock_clause(dialect.shared));
    let change = "count = $1, granted_until = $2, holder = $3, incarnation = $4, start = $5, token = $6, version = $7";
    let condition = format!(
        "namespace = $8 AND first = $9 AND version = $10 AND token = $11 AND incarnation = $12
            AND EXISTS (SELECT 1 FROM polyflake_namespaces WHERE namespace = $8 AND incarnation = $4 AND store = {store} {shared})"
    );
    let values = vec![
        new.count.into(),
        new.granted_until.into(),
        (&*new.holder).into(),
        new.incarnation.into(),
        new.start.into(),
        new.token.into(),
        new.version.into(),
        name.into(),
        new.first.into(),
        old.version.into(),
        old.token.into(),
        old.incarnation.into(),
    ];
    dialect.update(["polyflake_leases", "first"], change, &condition, values)
}

/// Returns the statement that creates the missing records up to the count in the new namespace record, if the old namespace
/// record has not changed since it was read. Existing records are kept.
fn insert_fresh(old: &Namespace, new: &Namespace, fresh: &Record, dialect: &Dialect) -> Statement {
    let (store, integer) = (&dialect.store, dialect.integer);
    let (locked, kept) = (
        dialect.lock_clause(dialect.locked),
        dialect.on_conflict_clause("polyflake_leases", "namespace, first"),
    );
    let text = format!(
        "INSERT INTO polyflake_leases (namespace, {RECORD_COLUMNS})
        WITH RECURSIVE made(i) AS (SELECT CAST(0 AS {integer}) UNION ALL SELECT i + 1 FROM made WHERE i + 1 < $2)
        SELECT $1, $3 + i * $4, $4, 1, 0, '', $5, 0, $6, 1 FROM made
        WHERE i < $2 AND EXISTS (SELECT 1 FROM polyflake_namespaces
            WHERE namespace = $1 AND version = $7 AND incarnation = $8 AND $9 = {store} {locked})
        {kept}"
    );
    let values = vec![
        (&*new.name).into(),
        new.records.saturating_sub(old.records).into(),
        fresh.first.into(),
        fresh.count.into(),
        fresh.incarnation.into(),
        fresh.token.into(),
        old.version.into(),
        old.incarnation.into(),
        (&*new.store).into(),
    ];
    Statement { text, values }
}

/// Returns the statements that replace a namespace's record if it has not changed since it was read and the new record
/// names this store.
fn swap_namespace(old: &Namespace, new: &Namespace, dialect: &Dialect) -> Vec<Statement> {
    let change =
        "incarnation = $1, longest_ms = $2, quiet_until = $3, records = $4, store = $5, version = $6,
            previous_store = $10, previous_quiet_until = $11";
    let condition =
        format!("namespace = $7 AND version = $8 AND incarnation = $9 AND $5 = {}", dialect.store);
    let values = vec![
        new.incarnation.into(),
        new.longest_ms.into(),
        new.quiet_until.into(),
        new.records.into(),
        (&*new.store).into(),
        new.version.into(),
        (&*new.name).into(),
        old.version.into(),
        old.incarnation.into(),
        (&*new.previous_store).into(),
        new.previous_quiet_until.into(),
    ];
    dialect.update(["polyflake_namespaces", "namespace"], change, &condition, values)
}

/// Returns the fields of a row.
fn row_fields(columns: &str, row: &[Value]) -> Fields {
    Fields::from_fields(columns.split(", ").zip(row.iter().map(Into::into)))
}

fn parse_record(row: &[Value]) -> Result<Record> {
    Record::from_fields(&row_fields(RECORD_COLUMNS, row))
}

/// Parses records and skips invalid ones. Returns an error only if every record is invalid.
fn parse_records(rows: &Rows) -> Result<Vec<Record>> {
    let (mut read, mut first_error) = (Vec::new(), None);
    for row in rows {
        match parse_record(row) {
            Ok(record) => read.push(record),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    match first_error {
        Some(error) if read.is_empty() => Err(error),
        _ => Ok(read),
    }
}

fn parse_namespace(row: &[Value]) -> Result<Namespace> {
    Namespace::from_fields(&row_fields(NAMESPACE_COLUMNS, row))
}

fn parse_names(rows: &Rows) -> Result<ReplyContent> {
    let name = |row: &Vec<Value>| row_fields("namespace", row).string("namespace");
    Ok(ReplyContent::Names(rows.iter().map(name).collect::<Result<_>>()?))
}

fn parse_survey(rows: &Rows) -> Result<ReplyContent> {
    let row =
        rows.first().ok_or_else(|| damaged_record("expected a count of records, found none"))?;
    let row = row_fields("records, latest_end", row);
    Ok(ReplyContent::Survey {
        records: row.integer("records")?,
        latest_end: row.integer("latest_end")?,
    })
}

/// Returns the requests of a probe, which tests that a store rejects stale swaps and duplicate creations. [`check_probe`]
/// checks the replies.
fn probe(random: Random, store: &str) -> [Request; 6] {
    // The name is random, so no namespace has it, and no other connection uses it at the same time.
    let name = format!("probe-{random}");
    let one = Namespace {
        name: name.clone(),
        shape: "{}".to_owned(),
        incarnation: Random(1),
        store: store.to_owned(),
        records: 0,
        longest_ms: 0,
        quiet_until: 0,
        previous_store: String::new(),
        previous_quiet_until: 0,
        version: 1,
    };
    let other = Namespace { incarnation: Random(2), ..one.clone() };
    let grown = Namespace { records: 1, version: 2, ..one.clone() };
    let fresh = Record::fresh(0, 1, Random(1));
    let put = Record { version: 2, ..fresh.clone() };
    let put = Operation::Put { old: fresh, new: put };
    let grow = Operation::PutNamespace { old: one.clone(), new: grown, first: 0, count: 1 };
    let asks = [Operation::Open(one), Operation::Open(other), grow.clone(), grow, put.clone(), put];
    asks.map(|operation| Request { number: 0, namespace: name.clone(), operation })
}

/// Checks the rows that a probe ([`Dialect::probe`]) returned. Returns the state that the probe found and the version of
/// the tables.
pub(super) fn check_probe(
    rows: &[Rows],
    random: Random,
    dialect: &Dialect,
) -> Result<(State, i64)> {
    let begun = dialect.write.len();
    let (begun, mut rest) = rows.split_at_checked(begun + 1).ok_or_else(missing_rows_error)?;
    let state = State::from_rows(begun.last().ok_or_else(missing_rows_error)?)?;
    let mut replies = Vec::new();
    let store = state.store.as_deref().unwrap_or_default();
    for Request { operation, .. } in probe(random, store) {
        let (of_ask, others) = rest
            .split_at_checked(statement_count(&operation, dialect))
            .ok_or_else(missing_rows_error)?;
        replies.push(parse_reply(&operation, of_ask, dialect)?);
        rest = others;
    }
    let is_kept = match &*replies {
        [_, opened, grown, again, put, stale] => {
            opened.1.as_ref().is_some_and(|found| found.incarnation == Random(1))
                && [&grown.0, &put.0] == [&ReplyContent::Done; 2]
                && matches!(
                    [&again.0, &stale.0],
                    [ReplyContent::Differs(None), ReplyContent::Differs(Some(_))]
                )
        }
        _ => false,
    };
    if !is_kept {
        let reason = "expected a store that rejects stale writes, found one that accepts them";
        return Err(Error::new(ErrorKind::StoreNotDurable, reason));
    }
    let version = match rest {
        [_, version] => parse_integer(version)?,
        _ => 0,
    };
    Ok((state, version))
}

/// Returns the integer in the first column of the first row.
pub(super) fn parse_integer(rows: &Rows) -> Result<i64> {
    match rows.first().and_then(|row| row.first()) {
        Some(Value::Integer(value)) => Ok(*value),
        _ => Err(damaged_record("expected an integer, found none")),
    }
}
