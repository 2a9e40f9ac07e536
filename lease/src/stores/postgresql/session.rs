//! Requests over a connection, each one transaction and one round trip.

use std::{string::String, vec::Vec};

use alloc::{boxed::Box, format};
use core::{
    future::{Future, poll_fn},
    task::Poll,
};
use tokio_postgres::{
    Client, Row,
    types::{ToSql, Type},
};

use super::failed;
use crate::{
    Error, ErrorKind, Reply, Request, Result,
    rules::error::damaged,
    stores::known::Known,
    stores::sql::{self, Dialect, Rows, Statement, Value},
    stores::system::random,
};

const SCHEMA: &str = include_str!("../../../sql/postgresql.sql");

/// Takes this crate's lock for the transaction; its number is arbitrary.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7089336938131513954)";

/// The settings of each transaction.
const SETTINGS: &str = "SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '5s';
    SET LOCAL statement_timeout = '10s'";

/// The reason why the server's commits may not last, or NULL. Where pages cannot be torn, an operator vouches for that by a setting of
/// the database, of the role or of the connection.
const FAULT: &str = "CASE
    WHEN pg_is_in_recovery() THEN 'a server in recovery'
    WHEN current_setting('fsync') <> 'on' THEN 'fsync=off'
    WHEN current_setting('full_page_writes') <> 'on'
        AND current_setting('polyflake.full_page_writes', true) IS DISTINCT FROM 'unneeded' THEN 'full_page_writes=off'
    WHEN current_setting('synchronous_commit') <> 'on' THEN 'an asynchronous commit' END";

/// Where the tables are, with the server's identity and its timeline.
const NAME: &str = "'postgresql:' || (SELECT system_identifier FROM pg_control_system())
    || ':' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || ':' || to_regclass('polyflake_leases')::oid::bigint";

/// The stores whose conditions this process has probed.
static KNOWN: Known<()> = Known::new();

/// The store's name, if it has the tables, and its time.
struct State {
    store: Option<String>,
    now: u64,
}

fn store() -> String {
    format!("(SELECT CASE WHEN {FAULT} IS NULL THEN {NAME} END)")
}

/// Answers a request. The first one of a process creates the tables if there are none, and probes the store.
pub(super) async fn answer(client: &Client, request: &Request) -> Result<Reply> {
    let isolation =
        if sql::changes(&request.ask) { "READ COMMITTED" } else { "REPEATABLE READ, READ ONLY" };
    let statements = sql::statements(request, &dialect(&store()));
    let mut ran = run(client, isolation, &statements, "COMMIT").await?;
    if ran.0.store.is_none() {
        make(client).await?;
        ran = run(client, isolation, &statements, "COMMIT").await?;
    }
    let (State { store, now }, rows) = ran;
    let store = store.ok_or_else(|| damaged("expected the tables of leases, found none"))?;
    if KNOWN.get(&store).is_none() {
        probe(client, &store).await?;
        KNOWN.put(&store, ());
    }
    let (found, namespace) = sql::answer(&request.ask, &rows)?;
    Ok(Reply { now, store, namespace, found })
}

/// Creates the tables, one connection at a time: "if not exists" fails if two create a table at the same time.
async fn make(client: &Client) -> Result<()> {
    let statements = format!("BEGIN; {SETTINGS}; {LOCK}; {SCHEMA} COMMIT");
    if let Err(error) = client.batch_execute(&statements).await {
        drop(client.batch_execute("ROLLBACK").await);
        return Err(failed(error));
    }
    Ok(())
}

fn dialect(store: &str) -> Dialect<'_> {
    Dialect { store, shared: "FOR SHARE", locked: "FOR UPDATE" }
}

/// Checks that the server keeps conditions, and leaves nothing behind.
async fn probe(client: &Client, name: &str) -> Result<()> {
    // A name that no namespace has, and no other connection at the same time.
    let requests = sql::probe(&format!("probe-{}", random()?), name);
    let store = store();
    let statements = requests.iter().flat_map(|it| sql::statements(it, &dialect(&store)));
    let statements: Vec<_> = statements.collect();
    let (_, rows) = run(client, "READ COMMITTED", &statements, "ROLLBACK").await?;
    sql::check_probe(&requests, &rows)
}

/// Runs statements as one transaction. All are sent together, and the server does none after one that fails. There are no rows where
/// there are no tables.
async fn run(
    client: &Client,
    isolation: &str,
    statements: &[Statement],
    end: &str,
) -> Result<(State, Vec<Rows>)> {
    let begin = format!("BEGIN ISOLATION LEVEL {isolation}; {SETTINGS}");
    let now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let state = format!("SELECT {FAULT}, {}, {now}", store());
    let (begun, state, rows, ended) = tokio::join!(
        biased;
        client.batch_execute(&begin),
        client.query_typed(&state, &[]),
        all(statements.iter().map(|statement| query(client, statement))),
        client.batch_execute(end),
    );
    begun.map_err(failed)?;
    let state = state_of(&state.map_err(failed)?)?;
    if state.store.is_none() {
        return Ok((state, Vec::new()));
    }
    let rows = rows.into_iter().collect::<Result<_>>()?;
    ended.map_err(failed)?;
    Ok((state, rows))
}

/// Waits for all futures, which begin in their order.
async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    poll_fn(|context| {
        let mut is_over = true;
        for (future, output) in &mut pending {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => is_over = false,
                }
            }
        }
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    pending.into_iter().filter_map(|(_, output)| output).collect()
}

/// Sends a statement without a name: a pooler may give each transaction another connection.
async fn query(client: &Client, statement: &Statement) -> Result<Rows> {
    let values = statement.values.iter().map(|value| match value {
        Value::Integer(value) => (value as &(dyn ToSql + Sync), Type::INT8),
        Value::Text(value) => (value as _, Type::TEXT),
        Value::Other => (&None::<i64> as _, Type::INT8),
    });
    let values: Vec<_> = values.collect();
    let rows = client.query_typed(&statement.text, &values).await.map_err(failed)?;
    Ok(rows.iter().map(values_of).collect())
}

fn values_of(row: &Row) -> Vec<Value> {
    let value = |at| match row.try_get(at) {
        Ok(integer) => Value::Integer(integer),
        Err(_) => row.try_get(at).map_or(Value::Other, Value::Text),
    };
    (0..row.len()).map(value).collect()
}

/// Refuses a server that may lose its commits.
fn state_of(rows: &[Row]) -> Result<State> {
    let row = rows.first().ok_or_else(|| damaged("expected the server's state, found none"))?;
    let [fault, store, now] = values_of(row).try_into().unwrap_or([const { Value::Other }; 3]);
    if let Value::Text(fault) = fault {
        let reason = format!("expected a server that keeps what it commits, found {fault}");
        return Err(Error::new(ErrorKind::StoreNotDurable, reason));
    }
    let now = match now {
        Value::Integer(now) => u64::try_from(now).ok(),
        _ => None,
    };
    let now = now.ok_or_else(|| damaged("expected a time after 1970"))?;
    let store = if let Value::Text(store) = store { Some(store) } else { None };
    Ok(State { store, now })
}
