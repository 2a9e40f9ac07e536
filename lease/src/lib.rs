//! Leases of worker IDs from a database, so that no two [polyflake] generators of a fleet have the same worker ID. Each
//! process holds its worker ID for a limited time and renews the lease. Pauses, wrong clocks, lost replies and killed
//! processes can interrupt the generation of IDs, but they never cause a duplicate.
//!
//! The usual program reads the store's URL from its environment:
//!
//! ```standalone_crate
//! use polyflake_lease::sno;
//!
//! # // SAFETY: This program has no other thread.
//! # unsafe { std::env::set_var("POLYFLAKE_LEASE", "memory:guide?namespace=orders") };
//! // POLYFLAKE_LEASE=postgres://user@host/database?namespace=orders
//! let ids = sno::Generator::from_env()?;
//! println!("{}", ids.generate(7)?);
//! ids.close(); // releases the worker ID; call it when SIGTERM arrives
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program can also pass the URL and the namespace, a range of worker IDs, and other [`Options`]. All processes with the
//! same store and namespace share one set of worker IDs:
//!
//! ```
//! use std::time::Duration;
//! use polyflake_lease::{Options, Shape, sno};
//!
//! let options = Options::new("orders", Shape::sno(0..=1023)?)?;
//! let options = options.preferred_worker_id(7)?.watch(|event| eprintln!("orders: {event}"));
//! # let url = "memory:";
//! # #[cfg(any())]
//! let url = "sqlite:/var/lib/orders/leases.db";
//! let ids = sno::Generator::with(url, options, Duration::from_secs(10))?;
//! assert_eq!(ids.lease().worker_id(), Some(7));
//! assert_eq!(ids.generate(7)?.partition(), 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`sno`], [`hotguid`], [`uuid7`], [`randflake`] and [`layout`] have a generator each. The README lists the URLs of the
//! stores: SQLite, PostgreSQL, MySQL, MariaDB, Redis, Valkey, and a service over HTTP. Each of them needs the Cargo feature
//! of its name.
//!
//! # While the store is away
//!
//! Generating an ID never calls the store. A lease lasts an hour by default and is renewed every quarter of an hour, so no
//! generator notices an outage of up to 40 minutes. In a longer outage, a generator continues until its lease ends. From
//! then on, calls wait for up to a second and fail with `lease_unavailable`; the error's source states the reason. As soon
//! as the store replies, the generator continues, with another worker ID if its own was leased in the meantime. A process
//! that starts during an outage fails to create its generator after 10 seconds, or at once if waiting cannot help, for
//! example because the password is wrong.
//!
//! # More
//!
//! - [`Options`] has the length of a lease, preferred and required worker IDs, the holder's name, and the callback.
//! - [`Event`] lists what the callback receives, and [`Lease::metrics`] returns counts and the remaining time.
//! - [`check`] reports whether a worker ID could be leased, for deployment scripts.
//! - [`Operator`] inspects a namespace, evicts holders, reserves worker IDs, and reports restored backups.
//! - [`Plan`] calculates how many worker IDs a fleet needs.
//! - [`Host`] keeps a lease in a task of an executor instead of a thread, and [`Source`] leases from a client that the
//!   program already has.
//! - [`protocol`] is for authors of drivers and hosts.
#![no_std]

extern crate alloc;
#[cfg(feature = "hosted")]
extern crate std;

/// Runs the README's examples as tests. The tests run only on Unix, because one example handles Unix signals.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
struct Readme;

mod hosts;
#[cfg(feature = "hosted")]
mod ids;
pub mod protocol;
mod rules;
mod stores;

pub use hosts::operator::{Operator, Status};
#[cfg(feature = "std")]
pub use hosts::{lease::Lease, lease_task::Task, source::Source, task::Host};
#[cfg(feature = "std")]
pub use ids::{
    default::{DefaultLeases, install},
    generator::Generator,
    hotguid, layout, randflake, sno, uuid7,
};
#[cfg(feature = "hosted")]
pub use rules::events::{Event, Metrics};
#[cfg(feature = "std")]
pub use rules::ordinal::Ordinal;
pub use rules::{
    error::{Error, ErrorKind},
    keeper::Options,
    plan::{Fleet, Plan},
    shape::Shape,
};
#[cfg(feature = "http")]
pub use stores::http::{AsyncHttp, Http};
pub use stores::memory::Memory;
#[cfg(feature = "mysql")]
pub use stores::mysql::{AsyncMysql, Mysql};
#[cfg(feature = "postgresql")]
pub use stores::postgresql::{AsyncPostgresql, Postgresql};
#[cfg(feature = "redis")]
pub use stores::redis::{AsyncRedis, Redis};
#[cfg(feature = "sqlite")]
pub use stores::sqlite::Sqlite;
#[cfg(feature = "std")]
pub use stores::url::check;

/// The result of a fallible call.
pub type Result<T, E = Error> = core::result::Result<T, E>;
