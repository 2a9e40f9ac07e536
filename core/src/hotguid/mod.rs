//! The Hot Guid format: GUIDs that sort by time and contain a shard key.
//!
//! ```text
//! string order: 32 Unix seconds | 40 machine | 24 counter | 32 shard key, its bytes reversed
//! ```
//!
//! The machine field is the worker ID, which is randomly assigned. The same 16 bytes are used in three orders:
//!
//! - In the order of the string, which is also the order of RFC 9562, IDs sort by time.
//! - In the order of .NET's `Guid.ToByteArray()`, the bytes in each of the first three groups of the string are reversed.
//! - In the SQL Server order, IDs sort by time in SQL Server, because SQL Server compares the groups from the last to the
//!   first.
//!
//! The format is compatible with `HotGuid`, a C# library.

mod builder;
mod database;
mod family;
pub(crate) mod fill;
mod generator;
mod handle;
mod id;
mod pack;
#[cfg(feature = "serde")]
mod serde;
mod uuid8;

pub use builder::Builder;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use generator::Leased;
#[cfg(feature = "std")]
pub use generator::generate;
pub use generator::{Generator, Stats};
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub use generator::{install, set_granted};
pub use handle::Handle;
pub use id::{HotGuid, Parts};
pub use uuid8::Uuid8Parts;

use crate::{
    format::{DescriptionInputs, FieldDescription, Scale, Span},
    narrow,
};

/// The positions of the fields, in the same order as in the string form.
const FIELDS: [Span; 4] = Span::split([32, 40, 24, 32]);
const TIMESTAMP: Span = FIELDS[0];
const MACHINE: Span = FIELDS[1];
const COUNTER: Span = FIELDS[2];
const SHARD_KEY: Span = FIELDS[3];

/// The format's time scale: Unix seconds, stored in 32 bits.
const SCALE: Scale = Scale { epoch_ms: 0, tick_ms: 1000, last: TIMESTAMP.max() };

/// The format's last second, as a Unix timestamp: 2106-02-07T06:28:15Z.
pub const LAST_SECOND: i64 = TIMESTAMP.max().cast_signed();

/// The maximum value of the counter.
pub const LAST_COUNTER: u32 = narrow::u32(COUNTER.max());

/// Returns the format's size, fields, rate and time span. The fields are in the same order as in the string form.
///
/// ```
/// let figures = polyflake::hotguid::describe();
/// assert_eq!(figures.bits, 128);
/// assert_eq!(figures.per_second, Some(16_777_216));
/// assert_eq!(figures.last_ms, Some(4_294_967_295_000));
/// assert!(figures.sorts_by_time);
/// ```
pub const fn describe() -> crate::format::Description {
    const BITS: u32 = 128;
    const DESCRIPTION_INPUTS: DescriptionInputs = DescriptionInputs {
        bits: BITS,
        fields: &[
            FieldDescription::from_span("timestamp", "timestamp", TIMESTAMP, BITS),
            FieldDescription::from_span("machine", "bindable", MACHINE, BITS),
            FieldDescription::from_span("counter", "sequence", COUNTER, BITS),
            FieldDescription::from_span("shard_key", "bindable", SHARD_KEY, BITS),
        ],
        scale: SCALE,
        per_tick: COUNTER.max() + 1,
        generators: MACHINE.max() as u128 + 1,
        sorts_by_time: true,
    };
    DESCRIPTION_INPUTS.describe()
}
