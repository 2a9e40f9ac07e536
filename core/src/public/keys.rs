//! Derives a key for each public ID type.

use alloc::format;

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::SECRET_BYTES;
use crate::sparx64::{KEY_BYTES, Sparx64};

/// The prefix of the HKDF info string. The rest of the info string is the type's name, `/`, and the type's width in bits,
/// as a decimal number. Without the width, two types with the same name but different widths could decode each other's
/// strings, so one type would accept an ID that only the other type had created.
const INFO: &[u8] = b"polyflake/public/";

/// Returns a type's cipher. Its key is 16 bytes of HKDF-SHA-256 output (RFC 5869), derived from the secret without a salt.
pub(super) fn derive_cipher(secret: &[u8; SECRET_BYTES], name: &str, bits: u32) -> Sparx64 {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    let all = Hkdf::<Sha256>::new(None, secret);
    let bits = format!("/{bits}");
    // The info string includes the width, because otherwise two types with the same name and different widths would decode
    // each other's strings. It does not include the version, because the version only selects the secret, and each version
    // has a different secret.
    all.expand_multi_info(&[INFO, name.as_bytes(), bits.as_bytes()], &mut *key)
        .expect("fewer than 255 digests");
    Sparx64::new(*key)
}
