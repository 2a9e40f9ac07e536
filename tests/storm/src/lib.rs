//! Exposes an ID generator to the events that programs go through, and checks its IDs by four rules.
//!
//! A *storm* ([`storms`]) starts processes that generate IDs, and disturbs them. Each process is a *host* ([`host`]) with a
//! generator in it, and prints chunks of IDs with clock readings ([`chunk`]). The *judge* ([`judge`]) reads the chunks: an
//! external sort ([`sort`]) finds equal IDs among any number of them, and the other rules are checked as the chunks arrive.
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
pub mod report;
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
