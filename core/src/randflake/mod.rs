//! The Randflake format: 64-bit IDs that are indistinguishable from random numbers without the secret.
//!
//! ```text
//! raw: 30 timestamp | 17 node | 17 sequence        timestamp = Unix seconds - 1730000000
//! id  = SPARX-64/128 of the raw value's 8 little-endian bytes, read little-endian as a signed integer
//! ```
//!
//! The last second is 2803741823 (2058-11-05T17:10:23Z). From 2041-10-31 on, raw values use all 64 bits. The string form is
//! the unsigned value in lowercase base32hex, without padding or leading zeros. The node ID is the worker ID of the
//! generator.
//!
//! IDs are unpredictable, but they are not authenticated and do not grant access. Their sort order reveals nothing about
//! their creation times.
//!
//! The format is compatible with randflake 2.1.0.

mod builder;
mod codec;
mod convert;
mod database;
mod family;
mod generator;
mod grant;
mod handle;
mod id;
mod pack;
#[cfg(feature = "serde")]
mod serde;
mod text;

pub use builder::Builder;
pub use codec::{Codec, Parts};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use generator::Leased;
pub use generator::{Generator, Stats};
pub use grant::{Grant, GrantInfo};
pub use handle::Handle;
pub use id::Randflake;
pub use text::{SLOT, decode_column, decode_slice, encode_column, encode_slice};

use crate::{
    format::{DescriptionInputs, FieldDescription, Scale, Span},
    narrow,
};

/// The positions of the fields in the raw value.
const FIELDS: [Span; 3] = Span::split([30, 17, 17]);
const TIMESTAMP: Span = FIELDS[0];
const NODE: Span = FIELDS[1];
const SEQUENCE: Span = FIELDS[2];

/// The format's time scale: seconds since the epoch.
const SCALE: Scale = Scale { epoch_ms: EPOCH * 1000, tick_ms: 1000, last: TIMESTAMP.max() };

/// The format's first second, as a Unix timestamp: 2024-10-27T03:33:20Z.
pub const EPOCH: i64 = 1_730_000_000;

/// The format's last second, as a Unix timestamp: 2058-11-05T17:10:23Z.
pub const LAST_SECOND: i64 = EPOCH + TIMESTAMP.max().cast_signed();

/// The maximum node ID.
pub const LAST_NODE: u32 = narrow::u32(NODE.max());

/// The maximum sequence number within a second.
pub const LAST_SEQUENCE: u32 = narrow::u32(SEQUENCE.max());

/// Returns the format's size, fields, rate and time span. The fields belong to the decrypted value, which can be read only
/// with the secret.
///
/// ```
/// let figures = polyflake::randflake::describe();
/// assert_eq!(figures.bits, 64);
/// assert_eq!(figures.per_second, Some(131_072));
/// assert_eq!(figures.per_second_in_all, Some(131_072 * 131_072));
/// assert!(!figures.sorts_by_time);
/// ```
pub const fn describe() -> crate::format::Description {
    const BITS: u32 = 64;
    const DESCRIPTION_INPUTS: DescriptionInputs = DescriptionInputs {
        bits: BITS,
        fields: &[
            FieldDescription::from_span("timestamp", "timestamp", FIELDS[0], BITS),
            FieldDescription::from_span("node", "bindable", FIELDS[1], BITS),
            FieldDescription::from_span("sequence", "sequence", FIELDS[2], BITS),
        ],
        scale: SCALE,
        per_tick: SEQUENCE.max() + 1,
        generators: NODE.max() as u128 + 1,
        sorts_by_time: false,
    };
    DESCRIPTION_INPUTS.describe()
}
