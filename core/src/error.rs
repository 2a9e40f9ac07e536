//! One opaque [`Error`] for everything, a public data-less [`ErrorKind`], and a code that is the same string in every
//! language.

mod kind;
mod message;

pub use kind::ErrorKind;

/// A name in an error: a built-in one, or that of a custom layout's field.
#[cfg(feature = "alloc")]
pub(crate) type Name = alloc::borrow::Cow<'static, str>;
#[cfg(not(feature = "alloc"))]
type Name = &'static str;

/// The details of an error, filled in on the cold path only.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Detail {
    None,
    Length {
        found: usize,
        least: usize,
        most: usize,
    },
    Multiple {
        found: usize,
        of: usize,
    },
    Character {
        position: usize,
        /// As [`Error::bad_character`] takes it.
        unit: Option<u32>,
    },
    Range {
        value: i128,
        least: i128,
        most: i128,
    },
    #[cfg(feature = "alloc")]
    Misfit {
        bits: u32,
        value: Name,
    },
    RetryAt(i64),
    Reason(Name),
    Type {
        expected: &'static str,
        found: Name,
    },
}

/// Where the error is in a call for many items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Among {
    Nothing,
    /// Items written before the error.
    Written(usize),
    /// The item that was refused.
    Item(usize),
}

/// Why a call was refused. Nothing was changed by it, and nothing is lost.
///
/// ```
/// use polyflake::{ErrorKind, sno::Sno};
///
/// let error = Sno::parse("9q6kc9o37a32432!").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidCharacter);
/// assert_eq!(error.code(), "invalid_character");
/// assert_eq!(error.position(), Some(15));
/// assert_eq!(error.to_string(), "invalid character '!' at position 15");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    field: Option<Name>,
    detail: Detail,
    among: Among,
}

impl Error {
    const fn with(kind: ErrorKind, detail: Detail) -> Self {
        Self { kind, field: None, detail, among: Among::Nothing }
    }

    /// An error of a kind, without details: for clocks and sources of random bytes of your own.
    #[cold]
    pub const fn new(kind: ErrorKind) -> Self {
        Self::with(kind, Detail::None)
    }

    /// An error with its reason in words: lower case, no full stop, "expected X, found Y".
    ///
    /// ```
    /// use polyflake::{Error, ErrorKind};
    ///
    /// let error = Error::because(ErrorKind::ClockFailed, "expected a reading of the GPS, found none");
    /// assert_eq!(error.to_string(), "expected a reading of the GPS, found none");
    /// ```
    #[cold]
    pub fn because(kind: ErrorKind, reason: impl Into<Name>) -> Self {
        Self::with(kind, Detail::Reason(reason.into()))
    }

    /// What went wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The stable code, the same string in every language.
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The 0-based index of the first bad character, in the text's own unit.
    pub const fn position(&self) -> Option<usize> {
        match self.detail {
            Detail::Character { position, .. } => Some(position),
            _ => None,
        }
    }

    /// The parameter, field or option that was refused.
    pub fn field(&self) -> Option<&str> {
        #[allow(clippy::useless_asref, reason = "without a heap, a name is a text")]
        self.field.as_ref().map(AsRef::as_ref)
    }

    /// The value that was refused, and the limits (both inclusive) that it broke, in the unit that the caller gave.
    pub const fn range(&self) -> Option<(i128, i128, i128)> {
        match self.detail {
            Detail::Range { value, least, most, .. } => Some((value, least, most)),
            _ => None,
        }
    }

    /// When to try again, in Unix milliseconds.
    pub const fn retry_at(&self) -> Option<i64> {
        match self.detail {
            Detail::RetryAt(unix_ms) => Some(unix_ms),
            _ => None,
        }
    }

    /// How many items of a buffer were filled before the error; they hold valid IDs.
    pub const fn written(&self) -> Option<usize> {
        match self.among {
            Among::Written(written) => Some(written),
            _ => None,
        }
    }

    /// The 0-based index of the item that was refused, where there are many.
    pub const fn item(&self) -> Option<usize> {
        match self.among {
            Among::Item(item) => Some(item),
            _ => None,
        }
    }
}

