//! The hosts of keepers. A host performs the actions that its keepers request. One host is a thread that maintains all of a
//! process's leases. Another host maintains each lease in a task on an executor. This module also contains `Operator`,
//! which performs administrative actions on a namespace.

pub(crate) mod grantee;
#[cfg(feature = "hosted")]
pub mod hosted;
#[cfg(feature = "std")]
pub(crate) mod lease;
#[cfg(feature = "std")]
pub(crate) mod lease_task;
pub(crate) mod operator;
#[cfg(feature = "std")]
pub(crate) mod source;
#[cfg(feature = "std")]
pub(crate) mod task;
#[cfg(feature = "std")]
mod threads;
