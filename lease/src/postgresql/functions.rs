//! Requests by the functions of `lease/sql/postgresql-functions.sql`, in one round trip each.
//!
//! The functions serve claims, renewals, releases and surveys. All other requests, and changes that are none of these, go the way of
//! stores without functions.

use std::{string::String, vec::Vec};

use alloc::{format, vec};
use tokio_postgres::{
    Client, Row, Transaction,
    types::{ToSql, Type},
};

use super::{SETTINGS, failed};
use crate::{
    Ask, Found, Namespace, Record, Reply, Request, Result,
    error::damaged,
    sql::{self, Columns, namespace_of, of, record_of, survey_of},
};

pub(super) const FUNCTIONS: &str = include_str!("../../sql/postgresql-functions.sql");

/// The version of the functions that this crate calls.
const VERSION: i64 = 1;

/// Returns whether there are functions of this version that the role may call. All others are left alone.
pub(super) async fn are_there(transaction: &Transaction<'_>) -> Result<bool> {
    let ask = async |statement: &str| {
        let rows = transaction.query_typed(statement, &[]).await.map_err(failed)?;
        rows.first().map_or(Ok(0), |row| row.try_get::<_, i64>(0).map_err(failed))
    };
    let callable = "SELECT count(*) FROM unnest(ARRAY['functions', 'store', 'put', 'claim', 'renew', 'release', 'status']) AS name
        WHERE has_function_privilege(to_regproc('polyflake_' || name), 'EXECUTE')";
    Ok(ask(callable).await? == 7 && ask("SELECT polyflake_functions()").await? == VERSION)
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Claim,
    Renew,
    Release,
}

impl Change {
    fn of(old: &Record, new: &Record) -> Option<Self> {
        let is_next =
            new.version == old.version + 1 && (new.first, new.count) == (old.first, old.count);
        let is_same = new.is_grant(old) && new.holder == old.holder;
        match is_next {
            true if is_same && new.granted_until >= old.granted_until => Some(Self::Renew),
            true if is_same && new.granted_until >= old.start => Some(Self::Release),
            true if new.token != old.token && is_grant_after(old, new) => Some(Self::Claim),
            _ => None,
        }
    }
}

/// Returns whether a record is a grant after the last one: neither empty, as an eviction is, nor reserved.
fn is_grant_after(old: &Record, new: &Record) -> bool {
    let ends = new.start + 1..Record::RESERVED;
    new.start >= old.granted_until && ends.contains(&new.granted_until)
}

/// Answers a request by a function; `None` if there is none for it.
pub(super) async fn answer(client: &Client, request: &Request) -> Option<Result<Reply>> {
    match &request.ask {
        Ask::Survey => Some(survey(client, &request.namespace).await),
        Ask::Put { old, new } => {
            let change = Change::of(old, new)?;
            Some(put(client, &request.namespace, change, (old, new)).await)
        }
        _ => None,
    }
}

type Values<'v> = Vec<(&'v (dyn ToSql + Sync), Type)>;

async fn put(
    client: &Client,
    name: &str,
    change: Change,
    (old, new): (&Record, &Record),
) -> Result<Reply> {
    let [old_token, token] = [old, new].map(|record| format!("{}", record.token));
    let [old_incarnation, incarnation] = [old, new].map(|record| format!("{}", record.incarnation));
    let (first, version) = (of(old.first), of(old.version));
    let (start, until) = (of(new.start), of(new.granted_until));
    let mut values: Values<'_> = vec![
        (&name, Type::TEXT),
        (&first, Type::INT8),
        (&version, Type::INT8),
        (&old_token, Type::TEXT),
        (&old_incarnation, Type::TEXT),
        (&start, Type::INT8),
        (&until, Type::INT8),
    ];
    let call = match change {
        Change::Claim => {
            values.extend([(&token as _, Type::TEXT), (&incarnation as _, Type::TEXT)]);
            "polyflake_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        }
        Change::Renew => "polyflake_renew($1, $2, $3, $4, $5, $6, $7, $8)",
        Change::Release => "polyflake_release($1, $2, $3, $4, $5, $6, $7, $8)",
    };
    values.push((&new.holder, Type::TEXT));
    let (records, namespaces) =
        (columns("record", &sql::LEASES), columns("namespace", &sql::NAMESPACES));
    let statement =
        format!("SELECT reply_now, reply_store, reply_done, {records}, {namespaces} FROM {call}");
    let row = one(client, &statement, &values).await?;
    let is_done = row.try_get("reply_done").map_err(failed)?;
    let record = || Ok(is_there(&row, "record_first")?.then(|| record_of(&Of(&row, "record"))));
    let found = if is_done { Found::Done } else { Found::Differs(record()?.transpose()?) };
    reply(&row, found)
}

async fn survey(client: &Client, name: &str) -> Result<Reply> {
    let namespaces = columns("namespace", &sql::NAMESPACES);
    let statement = format!(
        "SELECT reply_now, reply_store, records, latest_end, {namespaces} FROM polyflake_status($1)"
    );
    let row = one(client, &statement, &[(&name, Type::TEXT)]).await?;
    let found = survey_of(&row)?;
    reply(&row, found)
}

/// Calls a function in a transaction of its own. The statements are sent together, and take one round trip.
async fn one(
    client: &Client,
    statement: &str,
    values: &[(&(dyn ToSql + Sync), Type)],
) -> Result<Row> {
    let begin = format!("BEGIN ISOLATION LEVEL READ COMMITTED; {SETTINGS}");
    let (begun, rows, ended) = tokio::join!(
        biased;
        client.batch_execute(&begin),
        client.query_typed(statement, values),
        client.batch_execute("COMMIT"),
    );
    begun.map_err(failed)?;
    let rows = rows.map_err(failed)?;
    ended.map_err(failed)?;
    rows.into_iter().next().ok_or_else(|| damaged("expected an answer from a function, found none"))
}

fn reply(row: &Row, found: Found) -> Result<Reply> {
    let namespace: Option<Namespace> = if is_there(row, "namespace_version")? {
        Some(namespace_of(&Of(row, "namespace"))?)
    } else {
        None
    };
    Ok(Reply { now: row.integer("reply_now")?, store: row.text("reply_store")?, namespace, found })
}

/// Returns whether a part of the answer is there: a column of it, which is never null in a table.
fn is_there(row: &Row, column: &str) -> Result<bool> {
    Ok(row.try_get::<_, Option<i64>>(column).map_err(failed)?.is_some())
}

/// The columns of a table's row within the answer, each under a name of its own.
fn columns(part: &str, names: &[&str]) -> String {
    let names = names.iter().map(|name| format!("(reply_{part}).{name} AS {part}_{name}"));
    names.collect::<Vec<_>>().join(", ")
}

/// A part of a row.
struct Of<'r>(&'r Row, &'static str);

impl Columns for Of<'_> {
    fn signed(&self, column: &str) -> Result<i64> {
        self.0.signed(&format!("{}_{column}", self.1))
    }

    fn text(&self, column: &str) -> Result<String> {
        self.0.text(&format!("{}_{column}", self.1))
    }
}
