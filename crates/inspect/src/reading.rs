//! Interprets the bits of an ID according to one format.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String, vec::Vec};

use crate::{
    bits::{self, Bits},
    formats::{CHECKED_BY_DECODER, Format, Scale, UNKNOWN_VERSION, VARIANT, VERSION},
    odds::{self, Cost, CostBreakdown},
    words,
};

/// An ID, interpreted according to one format.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The format's short, stable name, for example `uuid7` or `discord`.
    pub format: String,
    /// The format's human-readable name, for example `UUID v7` or `Discord snowflake`.
    pub title: String,
    /// The ID's bits as big-endian bytes, padded with leading zeros to whole bytes. If the ID is a Randflake and its secret
    /// is known, these are the decrypted bits.
    pub bytes: Box<[u8]>,
    /// The number of bits.
    pub bits: u32,
    /// The fields, starting with the most significant one.
    pub fields: Vec<Field>,
    /// The time in Unix milliseconds, rounded down. `None` if the format has no time, or if the time does not fit in 64
    /// bits.
    pub unix_ms: Option<i64>,
    /// The probability, from 0 to 1, that this reading is correct. The alternatives are the other readings, and the
    /// possibility that the string is random.
    pub probability: f64,
    /// An explanation, in words, of why the reading is likely or unlikely.
    pub reason: String,
    /// A sentence about a different format with the same bits, if such a format exists.
    pub note: Option<String>,
    pub(crate) account: CostBreakdown,
    pub(crate) origin: Origin,
}

/// The origin of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A format that this project defines.
    Ours,
    /// A format from this crate's table.
    Table,
    /// A layout that the user provided.
    Reader,
    /// A snowflake with an epoch that the user provided.
    Epoch,
}

/// A field of a [`Reading`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name in its format.
    pub name: String,
    /// The field's purpose.
    pub role: Role,
    /// The position of the first bit, counted from the most significant one.
    pub offset: u32,
    /// The number of bits.
    pub bits: u32,
    /// The field's bits as an integer, or `None` if the field has more than 128 bits. Use [`Reading::bit`] to read the bits
    /// of such a field.
    pub value: Option<u128>,
}

/// A field's purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The same bits in every ID: a version, a variant, or unused bits.
    Fixed,
    /// The time, or a part of it.
    Time,
    /// The type of the object that the ID identifies, for example a sno's metabyte.
    TypeTag,
    /// The shard that stores the object.
    ShardKey,
    /// The version of the key that encrypted the ID.
    KeyVersion,
    /// The worker ID, which identifies the ID's generator: a partition, a node ID, or a machine field.
    WorkerId,
    /// A sequence number that distinguishes IDs that were generated at the same time.
    Sequence,
    /// The bit of a sno that changes when the clock moves backwards.
    TickTock,
    /// Random bits.
    Random,
    /// The bits of a hash.
    Hash,
    /// Bits that can only be decrypted with a secret.
    Encrypted,
}

/// How likely it is that a reading is correct, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A probability below 50%.
    Possible,
    /// A probability of at least 50%.
    Likely,
    /// A probability of at least 95%.
    Certain,
}

impl Confidence {
    /// Returns the word: `possible`, `likely` or `certain`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

impl Role {
    /// Returns the role's stable name, for example `worker_id`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Time => "time",
            Self::TypeTag => "type_tag",
            Self::ShardKey => "shard_key",
            Self::KeyVersion => "key_version",
            Self::WorkerId => "worker_id",
            Self::Sequence => "sequence",
            Self::TickTock => "tick_tock",
            Self::Random => "random",
            Self::Hash => "hash",
            Self::Encrypted => "encrypted",
        }
    }

    /// Returns the role in words, for example `worker ID`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::TypeTag => "type tag",
            Self::ShardKey => "shard key",
            Self::KeyVersion => "key version",
            Self::WorkerId => "worker ID",
            Self::TickTock => "tick-tock bit",
            other => other.as_str(),
        }
    }
}

