//! The rules that every store of rows keeps; a driver says how its rows are read and written.

use std::{collections::BTreeSet, string::String};
#[cfg(feature = "sqlite")]
use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use alloc::{format, vec::Vec};

use crate::{
    Ask, Error, ErrorKind, Found, Namespace, Random, Record, Request, Result, error::damaged,
    json::check_format,
};

pub(crate) const NAMESPACES: [&str; 10] = [
    "namespace",
    "digest",
    "format",
    "incarnation",
    "longest_ms",
    "quiet_until",
    "records",
    "shape",
    "store",
    "version",
];
pub(crate) const LEASES: [&str; 10] = [
    "namespace",
    "first",
    "count",
    "format",
    "granted_until",
    "holder",
    "incarnation",
    "start",
    "token",
    "version",
];

/// A transaction of a driver. Its calls wait for a server, or answer at once.
pub(crate) trait Rows {
    /// The names of a table's columns.
    async fn columns(&mut self, table: &str) -> Result<BTreeSet<String>>;

    /// A namespace's record; locked against changes until the end of the transaction if asked for.
    async fn namespace(&mut self, name: &str, is_locked: bool) -> Result<Option<Namespace>>;

    async fn record(&mut self, name: &str, first: u64) -> Result<Option<Record>>;

    /// The records that end first.
    async fn first_to_end(&mut self, name: &str, limit: u32) -> Result<Vec<Record>>;

    async fn survey(&mut self, name: &str) -> Result<Found>;

    /// Makes a namespace's record if there is none.
    async fn insert_namespace(&mut self, new: &Namespace, store: &str) -> Result<()>;

    /// Makes records that were never granted, from `first` on, each `count` numbers after the one before; those that exist stay.
    async fn insert_fresh(&mut self, name: &str, records: u64, first: &Record) -> Result<()>;

    /// Makes a record if there is none.
    async fn insert(&mut self, name: &str, new: &Record) -> Result<()>;

    /// Replaces a record if it is unchanged since it was read. Returns whether it was.
    async fn swap(&mut self, name: &str, old: &Record, new: &Record) -> Result<bool>;

    /// Replaces a namespace's record if it is unchanged since it was read. Returns whether it was.
    async fn swap_namespace(&mut self, old: &Namespace, new: &Namespace) -> Result<bool>;
}

/// A row of a driver, by the names of its columns.
pub(crate) trait Columns {
    fn signed(&self, column: &str) -> Result<i64>;

    fn text(&self, column: &str) -> Result<String>;

    fn integer(&self, column: &str) -> Result<u64> {
        let value = self.signed(column)?;
        u64::try_from(value)
            .map_err(|_| damaged(format!("expected `{column}` from 0 on, found {value}")))
    }

    fn random(&self, column: &str) -> Result<Random> {
        Random::parse(&self.text(column)?)
    }
}

/// Returns whether an ask may change a row.
pub(crate) const fn changes(ask: &Ask) -> bool {
    match ask {
        Ask::Open(_) | Ask::Put { .. } | Ask::PutNamespace { .. } => true,
        Ask::Find { .. } | Ask::Read { .. } | Ask::Survey => false,
    }
}

/// The result of work over rows that answer at once, as those of a file.
#[cfg(feature = "sqlite")]
pub(crate) fn at_once<V>(work: impl Future<Output = V>) -> V {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing is waited for"),
    }
}

