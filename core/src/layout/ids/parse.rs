//! Parses an ID into its fields.
//!
//! Only fields that can be invalid are decoded immediately: times, which may not fit in 64-bit milliseconds, and strings,
//! which may not be valid UTF-8. All other fields are read when the caller requests them, because most callers need only
//! one or two fields.

use alloc::{borrow::Cow, string::String};

#[cfg(feature = "json")]
use crate::layout::Json;
use crate::{
    Error, ErrorKind, Result,
    error::check_same_length,
    layout::{
        FieldIndex, Id, Layout, Representation, ResolvedField, Role, Value, ValueType,
        fields::bits::{self, without_leading_zeros},
        foreign_field_index,
    },
};

/// The bits of an ID.
#[derive(Clone, Copy, Debug)]
pub(in crate::layout) enum Bits<'a> {
    Word(u64),
    Bytes(&'a [u8]),
}

/// The fields of an ID. The time is known to fit in 64-bit milliseconds, and the strings are known to be UTF-8.
///
/// Fields are decoded when they are read. Even then, only bytes and strings that do not start and end at byte boundaries
/// are copied.
///
/// ```
/// let twitter = polyflake::layout::preset("twitter", [])?;
/// let tweet = twitter.parse_integer(1_541_815_603_606_036_480)?;
/// assert_eq!((tweet.unix_ms(), tweet.sequence()), (Some(1_656_432_460_105), Some(0)));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[cfg_attr(
    feature = "json",
    doc = "With the feature `json`, it serializes as an object. Integers beyond 2^53 become decimal strings, and bytes hex:\n\
           \n\
           ```\n\
           let twitter = polyflake::layout::preset(\"twitter\", [])?;\n\
           let json = serde_json::to_value(twitter.parse_integer(1_541_815_603_606_036_480)?).unwrap();\n\
           assert_eq!(json[\"bindables\"][\"worker\"], 26);\n\
           # Ok::<(), polyflake::Error>(())\n\
           ```"
)]
#[derive(Clone, Debug)]
pub struct Parsed<'a> {
    layout: &'a Layout,
    bits: Bits<'a>,
    unix_ms: Option<i64>,
}

impl Layout {
    /// Parses an ID into its fields. Returns `invalid_type` if the layout has a different type of ID, `invalid_length` if
    /// the length is wrong, `time_out_of_range` if the time does not fit in signed 64-bit milliseconds, or
    /// `invalid_character` if a string is not UTF-8.
    ///
    /// ```
    /// use polyflake::layout::{Id, preset};
    ///
    /// let twitter = preset("twitter", [])?;
    /// let id = Id::Integer(1_541_815_603_606_036_480);
    /// assert_eq!(twitter.parse(&id)?.unix_ms(), Some(1_656_432_460_105)); // 2022-06-28
    /// let bytes = Id::Bytes(vec![0; 8]);
    /// assert_eq!(twitter.parse(&bytes).unwrap_err().code(), "invalid_type");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn parse<'a>(&'a self, id: &'a Id) -> Result<Parsed<'a>> {
        match id {
            Id::Integer(id) => self.parse_integer(*id),
            Id::Bytes(id) => self.parse_bytes(id),
        }
    }

    /// Parses an integer ID into its fields.
    ///
    /// ```
    /// let discord = polyflake::layout::preset("discord", [])?;
    /// let id = discord.parse_integer(175_928_847_299_117_063)?;
    /// assert_eq!((id.unix_ms(), id.sequence()), (Some(1_462_015_105_796), Some(7)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub fn parse_integer(&self, id: i64) -> Result<Parsed<'_>> {
        if self.representation != Representation::Integer {
            return Err(Error::invalid_type("bytes", "an integer"));
        }
        let bits = Bits::Word(id.cast_unsigned());
        let unix_ms = match self.time_field() {
            Some((timeline, field)) => Some(timeline.checked_start_ms(bits.integer(field))?),
            None => None,
        };
        Ok(Parsed { layout: self, bits, unix_ms })
    }

    /// Parses a byte ID into its fields.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick};
    ///
    /// let layout = Layout::bytes(8, [Field::timestamp(48, Tick::MILLISECOND, 0), Field::sequence(16)])?;
    /// let id = layout.parse_bytes(&[0x01, 0x9b, 0x76, 0xda, 0xa8, 0, 0, 7])?;
    /// assert_eq!((id.unix_ms(), id.sequence()), (Some(1_767_225_600_000), Some(7)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn parse_bytes<'a>(&'a self, id: &'a [u8]) -> Result<Parsed<'a>> {
        match self.representation {
            Representation::Integer => return Err(Error::invalid_type("an integer", "bytes")),
            Representation::Bytes(length) => check_same_length(length, id.len())?,
        }
        let (bits, mut unix_ms) = (Bits::Bytes(id), None);
        // Fields are checked in order of significance, so that the error reports the most significant invalid field.
        for field in &self.fields {
            if let Role::Timestamp(timeline) = &field.role {
                unix_ms = Some(timeline.checked_start_ms(bits.integer(field))?);
            } else if field.kind() == ValueType::Text {
                bits.text(field)?;
            }
        }
        Ok(Parsed { layout: self, bits, unix_ms })
    }
}