impl Reading {
    /// Interprets bits according to a format. Returns `None` if the bits differ from the format's fixed bits.
    pub(crate) fn from_bits(format: &Format, bits: &Bits, form: Cost, now_ms: i64) -> Option<Self> {
        let mut fields = Vec::with_capacity(format.parts.len());
        let (mut offset, mut ticks, mut cost) = (0, 0, Cost::bits(0));
        for part in format.parts {
            let is_number = part.bits <= 128;
            let mut value = if is_number { bits.field(offset, part.bits) } else { 0 };
            match part.role {
                _ if part.name == UNKNOWN_VERSION && (1..=8).contains(&value) => return None,
                Role::Fixed if part.value == CHECKED_BY_DECODER => {}
                Role::Fixed if value != u128::from(part.value) => return None,
                Role::Time => ticks |= value << part.value,
                Role::Fixed => {}
                _ if part.value == 1 => value = value.swap_bytes() >> (128 - part.bits),
                _ => {}
            }
            let (name, role) = (part.name.to_owned(), part.role);
            let field =
                Field { name, role, offset, bits: part.bits, value: is_number.then_some(value) };
            cost = cost + odds::field_cost(&field, part.usual);
            if part.role == Role::Time && format.scale.is_none() {
                cost = cost + Cost::bits(part.bits);
            }
            fields.push(field);
            offset += part.bits;
        }
        let time = format.scale.map(|scale| Time::from_ticks(scale, ticks, &fields));
        let origin = if format.is_ours { Origin::Ours } else { Origin::Table };
        let named =
            FormatName { name: format.name, title: format.title, rarity: format.rarity, origin };
        let mut reading = Self::new(named, bits, fields, cost, time, now_ms);
        reading.account.form = form;
        reading.account.fields = reading.account.fields + odds::large_count_cost(&reading);
        odds::recognize_constant(&mut reading);
        Some(reading)
    }

    /// Creates a reading and calculates the costs of its parts.
    pub(crate) fn new(
        named: FormatName<'_>,
        bits: &Bits,
        fields: Vec<Field>,
        cost: Cost,
        time: Option<Time>,
        now_ms: i64,
    ) -> Self {
        let account = CostBreakdown {
            rarity: Cost::bits(named.rarity),
            fields: cost,
            time: time.map_or(Cost::bits(0), |time| odds::time_cost(&time, now_ms)),
            form: Cost::bits(0),
            has_usual_time: time.is_some_and(|time| time.is_likely(now_ms)),
            has_unusual_time: time.is_some_and(|time| !time.is_likely(now_ms)),
        };
        Self {
            format: named.name.to_owned(),
            title: named.title.to_owned(),
            bytes: bits.as_bytes().into(),
            bits: bits.len,
            unix_ms: time.and_then(|time| time.unix_ms),
            reason: reason(time.as_ref(), &fields, named.origin, now_ms),
            fields,
            probability: 0.0,
            note: None,
            account,
            origin: named.origin,
        }
    }

    /// Returns a note about this reading, for display with a different reading of the same bits.
    pub(crate) fn to_note(&self) -> String {
        let at = self.time().unwrap_or_default();
        let (article, title) = (words::article(self), &self.title);
        format!(
            "It may also be {article}{title} of {at}, which has the same bits: only the source of the ID can tell."
        )
    }

    /// Returns the probability in words.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        match self.probability {
            probability if probability >= 0.95 => Confidence::Certain,
            probability if probability >= 0.5 => Confidence::Likely,
            _ => Confidence::Possible,
        }
    }

    /// Returns the bit at position `at`, counted from the most significant bit.
    ///
    /// # Panics
    /// Panics if the ID does not have more than `at` bits.
    #[must_use]
    pub fn bit(&self, at: u32) -> bool {
        assert!(at < self.bits, "an ID of {} bits has no bit {at}", self.bits);
        bits::bit(&self.bytes, self.bits, at)
    }

    /// Returns the time in RFC 3339 format with milliseconds, for example `2026-11-23T08:28:07.000Z`. Returns `None` if
    /// there is no time, or if its year does not have four digits.
    #[must_use]
    pub fn time(&self) -> Option<String> {
        let ms = self.unix_ms?;
        let written = |ms| jiff::Timestamp::from_millisecond(ms).map(|time| format!("{time:.3}"));
        written(ms).ok().filter(|text| text.len() == "2026-11-23T08:28:07.000Z".len())
    }
}

