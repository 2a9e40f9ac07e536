//! Custom layouts against a big-integer reference: values, descriptions, columns, ranges, generators. The originals' answers,
//! in `tests/vectors`, are compared with in `tests/conformance`.
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
