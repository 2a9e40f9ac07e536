//! The ID type of layouts that are known only at run time.

use alloc::{vec, vec::Vec};
use core::fmt;

use crate::{
    Error, ErrorKind, Result,
    layout::{Representation, ResolvedField, Value, fields::bits},
};

/// An ID with a custom layout. IDs with the same layout sort as they do in databases: signed integers numerically, and
/// bytes lexicographically.
///
/// ```
/// use polyflake::layout::Id;
///
/// assert!(Id::Integer(-1) < Id::Integer(0)); // signed, as in a column of type BIGINT
/// assert_eq!(Id::Bytes(vec![0xca, 0xfe]).to_string(), "cafe");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Id {
    /// An ID with an integer layout.
    Integer(i64),
    /// An ID with a byte layout.
    Bytes(Vec<u8>),
}

impl Id {
    /// Parses an integer ID from a decimal string, the form in which most web APIs send it.
    ///
    /// # Errors
    /// Returns `invalid_character` if the string is not a canonical decimal, for example because of leading zeros or a plus
    /// sign, or `out_of_range` if the integer does not fit in a signed 64-bit integer.
    ///
    /// ```
    /// use polyflake::layout::{Id, preset};
    ///
    /// let discord = preset("discord", [])?;
    /// let id = Id::from_decimal("175928847299117063")?;
    /// assert_eq!(discord.parse(&id)?.unix_ms(), Some(1_462_015_105_796));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn from_decimal(text: &str) -> Result<Self> {
        let id = match Value::parse_integer(text)? {
            Value::Integer(id) => i64::try_from(id).ok(),
            _ => None,
        };
        id.map(Self::Integer).ok_or_else(|| {
            Error::with_reason(
                ErrorKind::OutOfRange,
                "expected an integer of 64 bits, found a larger one",
            )
            .with_field("id")
        })
    }

    /// Returns the integer, or `None` for a byte ID.
    ///
    /// ```
    /// use polyflake::layout::Id;
    ///
    /// assert_eq!(Id::Integer(7).as_integer(), Some(7));
    /// assert_eq!(Id::Bytes(vec![7]).as_bytes(), Some(&[7][..]));
    /// ```
    pub const fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(id) => Some(*id),
            Self::Bytes(_) => None,
        }
    }

    /// Returns the bytes, or `None` for an integer ID.
    ///
    /// ```
    /// use polyflake::layout::Id;
    ///
    /// assert_eq!(Id::Bytes(vec![7]).as_bytes(), Some(&[7][..]));
    /// assert_eq!(Id::Integer(7).as_bytes(), None);
    /// ```
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Integer(_) => None,
            Self::Bytes(id) => Some(id),
        }
    }
}

/// Methods for an ID that is built field by field. Fields can be set in any order and more than once.
impl Id {
    /// Returns an ID of all zeros.
    pub(in crate::layout) fn zero(representation: Representation) -> Self {
        match representation {
            Representation::Integer => Self::Integer(0),
            Representation::Bytes(length) => Self::Bytes(vec![0; length]),
        }
    }

    /// Writes a number to a field of at most 64 bits. The number is inverted if the field is inverted.
    #[inline]
    pub(in crate::layout) fn write_field(&mut self, field: &ResolvedField, number: u64) {
        match self {
            Self::Integer(id) => *id = field.insert_into_integer(*id, number),
            Self::Bytes(id) => field.insert_into_bytes(id, number),
        }
    }

    /// Writes a big-endian number to a field of any width. The number is inverted if the field is inverted.
    pub(in crate::layout) fn write_wide_field(&mut self, field: &ResolvedField, number: &[u8]) {
        if let Self::Bytes(id) = self {
            bits::write_wide_bits(id, field.offset, field.width.bits, number, field.invert);
        }
    }

    /// Sets or clears all bits of a field.
    pub(in crate::layout) fn fill_field(&mut self, field: &ResolvedField, ones: bool) {
        match self {
            Self::Integer(_) if ones => self.write_field(field, field.width.most ^ field.flip),
            Self::Integer(_) => self.write_field(field, field.flip),
            Self::Bytes(id) => bits::write_wide_bits(id, field.offset, field.width.bits, &[], ones),
        }
    }

    /// Returns whether all bits above the lowest `limit` bits are zero.
    pub(in crate::layout) fn is_below(&self, limit: u32) -> bool {
        let length = match self {
            Self::Integer(id) => bits::significant_bits(&id.to_be_bytes()),
            Self::Bytes(id) => bits::significant_bits(id),
        };
        length <= limit as usize
    }
}

impl fmt::Display for Id {
    /// Writes integers in decimal and bytes in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => write!(f, "{id}"),
            Self::Bytes(id) => id.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl From<i64> for Id {
    fn from(id: i64) -> Self {
        Self::Integer(id)
    }
}

impl From<Vec<u8>> for Id {
    fn from(id: Vec<u8>) -> Self {
        Self::Bytes(id)
    }
}
