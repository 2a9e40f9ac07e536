//! Support for architectures that have no kernels of their own and use the scalar code instead.

/// Kernels for one ID or one number.
pub(crate) mod single {
    pub(crate) use crate::arch::scalar::{
        base32::{decode, digits, encode, number},
        base32hex::shifted_slot as slot,
    };
}

define_instruction_sets! {}
