//! Snapshots as JSON, with integers as in a layout's: numbers up to 2^53, decimal strings past it.

use serde_core::{
    Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::SerializeStruct,
};

use super::Snapshot;
use crate::layout::{JsonMembers, JsonValue, Value};

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_struct("Snapshot", 2)?;
        members.serialize_field("tick", &JsonValue(&Value::from(self.tick)))?;
        members.serialize_field("next_sequence", &JsonValue(&Value::from(self.next_sequence)))?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    /// From a format that says what its values are, as JSON does.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let members = JsonMembers::deserialize(from, "the snapshot")?;
        read(members).map_err(D::Error::custom)
    }
}

fn read(mut members: JsonMembers) -> crate::Result<Snapshot> {
    let (tick, next_sequence) = (members.small("tick")?, members.small("next_sequence")?);
    members.end()?;
    Ok(Snapshot { tick, next_sequence })
}
