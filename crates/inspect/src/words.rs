//! Describes readings in words and as JSON.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    likely,
    reading::{Confidence, Field, Origin, Reading, Role},
};

/// The maximum number of bits in a field that is displayed in decimal. Wider fields are displayed in hexadecimal.
const DECIMAL_BITS: u32 = 53;
/// The maximum number of bits in a field whose value is included in a sentence. The values of wider fields are omitted.
const MAX_SENTENCE_VALUE_BITS: u32 = 32;

/// Describes a string in words, based on its readings.
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
    let verb = match first.confidence() {
        Confidence::Certain => "is",
        Confidence::Likely => "is probably",
        Confidence::Possible => "may be",
    };
    let made = first.time().map(|time| format!(", at {time}")).unwrap_or_default();
    let said = |field: &&Field| {
        let is_named = !matches!(
            field.role,
            Role::Fixed | Role::Time | Role::Random | Role::Hash | Role::Encrypted
        );
        is_named && field.bits <= MAX_SENTENCE_VALUE_BITS
    };
    let values = first.fields.iter().filter(said);
    let values: Vec<_> = values
        .map(|field| format!("{} {}", field.name.replace('_', " "), first.value(field)))
        .collect();
    let values =
        if values.is_empty() { String::new() } else { ": ".to_owned() + &values.join(", ") };
    let (article, title, reason) = (article(first), &first.title, &first.reason);
    let note = first.note.as_ref().map(|note| format!(" {note}")).unwrap_or_default();
    // The reason of a reading with an unusual time is a sentence, and already names the format.
    let separator = if reason.starts_with("it ") { ":" } else { "," };
    format!("This {verb} {article}{title}{separator} {reason}{made}{values}.{note}")
}

/// Returns the words that precede a title in a sentence: `a ` or `an `, or nothing if the title is a plural or begins with
/// an article. A layout's name is not a noun, so `an ID of ` precedes it.
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
    /// Returns a field's value for display: a decimal number, or `0x` followed by hexadecimal digits if the field has more
    /// than 53 bits.
    #[must_use]
    pub fn value(&self, field: &Field) -> String {
        match field.value {
            Some(value) if field.bits <= DECIMAL_BITS => value.to_string(),
            _ => self.digits(field),
        }
    }

    /// Returns the bits of a field as `0x` followed by hexadecimal digits. Each digit represents four bits, and the last
    /// digit ends at the field's last bit.
    fn digits(&self, field: &Field) -> String {
        let first = |digit: u32| (field.bits - 4 * digit).saturating_sub(4);
        let digit = |at: u32| {
            let bits = first(at)..field.bits - 4 * at;
            let value =
                bits.fold(0, |value, bit| value << 1 | u32::from(self.bit(field.offset + bit)));
            format!("{value:x}")
        };
        (0..field.bits.div_ceil(4)).rev().map(digit).fold("0x".into(), |text, digit| text + &digit)
    }
}

#[cfg(feature = "json")]
pub use json::{MEMBERS, answer_to_json};

#[cfg(feature = "json")]
mod json {
    use alloc::{
        format,
        string::{String, ToString},
        vec::Vec,
    };
    use core::fmt::Write;

    use super::{Field, Reading};

    /// The names of the members of a reading's JSON object, in order.
    pub const MEMBERS: [&str; 11] = [
        "format",
        "title",
        "confidence",
        "probability",
        "time",
        "unix_ms",
        "reason",
        "note",
        "hex",
        "bits",
        "fields",
    ];

    /// Returns the readings of a string as a JSON object with the members `id`, `readings` and, if it is not `None`,
    /// `suggestion`. Each reading has the given [`MEMBERS`].
    #[must_use]
    pub fn answer_to_json(
        id: &str,
        readings: &[&Reading],
        members: &[&str],
        suggestion: Option<&str>,
    ) -> String {
        let readings: Vec<_> = readings.iter().map(|reading| reading.to_json(members)).collect();
        let suggestion =
            suggestion.map(|text| format!(",\"suggestion\":{}", quote(text))).unwrap_or_default();
        format!("{{\"id\":{},\"readings\":[{}]{suggestion}}}", quote(id), readings.join(","))
    }

