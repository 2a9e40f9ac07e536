//! Version 7 UUIDs: the vectors' cases and random ones.

mod ids;
mod random;
mod traces;

pub(crate) use ids::{ids, range};
pub(crate) use random::id;
pub(crate) use traces::trace;
