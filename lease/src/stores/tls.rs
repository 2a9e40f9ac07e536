//! TLS-encrypted connections.

#[cfg(feature = "tls")]
mod client;

#[cfg(any(feature = "http", feature = "redis"))]
#[cfg(feature = "tls")]
pub(super) use client::connect;
#[cfg(feature = "tls")]
pub(super) use client::connector;

use crate::{Result, rules::url::Server};

/// Rejects a server that requires TLS if this build does not support TLS, or if the file of root certificates cannot be
/// used.
pub(crate) fn check(server: &Server) -> Result<()> {
    if !server.encrypts {
        return Ok(());
    }
    #[cfg(feature = "tls")]
    return client::config(server.roots.as_deref()).map(drop);
    #[cfg(not(feature = "tls"))]
    return Err(crate::rules::error::out_of_range(
        "this build has no TLS, which a server on a network needs unless the URL of a database says `sslmode=disable`; enable the feature `tls` of polyflake-lease",
    ));
}
