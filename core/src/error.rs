//! All errors have the same opaque type, [`Error`]. Each error has a public [`ErrorKind`] without data, and a code that is
//! the same string in every language.

mod fact;
mod kind;
mod message;
#[cfg(feature = "serde")]
mod serde;
#[cfg(target_has_atomic = "ptr")]
mod source;

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::ops::RangeInclusive;

pub(crate) use fact::Name;
use fact::{Fact, Progress, Range, UNKNOWN_UNIT};
pub use kind::ErrorKind;

/// The maximum number of names that a message lists. If there are more, the message states only how many names remain.
const MAX_LISTED_NAMES: usize = 16;

/// The reason why a call failed. A failed call has no effect and loses no IDs.
///
/// ```
/// use polyflake::{ErrorKind, sno::Sno};
///
/// let error = Sno::parse("9q6kc9o37a32432!").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidCharacter);
/// assert_eq!(error.code(), "invalid_character");
/// assert_eq!(error.position(), Some(15));
/// assert_eq!(error.to_string(), "invalid character `!` at position 15");
/// ```
///
/// The meaning, causes and remedies for each code are documented at
/// <https://example.invalid/polyflake/blob/main/docs/errors.md>.
///
/// An error is four words long on a 64-bit CPU. Errors that often occur in loops do not allocate memory. These are the
/// errors for malformed strings, exhausted ticks, clocks that are behind, and windows and leases that have ended.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    progress: Progress,
    /// Either a number of items or the index of an item, depending on `progress`.
    count: usize,
    fact: Fact,
}

#[cfg(target_pointer_width = "64")]
// Every `Result` of a decoder or a `try_` call reserves space for an error, even if the call succeeds, so an error must be
// small.
const _: () = assert!(size_of::<Error>() <= 32);

impl Error {
    const fn with_fact(kind: ErrorKind, fact: Fact) -> Self {
        Self { kind, progress: Progress::Nothing, count: 0, fact }
    }

    fn fact(&self) -> &Fact {
        match &self.fact {
            Fact::More(more) => &more.fact,
            fact => fact,
        }
    }

    /// Creates an error of the given kind without details. This is meant for custom clocks and custom sources of random
    /// bytes.
    ///
    /// ```
    /// use polyflake::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::ClockFailed);
    /// assert_eq!((error.code(), error.to_string().as_str()), ("clock_failed", "clock failed"));
    /// ```
    #[cold]
    pub const fn new(kind: ErrorKind) -> Self {
        Self::with_fact(kind, Fact::None)
    }

    /// Creates an error with a reason. Write the reason in lower case and without a final period, in the form "expected X,
    /// found Y".
    ///
    /// ```
    /// use polyflake::{Error, ErrorKind};
    ///
    /// let error = Error::with_reason(ErrorKind::ClockFailed, "expected a reading of the GPS, found none");
    /// assert_eq!(error.to_string(), "expected a reading of the GPS, found none");
    /// ```
    #[cold]
    pub fn with_reason(kind: ErrorKind, reason: impl Into<Name>) -> Self {
        Self::with_fact(kind, Fact::Reason(Box::new(reason.into())))
    }

    /// Works like [`Error::with_reason`] but does not allocate, because decoders may fail in loops.
    #[cold]
    pub(crate) const fn with_static_reason(kind: ErrorKind, reason: &'static &'static str) -> Self {
        Self::with_fact(kind, Fact::Constant(reason))
    }

    /// Adds a [source](core::error::Error::source), for example the cause of a clock failure. The error's message does not
    /// repeat the source, and comparisons ignore it.
    ///
    /// ```
    /// use std::error::Error as _;
    ///
    /// use polyflake::{Error, ErrorKind};
    ///
    /// let closed = std::io::Error::other("receiver is closed");
    /// let error = Error::with_reason(ErrorKind::ClockFailed, "expected a reading of the GPS, found none");
    /// let error = error.with_source(closed);
    /// assert_eq!(error.to_string(), "expected a reading of the GPS, found none");
    /// assert_eq!(error.source().unwrap().to_string(), "receiver is closed");
    /// ```
    #[cfg(target_has_atomic = "ptr")]
    #[cold]
    #[must_use]
    pub fn with_source(self, source: impl core::error::Error + Send + Sync + 'static) -> Self {
        let source = source::Source::new(source);
        Self { fact: self.fact.modify(|more| more.source = Some(source)), ..self }
    }

