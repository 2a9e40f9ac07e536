//! The likelihood of a reading: the number of bits needed to describe an ID to somebody who knows its format. The shortest account is
//! the likeliest, and each bit less is twice as likely.

use core::ops::Add;

use alloc::vec::Vec;

use crate::reading::{Field, Reading, Role, Time};

/// Sixteenths of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost(u32);

impl Add for Cost {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl Cost {
    pub(crate) const fn bits(bits: u32) -> Self {
        Self(bits * 16)
    }

    /// The binary logarithm of a number above 0, straight between powers of two.
    fn of_one_in(number: u128) -> Self {
        let whole = number.ilog2();
        let part = if whole >= 4 { number >> (whole - 4) } else { number << (4 - whole) };
        Self::bits(whole) + Self((part & 15) as u32)
    }
}

/// A text of one of these characters at each place, of any length.
pub(crate) fn random_text(text: &str) -> Cost {
    let all = |of: fn(&u8) -> bool| text.bytes().all(|character| of(&character));
    let characters = if all(u8::is_ascii_digit) {
        10
    } else if all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
        || all(|c| matches!(c, b'0'..=b'9' | b'A'..=b'F'))
    {
        16
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
    // Nobody expects any text: as seldom as the rarest formats.
    text.bytes().fold(Cost::bits(10), |cost, _| cost + Cost::of_one_in(characters))
}

/// A field's bits, apart from the time.
pub(crate) fn field(field: &Field) -> Cost {
    let all = Cost::bits(field.bits);
    match field.role {
        Role::Fixed | Role::Time => Cost::bits(0),
        // Wide numbers of makers are addresses or drawn.
        Role::Maker if field.bits >= 16 => all,
        Role::Random | Role::Encrypted => all,
        // Half of them small, where each doubling is as likely as the one before; half of them anything.
        Role::Kind | Role::Maker | Role::Sequence => {
            let Some(value) = field.value else { return all };
            let number = value.saturating_add(1);
            let small = Cost::of_one_in(number) + Cost::of_one_in(u128::from(number.ilog2()) + 1);
            small.min(all) + Cost::bits(1)
        }
    }
}

/// The time: the younger the likelier, each doubling of the age as the one before, and the likelier the more the system had
/// grown. A time that cannot be is told whole.
pub(crate) fn time(time: &Time, now_ms: i64) -> Cost {
    const HOUR: i64 = 3_600_000;
    const MISTAKE: Cost = Cost::bits(16);
    match time.unix_ms {
        Some(ms) if time.is_likely(now_ms) => {
            let age =
                u128::from(now_ms.saturating_sub(ms).max(0).saturating_add(HOUR).cast_unsigned());
            let ticks = age * 1_000_000 / u128::from(time.scale.tick_nanos);
            let span = now_ms.saturating_sub(time.scale.used.0).max(HOUR) / HOUR;
            let doublings = u128::from(span.cast_unsigned().ilog2()) + 1;
            let grown = now_ms.saturating_sub(time.scale.used.0).max(HOUR)
                / ms.saturating_sub(time.scale.used.0).max(30 * 24 * HOUR);
            let grown = Cost::of_one_in(u128::from(grown.max(1).cast_unsigned()));
            Cost::of_one_in(ticks.max(1)) + Cost::of_one_in(doublings) + grown
        }
        _ => Cost::bits(time.bits) + MISTAKE,
    }
}

/// Sorts readings by what they cost, and gives each its odds beside the others and `random`.
pub(crate) fn rank(readings: &mut Vec<Reading>, random: Cost) {
    readings.sort_by_key(|reading| reading.cost);
    let least = readings.iter().map(|reading| reading.cost).fold(random, Cost::min);
    let sum: f64 = readings.iter().map(|reading| weight(reading.cost, least)).sum();
    let all = sum + weight(random, least);
    for reading in readings {
        reading.odds = weight(reading.cost, least) / all;
    }
}

/// 1 for the least cost, half of it for each bit more.
fn weight(cost: Cost, least: Cost) -> f64 {
    let more = cost.0 - least.0;
    let halved = 2.0 - f64::from(more % 16) / 16.0;
    (0..more / 16).take(1100).fold(halved / 2.0, |weight, _| weight / 2.0)
}
