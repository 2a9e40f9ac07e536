//! Stores for asynchronous tasks.

use core::mem;

#[cfg(feature = "deadpool")]
use deadpool_postgres::{Object, Pool};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::{
    Server,
    connection::{self, Notices},
    session,
};
use crate::{
    Result,
    protocol::{AsyncStore, Reply, Request},
    rules::access::{Access, Schema},
    rules::forks,
    stores::blocking::{SingleConnectionStore, unavailable_error},
};

/// A store in `PostgreSQL` for a Tokio task ([`Host`](crate::Host)). It uses a dedicated connection, or borrows a
/// connection from a pool while requests are in progress.
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
    access: Access,
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
        let (server, access) = Server::parse_url(url)?;
        Self::connect(server, access).await
    }

    pub(super) async fn connect(server: Server, access: Access) -> Result<Self> {
        let process = forks::process_generation()?;
        let (client, connection, notices) = connection::connect(&server).await?;
        let store = Self::new(Source::Own(client, notices, tokio::spawn(connection)), process);
        Ok(Self { schema: server.schema, access, ..store })
    }

    /// Takes a connection from a pool. The connection is returned to the pool when the store is dropped, or closed if a
    /// request was dropped before it completed. The pool does not report the server's warnings. Therefore, if a synchronous
    /// replica may be promoted, never manually cancel a commit on such a connection.
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
    /// Returns the same errors as [`AsyncPostgresql::open`], or `lease_unavailable` if the pool provides no connection in
    /// time.
    #[cfg(feature = "deadpool")]
    pub async fn from_pool(pool: &Pool) -> Result<Self> {
        let process = forks::process_generation()?;
        let taken = pool.get().await;
        let taken = taken.map_err(|error| unavailable_error(&alloc::format!("{error}")))?;
        Ok(Self::new(Source::Pool(taken), process))
    }

    /// Selects a schema other than `polyflake` for the store's tables.
    #[must_use]
    pub fn schema(self, schema: Schema) -> Self {
        Self { schema, ..self }
    }

    fn new(from: Source, process: u32) -> Self {
        let lent = LentConnection { from: Some(from), is_idle: true };
        Self { schema: Schema::default(), access: Access::default(), lent, process }
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
        let Self { schema, access, lent, .. } = self;
        let (client, notices) = lent.take()?;
        let reply = session::answer(client, notices, (schema, *access), request).await;
        self.lent.is_idle = true;
        reply
    }
}

impl SingleConnectionStore for AsyncPostgresql {
    const NAME: &str = "AsyncPostgresql";

    async fn close(mut self) {
        if let Some(Source::Own(client, _, connection)) = self.lent.from.take() {
            drop(client);
            let _ = connection.await;
        }
    }
}

/// A connection that serves one request at a time.
struct LentConnection {
    /// The connection, or `None` while it is being closed.
    from: Option<Source>,
    /// Whether no request is in progress. This stays `false` after a request is dropped.
    is_idle: bool,
}

enum Source {
    /// A dedicated connection, its notices, and the task that drives the connection.
    Own(Client, Notices, JoinHandle<()>),
    /// A pooled connection.
    #[cfg(feature = "deadpool")]
    Pool(Object),
}

impl LentConnection {
    /// Returns the connection for one request. Fails if the previous request was dropped, because the reply to that request
    /// could be mistaken for the reply to the next one.
    fn take(&mut self) -> Result<(&Client, Option<&Notices>)> {
        let is_idle = mem::replace(&mut self.is_idle, false);
        match &self.from {
            Some(Source::Own(client, notices, _)) if is_idle => Ok((client, Some(notices))),
            #[cfg(feature = "deadpool")]
            Some(Source::Pool(client)) if is_idle => Ok((client, None)),
            _ => Err(unavailable_error("the last request was dropped")),
        }
    }
}

impl Drop for LentConnection {
    fn drop(&mut self) {
        if self.is_idle {
            return;
        }
        // A request was dropped, and the server may never reply to it. Without this cleanup, the connection's task might
        // never end, or the pool would hand this connection to its next user.
        match self.from.take() {
            Some(Source::Own(_, _, task)) => task.abort(),
            #[cfg(feature = "deadpool")]
            Some(Source::Pool(client)) => drop(Object::take(client)),
            None => {}
        }
    }
}
