//! The ID type, which is an integer, and its conversion to a string.

use crate::{
    Result,
    base32::base32hex,
    format::{Text, impl_text_id},
};

/// A Randflake ID. It is a signed 64-bit integer, and sorts like an integer in memory and in a database.
///
/// ```
/// use polyflake::randflake::Randflake;
///
/// let id = Randflake::parse("3vgoe12ccb8gh")?;
/// assert_eq!(id.to_i64(), 4594531474933654033);
/// assert_eq!(id.to_string(), "3vgoe12ccb8gh");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Randflake(i64);

impl Randflake {
    /// The maximum length of an encoded ID in characters.
    pub const TEXT_LEN: usize = base32hex::MAX_DIGITS;

    /// Creates an ID from a signed integer. Every integer is a valid ID, but its fields can be read only by decrypting it.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    ///
    /// assert_eq!(Randflake::from_i64(4_594_531_474_933_654_033).to_string(), "3vgoe12ccb8gh");
    /// ```
    pub const fn from_i64(id: i64) -> Self {
        Self(id)
    }

    /// Creates an ID from an unsigned integer with the same 64 bits.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    ///
    /// assert_eq!(Randflake::from_u64(u64::MAX), Randflake::from_i64(-1));
    /// ```
    pub const fn from_u64(id: u64) -> Self {
        Self(id.cast_signed())
    }

    /// Returns the ID as a signed integer, the form in which a `BIGINT` column stores it.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    ///
    /// assert_eq!(Randflake::parse("fvvvvvvvvvvvv")?.to_i64(), -1); // the largest encoded value
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn to_i64(self) -> i64 {
        self.0
    }

    /// Returns a reference to the signed integer, because some database clients require a reference.
    pub(super) const fn as_i64(&self) -> &i64 {
        &self.0
    }

    /// Returns the ID as the unsigned integer that the string encodes. It has the same 64 bits as the signed integer.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    ///
    /// assert_eq!(Randflake::from_i64(-1).to_u64(), u64::MAX);
    /// ```
    pub const fn to_u64(self) -> u64 {
        self.0.cast_unsigned()
    }

    /// Returns the ID as a string of 1 to 13 characters from `[0-9a-v]`.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    ///
    /// assert_eq!(Randflake::from_i64(32).text().as_str(), "10");
    /// ```
    #[inline]
    pub fn text(self) -> Text<{ Self::TEXT_LEN }> {
        base32hex::encode(self.to_u64())
    }

    /// Parses a base32hex string.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    ///
    /// assert_eq!(Randflake::parse("10")?.to_i64(), 32);
    /// assert_eq!(Randflake::parse("010").unwrap_err().code(), "not_canonical"); // leading zeros are not canonical
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the first of these errors that applies: `invalid_length` unless the string has 1 to 13 characters,
    /// `invalid_character` with the position of the first character outside `[0-9a-v]`, `not_canonical` for a leading zero, or
    /// `out_of_range` for a value above 2^64 - 1.
    #[inline]
    pub fn parse(text: &str) -> Result<Self> {
        base32hex::decode(text).map(Self::from_u64)
    }
}

impl_text_id!(Randflake);
