//! Custom bit layouts: snowflakes of any shape.
//!
//! ```text
//! an integer ID:  | 1 unused | 41 timestamp | 5 constant | 5 bindable | 12 sequence |      64 bits, signed
//! a byte ID:      | 48 timestamp | 80 bindable                                      |      8 x N bits, big-endian
//! ```
//!
//! Fields are listed from the most significant bit and fill the ID. A field of integers has at most 128 bits; a field of bytes
//! or text may fill a whole ID, of at most 1,024 bits. A [`Layout`] is checked once, when it is built; a name is looked up
//! once, for a [`Slot`]. After that, packing and parsing are shifts and masks.
//!
//! A [`Generator`] fills in time and sequence. The first ID of each tick has the sequence's start value, each further ID of the
//! tick the next value. A clock behind the last tick is an error at once, since a layout has no bit to spare for it.

mod ids;
mod json;
mod presets;
mod shape;
mod time;

#[doc(hidden)]
pub use ids::generator::Leased;
/// Not part of the public API: for bindings.
#[doc(hidden)]
pub use json::value::Json;
pub use {
    ids::{
        builder::Builder,
        generator::{Batch, Generator},
        handle::Handle,
        id::Id,
        parse::Parsed,
        snapshot::{Snapshot, Stats},
        values::Values,
    },
    presets::{PRESETS, preset},
    shape::{
        field::Field,
        layout::{Layout, Slot},
        value::{Type, Value},
    },
    time::tick::Tick,
};

use {
    shape::{
        layout::{Shape, foreign_slot},
        placed::{Placed, Role},
        width::Width,
    },
    time::timeline::Timeline,
};