    impl Reading {
        /// Returns the value of one of the [`MEMBERS`] as a string for a table cell, or an empty string if the reading has
        /// no value for that member.
        #[must_use]
        pub fn member(&self, name: &str) -> String {
            match name {
                "format" => self.format.clone(),
                "title" => self.title.clone(),
                "confidence" => self.confidence().as_str().into(),
                "time" => self.time().unwrap_or_default(),
                "unix_ms" => self.unix_ms.map_or_else(String::new, |ms| ms.to_string()),
                "reason" => self.reason.clone(),
                "note" => self.note.clone().unwrap_or_default(),
                "hex" => self.hex(),
                _ => self.json_member(name).unwrap_or_default(),
            }
        }

        /// Returns the reading as a JSON object that contains the given [`MEMBERS`]. Integers greater than 2^53 are encoded
        /// as decimal strings, because many JSON parsers would round them.
        ///
        /// ```
        /// use polyflake_inspect::{Context, inspect};
        ///
        /// let context = Context { now_ms: 1_795_422_487_000, ..Context::default() };
        /// let reading = &inspect("01ARZ3NDEKTSV4RRFFQ69G5FAV", &context)[0];
        /// assert_eq!(
        ///     reading.to_json(&["format", "time"]),
        ///     r#"{"format":"ulid","time":"2016-07-30T23:54:10.259Z"}"#
        /// );
        /// ```
        #[must_use]
        pub fn to_json(&self, members: &[&str]) -> String {
            let member = |name: &&&str| Some(format!("\"{name}\":{}", self.json_member(name)?));
            let members: Vec<_> = members.iter().filter_map(|name| member(&name)).collect();
            format!("{{{}}}", members.join(","))
        }

        /// Returns the value of a member as JSON.
        fn json_member(&self, name: &str) -> Option<String> {
            let optional = |text: Option<&str>| text.map_or_else(|| "null".into(), quote);
            Some(match name {
                "format" => quote(&self.format),
                "title" => quote(&self.title),
                "confidence" => quote(self.confidence().as_str()),
                "probability" => format!("{:.4}", self.probability),
                "time" => optional(self.time().as_deref()),
                "unix_ms" => self.unix_ms.map_or_else(|| "null".into(), |ms| ms.to_string()),
                "reason" => quote(&self.reason),
                "note" => optional(self.note.as_deref()),
                "hex" => quote(&self.hex()),
                "bits" => self.bits.to_string(),
                "fields" => {
                    let fields: Vec<_> =
                        self.fields.iter().map(|field| self.field(field)).collect();
                    format!("[{}]", fields.join(","))
                }
                _ => return None,
            })
        }

        fn field(&self, field: &Field) -> String {
            let value = match field.value {
                Some(value) if value <= 1 << 53 => value.to_string(),
                Some(value) => format!("\"{value}\""),
                None => quote(&self.digits(field)),
            };
            let (name, role) = (quote(&field.name), field.role.as_str());
            let (offset, bits) = (field.offset, field.bits);
            format!(
                r#"{{"name":{name},"role":"{role}","offset":{offset},"bits":{bits},"value":{value}}}"#
            )
        }

        fn hex(&self) -> String {
            let mut text = String::with_capacity(2 * self.bytes.len());
            for byte in &self.bytes {
                write!(text, "{byte:02x}").expect("a String takes all that is written");
            }
            text
        }
    }

    /// Encodes a string as a JSON string. Names come from layouts and may contain any characters, so they must be escaped.
    fn quote(text: &str) -> String {
        serde_json::Value::from(text).to_string()
    }
}
