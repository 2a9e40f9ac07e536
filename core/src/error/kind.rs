//! Kinds of errors, and their codes.

/// The kind of an error, without data: match on it.
///
/// [`ErrorKind::code`] is stable: it is the same string in every language. Meaning, causes and remedies of each code:
/// <https://example.invalid/polyflake/blob/main/docs/errors.md>
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
    /// A value of another type than expected.
    InvalidType,
    /// A text, secret or byte string of the wrong length.
    InvalidLength,
    /// A character that the format does not allow; [`Error::position`](super::Error::position) tells where.
    InvalidCharacter,
    /// A text that reads as an ID but is not the one spelling of it.
    NotCanonical,
    /// A number outside its field, or an option outside its limits.
    OutOfRange,
    /// A time that the format cannot hold.
    TimeOutOfRange,
    /// The clock is behind the time of IDs already made, further than is safe.
    ClockBehind,
    /// The clock failed or returned no time, or it moved past the tick on every attempt.
    ClockFailed,
    /// All IDs of this tick are taken; [`Error::retry_at`](super::Error::retry_at) tells when the next tick begins.
    SequenceExhausted,
    /// The grant or window has not started.
    LeaseNotStarted,
    /// The grant or window has expired.
    LeaseExpired,
    /// A grant that does not fit: an extension with other nodes or another start; under a lease, a grant that is not the
    /// newest, or one that begins too early.
    LeaseMismatch,
    /// A generator under a lease has no lease for now: the crate `polyflake-lease`.
    LeaseUnavailable,
    /// A secret of another length than 16 bytes, or for public IDs 32.
    InvalidSecret,
    /// A public ID of another type.
    TypeMismatch,
    /// A public ID whose check character does not match: a character is mistyped.
    CheckFailed,
    /// A public ID made with a version of the secret that was not given.
    UnknownVersion,
    /// A public ID that was made up, or made with another secret.
    UnknownId,
    /// An invalid layout.
    InvalidLayout,
    /// A name of a field or option that does not exist.
    UnknownField,
    /// A missing value.
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
        Self::PartitionsExhausted,
        Self::GeneratorClosed,
        Self::Forked,
        Self::EntropyUnavailable,
    ];

    /// The stable code, the same string in every language.
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

    /// The message of an error without details.
    pub(super) const fn meaning(self) -> &'static str {
        self.code_and_meaning().1
    }

    const fn code_and_meaning(self) -> (&'static str, &'static str) {
        match self {
            Self::InvalidType => ("invalid_type", "value of the wrong type"),
            Self::InvalidLength => ("invalid_length", "value of the wrong length"),
            Self::InvalidCharacter => ("invalid_character", "invalid character"),
            Self::NotCanonical => ("not_canonical", "not the canonical text of an ID"),
            Self::OutOfRange => ("out_of_range", "value out of range"),
            Self::TimeOutOfRange => ("time_out_of_range", "time out of range"),
            Self::ClockBehind => ("clock_behind", "clock is behind the last ID"),
            Self::ClockFailed => ("clock_failed", "clock failed"),
            Self::SequenceExhausted => ("sequence_exhausted", "all IDs of this tick are taken"),
            Self::LeaseNotStarted => ("lease_not_started", "grant or window has not started"),
            Self::LeaseExpired => ("lease_expired", "grant or window has expired"),
            Self::LeaseMismatch => {
                ("lease_mismatch", "expected a grant with the same nodes and start, found another")
            }
            Self::LeaseUnavailable => ("lease_unavailable", "no lease for now"),
            Self::InvalidSecret => ("invalid_secret", "expected a secret of 16 bytes"),
            Self::TypeMismatch => ("type_mismatch", "public ID of another type"),
            Self::CheckFailed => ("check_failed", "mistyped: the check character is another"),
            Self::UnknownVersion => ("unknown_version", "made with a secret that is not here"),
            Self::UnknownId => ("unknown_id", "no public ID of this type and secret"),
            Self::InvalidLayout => ("invalid_layout", "invalid layout"),
            Self::UnknownField => ("unknown_field", "unknown field"),
            Self::MissingField => ("missing_field", "missing value"),
            Self::PartitionsExhausted => {
                ("partitions_exhausted", "all default partitions are leased")
            }
            Self::GeneratorClosed => ("generator_closed", "generator is closed"),
            Self::Forked => ("forked", "generator belongs to the parent process"),
            Self::EntropyUnavailable => ("entropy_unavailable", "system gave no random bytes"),
        }
    }
}
