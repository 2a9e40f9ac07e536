//! sno: the vectors' cases and random ones.

mod generator;
mod ids;
mod random;
mod traces;

pub use generator::generator;
pub use ids::{ids, invalid, polymorphic, range, uuid_of, uuid8};
pub use random::id;
pub use traces::trace;
