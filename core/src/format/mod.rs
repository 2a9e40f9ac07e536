//! The parts that all formats share: bit spans, ticks, strings, and format descriptions.

mod describe;
pub(crate) mod guid;
mod rejection;
mod scale;
#[cfg(feature = "serde")]
pub(crate) mod serde;
mod span;
mod text;
mod text_id;
mod ticks;
mod time;

pub(crate) use describe::DescriptionInputs;
pub use describe::{Description, FieldDescription};
pub(crate) use rejection::length_or_character_error;
pub(crate) use scale::Scale;
pub(crate) use scale::is_within;
pub(crate) use span::Span;
pub use text::Text;
pub(crate) use text_id::{impl_byte_id, impl_text_id};
pub(crate) use ticks::Ticks;
pub use time::UnixTime;
pub(crate) use time::empty_range_error;
