//! Generators of IDs under a lease, one for each family.

pub(crate) mod generator;
mod granted;
pub mod hotguid;
pub mod layout;
pub mod randflake;
pub mod sno;
