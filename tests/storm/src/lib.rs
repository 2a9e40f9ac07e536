//! Exposes an ID generator to events that occur while programs run, such as forks, kills and clock changes, and checks its
//! IDs against four rules.
//!
//! A *storm* ([`storms`]) starts processes that generate IDs, and disturbs these processes. Each process is a *host*
//! ([`host`]) that contains a generator and prints chunks of IDs with clock readings ([`chunk`]). The *judge* ([`judge`])
//! reads the chunks. It finds duplicate IDs with an external sort ([`sort`]), which can handle any number of IDs, and
//! checks the other rules as the chunks arrive.
#![cfg(target_os = "linux")]

pub mod host;

#[cfg(feature = "program")]
pub mod chunk;
#[cfg(feature = "program")]
pub mod clock;
#[cfg(feature = "program")]
pub mod judge;
#[cfg(feature = "program")]
pub mod key;
#[cfg(feature = "program")]
pub mod order;
#[cfg(feature = "program")]
pub mod process;
#[cfg(feature = "program")]
pub mod results;
#[cfg(feature = "program")]
pub mod rows;
#[cfg(feature = "program")]
pub mod sort;
#[cfg(feature = "program")]
pub mod storms;
#[cfg(feature = "program")]
pub mod time;
#[cfg(feature = "program")]
pub mod verdict;
