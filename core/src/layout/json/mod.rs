//! The JSON representation of layouts, snapshots and format descriptions.

pub(super) mod description;
#[cfg(feature = "json")]
mod serde;
pub(super) mod value;
