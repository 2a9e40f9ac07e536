//! wasm with SIMD of 128 bits. An engine without it refuses any module that uses it, so this is decided at compile time.

mod simd128;

/// One ID, or one number.
pub(crate) mod one {
    // The scalar code shifts 128 bits, which is a call in wasm.
    pub(crate) use super::simd128::{decode, encode, slot};
    pub(crate) use crate::arch::scalar::base32::{digits, number};
}

sets! {
    /// SIMD of 128 bits.
    Simd128: "simd128", simd128, true;
}
