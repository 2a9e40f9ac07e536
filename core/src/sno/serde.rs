//! Serializes IDs as strings, or as bytes in binary formats. Serializes snapshots with the member names that the Go library
//! uses.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Id, Kind, Snapshot, Sno};
use crate::format::serde::{IdVisitor, serialize_id};

const EXPECTED_TEXT: &str = "the text of a sno ID, 16 characters of [2-9a-x]";

impl Serialize for Sno {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_id(serializer, &self.text(), self.as_bytes())
    }
}

impl<'de> Deserialize<'de> for Sno {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids =
            IdVisitor { text: EXPECTED_TEXT, of_text: Self::parse, of_bytes: Self::from_slice };
        ids.deserialize_id(deserializer)
    }
}

impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Sno::serialize(self, serializer)
    }
}

impl<'de, T: Kind> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Sno::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The members of a serialized snapshot: the format number, followed by the members that the Go library writes, with the
/// same names and in the same order. The Go library does not write the format number.
#[derive(Deserialize, Serialize)]
#[serde(rename = "Snapshot", rename_all = "camelCase", deny_unknown_fields)]
struct Members {
    #[serde(default = "Members::current_format")]
    format: u64,
    partition: [u8; 2],
    sequence_min: u64,
    sequence_max: u64,
    sequence: u64,
    now: u64,
    wall_hi: u64,
    wall_safe: u64,
    drifts: u64,
}

impl Members {
    const fn current_format() -> u64 {
        Snapshot::FORMAT.1
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (format, partition) = (Members::current_format(), self.partition);
        let [_, sequence_min, sequence_max, sequence, now, wall_hi, wall_safe, drifts] =
            self.to_numbers();
        let members = Members {
            format,
            partition,
            sequence_min,
            sequence_max,
            sequence,
            now,
            wall_hi,
            wall_safe,
            drifts,
        };
        members.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        Self::check_format(members.format).map_err(D::Error::custom)?;
        let numbers = [
            u16::from_be_bytes(members.partition).into(),
            members.sequence_min,
            members.sequence_max,
            members.sequence,
            members.now,
            members.wall_hi,
            members.wall_safe,
            members.drifts,
        ];
        Self::from_numbers(numbers).map_err(D::Error::custom)
    }
}
