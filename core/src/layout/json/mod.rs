//! Layouts, snapshots and key figures as JSON.

pub(super) mod description;
#[cfg(feature = "json")]
mod serde;
pub(super) mod value;
