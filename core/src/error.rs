//! One opaque [`Error`] for everything, a public data-less [`ErrorKind`], and a code that is the same string in every
//! language.

mod facts;
mod kind;
mod message;
mod packed;
#[cfg(feature = "alloc")]
mod source;

use core::fmt;

pub(crate) use facts::Name;
use facts::{Among, Detail, Facts, Kept};
pub use kind::ErrorKind;
use packed::Packed;

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
///
/// With the `alloc` feature it takes three words of a 64-bit machine. Refusals that loops meet allocate nothing: malformed texts, a tick
/// that is used up, a clock that is behind, windows and leases that have ended.
#[derive(Clone)]
pub struct Error(Packed);

#[cfg(all(feature = "alloc", target_pointer_width = "64"))]
const _: () = assert!(size_of::<Error>() <= 24);
#[cfg(not(feature = "alloc"))]
const _: () = assert!(size_of::<Error>() <= 112);

impl Error {
    #[cold]
    fn with(kind: ErrorKind, detail: Detail<Name>) -> Self {
        Self(Packed::new(kind, Kept::new(None, detail)))
    }

    #[cold]
    fn about(kind: ErrorKind, field: Name, detail: Detail<Name>) -> Self {
        Self(Packed::new(kind, Kept::new(Some(field), detail)))
    }

    /// The same error with other facts.
    #[cold]
    fn changed(self, change: impl FnOnce(&mut Kept)) -> Self {
        let kind = self.kind();
        let mut kept = self.0.unpack();
        change(&mut kept);
        Self(Packed::new(kind, kept))
    }

    fn facts(&self) -> Facts<&str> {
        self.0.facts()
    }

