//! Records as rows.

use std::{collections::BTreeSet, string::String, vec::Vec};

use alloc::format;
use postgres::{
    Row, Transaction,
    types::{ToSql, Type},
};

use super::failed;
use crate::{
    Error, ErrorKind, Found, Namespace, Random, Record, Result, error::damaged, json::check_format,
};

const NAMESPACES: [&str; 10] = [
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
const LEASES: [&str; 10] = [
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

/// Values of a statement with their types, so that it needs no name.
type Values<'v> = &'v [(&'v (dyn ToSql + Sync), Type)];

fn query(
    transaction: &mut Transaction<'_>,
    statement: &str,
    values: Values<'_>,
) -> Result<Vec<Row>> {
    transaction.query_typed(statement, values).map_err(failed)
}

/// Returns whether the tables exist.
pub(super) fn is_there(transaction: &mut Transaction<'_>) -> Result<bool> {
    let found = query(
        transaction,
        "SELECT to_regclass('polyflake_leases') IS NOT NULL AND to_regclass('polyflake_namespaces') IS NOT NULL AS there",
        &[],
    )?;
    found.first().map_or(Ok(false), |row| row.try_get("there").map_err(failed))
}

/// Refuses tables whose columns are not those of format 1.
pub(super) fn check_columns(transaction: &mut Transaction<'_>) -> Result<()> {
    for (table, expected) in [("polyflake_namespaces", NAMESPACES), ("polyflake_leases", LEASES)] {
        let found = query(
            transaction,
            "SELECT attname::text AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped",
            &[(&table, Type::TEXT)],
        )?;
        let columns = found.iter().map(|row| text(row, "name"));
        let columns = columns.collect::<Result<BTreeSet<String>>>()?;
        if let Some(missing) = expected.iter().find(|column| !columns.contains(**column)) {
            return Err(damaged(format!("expected a column `{missing}` in {table}, found none")));
        }
        if let Some(unknown) = columns.iter().find(|column| !expected.contains(&column.as_str())) {
            let reason = format!("expected {table} of format 1, found a column `{unknown}`");
            return Err(Error::new(ErrorKind::SchemaOutdated, reason));
        }
    }
    Ok(())
}

fn integer(row: &Row, column: &str) -> Result<u64> {
    let value: i64 = row.try_get(column).map_err(of_another_type)?;
    u64::try_from(value)
        .map_err(|_| damaged(format!("expected `{column}` from 0 on, found {value}")))
}

fn text(row: &Row, column: &str) -> Result<String> {
    row.try_get(column).map_err(of_another_type)
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err calls it")]
fn of_another_type(error: postgres::Error) -> Error {
    damaged(format!("expected columns of format 1, found: {error}"))
}

fn random(row: &Row, column: &str) -> Result<Random> {
    Random::parse(&text(row, column)?)
}

fn record_of(row: &Row) -> Result<Record> {
    check_format(integer(row, "format")?)?;
    let record = Record {
        first: integer(row, "first")?,
        count: integer(row, "count")?,
        start: integer(row, "start")?,
        granted_until: integer(row, "granted_until")?,
        token: random(row, "token")?,
        version: integer(row, "version")?,
        incarnation: random(row, "incarnation")?,
        holder: text(row, "holder")?,
    };
    record.check()?;
    Ok(record)
}

fn namespace_of(row: &Row) -> Result<Namespace> {
    check_format(integer(row, "format")?)?;
    let namespace = Namespace {
        name: text(row, "namespace")?,
        shape: text(row, "shape")?,
        incarnation: random(row, "incarnation")?,
        store: text(row, "store")?,
        records: integer(row, "records")?,
        longest_ms: integer(row, "longest_ms")?,
        quiet_until: integer(row, "quiet_until")?,
        version: integer(row, "version")?,
    };
    namespace.check(&text(row, "digest")?)?;
    Ok(namespace)
}

/// A namespace's record, locked against changes if asked for.
pub(super) fn namespace(
    transaction: &mut Transaction<'_>,
    name: &str,
    is_locked: bool,
) -> Result<Option<Namespace>> {
    let lock = if is_locked { "FOR SHARE" } else { "" };
    let statement = format!("SELECT * FROM polyflake_namespaces WHERE namespace = $1 {lock}");
    query(transaction, &statement, &[(&name, Type::TEXT)])?.first().map(namespace_of).transpose()
}

pub(super) fn record(
    transaction: &mut Transaction<'_>,
    name: &str,
    first: u64,
) -> Result<Option<Record>> {
    let found = query(
        transaction,
        "SELECT * FROM polyflake_leases WHERE namespace = $1 AND first = $2",
        &[(&name, Type::TEXT), (&of(first), Type::INT8)],
    )?;
    found.first().map(record_of).transpose()
}

pub(super) fn first_to_end(
    transaction: &mut Transaction<'_>,
    name: &str,
    limit: u32,
) -> Result<Vec<Record>> {
    let found = query(
        transaction,
        "SELECT * FROM polyflake_leases WHERE namespace = $1 ORDER BY granted_until, first LIMIT $2",
        &[(&name, Type::TEXT), (&i64::from(limit), Type::INT8)],
    )?;
    found.iter().map(record_of).collect()
}

pub(super) fn survey(transaction: &mut Transaction<'_>, name: &str) -> Result<Found> {
    let found = query(
        transaction,
        "SELECT count(*) AS records,
            coalesce(max(granted_until) FILTER (WHERE granted_until <> $2), 0) AS latest_end
            FROM polyflake_leases WHERE namespace = $1",
        &[(&name, Type::TEXT), (&of(Record::RESERVED), Type::INT8)],
    )?;
    let row = found.first().ok_or_else(|| damaged("expected a count of records, found none"))?;
    Ok(Found::Survey { records: integer(row, "records")?, latest_end: integer(row, "latest_end")? })
}

/// Makes a namespace's record if there is none.
pub(super) fn insert_namespace(
    transaction: &mut Transaction<'_>,
    new: &Namespace,
    store: &str,
) -> Result<()> {
    let made = query(
        transaction,
        "INSERT INTO polyflake_namespaces (namespace, digest, format, incarnation, longest_ms, quiet_until, records, shape, store, version)
            VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (namespace) DO NOTHING",
        &[
            (&new.name, Type::TEXT),
            (&new.digest(), Type::TEXT),
            (&format!("{}", new.incarnation), Type::TEXT),
            (&of(new.longest_ms), Type::INT8),
            (&of(new.quiet_until), Type::INT8),
            (&of(new.records), Type::INT8),
            (&new.shape, Type::TEXT),
            (&store, Type::TEXT),
            (&of(new.version), Type::INT8),
        ],
    );
    made.map(drop)
}

/// Makes a record if there is none.
pub(super) fn insert(transaction: &mut Transaction<'_>, name: &str, new: &Record) -> Result<()> {
    let made = query(
        transaction,
        "INSERT INTO polyflake_leases (namespace, first, count, format, granted_until, holder, incarnation, start, token, version)
            VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9) ON CONFLICT (namespace, first) DO NOTHING",
        &[
            (&name, Type::TEXT),
            (&of(new.first), Type::INT8),
            (&of(new.count), Type::INT8),
            (&of(new.granted_until), Type::INT8),
            (&new.holder, Type::TEXT),
            (&format!("{}", new.incarnation), Type::TEXT),
            (&of(new.start), Type::INT8),
            (&format!("{}", new.token), Type::TEXT),
            (&of(new.version), Type::INT8),
        ],
    );
    made.map(drop)
}

/// Replaces a record if it is unchanged since it was read. Returns whether it was.
pub(super) fn swap(
    transaction: &mut Transaction<'_>,
    name: &str,
    old: &Record,
    new: &Record,
) -> Result<bool> {
    let changed = query(
        transaction,
        "UPDATE polyflake_leases SET count = $1, granted_until = $2, holder = $3, incarnation = $4, start = $5, token = $6, version = $7
            WHERE namespace = $8 AND first = $9 AND version = $10 AND token = $11 AND incarnation = $12 RETURNING first",
        &[
            (&of(new.count), Type::INT8),
            (&of(new.granted_until), Type::INT8),
            (&new.holder, Type::TEXT),
            (&format!("{}", new.incarnation), Type::TEXT),
            (&of(new.start), Type::INT8),
            (&format!("{}", new.token), Type::TEXT),
            (&of(new.version), Type::INT8),
            (&name, Type::TEXT),
            (&of(new.first), Type::INT8),
            (&of(old.version), Type::INT8),
            (&format!("{}", old.token), Type::TEXT),
            (&format!("{}", old.incarnation), Type::TEXT),
        ],
    );
    Ok(changed?.len() == 1)
}

/// Replaces a namespace's record if it is unchanged since it was read. Returns whether it was.
pub(super) fn swap_namespace(
    transaction: &mut Transaction<'_>,
    old: &Namespace,
    new: &Namespace,
) -> Result<bool> {
    let changed = query(
        transaction,
        "UPDATE polyflake_namespaces SET incarnation = $1, longest_ms = $2, quiet_until = $3, records = $4, store = $5, version = $6
            WHERE namespace = $7 AND version = $8 AND incarnation = $9 RETURNING namespace",
        &[
            (&format!("{}", new.incarnation), Type::TEXT),
            (&of(new.longest_ms), Type::INT8),
            (&of(new.quiet_until), Type::INT8),
            (&of(new.records), Type::INT8),
            (&new.store, Type::TEXT),
            (&of(new.version), Type::INT8),
            (&new.name, Type::TEXT),
            (&of(old.version), Type::INT8),
            (&format!("{}", old.incarnation), Type::TEXT),
        ],
    );
    Ok(changed?.len() == 1)
}

/// An integer of a record as a column's value; integers of records are below 2^53.
fn of(value: u64) -> i64 {
    value.cast_signed()
}
