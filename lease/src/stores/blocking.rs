//! Stores whose calls block the caller's thread. Each call has a time limit, so that an unresponsive server never blocks
//! callers indefinitely.

use std::time::Duration;

use alloc::{format, string::ToString};
use core::{fmt, future::Future, mem};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    time::timeout,
};

#[cfg(any(feature = "http", feature = "mysql", feature = "redis"))]
use crate::rules::url::Server;
use crate::{
    Error, ErrorKind, Result,
    protocol::{AsyncStore, Reply, Request, Store},
    rules::error::no_reply_error,
    rules::forks,
};

/// The maximum time to wait for a connection or for a reply. The limit is lower for a short lease.
pub(super) const TIMEOUT: Duration = Duration::from_secs(15);

/// The longest wait for a connection, unless the URL specifies a limit.
#[cfg(any(feature = "http", feature = "mysql", feature = "redis"))]
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest wait for the server to acknowledge that a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// An asynchronous store that uses a single connection.
pub(super) trait SingleConnectionStore: AsyncStore + Send + Sized {
    /// The name of the asynchronous type. The error for callers on an executor's thread recommends this type.
    const NAME: &str;

    /// Closes the connection and notifies the server.
    async fn close(self) {}
}

/// A blocking store. Its connection makes progress only while a call blocks.
pub(super) struct BlockingStore<S: SingleConnectionStore> {
    /// The store, or `None` if a reply did not arrive in time.
    open: Option<(S, Runtime)>,
    /// The process that opened the connection. A forked child process must not use the connection.
    process: u32,
    limit: Duration,
}

impl<S: SingleConnectionStore> BlockingStore<S> {
    /// Opens a connection. Waits for at most `longest`, or for the default limit if that limit is shorter.
    pub(super) fn open(
        longest: Duration,
        connect: impl Future<Output = Result<S>>,
    ) -> Result<Self> {
        let (process, limit) = (forks::process_generation()?, longest.min(TIMEOUT));
        check_thread(S::NAME)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unavailable_error(&error.to_string()))?;
        match runtime.block_on(with_time_limit(limit, connect)) {
            Ok(store) => Ok(Self { open: Some((store, runtime)), process, limit }),
            Err(error) => {
                // A host-name lookup may still be in progress, and dropping the runtime would wait until the lookup is
                // complete.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }
}

impl<S: SingleConnectionStore> Store for BlockingStore<S> {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        check_thread(S::NAME)?;
        let (store, runtime) = self.open.as_mut().ok_or_else(connection_lost_error)?;
        let answered = async { timeout(self.limit, store.answer(request)).await };
        runtime.block_on(answered).unwrap_or_else(|_| {
            // Waiting until the connection is closed would be pointless, because the server may still process the request
            // at any later time.
            let open = self.open.take();
            open.into_iter().for_each(|(_, runtime)| runtime.shutdown_background());
            Err(no_reply_error())
        })
    }
}

impl<S: SingleConnectionStore> Drop for BlockingStore<S> {
    fn drop(&mut self) {
        let open = self.open.take();
        if forks::check(self.process).is_err() {
            // A forked child must not close the connection, because this would also close the parent's connection.
            mem::forget(open);
        } else if let Some((store, runtime)) = open {
            if Handle::try_current().is_err() {
                // If the server does not receive the termination message, it will detect the lost connection by itself.
                let _ = runtime.block_on(async { timeout(CLOSE_TIMEOUT, store.close()).await });
            } else {
                drop(store);
            }
            runtime.shutdown_background();
        }
    }
}

impl<S: SingleConnectionStore> fmt::Debug for BlockingStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingStore").field("process", &self.process).finish_non_exhaustive()
    }
}

/// Rejects calls on an executor's thread, which must not be blocked.
fn check_thread(name: &str) -> Result<()> {
    if Handle::try_current().is_err() {
        return Ok(());
    }
    let reason = "expected a thread that may block, found one of an async executor";
    Err(Error::new(ErrorKind::LeaseUnavailable, format!("{reason}: use `{name}`")))
}

/// Returns the longest wait for a connection to a server.
#[cfg(any(feature = "http", feature = "mysql", feature = "redis"))]
pub(super) fn connect_timeout(server: &Server) -> Duration {
    server.connect_timeout.map_or(CONNECT_TIMEOUT, Duration::from_secs)
}

/// Runs a future with a time limit and returns its result.
pub(super) async fn with_time_limit<V>(
    longest: Duration,
    work: impl Future<Output = Result<V>>,
) -> Result<V> {
    timeout(longest, work).await.unwrap_or_else(|_| Err(no_reply_error()))
}

/// Returns the error for a connection that is no longer used, because its next reply could belong to an earlier request.
pub(super) fn connection_lost_error() -> Error {
    unavailable_error("the last request got no answer")
}

pub(super) fn unavailable_error(found: &str) -> Error {
    let reason = format!("there is no connection to the server: {found}");
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
