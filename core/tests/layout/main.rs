//! Tests custom layouts against a big-integer reference implementation: values, descriptions, columns, ranges and
//! generators. `tests/conformance` tests them against results of the original implementations in `tests/vectors`.
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
