//! What authors of drivers and hosts need: the state machine of a lease, the requests and replies that it exchanges with a
//! store, and the records that a store keeps.
//!
//! Programs that only generate IDs do not need this module. Use it to write a driver for another database ([`Store`] or
//! [`AsyncStore`], tested with [`conformance`]; [`steps`] has the parts that SQL drivers share), to lease worker IDs for a
//! generator that is not in this crate ([`Grantee`]), or to keep leases in another language or runtime: [`Keeper`] has no
//! clock, no connection and no thread, and [`hosted`] wraps it in JSON commands. [The lease protocol][protocol] describes
//! the rules and the exact format of the records.
//!
//! [protocol]: https://example.invalid/polyflake/blob/main/docs/leases.md

#[cfg(feature = "hosted")]
pub use crate::hosts::hosted;
#[cfg(feature = "std")]
pub use crate::rules::request::AsyncStore;
#[cfg(feature = "std")]
pub use crate::stores::url::{open, open_existing};
pub use crate::{
    hosts::grantee::Grantee,
    rules::keeper::{Action, Grant, Keeper, Moment},
    rules::record::{Namespace, Random, Record},
    rules::request::{Operation, Reply, ReplyContent, Request, Store},
    rules::shape::Grid,
    stores::{conformance, steps},
};
