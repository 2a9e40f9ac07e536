//! Hosts of keepers: the thread of a process that keeps all its leases, tasks of an executor, and operators.

pub(crate) mod grantee;
#[cfg(feature = "hosted")]
pub mod hosted;
#[cfg(feature = "std")]
pub(crate) mod keeping;
#[cfg(feature = "std")]
pub(crate) mod lease;
pub(crate) mod operator;
#[cfg(feature = "std")]
pub(crate) mod source;
#[cfg(feature = "std")]
pub(crate) mod task;
#[cfg(feature = "std")]
mod threads;
