//! Support for architectures without specialized kernels, which use the scalar code instead.

/// Kernels for one ID or one number.
pub(crate) mod single {
    pub(crate) use crate::arch::scalar::{
        base32::{decode, decode_integer, digits, encode},
        base32hex::shifted_slot as slot,
    };
}

define_instruction_sets! {}
