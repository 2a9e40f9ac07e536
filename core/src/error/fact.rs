//! The details of an error. Errors from decoders and from calls that must not block are frequent in loops, so their details
//! are stored inline. All other details are behind a pointer.
//!
//! Each large detail is boxed separately. A single variant with one pointer would save 9 of the 104 instructions that
//! `sno::metabyte` executes in a loop, but would add 500 bytes to Randflake's wasm module.

use alloc::{borrow::Cow, boxed::Box};

#[cfg(target_has_atomic = "ptr")]
use super::source::Source;

/// A name in an error: a built-in name, or the name of a field in a custom layout.
pub(crate) type Name = Cow<'static, str>;

/// The meaning of an error's `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Nothing,
    /// The number of items written before the error.
    Written,
    /// The index of the rejected item.
    Item,
}

/// The details of an error, in 16 bytes.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    None,
    /// An invalid character, in the form that [`Error::invalid_character_unit`](super::Error::invalid_character_unit)
    /// accepts, or [`UNKNOWN_UNIT`]. `meant` is the character that was probably intended, or 0 if it is unknown.
    /// `meant` has only 16 bits, which leaves room for the enum's tag and lets a `Result` reuse the tag.
    Character {
        position: usize,
        unit: u32,
        meant: u16,
    },
    /// The time at which to retry, in Unix milliseconds.
    RetryAt(i64),
    /// The time, in Unix milliseconds, until which the call would have to wait. The call cannot wait, because the current
    /// thread cannot sleep.
    AwaitUntil(i64),
    /// The time at which the first ID is available, in Unix milliseconds, if the clock does not advance to it.
    StoppedClock(i64),
    /// A wrong length. `most` may be [`UNLIMITED`].
    Length {
        found: usize,
        least: u16,
        most: u16,
    },
    Multiple {
        found: usize,
        of: u32,
    },
    /// The lower 64 bits of an integer from 2^64 up to 2^65 that was found where an ID was expected.
    TooLarge(u64),
    /// The reason for the error, as a static string.
    // A `&str` is 16 bytes and would leave no space for the tag, so this variant holds a reference to a `&str`.
    Constant(&'static &'static str),
    // The reason is boxed, because a `Cow<str>` is larger than an entire `Fact`.
    Reason(Box<Name>),
    /// The actual length, the minimum and the maximum. At least one of them needs more than 16 bits.
    LongLength(Box<[usize; 3]>),
    Range(Box<Range>),
    /// The expected type and the actual type.
    Type(Box<(&'static str, Name)>),
    More(Box<Details>),
}

/// A value, the minimum and the maximum, and their unit. The unit is empty for numbers without a unit.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) values: [i128; 3],
    pub(super) unit: &'static str,
}

/// The value that represents an unknown code unit.
pub(super) const UNKNOWN_UNIT: u32 = u32::MAX;
/// The value that represents `usize::MAX` in a stored length limit.
pub(super) const UNLIMITED: u16 = u16::MAX;

impl Fact {
    /// Creates the details of an error about an invalid length.
    pub(super) fn length(found: usize, least: usize, most: usize) -> Self {
        let most_short = match u16::try_from(most) {
            _ if most == usize::MAX => Some(UNLIMITED),
            short => short.ok().filter(|most| *most < UNLIMITED),
        };
        match (u16::try_from(least), most_short) {
            (Ok(least), Some(most)) => Self::Length { found, least, most },
            _ => Self::LongLength(Box::new([found, least, most])),
        }
    }

    /// Returns the same fact with additional details.
    #[cold]
    pub(super) fn modify(self, change: impl FnOnce(&mut Details)) -> Self {
        let mut more = match self {
            Self::More(more) => more,
            fact => Box::new(Details {
                fact,
                field: None,
                #[cfg(target_has_atomic = "ptr")]
                source: None,
            }),
        };
        change(&mut more);
        Self::More(more)
    }
}

/// A fact with a field and a source, either of which may be missing.
#[derive(Clone, Debug)]
pub(super) struct Details {
    pub(super) fact: Fact,
    pub(super) field: Option<Name>,
    #[cfg(target_has_atomic = "ptr")]
    pub(super) source: Option<Source>,
}
