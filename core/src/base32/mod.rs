//! Five bits a character, both ways, for fixed alphabets.
//!
//! `scalar.rs` (sno's alphabet) and `hex.rs` (Randflake's) are the truth and the only authors of error positions.

pub(crate) mod hex;
mod refusal;
mod scalar;
mod text;

pub(crate) use refusal::refusal;
pub(crate) use scalar::{decode, encode, value};
pub use text::Text;
pub(crate) use text::{ascii_of_utf16, length_error};
