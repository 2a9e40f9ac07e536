//! Hosts that drive keepers: one thread that keeps all of a process's leases, and tasks on an executor. This module also
//! contains the administrative operator.

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
