//! A store in `MySQL` or `MariaDB`.
//!
//! [`AsyncMysql`] processes requests over one connection, one statement at a time, because the protocol does not support
//! pipelining. [`Mysql`] waits for the replies on the caller's thread.

use std::time::Duration;

use crate::{
    Result,
    protocol::{AsyncStore, Reply, Request, Store},
    rules::access::Access,
    rules::error::out_of_range,
    rules::forks,
    rules::url::{self, StoreAddress, StoreUrl},
    stores::blocking::{
        BlockingStore, SingleConnectionStore, TIMEOUT, connect_timeout, connection_lost_error,
        with_time_limit,
    },
    stores::steps::{Engine, Failure, Outcome, Rows, Statement, Step, Steps, Value},
    stores::system::random,
    stores::tls,
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::mem;
use mysql_async::{
    Column, Conn, OptsBuilder, Params, Row, Value as Cell, consts::ColumnType, prelude::Queryable,
};

/// A store in `MySQL` 8.0.19 or later, or `MariaDB` 10.6 or later.
///
/// Its calls block the thread. They therefore return an error on an executor's threads, including those of
/// `tokio::task::spawn_blocking`. In tasks, use [`AsyncMysql`] instead.
#[derive(Debug)]
pub struct Mysql(BlockingStore<AsyncMysql>);

/// A store in `MySQL` or `MariaDB`, for use in a Tokio task ([`Host`](crate::Host)). Each store has its own connection.
///
/// ```no_run
/// use std::time::Duration;
/// use polyflake_lease::{AsyncMysql, Host, Options, Shape, sno};
///
/// # async fn work() -> polyflake_lease::Result<()> {
/// let open = || AsyncMysql::open("mysql://lease@db/orders");
/// let host = Host::new(open, tokio::time::sleep, |task| drop(tokio::spawn(task)));
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let ids = sno::Generator::with_async(host, options, Duration::from_secs(10), tokio::time::sleep).await?;
/// # Ok(())
/// # }
/// ```
pub struct AsyncMysql {
    access: Access,
    /// The connection, or `None` while a request uses it. If a request is dropped, the connection is dropped as well,
    /// because the pending reply could be mistaken for the reply to the next request.
    connection: Option<Conn>,
    process: u32,
}

/// Parses a store's URL, and returns the options for opening the store.
fn parse_url(url: &str) -> Result<(url::Server, Access)> {
    let read = || {
        let StoreUrl { site: StoreAddress::Mysql(server), access, .. } = StoreUrl::parse(url)?
        else {
            return Err(out_of_range("it is not of MySQL; write `mysql://`"));
        };
        tls::check(&server)?;
        Ok((server, access))
    };
    read().map_err(|error| error.with_prefix("cannot read the URL of the store"))
}

impl Mysql {
    /// Connects to a server. Connecting can take up to 15 seconds, and so can each reply. The first request creates the
    /// tables if they do not exist. The URL may contain the parameters that [`open`](crate::protocol::open) describes.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if the connection fails. Requests fail with `store_not_durable` if the server may lose
    /// commits, `store_damaged` if the tables have a different format, or `lease_unavailable` if the user lacks the
    /// required privileges.
    pub fn open(url: &str) -> Result<Self> {
        let (server, access) = parse_url(url)?;
        Self::open_with_timeout(&server, access, TIMEOUT)
    }

    /// Works like [`Mysql::open`], but waits for at most `longest`, or for the default limit if that limit is shorter.
    pub(crate) fn open_with_timeout(
        server: &url::Server,
        access: Access,
        longest: Duration,
    ) -> Result<Self> {
        BlockingStore::open(longest, AsyncMysql::connect(server, access)).map(Self)
    }
}

impl Store for Mysql {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.answer(request)
    }
}

impl SingleConnectionStore for AsyncMysql {
    const NAME: &str = "AsyncMysql";

    async fn close(mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.disconnect().await;
        }
    }
}

impl AsyncMysql {
    /// Connects to a server. The first request creates the tables if they do not exist.
    ///
    /// # Errors
    /// Returns the same errors as [`Mysql::open`].
    ///
    /// # Panics
    /// Panics outside a Tokio runtime.
    pub async fn open(url: &str) -> Result<Self> {
        let (server, access) = parse_url(url)?;
        Self::connect(&server, access).await
    }

    async fn connect(server: &url::Server, access: Access) -> Result<Self> {
        let process = forks::process_generation()?;
        let connected = async {
            // Errors from the client contain no part of the URL.
            let to_error = |error: mysql_async::Error| Engine::Mysql.error(&error.into());
            Conn::new(options(server)).await.map_err(to_error)
        };
        let connection = Some(with_time_limit(connect_timeout(server), connected).await?);
        Ok(Self { access, connection, process })
    }
}

