//! Requests as statements. Each request is one transaction; a driver sends its statements in their order, without a look at what the
//! ones before gave, and hands over all rows. So a transaction takes one round trip wherever a client sends more than one statement at
//! once.
//!
//! The statements are the same for all databases that have `ON CONFLICT`, `RETURNING` and recursive queries, but for the words of a
//! [`Dialect`]. A driver opens connections, refuses stores that may lose what they commit, and names the store.

use std::{string::String, vec::Vec};

use alloc::{borrow::ToOwned, format, string::ToString, vec};

use crate::{
    Ask, Error, ErrorKind, Found, Namespace, Random, Record, Request, Result,
    rules::error::damaged, rules::json::check_format,
};

/// The columns of a record, in the order in which they are read.
const RECORD: &str =
    "first, count, format, granted_until, holder, incarnation, start, token, version";

/// The columns of a namespace's record, in the order in which they are read.
const NAMESPACE: &str = "namespace, digest, format, incarnation, longest_ms, quiet_until, records, shape, store, version";

/// The words in which databases differ.
pub(crate) struct Dialect<'d> {
    /// An expression for the store's name; NULL in a store that may lose what it commits.
    pub(crate) store: &'d str,
    /// The end of a query whose row stays as it is until the end of the transaction.
    pub(crate) shared: &'static str,
    /// The same, where this transaction changes the row.
    pub(crate) locked: &'static str,
}

/// A value of a statement or of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Integer(i64),
    Text(String),
    /// NULL, or of another type.
    Other,
}

impl From<u64> for Value {
    /// Integers of records are below 2^53.
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

/// A statement, with its values for `$1`, `$2` and so on.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) values: Vec<Value>,
}

/// The rows that a statement gave.
pub(crate) type Rows = Vec<Vec<Value>>;

/// Returns whether an ask may change a row. Those that do not see records and namespace of one moment: else records that another
/// holder makes in between would seem lost. A change sees what was committed last, so that a swap that came too late differs instead
/// of failing.
pub(crate) const fn changes(ask: &Ask) -> bool {
    match ask {
        Ask::Open(_) | Ask::Put { .. } | Ask::PutNamespace { .. } => true,
        Ask::Find { .. } | Ask::Read { .. } | Ask::Survey => false,
    }
}

/// The statements that answer a request.
pub(crate) fn statements(request: &Request, dialect: &Dialect<'_>) -> Vec<Statement> {
    let name = &*request.namespace;
    let mut statements = match &request.ask {
        Ask::Open(new) => vec![insert_namespace(new, dialect)],
        Ask::Find { limit } => {
            let text = format!(
                "SELECT {RECORD} FROM polyflake_leases WHERE namespace = $1 ORDER BY granted_until, first LIMIT $2"
            );
            vec![Statement { text, values: vec![name.into(), u64::from(*limit).into()] }]
        }
        Ask::Read { first } => vec![read(name, *first)],
        Ask::Put { old, new } => vec![swap(name, old, new, dialect), read(name, new.first)],
        Ask::PutNamespace { old, new, first, count } => {
            let fresh = Record::fresh(*first, *count, new.incarnation);
            vec![insert_fresh(old, new, &fresh, dialect), swap_namespace(old, new, dialect)]
        }
        Ask::Survey => vec![survey(name)],
    };
    let text = format!("SELECT {NAMESPACE} FROM polyflake_namespaces WHERE namespace = $1");
    statements.push(Statement { text, values: vec![name.into()] });
    statements
}

/// The answer that the rows of a request's statements give, and the namespace's record.
pub(crate) fn answer(ask: &Ask, rows: &[Rows]) -> Result<(Found, Option<Namespace>)> {
    let found = match (ask, rows) {
        (Ask::Open(_), [..]) => Found::Nothing,
        (Ask::Find { .. } | Ask::Read { .. }, [found, _]) => Found::Records(readable(found)?),
        (Ask::Put { .. }, [swapped, _, _]) if !swapped.is_empty() => Found::Done,
        (Ask::Put { .. }, [_, found, _]) => {
            Found::Differs(found.first().map(|row| record_of(row)).transpose()?)
        }
        (Ask::PutNamespace { .. }, [_, swapped, _]) if !swapped.is_empty() => Found::Done,
        (Ask::PutNamespace { .. }, _) => Found::Differs(None),
        (Ask::Survey, [found, _]) => survey_of(found)?,
        _ => return Err(damaged("expected the rows of each statement, found fewer")),
    };
    let namespace = rows.last().and_then(|found| found.first());
    Ok((found, namespace.map(|row| namespace_of(row)).transpose()?))
}

