//! Hot Guid: cases from the vectors, and random cases.

mod ids;
mod random;
mod traces;

pub(crate) use ids::{ids, range, uuid8};
pub(crate) use random::id;
pub(crate) use traces::trace;
