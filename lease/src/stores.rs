//! Stores: their drivers, the statements that those of SQL share, and the suite that every driver passes.

pub mod conformance;
#[cfg(any(feature = "sqlite", feature = "postgresql"))]
mod known;
pub(crate) mod memory;
#[cfg(feature = "postgresql")]
pub(crate) mod postgresql;
#[cfg(any(feature = "sqlite", feature = "postgresql"))]
mod sql;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
#[cfg(feature = "std")]
pub(crate) mod system;
#[cfg(feature = "std")]
pub(crate) mod url;
