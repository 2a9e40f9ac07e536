//! A field with its position in the ID. The struct contains everything needed to pack and parse the field. It is computed
//! when the layout is built.

use alloc::string::String;

use crate::{
    Error, ErrorKind, Result,
    layout::{Id, Timeline, Value, ValueType, Width, fields::bits},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::layout) enum Role {
    Timestamp(Timeline),
    /// The sequence and its start value.
    Sequence(Value<'static>),
    Constant(Value<'static>),
    Bindable(ValueType),
    Unused,
}

impl Role {
    pub(in crate::layout) const fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }

    pub(in crate::layout) const fn is_bindable(&self) -> bool {
        matches!(self, Self::Bindable(_))
    }

    /// Returns the name of the role in a layout's JSON representation.
    pub(in crate::layout) const fn as_str(&self) -> &'static str {
        match self {
            Self::Timestamp(_) => "timestamp",
            Self::Sequence(_) => "sequence",
            Self::Constant(_) => "constant",
            Self::Bindable(_) => "bindable",
            Self::Unused => "unused",
        }
    }

    /// Returns the type of the field's values.
    pub(in crate::layout) fn kind(&self) -> ValueType {
        match self {
            Self::Bindable(kind) => *kind,
            Self::Constant(value) => value.kind().unwrap_or(ValueType::Integer),
            Self::Timestamp(_) | Self::Sequence(_) | Self::Unused => ValueType::Integer,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::layout) struct ResolvedField {
    pub(in crate::layout) name: String,
    pub(in crate::layout) role: Role,
    /// The number of bits above the field.
    pub(in crate::layout) offset: u32,
    pub(in crate::layout) width: Width,
    /// The number of bits below the field in an integer layout, or 0 if the field has no bits.
    pub(in crate::layout) shift: u32,
    /// A mask of the bits to flip in a field of at most 64 bits: all of the field's bits, or no bits.
    pub(in crate::layout) flip: u64,
    pub(in crate::layout) invert: bool,
    /// `true` if the field is a sequence, constant or bindable field that accepts integers of at most 64 bits.
    pub(in crate::layout) plain: bool,
}

impl ResolvedField {
    /// Converts a value of a common kind to the number that the field stores. The common kinds are an integer for a plain
    /// field, and a time in milliseconds for a timestamp. Returns `None` if the value does not fit or is of any other kind.
    /// [`ResolvedField::write_value`] handles all other values and reports the errors.
    #[inline]
    pub(in crate::layout) fn small_number(&self, value: &Value<'_>) -> Option<u64> {
        let Value::Integer(number) = value else { return None };
        let number = match &self.role {
            Role::Timestamp(timeline) => timeline.value_at_ms(i64::try_from(*number).ok()?),
            _ if self.plain => *number,
            _ => return None,
        };
        self.width.narrow(number)
    }

    /// Returns an integer ID with the field set to a number. The number is inverted if the field is inverted.
    #[inline]
    pub(in crate::layout) const fn insert_into_integer(&self, id: i64, number: u64) -> i64 {
        let bits = (number ^ self.flip) << self.shift;
        id & !(self.width.most << self.shift).cast_signed() | bits.cast_signed()
    }

    /// Writes a number to a field of at most 64 bits in a byte ID. The number is inverted if the field is inverted.
    #[inline]
    pub(in crate::layout) fn insert_into_bytes(&self, id: &mut [u8], number: u64) {
        bits::write_bits(id, self.offset, self.width.bits, number ^ self.flip);
    }

    /// Returns the error for a value that does not fit in the field. The value is an integer, or a time in Unix
    /// milliseconds if the field is the timestamp.
    #[cold]
    pub(in crate::layout) fn out_of_range(&self, value: i64) -> Error {
        match &self.role {
            Role::Timestamp(timeline) => timeline.time_out_of_range("timestamp", value.into()),
            _ => self.value_out_of_range(&Value::Integer(value.into())),
        }
    }

    /// Checks a value and writes it to the field's bits in `partial`.
    pub(in crate::layout) fn write_value(&self, value: &Value<'_>, partial: &mut Id) -> Result<()> {
        if let Role::Timestamp(timeline) = &self.role {
            partial.write_field(self, self.time_to_ticks(timeline, value)?);
            return Ok(());
        }
        let mut space = [0; 16];
        let number = self.to_big_endian(value, &mut space)?;
        if self.width.bits <= 64 {
            partial.write_field(
                self,
                number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
            );
        } else {
            partial.write_wide_field(self, number);
        }
        Ok(())
    }

    /// Returns the type of the field's values.
    pub(in crate::layout) fn kind(&self) -> ValueType {
        self.role.kind()
    }

    /// Returns the error for a missing value of this field.
    #[cold]
    pub(in crate::layout) fn missing_field(&self) -> Error {
        Error::field_error(ErrorKind::MissingField, self.name.clone())
    }

    /// Converts a time to the value of the timestamp field.
    fn time_to_ticks(&self, timeline: &Timeline, value: &Value<'_>) -> Result<u64> {
        let (ticks, unix_ms) = match value {
            Value::Integer(ms) => (i64::try_from(*ms).ok().map(|ms| timeline.value_at_ms(ms)), *ms),
            Value::Nanos(nanos) => (timeline.value_at_nanos(*nanos), nanos.div_euclid(1_000_000)),
            Value::Wide(_) | Value::Beyond => {
                return Err(self.value_out_of_range(value).with_kind(ErrorKind::TimeOutOfRange));
            }
            _ => return Err(self.wrong_type("an integer", value)),
        };
        ticks
            .and_then(|ticks| self.width.narrow(ticks))
            .ok_or_else(|| timeline.time_out_of_range("timestamp", unix_ms))
    }

    /// Checks a value of any type and returns it as a big-endian number without leading zeros. The bytes of an integer are
    /// written to `space`.
    fn to_big_endian<'v>(&self, value: &'v Value<'_>, space: &'v mut [u8; 16]) -> Result<&'v [u8]> {
        if value.kind() != Some(self.kind()) {
            return Err(self.wrong_type(self.kind().noun(), value));
        }
        let number = match value {
            Value::Bytes(bytes) => bytes,
            Value::Text(text) => text.as_bytes(),
            _ => {
                let number = self.integer(value).ok_or_else(|| self.value_out_of_range(value))?;
                *space = number.to_be_bytes();
                space
            }
        };
        if bits::significant_bits(number) > self.width.bits as usize {
            return Err(self.value_out_of_range(value));
        }
        Ok(bits::without_leading_zeros(number))
    }

    /// Returns the value as an integer if it fits in 128 bits.
    fn integer(&self, value: &Value<'_>) -> Option<u128> {
        match value {
            Value::Integer(number) => self.width.modulo(*number),
            Value::Wide(number) => Some(*number),
            _ => None,
        }
    }

    #[cold]
    fn wrong_type(&self, expected: &'static str, value: &Value<'_>) -> Error {
        Error::invalid_type(expected, value.type_name()).with_field(self.name.clone())
    }

    /// Returns the error for a value that does not fit.
    #[cold]
    fn value_out_of_range(&self, value: &Value<'_>) -> Error {
        Error::value_too_wide(&self.name, self.width.bits, &value.to_message())
    }
}
