//! Generators as Python objects: a file for each family, and the clock they share.

mod clock;
pub(crate) mod sno;
