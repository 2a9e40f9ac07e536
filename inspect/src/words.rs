//! Readings as a sentence, and as JSON.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    likely,
    reading::{Field, Origin, Reading, Role},
};

/// Values of more bits are written in hexadecimal digits.
const DECIMAL_BITS: u32 = 53;
/// Fields of more bits say nothing in a sentence.
const SAID_BITS: u32 = 32;

/// Tells in a sentence what the readings of a text say that it is.
///
/// ```
/// use polyflake_inspect::{Context, inspect, sentence};
///
/// let context = Context { now_ms: 1_795_422_487_000, ..Context::default() };
/// assert_eq!(
///     sentence(&inspect("175928847299117063", &context)),
///     "This is probably a Discord snowflake, made 10 years ago, at 2016-04-30T11:18:25.796Z: worker 1, process 0, sequence 7. \
///      It may also be an X (Twitter) snowflake of 2012-03-03T13:01:20.453Z, which has the same bits: \
///      only the source of the ID can tell."
/// );
/// assert_eq!(sentence(&inspect("Grüße", &context)), "This is no ID of a known format.");
/// ```
#[must_use]
pub fn sentence(readings: &[Reading]) -> String {
    let Some(first) = likely(readings).next() else {
        return "This is no ID of a known format.".to_owned();
    };
    let verb = match first.odds {
        odds if odds >= 0.9 => "is",
        odds if odds >= 0.6 => "is probably",
        _ => "may be",
    };
    let made = first.time().map(|time| format!(", at {time}")).unwrap_or_default();
    let said = |field: &&Field| {
        matches!(field.role, Role::Kind | Role::Maker | Role::Sequence) && field.bits <= SAID_BITS
    };
    let values = first.fields.iter().filter(said);
    let values: Vec<_> = values
        .map(|field| format!("{} {}", field.name.replace('_', " "), first.value(field)))
        .collect();
    let values =
        if values.is_empty() { String::new() } else { ": ".to_owned() + &values.join(", ") };
    let (article, title, reason) = (article(first), &first.title, &first.reason);
    let note = first.note.as_ref().map(|note| format!(" {note}")).unwrap_or_default();
    format!("This {verb} {article}{title}, {reason}{made}{values}.{note}")
}

/// The words before a title: `a `, `an `, nothing before a plural and where the title has one. A layout's name is no kind of thing.
pub(crate) fn article(reading: &Reading) -> &'static str {
    let title = &reading.title;
    match title.chars().next() {
        _ if reading.origin == Origin::Reader => "an ID of ",
        _ if title.starts_with("a ") || title.starts_with("Unix ") => "",
        Some('A' | 'E' | 'I' | 'O' | 'X' | 'a' | 'e' | 'i' | 'o' | 'x') => "an ",
        _ => "a ",
    }
}

impl Reading {
    /// A field's value for people: decimal digits, or, for more than 53 bits, `0x` and hexadecimal digits.
    #[must_use]
    pub fn value(&self, field: &Field) -> String {
        match field.value {
            Some(value) if field.bits <= DECIMAL_BITS => value.to_string(),
            _ => self.digits(field),
        }
    }

    /// A field's bits as `0x` and hexadecimal digits, four bits each from the last one on.
    fn digits(&self, field: &Field) -> String {
        let first = |digit: u32| (field.bits - 4 * digit).saturating_sub(4);
        let digit = |at: u32| {
            let bits = first(at)..field.bits - 4 * at;
            let value =
                bits.fold(0, |value, bit| value << 1 | u32::from(self.bit(field.from + bit)));
            format!("{value:x}")
        };
        (0..field.bits.div_ceil(4)).rev().map(digit).fold("0x".into(), |text, digit| text + &digit)
    }
}

#[cfg(feature = "json")]
mod json {
    use alloc::{format, string::String, vec::Vec};

    use serde_json::{Value, json};

    use super::{Field, Reading};

    impl Reading {
        /// The reading as JSON. Integers past 2^53, where readers of JSON round, are texts of their digits.
        #[must_use]
        pub fn to_json(&self) -> Value {
            let field = |field: &Field| {
                let value = field.value.map_or_else(|| self.digits(field).into(), integer);
                json!({
                    "name": field.name, "role": field.role.as_str(), "offset": field.from,
                    "bits": field.bits, "value": value,
                })
            };
            // Without std, formatting is what rounds.
            let odds: Option<f64> = format!("{:.4}", self.odds).parse().ok();
            json!({
                "format": self.format, "title": self.title, "odds": odds,
                "time": self.time(), "unix_ms": self.unix_ms, "reason": self.reason, "note": self.note,
                "hex": self.bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")),
                "bits": self.bits, "fields": self.fields.iter().map(field).collect::<Vec<_>>(),
            })
        }
    }

    fn integer(value: u128) -> Value {
        match u64::try_from(value) {
            Ok(value) if value <= 1 << 53 => value.into(),
            _ => format!("{value}").into(),
        }
    }
}