    /// Returns the error's kind, which is suitable for a `match`.
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
        self.kind
    }

    /// Returns the stable error code, which is the same string in every language.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("").unwrap_err().code(), "invalid_length"); // for logs and for use across languages
    /// ```
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Returns the zero-based index of the first invalid character, counted in bytes or characters depending on the parser.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// assert_eq!(Sno::parse("9q6kc9o37a32432!").unwrap_err().position(), Some(15));
    /// assert_eq!(Sno::parse("9q6kc9o37a32432").unwrap_err().position(), None);
    /// ```
    pub fn position(&self) -> Option<usize> {
        match self.fact() {
            Fact::Character { position, .. } => Some(*position),
            _ => None,
        }
    }

    /// Returns the name of the parameter, field or option that was rejected.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let error = Grant::new(200_000, 1_730_000_000, 2_803_741_824).unwrap_err();
    /// assert_eq!(error.field(), Some("node"));
    /// ```
    pub fn field(&self) -> Option<&str> {
        match &self.fact {
            Fact::More(more) if more.field.is_some() => more.field.as_deref(),
            _ => matches!(self.fact(), Fact::TooLarge(_)).then_some("id"),
        }
    }

    /// Returns the rejected value, the minimum and the maximum. Both limits are inclusive and use the same unit as the
    /// value.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let error = Grant::new(200_000, 1_730_000_000, 2_803_741_824).unwrap_err();
    /// assert_eq!(error.range(), Some((200_000, 0, 131_071)));
    /// ```
    pub fn range(&self) -> Option<(i128, i128, i128)> {
        const MAX_UNSIGNED: i128 = u64::MAX as i128;
        match self.fact() {
            Fact::TooLarge(low) => Some((MAX_UNSIGNED + 1 + i128::from(*low), 0, MAX_UNSIGNED)),
            Fact::Range(range) => Some(range.values.into()),
            _ => None,
        }
    }

    /// Returns the earliest time at which a retry can succeed, in Unix milliseconds.
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
        match self.fact() {
            Fact::RetryAt(unix_ms) | Fact::AwaitUntil(unix_ms) | Fact::StoppedClock(unix_ms) => {
                Some(*unix_ms)
            }
            _ => None,
        }
    }

    /// Returns the number of items that were written to a buffer before the error occurred. These items contain valid IDs.
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
    /// assert_eq!(error.written(), Some(65_536)); // the valid IDs of one tick
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn written(&self) -> Option<usize> {
        (self.progress == Progress::Written).then_some(self.count)
    }

    /// Returns the zero-based index of the rejected item in a call that processes many items.
    ///
    /// ```
    /// use polyflake::sno::{self, Sno};
    ///
    /// let texts = [*b"9d5ve8222622g222", *b"9d5ve8222622g22!"];
    /// let error = sno::decode_slice(&texts, &mut [Sno::default(); 2]).unwrap_err();
    /// assert_eq!((error.item(), error.position()), (Some(1), Some(15)));
    /// ```
    pub fn item(&self) -> Option<usize> {
        (self.progress == Progress::Item).then_some(self.count)
    }
}

