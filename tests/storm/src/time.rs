//! Extracts the time from the digits of an ID.

use std::str::FromStr;

use anyhow::{Context, Error, Result, bail, ensure};

const DIGIT_SETS: [(&str, &str); 8] = [
    ("decimal", "0123456789"),
    ("hex", "0123456789abcdef"),
    ("base32hex", "0123456789abcdefghijklmnopqrstuv"),
    ("crockford", "0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
    ("sno", "23456789abcdefghijklmnopqrstuvwx"),
    ("base36", "0123456789abcdefghijklmnopqrstuvwxyz"),
    ("BASE36", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("base62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
];

/// The position of the time in an ID: `DIGITS:SHIFT:BITS:TICK_US:EPOCH_MS`. The ID's digits, without hyphens, form a number
/// in the encoding `DIGITS`. After a right shift by `SHIFT`, the lowest `BITS` bits of the number count ticks since the
/// epoch.
#[derive(Clone, Debug)]
pub struct Time {
    digits: &'static str,
    shift: u32,
    bits: u32,
    tick_us: u64,
    epoch_ms: i64,
}

impl FromStr for Time {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<_> = text.split(':').collect();
        let [digits, shift, bits, tick, epoch] = parts[..] else {
            bail!("expected DIGITS:SHIFT:BITS:TICK_US:EPOCH_MS, found {text:?}");
        };
        let named = DIGIT_SETS.iter().find(|(name, _)| *name == digits);
        let names = DIGIT_SETS.map(|(name, _)| name).join(", ");
        let digits = named.with_context(|| format!("expected one of {names}; found {digits:?}"))?.1;
        let number = |text: &str| -> Result<i64> {
            text.parse().with_context(|| format!("expected a number, found {text:?}"))
        };
        let (shift, bits) = (u32::try_from(number(shift)?)?, u32::try_from(number(bits)?)?);
        ensure!(
            shift < 256 && (1..=63).contains(&bits),
            "expected a shift below 256, 1 to 63 bits"
        );
        let (tick_us, epoch_ms) = (u64::try_from(number(tick)?)?, number(epoch)?);
        Ok(Self { digits, shift, bits, tick_us, epoch_ms })
    }
}

impl Time {
    /// Returns the time at which an ID's tick begins, in microseconds since 1970.
    pub fn unix_us(&self, id: &str) -> Result<i64> {
        let mut number = [0_u64; 8];
        for byte in id.bytes().filter(|byte| *byte != b'-') {
            let digit = self.digits.bytes().position(|digit| digit == byte);
            let digit = digit.with_context(|| format!("expected digits of its format in {id}"))?;
            multiply_and_add(&mut number, self.digits.len() as u64, digit as u64);
        }
        let (word, bit) = ((self.shift / 32) as usize, self.shift % 32);
        let at = |index: usize| u128::from(number.get(word + index).copied().unwrap_or(0));
        let wide = at(0) | at(1) << 32 | at(2) << 64;
        let ticks: u64 = (wide >> bit & ((1 << self.bits) - 1)).try_into()?;
        let since = ticks.checked_mul(self.tick_us).and_then(|us| i64::try_from(us).ok());
        let time = since.and_then(|since| since.checked_add(self.epoch_ms * 1000));
        time.with_context(|| format!("the time of {id} is out of range"))
    }
}

/// Multiplies a number, stored in 32-bit words, by the base and adds a digit.
fn multiply_and_add(number: &mut [u64; 8], base: u64, digit: u64) {
    let mut carry = digit;
    for word in number {
        carry += *word * base;
        *word = carry & u64::from(u32::MAX);
        carry >>= 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_time(format: &str, id: &str, unix_ms: i64) {
        let time: Time = format.parse().unwrap();
        assert_eq!(time.unix_us(id).unwrap() / 1000, unix_ms, "{id}");
    }

    #[test]
    fn the_time_of_published_ids_is_read() {
        // The examples come from RFC 9562, the ULID specification, Discord's documentation and KSUID's README.
        assert_time("hex:80:48:1000:0", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1_645_557_742_000);
        assert_time("crockford:80:48:1000:0", "01ARZ3NDEKTSV4RRFFQ69G5FAV", 1_469_922_850_259);
        assert_time("decimal:22:42:1000:1420070400000", "175928847299117063", 1_462_015_105_796);
        assert_time(
            "base62:128:32:1000000:1400000000000",
            "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
            1_507_608_047_000,
        );
    }

    #[test]
    fn invalid_descriptions_and_ids_are_rejected() {
        for text in ["", "hex:80:48:1000", "octal:1:1:1:1", "hex:256:48:1:0", "hex:0:64:1:0"] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
        assert!("hex:80:48:1000:0".parse::<Time>().unwrap().unix_us("0g").is_err());
    }
}