    /// An error of a kind, without details: for clocks and sources of random bytes of your own.
    #[cold]
    pub const fn new(kind: ErrorKind) -> Self {
        Self(Packed::plain(kind))
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

    /// The same error with another one as its [source](core::error::Error::source), for example the cause of a clock's failure. The
    /// message does not repeat the source, and equality ignores it.
    ///
    /// ```
    /// use std::error::Error as _;
    ///
    /// use polyflake::{Error, ErrorKind};
    ///
    /// let closed = std::io::Error::other("receiver is closed");
    /// let error = Error::because(ErrorKind::ClockFailed, "expected a reading of the GPS, found none");
    /// let error = error.with_source(closed);
    /// assert_eq!(error.to_string(), "expected a reading of the GPS, found none");
    /// assert_eq!(error.source().unwrap().to_string(), "receiver is closed");
    /// ```
    #[cfg(feature = "alloc")]
    #[cold]
    #[must_use]
    pub fn with_source(self, source: impl core::error::Error + Send + Sync + 'static) -> Self {
        self.changed(|kept| kept.source = Some(source::Source::new(source)))
    }

    /// What went wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    /// The stable code, the same string in every language.
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// The 0-based index of the first bad character, in the text's own unit.
    pub fn position(&self) -> Option<usize> {
        match self.facts().detail {
            Detail::Character { position, .. } => Some(position),
            _ => None,
        }
    }

    /// The parameter, field or option that was refused.
    pub fn field(&self) -> Option<&str> {
        self.facts().field
    }

    /// The value that was refused, and the limits (both inclusive) that it broke, in the unit that the caller gave.
    pub fn range(&self) -> Option<(i128, i128, i128)> {
        match self.facts().detail {
            Detail::Range { value, least, most, .. } => Some((value, least, most)),
            _ => None,
        }
    }

    /// When to try again, in Unix milliseconds.
    pub fn retry_at(&self) -> Option<i64> {
        match self.facts().detail {
            Detail::RetryAt(unix_ms) => Some(unix_ms),
            _ => None,
        }
    }

    /// How many items of a buffer were filled before the error; they hold valid IDs.
    pub fn written(&self) -> Option<usize> {
        match self.facts().among {
            Among::Written(written) => Some(written),
            _ => None,
        }
    }

    /// The 0-based index of the item that was refused, where there are many.
    pub fn item(&self) -> Option<usize> {
        match self.facts().among {
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
    pub fn invalid_length(found: usize, least: usize, most: usize) -> Self {
        Self::with(ErrorKind::InvalidLength, Detail::Length { found, least, most })
    }

    /// Bytes that are not a whole number of items of `of` bytes.
    #[doc(hidden)]
    #[cold]
    pub const fn not_a_multiple(found: usize, of: usize) -> Self {
        Self(Packed::multiple(ErrorKind::InvalidLength, found, of))
    }

    /// A secret of the wrong length, in bytes; nothing of its content is told.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_secret(found: usize) -> Self {
        Self::with(ErrorKind::InvalidSecret, Detail::Length { found, least: 16, most: 16 })
    }

    /// The 0-based position of the first bad character of a text, where the character itself is not known.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_character(position: usize) -> Self {
        Self::with(ErrorKind::InvalidCharacter, Detail::Character { position, unit: None })
    }

    /// The first bad character of a text and its 0-based position: a Unicode scalar value, a surrogate, or for bytes past ASCII
    /// what [`unit_of_byte`] gives.
    #[doc(hidden)]
    #[cold]
    pub fn bad_character(position: usize, unit: u32) -> Self {
        Self::with(ErrorKind::InvalidCharacter, Detail::Character { position, unit: Some(unit) })
    }

    /// A value outside `least..=most`.
    #[doc(hidden)]
    #[cold]
    pub fn out_of_range(field: impl Into<Name>, value: i128, least: i128, most: i128) -> Self {
        Self::about(ErrorKind::OutOfRange, field.into(), Detail::Range { value, least, most })
    }

    /// A value of any type that does not fit a field of so many bits.
    #[cfg(feature = "alloc")]
    #[cold]
    pub(crate) fn misfit(field: impl Into<Name>, bits: u32, value: impl Into<Name>) -> Self {
        let detail = Detail::Misfit { bits, value: value.into() };
        Self::about(ErrorKind::OutOfRange, field.into(), detail)
    }

    /// The same error as one of another kind.
    #[inline(never)]
    #[cfg(feature = "alloc")]
    pub(crate) fn with_kind(self, kind: ErrorKind) -> Self {
        Self(Packed::new(kind, self.0.unpack()))
    }

    /// A time outside `least..=most`, in the unit that the caller gave.
    #[doc(hidden)]
    #[cold]
    pub fn time_out_of_range(field: &'static str, time: i128, least: i128, most: i128) -> Self {
        let detail = Detail::Range { value: time, least, most };
        Self::about(ErrorKind::TimeOutOfRange, Name::from(field), detail)
    }

    /// An error about one named field: `unknown_field`, `missing_field`, `invalid_character`.
    #[doc(hidden)]
    #[cold]
    pub fn field_error(kind: ErrorKind, field: impl Into<Name>) -> Self {
        Self::about(kind, field.into(), Detail::None)
    }

    /// An error that time cures, and when: `unix_ms`.
    #[doc(hidden)]
    #[cold]
    pub const fn retry_later(kind: ErrorKind, unix_ms: i64) -> Self {
        Self(Packed::retry_at(kind, unix_ms))
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
    pub fn of(self, field: impl Into<Name>) -> Self {
        let field = field.into();
        self.changed(|kept| kept.facts.field = Some(field))
    }

    /// The same error, saying how many items of a buffer hold IDs now.
    #[doc(hidden)]
    #[must_use]
    pub fn after_writing(self, written: usize) -> Self {
        self.changed(|kept| kept.facts.among = Among::Written(written))
    }

    /// The same error, saying which item of a slice was refused.
    #[doc(hidden)]
    #[must_use]
    pub fn in_item(self, item: usize) -> Self {
        self.changed(|kept| kept.facts.among = Among::Item(item))
    }
}

/// A byte of a text as [`Error::bad_character`] takes it: past ASCII it is no character by itself.
#[inline]
pub(crate) fn unit_of_byte(byte: u8) -> u32 {
    if byte.is_ascii() { byte.into() } else { 0x11_0000 | u32::from(byte) }
}

/// Ignores the source: sources of any type cannot be compared.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.facts() == other.facts()
    }
}

impl Eq for Error {}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { field, detail, among } = self.facts();
        let mut shown = f.debug_struct("Error");
        shown.field("kind", &self.kind()).field("field", &field);
        shown.field("detail", &detail).field("among", &among);
        if let Some(source) = core::error::Error::source(self) {
            shown.field("source", &source);
        }
        shown.finish()
    }
}

impl core::error::Error for Error {
    #[cfg(feature = "alloc")]
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.kept()?.source.as_ref().map(source::Source::get)
    }
}

/// The result of everything that can be refused.
pub type Result<T> = core::result::Result<T, Error>;
