//! WebAssembly with 128-bit SIMD. An engine without SIMD support rejects any module that contains SIMD instructions, so the
//! instruction set is selected at compile time.

mod simd128;

/// Kernels for one ID or one number.
pub(crate) mod single {
    // The scalar code shifts 128-bit integers, which requires a function call in wasm.
    pub(crate) use super::simd128::{decode, encode, slot};
    pub(crate) use crate::arch::scalar::base32::{decode_integer, digits};
}

define_instruction_sets! {
    /// The kernels for WebAssembly's 128-bit SIMD instructions.
    Simd128: "simd128", simd128, true;
}
