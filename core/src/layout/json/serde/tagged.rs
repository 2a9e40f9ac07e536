//! A JSON value as an enum, whose tag says what follows.

use alloc::{string::String, vec::Vec};
use core::fmt;

use serde_core::{
    Deserialize, Deserializer, Serializer,
    de::{DeserializeSeed, EnumAccess, Error as _, SeqAccess, Unexpected, VariantAccess, Visitor},
};

use crate::layout::Json;

const NAME: &str = "Json";
const VARIANTS: &[&str] = &["Null", "Bool", "Integer", "Fraction", "Text", "List", "Object"];

pub(in crate::layout) fn serialize<S: Serializer>(json: &Json, to: S) -> Result<S::Ok, S::Error> {
    match json {
        Json::Null => to.serialize_unit_variant(NAME, 0, VARIANTS[0]),
        Json::Bool(value) => to.serialize_newtype_variant(NAME, 1, VARIANTS[1], value),
        Json::Integer(number) => to.serialize_newtype_variant(NAME, 2, VARIANTS[2], number),
        Json::Fraction => to.serialize_unit_variant(NAME, 3, VARIANTS[3]),
        Json::Text(text) => to.serialize_newtype_variant(NAME, 4, VARIANTS[4], text),
        Json::List(list) => to.serialize_newtype_variant(NAME, 5, VARIANTS[5], list),
        Json::Object(members) => to.serialize_newtype_variant(NAME, 6, VARIANTS[6], members),
    }
}

/// The deepest nesting of values; a layout's values nest 4 deep. Some formats have no bound of their own, so bytes that only
/// open lists would overflow the stack.
const DEEPEST: u8 = 8;

pub(in crate::layout) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
    Nested(DEEPEST).deserialize(from)
}

/// Reads a value that may have this many levels.
#[derive(Clone, Copy)]
struct Nested(u8);

impl Nested {
    /// The reader of the values within a value.
    fn within<E: serde_core::de::Error>(self) -> Result<Self, E> {
        let below = self.0.checked_sub(1);
        below
            .map(Self)
            .ok_or_else(|| E::custom("expected values nested at most 8 deep, found deeper ones"))
    }
}

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        from.deserialize_enum(NAME, VARIANTS, self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value with its tag")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Json, A::Error> {
        let (Tag(tag), content) = from.variant()?;
        match tag {
            0 => content.unit_variant().map(|()| Json::Null),
            1 => content.newtype_variant().map(Json::Bool),
            2 => content.newtype_variant().map(Json::Integer),
            3 => content.unit_variant().map(|()| Json::Fraction),
            4 => content.newtype_variant().map(Json::Text),
            5 => content.newtype_variant_seed(Listed(self.within()?)).map(Json::List),
            _ => content.newtype_variant_seed(Listed(Member(self.within()?))).map(Json::Object),
        }
    }
}

/// Reads a list of the values that a seed reads.
struct Listed<S>(S);

impl<'de, S: DeserializeSeed<'de> + Copy> DeserializeSeed<'de> for Listed<S> {
    type Value = Vec<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for Listed<S> {
    type Value = Vec<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = from.next_element_seed(self.0)? {
            list.push(item);
        }
        Ok(list)
    }
}

/// Reads a name and its value.
#[derive(Clone, Copy)]
struct Member(Nested);

impl<'de> DeserializeSeed<'de> for Member {
    type Value = (String, Json);

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_tuple(2, self)
    }
}

impl<'de> Visitor<'de> for Member {
    type Value = (String, Json);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name and its value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let name = from.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let value = from.next_element_seed(self.0)?;
        Ok((name, value.ok_or_else(|| A::Error::invalid_length(1, &self))?))
    }
}

/// The place of a tag among [`VARIANTS`]; formats write it as a number or a name.
struct Tag(usize);

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_identifier(TagReader)
    }
}

struct TagReader;

impl Visitor<'_> for TagReader {
    type Value = Tag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tag of a JSON value")
    }

    fn visit_u64<E: serde_core::de::Error>(self, tag: u64) -> Result<Tag, E> {
        let known = usize::try_from(tag).ok().filter(|tag| *tag < VARIANTS.len());
        known.map(Tag).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(tag), &self))
    }

    fn visit_str<E: serde_core::de::Error>(self, tag: &str) -> Result<Tag, E> {
        let known = VARIANTS.iter().position(|name| *name == tag);
        known.map(Tag).ok_or_else(|| E::unknown_variant(tag, VARIANTS))
    }
}
