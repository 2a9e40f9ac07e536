//! IDs in serde as text (as bytes in binary formats), and snapshots under the original's names.

use alloc::string::String;
use core::fmt;

use serde_core::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
    ser::SerializeStruct,
};

use super::{Id, Kind, Parts, Snapshot, Sno};
use crate::format::serde::{IdVisitor, record, write};

const TEXT: &str = "the text of a sno ID, 16 characters of [2-9a-x]";

impl Serialize for Sno {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(serializer, &self.text(), self.as_bytes())
    }
}

impl<'de> Deserialize<'de> for Sno {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ids = IdVisitor { text: TEXT, of_text: Self::parse, of_bytes: Self::from_slice };
        ids.read(deserializer)
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

record!(Parts { tick, tick_tock, metabyte, partition, sequence });

/// The format, and the members by the original's names.
const NAMES: [&str; 1 + Snapshot::MEMBERS.len()] = {
    let (mut names, mut k) = ([Snapshot::FORMAT.0; 1 + Snapshot::MEMBERS.len()], 0);
    while k < Snapshot::MEMBERS.len() {
        names[1 + k] = Snapshot::MEMBERS[k].0;
        k += 1;
    }
    names
};

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Snapshot", NAMES.len())?;
        members.serialize_field(NAMES[0], &Snapshot::FORMAT.1)?;
        members.serialize_field(NAMES[1], &self.partition)?;
        for (name, number) in NAMES.into_iter().skip(1).zip(self.to_numbers()).skip(1) {
            members.serialize_field(name, &number)?;
        }
        members.end()
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Snapshot", &NAMES, SnapshotVisitor)
    }
}

struct SnapshotVisitor;

impl<'de> Visitor<'de> for SnapshotVisitor {
    type Value = Snapshot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a snapshot of a sno generator")
    }

    /// Reads the members in order, as formats that do not describe themselves have them.
    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Snapshot, A::Error> {
        let format = members.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        Snapshot::check_format(format).map_err(A::Error::custom)?;
        let partition = members.next_element()?.map(number_of);
        let mut numbers = [partition.ok_or_else(|| A::Error::invalid_length(1, &self))?; 8];
        for (place, number) in numbers.iter_mut().enumerate().skip(1) {
            let next = members.next_element()?;
            *number = next.ok_or_else(|| A::Error::invalid_length(1 + place, &self))?;
        }
        Snapshot::from_numbers(numbers).map_err(A::Error::custom)
    }

    /// Reads the members by name: every member once, and no others. The original writes no format.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Snapshot, A::Error> {
        let mut found = [None; NAMES.len()];
        while let Some(name) = map.next_key::<String>()? {
            let index = NAMES
                .iter()
                .position(|member| **member == *name)
                .ok_or_else(|| A::Error::unknown_field(&name, &NAMES))?;
            let number =
                if index == 1 { number_of(map.next_value()?) } else { map.next_value::<u64>()? };
            if found[index].replace(number).is_some() {
                return Err(A::Error::duplicate_field(NAMES[index]));
            }
        }
        found[0].map_or(Ok(()), Snapshot::check_format).map_err(A::Error::custom)?;
        let mut numbers = [0; Snapshot::MEMBERS.len()];
        for ((name, found), number) in NAMES.into_iter().zip(found).skip(1).zip(&mut numbers) {
            *number = found.ok_or_else(|| A::Error::missing_field(name))?;
        }
        Snapshot::from_numbers(numbers).map_err(A::Error::custom)
    }
}

/// The partition as a number.
fn number_of(partition: [u8; 2]) -> u64 {
    u16::from_be_bytes(partition).into()
}
