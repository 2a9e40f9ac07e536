//! Custom bit layouts: snowflakes of any shape.
//!
//! ```text
//! an integer ID:  | 1 unused | 41 timestamp | 5 constant | 5 bindable | 12 sequence |      64 bits, signed
//! a byte ID:      | 48 timestamp | 80 bindable                                      |      8 x N bits, big-endian
//! ```
//!
//! Fields are listed from the most significant bit and fill the ID. A [`Layout`] is checked once, when it is built; a name is
//! looked up once, for a [`Slot`]. After that, packing and parsing are shifts and masks.
//!
//! A [`Generator`] fills in time and sequence. The first ID of each tick has the sequence's start value, each further ID of the
//! tick the next value. A clock behind the last tick is an error at once, since a layout has no bit to spare for it.

mod bits;
mod build;
mod builder;
mod column;
mod columns;
mod decimal;
mod describe;
mod description;
mod draft;
mod family;
mod field;
mod generator;
mod handle;
mod id;
mod json;
#[allow(
    clippy::module_inception,
    reason = "the layout itself, in the folder of all that belongs to it"
)]
mod layout;
mod leased;
mod make;
mod numbers;
mod pack;
mod parse;
mod placed;
mod presets;
mod range;
#[cfg(feature = "serde")]
mod serde;
mod snapshot;
mod tick;
mod ticks;
mod timeline;
mod value;
mod width;

/// Not part of the public API: for bindings.
#[doc(hidden)]
pub use json::Json;
#[doc(hidden)]
pub use leased::Leased;
pub use {
    crate::format::{Description, FieldDescription},
    builder::Builder,
    field::Field,
    generator::{Batch, Generator},
    handle::Handle,
    id::Id,
    layout::{Layout, Slot},
    pack::Values,
    parse::Parsed,
    presets::{PRESETS, preset},
    snapshot::{Snapshot, Stats},
    tick::Tick,
    value::{Type, Value},
};

use {draft::Draft, timeline::Timeline, width::Width};
