//! Leased generators for each ID format.

#[cfg(feature = "std")]
pub(crate) mod default;
#[cfg(feature = "std")]
pub(crate) mod generator;
pub(crate) mod granted;
#[cfg(feature = "std")]
pub mod hotguid;
#[cfg(feature = "std")]
pub mod layout;
#[cfg(feature = "std")]
pub mod randflake;
#[cfg(feature = "std")]
pub mod sno;
#[cfg(feature = "std")]
pub mod uuid7;
