//! The likelihood of a reading, measured as the number of bits that are needed to describe an ID to someone who knows its
//! format. The shortest description is the most likely one, and each bit saved doubles the likelihood.
//!
//! # Why descriptions
//!
//! Most strings are valid in several formats. For example, each 64-bit integer is an ID in every snowflake format, so no
//! rule based on length or prefix can distinguish them. What differs is how remarkable the ID would be. In one format, the
//! bits may represent a time last year, worker 1 and sequence 7. In another format, they may represent a time in 2090 and
//! machine 51,234.
//!
//! The length of a description measures how remarkable the ID is. A good code has short words for typical values: a value
//! with probability p needs -log2(p) bits. Costs in bits are added where probabilities would be multiplied, so one scale
//! serves all formats:
//!
//! ```text
//! cost of a reading = rarity of the format + time + the other fields
//!
//! rarity        0 for version 4 UUIDs, and 1 more for each halving of a format's frequency
//! time          log2(age in ticks) + log2(number of times that the longest age can be halved) + log2(growth since then)
//!               or, if the time is impossible: all bits, and 16 more for an error in the ID
//! small values  log2(value) + log2(number of powers of two up to it), or all bits of the field; 1 bit says which
//! usual values  log2(how many values are usual), or all bits of the field; 1 bit says which
//! first, last   17 for the time and all other fields, because libraries define these two IDs as constants
//! random bits   all bits of the field
//! fixed bits    0, because an ID with other bits would not be in this format
//! ```
//!
//! The probability of a reading is 2^-cost, divided by the sum over all readings. One term of the sum is never shown. It
//! represents the possibility that the string has no format of the table: it is random, or a snowflake with an unknown
//! epoch. Without this term, the only format that matches the form would always get nearly all of the probability, however
//! rare it is. The term depends on the string alone. Its length, its alphabet and its digits are what all formats must
//! explain, so a further format in the table never makes the other formats more or less likely to be unknown.
//!
//! `tests/odds.rs` checks that the odds are right: of all readings with odds of 90 %, nine in ten must be correct.

use core::ops::{Add, Sub};

use alloc::{format, vec::Vec};

use crate::reading::{Field, Origin, Reading, Role, Time};

/// The rarity of strings without a format.
const RANDOM_COST: Cost = Cost::bits(8);
/// The rarity of strings and integers that are chosen for their simplicity.
const PLACEHOLDER_RARITY: Cost = Cost::bits(14);
/// The cost of the statement that a random field contains a small number instead. Examples and tests often do.
const PLACEHOLDER_COST: Cost = Cost::bits(16);
/// The cost of the time and the other fields of the first or the last ID of a format, whose bits are all 0 or all 1.
const CONSTANT_COST: Cost = Cost::bits(17);
/// The minimum length of a string of one repeated character that is considered a placeholder and not a number or a word.
const MIN_REPEATED_LEN: usize = 16;
/// The cost of an ID in the address of a service to which it does not belong.
const OTHER_SERVICE_COST: Cost = Cost::bits(20);
/// The maximum advantage of one reading over another if the two readings differ only in their time. The popularity of the
/// formats and their typical field values can make one reading at most twice as likely as the other.
const MAX_ADVANTAGE: Cost = Cost::bits(1);

/// A cost in sixteenths of a bit. Each additional bit halves the probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost(u32);

impl Add for Cost {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl Sub for Cost {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        Self(self.0.saturating_sub(less.0))
    }
}

/// The cost of a reading, broken down by part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CostBreakdown {
    pub(crate) rarity: Cost,
    /// The cost of all fields except the time.
    pub(crate) fields: Cost,
    pub(crate) time: Cost,
    /// The cost of a form in which IDs of the format are written less often than in its usual form.
    pub(crate) form: Cost,
    /// Whether the reading has a time at which IDs of the format were generated.
    pub(crate) has_usual_time: bool,
    /// Whether the reading has a time at which no IDs of the format were generated.
    pub(crate) has_unusual_time: bool,
}

impl CostBreakdown {
    fn total(&self) -> Cost {
        self.rarity + self.fields + self.time + self.form
    }
}

impl Cost {
    pub(crate) const fn bits(bits: u32) -> Self {
        Self(bits * 16)
    }

