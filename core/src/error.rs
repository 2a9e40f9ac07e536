//! One opaque [`Error`] for everything, a public data-less [`ErrorKind`], and a code that is the same string in every
//! language.

use core::fmt;

/// A name in an error: a built-in one, or that of a custom layout's field.
#[cfg(feature = "alloc")]
pub(crate) type Name = alloc::borrow::Cow<'static, str>;
#[cfg(not(feature = "alloc"))]
type Name = &'static str;

/// What went wrong, without data: match on it.
///
/// [`ErrorKind::code`] is stable: it is the same string in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value of another type than the function takes.
    InvalidType,
    /// A text, secret or byte string of the wrong length.
    InvalidLength,
    /// A character that the format does not have; [`Error::position`] tells where.
    InvalidCharacter,
    /// A text that reads as an ID but is not the one spelling of it.
    NotCanonical,
    /// A number outside its field, or an option outside its limits.
    OutOfRange,
    /// A time that the format cannot hold.
    TimeOutOfRange,
    /// The clock is behind the time of IDs already made, further than is safe.
    ClockBehind,
    /// The clock raised, or gave no time.
    ClockFailed,
    /// All IDs of this tick are given out; [`Error::retry_at`] tells when the next tick begins.
    SequenceExhausted,
    /// The lease or window has not begun.
    LeaseNotStarted,
    /// The lease or window has ended.
    LeaseExpired,
    /// An extension of another lease than the generator's.
    LeaseMismatch,
    /// A secret that is not 16 bytes.
    InvalidSecret,
    /// A layout that cannot be.
    InvalidLayout,
    /// A field that the layout does not have.
    UnknownField,
    /// A field without its value.
    MissingField,
    /// No default partition is left in this process and its forks.
    PartitionsExhausted,
    /// The generator was closed.
    GeneratorClosed,
    /// The process was forked, and the generator's given partition, node or window belongs to the parent.
    Forked,
    /// The system gave no random bytes.
    EntropyUnavailable,
}

impl ErrorKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 20] = [
        Self::InvalidType,
        Self::InvalidLength,
        Self::InvalidCharacter,
        Self::NotCanonical,
        Self::OutOfRange,
        Self::TimeOutOfRange,
        Self::ClockBehind,
        Self::ClockFailed,
        Self::SequenceExhausted,
        Self::LeaseNotStarted,
        Self::LeaseExpired,
        Self::LeaseMismatch,
        Self::InvalidSecret,
        Self::InvalidLayout,
        Self::UnknownField,
        Self::MissingField,
        Self::PartitionsExhausted,
        Self::GeneratorClosed,
        Self::Forked,
        Self::EntropyUnavailable,
    ];

    /// The stable code, the same string in every language.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidType => "invalid_type",
            Self::InvalidLength => "invalid_length",
            Self::InvalidCharacter => "invalid_character",
            Self::NotCanonical => "not_canonical",
            Self::OutOfRange => "out_of_range",
            Self::TimeOutOfRange => "time_out_of_range",
            Self::ClockBehind => "clock_behind",
            Self::ClockFailed => "clock_failed",
            Self::SequenceExhausted => "sequence_exhausted",
            Self::LeaseNotStarted => "lease_not_started",
            Self::LeaseExpired => "lease_expired",
            Self::LeaseMismatch => "lease_mismatch",
            Self::InvalidSecret => "invalid_secret",
            Self::InvalidLayout => "invalid_layout",
            Self::UnknownField => "unknown_field",
            Self::MissingField => "missing_field",
            Self::PartitionsExhausted => "partitions_exhausted",
            Self::GeneratorClosed => "generator_closed",
            Self::Forked => "forked",
            Self::EntropyUnavailable => "entropy_unavailable",
        }
    }

    /// What it means, for an error without details.
    const fn meaning(self) -> &'static str {
        match self {
            Self::InvalidType => "a value of the wrong type",
            Self::InvalidLength => "a value of the wrong length",
            Self::InvalidCharacter => "a character that the format does not have",
            Self::NotCanonical => "not the canonical spelling of an ID",
            Self::OutOfRange => "a value outside its range",
            Self::TimeOutOfRange => "a time that the format cannot hold",
            Self::ClockBehind => "the clock is behind the time of IDs already made",
            Self::ClockFailed => "the clock gave no time",
            Self::SequenceExhausted => "all IDs of this tick are given out",
            Self::LeaseNotStarted => "the lease or window has not begun",
            Self::LeaseExpired => "the lease or window has ended",
            Self::LeaseMismatch => "the extension is of another lease",
            Self::InvalidSecret => "a secret has 16 bytes",
            Self::InvalidLayout => "a layout that cannot be",
            Self::UnknownField => "a field that the layout does not have",
            Self::MissingField => "a field without its value",
            Self::PartitionsExhausted => {
                "no default partition is left in this process and its forks"
            }
            Self::GeneratorClosed => "the generator is closed",
            Self::Forked => "the process was forked and the generator belongs to the parent",
            Self::EntropyUnavailable => "the system gave no random bytes",
        }
    }
}

/// The details of an error, filled in on the cold path only.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Detail {
    None,
    Length {
        found: usize,
        least: usize,
        most: usize,
    },
    Position(usize),
    Range {
        field: Name,
        value: i128,
        least: i128,
        most: i128,
    },
    #[cfg(feature = "alloc")]
    Misfit {
        field: Name,
        bits: u32,
        value: Name,
    },
    Field(Name),
    RetryAt(i64),
    Reason(Name),
    Type {
        expected: &'static str,
        found: Name,
    },
}

