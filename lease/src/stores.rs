//! Stores: the steps that SQL stores share, their drivers, and the test suite that every driver passes.

pub mod conformance;
#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod memory;
#[cfg(feature = "mysql")]
pub(crate) mod mysql;
#[cfg(feature = "postgresql")]
pub(crate) mod postgresql;
#[cfg(feature = "redis")]
pub(crate) mod redis;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
pub mod steps;
#[cfg(feature = "std")]
pub(crate) mod system;
#[cfg(feature = "std")]
pub(crate) mod url;
