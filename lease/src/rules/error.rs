//! The errors of keepers and stores, and their codes.

use alloc::borrow::Cow;
use core::fmt;

/// The kind of an error, without data, for use in a `match`.
///
/// [`ErrorKind::code`] is stable and has the same value in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A worker ID, a name or a length exceeds its limits.
    OutOfRange,
    /// There is no grant yet, or the store is unreachable and the window has ended.
    LeaseUnavailable,
    /// The record shows another holder's grant.
    LeaseLost,
    /// The namespace has another shape.
    NamespaceMismatch,
    /// Every worker ID is granted. [`Error::until`] returns the end of the next grant to expire.
    NumbersExhausted,
    /// The store may lose data that it acknowledged.
    StoreNotDurable,
    /// The store is another incarnation. [`Error::until`] returns the time from which it grants again.
    StoreChanged,
    /// A record is missing, unreadable, or contradicts another one.
    StoreDamaged,
    /// A record has a newer format than this version supports.
    SchemaOutdated,
    /// The claimant's clock differs too much from the store's.
    ClockSkewed,
}

impl ErrorKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self::OutOfRange,
        Self::LeaseUnavailable,
        Self::LeaseLost,
        Self::NamespaceMismatch,
        Self::NumbersExhausted,
        Self::StoreNotDurable,
        Self::StoreChanged,
        Self::StoreDamaged,
        Self::SchemaOutdated,
        Self::ClockSkewed,
    ];

    /// Returns the stable code, which is the same string in every language.
    pub const fn code(self) -> &'static str {
        match self {
            Self::OutOfRange => "out_of_range",
            Self::LeaseUnavailable => "lease_unavailable",
            Self::LeaseLost => "lease_lost",
            Self::NamespaceMismatch => "namespace_mismatch",
            Self::NumbersExhausted => "numbers_exhausted",
            Self::StoreNotDurable => "store_not_durable",
            Self::StoreChanged => "store_changed",
            Self::StoreDamaged => "store_damaged",
            Self::SchemaOutdated => "schema_outdated",
            Self::ClockSkewed => "clock_skewed",
        }
    }
}

/// The reason why a keeper has no grant, or a store rejected a request. An error never loses a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    reason: Cow<'static, str>,
    until: Option<u64>,
}

impl Error {
    /// Creates an error with a reason: lower case, without a final period, in the form "expected X, found Y".
    pub fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, reason: reason.into(), until: None }
    }

    /// Returns the same error with the time at which its cause ends, in Unix milliseconds.
    #[must_use]
    pub fn with_until(self, until: u64) -> Self {
        Self { until: Some(until), ..self }
    }

    /// The same error with the record that it is about.
    pub(crate) fn in_record(self, first: u64) -> Self {
        let reason = alloc::format!("{} in the record of number {first}", self.reason);
        Self { reason: reason.into(), ..self }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the stable code, which is the same string in every language.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns the time at which the cause ends, in Unix milliseconds, if it is known.
    pub fn until(&self) -> Option<u64> {
        self.until
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl core::error::Error for Error {}

pub(crate) fn damaged(reason: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::StoreDamaged, reason)
}

pub(crate) fn out_of_range(reason: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::OutOfRange, reason)
}

/// A store that gave no answer: what it was asked to write may be written or not.
pub(crate) fn silent() -> Error {
    Error::new(ErrorKind::LeaseUnavailable, "expected an answer from the store in time, found none")
}
