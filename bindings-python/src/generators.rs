//! Generators as Python objects: a file for each family, and the clock they share.

pub(crate) mod clock;
pub(crate) mod hotguid;
pub(crate) mod layout;
pub(crate) mod randflake;
pub(crate) mod sno;
