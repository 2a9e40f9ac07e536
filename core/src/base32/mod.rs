//! Five bits a character, both ways, for fixed alphabets.
//!
//! `scalar.rs` is the truth and the only author of error positions.

mod scalar;
mod text;

pub(crate) use scalar::{decode, encode, value};
pub use text::Text;
pub(crate) use text::{ascii_of_utf16, length_error};
