//! aarch64, little-endian. Every machine has NEON: the folder is compiled for no others.

mod neon;

/// One ID, or one number.
pub(crate) mod one {
    pub(crate) use super::neon::{decode, encode};
    pub(crate) use crate::arch::scalar::{
        base32::{digits, number},
        hex::shifted as slot,
    };
}

sets! {
    /// NEON.
    Neon: "neon", neon, true;
}
