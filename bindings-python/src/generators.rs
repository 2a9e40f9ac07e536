//! Generators as Python objects: a file for each family, the clock they share, pools of them, and a warning of twins.

pub(crate) mod awaited;
pub(crate) mod clock;
mod given;
pub(crate) mod hotguid;
pub(crate) mod layout;
pub(crate) mod making;
pub(crate) mod pool;
pub(crate) mod randflake;
pub(crate) mod sno;
pub(crate) mod twins;
