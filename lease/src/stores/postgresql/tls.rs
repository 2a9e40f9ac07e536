//! Encrypted connections with rustls. The server's certificate must be signed by a root certificate of browsers, or by one of a
//! file that the URL names with libpq's parameter `sslrootcert`. Certificate and host name are always verified, so
//! `verify-full` is the same as `require`.

use std::{path::PathBuf, string::String, sync::Arc, vec::Vec};

use alloc::{borrow::ToOwned, format};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Error, ErrorKind, Result, rules::error::out_of_range};

/// Takes the parameters of certificates out of a URL, and returns the file of root certificates, if the URL names one.
pub(super) fn split(url: &str) -> Result<(String, Option<PathBuf>)> {
    let Some((address, parameters)) = url.split_once('?') else {
        return Ok((url.to_owned(), None));
    };
    let (mut roots, mut others) = (None, Vec::new());
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some(("sslrootcert", path)) => roots = Some(full(decoded(path)?)?),
            Some(("sslmode", "verify-full")) => others.push("sslmode=require"),
            _ => others.push(parameter),
        }
    }
    Ok((format!("{address}?{}", others.join("&")), roots))
}

/// Requires encryption of a connection over a network whose URL has no `sslmode`: by default a client believes any server, and
/// anybody between the two, that there is none.
pub(super) fn require(config: &mut Config, url: &str) {
    let parameters = url.rsplit_once('?').map_or("", |(_, parameters)| parameters);
    let is_chosen = parameters.split('&').any(|parameter| parameter.starts_with("sslmode="));
    let hosts = config.get_hosts();
    let is_remote = hosts.is_empty() || hosts.iter().any(|host| matches!(host, Host::Tcp(_)));
    if is_remote && !is_chosen {
        config.ssl_mode(SslMode::Require);
    }
}

/// Rejects a relative path, because the working directory of the process may be different at a later connection.
fn full(path: PathBuf) -> Result<PathBuf> {
    let is_full = path.is_absolute();
    is_full
        .then_some(path)
        .ok_or_else(|| out_of_range("expected a full path in `sslrootcert`, found a relative one"))
}

/// Decodes a path whose special characters are written as `%` and two digits.
fn decoded(text: &str) -> Result<PathBuf> {
    let wrong = || out_of_range("expected a path of `sslrootcert`");
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map(PathBuf::from).map_err(|_| wrong())
}

/// A connector that trusts the certificates of a file, or those of browsers.
pub(super) fn connector(file: Option<PathBuf>) -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    match file {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(file) => {
            let wrong = |found: &str| {
                out_of_range(format!("expected root certificates in `sslrootcert`, found {found}"))
            };
            let read =
                CertificateDer::pem_file_iter(file).map_err(|error| wrong(&format!("{error}")))?;
            for certificate in read {
                let certificate = certificate.map_err(|error| wrong(&format!("{error}")))?;
                roots.add(certificate).map_err(|error| wrong(&format!("{error}")))?;
            }
            if roots.is_empty() {
                return Err(wrong("none"));
            }
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::LeaseUnavailable, format!("{error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_certificates_are_taken_out_of_a_url() {
        let split = |url| split(url).unwrap();
        assert_eq!(split("postgres://a@b/c"), ("postgres://a@b/c".to_owned(), None));
        let volume = if cfg!(windows) { "C:" } else { "" };
        let url = format!(
            "postgres://a@b/c?sslrootcert={volume}%2Fa%20b%2fc.pem&connect_timeout=3&sslmode=verify-full"
        );
        let expected = "postgres://a@b/c?connect_timeout=3&sslmode=require";
        let path = format!("{volume}/a b/c.pem").into();
        assert_eq!(split(&url), (expected.to_owned(), Some(path)));
        for wrong in ["%", "%2", "%zz", "%ff", "a.pem", ".%2Fa.pem"] {
            let error = super::split(&format!("postgres://a@b/c?sslrootcert={wrong}")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutOfRange);
        }
    }
}