    /// Returns the binary logarithm of a positive number, interpolated linearly between powers of two.
    fn log2(number: u128) -> Self {
        let whole = number.ilog2();
        let part = if whole >= 4 { number >> (whole - 4) } else { number << (4 - whole) };
        Self::bits(whole) + Self((part & 15) as u32)
    }
}

/// Returns the cost of a random string that belongs to no format. The string may have any length. Either all of its
/// characters belong to a single class, or the last hyphen or underscore divides the string into two parts, each with its
/// own class. Random strings are rarely passed to the inspector, so they are considered as rare as the rarest formats.
fn random_text_cost(text: &str) -> Cost {
    let split =
        text.rfind(['_', '-']).filter(|at| *at > 0).map(|at| (&text[..at], &text[at + 1..]));
    let halves =
        split.map(|(one, two)| characters_cost(one) + characters_cost(two) + Cost::bits(6));
    let whole = characters_cost(text);
    let random = RANDOM_COST + halves.map_or(whole, |halves| halves.min(whole));
    repeated_character_cost(text).map_or(random, |repeated| repeated.min(random))
}

/// Returns the cost of a string that repeats one character, which is stated once. Returns `None` for other strings.
fn repeated_character_cost(text: &str) -> Option<Cost> {
    let first = text.get(..1).filter(|_| text.len() >= MIN_REPEATED_LEN)?;
    let is_repeated = text.bytes().all(|character| first.as_bytes() == [character]);
    let length = Cost::log2(u128::try_from(text.len()).ok()?);
    is_repeated.then(|| PLACEHOLDER_RARITY + characters_cost(first) + length)
}

/// Returns the cost of a string's characters. Each character could be any member of the smallest character class that
/// contains all characters of the string.
fn characters_cost(text: &str) -> Cost {
    let all = |of: fn(&u8) -> bool| text.bytes().all(|character| of(&character));
    let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
    let is_word = all(u8::is_ascii_alphabetic) && (capitals <= text.len() / 5);
    let is_phrase = all(|c| c.is_ascii_lowercase() || matches!(c, b'-' | b'_'));
    let values = if all(u8::is_ascii_digit) {
        10
    } else if all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
        || all(|c| matches!(c, b'0'..=b'9' | b'A'..=b'F'))
    {
        16
    } else if is_word || is_phrase {
        // A string of letters with few capitals consists of words, whose letters have little information.
        16
    } else if all(|c| matches!(c, b'2'..=b'7' | b'a'..=b'z'))
        || all(|c| matches!(c, b'2'..=b'7' | b'A'..=b'Z'))
    {
        32
    } else if all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'z'))
        || all(|c| matches!(c, b'0'..=b'9' | b'A'..=b'Z'))
    {
        36
    } else if all(u8::is_ascii_alphanumeric) {
        62
    } else if all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_')) {
        64
    } else {
        96
    };
    text.bytes().fold(Cost::bits(0), |cost, _| cost + Cost::log2(values))
}

/// Returns the cost of reading a 64-bit integer as a snowflake whose format is not in the table: a time with an unknown
/// epoch, a node and a sequence.
fn other_snowflake_cost(id: u64) -> Cost {
    let field = |bits: u32, value: u64| small_value_cost(value.into(), Cost::bits(bits));
    Cost::bits(9 + 41) + field(10, id >> 12 & 0x3ff) + field(12, id & 0xfff)
}

/// Returns the cost of the possibility that a string has no known format. It depends on the string alone.
pub(crate) fn unknown_cost(text: &str, integer: Option<u64>) -> Cost {
    let random = random_text_cost(text);
    integer.map_or(random, |integer| {
        random.min(other_snowflake_cost(integer)).min(round_number_cost(integer))
    })
}

/// Returns the cost of reading an integer as a small number, multiplied by a power of two. Such limits and examples of
/// integers are rarer than strings without a format.
fn round_number_cost(number: u64) -> Cost {
    let zeros = number.trailing_zeros();
    let small = u128::from(number.checked_shr(zeros).unwrap_or(0));
    PLACEHOLDER_RARITY + small_value_cost(small, Cost::bits(64)) + Cost::log2(u128::from(u64::BITS))
}

/// Returns the cost of the possibility that bytes have no known format.
pub(crate) fn unknown_bytes_cost(bytes: &[u8], integer: Option<u64>) -> Cost {
    let random = bytes.iter().fold(RANDOM_COST, |cost, _| cost + Cost::bits(8));
    integer.map_or(random, |integer| {
        random.min(unknown_cost(&alloc::string::ToString::to_string(&integer), Some(integer)))
    })
}

