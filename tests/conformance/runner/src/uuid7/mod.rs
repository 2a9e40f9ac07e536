//! Version 7 UUIDs: cases from the vectors, and random cases.

mod ids;
mod random;
mod traces;

pub(crate) use ids::{ids, range};
pub(crate) use random::id;
pub(crate) use traces::trace;
