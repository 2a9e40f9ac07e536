//! Requests over a connection, each one transaction.

use std::string::String;

use alloc::format;
use tokio_postgres::{Client, IsolationLevel, Transaction};

use super::{SETTINGS, failed, functions, rows};
use crate::{
    Ask, Error, ErrorKind, Reply, Request, Result,
    driver::random,
    error::damaged,
    known::Known,
    sql::{self, Rows},
};

const SCHEMA: &str = include_str!("../../sql/postgresql.sql");

/// Takes this crate's lock for the transaction; its number is arbitrary.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7089336938131513954)";

/// Settings that decide whether a commit lasts, the server's identity, and its time.
const STATE: &str = "SELECT current_setting('fsync') = 'on' AS fsync,
    current_setting('full_page_writes') = 'on' AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    pg_is_in_recovery() AS recovery,
    (SELECT system_identifier::text FROM pg_control_system()) AS system,
    CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline,
    coalesce(to_regclass('polyflake_leases')::oid::bigint, 0) AS leases,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

/// The part of a store's knowledge that all connections to its schema share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    /// `true` if the schema has this version's functions, and the role may call them.
    has_functions: bool,
}

/// The sessions of this process, by the URLs of their stores.
static KNOWN: Known<Session> = Known::new();

impl Session {
    /// As [`Session::begin`], without a look at a store that this process knows.
    pub(super) async fn begin_at(client: &mut Client, url: &str) -> Result<Self> {
        if let Some(session) = KNOWN.get(url) {
            return Ok(session);
        }
        let session = Self::begin(client).await?;
        KNOWN.put(url, session);
        Ok(session)
    }

    /// Looks at a store again when it is opened next: a request failed.
    pub(super) fn forget(url: &str) {
        KNOWN.forget(url);
    }

    /// Looks at the tables, and creates them if there are none.
    pub(super) async fn begin(client: &mut Client) -> Result<Self> {
        let mut transaction = client.transaction().await.map_err(failed)?;
        let has_functions = tables(&mut transaction).await;
        let has_functions = end(transaction, has_functions).await?;
        probe(client).await?;
        Ok(Self { has_functions })
    }

    pub(super) async fn answer(self, client: &mut Client, request: &Request) -> Result<Reply> {
        if self.has_functions
            && let Some(reply) = functions::answer(client, request).await
        {
            return reply;
        }
        let transaction = client.build_transaction().isolation_level(isolation(&request.ask));
        let mut transaction = transaction.start().await.map_err(failed)?;
        let reply = reply(&mut transaction, request).await;
        end(transaction, reply).await
    }
}

/// Looks at the tables, creates them if there are none, and returns whether there are functions to call.
async fn tables(transaction: &mut Transaction<'_>) -> Result<bool> {
    state(transaction).await?;
    if !rows::is_there(transaction).await? {
        // One at a time: "if not exists" fails if two connections create a table at the same time.
        for statements in [LOCK, SCHEMA, functions::FUNCTIONS] {
            transaction.batch_execute(statements).await.map_err(failed)?;
        }
    }
    sql::check_columns(transaction).await?;
    functions::are_there(transaction).await
}

async fn reply(transaction: &mut Transaction<'_>, request: &Request) -> Result<Reply> {
    let (store, now) = state(transaction).await?;
    let found = sql::answer(transaction, request, &store).await?;
    let namespace = transaction.namespace(&request.namespace, false).await?;
    Ok(Reply { now, store, namespace, found })
}

/// Ends a transaction: a refused one is rolled back here, since a connection does nothing while nobody waits for it.
async fn end<V>(transaction: Transaction<'_>, done: Result<V>) -> Result<V> {
    match done {
        Ok(_) => transaction.commit().await.map_err(failed)?,
        // A connection that fails has no transaction any more.
        Err(_) => drop(transaction.rollback().await),
    }
    done
}

/// The isolation of a request. A look sees records and namespace of one moment: else records that another holder makes in between
/// would seem lost. A change sees what was committed last, so that a swap that came too late differs instead of failing.
const fn isolation(ask: &Ask) -> IsolationLevel {
    if sql::changes(ask) { IsolationLevel::ReadCommitted } else { IsolationLevel::RepeatableRead }
}

/// Begins a transaction: refuses a server that may lose its commits, and returns its name and its time.
async fn state(transaction: &Transaction<'_>) -> Result<(String, u64)> {
    transaction.batch_execute(SETTINGS).await.map_err(failed)?;
    let rows = transaction.query_typed(STATE, &[]).await.map_err(failed)?;
    let row = rows.first().ok_or_else(|| damaged("expected the server's state, found none"))?;
    let is_on = |column: &str| row.try_get::<_, bool>(column).map_err(failed);
    let text = |column: &str| row.try_get::<_, String>(column).map_err(failed);
    let fault = if is_on("recovery")? {
        "a server in recovery"
    } else if !is_on("fsync")? {
        "fsync=off"
    } else if !is_on("full_page_writes")? {
        "full_page_writes=off"
    } else if text("synchronous_commit")? != "on" {
        "an asynchronous commit"
    } else {
        let now = row.try_get::<_, i64>("now").map_err(failed)?;
        let leases = row.try_get::<_, i64>("leases").map_err(failed)?;
        let store = format!("postgresql:{}:{}:{leases}", text("system")?, text("timeline")?);
        let now = u64::try_from(now).map_err(|_| damaged("expected a time after 1970"))?;
        return Ok((store, now));
    };
    let reason = format!("expected a server that keeps what it commits, found {fault}");
    Err(Error::new(ErrorKind::StoreNotDurable, reason))
}

/// Checks that the server keeps conditions, and leaves nothing behind.
async fn probe(client: &mut Client) -> Result<()> {
    // A name that no namespace has, and no other connection at the same time.
    let name = format!("probe of conditions {}", random()?);
    let mut transaction = client.transaction().await.map_err(failed)?;
    let probed = sql::probe(&mut transaction, &name).await;
    let ended = transaction.rollback().await.map_err(failed);
    probed.and(ended)
}