/// Raises the costs of all readings except the one in the given format, because the address in which the ID was found names
/// its service. Returns the amount, which also applies to unknown formats. If the time is impossible in the format, the
/// number in the address is something else, and all costs remain.
pub(crate) fn prefer_format(readings: &mut [Reading], format: &str) -> Cost {
    let fits = |reading: &Reading| reading.format == format && reading.account.has_usual_time;
    if !readings.iter().any(fits) {
        return Cost::bits(0);
    }
    for reading in readings.iter_mut().filter(|reading| reading.format != format) {
        reading.account.form = reading.account.form + OTHER_SERVICE_COST;
    }
    OTHER_SERVICE_COST
}

/// Returns the cost of a value that is small in half of all cases and arbitrary in the other half. Among small values, each
/// power-of-two range is equally likely.
fn small_value_cost(value: u128, all: Cost) -> Cost {
    let number = value.saturating_add(1);
    let small = Cost::log2(number) + Cost::log2(u128::from(number.ilog2()) + 1);
    small.min(all) + Cost::bits(1)
}

/// Lowers the cost of the first and the last ID of a format if their time is unusual.
pub(crate) fn recognize_constant(reading: &mut Reading) {
    let fields = reading.fields.iter().filter(|field| field.role != Role::Fixed);
    let mut bits = fields.flat_map(|field| field.offset..field.offset + field.bits);
    let first = bits.next().is_some_and(|at| reading.bit(at));
    if reading.account.has_unusual_time && bits.all(|at| reading.bit(at) == first) {
        (reading.account.time, reading.account.fields) = (Cost::bits(0), CONSTANT_COST);
    }
}

/// Returns the additional cost of a large count. Things are counted one by one, so counts above 2^30 are rare, and each
/// further doubling is half as likely.
pub(crate) fn large_count_cost(reading: &Reading) -> Cost {
    let is_count = |field: &&Field| field.role == Role::Sequence && field.bits > 32;
    let count = reading.fields.iter().find(is_count).and_then(|field| field.value);
    count.map_or(Cost::bits(0), |count| Cost::log2(count.max(1)) - Cost::bits(30))
}

/// Returns the cost of a field other than the time.
pub(crate) fn field_cost(field: &Field, usual: Option<&[u64]>) -> Cost {
    let all = Cost::bits(field.bits);
    match (field.role, usual) {
        (_, Some([])) => all,
        (_, Some(values)) => {
            let is_usual = |value| values.iter().any(|of| u128::from(*of) == value);
            let one_in = values.iter().fold(0, |count, _| count + 1);
            let cost = if field.value.is_some_and(is_usual) { Cost::log2(one_in) } else { all };
            cost + Cost::bits(1)
        }
        (role, _) => role_cost(role, field.value, all),
    }
}

fn role_cost(role: Role, value: Option<u128>, all: Cost) -> Cost {
    match role {
        Role::Fixed | Role::Time => Cost::bits(0),
        Role::Random => {
            value.map_or(all, |value| all.min(small_value_cost(value, all) + PLACEHOLDER_COST))
        }
        Role::Hash | Role::Encrypted => all,
        Role::TypeTag
        | Role::ShardKey
        | Role::KeyVersion
        | Role::WorkerId
        | Role::Sequence
        | Role::TickTock => value.map_or(all, |value| small_value_cost(value, all)),
    }
}

/// Returns the cost of the time. Recent times are more likely for two reasons: each doubling of the age is equally likely,
/// and systems generate more IDs as they grow. For an impossible time, the cost is the full number of bits, plus the cost
/// of an error in the ID.
pub(crate) fn time_cost(time: &Time, now_ms: i64) -> Cost {
    const HOUR_MS: i64 = 3_600_000;
    const TYPO_COST: Cost = Cost::bits(12);
    match time.unix_ms {
        Some(ms) if time.is_likely(now_ms) => {
            let age = u128::from(
                now_ms.saturating_sub(ms).max(0).saturating_add(HOUR_MS).cast_unsigned(),
            );
            let ticks = age * 1_000_000 / u128::from(time.scale.tick_nanos);
            let span = now_ms.saturating_sub(time.scale.first_ms).max(HOUR_MS) / HOUR_MS;
            let doublings = u128::from(span.cast_unsigned().ilog2()) + 1;
            let grown = now_ms.saturating_sub(time.scale.first_ms).max(HOUR_MS)
                / ms.saturating_sub(time.scale.first_ms).max(30 * 24 * HOUR_MS);
            let grown = Cost::log2(u128::from(grown.max(1).cast_unsigned()));
            Cost::log2(ticks.max(1)) + Cost::log2(doublings) + grown
        }
        _ => Cost::bits(time.bits) + TYPO_COST,
    }
}

