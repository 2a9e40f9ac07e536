//! Support for architectures without specific kernels, which use the scalar code.

/// Kernels for one ID or one number.
pub(crate) mod one {
    pub(crate) use crate::arch::scalar::{
        base32::{decode, digits, encode, number},
        base32hex::shifted as slot,
    };
}

sets! {}
