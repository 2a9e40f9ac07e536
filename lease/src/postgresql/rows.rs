//! Records as rows.

use std::{collections::BTreeSet, string::String, vec::Vec};

use alloc::format;
use tokio_postgres::{
    Row, Transaction,
    types::{ToSql, Type},
};

use super::failed;
use crate::{
    Error, Found, Namespace, Record, Result,
    error::damaged,
    sql::{Columns, Rows, namespace_of, of, readable, record_of, survey_of},
};

/// Values of a statement with their types, so that it needs no name.
type Values<'v> = &'v [(&'v (dyn ToSql + Sync), Type)];

async fn query(
    transaction: &Transaction<'_>,
    statement: &str,
    values: Values<'_>,
) -> Result<Vec<Row>> {
    transaction.query_typed(statement, values).await.map_err(failed)
}

/// Returns whether the tables exist.
pub(super) async fn is_there(transaction: &Transaction<'_>) -> Result<bool> {
    let found = query(
        transaction,
        "SELECT to_regclass('polyflake_leases') IS NOT NULL AND to_regclass('polyflake_namespaces') IS NOT NULL AS there",
        &[],
    )
    .await?;
    found.first().map_or(Ok(false), |row| row.try_get("there").map_err(failed))
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err calls it")]
fn of_another_type(error: tokio_postgres::Error) -> Error {
    damaged(format!("expected columns of format 1, found: {error}"))
}

impl Columns for Row {
    fn signed(&self, column: &str) -> Result<i64> {
        self.try_get(column).map_err(of_another_type)
    }

    fn text(&self, column: &str) -> Result<String> {
        self.try_get(column).map_err(of_another_type)
    }
}

impl Rows for Transaction<'_> {
    async fn columns(&mut self, table: &str) -> Result<BTreeSet<String>> {
        let found = query(
            self,
            "SELECT attname::text AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped",
            &[(&table, Type::TEXT)],
        )
        .await?;
        found.iter().map(|row| row.text("name")).collect()
    }

    async fn namespace(&mut self, name: &str, is_locked: bool) -> Result<Option<Namespace>> {
        let lock = if is_locked { "FOR SHARE" } else { "" };
        let statement = format!("SELECT * FROM polyflake_namespaces WHERE namespace = $1 {lock}");
        query(self, &statement, &[(&name, Type::TEXT)]).await?.first().map(namespace_of).transpose()
    }

    async fn record(&mut self, name: &str, first: u64) -> Result<Option<Record>> {
        let found = query(
            self,
            "SELECT * FROM polyflake_leases WHERE namespace = $1 AND first = $2",
            &[(&name, Type::TEXT), (&of(first), Type::INT8)],
        )
        .await?;
        found.first().map(record_of).transpose()
    }

    async fn first_to_end(&mut self, name: &str, limit: u32) -> Result<Vec<Record>> {
        let found = query(
            self,
            "SELECT * FROM polyflake_leases WHERE namespace = $1 ORDER BY granted_until, first LIMIT $2",
            &[(&name, Type::TEXT), (&i64::from(limit), Type::INT8)],
        )
        .await?;
        readable(found.iter().map(record_of))
    }

    async fn survey(&mut self, name: &str) -> Result<Found> {
        let found = query(
            self,
            "SELECT count(*) AS records,
            coalesce(max(granted_until) FILTER (WHERE granted_until <> $2), 0) AS latest_end
            FROM polyflake_leases WHERE namespace = $1",
            &[(&name, Type::TEXT), (&of(Record::RESERVED), Type::INT8)],
        )
        .await?;
        let row =
            found.first().ok_or_else(|| damaged("expected a count of records, found none"))?;
        survey_of(row)
    }

    async fn insert_namespace(&mut self, new: &Namespace, store: &str) -> Result<()> {
        let made = query(self,
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
    )
    .await;
        made.map(drop)
    }

    async fn insert_fresh(&mut self, name: &str, records: u64, first: &Record) -> Result<()> {
        let made = query(
            self,
            "INSERT INTO polyflake_leases (namespace, first, count, format, granted_until, holder, incarnation, start, token, version)
            SELECT $1, $3 + i * $4, $4, 1, 0, '', $5, 0, $6, 1 FROM generate_series(0, $2 - 1) AS i ON CONFLICT (namespace, first) DO NOTHING",
            &[
                (&name, Type::TEXT),
                (&of(records), Type::INT8),
                (&of(first.first), Type::INT8),
                (&of(first.count), Type::INT8),
                (&format!("{}", first.incarnation), Type::TEXT),
                (&format!("{}", first.token), Type::TEXT),
            ],
        )
        .await;
        made.map(drop)
    }

    async fn insert(&mut self, name: &str, new: &Record) -> Result<()> {
        let made = query(self,
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
    )
    .await;
        made.map(drop)
    }

    async fn swap(&mut self, name: &str, old: &Record, new: &Record) -> Result<bool> {
        let changed = query(self,
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
    )
    .await;
        Ok(changed?.len() == 1)
    }

    async fn swap_namespace(&mut self, old: &Namespace, new: &Namespace) -> Result<bool> {
        let changed = query(self,
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
    )
    .await;
        Ok(changed?.len() == 1)
    }
}
