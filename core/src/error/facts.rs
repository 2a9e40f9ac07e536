//! The facts of an error, unpacked: constructors, accessors, comparison and the message work with them.

#[cfg(feature = "alloc")]
use super::source::Source;

/// A name in an error: a built-in one, or that of a custom layout's field.
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

/// The details of an error. Names are [`Name`] where they are kept, `&str` where they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Detail<N> {
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
        /// As [`Error::bad_character`](super::Error::bad_character) takes it.
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
        value: N,
    },
    RetryAt(i64),
    Reason(N),
    Type {
        expected: &'static str,
        found: N,
    },
}

impl<N> Detail<N> {
    fn map<'a, M>(&'a self, name: impl Fn(&'a N) -> M) -> Detail<M> {
        match *self {
            Self::None => Detail::None,
            Self::Length { found, least, most } => Detail::Length { found, least, most },
            Self::Multiple { found, of } => Detail::Multiple { found, of },
            Self::Character { position, unit } => Detail::Character { position, unit },
            Self::Range { value, least, most } => Detail::Range { value, least, most },
            #[cfg(feature = "alloc")]
            Self::Misfit { bits, ref value } => Detail::Misfit { bits, value: name(value) },
            Self::RetryAt(unix_ms) => Detail::RetryAt(unix_ms),
            Self::Reason(ref reason) => Detail::Reason(name(reason)),
            Self::Type { expected, ref found } => Detail::Type { expected, found: name(found) },
        }
    }
}

/// Where the error is in a call for many items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    Nothing,
    /// Items written before the error.
    Written(usize),
    /// The item that was refused.
    Item(usize),
}

/// Everything in an error but its kind and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts<N> {
    pub(super) field: Option<N>,
    pub(super) detail: Detail<N>,
    pub(super) among: Among,
}

impl<N> Facts<N> {
    /// The same facts with other names.
    pub(super) fn map<'a, M>(&'a self, name: impl Fn(&'a N) -> M) -> Facts<M> {
        Facts {
            field: self.field.as_ref().map(&name),
            detail: self.detail.map(name),
            among: self.among,
        }
    }
}

/// Facts and the source.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) facts: Facts<Name>,
    #[cfg(feature = "alloc")]
    pub(super) source: Option<Source>,
}

impl Kept {
    pub(super) const fn new(field: Option<Name>, detail: Detail<Name>) -> Self {
        Self {
            facts: Facts { field, detail, among: Among::Nothing },
            #[cfg(feature = "alloc")]
            source: None,
        }
    }

    /// True where there is a source.
    #[allow(clippy::unused_self, reason = "without a heap, no error has one")]
    pub(super) const fn has_source(&self) -> bool {
        #[cfg(feature = "alloc")]
        return self.source.is_some();
        #[cfg(not(feature = "alloc"))]
        false
    }
}
