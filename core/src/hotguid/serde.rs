//! Serializes IDs like `uuid::Uuid`: as strings in human-readable formats, and as 16 bytes in RFC 9562 order in binary
//! formats.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::HotGuid;
use crate::format::serde::{IdVisitor, serialize_id};

impl Serialize for HotGuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_id(serializer, &self.text(), &self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for HotGuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids = IdVisitor {
            text: "the text of a Hot Guid, 36 characters",
            of_text: Self::parse,
            of_bytes: Self::from_slice,
        };
        ids.deserialize_id(deserializer)
    }
}
