//! Encoding and decoding of five bits a character, for fixed alphabets.
//!
//! ```
//! let text = polyflake::sno::Sno::MIN.text(); // a `Text`, on the stack
//! assert_eq!(text.as_str(), "2222222222222222");
//! ```
//!
//! `scalar.rs` (sno's alphabet) and `hex` (Randflake's) are the reference, and alone compute error positions. Beside
//! `scalar.rs` is a file for each instruction set, under the contract of `slices::Kernels`. A single ID only uses instructions
//! that every machine of the target has.

mod alphabet;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
pub(crate) mod constant;
pub(crate) mod hex;
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
pub(crate) mod slices;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse41;

pub use crate::format::Text;
pub(crate) use crate::format::refusal;
pub(crate) use scalar::{value, why_not};

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
use neon as one;
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
use scalar as one;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use simd128 as one;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use sse2 as one;

use crate::Error;

/// The text of 10 bytes.
#[inline]
pub(crate) fn encode(id: &[u8; 10]) -> [u8; 16] {
    one::encode(id)
}

/// The bytes of a text, if it is valid.
#[inline]
pub(crate) fn decode(text: &[u8; 16]) -> Option<[u8; 10]> {
    one::decode(text)
}

/// The error for a text whose bytes are no ID.
#[cold]
pub(crate) fn refuse(text: &[u8; 16]) -> Error {
    scalar::refuse(text)
}