/// What this crate, its bindings and their tests make errors with. No part of what is promised: hidden in the documentation, and
/// free to change in any version.
impl Error {
    /// A text or byte string of the wrong length; lengths in its own unit (characters, UTF-16 units or bytes).
    #[doc(hidden)]
    #[cold]
    pub const fn invalid_length(found: usize, least: usize, most: usize) -> Self {
        Self::with(ErrorKind::InvalidLength, Detail::Length { found, least, most })
    }

    /// Bytes that are not a whole number of items of `of` bytes.
    #[doc(hidden)]
    #[cold]
    pub const fn not_a_multiple(found: usize, of: usize) -> Self {
        Self::with(ErrorKind::InvalidLength, Detail::Multiple { found, of })
    }

    /// A secret of the wrong length, in bytes; nothing of its content is told.
    #[doc(hidden)]
    #[cold]
    pub const fn invalid_secret(found: usize) -> Self {
        Self::with(ErrorKind::InvalidSecret, Detail::Length { found, least: 16, most: 16 })
    }

    /// The 0-based position of the first bad character of a text, where the character itself is not known.
    #[doc(hidden)]
    #[cold]
    pub const fn invalid_character(position: usize) -> Self {
        Self::with(ErrorKind::InvalidCharacter, Detail::Character { position, unit: None })
    }

    /// The first bad character of a text and its 0-based position: a Unicode scalar value, a surrogate, or for bytes past ASCII
    /// what [`unit_of_byte`] gives.
    #[doc(hidden)]
    #[cold]
    pub const fn bad_character(position: usize, unit: u32) -> Self {
        Self::with(ErrorKind::InvalidCharacter, Detail::Character { position, unit: Some(unit) })
    }

    /// A value outside `least..=most`.
    #[doc(hidden)]
    #[cold]
    pub fn out_of_range(field: impl Into<Name>, value: i128, least: i128, most: i128) -> Self {
        Self::with(ErrorKind::OutOfRange, Detail::Range { value, least, most }).of(field)
    }

    /// A value of any type that does not fit a field of so many bits.
    #[cfg(feature = "alloc")]
    #[cold]
    pub(crate) fn misfit(field: impl Into<Name>, bits: u32, value: impl Into<Name>) -> Self {
        let detail = Detail::Misfit { bits, value: value.into() };
        Self::with(ErrorKind::OutOfRange, detail).of(field)
    }

    /// The same error as one of another kind.
    #[inline(never)]
    #[cfg(feature = "alloc")]
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// A time outside `least..=most`, in the unit that the caller gave.
    #[doc(hidden)]
    #[cold]
    pub fn time_out_of_range(field: &'static str, time: i128, least: i128, most: i128) -> Self {
        let detail = Detail::Range { value: time, least, most };
        Self::with(ErrorKind::TimeOutOfRange, detail).of(field)
    }

    /// An error about one named field: `unknown_field`, `missing_field`, `invalid_character`.
    #[doc(hidden)]
    #[cold]
    pub fn field_error(kind: ErrorKind, field: impl Into<Name>) -> Self {
        Self::with(kind, Detail::None).of(field)
    }

    /// An error that time cures, and when: `unix_ms`.
    #[doc(hidden)]
    #[cold]
    pub const fn retry_later(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::with(kind, Detail::RetryAt(unix_ms))
    }

    /// A value of another type than expected.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_type(expected: &'static str, found: impl Into<Name>) -> Self {
        Self::with(ErrorKind::InvalidType, Detail::Type { expected, found: found.into() })
    }

    /// The same error, naming the parameter, field or option that was refused.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn of(mut self, field: impl Into<Name>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// The same error, saying how many items of a buffer hold IDs now.
    #[doc(hidden)]
    #[must_use]
    pub const fn after_writing(mut self, written: usize) -> Self {
        self.among = Among::Written(written);
        self
    }

    /// The same error, saying which item of a slice was refused.
    #[doc(hidden)]
    #[must_use]
    pub const fn in_item(mut self, item: usize) -> Self {
        self.among = Among::Item(item);
        self
    }
}

/// A byte of a text as [`Error::bad_character`] takes it: past ASCII it is no character by itself.
#[inline]
pub(crate) fn unit_of_byte(byte: u8) -> u32 {
    if byte.is_ascii() { byte.into() } else { 0x11_0000 | u32::from(byte) }
}

impl core::error::Error for Error {}

/// The result of everything that can be refused.
pub type Result<T> = core::result::Result<T, Error>;
