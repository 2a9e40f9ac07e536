//! Layouts, snapshots and descriptions of formats as JSON.

pub(super) mod description;
#[cfg(feature = "json")]
mod serde;
pub(super) mod value;
