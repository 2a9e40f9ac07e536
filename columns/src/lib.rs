//! Many IDs in memory: packed arrays, columns of their texts, and Arrow's C data interface.
//!
//! Nothing here knows a language: a binding adds its capsules, buffers and exceptions. That is why the unsafe code of
//! columns can be tested by Rust, under Miri, and by malformed columns of a fuzzer.
//!
//! Reading order: `memory` (vectors for many items), `packed` (IDs side by side), `texts` (columns of texts, read strictly),
//! `arrow` (columns in and out).

pub mod arrow;
mod fault;
mod memory;
mod packed;
pub mod texts;

pub use self::{
    fault::{Fault, OutOfMemory},
    memory::{Plain, copy_of, first, grow, room, room_for},
    packed::Packed,
};
