//! Byte streams to servers, with or without TLS.

use std::{boxed::Box, string::ToString};

use alloc::format;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::{
    Result,
    rules::url::Server,
    stores::steps::{Engine, Failure},
};

pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Connects to a server.
pub(super) async fn connect(server: &Server, engine: &Engine) -> Result<Box<dyn Stream>> {
    let store_error = |error| engine.error(&connection_failure(error));
    let (host, port) = server.host();
    #[cfg(unix)]
    if host.starts_with('/') {
        let stream = tokio::net::UnixStream::connect(host).await;
        return Ok(Box::new(stream.map_err(store_error)?));
    }
    let stream = TcpStream::connect((host, port)).await.map_err(store_error)?;
    // Requests are short, so waiting for more bytes would only delay them.
    let _ = stream.set_nodelay(true);
    #[cfg(feature = "tls")]
    if server.encrypts {
        let connected = super::tls::connect(server, stream).await?;
        return Ok(Box::new(connected.map_err(store_error)?));
    }
    Ok(Box::new(stream))
}

/// Returns a failure without a code. A missing code means that the server may or may not have executed the request.
pub(super) fn connection_failure(
    error: impl Into<Box<dyn core::error::Error + Send + Sync>>,
) -> Failure {
    let error = error.into();
    let (mut message, mut cause) = (error.to_string(), error.source());
    while let Some(found) = cause {
        message = format!("{message}: {found}");
        cause = found.source();
    }
    Failure { code: None, message }
}
