//! Randflake: cases from the vectors, and random cases.

mod generator;
mod ids;
mod random;
mod traces;

pub(crate) use generator::generator_cases;
pub(crate) use ids::{invalid_cases, vector_cases};
pub(crate) use random::id_case;
pub(crate) use traces::trace_case;
