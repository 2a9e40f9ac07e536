//! One opaque [`Error`] for everything, a public data-less [`ErrorKind`], and a code that is the same string in every
//! language.

mod decimal;
mod facts;
mod inline;
mod kind;
mod message;
mod packed;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "alloc")]
mod source;
mod words;

use core::fmt;

#[cfg(feature = "alloc")]
pub(crate) use decimal::{divide, put_pieces};
pub(crate) use facts::Name;
use facts::{Detail, Facts, Progress, Stored, as_static};
use inline::Inline;
pub use kind::ErrorKind;
use packed::Packed;
pub(crate) use words::{Part, Words, places};
#[cfg(feature = "alloc")]
pub(crate) use words::{hex, put, sentence, words};

/// The reason why a call was refused. The call changed nothing, and nothing is lost.
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
/// Meaning, causes and remedies of each code:
/// <https://example.invalid/polyflake/blob/main/docs/errors.md>
///
/// With the `alloc` feature it takes three words of a 64-bit machine. Errors that are frequent in loops allocate nothing:
/// malformed texts, a tick that is used up, a clock that is behind, windows and leases that have ended.
#[derive(Clone)]
pub struct Error(Packed);

#[cfg(all(feature = "alloc", target_pointer_width = "64"))]
const _: () = assert!(size_of::<Error>() <= 24);
#[cfg(not(feature = "alloc"))]
const _: () = assert!(size_of::<Error>() <= 112);

impl Error {
    const fn inline(inline: Inline) -> Self {
        Self(Packed::Inline(inline))
    }

    #[cold]
    fn aside(kind: ErrorKind, field: Option<Name>, stored: Stored) -> Self {
        Self(Packed::aside(kind, Facts::new(field, stored)))
    }

    /// An error of a kind, without details: for your own clocks and sources of random bytes.
    ///
    /// ```
    /// use polyflake::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::ClockFailed);
    /// assert_eq!((error.code(), error.to_string().as_str()), ("clock_failed", "clock failed"));
    /// ```
    #[cold]
    pub const fn new(kind: ErrorKind) -> Self {
        Self::inline(Inline::plain(kind))
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
        Self::by_reason(kind, reason.into())
    }

    fn by_reason(kind: ErrorKind, reason: Name) -> Self {
        match as_static(&reason) {
            Some(reason) => Self::inline(Inline::reason(kind, reason)),
            None => Self::aside(kind, None, Stored::Reason(reason)),
        }
    }