/// Constructors for this crate, its bindings and their tests. They are not part of the public API: they are hidden in the
/// documentation, and may change in any release.
impl Error {
    /// Creates an error for a string or byte string of the wrong length. The lengths are in characters or bytes.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_length(found: usize, least: usize, most: usize) -> Self {
        Self::with_fact(ErrorKind::InvalidLength, Fact::length(found, least, most))
    }

    /// Creates an error for a byte string whose length, `found`, is not a multiple of `of` bytes.
    #[doc(hidden)]
    #[cold]
    pub const fn not_a_multiple(found: usize, of: u32) -> Self {
        Self::with_fact(ErrorKind::InvalidLength, Fact::Multiple { found, of })
    }

    /// Creates an error for a secret of the wrong length, in bytes. The error does not contain any part of the secret.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_secret(found: usize, expected: usize) -> Self {
        Self::with_fact(ErrorKind::InvalidSecret, Fact::length(found, expected, expected))
    }

    /// Creates an error for the first invalid character of a string, if only its 0-based position is known and not the
    /// character itself.
    #[doc(hidden)]
    #[cold]
    pub const fn invalid_character(position: usize) -> Self {
        Self::invalid_character_unit(position, UNKNOWN_UNIT)
    }

    /// Creates an error for the first invalid character of a string, at a 0-based position. `unit` is a Unicode scalar
    /// value, a surrogate, or the result of [`unit_of_byte`] for a non-ASCII byte.
    #[doc(hidden)]
    #[cold]
    pub const fn invalid_character_unit(position: usize, unit: u32) -> Self {
        Self::with_fact(ErrorKind::InvalidCharacter, Fact::Character { position, unit, meant: 0 })
    }

    /// Creates an error for an invalid character, in the form that [`Error::invalid_character_unit`] accepts. `meant`
    /// is the ASCII character that was probably meant, or 0.
    #[cfg(feature = "public")]
    #[cold]
    pub(crate) fn mistyped_character(position: usize, unit: u32, meant: u8) -> Self {
        let fact = Fact::Character { position, unit, meant: meant.into() };
        Self::with_fact(ErrorKind::InvalidCharacter, fact)
    }

    /// Creates an error for a value outside `least..=most`.
    #[doc(hidden)]
    #[cold]
    pub fn out_of_range(field: impl Into<Name>, value: i128, least: i128, most: i128) -> Self {
        let fact = Fact::Range(Box::new(Range { values: [value, least, most], unit: "" }));
        Self::with_fact(ErrorKind::OutOfRange, fact).with_field(field)
    }

    /// Returns an `out_of_range` error if a value is outside a range.
    pub(crate) fn check_range<T: Into<i128> + PartialOrd>(
        field: &'static str,
        value: T,
        range: RangeInclusive<T>,
    ) -> Result<()> {
        if range.contains(&value) {
            return Ok(());
        }
        let (least, most) = range.into_inner();
        Err(Self::out_of_range(field, value.into(), least.into(), most.into()))
    }

    /// Creates the error for a 65-bit number that was found where a 64-bit ID was expected. The argument is the number's
    /// lower 64 bits.
    #[cold]
    pub(crate) const fn too_large(low: u64) -> Self {
        Self::with_fact(ErrorKind::OutOfRange, Fact::TooLarge(low))
    }

    /// Creates the error for a value, of any type, that does not fit in a field of `bits` bits.
    #[cold]
    pub(crate) fn value_too_wide(field: &str, bits: u32, value: &str) -> Self {
        let reason = format!("expected {field} of at most {bits} bits, found {value}");
        Self::with_reason(ErrorKind::OutOfRange, reason).with_field(String::from(field))
    }

    /// Returns the same error with a different kind.
    pub(crate) fn with_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// Creates an error for a time outside `least..=most`. All three times are in the unit of the caller's value: `"ns"`,
    /// `"ms"` or `"s"`.
    #[doc(hidden)]
    #[cold]
    pub fn time_out_of_range(
        field: &'static str,
        time: i128,
        least: i128,
        most: i128,
        unit: &'static str,
    ) -> Self {
        let error = Self::out_of_range(field, time, least, most).in_unit(unit);
        error.with_kind(ErrorKind::TimeOutOfRange)
    }

    /// Sets the unit of the error's range, and returns the error. The message states the unit after the limits. An error
    /// without a range is returned unchanged.
    #[doc(hidden)]
    #[cold]
    #[must_use]
    pub fn in_unit(mut self, unit: &'static str) -> Self {
        let fact = match &mut self.fact {
            Fact::More(more) => &mut more.fact,
            fact => fact,
        };
        if let Fact::Range(range) = fact {
            range.unit = unit;
        }
        self
    }

    /// Creates an error about one named field: `unknown_field`, `missing_field`, or `invalid_character`.
    #[doc(hidden)]
    #[cold]
    pub fn field_error(kind: ErrorKind, field: impl Into<Name>) -> Self {
        Self::new(kind).with_field(field)
    }

    /// Creates an error for a name that is not in `known`.
    #[doc(hidden)]
    #[cold]
    pub fn unknown_field<'n>(
        field: impl Into<Name>,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Self {
        let (field, mut known) = (field.into(), known.into_iter());
        let listed: Vec<_> =
            known.by_ref().take(MAX_LISTED_NAMES).map(|name| format!("`{name}`")).collect();
        let (listed, more) = match (listed.join(", "), known.count()) {
            (none, _) if none.is_empty() => ("no fields".into(), String::new()),
            (listed, 0) => (format!("one of {listed}"), String::new()),
            (listed, more) => (format!("one of {listed}"), format!(" and {more} more")),
        };
        let reason = format!("unknown field `{field}`, expected {listed}{more}");
        Self::with_reason(ErrorKind::UnknownField, reason).with_field(field)
    }

    /// Creates a temporary error. `unix_ms` is the earliest time at which a retry can succeed.
    #[doc(hidden)]
    #[cold]
    pub const fn retry_later(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::with_fact(kind, Fact::RetryAt(unix_ms))
    }

    /// Creates the error for a call that would have to wait until a known time, on a thread that cannot sleep.
    #[cold]
    pub(crate) const fn wait_until_error(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::with_fact(kind, Fact::AwaitUntil(unix_ms))
    }

    /// Creates the error for a first ID that waited for a clock that does not advance.
    #[cold]
    pub(crate) const fn stopped_clock_error(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::with_fact(kind, Fact::StoppedClock(unix_ms))
    }

    /// Creates an error for a value of the wrong type.
    #[doc(hidden)]
    #[cold]
    pub fn invalid_type(expected: &'static str, found: impl Into<Name>) -> Self {
        let fact = Fact::Type(Box::new((expected, found.into())));
        Self::with_fact(ErrorKind::InvalidType, fact)
    }

    /// Returns the same error with the name of the rejected parameter, field or option.
    #[doc(hidden)]
    #[must_use]
    pub fn with_field(self, field: impl Into<Name>) -> Self {
        self.with_field_name(field.into())
    }

    #[cold]
    // `with_field` is generic over the name's type. This function is not generic, so it is compiled only once.
    #[inline(never)]
    fn with_field_name(self, field: Name) -> Self {
        Self { fact: self.fact.modify(|more| more.field = Some(field)), ..self }
    }

    /// Returns the same error with the number of IDs that were written to the buffer.
    #[doc(hidden)]
    #[must_use]
    pub fn after_writing(self, written: usize) -> Self {
        Self { progress: Progress::Written, count: written, ..self }
    }

    /// Returns the same error with the index of the rejected item in a slice.
    #[doc(hidden)]
    #[must_use]
    pub fn in_item(self, item: usize) -> Self {
        Self { progress: Progress::Item, count: item, ..self }
    }
}

/// Checks that two slices have the same length.
pub(crate) fn check_same_length(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::invalid_length(found, expected, expected)) }
}

/// Converts a byte of a string to the form that [`Error::invalid_character_unit`] accepts. A non-ASCII byte is not a
/// character by itself.
#[inline]
pub(crate) fn unit_of_byte(byte: u8) -> u32 {
    if byte.is_ascii() { byte.into() } else { 0x11_0000 | u32::from(byte) }
}

/// Errors are equal if their codes, item indices, written counts, fields and messages are equal. The sources are ignored,
/// because values of unknown types cannot be compared.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        let facts = |error: &Self| (error.kind, error.progress, error.count);
        facts(self) == facts(other)
            && self.field() == other.field()
            // Facts cannot be compared directly, because a source is an error of an unknown type. The message contains all
            // other facts.
            && self.to_string() == other.to_string()
    }
}

impl Eq for Error {}

impl core::error::Error for Error {
    #[cfg(target_has_atomic = "ptr")]
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.fact {
            Fact::More(more) => more.source.as_ref().map(source::Source::get),
            _ => None,
        }
    }
}

/// The result of a call that may fail with an [`Error`].
pub type Result<T> = core::result::Result<T, Error>;
