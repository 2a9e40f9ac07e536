//! A store in `Redis` or `Valkey`.
//!
//! [`AsyncRedis`] runs a script over one connection. [`Redis`] waits for it on the caller's thread, each time up to a limit, so
//! that an unresponsive server never blocks callers.
//!
//! A request is one command, and its reply is a list of strings. This module therefore speaks the servers' protocol (RESP2)
//! itself: a client that connects again, or sends a command again, would hide that the first reply was lost (R2).

use std::{
    string::{String, ToString},
    time::Duration,
};

use alloc::{borrow::ToOwned, boxed::Box, format, vec, vec::Vec};
use core::{
    fmt::{self, Write},
    future::Future,
    mem,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
    runtime::{Builder, Handle, Runtime},
    time::timeout,
};

use crate::{
    AsyncStore, Error, ErrorKind, Reply, Request, Result, Store,
    rules::error::{no_reply, out_of_range},
    rules::forks,
    rules::url::{Location, Server, Site},
    stores::steps::{Engine, Failure, Outcome, Statement, Step, Steps, Value},
};

/// The longest wait for a connection and for a reply, unless a lease is short.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The longest wait for a connection, unless the URL sets a limit.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest string of a reply, such as a record or an error. The longest records are those of layouts.
const MAX_STRING_BYTES: u64 = 1 << 20;

/// A store in `Redis` 6 or later, or `Valkey`.
///
/// Such a server may lose its data at any time, so a lease lasts at most 5 minutes, and nothing new is granted for 6 minutes
/// after a namespace was created or the server was started.
///
/// Its calls block the thread. On an executor's threads, including those of `tokio::task::spawn_blocking`, they therefore
/// return an error. In tasks, use [`AsyncRedis`] instead.
pub struct Redis {
    /// The store, or `None` after a reply that did not arrive in time.
    open: Option<(AsyncRedis, Runtime)>,
    process: u32,
    limit: Duration,
}

/// A store in `Redis` or `Valkey` for a Tokio task ([`Host`](crate::Host)), over its own connection.
///
/// ```no_run
/// use std::time::Duration;
/// use polyflake_lease::{AsyncRedis, Host, Options, Shape, sno};
///
/// # async fn work() -> polyflake_lease::Result<()> {
/// let open = || AsyncRedis::open("rediss://:password@cache.example/0");
/// let host = Host::new(open, tokio::time::sleep, |task| drop(tokio::spawn(task)));
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let ids = sno::Generator::with_async(host, options, Duration::from_secs(10), tokio::time::sleep).await?;
/// # Ok(())
/// # }
/// ```
pub struct AsyncRedis {
    /// The connection, or `None` while a request uses it, and after a request that got no reply.
    connection: Option<Connection>,
    process: u32,
}

/// Rejects a server that this build cannot reach.
pub(crate) fn check(server: &Server) -> Result<()> {
    if server.encrypts {
        #[cfg(feature = "tls")]
        return super::postgresql::tls::config(server.roots.as_deref()).map(drop);
        #[cfg(not(feature = "tls"))]
        return Err(out_of_range(
            "this build has no TLS; enable the feature `tls` of polyflake-lease",
        ));
    }
    Ok(())
}

fn read(url: &str) -> Result<Server> {
    let read = || {
        let Location { site: Site::Redis(server), .. } = Location::read(url)? else {
            return Err(out_of_range("it is not of Redis; write `redis://`"));
        };
        check(&server)?;
        Ok(server)
    };
    read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
}

