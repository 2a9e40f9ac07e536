//! Node numbers that cannot overlap: each number is leased to one process for a span of time, and the next holder begins after
//! the last tick that the previous holder may have used.
//!
//! - [`Keeper`] holds the rules. It has no clock, opens nothing and starts no thread: it takes the time and the store's answers,
//!   and returns the next request or the next step of the generator.
//! - [`Store`] is implemented by drivers: one request, one reply, both plain data. [`conformance`] is the suite that every
//!   driver passes. [`steps`] has what drivers of SQL share.
//! - [`Memory`] is a store for tests, within one process; `Sqlite` (feature `sqlite`) one in a file, for the processes of a machine;
//!   `Postgresql` (feature `postgresql`) one for processes of many machines, and `AsyncPostgresql` the same for tasks.
//! - [`Operator`] looks at a namespace and takes the steps that people decide on: to evict a holder, to reserve a number, to tell of
//!   a restored backup. [`Plan`] says how many numbers a fleet needs.
//!
//! The records to the byte and the rules are in `docs/leases.md` of the repository.
#![no_std]

extern crate alloc;
#[cfg(feature = "hosted")]
extern crate std;

/// The examples of the README run as tests; one hears signals of Unix.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
struct Readme;

/// And that of the page on node numbers.
#[cfg(doctest)]
#[doc = include_str!("../../docs/node-numbers.md")]
struct NodeNumbers;

mod hosts;
#[cfg(feature = "hosted")]
mod ids;
mod rules;
mod stores;

#[cfg(feature = "hosted")]
pub use hosts::hosted;
pub use hosts::{
    grantee::Grantee,
    operator::{Operator, Status},
};
#[cfg(feature = "std")]
pub use hosts::{keeping::Task, lease::Lease, source::Source, task::Host};
#[cfg(feature = "std")]
pub use ids::{generator::Generator, hotguid, layout, randflake, sno};
#[cfg(feature = "hosted")]
pub use rules::events::{Event, Figures};
pub use rules::{
    error::{Error, ErrorKind},
    keeper::{Action, Grant, Keeper, Moment, Options},
    plan::{Fleet, Plan},
    record::{Namespace, Random, Record},
    request::{Ask, Found, Reply, Request, Store},
    shape::{Grid, Shape},
};
#[cfg(feature = "std")]
pub use rules::{ordinal::Ordinal, request::AsyncStore};
#[cfg(feature = "postgresql")]
pub use stores::postgresql::{AsyncPostgresql, Postgresql};
#[cfg(feature = "sqlite")]
pub use stores::sqlite::Sqlite;
#[cfg(feature = "std")]
pub use stores::url::open;
pub use stores::{conformance, memory::Memory, steps};

/// The result of a fallible call.
pub type Result<T, E = Error> = core::result::Result<T, E>;
