//! Custom layouts: the vectors, a big-integer reference, descriptions, ranges, presets.
#![cfg(feature = "json")]

mod describe;
mod presets;
mod ranges;
#[path = "../support/mod.rs"]
mod shared;
mod support;
mod vectors;
