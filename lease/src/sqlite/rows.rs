//! Records as rows.

use std::{collections::BTreeSet, string::String, vec::Vec};

use alloc::format;
use rusqlite::{Connection, OptionalExtension, Row, params};

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

/// Refuses tables whose columns are not those of format 1.
pub(super) fn check_columns(connection: &Connection) -> Result<()> {
    for (table, expected) in [("polyflake_namespaces", NAMESPACES), ("polyflake_leases", LEASES)] {
        let mut columns = BTreeSet::<String>::new();
        connection
            .pragma(None, "table_info", table, |row| {
                columns.insert(row.get(1)?);
                Ok(())
            })
            .map_err(failed)?;
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

fn integer(row: &Row<'_>, column: &str) -> Result<u64> {
    let value: i64 = row.get(column).map_err(failed)?;
    u64::try_from(value)
        .map_err(|_| damaged(format!("expected `{column}` from 0 on, found {value}")))
}

fn text(row: &Row<'_>, column: &str) -> Result<String> {
    row.get(column).map_err(failed)
}

fn random(row: &Row<'_>, column: &str) -> Result<Random> {
    Random::parse(&text(row, column)?)
}

fn record_of(row: &Row<'_>) -> Result<Record> {
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

fn namespace_of(row: &Row<'_>) -> Result<Namespace> {
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

pub(super) fn namespace(connection: &Connection, name: &str) -> Result<Option<Namespace>> {
    let found = connection
        .query_row("SELECT * FROM polyflake_namespaces WHERE namespace = ?1", [name], |row| {
            Ok(namespace_of(row))
        })
        .optional();
    found.map_err(failed)?.transpose()
}

pub(super) fn record(connection: &Connection, name: &str, first: u64) -> Result<Option<Record>> {
    let found = connection
        .query_row(
            "SELECT * FROM polyflake_leases WHERE namespace = ?1 AND first = ?2",
            params![name, of(first)],
            |row| Ok(record_of(row)),
        )
        .optional();
    found.map_err(failed)?.transpose()
}

pub(super) fn first_to_end(connection: &Connection, name: &str, limit: u32) -> Result<Vec<Record>> {
    let mut statement = connection
        .prepare(
            "SELECT * FROM polyflake_leases WHERE namespace = ?1 ORDER BY granted_until, first LIMIT ?2",
        )
        .map_err(failed)?;
    let rows = statement.query_map(params![name, limit], |row| Ok(record_of(row)));
    rows.map_err(failed)?.map(|row| row.map_err(failed).flatten()).collect()
}

pub(super) fn survey(connection: &Connection, name: &str) -> Result<Found> {
    let counted = connection.query_row(
        "SELECT (SELECT count(*) FROM polyflake_leases WHERE namespace = ?1) AS records,
            coalesce((SELECT max(granted_until) FROM polyflake_leases
                WHERE namespace = ?1 AND granted_until <> ?2), 0) AS latest_end",
        params![name, of(Record::RESERVED)],
        |row| Ok((integer(row, "records"), integer(row, "latest_end"))),
    );
    let (records, latest_end) = counted.map_err(failed)?;
    Ok(Found::Survey { records: records?, latest_end: latest_end? })
}

/// Makes a namespace's record if there is none.
pub(super) fn insert_namespace(
    connection: &Connection,
    new: &Namespace,
    store: &str,
) -> Result<()> {
    let made = connection.execute(
        "INSERT INTO polyflake_namespaces (namespace, digest, format, incarnation, longest_ms, quiet_until, records, shape, store, version)
            VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (namespace) DO NOTHING",
        params![
            new.name,
            new.digest(),
            format!("{}", new.incarnation),
            of(new.longest_ms),
            of(new.quiet_until),
            of(new.records),
            new.shape,
            store,
            of(new.version)
        ],
    );
    made.map(drop).map_err(failed)
}

/// Makes a record if there is none.
pub(super) fn insert(connection: &Connection, name: &str, new: &Record) -> Result<()> {
    let made = connection.execute(
        "INSERT INTO polyflake_leases (namespace, first, count, format, granted_until, holder, incarnation, start, token, version)
            VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (namespace, first) DO NOTHING",
        params![
            name,
            of(new.first),
            of(new.count),
            of(new.granted_until),
            new.holder,
            format!("{}", new.incarnation),
            of(new.start),
            format!("{}", new.token),
            of(new.version)
        ],
    );
    made.map(drop).map_err(failed)
}

/// Replaces a record if it is unchanged since it was read. Returns whether it was.
pub(super) fn swap(
    connection: &Connection,
    name: &str,
    old: &Record,
    new: &Record,
) -> Result<bool> {
    let changed = connection.execute(
        "UPDATE polyflake_leases SET count = ?1, granted_until = ?2, holder = ?3, incarnation = ?4, start = ?5, token = ?6, version = ?7
            WHERE namespace = ?8 AND first = ?9 AND version = ?10 AND token = ?11 AND incarnation = ?12",
        params![
            of(new.count),
            of(new.granted_until),
            new.holder,
            format!("{}", new.incarnation),
            of(new.start),
            format!("{}", new.token),
            of(new.version),
            name,
            of(new.first),
            of(old.version),
            format!("{}", old.token),
            format!("{}", old.incarnation)
        ],
    );
    Ok(changed.map_err(failed)? == 1)
}

/// Replaces a namespace's record if it is unchanged since it was read. Returns whether it was.
pub(super) fn swap_namespace(
    connection: &Connection,
    old: &Namespace,
    new: &Namespace,
) -> Result<bool> {
    let changed = connection.execute(
        "UPDATE polyflake_namespaces SET incarnation = ?1, longest_ms = ?2, quiet_until = ?3, records = ?4, store = ?5, version = ?6
            WHERE namespace = ?7 AND version = ?8 AND incarnation = ?9",
        params![
            format!("{}", new.incarnation),
            of(new.longest_ms),
            of(new.quiet_until),
            of(new.records),
            new.store,
            of(new.version),
            new.name,
            of(old.version),
            format!("{}", old.incarnation)
        ],
    );
    Ok(changed.map_err(failed)? == 1)
}

/// An integer of a record as a column's value; integers of records are below 2^53.
fn of(value: u64) -> i64 {
    value.cast_signed()
}
