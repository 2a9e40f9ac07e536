//! An error in three words: numbers and texts of the program inline, also with an item's index or a count; everything else behind one
//! pointer.
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
//! Decoders and generators that must not wait refuse in loops, so their errors never allocate. Without a heap the facts lie
//! where the pointer would be, and an error is as large as they are.

use super::{
    ErrorKind,
    facts::{Among, Detail, Facts, Kept, Name, as_static},
};

#[cfg(feature = "alloc")]
type Aside = alloc::sync::Arc<Kept>;
#[cfg(not(feature = "alloc"))]
type Aside = Kept;

/// The meaning of `count`, or of `short`, a count of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nothing,
    Written,
    Item,
}

#[derive(Clone)]
pub(super) enum Packed {
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
        /// [`NO_UNIT`], or as [`Detail::Character`] has it.
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
        /// [`UNLIMITED`], or as [`Detail::Length`] has it.
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
    Aside {
        kind: ErrorKind,
        kept: Aside,
    },
}

/// Stands for an unknown character.
const NO_UNIT: u32 = u32::MAX;
/// Field and upper limit of [`Packed::TooLarge`].
const ID: &str = "id";
const MOST: i128 = u64::MAX as i128;
/// Stands for `usize::MAX`.
const UNLIMITED: u16 = u16::MAX;

impl Packed {
    #[inline]
    pub(super) const fn plain(kind: ErrorKind) -> Self {
        Self::Plain { kind, place: Place::Nothing, count: 0 }
    }

    #[inline]
    pub(super) const fn multiple(kind: ErrorKind, found: usize, of: usize) -> Self {
        Self::Multiple { kind, place: Place::Nothing, short: 0, found, of }
    }

    #[inline]
    pub(super) const fn retry_at(kind: ErrorKind, unix_ms: i64) -> Self {
        Self::RetryAt { kind, place: Place::Nothing, count: 0, unix_ms }
    }

    #[cold]
    pub(super) fn new(kind: ErrorKind, kept: Kept) -> Self {
        #[cfg_attr(not(feature = "alloc"), allow(clippy::useless_conversion))]
        let aside = |kept: Kept| Self::Aside { kind, kept: kept.into() };
        let inline = if kept.has_source() { None } else { Self::inline(kind, &kept.facts) };
        inline.unwrap_or_else(|| aside(kept))
    }

    /// Packs facts that fit into three words.
    fn inline(kind: ErrorKind, facts: &Facts<Name>) -> Option<Self> {
        let (place, count) = match facts.among {
            Among::Nothing => (Place::Nothing, 0),
            Among::Written(count) => (Place::Written, count),
            Among::Item(count) => (Place::Item, count),
        };
        let short = || u32::try_from(count).ok();
        Some(match (&facts.field, &facts.detail) {
            (None, Detail::None) => Self::Plain { kind, place, count },
            (None, &Detail::Character { position, unit }) if unit != Some(NO_UNIT) => {
                Self::Character { kind, place, count, position, unit: unit.unwrap_or(NO_UNIT) }
            }
            (None, &Detail::RetryAt(unix_ms)) => Self::RetryAt { kind, place, count, unix_ms },
            (None, &Detail::Length { found, least, most }) => {
                let (least, most) = (u16::try_from(least).ok()?, short_limit(most)?);
                Self::Length { kind, place, count, found, least, most }
            }
            (Some(field), &Detail::Range { value, least: 0, most: MOST })
                if as_static(field) == Some(ID) =>
            {
                let low = u64::try_from(value.checked_sub(MOST + 1)?).ok()?;
                Self::TooLarge { kind, place, count, low }
            }
            (None, &Detail::Multiple { found, of }) => {
                Self::Multiple { kind, place, short: short()?, found, of }
            }
            (None, Detail::Reason(reason)) => {
                Self::Reason { kind, place, short: short()?, reason: as_static(reason)? }
            }
            (Some(field), Detail::None) => {
                Self::Field { kind, place, short: short()?, field: as_static(field)? }
            }
            _ => return None,
        })
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
            | Self::Field { kind, .. }
            | Self::Aside { kind, .. } => kind,
        }
    }

    /// The facts of the error.
    pub(super) fn facts(&self) -> Facts<&str> {
        #[allow(clippy::useless_asref, reason = "without a heap, a name is a text")]
        self.kept().map_or_else(|| self.inline_facts(), |kept| kept.facts.map(AsRef::as_ref))
    }

    /// The facts behind the pointer, and the source.
    pub(super) const fn kept(&self) -> Option<&Aside> {
        if let Self::Aside { kept, .. } = self { Some(kept) } else { None }
    }

    /// The facts by value, and the source.
    pub(super) fn unpack(self) -> Kept {
        if let Self::Aside { kept, .. } = self {
            #[cfg(feature = "alloc")]
            let kept = Aside::unwrap_or_clone(kept);
            return kept;
        }
        let Facts { field, detail, among } = self.inline_facts().map(|name| Name::from(*name));
        let mut kept = Kept::new(field, detail);
        kept.facts.among = among;
        kept
    }

    /// The inline facts; empty where they lie behind the pointer.
    fn inline_facts(&self) -> Facts<&'static str> {
        let (place, count) = match *self {
            Self::Plain { place, count, .. }
            | Self::Character { place, count, .. }
            | Self::RetryAt { place, count, .. }
            | Self::Length { place, count, .. }
            | Self::TooLarge { place, count, .. } => (place, count),
            Self::Multiple { place, short, .. }
            | Self::Reason { place, short, .. }
            | Self::Field { place, short, .. } => (place, short as usize),
            Self::Aside { .. } => (Place::Nothing, 0),
        };
        let among = match place {
            Place::Nothing => Among::Nothing,
            Place::Written => Among::Written(count),
            Place::Item => Among::Item(count),
        };
        let detail = match *self {
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
            Self::Plain { .. } | Self::Field { .. } | Self::Aside { .. } => Detail::None,
        };
        let field = match *self {
            Self::Field { field, .. } => Some(field),
            Self::TooLarge { .. } => Some(ID),
            _ => None,
        };
        Facts { field, detail, among }
    }
}

/// A limit that 16 bits can hold, where [`UNLIMITED`] is none.
fn short_limit(most: usize) -> Option<u16> {
    if most == usize::MAX {
        return Some(UNLIMITED);
    }
    u16::try_from(most).ok().filter(|&most| most != UNLIMITED)
}
