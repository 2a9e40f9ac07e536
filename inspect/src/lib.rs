#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod bits;
mod formats;
mod layouts;
mod odds;
mod picture;
mod reading;
mod suggest;
mod texts;
mod words;

use alloc::vec::Vec;

use polyflake::{layout::Layout, randflake::Codec};

use crate::reading::Origin;

#[cfg(feature = "json")]
pub use crate::words::MEMBERS;
pub use crate::{
    reading::{Field, Reading, Role},
    suggest::suggest,
    words::sentence,
};

/// The most bits that an ID has.
pub const MOST_BITS: u32 = bits::MOST;

/// Readings that are less likely are not worth a line.
const MIN_ODDS: f64 = 0.001;

/// A reader's knowledge besides the ID.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// The present in Unix milliseconds: a format whose time would be to come is unlikely.
    pub now_ms: i64,
    /// Opens IDs of Randflake.
    pub secret: Option<&'a Codec>,
    /// The reader's own layouts, each with its name. Those of more than [`MOST_BITS`] bits are left out.
    pub layouts: &'a [(&'a str, &'a Layout)],
}

/// All readings of a text, the likeliest first; empty if the text fits no format.
///
/// Spaces around the text and quotes are left out. A text of `0x` and hexadecimal digits is read by [`inspect_bytes`].
///
/// ```
/// use polyflake_inspect::{Context, inspect};
///
/// let context = Context { now_ms: 1_795_422_487_000, ..Context::default() };
/// let readings = inspect("175928847299117063", &context);
/// assert_eq!(readings[0].format, "discord");
/// assert_eq!(readings[0].time().as_deref(), Some("2016-04-30T11:18:25.796Z"));
/// ```
#[must_use]
pub fn inspect(text: &str, context: &Context<'_>) -> Vec<Reading> {
    let text = text.trim().trim_matches(['"', '\'']);
    if let Some(bytes) = text.strip_prefix("0x").and_then(texts::hex) {
        return inspect_bytes(&bytes, context);
    }
    let mut readings = texts::readings(text, context);
    layouts::of_text(text, context, &mut readings);
    let snowflake = texts::integer(text).map(odds::other_snowflake);
    let random = odds::random_text(text);
    odds::rank(&mut readings, snowflake.map_or(random, |snowflake| snowflake.min(random)));
    readings
}

/// The readings to show, the likeliest first: those of at least 0.1 %, and those of this project's own formats where no other
/// explains the text, since a valid ID of theirs is one, whatever its time. None: the text is an ID of no known format.
pub fn likely(readings: &[Reading]) -> impl Iterator<Item = &Reading> {
    let known: f64 = readings.iter().map(|reading| reading.odds).sum();
    let is_ours = move |reading: &Reading| reading.origin == Origin::Ours && known < 0.5;
    readings.iter().filter(move |reading| reading.odds >= MIN_ODDS || is_ours(reading))
}

/// All readings of an ID's bytes, big-endian, the likeliest first: 8 bytes are an integer, 16 a UUID.
///
/// ```
/// use polyflake_inspect::{Context, inspect_bytes};
///
/// let context = Context { now_ms: 1_795_422_487_000, ..Context::default() };
/// let uuid = 0x019a_1b3c_7c00_7aaa_baaa_aaaa_aaaa_aaaa_u128;
/// assert_eq!(inspect_bytes(&uuid.to_be_bytes(), &context)[0].format, "uuid-v7");
/// ```
#[must_use]
pub fn inspect_bytes(bytes: &[u8], context: &Context<'_>) -> Vec<Reading> {
    let mut readings = texts::readings_of_bytes(bytes, context);
    layouts::of_bytes(bytes, context, &mut readings);
    let random = bytes.iter().fold(odds::Cost::bits(10), |cost, _| cost + odds::Cost::bits(8));
    odds::rank(&mut readings, random);
    readings
}
