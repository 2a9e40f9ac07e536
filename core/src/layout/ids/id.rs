//! The ID of a layout, which is only known at run time.

use alloc::vec::Vec;
use core::fmt;

/// An ID of a custom layout. IDs of one layout are ordered as in databases: integers as signed ones, bytes bytewise.
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
    /// The ID of an integer layout.
    Integer(i64),
    /// The ID of a layout of byte IDs.
    Bytes(Vec<u8>),
}

impl Id {
    /// The integer; `None` for an ID of bytes.
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

    /// The bytes; `None` for an integer.
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

impl fmt::Display for Id {
    /// Writes integers in decimal, bytes in hex.
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
