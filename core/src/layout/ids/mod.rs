//! Generates IDs, packs IDs from field values, and parses IDs into their fields.

pub(super) mod builder;
pub(super) mod columns;
mod database;
pub(super) mod family;
pub(super) mod generator;
pub(super) mod handle;
pub(super) mod id;
pub(super) mod pack;
pub(super) mod parse;
#[cfg(feature = "serde")]
mod serde;
pub(super) mod snapshot;
pub(super) mod values;
pub(super) mod worker_id_range;
