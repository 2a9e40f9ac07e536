//! The facts of an error: as callers read them, and as they are stored behind the pointer.

use super::inline::Inline;
#[cfg(feature = "alloc")]
use super::source::Source;

/// A name in an error: a built-in one, or the name of a custom layout's field.
#[cfg(feature = "alloc")]
pub(crate) type Name = alloc::borrow::Cow<'static, str>;
#[cfg(not(feature = "alloc"))]
pub(crate) type Name = &'static str;

/// The name, if it is part of the program and needs no heap.
#[cfg_attr(not(feature = "alloc"), allow(clippy::unnecessary_wraps))]
pub(super) const fn as_static(name: &Name) -> Option<&'static str> {
    #[cfg(feature = "alloc")]
    return match name {
        Name::Borrowed(text) => Some(text),
        Name::Owned(_) => None,
    };
    #[cfg(not(feature = "alloc"))]
    Some(*name)
}

/// The details of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail<'a> {
    None,
    Length {
        found: usize,
        least: usize,
        most: usize,
    },
    Multiple {
        found: usize,
        of: usize,
    },
    Character {
        position: usize,
        /// The character, in the form that [`Error::bad_character`](super::Error::bad_character) takes.
        unit: Option<u32>,
    },
    Range {
        value: i128,
        least: i128,
        most: i128,
    },
    #[cfg(feature = "alloc")]
    Misfit {
        bits: u32,
        value: &'a str,
    },
    RetryAt(i64),
    Reason(&'a str),
    Type {
        expected: &'static str,
        found: &'a str,
    },
}

/// Progress of a call for many items at the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Nothing,
    /// Items written before the error.
    Written(usize),
    /// Index of the refused item.
    Item(usize),
}

/// Details that do not fit inline, or come with a field, a source or a large count.
#[derive(Clone)]
pub(super) enum Stored {
    Inline(Inline),
    Length {
        found: usize,
        least: usize,
        most: usize,
    },
    Range {
        value: i128,
        least: i128,
        most: i128,
    },
    #[cfg(feature = "alloc")]
    Misfit {
        bits: u32,
        value: Name,
    },
    Reason(Name),
    Type {
        expected: &'static str,
        found: Name,
    },
}

/// The facts behind the pointer: everything but the kind.
#[derive(Clone)]
pub(super) struct Facts {
    /// None if [`Stored::Inline`] has the field.
    pub(super) field: Option<Name>,
    pub(super) stored: Stored,
    /// [`Progress::Nothing`] if [`Stored::Inline`] has it.
    pub(super) progress: Progress,
    #[cfg(feature = "alloc")]
    pub(super) source: Option<Source>,
}

impl Facts {
    pub(super) const fn new(field: Option<Name>, stored: Stored) -> Self {
        Self {
            field,
            stored,
            progress: Progress::Nothing,
            #[cfg(feature = "alloc")]
            source: None,
        }
    }

    const fn inline(&self) -> Option<&Inline> {
        if let Stored::Inline(inline) = &self.stored { Some(inline) } else { None }
    }

    pub(super) fn field(&self) -> Option<&str> {
        #[allow(clippy::useless_asref, reason = "without a heap, a name is a text")]
        let own = self.field.as_ref().map(AsRef::as_ref);
        own.or_else(|| self.inline()?.field())
    }

    pub(super) fn progress(&self) -> Progress {
        match (self.progress, self.inline()) {
            (Progress::Nothing, Some(inline)) => inline.progress(),
            (progress, _) => progress,
        }
    }

    #[allow(clippy::needless_borrow, reason = "without a heap, a name is a text")]
    pub(super) fn detail(&self) -> Detail<'_> {
        match self.stored {
            Stored::Inline(ref inline) => inline.detail(),
            Stored::Length { found, least, most } => Detail::Length { found, least, most },
            Stored::Range { value, least, most } => Detail::Range { value, least, most },
            #[cfg(feature = "alloc")]
            Stored::Misfit { bits, ref value } => Detail::Misfit { bits, value },
            Stored::Reason(ref reason) => Detail::Reason(reason),
            Stored::Type { expected, ref found } => Detail::Type { expected, found },
        }
    }
}
