//! Serializes IDs as strings in all serde data formats.

use alloc::string::String;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, Unexpected},
};

use crate::layout::{Id, json::description::decode_hex};

/// Serializes integers as decimal strings, and bytes as hexadecimal strings. The prefix `0x` marks the hexadecimal strings.
impl Serialize for Id {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let prefix = if self.as_bytes().is_some() { "0x" } else { "" };
        to.collect_str(&format_args!("{prefix}{self}"))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let found = match text.strip_prefix("0x") {
            Some(digits) if digits.contains(|c: char| c.is_ascii_uppercase()) => None,
            Some(digits) => decode_hex(digits.as_bytes()).map(Self::Bytes),
            None => Some(Self::from_decimal(&text).map_err(D::Error::custom)?),
        };
        let expected = &"an integer of 64 bits in decimal, or 0x and bytes in hex";
        found.ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), expected))
    }
}
