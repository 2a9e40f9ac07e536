//! Encrypted connections: by rustls, to servers whose certificate leads to a root certificate of browsers, or of a file that the URL
//! names as libpq has it (`sslrootcert`). Certificate and host name are always verified, so `verify-full` means no more than
//! `require`. Whether a connection is encrypted is decided where the URL is read.

use std::sync::Arc;

use alloc::format;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Error, ErrorKind, Result, rules::error::out_of_range};

/// A connector that trusts the certificates of a file, or those of browsers.
pub(super) fn connector(file: Option<&str>) -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    match file {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(file) => {
            let wrong = |found: &str| {
                out_of_range(format!("the file of `sslrootcert` has no root certificates: {found}"))
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
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::LeaseUnavailable, format!("{error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
