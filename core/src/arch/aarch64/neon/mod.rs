//! Little-endian NEON, with registers of sixteen bytes. A rotation takes two instructions: a shift, followed by a
//! shift-and-insert.

mod base32;
mod base32hex;

use crate::arch::{Kernels, lanes};
pub(crate) use base32::{decode, encode};

pub(super) const KERNELS: Kernels = Kernels {
    encode_sno: base32::encode_all,
    decode_sno: base32::decode_all,
    encode_base32hex: base32hex::encode,
    decode_base32hex: base32hex::decode,
    decode_base32hex_column: base32hex::decode_column,
    ..COMPILED_KERNELS
};

lanes::compile!("neon");