/// Where in a call for many items it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Among {
    Nothing,
    /// So many were written before.
    Written(usize),
    /// This one was refused.
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
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    detail: Detail,
    among: Among,
}

impl Error {
    const fn with(kind: ErrorKind, detail: Detail) -> Self {
        Self { kind, detail, among: Among::Nothing }
    }

    /// An error of a kind, without details: for clocks and bindings of your own.
    #[cold]
    pub const fn new(kind: ErrorKind) -> Self {
        Self::with(kind, Detail::None)
    }

    /// A text or byte string of the wrong length; lengths in its own unit (characters, UTF-16 units or bytes).
    #[cold]
    pub const fn invalid_length(found: usize, least: usize, most: usize) -> Self {
        Self::with(ErrorKind::InvalidLength, Detail::Length { found, least, most })
    }

    /// A secret of the wrong length, in bytes; nothing of its content is told.
    #[cold]
    pub const fn invalid_secret(found: usize) -> Self {
        Self::with(ErrorKind::InvalidSecret, Detail::Length { found, least: 16, most: 16 })
    }

    /// The first bad character of a text, 0-based.
    #[cold]
    pub const fn invalid_character(position: usize) -> Self {
        Self::with(ErrorKind::InvalidCharacter, Detail::Position(position))
    }

    /// A value outside `least..=most`.
    #[cold]
    pub fn out_of_range(field: impl Into<Name>, value: i128, least: i128, most: i128) -> Self {
        Self::with(ErrorKind::OutOfRange, Detail::Range { field: field.into(), value, least, most })
    }

    /// A value of any type that does not fit a field of so many bits.
    #[cfg(feature = "alloc")]
    #[cold]
    pub(crate) fn misfit(field: impl Into<Name>, bits: u32, value: impl Into<Name>) -> Self {
        let (field, value) = (field.into(), value.into());
        Self::with(ErrorKind::OutOfRange, Detail::Misfit { field, bits, value })
    }

    /// A time outside the format's, in Unix milliseconds: `least..=most`.
    #[cold]
    #[allow(clippy::useless_conversion, reason = "with a heap, a name is not a text")]
    pub fn time_out_of_range(unix_ms: i128, least: i128, most: i128) -> Self {
        let detail = Detail::Range { field: "time".into(), value: unix_ms, least, most };
        Self::with(ErrorKind::TimeOutOfRange, detail)
    }

    /// An error about one named field: `unknown_field`, `missing_field`, `invalid_character`.
    #[cold]
    pub fn field_error(kind: ErrorKind, field: impl Into<Name>) -> Self {
        Self::with(kind, Detail::Field(field.into()))
    }

    /// An error that time cures, and when: `unix_ms`.
    #[cold]
    pub const fn retry_later(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::with(kind, Detail::RetryAt(unix_ms))
    }

    /// An error with its reason in words: lower case, no full stop, "expected X, found Y".
    #[cold]
    pub fn because(kind: ErrorKind, reason: impl Into<Name>) -> Self {
        Self::with(kind, Detail::Reason(reason.into()))
    }

    /// A value of another type than expected: for bindings to dynamic languages.
    #[cold]
    pub fn invalid_type(expected: &'static str, found: impl Into<Name>) -> Self {
        Self::with(ErrorKind::InvalidType, Detail::Type { expected, found: found.into() })
    }

    /// The same error, saying how many items of a buffer hold IDs now.
    #[must_use]
    pub const fn after_writing(mut self, written: usize) -> Self {
        self.among = Among::Written(written);
        self
    }

    /// The same error, saying which item of a slice was refused.
    #[must_use]
    pub const fn in_item(mut self, item: usize) -> Self {
        self.among = Among::Item(item);
        self
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
            Detail::Position(position) => Some(position),
            _ => None,
        }
    }

    /// The field or option that was refused.
    pub fn field(&self) -> Option<&str> {
        match &self.detail {
            Detail::Range { field, .. } | Detail::Field(field) => Some(field),
            #[cfg(feature = "alloc")]
            Detail::Misfit { field, .. } => Some(field),
            _ => None,
        }
    }

    /// The value that was refused, and the limits (both inclusive) that it broke.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(item) = self.item() {
            write!(f, "item {item}: ")?;
        }
        match &self.detail {
            Detail::None => f.write_str(self.kind.meaning()),
            Detail::Length { found, least, most } if least == most => {
                write!(f, "expected length {least}, found {found}")
            }
            Detail::Length { found, least, most } => {
                write!(f, "expected length {least} to {most}, found {found}")
            }
            Detail::Position(position) => write!(f, "{}: position {position}", self.kind.meaning()),
            Detail::Range { field, value, least, most } => {
                write!(f, "expected {field} in {least}..={most}, found {value}")
            }
            #[cfg(feature = "alloc")]
            Detail::Misfit { field, bits, value } => {
                write!(f, "expected {field} in {bits} bits, found {value}")
            }
            Detail::Field(field) => write!(f, "{}: {field}", self.kind.meaning()),
            Detail::RetryAt(unix_ms) => write!(f, "{}: retry at {unix_ms} ms", self.kind.meaning()),
            Detail::Reason(reason) => f.write_str(reason),
            Detail::Type { expected, found } => write!(f, "expected {expected}, found {found}"),
        }
    }
}

impl core::error::Error for Error {}

/// The result of everything that can be refused.
pub type Result<T> = core::result::Result<T, Error>;
