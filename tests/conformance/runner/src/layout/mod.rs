//! Custom layouts: cases from the vectors, and random cases.

mod description;
mod draw;
mod fields;
mod generator;
mod malformed;
mod random;
mod traces;
mod values;

pub(crate) use fields::{byte_id_cases, integer_cases, preset_cases, range_case};
pub(crate) use generator::{generator_cases, worker_range_cases};
pub(crate) use malformed::{description_case, text_case};
pub(crate) use random::id_case;
pub(crate) use traces::trace_case;
