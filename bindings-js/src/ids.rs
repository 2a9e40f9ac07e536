//! IDs: texts, bytes and fields, one file for each family.

#[cfg(feature = "layout")]
mod columns;
#[cfg(feature = "hotguid")]
mod hotguid;
#[cfg(feature = "layout")]
pub(crate) mod layout;
#[cfg(feature = "randflake")]
mod randflake;
#[cfg(feature = "sno")]
mod sno;
#[cfg(feature = "randflake")]
mod sparx64;

/// IDs that one call converts or makes.
pub(crate) const BATCH: usize = 1024;
