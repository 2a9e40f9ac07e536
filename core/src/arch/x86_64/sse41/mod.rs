//! The kernels for SSSE3 and SSE4.1, whose registers have sixteen bytes.

pub(super) mod base32;
pub(super) mod base32hex;

use crate::arch::{Kernels, lanes};

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode,
    decode_sno: base32::decode,
    encode_base32hex: base32hex::encode,
    decode_base32hex: base32hex::decode,
    decode_base32hex_column: base32hex::decode_column,
    ..COMPILED_KERNELS
};

lanes::compile!("ssse3,sse4.1");
