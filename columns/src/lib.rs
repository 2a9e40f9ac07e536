//! Many IDs in memory: packed arrays, columns of their texts and fields, masks, and Arrow's C data interface.
//!
//! Nothing here knows a language: a binding adds its capsules, buffers and exceptions. That is why the unsafe code of
//! columns can be tested by Rust, under Miri, and by malformed columns of a fuzzer.
//!
//! Reading order: `memory` (vectors for many items), `packed` (IDs side by side), `mask` (the IDs that pass a filter), `texts`
//! (columns of texts, read strictly), `fields` (columns of fields), `arrow` (columns in and out).

pub mod arrow;
mod fault;
pub mod fields;
mod mask;
mod memory;
mod packed;
pub mod texts;

pub use self::{
    fault::{Fault, OutOfMemory},
    mask::Mask,
    memory::{Plain, copy_of, first, grow, room, room_for},
    packed::Packed,
};
