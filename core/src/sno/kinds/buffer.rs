//! Buffers values of any format in memory until they can be deserialized.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, marker::PhantomData, str::FromStr};

use serde::{
    Deserialize, Deserializer,
    de::{
        Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
        value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};

/// A value that was read from a self-describing format.
pub(super) enum BufferedValue<'de> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(Cow<'de, str>),
    Bytes(Cow<'de, [u8]>),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
}

impl BufferedValue<'_> {
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Signed(_) | Self::Unsigned(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

impl<'de> Deserialize<'de> for BufferedValue<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(BufferedVisitor)
    }
}

struct BufferedVisitor;

impl<'de> Visitor<'de> for BufferedVisitor {
    type Value = BufferedValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Null)
    }

    fn visit_none<E>(self) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<BufferedValue<'de>, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        from: D,
    ) -> Result<BufferedValue<'de>, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Signed(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Unsigned(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Text(Cow::Owned(text.into())))
    }

    fn visit_string<E>(self, text: String) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Text(Cow::Owned(text)))
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Bytes(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Bytes(Cow::Owned(bytes.into())))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<BufferedValue<'de>, E> {
        Ok(BufferedValue::Bytes(Cow::Owned(bytes)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<BufferedValue<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = from.next_element()? {
            list.push(item);
        }
        Ok(BufferedValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<BufferedValue<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = from.next_entry()? {
            members.push(member);
        }
        Ok(BufferedValue::Map(members))
    }
}

/// Deserializes a buffered value. `E` is the error type of the format that the value was read from.
pub(super) struct ReplayDeserializer<'de, E> {
    value: BufferedValue<'de>,
    human_readable: bool,
    /// Whether the value is the name of a member. Human-readable formats allow only strings as member names, so a name can
    /// represent a number or a boolean if the content's type expects such a value.
    is_name: bool,
    error: PhantomData<E>,
}

impl<'de, E: Error> ReplayDeserializer<'de, E> {
    pub(super) fn new(value: BufferedValue<'de>, human_readable: bool) -> Self {
        Self { value, human_readable, is_name: false, error: PhantomData }
    }

    fn from_members(
        members: Vec<(BufferedValue<'de>, BufferedValue<'de>)>,
        human_readable: bool,
    ) -> MapDeserializer<'de, impl Iterator<Item = (Self, Self)>, E> {
        MapDeserializer::new(members.into_iter().map(move |(name, value)| {
            let name = Self { is_name: true, ..Self::new(name, human_readable) };
            (name, Self::new(value, human_readable))
        }))
    }

    /// Parses the name as a value of type `T`. Returns `None` if the name is not the value's canonical encoding. The name
    /// is then passed on as a string, and the content's type rejects it.
    fn parse_name<T: FromStr + ToString>(&self) -> Option<T> {
        match &self.value {
            BufferedValue::Text(text) if self.is_name && self.human_readable => {
                // Without this check, `1` and `01` would be the same key, although they are different members of the
                // object.
                text.parse().ok().filter(|value: &T| value.to_string() == *text)
            }
            _ => None,
        }
    }
}

/// Returns the error for a value that is neither a variant's name nor a map with exactly one variant.
#[cold]
fn invalid_variant_error<E: Error>(found: &str) -> E {
    E::invalid_type(Unexpected::Other(found), &"the name of a variant or a map of one")
}

impl<'de, E: Error> IntoDeserializer<'de, E> for ReplayDeserializer<'de, E> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Implements the deserialization of values that a member's name can represent.
macro_rules! deserialize_from_name {
    ($($deserialize:ident $visit:ident $value:ty;)+) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            match self.parse_name::<$value>() {
                Some(value) => visitor.$visit(value),
                None => self.deserialize_any(visitor),
            }
        }
    )+};
}

impl<'de, E: Error> Deserializer<'de> for ReplayDeserializer<'de, E> {
    type Error = E;

    deserialize_from_name! {
        deserialize_bool visit_bool bool;
        deserialize_u8 visit_u64 u64;
        deserialize_u16 visit_u64 u64;
        deserialize_u32 visit_u64 u64;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
        deserialize_i8 visit_i64 i64;
        deserialize_i16 visit_i64 i64;
        deserialize_i32 visit_i64 i64;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.value {
            BufferedValue::Null => visitor.visit_unit(),
            BufferedValue::Bool(value) => visitor.visit_bool(value),
            BufferedValue::Signed(value) => visitor.visit_i64(value),
            BufferedValue::Unsigned(value) => visitor.visit_u64(value),
            BufferedValue::Float(value) => visitor.visit_f64(value),
            BufferedValue::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            BufferedValue::Text(Cow::Owned(text)) => visitor.visit_string(text),
            BufferedValue::Bytes(Cow::Borrowed(bytes)) => visitor.visit_borrowed_bytes(bytes),
            BufferedValue::Bytes(Cow::Owned(bytes)) => visitor.visit_byte_buf(bytes),
            BufferedValue::List(list) => {
                let items = list.into_iter().map(|item| Self::new(item, self.human_readable));
                let mut items = SeqDeserializer::new(items);
                let read = visitor.visit_seq(&mut items)?;
                items.end().map(|()| read)
            }
            BufferedValue::Map(members) => {
                let mut members = Self::from_members(members, self.human_readable);
                let read = visitor.visit_map(&mut members)?;
                members.end().map(|()| read)
            }
        }
    }

    /// Deserializes null as `None`, unless it is the name of a member.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        if matches!(self.value, BufferedValue::Null) && !self.is_name {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    /// Deserializes an enum from a variant's name, or from a map with that name as its key and the variant's content as its
    /// value.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        match self.value {
            BufferedValue::Map(members) if members.len() == 1 => {
                let members = Self::from_members(members, self.human_readable);
                MapAccessDeserializer::new(members).deserialize_enum(name, variants, visitor)
            }
            BufferedValue::Text(variant) => {
                variant.into_deserializer().deserialize_enum(name, variants, visitor)
            }
            // Human-readable formats write the name of a variant. Binary formats may write its number.
            BufferedValue::Unsigned(number) if !self.human_readable => {
                let number =
                    u32::try_from(number).map_err(|_| invalid_variant_error("an integer"))?;
                number.into_deserializer().deserialize_enum(name, variants, visitor)
            }
            other => Err(invalid_variant_error(other.type_name())),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        self.human_readable
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier
    }
}