fn read(name: &str, first: u64) -> Statement {
    let text = format!("SELECT {RECORD} FROM polyflake_leases WHERE namespace = $1 AND first = $2");
    Statement { text, values: vec![name.into(), first.into()] }
}

fn survey(name: &str) -> Statement {
    let text = "SELECT (SELECT count(*) FROM polyflake_leases WHERE namespace = $1),
        coalesce((SELECT max(granted_until) FROM polyflake_leases WHERE namespace = $1 AND granted_until <> $2), 0)";
    Statement { text: text.into(), values: vec![name.into(), Record::RESERVED.into()] }
}

fn insert_namespace(new: &Namespace, dialect: &Dialect<'_>) -> Statement {
    let text = format!(
        "INSERT INTO polyflake_namespaces ({NAMESPACE})
        VALUES ($1, $2, 1, $3, $4, $5, $6, $7, {}, $8) ON CONFLICT (namespace) DO NOTHING",
        dialect.store
    );
    let values = vec![
        (&*new.name).into(),
        (&*new.digest()).into(),
        new.incarnation.into(),
        new.longest_ms.into(),
        new.quiet_until.into(),
        new.records.into(),
        (&*new.shape).into(),
        new.version.into(),
    ];
    Statement { text, values }
}

/// Replaces a record if it is as it was read, in the namespace's incarnation and in the store that the namespace's record names, which
/// stay as they are until the swap is done.
fn swap(name: &str, old: &Record, new: &Record, dialect: &Dialect<'_>) -> Statement {
    let Dialect { store, shared, .. } = dialect;
    let text = format!(
        "UPDATE polyflake_leases
        SET count = $1, granted_until = $2, holder = $3, incarnation = $4, start = $5, token = $6, version = $7
        WHERE namespace = $8 AND first = $9 AND version = $10 AND token = $11 AND incarnation = $12
            AND EXISTS (SELECT 1 FROM polyflake_namespaces WHERE namespace = $8 AND incarnation = $4 AND store = {store} {shared})
        RETURNING first"
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
    Statement { text, values }
}

/// Makes the records that a namespace's record is about to count, if that record is as it was read. Those that exist stay.
fn insert_fresh(
    old: &Namespace,
    new: &Namespace,
    fresh: &Record,
    dialect: &Dialect<'_>,
) -> Statement {
    let Dialect { store, locked, .. } = dialect;
    let text = format!(
        "WITH RECURSIVE made(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM made WHERE i + 1 < $2)
        INSERT INTO polyflake_leases (namespace, {RECORD})
        SELECT $1, $3 + i * $4, $4, 1, 0, '', $5, 0, $6, 1 FROM made
        WHERE i < $2 AND EXISTS (SELECT 1 FROM polyflake_namespaces
            WHERE namespace = $1 AND version = $7 AND incarnation = $8 AND $9 = {store} {locked})
        ON CONFLICT (namespace, first) DO NOTHING"
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

/// Replaces a namespace's record if it is as it was read, in the store that the new record names.
fn swap_namespace(old: &Namespace, new: &Namespace, dialect: &Dialect<'_>) -> Statement {
    let text = format!(
        "UPDATE polyflake_namespaces
        SET incarnation = $1, longest_ms = $2, quiet_until = $3, records = $4, store = $5, version = $6
        WHERE namespace = $7 AND version = $8 AND incarnation = $9 AND $5 = {} RETURNING namespace",
        dialect.store
    );
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
    ];
    Statement { text, values }
}

/// The values of a row, which are read in the order of its columns.
struct Reader<'r>(core::slice::Iter<'r, Value>);

impl Reader<'_> {
    fn integer(&mut self, column: &str) -> Result<u64> {
        match self.0.next() {
            Some(Value::Integer(value)) => u64::try_from(*value)
                .map_err(|_| damaged(format!("expected `{column}` from 0 on, found {value}"))),
            _ => Err(damaged(format!("expected an integer in `{column}`, found none"))),
        }
    }

    fn text(&mut self, column: &str) -> Result<String> {
        match self.0.next() {
            Some(Value::Text(text)) => Ok(text.clone()),
            _ => Err(damaged(format!("expected a text in `{column}`, found none"))),
        }
    }

    fn random(&mut self, column: &str) -> Result<Random> {
        Random::parse(&self.text(column)?)
    }

    fn format(&mut self) -> Result<()> {
        check_format(self.integer("format")?)
    }
}

