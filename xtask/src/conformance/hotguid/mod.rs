//! Hot Guid: the vectors' cases and random ones.

mod ids;
mod random;
mod traces;

pub use ids::{ids, range};
pub use random::id;
pub use traces::trace;
