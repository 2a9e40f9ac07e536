//! Node numbers that cannot overlap: each number is leased to one process for a span of time, and the next holder begins after
//! the last tick that the previous holder may have used.
//!
//! - [`Keeper`] holds the rules. It has no clock, opens nothing and starts no thread: it takes the time and the store's answers,
//!   and returns the next request or the next step of the generator.
//! - [`Store`] is implemented by drivers: one request, one reply, both plain data. [`conformance`] is the suite that every
//!   driver passes.
//! - [`Memory`] is a store for tests, within one process; `Sqlite` (feature `sqlite`) one in a file, for the processes of a machine;
//!   `Postgresql` (feature `postgresql`) one for processes of many machines, and `AsyncPostgresql` the same for tasks.
//! - [`Operator`] looks at a namespace and takes the steps that people decide on: to evict a holder, to reserve a number, to tell of
//!   a restored backup. [`Plan`] says how many numbers a fleet needs.
//!
//! The records to the byte and the rules are in `docs/leases.md` of the repository.
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "std")]
mod clock;
pub mod conformance;
#[cfg(feature = "std")]
mod driver;
mod error;
#[cfg(feature = "std")]
mod forks;
#[cfg(feature = "std")]
mod holder;
#[cfg(feature = "std")]
pub mod hotguid;
mod json;
mod keeper;
#[cfg(any(feature = "sqlite", feature = "postgresql"))]
mod known;
#[cfg(feature = "std")]
pub mod layout;
mod leased;
mod memory;
mod operator;
#[cfg(feature = "std")]
mod ordinal;
#[cfg(feature = "std")]
mod place;
mod plan;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "std")]
pub mod randflake;
mod record;
#[cfg(feature = "std")]
mod runner;
mod shape;
#[cfg(feature = "std")]
pub mod sno;
#[cfg(any(feature = "sqlite", feature = "postgresql"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
#[cfg(feature = "std")]
mod task;
#[cfg(feature = "std")]
mod threads;
#[cfg(feature = "std")]
mod url;
#[cfg(feature = "std")]
mod watch;

#[cfg(feature = "std")]
pub use driver::Task;
pub use error::{Error, ErrorKind};
pub use keeper::{Action, Grant, Keeper, Moment, Options};
pub use leased::Leased;
pub use memory::Memory;
pub use operator::{Operator, Status};
#[cfg(feature = "std")]
pub use ordinal::Ordinal;
#[cfg(feature = "std")]
pub use place::Source;
pub use plan::{Fleet, Plan};
#[cfg(feature = "postgresql")]
pub use postgresql::{AsyncPostgresql, Postgresql};
pub use record::{Namespace, Random, Record};
#[cfg(feature = "std")]
pub use runner::Lease;
pub use shape::{Grid, Shape};
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use store::{Ask, Found, Reply, Request, Store};
#[cfg(feature = "std")]
pub use task::{AsyncStore, Host};
#[cfg(feature = "std")]
pub use url::open;
#[cfg(feature = "std")]
pub use watch::{Event, Figures};

/// The result of a fallible call.
pub type Result<T, E = Error> = core::result::Result<T, E>;
