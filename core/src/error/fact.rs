//! The facts of an error: those of decoders and of calls that must not block, which refuse in loops, need no heap; all others are
//! behind a pointer.

use alloc::{borrow::Cow, boxed::Box};

#[cfg(target_has_atomic = "ptr")]
use super::source::Source;

/// A name in an error: a built-in one, or the name of a custom layout's field.
pub(crate) type Name = Cow<'static, str>;

/// The meaning of an error's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Nothing,
    /// Items written before the error.
    Written,
    /// Index of the refused item.
    Item,
}

/// A fact in sixteen bytes.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    None,
    /// A bad character, in the form that [`Error::bad_character`](super::Error::bad_character) takes, or [`NO_UNIT`]. The
    /// character that was meant is 0 if nobody knows; it takes 16 bits so that the enum's tag may: a `Result` uses the tag's room.
    Character {
        position: usize,
        unit: u32,
        meant: u16,
    },
    /// A time to try again, in Unix milliseconds.
    RetryAt(i64),
    /// A time, in Unix milliseconds, until which this thread would have to sleep and cannot.
    AwaitUntil(i64),
    /// A wrong length; `most` may be [`UNLIMITED`].
    Length {
        found: usize,
        least: u16,
        most: u16,
    },
    Multiple {
        found: usize,
        of: u32,
    },
    /// The lower 64 bits of a number from 2^64 up to 2^65, in place of an ID.
    TooLarge(u64),
    /// A reason in words that are part of the program.
    Constant(&'static &'static str),
    Reason(Box<Name>),
    /// The found length, the least and the most, of which one needs more than 16 bits.
    LongLength(Box<[usize; 3]>),
    /// A value, the least and the most.
    Range(Box<[i128; 3]>),
    /// The expected type, and the one that was found.
    Type(Box<(&'static str, Name)>),
    More(Box<More>),
}

/// Stands for an unknown character.
pub(super) const NO_UNIT: u32 = u32::MAX;
/// Stands for `usize::MAX`.
pub(super) const UNLIMITED: u16 = u16::MAX;

impl Fact {
    /// A wrong length.
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

    /// The same fact with more beside it.
    #[cold]
    pub(super) fn with(self, change: impl FnOnce(&mut More)) -> Self {
        let mut more = match self {
            Self::More(more) => more,
            fact => Box::new(More {
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

/// A field and a source beside a fact.
#[derive(Clone, Debug)]
pub(super) struct More {
    pub(super) fact: Fact,
    pub(super) field: Option<Name>,
    #[cfg(target_has_atomic = "ptr")]
    pub(super) source: Option<Source>,
}
