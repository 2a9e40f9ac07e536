//! IDs: texts, bytes and fields, one file for each family.

mod columns;
mod hotguid;
pub(crate) mod layout;
mod randflake;
mod sno;
mod sparx64;

/// IDs that one call converts or makes.
pub(crate) const BATCH: usize = 1024;
