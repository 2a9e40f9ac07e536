//! Hot Guid: the vectors' cases and random ones.

mod ids;
mod random;
mod traces;

pub use ids::{ids, range, uuid8};
pub use random::id;
pub use traces::trace;