impl<'a> Parsed<'a> {
    /// Returns the start of the ID's tick in Unix milliseconds, rounded down, or `None` if the layout has no timestamp.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// assert_eq!(twitter.parse_integer(0)?.unix_ms(), Some(1_288_834_974_657)); // the epoch
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub const fn unix_ms(&self) -> Option<i64> {
        self.unix_ms
    }

    /// Returns the start of the ID's tick in Unix nanoseconds, or `None` if the layout has no timestamp. Use this method if
    /// ticks are shorter than a millisecond.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout, Tick};
    ///
    /// let layout = Layout::integer([Field::unused(1), Field::timestamp(63, Tick::MICROSECOND, 0)])?;
    /// let id = layout.parse_integer(1_767_225_600_000_001)?;
    /// assert_eq!((id.unix_nanos(), id.unix_ms()), (Some(1_767_225_600_000_001_000), Some(1_767_225_600_000)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn unix_nanos(&self) -> Option<i128> {
        let (timeline, field) = self.layout.time_field()?;
        timeline.start_nanos(self.bits.integer(field))
    }

    /// Returns the sequence number, or `None` if the layout has no sequence.
    ///
    /// ```
    /// let discord = polyflake::layout::preset("discord", [])?;
    /// assert_eq!(discord.parse_integer(175_928_847_299_117_063)?.sequence(), Some(7));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence(&self) -> Option<i128> {
        let slot = self.layout.sequence().ok()?;
        Some(self.bits.integer(&self.layout.fields[slot.0]))
    }

    /// Returns the value of a field. The value of a timestamp is the time in Unix milliseconds.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let worker = twitter.bindable("worker")?;
    /// assert_eq!(twitter.parse_integer(1_541_815_603_606_036_480)?.get(worker)?, 26.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub fn get(&self, slot: FieldIndex) -> Result<Value<'a>> {
        let field = self.layout.fields.get(slot.0).ok_or_else(foreign_field_index)?;
        if field.plain {
            Ok(Value::Integer(self.bits.integer(field)))
        } else {
            self.get_slow(field)
        }
    }

    /// Returns the value of an integer field. The value of a timestamp is the time in Unix milliseconds. Returns
    /// `invalid_type` for bytes or a string, or `out_of_range` for a value of 2^127 or more.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let worker = twitter.bindable("worker")?;
    /// assert_eq!(twitter.parse_integer(1_541_815_603_606_036_480)?.integer(worker)?, 26);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub fn integer(&self, slot: FieldIndex) -> Result<i128> {
        let field = self.layout.fields.get(slot.0).ok_or_else(foreign_field_index)?;
        if field.plain { Ok(self.bits.integer(field)) } else { self.integer_slow(field) }
    }

    /// Returns the integer value of a timestamp or a wide field.
    fn integer_slow(&self, field: &ResolvedField) -> Result<i128> {
        match self.get_slow(field)? {
            Value::Integer(number) => Ok(number),
            value @ Value::Wide(_) => {
                Err(Error::value_too_wide(&field.name, 127, &value.to_message()))
            }
            value => Err(Error::invalid_type("an integer", value.type_name())),
        }
    }

    /// Returns the value of a field, for values other than small integers.
    fn get_slow(&self, field: &ResolvedField) -> Result<Value<'a>> {
        match (&field.role, field.kind()) {
            (Role::Timestamp(_), _) => Ok(Value::Integer(self.unix_ms.unwrap_or_default().into())),
            (Role::Unused, _) => Err(foreign_field_index()),
            (_, ValueType::Integer) => Ok(wide_integer(&self.bits.bytes(field))),
            (_, ValueType::Bytes) => Ok(Value::Bytes(self.bits.bytes(field))),
            (_, ValueType::Text) => self.bits.text(field).map(Value::Text),
        }
    }

    /// Returns the value of a bindable field, or `unknown_field` if the layout does not have the field.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let tweet = twitter.parse_integer(1_541_815_603_606_036_480)?;
    /// assert_eq!(tweet.bindable("datacenter")?, 11.into());
    /// assert_eq!(tweet.bindable("rack").unwrap_err().code(), "unknown_field");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bindable(&self, name: &str) -> Result<Value<'a>> {
        self.get(self.layout.bindable(name)?)
    }

    /// Returns the value of a constant field in this ID, or `unknown_field` if the layout does not have the field.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::integer([Field::unused(56), Field::constant(8, "region", 3)])?;
    /// assert_eq!(layout.parse_integer(4)?.constant("region")?, 4.into()); // the value in the ID, not the one in the layout
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn constant(&self, name: &str) -> Result<Value<'a>> {
        self.get(self.layout.constant(name)?)
    }

    /// Returns the names and values of all bindable fields, starting with the most significant field.
    ///
    /// ```
    /// let twitter = polyflake::layout::preset("twitter", [])?;
    /// let tweet = twitter.parse_integer(1_541_815_603_606_036_480)?;
    /// let fields: Vec<_> = tweet.bindables().collect();
    /// assert_eq!(fields, [("datacenter", 11.into()), ("worker", 26.into())]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn bindables(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.fields_with_role(Role::is_bindable)
    }

    /// Returns the names and values of all constant fields, starting with the most significant field.
    ///
    /// ```
    /// use polyflake::layout::{Field, Layout};
    ///
    /// let layout = Layout::bytes(3, [Field::constant(16, "region", "eu"), Field::unused(8)])?;
    /// let fields: Vec<_> = layout.parse_bytes(b"us\0")?.constants().collect();
    /// assert_eq!(fields, [("region", "us".into())]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn constants(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.fields_with_role(Role::is_constant)
    }

    /// Returns the fields as JSON.
    #[cfg(feature = "json")]
    pub(in crate::layout) fn to_value(&self) -> Json {
        let fields = |is| {
            let mut object = Json::object();
            self.fields_with_role(is)
                .for_each(|(name, value)| object.insert(name, Json::from_value(value)));
            object
        };
        let mut object = Json::object();
        object.insert("unix_ms", Json::from_option(self.unix_ms));
        object.insert("sequence", Json::from_option(self.sequence()));
        object.insert("bindables", fields(Role::is_bindable));
        object.insert("constants", fields(Role::is_constant));
        object
    }

    fn fields_with_role(
        &self,
        is: fn(&Role) -> bool,
    ) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.layout
            .fields_with_role(is)
            .filter_map(|(name, slot)| Some((name, self.get(slot).ok()?)))
    }
}

