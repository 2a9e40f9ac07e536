//! Serializes IDs as strings, or as eight bytes in binary formats, of which the most significant is first. Grants are
//! serialized as objects with named members.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Grant, Randflake};
use crate::{
    Error,
    format::serde::{IdVisitor, serialize_id},
};

impl Serialize for Randflake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_id(serializer, &self.text(), &self.to_i64().to_be_bytes())
    }
}

impl<'de> Deserialize<'de> for Randflake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids = IdVisitor {
            text: "the text of a Randflake ID, 1 to 13 characters of [0-9a-v]",
            of_text: Self::parse,
            of_bytes: |bytes| {
                let bytes =
                    bytes.try_into().map_err(|_| Error::invalid_length(bytes.len(), 8, 8))?;
                Ok(Self::from_i64(i64::from_be_bytes(bytes)))
            },
        };
        ids.deserialize_id(deserializer)
    }
}

/// The members of a serialized grant, before they are validated.
#[derive(Deserialize, Serialize)]
#[serde(rename = "Grant", deny_unknown_fields)]
struct Members {
    first_node: u32,
    last_node: u32,
    start: i64,
    end: i64,
}

impl Serialize for Grant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (first_node, last_node) = self.nodes().into_inner();
        let (start, end) = (self.start(), self.end());
        Members { first_node, last_node, start, end }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Members { first_node, last_node, start, end } = Members::deserialize(deserializer)?;
        Self::with_nodes(first_node..=last_node, start, end).map_err(D::Error::custom)
    }
}
