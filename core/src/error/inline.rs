//! Errors that need no heap: numbers and static texts, also with an item's index or a count.
//!
//! ```text
//! bytes   0    1     2      4            8              16
//!         tag  kind  place               item, written                      Plain
//!         tag  kind  place  unit         item, written  position            Character
//!         tag  kind  place               item, written  Unix milliseconds   RetryAt
//!         tag  kind  place  limits       item, written  length              Length
//!         tag  kind  place               item, written  low bits            TooLarge
//!         tag  kind  place  item (short) length         divisor             Multiple
//!         tag  kind  place  item (short) text: address  text: length        Reason, Field
//!         tag  kind                      pointer                            Aside
//! ```
//!
//! Decoders, and generators that must not wait, refuse in loops, so their errors have a form here.

use super::{
    ErrorKind,
    facts::{Detail, Progress},
};

/// The meaning of `count`, or of `short`, which is a count of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nothing,
    Written,
    Item,
}

/// Facts that are numbers and static texts.
#[derive(Clone, Copy)]
pub(super) enum Inline {
    Plain {
        kind: ErrorKind,
        place: Place,
        count: usize,
    },
    Character {
        kind: ErrorKind,
        place: Place,
        count: usize,
        position: usize,
        /// [`NO_UNIT`], or the unit of [`Detail::Character`].
        unit: u32,
    },
    RetryAt {
        kind: ErrorKind,
        place: Place,
        count: usize,
        unix_ms: i64,
    },
    Length {
        kind: ErrorKind,
        place: Place,
        count: usize,
        found: usize,
        least: u16,
        /// [`UNLIMITED`], or the limit of [`Detail::Length`].
        most: u16,
    },
    /// A Randflake's text of a number from 2^64 up to 2^65, which decoders refuse.
    TooLarge {
        kind: ErrorKind,
        place: Place,
        count: usize,
        /// The lower 64 bits.
        low: u64,
    },
    Multiple {
        kind: ErrorKind,
        place: Place,
        short: u32,
        found: usize,
        of: usize,
    },
    Reason {
        kind: ErrorKind,
        place: Place,
        short: u32,
        reason: &'static str,
    },
    Field {
        kind: ErrorKind,
        place: Place,
        short: u32,
        field: &'static str,
    },
}

/// Stands for an unknown character.
const NO_UNIT: u32 = u32::MAX;
/// Field and upper limit of [`Packed::TooLarge`].
const ID: &str = "id";
const MOST: i128 = u64::MAX as i128;
/// Stands for `usize::MAX`.
const UNLIMITED: u16 = u16::MAX;

impl Inline {
    #[inline]
    pub(super) const fn plain(kind: ErrorKind) -> Self {
        Self::Plain { kind, place: Place::Nothing, count: 0 }
    }

    /// A bad character; without its unit where only the position is known.
    #[inline]
    pub(super) const fn character(position: usize, unit: Option<u32>) -> Self {
        let unit = if let Some(unit) = unit { unit } else { NO_UNIT };
        let kind = ErrorKind::InvalidCharacter;
        Self::Character { kind, place: Place::Nothing, count: 0, position, unit }
    }

    /// A wrong length; None if its limits need more than 16 bits.
    #[inline]
    pub(super) fn length(kind: ErrorKind, found: usize, least: usize, most: usize) -> Option<Self> {
        let most = match u16::try_from(most) {
            _ if most == usize::MAX => UNLIMITED,
            Ok(most) if most < UNLIMITED => most,
            _ => return None,
        };
        let least = u16::try_from(least).ok()?;
        Some(Self::Length { kind, place: Place::Nothing, count: 0, found, least, most })
    }

    #[inline]
    pub(super) const fn too_large(low: u64) -> Self {
        Self::TooLarge { kind: ErrorKind::OutOfRange, place: Place::Nothing, count: 0, low }
    }

    #[inline]
    pub(super) const fn multiple(found: usize, of: usize) -> Self {
        Self::Multiple {
            kind: ErrorKind::InvalidLength,
            place: Place::Nothing,
            short: 0,
            found,
            of,
        }
    }

    #[inline]
    pub(super) const fn retry_at(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::RetryAt { kind, place: Place::Nothing, count: 0, unix_ms }
    }

    #[inline]
    pub(super) const fn reason(kind: ErrorKind, reason: &'static str) -> Self {
        Self::Reason { kind, place: Place::Nothing, short: 0, reason }
    }

    #[inline]
    pub(super) const fn about(kind: ErrorKind, field: &'static str) -> Self {
        Self::Field { kind, place: Place::Nothing, short: 0, field }
    }

    #[inline]
    pub(super) const fn kind(&self) -> ErrorKind {
        match *self {
            Self::Plain { kind, .. }
            | Self::Character { kind, .. }
            | Self::RetryAt { kind, .. }
            | Self::Length { kind, .. }
            | Self::TooLarge { kind, .. }
            | Self::Multiple { kind, .. }
            | Self::Reason { kind, .. }
            | Self::Field { kind, .. } => kind,
        }
    }

    /// Notes the error's place among many items. Returns `false` if the count does not fit.
    pub(super) fn put(&mut self, progress: Progress) -> bool {
        let (to, number) = match progress {
            Progress::Nothing => (Place::Nothing, 0),
            Progress::Written(number) => (Place::Written, number),
            Progress::Item(number) => (Place::Item, number),
        };
        match self {
            Self::Plain { place, count, .. }
            | Self::Character { place, count, .. }
            | Self::RetryAt { place, count, .. }
            | Self::Length { place, count, .. }
            | Self::TooLarge { place, count, .. } => {
                (*place, *count) = (to, number);
            }
            Self::Multiple { place, short, .. }
            | Self::Reason { place, short, .. }
            | Self::Field { place, short, .. } => {
                let Ok(number) = u32::try_from(number) else { return false };
                (*place, *short) = (to, number);
            }
        }
        true
    }

    pub(super) const fn progress(&self) -> Progress {
        let (place, count) = match *self {
            Self::Plain { place, count, .. }
            | Self::Character { place, count, .. }
            | Self::RetryAt { place, count, .. }
            | Self::Length { place, count, .. }
            | Self::TooLarge { place, count, .. } => (place, count),
            Self::Multiple { place, short, .. }
            | Self::Reason { place, short, .. }
            | Self::Field { place, short, .. } => (place, short as usize),
        };
        match place {
            Place::Nothing => Progress::Nothing,
            Place::Written => Progress::Written(count),
            Place::Item => Progress::Item(count),
        }
    }

    pub(super) const fn field(&self) -> Option<&'static str> {
        match *self {
            Self::Field { field, .. } => Some(field),
            Self::TooLarge { .. } => Some(ID),
            _ => None,
        }
    }

    pub(super) fn detail(&self) -> Detail<'static> {
        match *self {
            Self::Plain { .. } | Self::Field { .. } => Detail::None,
            Self::Character { position, unit, .. } => {
                Detail::Character { position, unit: (unit != NO_UNIT).then_some(unit) }
            }
            Self::RetryAt { unix_ms, .. } => Detail::RetryAt(unix_ms),
            Self::Length { found, least, most, .. } => {
                let most = if most == UNLIMITED { usize::MAX } else { most.into() };
                Detail::Length { found, least: least.into(), most }
            }
            Self::TooLarge { low, .. } => {
                Detail::Range { value: MOST + 1 + i128::from(low), least: 0, most: MOST }
            }
            Self::Multiple { found, of, .. } => Detail::Multiple { found, of },
            Self::Reason { reason, .. } => Detail::Reason(reason),
        }
    }
}
