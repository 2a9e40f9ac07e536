//! Deserializes an object by metabyte in one pass. The metabyte of the object's own ID selects the type.
//!
//! For the same purpose, serde's internally tagged enums first read the whole object into a tree of values, and then
//! deserialize the variant from that tree. Every member is stored, and errors no longer contain the position in the input.
//! The ID is usually the first member of an object, so nearly all of that work is unnecessary:
//!
//! ```text
//! {"foo": "bar", "id": "9aaaaaaa55aaaaaa", "total": 12, "items": [..]}
//!  '-----------'  '--------------------'   '-------------------------'
//!   kept in        its metabyte selects     read straight from the
//!   a buffer       the variant              format, into the variant
//! ```
//!
//! [`MembersVisitor`] visits the object, and stores members until it finds the ID. Then it passes a new map,
//! [`VariantMembers`], to the variant's type. This map first replays the stored members, including the ID, and then
//! forwards the remaining members from the format unchanged. The variant's type deserializes this map like any other
//! map. If the ID comes first, only one member is stored, and the type can still borrow strings from the input.
//!
//! Members before the ID are stored as `deserialize_any` reports them. [`BufferedValue`] holds integers of up to 64
//! bits. If the format reports a larger integer as an integer, it is rejected. If the format reports it as a float, as
//! `serde_json` does, only a field that accepts floats can receive it, and a field of an integer type rejects it.

use alloc::{borrow::Cow, vec, vec::Vec};
use core::{fmt, iter, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Visitor,
        value::BorrowedStrDeserializer,
    },
    forward_to_deserialize_any,
};

use super::{
    super::Sno,
    ByMetabyte,
    buffer::{BufferedValue, ReplayDeserializer},
};
use crate::{Error, ErrorKind};

/// The number of members for which memory is initially reserved.
const INITIAL_CAPACITY: usize = 12;

/// Deserializes an object as the variant that its ID selects.
pub(super) struct MembersVisitor<'r, K> {
    human_readable: bool,
    /// The caller's variable that receives the error if the ID is rejected.
    id_error: &'r mut Option<Error>,
    kind: PhantomData<K>,
}

impl<'r, K> MembersVisitor<'r, K> {
    pub(super) fn new(human_readable: bool, id_error: &'r mut Option<Error>) -> Self {
        Self { human_readable, id_error, kind: PhantomData }
    }

    #[cold]
    fn reject<E: serde::de::Error>(&mut self, error: Error) -> E {
        let custom = E::custom(&error);
        *self.id_error = Some(error);
        custom
    }
}

impl<'de, K: ByMetabyte<'de>> Visitor<'de> for MembersVisitor<'_, K> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a sno ID as its `{}`", K::MEMBER)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut rest: A) -> Result<K, A::Error> {
        let mut before_id = Vec::new();
        let id = loop {
            let Some(Name(name)) = rest.next_key()? else {
                return Err(self.reject(Error::field_error(ErrorKind::MissingField, K::MEMBER)));
            };
            let value = rest.next_value()?;
            if name == K::MEMBER {
                break value;
            }
            // By default, a vector first allocates memory for four members, but most objects have more.
            if before_id.is_empty() {
                before_id.reserve(INITIAL_CAPACITY);
            }
            before_id.push((name, value));
        };
        let metabyte =
            metabyte_of(&id).map_err(|error| self.reject(error.with_field(K::MEMBER)))?;
        let before_id = before_id.into_iter().chain(iter::once((Cow::Borrowed(K::MEMBER), id)));
        let human_readable = self.human_readable;
        let members =
            VariantMembers { before_id, value: None, rest, id: K::MEMBER, human_readable };
        let read = K::of_metabyte(metabyte, members)?;
        read.ok_or_else(|| self.reject(unknown_metabyte_error(metabyte, K::MEMBER, K::METABYTES)))
    }
}

/// Returns the error for a metabyte that no variant has.
#[cold]
fn unknown_metabyte_error(metabyte: u8, member: &'static str, known: &[&str]) -> Error {
    let known = known.join(", ");
    let reason = alloc::format!("expected an ID of metabyte {known}, found {metabyte}");
    Error::with_reason(ErrorKind::OutOfRange, reason).with_field(member)
}

/// Returns the metabyte of an ID.
fn metabyte_of(id: &BufferedValue<'_>) -> Result<u8, Error> {
    let id = match id {
        BufferedValue::Text(text) => Sno::parse(text),
        BufferedValue::Bytes(bytes) => Sno::from_slice(bytes),
        other => Err(Error::invalid_type("text", other.type_name())),
    };
    id.map(|id| id.metabyte())
}

/// The name of a member, which is borrowed from the input if the format supports this.
struct Name<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(NameVisitor).map(Self)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    #[inline]
    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.into()))
    }
}

type BufferedMember<'de> = (Cow<'de, str>, BufferedValue<'de>);

/// The members from which a variant's type is deserialized.
struct VariantMembers<'de, A> {
    /// The members before the ID, followed by the ID.
    before_id: iter::Chain<vec::IntoIter<BufferedMember<'de>>, iter::Once<BufferedMember<'de>>>,
    /// The value of the member whose name was last read from `before_id`.
    value: Option<BufferedValue<'de>>,
    rest: A,
    /// The name of the member that contains the ID. No later member may have this name.
    id: &'static str,
    human_readable: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for VariantMembers<'de, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let name = if let Some((name, value)) = self.before_id.next() {
            self.value = Some(value);
            name
        } else {
            match self.rest.next_key()? {
                None => return Ok(None),
                Some(Name(name)) if name == self.id => {
                    return Err(A::Error::duplicate_field(self.id));
                }
                Some(Name(name)) => name,
            }
        };
        let read = match name {
            Cow::Borrowed(name) => seed.deserialize(BorrowedStrDeserializer::new(name)),
            Cow::Owned(name) => seed.deserialize(name.into_deserializer()),
        };
        read.map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(ReplayDeserializer::new(value, self.human_readable)),
            None => self.rest.next_value_seed(seed),
        }
    }
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for VariantMembers<'de, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn is_human_readable(&self) -> bool {
        self.human_readable
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
