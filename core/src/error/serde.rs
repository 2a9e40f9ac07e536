//! Serializes errors for logs and responses. Errors cannot be deserialized.

use alloc::string::ToString;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::Error;

/// Serializes an error as a map with `code` and `message`, and with `field`, `position`, `item`, `written` and `retry_at`
/// if the error has them.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let counts =
            [("position", self.position()), ("item", self.item()), ("written", self.written())];
        let counts = counts.into_iter().filter_map(|(name, count)| Some((name, count?)));
        let others = usize::from(self.field().is_some()) + usize::from(self.retry_at().is_some());
        let mut map = to.serialize_map(Some(2 + others + counts.clone().count()))?;
        map.serialize_entry("code", self.code())?;
        map.serialize_entry("message", &self.to_string())?;
        if let Some(field) = self.field() {
            map.serialize_entry("field", field)?;
        }
        for (name, count) in counts {
            map.serialize_entry(name, &count)?;
        }
        if let Some(unix_ms) = self.retry_at() {
            map.serialize_entry("retry_at", &unix_ms)?;
        }
        map.end()
    }
}
