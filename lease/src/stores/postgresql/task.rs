//! Stores for asynchronous tasks.

use core::mem;

#[cfg(feature = "deadpool")]
use deadpool_postgres::{Object, Pool};
use tokio::task::AbortHandle;
use tokio_postgres::Client;

use super::{
    Server,
    connection::{self, Notices},
    session, unavailable,
};
use crate::{
    AsyncStore, Reply, Request, Result,
    rules::forks,
    rules::location::{Create, Schema},
};

/// A store in `PostgreSQL` for a Tokio task ([`Host`](crate::Host)). It uses its own connection, or borrows one from a pool
/// while requests are in progress.
///
/// ```no_run
/// use std::time::Duration;
/// use polyflake_lease::{AsyncPostgresql, Host, Options, Shape, sno};
///
/// # async fn work() -> polyflake_lease::Result<()> {
/// let open = || AsyncPostgresql::open("postgres://lease@db/orders");
/// let host = Host::new(open, tokio::time::sleep, |task| drop(tokio::spawn(task)));
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let ids = sno::Generator::with_async(host, options, Duration::from_secs(10), tokio::time::sleep).await?;
/// # Ok(())
/// # }
/// ```
pub struct AsyncPostgresql {
    schema: Schema,
    create: Create,
    lent: LentConnection,
    process: u32,
}

impl AsyncPostgresql {
    /// Connects to a server. The first request creates the tables if they do not exist.
    ///
    /// # Errors
    /// Returns the same errors as [`Postgresql::open`](crate::Postgresql::open).
    ///
    /// # Panics
    /// Panics outside a Tokio runtime.
    pub async fn open(url: &str) -> Result<Self> {
        let process = forks::process_number()?;
        let (server, create) = Server::read(url)?;
        let (client, connection, notices) = connection::connect(&server).await?;
        let task = tokio::spawn(connection).abort_handle();
        let store = Self::new(Connected::Open(client, notices, task), process);
        Ok(Self { schema: server.schema, create, ..store })
    }

    /// Takes a connection from a pool. The connection is returned to the pool when the store is dropped, or closed if a request
    /// was dropped before it completed. The pool does not report the server's warnings. Therefore, if a synchronous replica may
    /// be promoted, never manually cancel a commit on such a connection.
    ///
    /// ```no_run
    /// use polyflake_lease::{AsyncPostgresql, Host};
    ///
    /// # fn host(pool: deadpool_postgres::Pool) -> Host {
    /// let open = move || {
    ///     let pool = pool.clone();
    ///     async move { AsyncPostgresql::from_pool(&pool).await }
    /// };
    /// Host::new(open, tokio::time::sleep, |task| drop(tokio::spawn(task)))
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`AsyncPostgresql::open`], or `lease_unavailable` if the pool provides no connection in time.
    #[cfg(feature = "deadpool")]
    pub async fn from_pool(pool: &Pool) -> Result<Self> {
        let process = forks::process_number()?;
        let taken = pool.get().await;
        let taken = taken.map_err(|error| unavailable(&alloc::format!("{error}")))?;
        Ok(Self::new(Connected::Pool(Some(taken)), process))
    }

    /// Selects a schema other than `polyflake` for the store's tables.
    #[must_use]
    pub fn schema(self, schema: Schema) -> Self {
        Self { schema, ..self }
    }

    fn new(from: Connected, process: u32) -> Self {
        let lent = LentConnection { from, is_idle: true };
        Self { schema: Schema::default(), create: Create::default(), lent, process }
    }
}

impl core::fmt::Debug for AsyncPostgresql {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AsyncPostgresql").field("process", &self.process).finish_non_exhaustive()
    }
}

impl AsyncStore for AsyncPostgresql {
    async fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        let Self { schema, create, lent, .. } = self;
        let (client, notices) = lent.take()?;
        let reply = session::answer(client, notices, (schema, *create), request).await;
        self.lent.is_idle = true;
        reply
    }
}

/// A connection that serves one request at a time.
struct LentConnection {
    from: Connected,
    /// Whether no request is in progress. It stays `false` after a request was dropped.
    is_idle: bool,
}

enum Connected {
    /// The store's own connection, its notices, and the task that drives it.
    Open(Client, Notices, AbortHandle),
    /// A connection of a pool, or `None` while it is being dropped.
    #[cfg(feature = "deadpool")]
    Pool(Option<Object>),
}

impl LentConnection {
    /// Returns the connection for one request. Fails after a request was dropped, because its reply could be mistaken for the
    /// next one.
    fn take(&mut self) -> Result<(&Client, Option<&Notices>)> {
        let is_idle = mem::replace(&mut self.is_idle, false);
        match &mut self.from {
            Connected::Open(client, notices, _) if is_idle => Ok((client, Some(notices))),
            #[cfg(feature = "deadpool")]
            Connected::Pool(Some(client)) if is_idle => Ok((client, None)),
            _ => Err(unavailable("the last request was dropped")),
        }
    }
}

impl Drop for LentConnection {
    fn drop(&mut self) {
        if self.is_idle {
            return;
        }
        // If the server does not answer, the connection's task would never end, or the next user of the pool would get this
        // connection.
        match &mut self.from {
            Connected::Open(_, _, task) => task.abort(),
            #[cfg(feature = "deadpool")]
            Connected::Pool(client) => drop(client.take().map(Object::take)),
        }
    }
}
