//! The store drivers, the steps that the SQL drivers share, and the test suite that every driver passes.

#[cfg(any(feature = "http", feature = "mysql", feature = "postgresql", feature = "redis"))]
mod blocking;
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
#[cfg(any(feature = "http", feature = "mysql", feature = "postgresql", feature = "redis"))]
pub(crate) mod tls;
#[cfg(any(feature = "http", feature = "redis"))]
mod transport;
#[cfg(feature = "std")]
pub(crate) mod url;
