//! sno: cases from the vectors, and random cases.

mod generator;
mod ids;
mod random;
mod traces;

pub(crate) use generator::generator;
pub(crate) use ids::{format_uuid, ids, invalid, polymorphic, range, uuid8};
pub(crate) use random::id;
pub(crate) use traces::trace;