    /// Adds a [source](core::error::Error::source), for example the cause of a clock's failure. The message does not repeat the
    /// source, and equality ignores it.
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
        Self(self.0.changed(|facts| facts.source = Some(source::Source::new(source))))
    }

    /// The kind of error.
    ///
    /// ```
    /// use polyflake::{ErrorKind, sno::Sno};
    ///
    /// match Sno::parse("9q6kc9o37a32432!").unwrap_err().kind() {
    ///     ErrorKind::InvalidLength | ErrorKind::InvalidCharacter => println!("404 Not Found"),
    ///     kind => panic!("no other kind here: {kind:?}"),
    /// }
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    /// The stable code, the same string in every language.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("").unwrap_err().code(), "invalid_length"); // for logs, and across languages
    /// ```
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// The 0-based index of the first bad character, in the text's own unit.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("9q6kc9o37a32432!").unwrap_err().position(), Some(15));
    /// assert_eq!(Sno::parse("9q6kc9o37a32432").unwrap_err().position(), None);
    /// ```
    pub fn position(&self) -> Option<usize> {
        match self.0.detail() {
            Detail::Character { position, .. } => Some(position),
            _ => None,
        }
    }

    /// The parameter, field or option that was refused.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let error = Grant::new(200_000, 1_730_000_000, 2_803_741_824).unwrap_err();
    /// assert_eq!(error.field(), Some("node"));
    /// ```
    pub fn field(&self) -> Option<&str> {
        self.0.field()
    }

    /// The value that was refused, and the limits (both inclusive) that it broke, in the unit that the caller gave.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let error = Grant::new(200_000, 1_730_000_000, 2_803_741_824).unwrap_err();
    /// assert_eq!(error.range(), Some((200_000, 0, 131_071)));
    /// ```
    pub fn range(&self) -> Option<(i128, i128, i128)> {
        match self.0.detail() {
            Detail::Range { value, least, most, .. } => Some((value, least, most)),
            _ => None,
        }
    }

    /// The time to try again, in Unix milliseconds.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     randflake::{Builder, Grant},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let tomorrow = Grant::new(42, 1_767_312_000, 2_803_741_824)?;
    /// let ids = Builder::with_clock(tomorrow, *b"sixteen byte key", &clock).build()?;
    /// let error = ids.generate().unwrap_err();
    /// assert_eq!((error.code(), error.retry_at()), ("lease_not_started", Some(1_767_312_000_000)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn retry_at(&self) -> Option<i64> {
        match self.0.detail() {
            Detail::RetryAt(unix_ms) => Some(unix_ms),
            _ => None,
        }
    }

    /// Number of items of a buffer that were filled before the error; they hold valid IDs.
    ///
    /// ```
    /// use polyflake::{
    ///     OnExhausted,
    ///     clock::ManualClock,
    ///     sno::{Builder, Sno},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(&clock).partition(42).on_exhausted(OnExhausted::Error).build()?;
    /// let mut batch = vec![Sno::default(); 100_000];
    /// let error = ids.fill(7, &mut batch).unwrap_err();
    /// assert_eq!(error.written(), Some(65_536)); // a tick's IDs, which are valid
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn written(&self) -> Option<usize> {
        match self.0.progress() {
            Progress::Written(written) => Some(written),
            _ => None,
        }
    }

    /// The 0-based index of the refused item, in a call for many.
    ///
    /// ```
    /// use polyflake::sno::{self, Sno};
    ///
    /// let texts = [*b"9d5ve8222622g222", *b"9d5ve8222622g22!"];
    /// let error = sno::decode_slice(&texts, &mut [Sno::default(); 2]).unwrap_err();
    /// assert_eq!((error.item(), error.position()), (Some(1), Some(15)));
    /// ```
    pub fn item(&self) -> Option<usize> {
        match self.0.progress() {
            Progress::Item(item) => Some(item),
            _ => None,
        }
    }
}

/// Constructors for this crate, its bindings and their tests. Not part of the public API: hidden in the documentation, and
/// free to change in any version.
impl Error {
    /// A text or byte string of the wrong length, with lengths in its own unit (characters or bytes).
    #[doc(hidden)]
    #[cold]
    pub fn invalid_length(found: usize, least: usize, most: usize) -> Self {
        Self::by_length(ErrorKind::InvalidLength, found, least, most)
    }

    fn by_length(kind: ErrorKind, found: usize, least: usize, most: usize) -> Self {
        match Inline::length(kind, found, least, most) {
            Some(inline) => Self::inline(inline),
            None => Self::aside(kind, None, Stored::Length { found, least, most }),
        }
    }

    /// Bytes that are not a whole number of items of `of` bytes.
    #[doc(hidden)]
    #[cold]
    pub const fn not_a_multiple(found: usize, of: usize) -> Self {
        Self::inline(Inline::multiple(found, of))
    }