impl Id {
    pub(in crate::layout) const fn bits(&self) -> Bits<'_> {
        match self {
            Self::Integer(id) => Bits::Word(id.cast_unsigned()),
            Self::Bytes(id) => Bits::Bytes(id.as_slice()),
        }
    }
}

impl<'a> Bits<'a> {
    /// Returns the number in a field of at most 64 bits, after reversing any inversion.
    #[inline]
    pub(in crate::layout) fn field_value(self, field: &ResolvedField) -> u64 {
        let bits = match self {
            Self::Word(word) => word >> field.shift & field.width.most,
            Self::Bytes(id) => bits::read_bits(id, field.offset, field.width.bits),
        };
        bits ^ field.flip
    }

    /// Returns the integer in a field of at most 64 bits.
    #[inline]
    fn integer(self, field: &ResolvedField) -> i128 {
        field.width.widen(self.field_value(field))
    }

    /// Returns the bytes of a field without leading zero bytes. The bytes are borrowed from the ID if the field starts and
    /// ends at byte boundaries.
    fn bytes(self, field: &ResolvedField) -> Cow<'a, [u8]> {
        let Self::Bytes(id) = self else {
            return Cow::Owned(
                without_leading_zeros(&self.field_value(field).to_be_bytes()).into(),
            );
        };
        let (start, bits) = (field.offset as usize, field.width.bits as usize);
        if start % 8 == 0 && bits % 8 == 0 && !field.invert {
            return Cow::Borrowed(without_leading_zeros(&id[start / 8..(start + bits) / 8]));
        }
        // The field does not start and end at byte boundaries, or it is inverted, so its bytes cannot be borrowed from the
        // ID.
        Cow::Owned(bits::read_wide_bits(id, field.offset, field.width.bits, field.invert))
    }

    fn text(self, field: &ResolvedField) -> Result<Cow<'a, str>> {
        let text = match self.bytes(field) {
            Cow::Borrowed(bytes) => core::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        };
        text.ok_or_else(|| Error::field_error(ErrorKind::InvalidCharacter, field.name.clone()))
    }
}

/// Returns the integer in a field of 65 to 128 bits. A value that fits in 64 bits is read as a signed integer.
fn wide_integer(number: &[u8]) -> Value<'static> {
    let number = number.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
    u64::try_from(number).map_or_else(|_| number.into(), |number| number.cast_signed().into())
}
