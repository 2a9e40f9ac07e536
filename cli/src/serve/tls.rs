//! TLS with a certificate and a key from files, which are reloaded while the service runs.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

use super::Arguments;
use crate::failure::{self, Failure};

/// The files of a certificate and its key.
pub(super) struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
}

pub(super) struct Acceptor {
    files: CertificateFiles,
    /// The content of the files, and the TLS acceptor that was created from this content.
    read: RwLock<([Vec<u8>; 2], TlsAcceptor)>,
}

impl CertificateFiles {
    pub(super) fn from_arguments(arguments: &Arguments) -> Option<Self> {
        let (certificate, key) = (arguments.certificate.clone()?, arguments.key.clone()?);
        Some(Self { certificate, key })
    }

    fn read(&self) -> Result<[Vec<u8>; 2], Failure> {
        Ok([failure::read_file(&self.certificate)?, failure::read_file(&self.key)?])
    }

    fn acceptor(&self, [certificate, key]: &[Vec<u8>; 2]) -> Result<TlsAcceptor, Failure> {
        let wrong = |error: &dyn std::fmt::Display| {
            let files = format!("{} and {}", self.certificate.display(), self.key.display());
            Failure::new(
                "invalid_secret",
                format!("cannot use the certificate and key in {files}: {error}"),
            )
        };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
        let chain = chain.map_err(|error| wrong(&error))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| wrong(&error))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        Ok(Arc::new(config.map_err(|error| wrong(&error))?).into())
    }
}

impl Acceptor {
    pub(super) fn load(files: CertificateFiles) -> Result<Self, Failure> {
        let content = files.read()?;
        let acceptor = files.acceptor(&content)?;
        Ok(Self { files, read: RwLock::new((content, acceptor)) })
    }

    /// Reads the files again, and uses them for new connections if they have changed.
    pub(super) fn reload(&self) -> Result<(), Failure> {
        let content = self.files.read()?;
        if self.read.read().unwrap_or_else(PoisonError::into_inner).0 != content {
            let acceptor = self.files.acceptor(&content)?;
            *self.read.write().unwrap_or_else(PoisonError::into_inner) = (content, acceptor);
            anstream::eprintln!("read the certificate again");
        }
        Ok(())
    }

    pub(super) fn current(&self) -> TlsAcceptor {
        self.read.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}