impl Redis {
    /// Connects to a server. Connecting can take up to 15 seconds, and so can each reply.
    ///
    /// # Errors
    /// Returns `out_of_range` if the URL is invalid, or `lease_unavailable` if the connection fails. Requests fail with
    /// `store_not_durable` if the server is or has a replica, is part of a cluster, or may evict records, and with
    /// `lease_unavailable` if the user lacks the required rights.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_within(&read(url)?, TIMEOUT)
    }

    /// Works like [`Redis::open`], with another limit if it is shorter.
    pub(crate) fn open_within(server: &Server, longest: Duration) -> Result<Self> {
        let (process, limit) = (forks::process_number()?, longest.min(TIMEOUT));
        check_thread()?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| no_connection(&error.to_string()))?;
        match runtime.block_on(in_time(limit, AsyncRedis::connect(server))) {
            Ok(store) => Ok(Self { open: Some((store, runtime)), process, limit }),
            Err(error) => {
                // The runtime may still be resolving a host name, and dropping it would wait for that.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let open = self.open.take();
        if forks::check(self.process).is_err() {
            mem::forget(open);
        } else if let Some((store, runtime)) = open {
            drop(store);
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("process", &self.process).finish_non_exhaustive()
    }
}

impl Store for Redis {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        check_thread()?;
        let (store, runtime) = self.open.as_mut().ok_or_else(lost)?;
        let answered = async { timeout(self.limit, store.answer(request)).await };
        runtime.block_on(answered).unwrap_or_else(|_| {
            let open = self.open.take();
            open.into_iter().for_each(|(_, runtime)| runtime.shutdown_background());
            Err(no_reply())
        })
    }
}

impl AsyncRedis {
    /// Connects to a server.
    ///
    /// # Errors
    /// Returns the same errors as [`Redis::open`].
    ///
    /// # Panics
    /// Panics outside a Tokio runtime.
    pub async fn open(url: &str) -> Result<Self> {
        Self::connect(&read(url)?).await
    }

    async fn connect(server: &Server) -> Result<Self> {
        let process = forks::process_number()?;
        let limit = server.connect_timeout.map_or(CONNECT_TIMEOUT, Duration::from_secs);
        let connection = Some(in_time(limit, Connection::open(server)).await?);
        Ok(Self { connection, process })
    }
}

impl Drop for AsyncRedis {
    fn drop(&mut self) {
        // In a forked child, ending the connection would change the parent's runtime.
        if forks::check(self.process).is_err() {
            mem::forget(self.connection.take());
        }
    }
}

impl fmt::Debug for AsyncRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncRedis").field("process", &self.process).finish_non_exhaustive()
    }
}

impl AsyncStore for AsyncRedis {
    async fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        let mut connection = self.connection.take().ok_or_else(lost)?;
        // The script needs no random number.
        let mut steps = Steps::new(Engine::Redis, request, crate::Random::default());
        let (mut outcome, mut is_lost) = (Outcome::default(), false);
        let reply = loop {
            match steps.next(outcome) {
                Ok(Step::Run(statements)) => {
                    outcome = connection.run(&statements).await;
                    is_lost = outcome.failure.as_ref().is_some_and(|it| it.code.is_none());
                }
                Ok(Step::Done(reply)) => break Ok(*reply),
                Err(error) => break Err(error),
            }
        };
        self.connection = Some(connection).filter(|_| !is_lost);
        reply
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection that sends one command at a time.
struct Connection(BufReader<Box<dyn Stream>>);

impl Connection {
    async fn open(server: &Server) -> Result<Self> {
        let refused = |failure: Failure| Engine::Redis.error(&failure);
        let mut connection = Self(BufReader::new(connect(server).await?));
        let password = server.password.as_deref();
        let words: Vec<_> = [server.user.as_deref(), password].into_iter().flatten().collect();
        if !words.is_empty() {
            connection.call(&[&["AUTH"], &*words].concat()).await.map_err(refused)?;
        }
        if let Some(database) = server.database.as_deref().filter(|database| *database != "0") {
            connection.call(&["SELECT", database]).await.map_err(refused)?;
        }
        Ok(connection)
    }

    /// Runs the only statement of a request.
    async fn run(&mut self, statements: &[Statement]) -> Outcome {
        let mut results = Vec::new();
        for Statement { text, values } in statements {
            let mut words = vec!["EVAL", text];
            words.extend(values.iter().filter_map(|value| match value {
                Value::Text(text) => Some(&**text),
                _ => None,
            }));
            let reply = self.call(&words).await;
            results.push(reply.map(|row| vec![row.into_iter().map(Value::Text).collect()]));
        }
        results.into_iter().collect()
    }

