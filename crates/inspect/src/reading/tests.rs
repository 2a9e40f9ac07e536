//! Tests the reason that is reported for a reading in each format, including formats without a time.

use crate::{
    bits::Bits,
    formats::{CHECKED_BY_DECODER, FORMATS, Format},
    odds::Cost,
    reading::{DAY_MS, Reading, Role},
};
use alloc::{string::String, vec::Vec};

/// 2026-11-23T09:00:00Z.
const NOW_MS: i64 = 1_795_424_400_000;
const YEAR_MS: i64 = 31_556_952_000;

/// Creates an ID with the given format and time. Fixed fields contain their fixed values, and all other fields are 0.
fn id(format: &Format, unix_ms: i64) -> Option<Bits> {
    let ticks = format.scale.map_or(Some(0), |scale| {
        let nanos = u128::try_from(unix_ms - scale.epoch_ms).ok()? * 1_000_000;
        Some(nanos / u128::from(scale.tick_nanos))
    })?;
    let mut digits: Vec<bool> = Vec::new();
    for part in format.parts {
        let value = match part.role {
            Role::Fixed if part.value == CHECKED_BY_DECODER => 0,
            Role::Fixed => part.value.into(),
            Role::Time => ticks >> part.value,
            _ => 0,
        };
        digits.extend((0..part.bits).rev().map(|bit| bit < 128 && value >> bit & 1 == 1));
    }
    let padded = core::iter::repeat_n(false, digits.len().next_multiple_of(8) - digits.len());
    let digits: Vec<bool> = padded.chain(digits).collect();
    let bytes =
        digits.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)));
    let bytes: Vec<u8> = bytes.collect();
    Some(Bits::from_low_bits(&bytes, format.bits()))
}

fn reason(format: &Format, unix_ms: i64) -> Option<String> {
    let reading = Reading::from_bits(format, &id(format, unix_ms)?, Cost::bits(0), NOW_MS)
        .expect("fixed bits");
    // A time that does not fit in the time field wraps around to a different time.
    let is_same = format.scale.is_none() || reading.unix_ms.is_some_and(|ms| unix_ms - ms < DAY_MS);
    is_same.then_some(reading.reason)
}

#[test]
fn each_format_reports_the_reason_of_its_category() {
    for format in FORMATS {
        let expected = match format.name {
            "uuid2" | "uuid3" | "uuid4" | "uuid5" | "uuid8" => {
                "its version and variant bits say so"
            }
            "uuid-nil" => "all its bits are 0",
            "uuid-max" => "all its bits are 1",
            "randflake" => "nothing tells it from random bits without its secret",
            "public-id" => "its check character is right, which 1 in 32 is by chance",
            "nanoid" => "its characters are all of this format's",
            "typeid" if format.scale.is_none() => "its characters are all of this format's",
            name if name.starts_with("hash-") || name == "cuid2" => {
                "its length and its characters are all of this format's"
            }
            name if name.starts_with("guid-") => "its variant bits say so",
            "counter" => "small numbers are mostly counted",
            "baidu" => "made 2 years ago",
            _ => "made 3 years ago",
        };
        let years = if format.name == "baidu" { 2 } else { 3 };
        let at = NOW_MS - years * YEAR_MS - 20 * DAY_MS;
        assert_eq!(reason(format, at).as_deref(), Some(expected), "{}", format.name);
    }
}

#[test]
fn impossible_times_report_the_reason() {
    let mut count = 0;
    for format in FORMATS.iter().filter(|format| format.scale.is_some()) {
        let first = format.scale.expect("a scale").first_ms;
        let to_come = reason(format, NOW_MS + 2 * YEAR_MS);
        let expected = "its time would be in 2028, which is in the future";
        assert_eq!(to_come.unwrap_or_else(|| expected.into()), expected, "{}", format.name);
        if let Some(before) = reason(format, first - YEAR_MS) {
            assert!(before.ends_with(", before the first such ID"), "{}: {before}", format.name);
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn a_large_counter_is_not_called_small() {
    let counter = FORMATS.iter().find(|format| format.name == "counter").expect("a counter");
    let bits = Bits::from_number(1 << 40, 64).expect("64 bits");
    let reading = Reading::from_bits(counter, &bits, Cost::bits(0), NOW_MS).expect("a reading");
    assert_eq!(reading.reason, "it is below 2^53, as counters are");
}
