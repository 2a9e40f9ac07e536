//! Serde support: a column is serialized in the same way as the ID that it contains.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{BigInt, Bytes, Text, Uuid};

macro_rules! column {
    ($($column:ident)+) => {$(
        impl<T: Serialize> Serialize for $column<T> {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(to)
            }
        }

        impl<'de, T: Deserialize<'de>> Deserialize<'de> for $column<T> {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                T::deserialize(from).map(Self)
            }
        }
    )+};
}

column!(BigInt Bytes Text Uuid);
