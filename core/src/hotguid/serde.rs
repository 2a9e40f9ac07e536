//! IDs as text, in binary formats as the 16 bytes of RFC 9562, as `uuid::Uuid` has it.

use core::fmt;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer, de::Error, de::Visitor};

use super::HotGuid;

impl Serialize for HotGuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&self.text())
        } else {
            serializer.serialize_bytes(&self.to_rfc_bytes())
        }
    }
}

impl<'de> Deserialize<'de> for HotGuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(HotGuidVisitor)
        } else {
            deserializer.deserialize_bytes(HotGuidVisitor)
        }
    }
}

struct HotGuidVisitor;

impl Visitor<'_> for HotGuidVisitor {
    type Value = HotGuid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text of a Hot Guid, 36 characters")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<HotGuid, E> {
        HotGuid::parse(text).map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<HotGuid, E> {
        let exact = bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &"16 bytes"))?;
        Ok(HotGuid::from_rfc_bytes(exact))
    }
}
