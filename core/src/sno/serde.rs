//! IDs as text (bytes in binary formats), snapshots under the original's names.

use alloc::string::String;
use core::fmt;

use serde_core::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Unexpected, Visitor},
    ser::SerializeStruct,
};

use super::{Snapshot, Sno};
use crate::format::serde::{IdVisitor, write};

impl Serialize for Sno {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(serializer, &self.text(), self.as_bytes())
    }
}

impl<'de> Deserialize<'de> for Sno {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids = IdVisitor {
            text: "the text of a sno ID, 16 characters of [2-9a-x]",
            of_text: Self::parse,
            of_bytes: Self::from_slice,
        };
        ids.read(deserializer)
    }
}

const MEMBERS: [&str; 8] =
    ["partition", "sequenceMin", "sequenceMax", "sequence", "now", "wallHi", "wallSafe", "drifts"];

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Snapshot", MEMBERS.len())?;
        members.serialize_field("partition", &self.partition)?;
        members.serialize_field("sequenceMin", &self.sequence_min)?;
        members.serialize_field("sequenceMax", &self.sequence_max)?;
        members.serialize_field("sequence", &self.sequence)?;
        members.serialize_field("now", &self.now)?;
        members.serialize_field("wallHi", &self.wall_hi)?;
        members.serialize_field("wallSafe", &self.wall_safe)?;
        members.serialize_field("drifts", &self.drifts)?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Snapshot", &MEMBERS, SnapshotVisitor)
    }
}

struct SnapshotVisitor;

impl<'de> Visitor<'de> for SnapshotVisitor {
    type Value = Snapshot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a snapshot of a sno generator")
    }

    /// The members in order: how formats that say nothing of their content have them.
    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Snapshot, A::Error> {
        fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
            members: &mut A,
            place: usize,
        ) -> Result<T, A::Error> {
            let member = members.next_element()?;
            member.ok_or_else(|| A::Error::invalid_length(place, &SnapshotVisitor))
        }
        Ok(Snapshot {
            partition: next(&mut members, 0)?,
            sequence_min: next(&mut members, 1)?,
            sequence_max: next(&mut members, 2)?,
            sequence: next(&mut members, 3)?,
            now: next(&mut members, 4)?,
            wall_hi: next(&mut members, 5)?,
            wall_safe: next(&mut members, 6)?,
            drifts: next(&mut members, 7)?,
        })
    }

    /// Every member once, none beside them.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Snapshot, A::Error> {
        let mut partition = None;
        let mut numbers = [None; MEMBERS.len()];
        while let Some(name) = map.next_key::<String>()? {
            let index = MEMBERS
                .iter()
                .position(|member| **member == *name)
                .ok_or_else(|| A::Error::unknown_field(&name, &MEMBERS))?;
            let twice = if index == 0 {
                partition.replace(map.next_value::<[u8; 2]>()?).is_some()
            } else {
                numbers[index].replace(map.next_value::<u64>()?).is_some()
            };
            if twice {
                return Err(A::Error::duplicate_field(MEMBERS[index]));
            }
        }
        let number =
            |index: usize| numbers[index].ok_or_else(|| A::Error::missing_field(MEMBERS[index]));
        Ok(Snapshot {
            partition: partition.ok_or_else(|| A::Error::missing_field(MEMBERS[0]))?,
            sequence_min: narrow(number(1)?)?,
            sequence_max: narrow(number(2)?)?,
            sequence: narrow(number(3)?)?,
            now: number(4)?,
            wall_hi: number(5)?,
            wall_safe: number(6)?,
            drifts: narrow(number(7)?)?,
        })
    }
}

/// A number that fits its member's width.
fn narrow<T: TryFrom<u64>, E: serde_core::de::Error>(value: u64) -> Result<T, E> {
    T::try_from(value).map_err(|_| {
        E::invalid_value(Unexpected::Unsigned(value), &"a number within the member's width")
    })
}
