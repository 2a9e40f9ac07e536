//! Non-overlapping leases of worker IDs. Each worker ID is leased to one process for a limited time, and the next holder
//! starts after the last tick that the previous holder may have used.
//!
//! - [`Keeper`] implements the rules. It has no clock, opens no connection and starts no thread. Its host passes the time
//!   and the store's replies, and the keeper returns the next request for the store or the next action for the generator.
//! - [`Store`] is the trait that drivers implement. A driver processes one request at a time and returns one reply, and
//!   both are plain data. [`conformance`] is the test suite that every driver passes. [`steps`] contains the parts that SQL
//!   drivers share.
//! - [`Memory`] is a store for tests within one process. `Sqlite` (feature `sqlite`) is a store in a file for the processes
//!   of one host. `Postgresql` (feature `postgresql`) is a store for processes on many hosts, and `AsyncPostgresql` is the
//!   asynchronous version for tasks. `Mysql` and `AsyncMysql` (feature `mysql`) are stores in `MySQL` or `MariaDB`. `Redis`
//!   and `AsyncRedis` (feature `redis`) are stores in `Redis` or `Valkey`, which may lose their data. `Http` and
//!   `AsyncHttp` (feature `http`) are stores behind a service, `polyflake lease serve`.
//! - [`Operator`] inspects a namespace and performs administrative actions: evicting a holder, reserving a worker ID, or
//!   reporting a restored backup. [`Plan`] calculates how many worker IDs a fleet needs.
//!
//! The rules and the exact format of the records are described in the repository's `docs/leases.md`.
#![no_std]

extern crate alloc;
#[cfg(feature = "hosted")]
extern crate std;

/// Runs the README's examples as tests. The tests run only on Unix, because one example handles Unix signals.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples on the documentation page about worker IDs as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/node-numbers.md")]
struct WorkerIdsPage;

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
pub use hosts::{lease::Lease, lease_task::Task, source::Source, task::Host};
#[cfg(feature = "std")]
pub use ids::{generator::Generator, hotguid, layout, randflake, sno, uuid7};
#[cfg(feature = "hosted")]
pub use rules::events::{Event, Metrics};
pub use rules::{
    error::{Error, ErrorKind},
    keeper::{Action, Grant, Keeper, Moment, Options},
    plan::{Fleet, Plan},
    record::{Namespace, Random, Record},
    request::{Operation, Reply, ReplyContent, Request, Store},
    shape::{Grid, Shape},
};
#[cfg(feature = "std")]
pub use rules::{ordinal::Ordinal, request::AsyncStore};
#[cfg(feature = "http")]
pub use stores::http::{AsyncHttp, Http};
#[cfg(feature = "mysql")]
pub use stores::mysql::{AsyncMysql, Mysql};
#[cfg(feature = "postgresql")]
pub use stores::postgresql::{AsyncPostgresql, Postgresql};
#[cfg(feature = "redis")]
pub use stores::redis::{AsyncRedis, Redis};
#[cfg(feature = "sqlite")]
pub use stores::sqlite::Sqlite;
#[cfg(feature = "std")]
pub use stores::url::{check, open, open_existing};
pub use stores::{conformance, memory::Memory, steps};

/// The result of a fallible call.
pub type Result<T, E = Error> = core::result::Result<T, E>;