    /// Sends a command, and returns the strings of its reply.
    async fn call(&mut self, words: &[&str]) -> Result<Vec<String>, Failure> {
        let mut command = format!("*{}\r\n", words.len());
        for word in words {
            // Writing to a string never fails.
            let _ = write!(command, "${}\r\n{word}\r\n", word.len());
        }
        self.0.write_all(command.as_bytes()).await.map_err(failed)?;
        self.0.flush().await.map_err(failed)?;
        self.reply().await
    }

    async fn reply(&mut self) -> Result<Vec<String>, Failure> {
        let line = self.line().await?;
        match line.split_at_checked(1) {
            Some(("+", text)) => Ok(vec![text.to_owned()]),
            Some(("-", message)) => {
                let code = message.split(' ').next().map(ToOwned::to_owned);
                Err(Failure { code, message: message.to_owned() })
            }
            Some(("*", count)) => {
                let count: u64 = count.parse().map_err(failed)?;
                let mut texts = Vec::new();
                for _ in 0..count {
                    texts.push(self.string().await?);
                }
                Ok(texts)
            }
            _ => Err(other_data()),
        }
    }

    /// Reads a string of a list.
    async fn string(&mut self) -> Result<String, Failure> {
        let line = self.line().await?;
        let length = line.strip_prefix('$').and_then(|length| length.parse::<u64>().ok());
        let length = length.filter(|length| *length <= MAX_STRING_BYTES).ok_or_else(other_data)?;
        let mut bytes = Vec::new();
        let whole = length + 2;
        (&mut self.0).take(whole).read_to_end(&mut bytes).await.map_err(failed)?;
        if bytes.len() as u64 != whole || !bytes.ends_with(b"\r\n") {
            return Err(closed());
        }
        bytes.truncate(bytes.len() - 2);
        String::from_utf8(bytes).map_err(failed)
    }

    async fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        (&mut self.0).take(MAX_STRING_BYTES).read_line(&mut line).await.map_err(failed)?;
        let line = line.strip_suffix("\r\n").ok_or_else(closed)?;
        Ok(line.to_owned())
    }
}

async fn connect(server: &Server) -> Result<Box<dyn Stream>> {
    let refused = |error| Engine::Redis.error(&failed(error));
    let (host, port) = server.host();
    #[cfg(unix)]
    if host.starts_with('/') {
        let stream = tokio::net::UnixStream::connect(host).await;
        return Ok(Box::new(stream.map_err(refused)?));
    }
    let stream = TcpStream::connect((host, port)).await.map_err(refused)?;
    // A request is short, so waiting for further bytes only delays it.
    let _ = stream.set_nodelay(true);
    #[cfg(feature = "tls")]
    if server.encrypts {
        let config = super::postgresql::tls::config(server.roots.as_deref())?;
        let name = rustls::pki_types::ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| out_of_range("its host is no name that a certificate has"))?;
        let connector = tokio_rustls::TlsConnector::from(alloc::sync::Arc::new(config));
        return Ok(Box::new(connector.connect(name, stream).await.map_err(refused)?));
    }
    Ok(Box::new(stream))
}

/// Returns a failure without a code, after which it is unknown whether the script was executed.
fn failed(error: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Failure {
    Failure { code: None, message: error.into().to_string() }
}

fn other_data() -> Failure {
    failed("expected a reply of Redis, found other data")
}

fn closed() -> Failure {
    failed("the connection was closed")
}

/// Rejects a thread of an executor, which must not be blocked.
fn check_thread() -> Result<()> {
    if Handle::try_current().is_err() {
        return Ok(());
    }
    let reason =
        "expected a thread that may block, found one of an async executor: use `AsyncRedis`";
    Err(Error::new(ErrorKind::LeaseUnavailable, reason))
}

/// Returns the result of work with a time limit.
async fn in_time<V>(longest: Duration, work: impl Future<Output = Result<V>>) -> Result<V> {
    timeout(longest, work).await.unwrap_or_else(|_| Err(no_reply()))
}

fn lost() -> Error {
    no_connection("the last request got no answer")
}

fn no_connection(found: &str) -> Error {
    let reason = format!("there is no connection to the server: {found}");
    Error::new(ErrorKind::LeaseUnavailable, reason)
}
