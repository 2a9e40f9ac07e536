//! Opens connections to the servers specified by URLs.

use std::{
    boxed::Box,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
    vec::Vec,
};

use core::{
    future::{Future, poll_fn},
    mem,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::sleep,
};
use tokio_postgres::{
    AsyncMessage, Client, Config, NoTls,
    config::{SslMode, TargetSessionAttrs},
    error::SqlState,
};

use super::Server;
#[cfg(feature = "tls")]
use crate::stores::tls;
use crate::{
    Result,
    rules::url,
    stores::steps::{Engine, Failure},
    stores::system::random,
};

/// The maximum time to wait for a connection to one address. Sent data must be acknowledged within twice this time.
const TIMEOUT: Duration = Duration::from_secs(5);

/// If the server has too many connections, connecting is retried up to `MAX_RETRIES` times. The pause before the first
/// retry is at most `MAX_FIRST_PAUSE`. Each pause is random, and the maximum pause doubles with each retry. Without random
/// pauses, processes that start at the same time would repeatedly collide and would keep out other clients.
const MAX_RETRIES: u32 = 4;
const MAX_FIRST_PAUSE: Duration = Duration::from_secs(1);

/// A future that drives a connection, to be run by an executor.
pub(super) type Connection = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The notices that the server has sent over a connection and that no call has read yet.
#[derive(Clone, Default)]
pub(super) struct Notices(Arc<Mutex<Vec<Failure>>>);

impl Notices {
    pub(super) fn take_all(&self) -> Vec<Failure> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, notice: Failure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }
}

/// Opens a connection. Retries for a limited time if the server has too many connections.
pub(super) async fn connect(server: &Server) -> Result<(Client, Connection, Notices)> {
    let to_error = |error: tokio_postgres::Error| {
        // Errors from the client contain no part of the URL.
        Engine::Postgresql(server.schema.clone()).error(&error.into())
    };
    for tried in 0..MAX_RETRIES {
        match connect_once(&server.address).await? {
            Err(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) => {
                let part = u32::try_from(random()?.0 & 0xffff).unwrap_or(0);
                sleep(MAX_FIRST_PAUSE * (1 << tried) * part / 0xffff).await;
            }
            connected => return connected.map_err(to_error),
        }
    }
    connect_once(&server.address).await?.map_err(to_error)
}

/// The result of connecting: the connection, or the error that the client returned.
type ConnectResult = Result<(Client, Connection, Notices), tokio_postgres::Error>;

async fn connect_once(server: &url::Server) -> Result<ConnectResult> {
    let config = config(server);
    #[cfg(feature = "tls")]
    if server.encrypts {
        let connected = config.connect(tls::connector(server.roots.as_deref())?).await;
        return Ok(connected.map(|(client, connection)| with_retries(client, connection)));
    }
    let connected = config.connect(NoTls).await;
    Ok(connected.map(|(client, connection)| with_retries(client, connection)))
}

fn with_retries<S, T>(
    client: Client,
    mut connection: tokio_postgres::Connection<S, T>,
) -> (Client, Connection, Notices)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let notices = Notices::default();
    let noted = notices.clone();
    let work = async move {
        // Awaiting the connection itself would be simpler, but the client would then only log the notices. The driver needs
        // them, because it treats a commit that ended with a warning as a lost connection.
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notice(notice) = message {
                noted.push(Failure::from(&notice));
            }
        }
    };
    (client, Box::pin(work), notices)
}

fn config(server: &url::Server) -> Config {
    let mut config = Config::new();
    for (host, port) in &server.hosts {
        config.host(host).port(*port);
    }
    if let Some(user) = &server.user {
        config.user(user);
    }
    if let Some(password) = &server.password {
        config.password(password);
    }
    if let Some(database) = &server.database {
        config.dbname(database);
    }
    if let Some(options) = &server.options {
        config.options(options);
    }
    // With the client's default, `Prefer`, the connection would continue in plain text if the server rejected TLS.
    config.ssl_mode(if server.encrypts { SslMode::Require } else { SslMode::Disable });
    let connect_timeout = server.connect_timeout.map_or(TIMEOUT, Duration::from_secs);
    config.connect_timeout(connect_timeout).tcp_user_timeout(2 * TIMEOUT);
    config.application_name(server.application_name.as_deref().unwrap_or("polyflake-lease"));
    if server.read_write {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config
}
