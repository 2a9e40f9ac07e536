//! Serializes IDs as strings in human-readable formats and as signed integers in binary formats. Grants are serialized as
//! objects with named members.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Grant, Randflake};
use crate::{Error, format::serde::IdVisitor};

impl Serialize for Randflake {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&self.text())
        } else {
            serializer.serialize_i64(self.to_i64())
        }
    }
}

impl<'de> Deserialize<'de> for Randflake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(IdVisitor {
                text: "the text of a Randflake ID, 1 to 13 characters of [0-9a-v]",
                of_text: Self::parse,
                of_bytes: |_| Err(Error::invalid_type("text", "bytes")),
            })
        } else {
            i64::deserialize(deserializer).map(Self::from_i64)
        }
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