/// Answers a request within a transaction of a store of this name.
pub(crate) async fn answer(rows: &mut impl Rows, request: &Request, store: &str) -> Result<Found> {
    let name = &request.namespace;
    match &request.ask {
        Ask::Open(namespace) => {
            rows.insert_namespace(namespace, store).await?;
            Ok(Found::Nothing)
        }
        Ask::Find { limit } => Ok(Found::Records(rows.first_to_end(name, *limit).await?)),
        Ask::Read { first } => {
            Ok(Found::Records(rows.record(name, *first).await?.into_iter().collect()))
        }
        Ask::Put { old, new } => {
            // Locked, so that no other incarnation begins between the look and the swap.
            let namespace = rows.namespace(name, true).await?;
            let is_current =
                namespace.is_some_and(|it| it.store == store && it.incarnation == new.incarnation);
            if is_current && rows.swap(name, old, new).await? {
                return Ok(Found::Done);
            }
            Ok(Found::Differs(rows.record(name, new.first).await?))
        }
        Ask::PutNamespace { old, new, first, count } => {
            if new.store != store || !rows.swap_namespace(old, new).await? {
                return Ok(Found::Differs(None));
            }
            let records = new.records.saturating_sub(old.records);
            if records > 0 {
                let fresh = Record::fresh(*first, *count, new.incarnation);
                rows.insert_fresh(name, records, &fresh).await?;
            }
            Ok(Found::Done)
        }
        Ask::Survey => rows.survey(name).await,
    }
}

/// Checks that a stale swap and a second creation fail. The caller rolls the transaction back; no other connection may use the name
/// at the same time.
pub(crate) async fn probe(rows: &mut impl Rows, name: &str) -> Result<()> {
    let fresh = Record::fresh(0, 1, Random(1));
    let stale = Record { version: 2, ..fresh.clone() };
    rows.insert(name, &fresh).await?;
    rows.insert(name, &stale).await?;
    let is_kept = rows.record(name, 0).await? == Some(fresh);
    let is_refused = !rows.swap(name, &stale, &stale).await?;
    if is_kept && is_refused {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::StoreNotDurable,
        "expected a store that refuses stale writes, found one that takes them",
    ))
}

/// Refuses tables without the columns of format 1. Others are let be: each row tells its format.
pub(crate) async fn check_columns(rows: &mut impl Rows) -> Result<()> {
    for (table, expected) in [("polyflake_namespaces", NAMESPACES), ("polyflake_leases", LEASES)] {
        let columns = rows.columns(table).await?;
        if let Some(missing) = expected.iter().find(|column| !columns.contains(**column)) {
            return Err(damaged(format!("expected a column `{missing}` in {table}, found none")));
        }
    }
    Ok(())
}

pub(crate) fn record_of(row: &impl Columns) -> Result<Record> {
    let first = row.integer("first")?;
    let record = fields_of(row, first).map_err(|error| error.in_record(first))?;
    record.check()?;
    Ok(record)
}

/// The records that can be read: one that cannot is nobody's reason to do without all others.
pub(crate) fn readable(rows: impl Iterator<Item = Result<Record>>) -> Result<Vec<Record>> {
    let (mut read, mut refused) = (Vec::new(), None);
    for row in rows {
        match row {
            Ok(record) => read.push(record),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) if read.is_empty() => Err(error),
        _ => Ok(read),
    }
}

fn fields_of(row: &impl Columns, first: u64) -> Result<Record> {
    check_format(row.integer("format")?)?;
    Ok(Record {
        first,
        count: row.integer("count")?,
        start: row.integer("start")?,
        granted_until: row.integer("granted_until")?,
        token: row.random("token")?,
        version: row.integer("version")?,
        incarnation: row.random("incarnation")?,
        holder: row.text("holder")?,
    })
}

pub(crate) fn namespace_of(row: &impl Columns) -> Result<Namespace> {
    check_format(row.integer("format")?)?;
    let namespace = Namespace {
        name: row.text("namespace")?,
        shape: row.text("shape")?,
        incarnation: row.random("incarnation")?,
        store: row.text("store")?,
        records: row.integer("records")?,
        longest_ms: row.integer("longest_ms")?,
        quiet_until: row.integer("quiet_until")?,
        version: row.integer("version")?,
    };
    namespace.check(&row.text("digest")?)?;
    Ok(namespace)
}

pub(crate) fn survey_of(row: &impl Columns) -> Result<Found> {
    Ok(Found::Survey { records: row.integer("records")?, latest_end: row.integer("latest_end")? })
}

/// An integer of a record as a column's value; integers of records are below 2^53.
pub(crate) const fn of(value: u64) -> i64 {
    value.cast_signed()
}
