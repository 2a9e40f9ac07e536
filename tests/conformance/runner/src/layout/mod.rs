//! Custom layouts: cases from the vectors, and random cases.

mod description;
mod draw;
mod fields;
mod generator;
mod malformed;
mod random;
mod traces;
mod values;

pub(crate) use fields::{byte_ids, integers, presets, range};
pub(crate) use generator::{generator, numbers};
pub(crate) use malformed::{description, text};
pub(crate) use random::id;
pub(crate) use traces::trace;
