//! A store in `Redis` or `Valkey`.
//!
//! [`AsyncRedis`] runs a script over one connection. [`Redis`] waits for the script's reply on the caller's thread.
//!
//! A request is one command, and its reply is a list of strings. This module implements the servers' protocol (RESP2)
//! without a client library, because a library that reconnects or resends a command would hide the fact that the first
//! reply was lost (R2).

use std::{string::String, time::Duration};

use alloc::{borrow::ToOwned, boxed::Box, format, vec, vec::Vec};
use core::{
    fmt::{self, Write},
    mem,
};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::{
    Result,
    protocol::{AsyncStore, Reply, Request, Store},
    rules::error::out_of_range,
    rules::forks,
    rules::url::{Server, StoreAddress, StoreUrl},
    stores::blocking::{
        BlockingStore, SingleConnectionStore, TIMEOUT, connect_timeout, connection_lost_error,
        with_time_limit,
    },
    stores::steps::{Engine, Failure, Outcome, Statement, Step, Steps, Value},
    stores::tls,
    stores::transport::{self, Stream, connection_failure},
};

/// The maximum length of a string in a reply, such as a record or an error. Records for layouts are the longest.
const MAX_STRING_BYTES: u64 = 1 << 20;

/// A store in `Redis` 6 or later, or `Valkey`.
///
/// Such a server may lose its data at any time, so a lease lasts at most 5 minutes. The store makes no new grants for 6
/// minutes after a namespace is created or the server is started.
///
/// Its calls block the thread. They therefore return an error on an executor's threads, including those of
/// `tokio::task::spawn_blocking`. In tasks, use [`AsyncRedis`] instead.
#[derive(Debug)]
pub struct Redis(BlockingStore<AsyncRedis>);

/// A store in `Redis` or `Valkey`, for use in a Tokio task ([`Host`](crate::Host)). Each store has its own connection.
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
    /// The connection, or `None` while a request uses it and after a request that received no reply.
    connection: Option<Connection>,
    process: u32,
}

fn parse_url(url: &str) -> Result<Server> {
    let read = || {
        let StoreUrl { site: StoreAddress::Redis(server), .. } = StoreUrl::parse(url)? else {
            return Err(out_of_range("it is not of Redis; write `redis://`"));
        };
        tls::check(&server)?;
        Ok(server)
    };
    read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
}

impl Redis {
    /// Connects to a server. Connecting can take up to 15 seconds, and so can each reply.
    ///
    /// # Errors
    /// Returns `out_of_range` if the URL is invalid, or `lease_unavailable` if the connection fails. Requests fail with
    /// `store_not_durable` if the server is or has a replica, is part of a cluster, or may evict records. They fail with
    /// `lease_unavailable` if the user lacks the required privileges.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with_timeout(&parse_url(url)?, TIMEOUT)
    }

    /// Works like [`Redis::open`], but waits for at most `longest`, or for the default limit if that limit is shorter.
    pub(crate) fn open_with_timeout(server: &Server, longest: Duration) -> Result<Self> {
        BlockingStore::open(longest, AsyncRedis::connect(server)).map(Self)
    }
}

impl Store for Redis {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.answer(request)
    }
}

impl SingleConnectionStore for AsyncRedis {
    const NAME: &str = "AsyncRedis";
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
        Self::connect(&parse_url(url)?).await
    }

    async fn connect(server: &Server) -> Result<Self> {
        let process = forks::process_generation()?;
        let connection =
            Some(with_time_limit(connect_timeout(server), Connection::open(server)).await?);
        Ok(Self { connection, process })
    }
}

impl Drop for AsyncRedis {
    fn drop(&mut self) {
        // A forked child must not close the connection, because this would also change the state of the parent's runtime.
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
        let mut connection = self.connection.take().ok_or_else(connection_lost_error)?;
        // The default value is sufficient here, because the script does not use random numbers.
        let mut steps = Steps::new(Engine::Redis, request, crate::protocol::Random::default());
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

/// A connection that sends one command at a time.
struct Connection(BufReader<Box<dyn Stream>>);

impl Connection {
    async fn open(server: &Server) -> Result<Self> {
        let to_error = |failure: Failure| Engine::Redis.error(&failure);
        let mut connection =
            Self(BufReader::new(transport::connect(server, &Engine::Redis).await?));
        let password = server.password.as_deref();
        let words: Vec<_> = [server.user.as_deref(), password].into_iter().flatten().collect();
        if !words.is_empty() {
            connection.call(&[&["AUTH"], &*words].concat()).await.map_err(to_error)?;
        }
        if let Some(database) = server.database.as_deref().filter(|database| *database != "0") {
            connection.call(&["SELECT", database]).await.map_err(to_error)?;
        }
        Ok(connection)
    }

    /// Runs a request's only statement.
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

    /// Sends a command and returns the strings of its reply.
    async fn call(&mut self, words: &[&str]) -> Result<Vec<String>, Failure> {
        let mut command = format!("*{}\r\n", words.len());
        for word in words {
            // The result can be ignored, because writing to a string cannot fail.
            let _ = write!(command, "${}\r\n{word}\r\n", word.len());
        }
        self.0.write_all(command.as_bytes()).await.map_err(connection_failure)?;
        self.0.flush().await.map_err(connection_failure)?;
        self.read_reply().await
    }

    async fn read_reply(&mut self) -> Result<Vec<String>, Failure> {
        let line = self.read_line().await?;
        match line.split_at_checked(1) {
            Some(("+", text)) => Ok(vec![text.to_owned()]),
            Some(("-", message)) => {
                let code = message.split(' ').next().map(ToOwned::to_owned);
                Err(Failure { code, message: message.to_owned() })
            }
            Some(("*", count)) => {
                let count: u64 = count.parse().map_err(connection_failure)?;
                let mut texts = Vec::new();
                for _ in 0..count {
                    texts.push(self.read_string().await?);
                }
                Ok(texts)
            }
            _ => Err(unexpected_data_error()),
        }
    }

    /// Reads one string from a list reply.
    async fn read_string(&mut self) -> Result<String, Failure> {
        let line = self.read_line().await?;
        let length = line.strip_prefix('$').and_then(|length| length.parse::<u64>().ok());
        let length = length
            .filter(|length| *length <= MAX_STRING_BYTES)
            .ok_or_else(unexpected_data_error)?;
        let mut bytes = Vec::new();
        let whole = length + 2;
        (&mut self.0).take(whole).read_to_end(&mut bytes).await.map_err(connection_failure)?;
        if bytes.len() as u64 != whole || !bytes.ends_with(b"\r\n") {
            return Err(connection_closed_failure());
        }
        bytes.truncate(bytes.len() - 2);
        String::from_utf8(bytes).map_err(connection_failure)
    }

    async fn read_line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        (&mut self.0)
            .take(MAX_STRING_BYTES)
            .read_line(&mut line)
            .await
            .map_err(connection_failure)?;
        let line = line.strip_suffix("\r\n").ok_or_else(connection_closed_failure)?;
        Ok(line.to_owned())
    }
}

fn unexpected_data_error() -> Failure {
    connection_failure("expected a reply of Redis, found other data")
}

fn connection_closed_failure() -> Failure {
    connection_failure("the connection was closed")
}
