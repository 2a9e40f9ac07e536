//! An error in three words: inline, or a kind and a pointer.

use super::{
    ErrorKind,
    facts::{Among, Detail, Kept, Told},
    inline::Inline,
};

#[cfg(feature = "alloc")]
type Aside = alloc::boxed::Box<Kept>;
#[cfg(not(feature = "alloc"))]
type Aside = Kept;

/// An error's facts. Without a heap they are stored in place of the pointer, and an error is as large as they are.
#[derive(Clone)]
pub(super) enum Packed {
    Inline(Inline),
    Aside { kind: ErrorKind, kept: Aside },
}

impl Packed {
    #[cold]
    #[inline(never)]
    #[cfg_attr(not(feature = "alloc"), allow(clippy::useless_conversion))]
    pub(super) fn aside(kind: ErrorKind, kept: Kept) -> Self {
        Self::Aside { kind, kept: kept.into() }
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
        Self::Aside { kind, kept: self.set_aside().1 }
    }

    /// The same error with other facts, behind the pointer.
    #[cold]
    pub(super) fn changed(self, change: impl FnOnce(&mut Kept)) -> Self {
        let (kind, mut kept) = self.set_aside();
        change(&mut kept);
        Self::Aside { kind, kept }
    }

    #[cold]
    #[inline(never)]
    #[cfg_attr(not(feature = "alloc"), allow(clippy::useless_conversion))]
    fn set_aside(self) -> (ErrorKind, Aside) {
        match self {
            Self::Inline(inline) => (inline.kind(), Kept::new(None, Told::Inline(inline)).into()),
            Self::Aside { kind, kept } => (kind, kept),
        }
    }

    /// The same error with its place among many items.
    #[cold]
    #[inline(never)]
    pub(super) fn put(mut self, among: Among) -> Self {
        if let Self::Inline(inline) = &mut self
            && inline.put(among)
        {
            return self;
        }
        self.changed(|kept| kept.among = among)
    }

    #[cfg(feature = "alloc")]
    pub(super) const fn kept(&self) -> Option<&Aside> {
        if let Self::Aside { kept, .. } = self { Some(kept) } else { None }
    }

    pub(super) fn field(&self) -> Option<&str> {
        match self {
            Self::Inline(inline) => inline.field(),
            Self::Aside { kept, .. } => kept.field(),
        }
    }

    #[inline(never)]
    pub(super) fn among(&self) -> Among {
        match self {
            Self::Inline(inline) => inline.among(),
            Self::Aside { kept, .. } => kept.among(),
        }
    }

    #[inline(never)]
    pub(super) fn detail(&self) -> Detail<'_> {
        match self {
            Self::Inline(inline) => inline.detail(),
            Self::Aside { kept, .. } => kept.detail(),
        }
    }
}
