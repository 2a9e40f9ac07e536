//! Version 7 UUIDs (RFC 9562) that stay sorted across threads, within a millisecond and when the clock moves backwards.
//!
//! ```text
//! 48 Unix milliseconds | 4 version 7 | 12 sequence | 2 variant 10 | 6 sequence | 56 random
//! ```
//!
//! With an explicit worker ID or a lease, 16 of the random bits are the worker ID:
//!
//! ```text
//! 48 Unix milliseconds | 4 version 7 | 12 sequence | 2 variant 10 | 6 sequence | 16 worker ID | 40 random
//! ```
//!
//! - The 18-bit sequence starts at a random value in the lower half of its range in each millisecond, and increases by one
//!   with each ID (RFC 9562, section 6.2, method 1). Therefore, a call that begins after another call has returned gets a
//!   greater ID.
//! - The random bits come from `ChaCha8`, which is keyed by the operating system's random source in each millisecond.
//! - The time in an ID is never later than the latest reading of the clock. After a clock rollback, the generator uses up
//!   its last millisecond, and then waits for the clock.
//!
//! The module does not exist on x86 targets without SSE2, such as `x86_64-unknown-none`.
//!
//! The bytes of an ID have the same order as the digits of its string, so bytes, strings and [`Uuid7`]s sort in the same
//! order.

mod builder;
#[cfg(all(test, unix, not(any(loom, shuttle, miri))))]
mod copies;
mod database;
mod family;
mod generator;
mod handle;
mod id;
mod pack;
#[cfg(feature = "serde")]
mod serde;
mod stream;
mod text;

pub use builder::Builder;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use generator::Leased;
pub use generator::{Generator, Stats};
#[cfg(feature = "std")]
pub use generator::{generate, generate_at};
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub use generator::{install, set_granted};
pub use handle::Handle;
pub use id::{Parts, Uuid7, worker_id};

use crate::{
    format::{DescriptionInputs, FieldDescription, Scale, Span},
    narrow,
};

/// The positions of the fields, in the order of the string.
const FIELDS: [Span; 6] = Span::split([48, 4, 12, 2, 6, 56]);
const TIMESTAMP: Span = FIELDS[0];
const VERSION: Span = FIELDS[1];
const SEQUENCE_HIGH: Span = FIELDS[2];
const VARIANT: Span = FIELDS[3];
const SEQUENCE_LOW: Span = FIELDS[4];
const RANDOM: Span = FIELDS[5];

/// The position of the worker ID within the random bits. The worker ID is not at the end, because some programs truncate
/// UUIDs to their last characters, or choose shards by those characters.
const WORKER_ID: Span = Span::split([16, 40])[0];

/// The format's time scale: a 48-bit Unix timestamp in milliseconds.
const SCALE: Scale = Scale { epoch_ms: 0, tick_ms: 1, last: TIMESTAMP.max() };

/// The format's last millisecond, which is in the year 10889, as a Unix timestamp in milliseconds.
pub const LAST_MS: i64 = TIMESTAMP.max().cast_signed();

/// The maximum value of the sequence.
pub const LAST_SEQUENCE: u32 =
    narrow::u32(SEQUENCE_HIGH.max() << SEQUENCE_LOW.bits() | SEQUENCE_LOW.max());

/// Returns the format's size, fields, rate and time span. The fields are in the same order as in the string form.
///
/// A generator starts the sequence of each millisecond at a random value, so it can generate at least half as many IDs per
/// second as `per_second` states. `per_second_in_all` applies to generators with worker IDs.
///
/// ```
/// let figures = polyflake::uuid7::describe();
/// assert_eq!(figures.bits, 128);
/// assert_eq!(figures.per_second, Some(262_144_000));
/// assert_eq!(figures.last_ms, Some(281_474_976_710_655));
/// assert!(figures.sorts_by_time);
/// ```
pub const fn describe() -> crate::format::Description {
    const BITS: u32 = 128;
    const DESCRIPTION_INPUTS: DescriptionInputs = DescriptionInputs {
        bits: BITS,
        fields: &[
            FieldDescription::from_span("timestamp", "timestamp", TIMESTAMP, BITS),
            FieldDescription::from_span("version", "constant", VERSION, BITS),
            FieldDescription::from_span("sequence_high", "sequence", SEQUENCE_HIGH, BITS),
            FieldDescription::from_span("variant", "constant", VARIANT, BITS),
            FieldDescription::from_span("sequence_low", "sequence", SEQUENCE_LOW, BITS),
            FieldDescription::from_span("random", "random", RANDOM, BITS),
        ],
        scale: SCALE,
        per_tick: LAST_SEQUENCE as u64 + 1,
        generators: WORKER_ID.max() as u128 + 1,
        sorts_by_time: true,
    };
    DESCRIPTION_INPUTS.describe()
}
