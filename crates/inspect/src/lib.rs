#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod bits;
mod formats;
mod forms;
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
pub use crate::words::{MEMBERS, answer_to_json};
pub use crate::{
    reading::{Confidence, Field, Reading, Role},
    suggest::suggest,
    words::sentence,
};

/// The maximum number of bits in an ID.
pub const MAX_BITS: u32 = bits::MAX_BITS;

/// The minimum probability of the readings that are displayed.
const MIN_ODDS: f64 = 0.001;

/// Additional information that helps to interpret an ID.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// The current time in Unix milliseconds. An interpretation with a time in the future is rated as unlikely.
    pub now_ms: i64,
    /// The secret that decrypts Randflakes.
    pub secret: Option<&'a Codec>,
    /// The epoch of the caller's own snowflakes, in Unix milliseconds.
    pub epoch_ms: Option<i64>,
    /// The caller's custom layouts, with their names. Layouts with more than [`MAX_BITS`] bits are ignored.
    pub layouts: &'a [(&'a str, &'a Layout)],
}

/// Returns all possible readings of a string, most likely first, or an empty vector if the string matches no format.
///
/// Surrounding whitespace and quotes are ignored. The string can also be hexadecimal digits after `0x` or `\\x`, which are
/// interpreted by [`inspect_bytes`], digits in groups of three, the base64 of a UUID, or an address of a page of X, Discord,
/// LinkedIn or TikTok that contains an ID of the service.
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
    if let Some(bytes) = forms::parse_prefixed_hex(text) {
        return inspect_bytes(&bytes, context);
    }
    let (service, id) = forms::parse_address(text).unzip();
    let digits = forms::remove_separators(text);
    let text = id.or(digits.as_deref()).unwrap_or(text);
    let mut readings = texts::read_text(text, context);
    layouts::read_text(text, context, &mut readings);
    let unknown = odds::unknown_cost(text, texts::parse_integer(text));
    let unknown = match service {
        Some(service) => unknown + odds::prefer_format(&mut readings, service),
        None => unknown,
    };
    odds::rank_readings(&mut readings, unknown);
    readings
}

/// Returns the names and titles of all known formats, in the order of the table.
///
/// ```
/// assert!(polyflake_inspect::formats().any(|format| format == ("ulid", "ULID")));
/// ```
pub fn formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = formats::FORMATS.iter().map(|format| (format.name, format.title));
    let mut last = "";
    all.filter(move |(name, _)| core::mem::replace(&mut last, name) != *name)
}

/// Returns the readings to display, most likely first: those with a probability of at least 0.1%. If no known format is
/// likely, all readings in this project's formats are included as well, because IDs in these formats are valid regardless
/// of their time. If the result is empty, the string is not an ID of a known format.
pub fn likely(readings: &[Reading]) -> impl Iterator<Item = &Reading> {
    let known: f64 = readings.iter().map(|reading| reading.probability).sum();
    let is_ours = move |reading: &Reading| reading.origin == Origin::Ours && known < 0.5;
    readings.iter().filter(move |reading| reading.probability >= MIN_ODDS || is_ours(reading))
}

/// Returns all possible readings of an ID's big-endian bytes, most likely first. For example, 8 bytes are interpreted as an
/// integer, and 16 bytes as a UUID.
///
/// ```
/// use polyflake_inspect::{Context, inspect_bytes};
///
/// let context = Context { now_ms: 1_795_422_487_000, ..Context::default() };
/// let uuid = 0x019a_1b3c_7c00_7aaa_baaa_aaaa_aaaa_aaaa_u128;
/// assert_eq!(inspect_bytes(&uuid.to_be_bytes(), &context)[0].format, "uuid7");
/// ```
#[must_use]
pub fn inspect_bytes(bytes: &[u8], context: &Context<'_>) -> Vec<Reading> {
    let mut readings = texts::read_bytes(bytes, context);
    layouts::read_bytes(bytes, context, &mut readings);
    let integer = bytes.try_into().map(u64::from_be_bytes).ok();
    odds::rank_readings(&mut readings, odds::unknown_bytes_cost(bytes, integer));
    readings
}