    /// A secret of the wrong length, in bytes. The error tells nothing of its content.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_secret(found: usize) -> Self {
        Self::by_length(ErrorKind::InvalidSecret, found, 16, 16)
    }

    /// The 0-based position of the first bad character of a text, if the character itself is not known.
    #[doc(hidden)]
    #[cold]
    pub const fn invalid_character(position: usize) -> Self {
        Self::inline(Inline::character(position, None))
    }

    /// The first bad character of a text and its 0-based position: a Unicode scalar value, a surrogate, or the result of
    /// [`unit_of_byte`] for a byte past ASCII.
    #[doc(hidden)]
    #[cold]
    pub const fn bad_character(position: usize, unit: u32) -> Self {
        Self::inline(Inline::character(position, Some(unit)))
    }

    /// A value outside `least..=most`.
    #[doc(hidden)]
    #[cold]
    pub fn out_of_range(field: impl Into<Name>, value: i128, least: i128, most: i128) -> Self {
        Self::aside(ErrorKind::OutOfRange, Some(field.into()), Stored::Range { value, least, most })
    }

    /// A number of 65 bits in place of an ID of 64 bits; takes the number's lower 64 bits.
    #[cold]
    pub(crate) const fn too_large(low: u64) -> Self {
        Self::inline(Inline::too_large(low))
    }

    /// A value of any type that does not fit a field of `bits` bits.
    #[cfg(feature = "alloc")]
    #[cold]
    pub(crate) fn misfit(field: impl Into<Name>, bits: u32, value: impl Into<Name>) -> Self {
        let stored = Stored::Misfit { bits, value: value.into() };
        Self::aside(ErrorKind::OutOfRange, Some(field.into()), stored)
    }

    /// The same error under another kind.
    #[inline(never)]
    #[cfg(feature = "alloc")]
    pub(crate) fn with_kind(self, kind: ErrorKind) -> Self {
        Self(self.0.with_kind(kind))
    }

    /// A time outside `least..=most`, in the unit that the caller gave.
    #[doc(hidden)]
    #[cold]
    pub fn time_out_of_range(field: &'static str, time: i128, least: i128, most: i128) -> Self {
        let stored = Stored::Range { value: time, least, most };
        Self::aside(ErrorKind::TimeOutOfRange, Some(Name::from(field)), stored)
    }

    /// An error about one named field: `unknown_field`, `missing_field`, `invalid_character`.
    #[doc(hidden)]
    #[cold]
    pub fn field_error(kind: ErrorKind, field: impl Into<Name>) -> Self {
        let field = field.into();
        match as_static(&field) {
            Some(field) => Self::inline(Inline::about(kind, field)),
            None => Self::new(kind).about(field),
        }
    }

    /// An error that time cures, at `unix_ms`.
    #[doc(hidden)]
    #[cold]
    pub const fn retry_later(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::inline(Inline::retry_at(kind, unix_ms))
    }

    /// A value of another type than expected.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_type(expected: &'static str, found: impl Into<Name>) -> Self {
        let stored = Stored::Type { expected, found: found.into() };
        Self::aside(ErrorKind::InvalidType, None, stored)
    }

    /// The same error, naming the parameter, field or option that was refused.
    #[doc(hidden)]
    #[must_use]
    pub fn of(self, field: impl Into<Name>) -> Self {
        self.about(field.into())
    }

    #[cold]
    #[inline(never)]
    fn about(self, field: Name) -> Self {
        Self(self.0.changed(|facts| facts.field = Some(field)))
    }

    /// The same error, saying how many items of a buffer hold IDs now.
    #[doc(hidden)]
    #[must_use]
    pub fn after_writing(self, written: usize) -> Self {
        Self(self.0.put(Progress::Written(written)))
    }

    /// The same error, saying which item of a slice was refused.
    #[doc(hidden)]
    #[must_use]
    pub fn in_item(self, item: usize) -> Self {
        Self(self.0.put(Progress::Item(item)))
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
        let facts = |error: &Self| (error.kind(), error.0.progress());
        facts(self) == facts(other)
            && self.0.field() == other.0.field()
            && self.0.detail() == other.0.detail()
    }
}

impl Eq for Error {}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown.field("kind", &self.kind()).field("field", &self.0.field());
        shown.field("detail", &self.0.detail()).field("progress", &self.0.progress());
        if let Some(source) = core::error::Error::source(self) {
            shown.field("source", &source);
        }
        shown.finish()
    }
}

impl core::error::Error for Error {
    #[cfg(feature = "alloc")]
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.facts()?.source.as_ref().map(source::Source::get)
    }
}

/// The result of everything that can be refused.
pub type Result<T> = core::result::Result<T, Error>;
