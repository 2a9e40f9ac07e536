//! An error in three words: inline, or a kind and a pointer.

use super::{
    ErrorKind,
    facts::{Detail, Facts, Progress, Stored},
    inline::Inline,
};

#[cfg(feature = "alloc")]
type Aside = alloc::boxed::Box<Facts>;
#[cfg(not(feature = "alloc"))]
type Aside = Facts;

/// An error's facts. Without a heap they are stored in place of the pointer, and an error is as large as they are.
#[derive(Clone)]
pub(super) enum Packed {
    Inline(Inline),
    Aside { kind: ErrorKind, facts: Aside },
}

impl Packed {
    #[cold]
    #[inline(never)]
    #[cfg_attr(not(feature = "alloc"), allow(clippy::useless_conversion))]
    pub(super) fn aside(kind: ErrorKind, facts: Facts) -> Self {
        Self::Aside { kind, facts: facts.into() }
    }

    #[inline]
    pub(super) const fn kind(&self) -> ErrorKind {
        match self {
            Self::Inline(inline) => inline.kind(),
            Self::Aside { kind, .. } => *kind,
        }
    }

    /// The same facts under another kind.
    #[cfg(feature = "alloc")]
    #[cold]
    pub(super) fn with_kind(self, kind: ErrorKind) -> Self {
        Self::Aside { kind, facts: self.set_aside().1 }
    }

    /// The same error with other facts, behind the pointer.
    #[cold]
    pub(super) fn changed(self, change: impl FnOnce(&mut Facts)) -> Self {
        let (kind, mut facts) = self.set_aside();
        change(&mut facts);
        Self::Aside { kind, facts }
    }

    #[cold]
    #[inline(never)]
    #[cfg_attr(not(feature = "alloc"), allow(clippy::useless_conversion))]
    fn set_aside(self) -> (ErrorKind, Aside) {
        match self {
            Self::Inline(inline) => {
                (inline.kind(), Facts::new(None, Stored::Inline(inline)).into())
            }
            Self::Aside { kind, facts } => (kind, facts),
        }
    }

    /// The same error with its place among many items.
    #[cold]
    #[inline(never)]
    pub(super) fn put(mut self, progress: Progress) -> Self {
        if let Self::Inline(inline) = &mut self
            && inline.put(progress)
        {
            return self;
        }
        self.changed(|facts| facts.progress = progress)
    }

    #[cfg(feature = "alloc")]
    pub(super) const fn facts(&self) -> Option<&Aside> {
        if let Self::Aside { facts, .. } = self { Some(facts) } else { None }
    }

    pub(super) fn field(&self) -> Option<&str> {
        match self {
            Self::Inline(inline) => inline.field(),
            Self::Aside { facts, .. } => facts.field(),
        }
    }

    #[inline(never)]
    pub(super) fn progress(&self) -> Progress {
        match self {
            Self::Inline(inline) => inline.progress(),
            Self::Aside { facts, .. } => facts.progress(),
        }
    }

    #[inline(never)]
    pub(super) fn detail(&self) -> Detail<'_> {
        match self {
            Self::Inline(inline) => inline.detail(),
            Self::Aside { facts, .. } => facts.detail(),
        }
    }
}
