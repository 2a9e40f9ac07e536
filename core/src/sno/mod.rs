//! The sno format: 10-byte IDs with a metabyte, which is a byte whose meaning you choose. An encoded ID has 16 characters.
//!
//! ```text
//! 39 timestamp, 4 ms units since 2010 | 1 tick-tock | 8 metabyte | 16 partition | 16 sequence        (big-endian)
//! ```
//!
//! Bytes, strings and creation times sort in the same order. The partition is the worker ID of the generator. The format is
//! compatible with sno 1.2.1, a Go library.

mod builder;
mod claims;
pub(crate) mod columns;
mod convert;
mod database;
pub(crate) mod fill;
mod generator;
mod handle;
mod id;
mod identity;
#[cfg(feature = "serde")]
pub mod json_null;
#[cfg(feature = "serde")]
mod kinds;
mod metabyte;
mod pack;
mod partition;
#[cfg(feature = "serde")]
mod serde;
mod slice_bytes;
mod snapshot;
mod text;
mod typed;
mod uuid8;

pub use builder::Builder;
pub use columns::{metabyte_column, partition_column, sequence_column, unix_ms_column};
pub use generator::Generator;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use generator::Leased;
#[cfg(feature = "std")]
pub use generator::generate;
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub use generator::{install, set_granted};
pub use handle::Handle;
pub use id::{Parts, Sno};
pub use identity::Assignment;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use kinds::deserialize as deserialize_by_metabyte;
#[cfg(feature = "serde")]
pub use kinds::{ByMetabyte, ReadError};
pub use metabyte::metabyte;
pub use snapshot::{Snapshot, Stats};
pub use text::{decode_slice, encode_slice};
pub use typed::{Id, Kind};
pub use uuid8::{from_uuid8_column, uuid8_column};

#[cfg(feature = "serde")]
#[doc(inline)]
pub use crate::__by_metabyte as by_metabyte;
use crate::format::{DescriptionInputs, FieldDescription, Scale};

/// The format's time scale: a 39-bit number of 4 ms ticks since 2010-01-01T00:00:00Z. Its last tick starts at
/// 2079-09-07T15:47:35.548Z.
const SCALE: Scale = Scale { epoch_ms: 1_262_304_000_000, tick_ms: 4, last: (1 << 39) - 1 };

/// Returns the format's size, fields, rate and time span.
///
/// ```
/// let figures = polyflake::sno::describe();
/// assert_eq!(figures.bits, 80);
/// assert_eq!(figures.per_second, Some(16_384_000));
/// assert_eq!(figures.per_second_in_all, Some(16_384_000 * 65_536));
/// assert_eq!(figures.last_ms, Some(3_461_327_255_548));
/// ```
pub const fn describe() -> crate::format::Description {
    const BITS: u32 = 80;
    const DESCRIPTION_INPUTS: DescriptionInputs = DescriptionInputs {
        bits: BITS,
        fields: &[
            FieldDescription::from_span("timestamp", "timestamp", id::FIELDS[0], BITS),
            FieldDescription::from_span("tick_tock", "bindable", id::FIELDS[1], BITS),
            FieldDescription::from_span("metabyte", "bindable", id::FIELDS[2], BITS),
            FieldDescription::from_span("partition", "bindable", id::FIELDS[3], BITS),
            FieldDescription::from_span("sequence", "sequence", id::FIELDS[4], BITS),
        ],
        scale: SCALE,
        per_tick: 1 << 16,
        generators: 1 << 16,
        sorts_by_time: true,
    };
    DESCRIPTION_INPUTS.describe()
}
