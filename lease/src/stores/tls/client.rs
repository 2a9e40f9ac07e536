//! Encrypted connections with rustls. The server's certificate must be signed by a trusted root certificate. By default,
//! the client trusts the root certificates that browsers trust. If the parameter `sslrootcert` in the URL names a file, as
//! in libpq, the client instead trusts the root certificates in that file. The certificate and the host name are always
//! verified, so `require` is equivalent to `verify-full`. The URL parser decides whether a connection is encrypted.

use std::sync::Arc;

use alloc::format;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;
#[cfg(any(feature = "http", feature = "redis"))]
use {
    crate::rules::url::Server,
    alloc::borrow::ToOwned,
    rustls::pki_types::ServerName,
    std::io,
    tokio::net::TcpStream,
    tokio_rustls::{TlsConnector, client::TlsStream},
};

use crate::{Error, ErrorKind, Result, rules::error::out_of_range};

/// Returns a connector that trusts the root certificates in `file`, or the root certificates that browsers trust if `file`
/// is `None`.
pub(in crate::stores) fn connector(file: Option<&str>) -> Result<MakeRustlsConnect> {
    config(file).map(MakeRustlsConnect::new)
}

/// Returns the settings of a client that trusts the root certificates in `file`, or the root certificates that browsers
/// trust if `file` is `None`.
pub(in crate::stores) fn config(file: Option<&str>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    match file {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(file) => {
            let wrong = |found: &str| {
                let lead = format!("cannot read the root certificates in {file} (`sslrootcert`)");
                out_of_range(format!("{lead}: {found}"))
            };
            let read =
                CertificateDer::pem_file_iter(file).map_err(|error| wrong(&format!("{error}")))?;
            for certificate in read {
                let certificate = certificate.map_err(|error| wrong(&format!("{error}")))?;
                roots.add(certificate).map_err(|error| wrong(&format!("{error}")))?;
            }
            if roots.is_empty() {
                return Err(wrong("it has no PEM block"));
            }
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::LeaseUnavailable, format!("{error}")))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Starts TLS on a connection. The outer error reports invalid settings, and the inner error reports a failed handshake.
#[cfg(any(feature = "http", feature = "redis"))]
pub(in crate::stores) async fn connect(
    server: &Server,
    stream: TcpStream,
) -> Result<io::Result<TlsStream<TcpStream>>> {
    let connector = TlsConnector::from(Arc::new(config(server.roots.as_deref())?));
    let name = ServerName::try_from(server.host().0.to_owned());
    let name = name.map_err(|_| out_of_range("its host is no name that a certificate has"))?;
    Ok(connector.connect(name, stream).await)
}
