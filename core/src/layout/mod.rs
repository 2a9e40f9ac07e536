//! Custom bit layouts for Snowflake IDs with fields of your choice.
//!
//! ```text
//! an integer ID:  | 1 unused | 41 timestamp | 5 constant | 5 bindable | 12 sequence |      64 bits, signed
//! a byte ID:      | 48 timestamp | 80 bindable                                      |      8 x N bits, big-endian
//! ```
//!
//! Fields are listed starting with the most significant one, and together they fill the ID. An integer field has at most
//! 128 bits. A field that contains bytes or a string may fill the entire ID, which has at most 1,024 bits. A constant field
//! has the same value in every ID. A *bindable* field, for example the worker ID, is set for each generator or for each ID.
//!
//! A [`Layout`] is checked once when it is built, and the name of a field is looked up once as a [`FieldIndex`]. After
//! that, packing and parsing need only shifts and masks.
//!
//! A [`Generator`] sets the time and the sequence. The first ID in each tick has the sequence's start value, and each
//! subsequent ID in the tick has the next value. If the clock is behind the last tick, calls fail immediately, because a
//! layout has no spare bit to record a clock rollback.

mod fields;
mod ids;
mod json;
mod presets;
mod time;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub use ids::generator::Leased;
/// This type is not part of the public API. It exists for bindings.
#[doc(hidden)]
pub use json::value::Json;
pub use {
    fields::{
        field::Field,
        layout::{FieldIndex, Layout},
        value::{Value, ValueType},
    },
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
    time::tick::Tick,
};

use {
    fields::{
        layout::{Representation, foreign_field_index},
        resolved_field::{ResolvedField, Role},
        width::Width,
    },
    time::timeline::Timeline,
};
