//! A store in `PostgreSQL`.
//!
//! Requests are futures over one connection ([`session`]). [`Postgresql`] waits for them on its own thread, each up to a limit,
//! so that an unresponsive server never blocks callers. [`AsyncPostgresql`] runs them in a task, over its own connection or one
//! of a pool.
//!
//! Statements have no names, so a pooler may use another connection for each transaction.

mod connection;
mod session;
mod task;
#[cfg(feature = "tls")]
pub(super) mod tls;

use std::time::Duration;

use alloc::format;
use core::{future::Future, mem};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::JoinHandle,
    time::timeout,
};
use tokio_postgres::Client;

use crate::{
    Error, ErrorKind, Reply, Request, Result, Store,
    rules::error::{no_reply, out_of_range},
    rules::forks,
    rules::location::{Create, Schema},
    rules::url::{self, Location, Site},
};

pub use task::AsyncPostgresql;

use connection::Notices;

/// The longest wait for a connection and for a reply, unless a lease is short.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The longest wait for the server to acknowledge the end of a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A store in `PostgreSQL`.
///
/// Its calls block the thread. On an executor's threads, including those of `tokio::task::spawn_blocking`, they therefore
/// return an error. In tasks, use [`AsyncPostgresql`] instead.
pub struct Postgresql {
    schema: Schema,
    create: Create,
    /// The connection, or `None` after a reply that did not arrive in time.
    open: Option<Open>,
    /// The process that opened the connection. A forked child process does not use it.
    process: u32,
    limit: Duration,
}

/// A server, and the schema of the store's tables.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: url::Server,
    pub(crate) schema: Schema,
}

impl Server {
    /// Rejects a server that this build cannot reach.
    pub(crate) fn from_address(address: url::Server, schema: Schema) -> Result<Self> {
        connection::check(&address)?;
        Ok(Self { address, schema })
    }

    /// Parses a URL, and reads which tables may be created in its store.
    fn read(url: &str) -> Result<(Self, Create)> {
        let read = || {
            let Location { site: Site::Server(server), schema, access, .. } = Location::read(url)?
            else {
                return Err(out_of_range("it is not of PostgreSQL; write `postgres://`"));
            };
            Ok((Self::from_address(server, schema.unwrap_or_default())?, access.create))
        };
        read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
    }
}

/// A connection, and the runtime that drives it while a call waits.
struct Open {
    client: Client,
    notices: Notices,
    connection: JoinHandle<()>,
    runtime: Runtime,
}

impl Postgresql {
    /// Connects to a server. Connecting can take up to 15 seconds, and so can each reply. The first request creates the tables
    /// if they do not exist. The URL may have the parameters that [`open`](crate::open) describes.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if the connection fails. Requests fail with `store_not_durable` if the server may lose
    /// commits, `store_damaged` if the tables have a different format, or `lease_unavailable` if the role lacks the
    /// required privileges.
    pub fn open(url: &str) -> Result<Self> {
        let (server, create) = Server::read(url)?;
        Self::open_within(server, create, TIMEOUT)
    }

    /// Works like [`Postgresql::open`], with another limit if it is shorter.
    pub(crate) fn open_within(server: Server, create: Create, longest: Duration) -> Result<Self> {
        let (process, limit) = (forks::process_number()?, longest.min(TIMEOUT));
        check_thread()?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unavailable(&format!("{error}")))?;
        let opened = runtime.block_on(in_time(limit, async {
            let (client, connection, notices) = connection::connect(&server).await?;
            let connection = tokio::spawn(connection);
            Ok((client, connection, notices))
        }));
        match opened {
            Ok((client, connection, notices)) => {
                let open = Some(Open { client, notices, connection, runtime });
                Ok(Self { schema: server.schema, create, open, process, limit })
            }
            Err(error) => {
                // The runtime may still be resolving a host name, and dropping it would wait for that.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }
}

impl Open {
    /// Closes the connection and notifies the server if it responds.
    fn close(self) {
        drop(self.client);
        if Handle::try_current().is_err() {
            let told = async { timeout(CLOSE_TIMEOUT, self.connection).await };
            // A server that does not receive the termination message notices the lost connection by itself.
            let _ = self.runtime.block_on(told);
        }
        self.runtime.shutdown_background();
    }
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        let open = self.open.take();
        if forks::check(self.process).is_err() {
            mem::forget(open);
        } else if let Some(open) = open {
            open.close();
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
        check_thread()?;
        let open =
            self.open.as_mut().ok_or_else(|| unavailable("the last request got no answer"))?;
        let Open { client, notices, .. } = open;
        let answer = session::answer(client, Some(notices), (&self.schema, self.create), request);
        let answered = async { timeout(self.limit, answer).await };
        open.runtime.block_on(answered).unwrap_or_else(|_| {
            // The server may still process the request at any later time, so the code does not wait for the end of the
            // connection.
            let open = self.open.take();
            open.into_iter().for_each(|open| open.runtime.shutdown_background());
            Err(no_reply())
        })
    }
}

/// Rejects a thread of an executor, which must not be blocked.
fn check_thread() -> Result<()> {
    if Handle::try_current().is_err() {
        return Ok(());
    }
    let reason =
        "expected a thread that may block, found one of an async executor: use `AsyncPostgresql`";
    Err(Error::new(ErrorKind::LeaseUnavailable, reason))
}

/// Returns the result of work with a time limit.
async fn in_time<V>(longest: Duration, work: impl Future<Output = Result<V>>) -> Result<V> {
    timeout(longest, work).await.unwrap_or_else(|_| Err(no_reply()))
}

fn unavailable(found: &str) -> Error {
    let reason = format!("there is no connection to the server: {found}");
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
