//! Layouts, snapshots and figures as JSON.

pub(super) mod description;
#[cfg(feature = "serde")]
mod serde;
pub(super) mod value;
