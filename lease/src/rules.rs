//! The code shared by the hosts in all languages: the state machine that maintains a lease, the records, the requests, and
//! the events. This code reads no clock, opens no connection and starts no thread.

pub(crate) mod access;
#[cfg(feature = "hosted")]
pub(crate) mod check;
pub(crate) mod error;
#[cfg(feature = "hosted")]
pub(crate) mod events;
#[cfg(feature = "std")]
pub(crate) mod forks;
pub(crate) mod json;
pub(crate) mod keeper;
#[cfg(feature = "hosted")]
pub(crate) mod lease_url;
mod messages;
#[cfg(feature = "std")]
pub(crate) mod ordinal;
pub(crate) mod plan;
pub(crate) mod platforms;
pub(crate) mod record;
pub(crate) mod request;
pub(crate) mod shape;
#[cfg(feature = "hosted")]
pub(crate) mod url;
pub(crate) mod volatile_store;
#[cfg(feature = "hosted")]
pub(crate) mod watched_keeper;
#[cfg(feature = "hosted")]
pub(crate) mod worker_id_layout;
