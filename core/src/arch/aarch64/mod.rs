//! Kernels for little-endian AArch64. Every such CPU supports NEON, so there are no kernels for other instruction sets.

mod neon;

/// Kernels for one ID or one number.
pub(crate) mod single {
    pub(crate) use super::neon::{decode, encode};
    pub(crate) use crate::arch::scalar::{
        base32::{decode_integer, digits},
        base32hex::shifted_slot as slot,
    };
}

define_instruction_sets! {
    /// The kernels for NEON, which every AArch64 CPU supports.
    Neon: "neon", neon, true;
}
