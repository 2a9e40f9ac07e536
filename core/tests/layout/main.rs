//! Custom layouts: the vectors, a big-integer reference, descriptions, ranges, presets.
#![cfg(feature = "json")]

mod columns;
mod describe;
mod errors;
mod generator;
mod json;
mod numbers;
mod order;
mod presets;
mod random;
mod ranges;
mod reference;
#[path = "../support/mod.rs"]
mod shared;
mod support;
mod vectors;
