//! A store in `PostgreSQL`.
//!
//! Each request is one transaction. It asks for a synchronous commit, and also reads whether the server's commits are durable, the
//! server's identity and its timeline: a restored backup and a promoted replica are other incarnations. A dump that is restored
//! into the same server looks like the same store: an operator who does that must tell the namespace (`quiet_until`).
//!
//! Where the schema has the functions of `lease/sql/postgresql-functions.sql`, claims, renewals, releases and surveys take one round
//! trip. A store that creates the tables creates them too.
//!
//! Statements have no names, so a pooler may give each transaction another connection.

mod functions;
mod rows;
#[cfg(feature = "tls")]
mod tls;

use std::{string::String, time::Duration};

use alloc::{borrow::ToOwned, format};
use core::str::FromStr;
use postgres::{Client, Config, IsolationLevel, Transaction};

use crate::{
    Ask, Error, ErrorKind, Reply, Request, Result, Store,
    error::damaged,
    forks,
    sql::{self, Rows},
};

const PATIENCE: Duration = Duration::from_secs(5);

const SCHEMA: &str = include_str!("../sql/postgresql.sql");

/// Takes this crate's lock for the transaction; its number is arbitrary.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7089336938131513954)";

/// The code of the functions' refusal of a server that may lose its commits.
const NOT_DURABLE: &str = "PF001";

/// The code of the functions' refusal of a change that the rules forbid.
const FORBIDDEN: &str = "PF002";

/// The first statements of a transaction.
const BEGIN: &str = "SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '5s';
    SET LOCAL statement_timeout = '10s'";

/// Settings that decide whether a commit lasts, the server's identity, and its time.
const STATE: &str = "SELECT current_setting('fsync') = 'on' AS fsync,
    current_setting('full_page_writes') = 'on' AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    pg_is_in_recovery() AS recovery,
    (SELECT system_identifier::text FROM pg_control_system()) AS system,
    CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

/// A store in `PostgreSQL`.
pub struct Postgresql {
    client: Option<Client>,
    /// The process that opened the connection: a forked child does not use it.
    process: u32,
    /// `true` if the schema has this version's functions.
    has_functions: bool,
}

impl Postgresql {
    /// Connects to a server, and creates the tables if there are none.
    ///
    /// # Errors
    /// `store_not_durable` for a server that may lose its commits; `schema_outdated` and `store_damaged` for tables of another
    /// format; `lease_unavailable` if there is no connection.
    pub fn open(url: &str) -> Result<Self> {
        let process = forks::here()?;
        let mut client = connect(url)?;
        let mut transaction = client.transaction().map_err(failed)?;
        state(&mut transaction)?;
        if !rows::is_there(&mut transaction)? {
            // One at a time: "if not exists" fails if two connections create a table at the same time.
            transaction.batch_execute(LOCK).map_err(failed)?;
            transaction.batch_execute(SCHEMA).map_err(failed)?;
            transaction.batch_execute(functions::FUNCTIONS).map_err(failed)?;
        }
        sql::check_columns(&mut transaction)?;
        let has_functions = functions::are_there(&mut transaction)?;
        transaction.commit().map_err(failed)?;
        probe(&mut client)?;
        Ok(Self { client: Some(client), process, has_functions })
    }
}

/// A connection by TLS, unless it is local or the URL asks for another.
#[cfg(feature = "tls")]
fn connect(url: &str) -> Result<Client> {
    let (url, roots) = tls::split(url)?;
    let mut config = config(&url)?;
    tls::require(&mut config, &url);
    config.connect(tls::connector(roots)?).map_err(failed)
}

/// A connection without TLS.
#[cfg(not(feature = "tls"))]
fn connect(url: &str) -> Result<Client> {
    config(url)?.connect(postgres::NoTls).map_err(failed)
}

fn config(url: &str) -> Result<Config> {
    let mut config = Config::from_str(url).map_err(|_| {
        // The URL may hold a password.
        Error::new(
            ErrorKind::OutOfRange,
            "expected a URL that PostgreSQL understands, found another text",
        )
    })?;
    config.connect_timeout(PATIENCE).tcp_user_timeout(2 * PATIENCE);
    config.application_name("polyflake-lease");
    Ok(config)
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        if forks::check(self.process).is_err() {
            core::mem::forget(self.client.take());
        }
    }
}

impl core::fmt::Debug for Postgresql {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Postgresql").field("process", &self.process).finish_non_exhaustive()
    }
}

impl Store for Postgresql {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        let client = self
            .client
            .as_mut()
            .ok_or_else(|| damaged("expected a connection to PostgreSQL, found none"))?;
        if self.has_functions
            && let Some(reply) = functions::answer(client, request)
        {
            return reply;
        }
        let mut transaction = client
            .build_transaction()
            .isolation_level(isolation(&request.ask))
            .start()
            .map_err(failed)?;
        let (store, now) = state(&mut transaction)?;
        let found = sql::answer(&mut transaction, request, &store)?;
        let namespace = transaction.namespace(&request.namespace, false)?;
        transaction.commit().map_err(failed)?;
        Ok(Reply { now, store, namespace, found })
    }
}

/// The isolation of a request. A look sees records and namespace of one moment: else records that another holder makes in between
/// would seem lost. A change sees what was committed last, so that a swap that came too late differs instead of failing.
const fn isolation(ask: &Ask) -> IsolationLevel {
    if sql::changes(ask) { IsolationLevel::ReadCommitted } else { IsolationLevel::RepeatableRead }
}

/// Begins a transaction: refuses a server that may lose its commits, and returns its name and its time.
fn state(transaction: &mut Transaction<'_>) -> Result<(String, u64)> {
    transaction.batch_execute(BEGIN).map_err(failed)?;
    let rows = transaction.query_typed(STATE, &[]).map_err(failed)?;
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
        let store = format!("postgresql:{}:{}", text("system")?, text("timeline")?);
        let now = u64::try_from(now).map_err(|_| damaged("expected a time after 1970"))?;
        return Ok((store, now));
    };
    let reason = format!("expected a server that keeps what it commits, found {fault}");
    Err(Error::new(ErrorKind::StoreNotDurable, reason))
}

/// Checks that the server keeps conditions, and leaves nothing behind.
fn probe(client: &mut Client) -> Result<()> {
    let mut transaction = client.transaction().map_err(failed)?;
    // A name that no namespace has, and no other connection at the same time.
    let name =
        format!("probe of conditions {}:{:?}", std::process::id(), std::thread::current().id());
    let probed = sql::probe(&mut transaction, &name);
    transaction.rollback().map_err(failed)?;
    probed
}

/// An error of a server or a connection as this crate's; it holds nothing of the URL.
#[expect(clippy::needless_pass_by_value, reason = "as map_err calls it")]
fn failed(error: postgres::Error) -> Error {
    let Some(cause) = error.as_db_error() else {
        let reason = format!("expected an answer from PostgreSQL, found: {error}");
        return Error::new(ErrorKind::LeaseUnavailable, reason);
    };
    let message = cause.message();
    match cause.code().code() {
        NOT_DURABLE => Error::new(ErrorKind::StoreNotDurable, message.to_owned()),
        // A keeper asks for no other change, so the records are not as the rules leave them.
        FORBIDDEN => damaged(message.to_owned()),
        _ => Error::new(
            ErrorKind::LeaseUnavailable,
            format!("expected an answer from PostgreSQL, found: {message}"),
        ),
    }
}
