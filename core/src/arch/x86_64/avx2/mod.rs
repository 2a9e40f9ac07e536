//! AVX2 and POPCNT: registers of 32 bytes.

mod base32;
pub(super) mod hex;

use crate::arch::{Kernels, lanes};

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode,
    decode_sno: base32::decode,
    encode_hex: hex::encode,
    decode_hex: hex::decode,
    decode_hex_column: hex::decode_column,
    ..COMPILED
};

lanes::compile!("avx2,popcnt");
