//! Packed arrays of IDs, columns of encoded IDs, and Arrow's C data interface.
//!
//! This crate does not depend on a host language. Each binding adds the features that are specific to its language, such as
//! capsules, buffers and exceptions. Therefore the unsafe code for columns can be tested in Rust, under Miri, and with
//! malformed columns from a fuzzer.
//!
//! Reading order: `memory` (vectors of many items), `packed` (packed arrays of IDs), `texts` (columns of strings, decoded
//! strictly), `arrow` (import and export of columns).

pub mod arrow;
mod fault;
mod memory;
mod packed;
pub mod texts;

pub use self::{
    fault::{Fault, OutOfMemory},
    memory::{Plain, grow, truncate_and_shrink, try_copy, try_with_capacity, zeroed},
    packed::Packed,
};
