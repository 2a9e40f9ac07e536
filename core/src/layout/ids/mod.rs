//! IDs: from values and from generators, and back to their fields.

pub(super) mod builder;
mod column;
mod draft;
pub(super) mod family;
pub(super) mod generator;
pub(super) mod handle;
pub(super) mod id;
pub(super) mod make;
pub(super) mod many;
pub(super) mod numbers;
pub(super) mod parse;
#[cfg(feature = "serde")]
mod serde;
pub(super) mod snapshot;
pub(super) mod values;
