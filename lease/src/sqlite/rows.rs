//! Records as rows.

use std::{collections::BTreeSet, string::String, vec::Vec};

use alloc::format;
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::failed;
use crate::{
    Found, Namespace, Record, Result,
    sql::{Columns, Rows, namespace_of, of, readable, record_of, survey_of},
};

impl Columns for Row<'_> {
    fn signed(&self, column: &str) -> Result<i64> {
        self.get(column).map_err(failed)
    }

    fn text(&self, column: &str) -> Result<String> {
        self.get(column).map_err(failed)
    }
}

impl Rows for Transaction<'_> {
    async fn columns(&mut self, table: &str) -> Result<BTreeSet<String>> {
        let mut columns = BTreeSet::new();
        let found = self.pragma(None, "table_info", table, |row| {
            columns.insert(row.get(1)?);
            Ok(())
        });
        found.map_err(failed)?;
        Ok(columns)
    }

    /// An immediate transaction has the file for itself.
    async fn namespace(&mut self, name: &str, _: bool) -> Result<Option<Namespace>> {
        let found = self
            .query_row("SELECT * FROM polyflake_namespaces WHERE namespace = ?1", [name], |row| {
                Ok(namespace_of(row))
            })
            .optional();
        found.map_err(failed)?.transpose()
    }

    async fn record(&mut self, name: &str, first: u64) -> Result<Option<Record>> {
        let found = self
            .query_row(
                "SELECT * FROM polyflake_leases WHERE namespace = ?1 AND first = ?2",
                params![name, of(first)],
                |row| Ok(record_of(row)),
            )
            .optional();
        found.map_err(failed)?.transpose()
    }

    async fn first_to_end(&mut self, name: &str, limit: u32) -> Result<Vec<Record>> {
        let mut statement = self
        .prepare(
            "SELECT * FROM polyflake_leases WHERE namespace = ?1 ORDER BY granted_until, first LIMIT ?2",
        )
        .map_err(failed)?;
        let rows = statement.query_map(params![name, limit], |row| Ok(record_of(row)));
        readable(rows.map_err(failed)?.map(|row| row.map_err(failed).flatten()))
    }

    async fn survey(&mut self, name: &str) -> Result<Found> {
        let counted = self.query_row(
            "SELECT (SELECT count(*) FROM polyflake_leases WHERE namespace = ?1) AS records,
            coalesce((SELECT max(granted_until) FROM polyflake_leases
                WHERE namespace = ?1 AND granted_until <> ?2), 0) AS latest_end",
            params![name, of(Record::RESERVED)],
            |row| Ok(survey_of(row)),
        );
        counted.map_err(failed)?
    }

    async fn insert_namespace(&mut self, new: &Namespace, store: &str) -> Result<()> {
        let made = self.execute(
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

    async fn insert_fresh(&mut self, name: &str, records: u64, first: &Record) -> Result<()> {
        let made = self.execute(
            "WITH RECURSIVE made(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM made WHERE i + 1 < ?2)
            INSERT INTO polyflake_leases (namespace, first, count, format, granted_until, holder, incarnation, start, token, version)
            SELECT ?1, ?3 + i * ?4, ?4, 1, 0, '', ?5, 0, ?6, 1 FROM made WHERE true ON CONFLICT (namespace, first) DO NOTHING",
            params![
                name,
                of(records),
                of(first.first),
                of(first.count),
                format!("{}", first.incarnation),
                format!("{}", first.token)
            ],
        );
        made.map(drop).map_err(failed)
    }

    async fn insert(&mut self, name: &str, new: &Record) -> Result<()> {
        let made = self.execute(
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

    async fn swap(&mut self, name: &str, old: &Record, new: &Record) -> Result<bool> {
        let changed = self.execute(
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

    async fn swap_namespace(&mut self, old: &Namespace, new: &Namespace) -> Result<bool> {
        let changed = self.execute(
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
}
