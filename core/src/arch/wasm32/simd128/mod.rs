//! 128-bit SIMD: registers of sixteen bytes.

mod base32;
mod hex;

use crate::arch::{Kernels, lanes};
pub(crate) use base32::{decode, encode};
pub(crate) use hex::slot;

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode_all,
    decode_sno: base32::decode_all,
    encode_hex: hex::encode,
    decode_hex: hex::decode,
    decode_hex_column: hex::decode_column,
    ..COMPILED
};

lanes::compile!("simd128");
