//! From an ID to its fields.

use alloc::{borrow::Cow, string::String};

use super::{
    Id, Layout, Slot, Timeline, Type, Value, bits,
    decimal::without_leading_zeros,
    layout::{Shape, foreign_slot},
    placed::{Placed, Role},
};
use crate::{Error, ErrorKind, Result};

/// The bits of an ID.
#[derive(Clone, Copy, Debug)]
enum Bits<'a> {
    Word(u64),
    Bytes(&'a [u8]),
}

/// The fields of an ID, whose time is known to fit 64-bit milliseconds, and whose texts are known to be UTF-8.
///
/// Nothing is copied until a field is read. Even then only bytes and texts that do not lie on whole bytes are copied, and
/// integers past 128 bits.
#[derive(Clone, Debug)]
pub struct Parsed<'a> {
    layout: &'a Layout,
    bits: Bits<'a>,
    unix_ms: Option<i64>,
}

impl Layout {
    /// The fields of an ID: `invalid_type` if it is not of this layout's kind, `invalid_length` for a wrong length,
    /// `time_out_of_range` for a time outside signed 64-bit milliseconds, `invalid_character` for a text that is not UTF-8.
    pub fn parse<'a>(&'a self, id: &'a Id) -> Result<Parsed<'a>> {
        match id {
            Id::Integer(id) => self.parse_integer(*id),
            Id::Bytes(id) => self.parse_bytes(id),
        }
    }

    /// The fields of an integer ID.
    #[inline]
    pub fn parse_integer(&self, id: i64) -> Result<Parsed<'_>> {
        if self.shape != Shape::Integer {
            return Err(Error::invalid_type("bytes", "an integer"));
        }
        let bits = Bits::Word(id.cast_unsigned());
        let unix_ms = self.time_field().map(|(timeline, field)| bits.unix_ms(field, timeline));
        Ok(Parsed { layout: self, bits, unix_ms: unix_ms.transpose()? })
    }

    /// The fields of a byte ID.
    pub fn parse_bytes<'a>(&'a self, id: &'a [u8]) -> Result<Parsed<'a>> {
        self.check_length(id.len())?;
        self.checked(Bits::Bytes(id))
    }

    /// Refuses bytes that are no ID of this layout.
    pub(super) fn check_length(&self, found: usize) -> Result<()> {
        match self.shape {
            Shape::Integer => Err(Error::invalid_type("an integer", "bytes")),
            Shape::Bytes(length) if length != found => {
                Err(Error::invalid_length(found, length, length))
            }
            Shape::Bytes(_) => Ok(()),
        }
    }

    /// Checks an ID's time, and that its texts are UTF-8; the first error is from the top.
    fn checked<'a>(&'a self, bits: Bits<'a>) -> Result<Parsed<'a>> {
        let mut unix_ms = None;
        for field in &self.fields {
            if let Role::Timestamp(timeline) = &field.role {
                unix_ms = Some(bits.unix_ms(field, timeline)?);
            } else if field.kind() == Type::Text {
                bits.text(field)?;
            }
        }
        Ok(Parsed { layout: self, bits, unix_ms })
    }
}

impl<'a> Parsed<'a> {
    /// The start of the ID's tick, in Unix milliseconds, floored; none in a layout without a timestamp.
    #[inline]
    pub const fn unix_ms(&self) -> Option<i64> {
        self.unix_ms
    }

    /// The start of the ID's tick, in Unix nanoseconds, for ticks shorter than a millisecond.
    pub fn unix_nanos(&self) -> Option<i128> {
        let (timeline, field) = self.layout.time_field()?;
        timeline.micros_of(self.bits.integer(field)).map(|micros| micros * 1000)
    }

    /// The sequence; none in a layout without one.
    pub fn sequence(&self) -> Option<i128> {
        let slot = self.layout.sequence().ok()?;
        Some(self.bits.integer(&self.layout.fields[slot.0]))
    }

