//! Custom layouts: the vectors' cases and random ones.

mod description;
mod draw;
mod fields;
mod generator;
mod malformed;
mod random;
mod traces;
mod values;

pub use fields::{byte_ids, integers, presets, range};
pub use generator::generator;
pub use malformed::{description, text};
pub use random::id;
pub use traces::trace;