fn record_of(row: &[Value]) -> Result<Record> {
    let mut reader = Reader(row.iter());
    let first = reader.integer("first")?;
    let record = fields_of(&mut reader, first).map_err(|error| error.in_record(first))?;
    record.check()?;
    Ok(record)
}

fn fields_of(row: &mut Reader<'_>, first: u64) -> Result<Record> {
    let count = row.integer("count")?;
    row.format()?;
    let (granted_until, holder) = (row.integer("granted_until")?, row.text("holder")?);
    let (incarnation, start) = (row.random("incarnation")?, row.integer("start")?);
    let (token, version) = (row.random("token")?, row.integer("version")?);
    Ok(Record { first, count, start, granted_until, token, version, incarnation, holder })
}

/// The records that can be read: one that cannot is nobody's reason to do without all others.
fn readable(rows: &Rows) -> Result<Vec<Record>> {
    let (mut read, mut refused) = (Vec::new(), None);
    for row in rows {
        match record_of(row) {
            Ok(record) => read.push(record),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) if read.is_empty() => Err(error),
        _ => Ok(read),
    }
}

fn namespace_of(row: &[Value]) -> Result<Namespace> {
    let mut row = Reader(row.iter());
    let (name, digest) = (row.text("namespace")?, row.text("digest")?);
    row.format()?;
    let namespace = Namespace {
        name,
        incarnation: row.random("incarnation")?,
        longest_ms: row.integer("longest_ms")?,
        quiet_until: row.integer("quiet_until")?,
        records: row.integer("records")?,
        shape: row.text("shape")?,
        store: row.text("store")?,
        version: row.integer("version")?,
    };
    namespace.check(&digest)?;
    Ok(namespace)
}

fn survey_of(rows: &Rows) -> Result<Found> {
    let row = rows.first().ok_or_else(|| damaged("expected a count of records, found none"))?;
    let mut row = Reader(row.iter());
    Ok(Found::Survey { records: row.integer("records")?, latest_end: row.integer("latest_end")? })
}

/// Requests that a store answers as [`check_probe`] expects if it refuses stale swaps and second creations, for one transaction that
/// is rolled back. No namespace has the name, and no other connection uses it.
pub(crate) fn probe(name: &str, store: &str) -> Vec<Request> {
    let one = Namespace {
        name: name.to_owned(),
        shape: "{}".to_owned(),
        incarnation: Random(1),
        store: store.to_owned(),
        records: 0,
        longest_ms: 0,
        quiet_until: 0,
        version: 1,
    };
    let other = Namespace { incarnation: Random(2), ..one.clone() };
    let grown = Namespace { records: 1, version: 2, ..one.clone() };
    let fresh = Record::fresh(0, 1, Random(1));
    let put = Record { version: 2, ..fresh.clone() };
    let put = Ask::Put { old: fresh, new: put };
    let grow = Ask::PutNamespace { old: one.clone(), new: grown, first: 0, count: 1 };
    let asks = [Ask::Open(one), Ask::Open(other), grow.clone(), grow, put.clone(), put];
    let request = |ask| Request { number: 0, namespace: name.to_owned(), ask };
    asks.map(request).into()
}

/// Checks the rows of all statements of a [`probe`].
pub(crate) fn check_probe(requests: &[Request], mut rows: &[Rows]) -> Result<()> {
    let mut replies = Vec::new();
    for Request { ask, .. } in requests {
        let count = if matches!(ask, Ask::Put { .. } | Ask::PutNamespace { .. }) { 3 } else { 2 };
        let (of_ask, rest) = rows.split_at_checked(count).unwrap_or_default();
        replies.push(answer(ask, of_ask)?);
        rows = rest;
    }
    let is_kept = match &*replies {
        [_, opened, grown, again, put, stale] => {
            opened.1.as_ref().is_some_and(|found| found.incarnation == Random(1))
                && [&grown.0, &put.0] == [&Found::Done; 2]
                && matches!([&again.0, &stale.0], [Found::Differs(None), Found::Differs(Some(_))])
        }
        _ => false,
    };
    let reason = "expected a store that refuses stale writes, found one that takes them";
    if is_kept { Ok(()) } else { Err(Error::new(ErrorKind::StoreNotDurable, reason)) }
}
