//! A field in its place: all that packing and parsing need of it, worked out when the layout is built.

use alloc::{format, string::String};

use super::{Timeline, Type, Value, bits, decimal::without_leading_zeros};
use crate::{Error, ErrorKind, Result};

/// The smallest integer that a field of 64 bits or more takes: those below 0 are read modulo 2^64.
pub(super) const LEAST: i128 = i64::MIN as i128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Timestamp(Timeline),
    Sequence { start: Value<'static> },
    Constant(Value<'static>),
    Bindable(Type),
    Unused,
}

impl Role {
    /// Its name in a layout's JSON.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Timestamp(_) => "timestamp",
            Self::Sequence { .. } => "sequence",
            Self::Constant(_) => "constant",
            Self::Bindable(_) => "bindable",
            Self::Unused => "unused",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) role: Role,
    /// From the top bit.
    pub(super) offset: u32,
    pub(super) bits: u32,
    /// Bits below it, in an integer layout; 0 for a width of 0.
    pub(super) shift: u32,
    /// The largest value of a field of at most 64 bits.
    pub(super) most: u64,
    /// What to flip in a field of at most 64 bits: all of it or nothing.
    pub(super) flip: u64,
    pub(super) invert: bool,
}

impl Placed {
    /// The value to encode: the one given, or the constant's own.
    #[inline]
    fn value<'v>(&'v self, given: Option<&'v Value<'v>>) -> Result<&'v Value<'v>> {
        match (given, &self.role) {
            (Some(value), _) | (None, Role::Constant(value)) => Ok(value),
            _ => Err(Error::field_error(ErrorKind::MissingField, self.name.clone())),
        }
    }

    /// The bits of a field of at most 64 bits, inverted where it is, from the value given.
    #[inline]
    pub(super) fn word(&self, given: Option<&Value<'_>>) -> Result<u64> {
        if let Role::Unused = self.role {
            return Ok(0);
        }
        let value = self.value(given)?;
        let number = match (&self.role, value) {
            (Role::Timestamp(timeline), _) => self.time(timeline, value)?,
            (_, Value::Integer(number)) if self.kind() == Type::Integer => {
                self.narrow(*number).ok_or_else(|| self.misfit(value))?
            }
            _ => self.small_number(value)?,
        };
        Ok(number ^ self.flip)
    }

    /// Writes the value given into an ID that is 0 here.
    pub(super) fn write(&self, given: Option<&Value<'_>>, id: &mut [u8]) -> Result<()> {
        if self.bits <= 64 {
            bits::flip_in(id, self.offset, self.bits, self.word(given)?);
            return Ok(());
        }
        if let Role::Unused = self.role {
            return Ok(());
        }
        let value = self.value(given)?;
        bits::flip_in_wide(id, self.offset, self.bits, self.number(value, &mut [0; 16])?);
        if self.invert {
            bits::flip_all(id, self.offset, self.bits);
        }
        Ok(())
    }

    /// What kind of values it takes.
    #[inline]
    fn kind(&self) -> Type {
        match &self.role {
            Role::Bindable(kind) => *kind,
            Role::Constant(value) => value.kind().unwrap_or(Type::Integer),
            _ => Type::Integer,
        }
    }

    /// Refuses a value of another type, or one that does not fit.
    pub(super) fn check(&self, value: &Value<'_>) -> Result<()> {
        self.number(value, &mut [0; 16]).map(|_| ())
    }

    /// The bits of an integer in a field of at most 64 bits; none if it does not fit.
    #[inline]
    pub(super) fn narrow(&self, number: i128) -> Option<u64> {
        match u64::try_from(number) {
            Ok(number) => (number <= self.most).then_some(number),
            Err(_) if self.bits == 64 => i64::try_from(number).ok().map(i64::cast_unsigned),
            Err(_) => None,
        }
    }

    /// The value of a time.
    #[inline]
    fn time(&self, timeline: &Timeline, value: &Value<'_>) -> Result<u64> {
        let (ticks, unix_ms) = match value {
            Value::Integer(ms) => (i64::try_from(*ms).ok().map(|ms| timeline.value_of_ms(ms)), *ms),
            Value::Nanos(nanos) => (timeline.value_of_nanos(*nanos), nanos.div_euclid(1_000_000)),
            Value::Wide { negative, .. } => (None, if *negative { i128::MIN } else { i128::MAX }),
            _ => return Err(self.wrong_type("an integer", value)),
        };
        ticks.and_then(|ticks| self.narrow(ticks)).ok_or_else(|| self.outside(timeline, unix_ms))
    }

    /// The bits of any value, checked, in a field of at most 64 bits.
    fn small_number(&self, value: &Value<'_>) -> Result<u64> {
        let mut space = [0; 16];
        let number = self.number(value, &mut space)?;
        Ok(number.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    /// Any value, checked, as a big-endian number without leading zeros; `space` is for those that are no bytes yet.
    fn number<'v>(&self, value: &'v Value<'_>, space: &'v mut [u8; 16]) -> Result<&'v [u8]> {
        if value.kind() != Some(self.kind()) {
            return Err(self.wrong_type(self.takes(), value));
        }
        let number = match value {
            Value::Integer(number) => {
                *space = self.modulo(*number).ok_or_else(|| self.misfit(value))?.to_be_bytes();
                space
            }
            Value::Wide { negative: false, magnitude } => &**magnitude,
            Value::Bytes(bytes) => bytes,
            Value::Text(text) => text.as_bytes(),
            _ => return Err(self.misfit(value)),
        };
        if bits::length(number) > self.bits as usize {
            return Err(self.misfit(value));
        }
        Ok(without_leading_zeros(number))
    }

    /// An integer in the field's own arithmetic, where numbers below 0 are taken modulo 2^64.
    fn modulo(&self, number: i128) -> Option<u128> {
        match u128::try_from(number) {
            Ok(number) => Some(number),
            Err(_) if self.bits >= 64 => {
                i64::try_from(number).ok().map(|number| number.cast_unsigned().into())
            }
            Err(_) => None,
        }
    }

    fn takes(&self) -> &'static str {
        match self.kind() {
            Type::Integer => "an integer",
            Type::Bytes => "bytes",
            Type::Text => "text",
        }
    }

    #[cold]
    fn wrong_type(&self, expected: &'static str, value: &Value<'_>) -> Error {
        Error::invalid_type(expected, format!("{} for {}", value.type_name(), self.name))
    }

    /// The error for a value that does not fit.
    #[cold]
    fn misfit(&self, value: &Value<'_>) -> Error {
        Error::misfit(self.name.clone(), self.bits, value)
    }

    /// The error for a time that does not fit.
    #[cold]
    pub(super) fn outside(&self, timeline: &Timeline, unix_ms: i128) -> Error {
        let least = timeline.ms_of(if self.bits == 64 { LEAST } else { 0 }).unwrap_or(i64::MIN);
        let end = timeline.ms_of(i128::from(self.most) + 1).map(|end| end - 1);
        Error::time_out_of_range(unix_ms, least.into(), end.unwrap_or(i64::MAX).into())
    }
}
