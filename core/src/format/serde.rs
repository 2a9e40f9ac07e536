//! Serializes IDs as strings in human-readable formats and as bytes in binary formats.

use core::fmt;

use serde::{
    Deserializer, Serializer,
    de::{Error, Visitor},
};

/// Serializes an ID as a string or as bytes, depending on the serialization format.
///
/// An integer would not survive `flatten`, `untagged` and internally tagged enums: serde buffers their members, and the
/// buffer reports that it is human-readable. A visitor accepts strings and bytes in either case.
pub(crate) fn serialize_id<S: Serializer>(
    to: S,
    text: &str,
    bytes: &[u8],
) -> Result<S::Ok, S::Error> {
    if to.is_human_readable() { to.serialize_str(text) } else { to.serialize_bytes(bytes) }
}

/// A serde visitor that deserializes an ID from a string or from bytes.
pub(crate) struct IdVisitor<T> {
    /// A description of the expected input, for error messages.
    pub(crate) text: &'static str,
    pub(crate) of_text: fn(&str) -> crate::Result<T>,
    pub(crate) of_bytes: fn(&[u8]) -> crate::Result<T>,
}

impl<T> IdVisitor<T> {
    /// Deserializes an ID that was serialized by [`serialize_id`].
    pub(crate) fn deserialize_id<'de, D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        if from.is_human_readable() {
            from.deserialize_str(self)
        } else {
            from.deserialize_bytes(self)
        }
    }
}

impl<T> Visitor<'_> for IdVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.of_text)(text).map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
        (self.of_bytes)(bytes).map_err(E::custom)
    }
}
