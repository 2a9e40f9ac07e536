//! Version 7 UUIDs: cases from the vectors, and random cases.

mod ids;
mod random;
mod traces;

pub(crate) use ids::{range_case, vector_cases};
pub(crate) use random::id_case;
pub(crate) use traces::trace_case;
