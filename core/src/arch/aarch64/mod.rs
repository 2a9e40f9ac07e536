//! Little-endian AArch64. Every CPU supports NEON, so no other level is compiled.

mod neon;

/// Kernels for one ID or one number.
pub(crate) mod one {
    pub(crate) use super::neon::{decode, encode};
    pub(crate) use crate::arch::scalar::{
        base32::{digits, number},
        base32hex::shifted as slot,
    };
}

sets! {
    /// The kernels for NEON, which every AArch64 CPU supports.
    Neon: "neon", neon, true;
}