/// Sorts readings by their costs, and calculates the probability of each reading. The cost `unknown` is that of the
/// possibility that none of the readings is correct.
pub(crate) fn rank_readings(readings: &mut Vec<Reading>, unknown: Cost) {
    merge_indistinguishable(readings);
    rank_unusual_times_last(readings);
    readings.sort_by_key(|reading| reading.account.total());
    let least = readings.iter().map(|reading| reading.account.total()).fold(unknown, Cost::min);
    let sum: f64 =
        readings.iter().map(|reading| relative_weight(reading.account.total(), least)).sum();
    let all = sum + relative_weight(unknown, least);
    for reading in readings {
        reading.probability = relative_weight(reading.account.total(), least) / all;
    }
}

/// Makes each reading with an unusual time cost at least as much as the best of the other readings. If all readings have an
/// unusual time, the reason of the best one says that no other format fits.
fn rank_unusual_times_last(readings: &mut [Reading]) {
    let others = readings.iter().filter(|reading| !reading.account.has_unusual_time);
    let best = others.map(|reading| reading.account.total()).min();
    for account in readings.iter_mut().map(|reading| &mut reading.account) {
        if let Some(best) = best.filter(|_| account.has_unusual_time) {
            account.time = account.time + (best + Cost(1) - account.total());
        }
    }
    if best.is_none()
        && let Some(first) = readings.iter_mut().min_by_key(|reading| reading.account.total())
    {
        first.reason =
            format!("it fits only {}, with an unusual time: {}", first.title, first.reason);
    }
}

/// Finds pairs of readings that differ only in their time, if both formats are in the table and both times are likely. For
/// such readings, the age is ignored, other evidence has little weight, and each reading gets a note about the other
/// format.
fn merge_indistinguishable(readings: &mut [Reading]) {
    for at in 1..readings.len() {
        let (before, rest) = readings.split_at_mut(at);
        let reading = &mut rest[0];
        for other in before {
            if !differs_only_in_time(other, reading) {
                continue;
            }
            let (one, two) = (&mut other.account, &mut reading.account);
            one.time = one.time.min(two.time);
            two.time = one.time;
            let most = (one.rarity + one.fields).min(two.rarity + two.fields) + MAX_ADVANTAGE;
            for account in [one, two] {
                let cost = (account.rarity + account.fields).min(most);
                (account.rarity, account.fields) =
                    (account.rarity.min(cost), cost - account.rarity);
            }
            (other.note, reading.note) = (Some(reading.to_note()), Some(other.to_note()));
        }
    }
}

/// Returns whether both readings are likely, use formats from the table, and have the same fields at the same positions,
/// apart from the time.
fn differs_only_in_time(one: &Reading, other: &Reading) -> bool {
    let of_table = |reading: &Reading| reading.origin == Origin::Table && reading.unix_ms.is_some();
    let is_rest = |field: &&Field| !matches!(field.role, Role::Time | Role::Fixed);
    let rest = |reading: &Reading| {
        let fields = reading.fields.iter().filter(is_rest);
        fields.map(|field| (field.role, field.offset, field.bits)).collect::<Vec<_>>()
    };
    [one, other].into_iter().all(|it| of_table(it) && it.account.has_usual_time)
        && one.bits == other.bits
        && rest(one) == rest(other)
}

/// Returns the weight of a cost relative to the lowest cost, which has the weight 1. Each additional bit halves the weight.
fn relative_weight(cost: Cost, least: Cost) -> f64 {
    let more = cost.0 - least.0;
    let halved = 2.0 - f64::from(more % 16) / 16.0;
    (0..more / 16).take(1100).fold(halved / 2.0, |weight, _| weight / 2.0)
}