    /// The value of a field; for a timestamp its time in Unix milliseconds.
    #[inline]
    pub fn get(&self, slot: Slot) -> Result<Value<'a>> {
        let field = self.layout.fields.get(slot.0).ok_or_else(foreign_slot)?;
        if field.plain {
            Ok(Value::Integer(self.bits.integer(field)))
        } else {
            self.get_slowly(field)
        }
    }

    /// The integer in a field, or the time in a timestamp; `invalid_type` for bytes or text, `out_of_range` past 128 bits.
    #[inline]
    pub fn integer(&self, slot: Slot) -> Result<i128> {
        let field = self.layout.fields.get(slot.0).ok_or_else(foreign_slot)?;
        if field.plain {
            return Ok(self.bits.integer(field));
        }
        match self.get_slowly(field)? {
            Value::Integer(number) => Ok(number),
            value @ Value::Wide { .. } => {
                Err(Error::misfit(field.name.clone(), 128, value.brief()))
            }
            value => Err(Error::invalid_type("an integer", value.type_name())),
        }
    }

    /// The value of a field of any type, except small integers.
    fn get_slowly(&self, field: &Placed) -> Result<Value<'a>> {
        match &field.role {
            Role::Timestamp(_) => Ok(Value::Integer(self.unix_ms.unwrap_or_default().into())),
            Role::Unused => Err(foreign_slot()),
            _ => self.bits.value(field),
        }
    }

    /// The value of a bindable, or `unknown_field`.
    pub fn bindable(&self, name: &str) -> Result<Value<'a>> {
        self.get(self.layout.bindable(name)?)
    }

    /// The value that a constant has in this ID, or `unknown_field`.
    pub fn constant(&self, name: &str) -> Result<Value<'a>> {
        self.get(self.layout.constant(name)?)
    }

    /// All bindables by name, from the top.
    pub fn bindables(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.all(|role| matches!(role, Role::Bindable(_)))
    }

    /// All constants by name, from the top.
    pub fn constants(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.all(|role| matches!(role, Role::Constant(_)))
    }

    fn all(&self, is: fn(&Role) -> bool) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.layout.named(is).filter_map(|(name, slot)| Some((name, self.get(slot).ok()?)))
    }
}

impl<'a> Bits<'a> {
    /// The bits of a field of at most 64 bits, with its inversion undone.
    #[inline]
    fn word(self, field: &Placed) -> u64 {
        let bits = match self {
            Self::Word(word) => word >> field.shift & field.width.most,
            Self::Bytes(id) => bits::take(id, field.offset, field.width.bits),
        };
        bits ^ field.flip
    }

    /// The integer in a field of at most 64 bits.
    #[inline]
    fn integer(self, field: &Placed) -> i128 {
        field.width.widen(self.word(field))
    }

    /// The start of the tick in a timestamp.
    #[inline]
    fn unix_ms(self, field: &Placed, timeline: &Timeline) -> Result<i64> {
        let value = self.integer(field);
        timeline.ms_of(value).ok_or_else(|| timeline.past_64_bits(value))
    }

    /// The value of any field.
    fn value(self, field: &Placed) -> Result<Value<'a>> {
        match field.kind() {
            Type::Integer if field.plain => Ok(Value::Integer(self.integer(field))),
            Type::Integer => Ok(wide_integer(self.bytes(field))),
            Type::Bytes => Ok(Value::Bytes(self.bytes(field))),
            Type::Text => self.text(field).map(Value::Text),
        }
    }

    /// The bytes of a field, without leading zeros: the ID's own where the field lies on whole bytes.
    fn bytes(self, field: &Placed) -> Cow<'a, [u8]> {
        let Self::Bytes(id) = self else {
            return Cow::Owned(without_leading_zeros(&self.word(field).to_be_bytes()).into());
        };
        let (start, bits) = (field.offset as usize, field.width.bits as usize);
        if start % 8 == 0 && bits % 8 == 0 && !field.invert {
            return Cow::Borrowed(without_leading_zeros(&id[start / 8..(start + bits) / 8]));
        }
        Cow::Owned(bits::take_wide(id, field.offset, field.width.bits, field.invert))
    }

    fn text(self, field: &Placed) -> Result<Cow<'a, str>> {
        let text = match self.bytes(field) {
            Cow::Borrowed(bytes) => core::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        };
        text.ok_or_else(|| Error::field_error(ErrorKind::InvalidCharacter, field.name.clone()))
    }
}

/// The integer of a field of more than 64 bits; a value that fits 64 bits is read as a signed integer.
fn wide_integer(number: Cow<'_, [u8]>) -> Value<'_> {
    match Value::integer(false, number) {
        Value::Integer(n) => Value::Integer(u64::try_from(n).map_or(n, |n| n.cast_signed().into())),
        wide => wide,
    }
}
