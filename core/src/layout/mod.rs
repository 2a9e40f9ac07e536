//! Custom bit layouts: snowflakes of any shape.
//!
//! ```text
//! an integer ID:  | 1 unused | 41 timestamp | 5 constant | 5 bindable | 12 sequence |      64 bits, signed
//! a byte ID:      | 48 timestamp | 80 bindable                                      |      8 x N bits, big-endian
//! ```
//!
//! Fields are listed from the most significant bit and fill the ID. A [`Layout`] is checked once, when it is built; names are
//! looked up once, for a [`Slot`]; then packing and parsing are shifts and masks.

mod span;

pub(crate) use span::Span;

#[cfg(feature = "alloc")]
mod bits;
#[cfg(feature = "alloc")]
mod build;
#[cfg(feature = "alloc")]
mod columns;
#[cfg(feature = "alloc")]
mod decimal;
#[cfg(feature = "alloc")]
mod describe;
#[cfg(feature = "alloc")]
mod description;
#[cfg(feature = "alloc")]
mod draft;
#[cfg(feature = "alloc")]
mod field;
#[cfg(feature = "alloc")]
mod id;
#[cfg(feature = "alloc")]
mod json;
#[cfg(feature = "alloc")]
#[allow(
    clippy::module_inception,
    reason = "the layout itself, in the folder of all that belongs to it"
)]
mod layout;
#[cfg(feature = "alloc")]
mod pack;
#[cfg(feature = "alloc")]
mod parse;
#[cfg(feature = "alloc")]
mod placed;
#[cfg(feature = "alloc")]
mod presets;
#[cfg(feature = "alloc")]
mod range;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "alloc")]
mod tick;
#[cfg(feature = "alloc")]
mod timeline;
#[cfg(feature = "alloc")]
mod value;
#[cfg(feature = "alloc")]
mod width;

/// No part of what is promised: for bindings.
#[cfg(feature = "alloc")]
#[doc(hidden)]
pub use json::Json;
#[cfg(feature = "alloc")]
pub use {
    describe::{Description, FieldDescription},
    field::Field,
    id::Id,
    layout::{Layout, Slot},
    pack::Values,
    parse::Parsed,
    presets::{PRESETS, preset},
    tick::Tick,
    value::{Type, Value},
};

/// The generators over layouts, which belong to the same family.
#[cfg(feature = "alloc")]
pub use crate::scheme::custom::{Batch, Builder, Generator, Handle, Pool, Snapshot, Stats};
#[cfg(feature = "alloc")]
use width::Width;
#[cfg(feature = "alloc")]
pub(crate) use {
    draft::Draft,
    json::{Members, Object},
    timeline::Timeline,
};
