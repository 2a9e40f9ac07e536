//! Serializes IDs as strings, or as 16 bytes in binary formats, like `uuid::Uuid`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Uuid7;
use crate::format::serde::{IdVisitor, serialize_id};

impl Serialize for Uuid7 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_id(serializer, &self.text(), &self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for Uuid7 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids = IdVisitor {
            text: "the text of a version 7 UUID, 36 characters",
            of_text: Self::parse,
            of_bytes: Self::from_slice,
        };
        ids.deserialize_id(deserializer)
    }
}