fn options(server: &url::Server) -> OptsBuilder {
    let options = OptsBuilder::default()
        .prefer_socket(false)
        .user(server.user.clone())
        .pass(server.password.clone())
        .db_name(server.database.clone());
    #[cfg(feature = "tls")]
    let options = options.ssl_opts(server.encrypts.then(|| ssl_options(server)));
    match server.hosts.first() {
        Some((path, _)) if path.starts_with('/') => options.socket(Some(path.clone())),
        Some((host, port)) => options.ip_or_hostname(host.clone()).tcp_port(*port),
        None => options,
    }
}

#[cfg(feature = "tls")]
fn ssl_options(server: &url::Server) -> mysql_async::SslOpts {
    use rustls::crypto::{CryptoProvider, ring};
    use std::path::PathBuf;

    // The client uses the process's default crypto provider. It panics if no default is installed and the program is built
    // with several providers.
    if CryptoProvider::get_default().is_none() {
        // The result can be ignored, because another thread may have installed a provider in the meantime.
        let _ = ring::default_provider().install_default();
    }
    let options = mysql_async::SslOpts::default();
    match &server.roots {
        None => options,
        Some(file) => options
            .with_disable_built_in_roots(true)
            .with_root_certs(Vec::from([PathBuf::from(file).into()])),
    }
}

impl Drop for AsyncMysql {
    fn drop(&mut self) {
        // A forked child must not close the connection, because this would also close the parent's connection.
        if forks::check(self.process).is_err() {
            mem::forget(self.connection.take());
        }
    }
}

impl core::fmt::Debug for AsyncMysql {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AsyncMysql").field("process", &self.process).finish_non_exhaustive()
    }
}

impl AsyncStore for AsyncMysql {
    async fn answer(&mut self, request: &Request) -> Result<Reply> {
        forks::check(self.process)?;
        let mut connection = self.connection.take().ok_or_else(connection_lost_error)?;
        let mut steps = Steps::new(Engine::Mysql, request, random()?).access(self.access);
        let (mut outcome, mut is_lost) = (Outcome::default(), false);
        let reply = loop {
            match steps.next(outcome) {
                Ok(Step::Run(statements)) => {
                    outcome = run_all(&mut connection, &statements).await;
                    is_lost = outcome.failure.as_ref().is_some_and(|it| it.code.is_none());
                }
                Ok(Step::Done(reply)) => break Ok(*reply),
                Err(error) => break Err(error),
            }
        };
        // A lost connection is not reused, because without a rollback, the next request could commit changes that this
        // request left uncommitted.
        self.connection = Some(connection).filter(|_| !is_lost);
        reply
    }
}

/// Runs statements in order, up to the first one that fails.
async fn run_all(connection: &mut Conn, statements: &[Statement]) -> Outcome {
    let mut outcome = Outcome::default();
    for statement in statements {
        match run(connection, statement).await {
            Ok(rows) => outcome.rows.push(rows),
            Err(error) => return Outcome { failure: Some(error.into()), ..outcome },
        }
    }
    outcome
}

/// Runs a statement. A statement is prepared only if it has parameters, because some of the statements that begin a
/// transaction cannot be prepared.
async fn run(connection: &mut Conn, statement: &Statement) -> mysql_async::Result<Rows> {
    let values: Vec<_> = statement.values.iter().map(value_to_cell).collect();
    let rows: Vec<Row> = if values.is_empty() {
        connection.query(&*statement.text).await?
    } else {
        connection.exec(&*statement.text, Params::Positional(values)).await?
    };
    Ok(rows.into_iter().map(row_to_values).collect())
}

fn value_to_cell(value: &Value) -> Cell {
    match value {
        Value::Integer(value) => Cell::Int(*value),
        Value::Text(text) => Cell::Bytes(text.clone().into_bytes()),
        Value::Null => Cell::NULL,
    }
}

fn row_to_values(row: Row) -> Vec<Value> {
    let columns = row.columns();
    columns.iter().zip(row.unwrap_raw()).map(|(column, cell)| cell_to_value(column, cell)).collect()
}

/// Converts a cell of a row. If the statement was not prepared, the client returns integers as strings.
fn cell_to_value(column: &Column, cell: Option<Cell>) -> Value {
    let is_integer = matches!(
        column.column_type(),
        ColumnType::MYSQL_TYPE_LONGLONG | ColumnType::MYSQL_TYPE_LONG
    );
    let integer = |text: &String| text.parse().ok().filter(|_| is_integer);
    match cell {
        Some(Cell::Int(value)) => Value::Integer(value),
        Some(Cell::UInt(value)) => i64::try_from(value).map_or(Value::Null, Value::Integer),
        Some(Cell::Bytes(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => integer(&text).map_or(Value::Text(text), Value::Integer),
            Err(_) => Value::Null,
        },
        _ => Value::Null,
    }
}

impl From<mysql_async::Error> for Failure {
    fn from(error: mysql_async::Error) -> Self {
        match error {
            mysql_async::Error::Server(error) => {
                Self { code: Some(error.code.to_string()), message: error.message }
            }
            other => Self { code: None, message: other.to_string() },
        }
    }
}
