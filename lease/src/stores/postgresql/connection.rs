//! Connections by URL.

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
    str::FromStr,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::sleep,
};
#[cfg(not(feature = "tls"))]
use tokio_postgres::NoTls;
use tokio_postgres::{AsyncMessage, Client, Config, config::TargetSessionAttrs, error::SqlState};

use super::Server;
#[cfg(feature = "tls")]
use super::tls;
use crate::{
    Result,
    rules::error::out_of_range,
    stores::steps::{Engine, Failure},
    stores::system::random,
};

/// The longest wait for a connection to one address, and half of the longest wait for an acknowledgement of sent data.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of further connection attempts if the server has too many connections, and the longest pause before the first of
/// them. Each pause is random and up to twice as long as the previous one. Otherwise processes that start at the same time
/// would collide again and again, and keep others out as well.
const TRIES: u32 = 4;
const SPREAD: Duration = Duration::from_secs(1);

/// The work of a connection, for an executor.
pub(super) type Connection = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The notices that a server sent over a connection, until they are taken.
#[derive(Clone, Default)]
pub(super) struct Notices(Arc<Mutex<Vec<Failure>>>);

impl Notices {
    pub(super) fn take(&self) -> Vec<Failure> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, notice: Failure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }
}

/// Rejects a URL that names no server.
pub(super) fn check(url: &str) -> Result<()> {
    #[cfg(feature = "tls")]
    let url = &tls::split(url)?.0;
    config(url).map(drop)
}

/// A connection, tried again for a while if the server has too many.
pub(super) async fn connect(server: &Server) -> Result<(Client, Connection, Notices)> {
    let refused = |error: tokio_postgres::Error| {
        // It holds nothing of the URL.
        Engine::Postgresql(server.schema.clone()).error(&error.into())
    };
    for tried in 0..TRIES {
        match connect_once(&server.url).await? {
            Err(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) => {
                let part = u32::try_from(random()?.0 & 0xffff).unwrap_or(0);
                sleep(SPREAD * (1 << tried) * part / 0xffff).await;
            }
            connected => return connected.map_err(refused),
        }
    }
    connect_once(&server.url).await?.map_err(refused)
}

/// The server's reply, or an error of the URL.
type Connected = Result<(Client, Connection, Notices), tokio_postgres::Error>;

/// Connects with TLS, unless the server is local or the URL specifies another mode.
#[cfg(feature = "tls")]
async fn connect_once(url: &str) -> Result<Connected> {
    let (url, roots) = tls::split(url)?;
    let mut config = config(&url)?;
    tls::require(&mut config, &url);
    let connected = config.connect(tls::connector(roots)?).await;
    Ok(connected.map(|(client, connection)| working(client, connection)))
}

#[cfg(not(feature = "tls"))]
async fn connect_once(url: &str) -> Result<Connected> {
    let connected = config(url)?.connect(NoTls).await;
    Ok(connected.map(|(client, connection)| working(client, connection)))
}

fn working<S, T>(
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
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notice(notice) = message {
                noted.note(Failure::from(&notice));
            }
        }
    };
    (client, Box::pin(work), notices)
}

fn config(url: &str) -> Result<Config> {
    // The URL may hold a password.
    let wrong = |_| out_of_range("expected a URL that PostgreSQL understands, found another text");
    let mut config = Config::from_str(url).map_err(wrong)?;
    config.connect_timeout(PATIENCE).tcp_user_timeout(2 * PATIENCE);
    config.application_name("polyflake-lease");
    if config.get_hosts().len() > 1 && !url.contains("target_session_attrs") {
        // A replica may be named first.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    Ok(config)
}