/// A format's names and rarity.
#[derive(Clone, Copy)]
pub(crate) struct FormatName<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) rarity: u32,
    pub(crate) origin: Origin,
}

/// The time of a reading.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    pub(crate) scale: Scale,
    /// The number of bits in the time field.
    pub(crate) bits: u32,
    pub(crate) unix_ms: Option<i64>,
}

impl Time {
    fn from_ticks(scale: Scale, ticks: u128, fields: &[Field]) -> Self {
        let bits = fields.iter().filter(|field| field.role == Role::Time).map(|field| field.bits);
        let ms = ticks.checked_mul(u128::from(scale.tick_nanos)).map(|nanos| nanos / 1_000_000);
        let ms = ms.and_then(|ms| i64::try_from(ms).ok());
        let unix_ms = ms.and_then(|ms| ms.checked_add(scale.epoch_ms));
        Self { scale, bits: bits.sum(), unix_ms }
    }

    /// Returns `true` if IDs with this time could already have been generated. A tolerance of one day allows for incorrect
    /// clocks.
    pub(crate) fn is_likely(&self, now_ms: i64) -> bool {
        let end = now_ms.saturating_add(DAY_MS);
        self.unix_ms.is_some_and(|ms| (self.scale.first_ms..=end).contains(&ms))
    }
}

const DAY_MS: i64 = 86_400_000;

/// Returns an explanation of why a reading is likely or unlikely.
fn reason(time: Option<&Time>, fields: &[Field], origin: Origin, now_ms: i64) -> String {
    let Some(time) = time else { return missing_time_reason(fields, origin).to_owned() };
    let Some(ms) = time.unix_ms else { return "its time is past all calendars".to_owned() };
    let Ok(at) = jiff::Timestamp::from_millisecond(ms) else {
        return "its time is past all calendars".to_owned();
    };
    let year = jiff::tz::TimeZone::UTC.to_datetime(at).year();
    if time.is_likely(now_ms) {
        format!("made {}", format_age(now_ms.saturating_sub(ms)))
    } else if ms > now_ms {
        format!("its time would be in {year}, which is in the future")
    } else {
        format!("its time would be in {year}, before the first such ID")
    }
}

fn missing_time_reason(fields: &[Field], origin: Origin) -> &'static str {
    let all = |role| fields.iter().all(|field| field.role == role);
    let has = |name| fields.iter().any(|field| field.role == Role::Fixed && field.name == name);
    let counted = fields.iter().find(|field| field.role == Role::Sequence);
    match fields {
        _ if origin == Origin::Reader => "its bits are those of the layout",
        _ if all(Role::Fixed) && fields.iter().all(|field| field.value == Some(0)) => {
            "all its bits are 0"
        }
        _ if all(Role::Fixed) => "all its bits are 1",
        _ if has("check") => "its check character is right, which 1 in 32 is by chance",
        _ if has(VERSION) => "its version and variant bits say so",
        _ if has(VARIANT) => "its variant bits say so",
        _ if all(Role::Encrypted) => "nothing tells it from random bits without its secret",
        _ if all(Role::Hash) => "its length and its characters are all of this format's",
        _ if all(Role::Random) => "its characters are all of this format's",
        _ if counted.is_some_and(|count| count.value < Some(1 << 32)) => {
            "small numbers are mostly counted"
        }
        _ => "it is below 2^53, as counters are",
    }
}

/// Formats a duration, given in milliseconds, in words.
fn format_age(ms: i64) -> String {
    const UNITS: [(i64, &str); 5] = [
        (31_556_952_000, "year"),
        (2_629_746_000, "month"),
        (DAY_MS, "day"),
        (3_600_000, "hour"),
        (60_000, "minute"),
    ];
    match UNITS.iter().find(|(unit, _)| ms >= *unit) {
        _ if ms < 0 => "at most a day ahead of the clock".to_owned(),
        None => "less than a minute ago".to_owned(),
        Some((unit, name)) if ms / unit == 1 => {
            format!("a {name} ago").replace("a hour", "an hour")
        }
        Some((unit, name)) => format!("{} {name}s ago", ms / unit),
    }
}

#[cfg(test)]
mod tests;
