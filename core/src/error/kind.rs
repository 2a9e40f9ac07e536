//! The kinds of errors and their codes.

/// The category of an error, without its details, for use in a `match`.
///
/// [`ErrorKind::code`] is stable and has the same value in every language. The meaning, causes and remedies for each code are
/// documented at <https://example.invalid/polyflake/blob/main/docs/errors.md>.
///
/// ```
/// use polyflake::{ErrorKind, sno};
///
/// match sno::generate(7) {
///     Ok(id) => println!("{id}"),
///     Err(error) if error.kind() == ErrorKind::SequenceExhausted => println!("try again soon"),
///     Err(error) => panic!("{}: {error}", error.code()),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value has a different type than expected.
    InvalidType,
    /// A string, secret or byte string has the wrong length.
    InvalidLength,
    /// A character is not allowed in the format. [`Error::position`](super::Error::position) returns its position.
    InvalidCharacter,
    /// The string decodes to an ID but is not its canonical encoding.
    NotCanonical,
    /// An integer does not fit in its field, or an option is outside its limits.
    OutOfRange,
    /// The format cannot represent the time.
    TimeOutOfRange,
    /// The clock is too far behind the timestamps of IDs that were already generated.
    ClockBehind,
    /// The clock failed, did not return a time, or moved to a later tick during every attempt of a call to generate an ID.
    ClockFailed,
    /// All IDs in the current tick are used up. [`Error::retry_at`](super::Error::retry_at) returns the start of the next
    /// tick.
    SequenceExhausted,
    /// The grant or window has not started.
    LeaseNotStarted,
    /// The grant or window has expired.
    LeaseExpired,
    /// The grant does not match. An extension has different node IDs or a different start than the grant that it extends,
    /// or a lease's grant is outdated or starts too early.
    LeaseMismatch,
    /// A leased generator currently has no worker ID. Only the `polyflake-lease` crate returns this error.
    LeaseUnavailable,
    /// A secret is not 16 bytes long, or a secret for public IDs is not 32 bytes long.
    InvalidSecret,
    /// The public ID belongs to a different type.
    TypeMismatch,
    /// The check character of the public ID does not match, because a character was mistyped.
    CheckFailed,
    /// The public ID was encoded with a version of the secret that is not configured.
    UnknownVersion,
    /// The public ID was forged or encoded with a different secret.
    UnknownId,
    /// The layout is invalid.
    InvalidLayout,
    /// No field or option has this name.
    UnknownField,
    /// A required value is missing.
    MissingField,
    /// Another generator of this process uses the explicit worker ID.
    WorkerIdInUse,
    /// No default partition is available in this process or its forks.
    PartitionsExhausted,
    /// The generator is closed.
    GeneratorClosed,
    /// The process was forked, and the generator's explicit partition, node ID or window belongs to the parent.
    Forked,
    /// The operating system provided no random bytes.
    EntropyUnavailable,
    /// The library cannot detect when this machine is restored from a snapshot.
    WatchUnavailable,
}

impl ErrorKind {
    /// All kinds, in the same order as in the documentation.
    pub const ALL: &'static [Self] = &[
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
        Self::LeaseUnavailable,
        Self::InvalidSecret,
        Self::TypeMismatch,
        Self::CheckFailed,
        Self::UnknownVersion,
        Self::UnknownId,
        Self::InvalidLayout,
        Self::UnknownField,
        Self::MissingField,
        Self::WorkerIdInUse,
        Self::PartitionsExhausted,
        Self::GeneratorClosed,
        Self::Forked,
        Self::EntropyUnavailable,
        Self::WatchUnavailable,
    ];

    /// Returns the stable error code, which is the same string in every language.
    ///
    /// ```
    /// use polyflake::ErrorKind;
    ///
    /// assert_eq!(ErrorKind::LeaseExpired.code(), "lease_expired");
    /// assert!(ErrorKind::ALL.iter().all(|kind| kind.code().is_ascii()));
    /// ```
    pub const fn code(self) -> &'static str {
        self.code_and_meaning().0
    }

    /// Returns the message of an error without details.
    pub(super) const fn meaning(self) -> &'static str {
        self.code_and_meaning().1
    }

    const fn code_and_meaning(self) -> (&'static str, &'static str) {
        match self {
            Self::InvalidType => ("invalid_type", "value of the wrong type"),
            Self::InvalidLength => ("invalid_length", "value of the wrong length"),
            Self::InvalidCharacter => ("invalid_character", "invalid character"),
            Self::NotCanonical => ("not_canonical", "not the canonical encoding of an ID"),
            Self::OutOfRange => ("out_of_range", "value out of range"),
            Self::TimeOutOfRange => ("time_out_of_range", "time out of range"),
            Self::ClockBehind => ("clock_behind", "clock is behind the last ID"),
            Self::ClockFailed => ("clock_failed", "clock failed"),
            Self::SequenceExhausted => ("sequence_exhausted", "all IDs of this tick are used up"),
            Self::LeaseNotStarted => ("lease_not_started", "grant or window has not started"),
            Self::LeaseExpired => ("lease_expired", "grant or window has expired"),
            Self::LeaseMismatch => (
                "lease_mismatch",
                "expected a grant with the same nodes and start, found a different one",
            ),
            Self::LeaseUnavailable => ("lease_unavailable", "no lease at the moment"),
            Self::InvalidSecret => ("invalid_secret", "expected a secret of 16 bytes"),
            Self::TypeMismatch => ("type_mismatch", "the public ID has another type"),
            Self::CheckFailed => ("check_failed", "mistyped: the check character does not match"),
            Self::UnknownVersion => {
                ("unknown_version", "encoded with a secret that is not configured")
            }
            Self::UnknownId => ("unknown_id", "not a public ID of this type and secret"),
            Self::InvalidLayout => ("invalid_layout", "invalid layout"),
            Self::UnknownField => ("unknown_field", "unknown field"),
            Self::MissingField => ("missing_field", "missing value"),
            Self::WorkerIdInUse => ("worker_id_in_use", "another generator has this worker ID"),
            Self::PartitionsExhausted => {
                ("partitions_exhausted", "all default partitions are reserved")
            }
            Self::GeneratorClosed => ("generator_closed", "generator is closed"),
            Self::Forked => ("forked", "generator belongs to the parent process"),
            Self::EntropyUnavailable => {
                ("entropy_unavailable", "the system provided no random bytes")
            }
            Self::WatchUnavailable => ("watch_unavailable", "restores cannot be watched here"),
        }
    }
}
