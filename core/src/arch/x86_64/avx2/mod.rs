//! The kernels for CPUs with POPCNT and AVX2, which has 32-byte registers.

mod base32;
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

lanes::compile!("avx2,popcnt");
