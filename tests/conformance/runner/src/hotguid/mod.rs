//! Hot Guid: the vectors' cases and random ones.

mod ids;
mod random;
mod traces;

pub(crate) use ids::{ids, range, uuid8};
pub(crate) use random::id;
pub(crate) use traces::trace;
