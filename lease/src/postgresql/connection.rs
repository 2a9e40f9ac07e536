//! Connections by URLs.

use std::{boxed::Box, pin::Pin, time::Duration};

use core::{future::Future, str::FromStr};
#[cfg(not(feature = "tls"))]
use tokio_postgres::NoTls;
use tokio_postgres::{Client, Config, config::TargetSessionAttrs};

use super::failed;
#[cfg(feature = "tls")]
use super::tls;
use crate::{Result, error::out_of_range};

/// The longest wait for a connection to one address, and half the longest wait for an acknowledgement of what was sent.
const PATIENCE: Duration = Duration::from_secs(5);

/// The work of a connection, for an executor.
pub(super) type Connection = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Refuses a URL that names no server.
pub(crate) fn check(url: &str) -> Result<()> {
    #[cfg(feature = "tls")]
    let url = &tls::split(url)?.0;
    config(url).map(drop)
}

/// A connection by TLS, unless it is local or the URL asks for another.
#[cfg(feature = "tls")]
pub(super) async fn connect(url: &str) -> Result<(Client, Connection)> {
    let (url, roots) = tls::split(url)?;
    let mut config = config(&url)?;
    tls::require(&mut config, &url);
    let (client, connection) = config.connect(tls::connector(roots)?).await.map_err(failed)?;
    Ok((client, Box::pin(async { drop(connection.await) })))
}

/// A connection without TLS.
#[cfg(not(feature = "tls"))]
pub(super) async fn connect(url: &str) -> Result<(Client, Connection)> {
    let (client, connection) = config(url)?.connect(NoTls).await.map_err(failed)?;
    Ok((client, Box::pin(async { drop(connection.await) })))
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
