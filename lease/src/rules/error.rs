//! The errors of keepers and stores, and their codes.

use alloc::borrow::Cow;
use core::fmt;

/// The category of an error, without its details, for use in a `match`.
///
/// [`ErrorKind::code`] is stable and has the same value in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A worker ID, a name or a length is outside its limits.
    OutOfRange,
    /// There is no grant yet, or the store is unreachable and the window has ended.
    LeaseUnavailable,
    /// The record shows another holder's grant.
    LeaseLost,
    /// The namespace was created for a different ID format, layout, epoch, secret or range of worker IDs.
    NamespaceMismatch,
    /// All worker IDs are currently in use. [`Error::until`] returns the time at which the next grant ends.
    WorkerIdsExhausted,
    /// The store may lose data that it acknowledged.
    StoreNotDurable,
    /// The store was restored, promoted or copied. [`Error::until`] returns the earliest time at which the store grants
    /// worker IDs again.
    StoreChanged,
    /// A record is missing or unreadable, or it contradicts another record.
    StoreDamaged,
    /// A record has a newer format, which this version of the library does not support.
    SchemaTooNew,
    /// This host's clock differs too much from the store's clock.
    ClockSkewed,
}

impl ErrorKind {
    /// Returns the error kind with the given code.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }

    /// All kinds, in the same order as in the documentation.
    pub const ALL: &'static [Self] = &[
        Self::OutOfRange,
        Self::LeaseUnavailable,
        Self::LeaseLost,
        Self::NamespaceMismatch,
        Self::WorkerIdsExhausted,
        Self::StoreNotDurable,
        Self::StoreChanged,
        Self::StoreDamaged,
        Self::SchemaTooNew,
        Self::ClockSkewed,
    ];

    /// Returns the stable error code, which is the same string in every language.
    pub const fn code(self) -> &'static str {
        match self {
            Self::OutOfRange => "out_of_range",
            Self::LeaseUnavailable => "lease_unavailable",
            Self::LeaseLost => "lease_lost",
            Self::NamespaceMismatch => "namespace_mismatch",
            Self::WorkerIdsExhausted => "worker_ids_exhausted",
            Self::StoreNotDurable => "store_not_durable",
            Self::StoreChanged => "store_changed",
            Self::StoreDamaged => "store_damaged",
            Self::SchemaTooNew => "schema_too_new",
            Self::ClockSkewed => "clock_skewed",
        }
    }
}

/// The reason why a keeper has no grant, or why a store rejected a request. An error never ends a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    reason: Cow<'static, str>,
    until: Option<u64>,
    is_permanent: bool,
}

impl Error {
    /// Creates an error with a reason. Write the reason in lowercase and without a final period, because it follows "cannot
    /// lease a worker ID:" in messages.
    pub fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Self {
        let is_permanent = matches!(kind, ErrorKind::OutOfRange | ErrorKind::NamespaceMismatch);
        Self { kind, reason: reason.into(), until: None, is_permanent }
    }

    /// Marks the error as permanent.
    #[must_use]
    pub(crate) fn permanent(self) -> Self {
        Self { is_permanent: true, ..self }
    }

    /// Prepends `words` and a colon to the error's reason.
    #[cfg(feature = "hosted")]
    pub(crate) fn with_prefix(self, words: &str) -> Self {
        Self { reason: alloc::format!("{words}: {}", self.reason).into(), ..self }
    }

    /// Adds the time, in Unix milliseconds, at which the condition that caused the error ends.
    #[must_use]
    pub fn with_until(self, until: u64) -> Self {
        Self { until: Some(until), ..self }
    }

    /// Appends the affected record to the error's reason.
    pub(crate) fn with_record_context(self, first: u64) -> Self {
        let reason = alloc::format!("{} in the record of worker ID {first}", self.reason);
        Self { reason: reason.into(), ..self }
    }

    /// Returns the error's kind, which is suitable for a `match`.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the stable error code, which is the same string in every language.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns whether the error persists until someone changes the configuration or the store, for example because of an
    /// incorrect role, a missing folder, or a namespace with a different shape. After such an error, calls that would
    /// normally wait for a lease fail immediately, but the keeper still retries from time to time.
    pub fn is_permanent(&self) -> bool {
        self.is_permanent
    }

    /// Returns whether the error certainly persists until `wall_ms`, in Unix milliseconds. Nothing shortens a quiet time,
    /// whereas a worker ID may be released before its grant ends.
    #[cfg(feature = "hosted")]
    pub(crate) fn outlasts(&self, wall_ms: u64) -> bool {
        let is_quiet = self.kind == ErrorKind::StoreChanged;
        self.is_permanent || (is_quiet && self.until.is_some_and(|until| until > wall_ms))
    }

    /// Returns the time, in Unix milliseconds, at which the condition that caused the error ends, or `None` if the time is
    /// not known.
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

pub(crate) fn damaged_record(reason: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::StoreDamaged, reason)
}

pub(crate) fn out_of_range(reason: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::OutOfRange, reason)
}

/// Returns the error that is reported if all matching worker IDs are reserved. Keepers cannot claim reserved worker IDs,
/// and a reservation never expires, so waiting does not help.
pub(crate) fn reserved_id_error(which: &str) -> Error {
    let reason = alloc::format!("{which} reserved by an operator");
    Error::new(ErrorKind::WorkerIdsExhausted, reason).permanent()
}

/// Returns the error for a store that did not reply. The store may or may not have executed the request.
pub(crate) fn no_reply_error() -> Error {
    Error::new(ErrorKind::LeaseUnavailable, "the store did not answer in time")
}

/// Formats a time as UTC for use in messages.
pub(crate) fn format_unix_ms(unix_ms: u64) -> alloc::string::String {
    let (days, second) = (unix_ms / 86_400_000, unix_ms / 1000 % 86_400);
    // Years begin in March in this calculation, so that a leap day is the last day of its year. A period of 400 years has
    // 146,097 days.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    alloc::format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::format_unix_ms;

    #[test]
    fn times_are_formatted_as_calendar_dates() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59Z"),
            (1_763_650_000_123, "2025-11-20T14:46:40Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(format_unix_ms(ms), expected);
        }
    }
}
