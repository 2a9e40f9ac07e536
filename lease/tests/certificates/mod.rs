//! TLS certificates for the servers that tests start.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::server;

/// Writes three files to `folder`: a root certificate, a server certificate for `host` that is signed by the root
/// certificate, and the server's private key.
pub fn write_certificates(folder: &Path, host: &str) {
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::new([]).unwrap();
    // If both certificates had the same subject, OpenSSL would treat the server's certificate as self-signed.
    root.distinguished_name.push(DnType::CommonName, "root");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let written = root.self_signed(&root_key).unwrap().pem();
    let key = KeyPair::generate().unwrap();
    let names = CertificateParams::new([host.to_owned()]).unwrap();
    let signed = names.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
    for (name, text) in
        [("root.pem", written), ("server.crt", signed.pem()), ("server.key", key.serialize_pem())]
    {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&path, server::server_user_id(), None).unwrap();
    }
}
