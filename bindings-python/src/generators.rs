//! Generators as Python objects: a file for each family, the clock they share, and pools of them.

pub(crate) mod clock;
pub(crate) mod hotguid;
pub(crate) mod layout;
pub(crate) mod pool;
pub(crate) mod randflake;
pub(crate) mod sno;
