//! The atomic word that stores a state machine's state. It has 64 bits if the state fits, and 128 bits otherwise.

use crate::{
    narrow,
    sync::{AtomicU64, AtomicU128, Ordering},
};

/// A word whose highest bit is the closed flag. The bits below it belong to the state machine.
#[derive(Debug)]
pub(super) enum Word {
    Narrow(AtomicU64),
    Wide(AtomicU128),
}

impl Word {
    /// The maximum number of bits in the state, which excludes the closed flag.
    pub(super) const MAX_BITS: u32 = 127;

    /// Creates a word with at least `bits` bits below the highest bit. `bits` is at most [`Word::MAX_BITS`].
    pub(super) const fn new(bits: u32, value: u128) -> Self {
        debug_assert!(bits <= Self::MAX_BITS);
        // A 64-bit word is preferred, because some processors cannot atomically swap 128 bits, and portable-atomic then
        // falls back to a lock.
        if bits <= 63 {
            Self::Narrow(AtomicU64::new(narrow::u64(value)))
        } else {
            Self::Wide(AtomicU128::new(value))
        }
    }

    /// Returns the mask of the closed flag.
    #[inline]
    pub(super) const fn closed_mask(&self) -> u128 {
        match self {
            Self::Narrow(_) => 1 << 63,
            Self::Wide(_) => 1 << 127,
        }
    }

    #[inline]
    pub(super) fn load(&self) -> u128 {
        match self {
            Self::Narrow(word) => word.load(Ordering::Acquire).into(),
            Self::Wide(word) => word.load(Ordering::Acquire),
        }
    }

    /// Atomically replaces `from` with `to`. On failure, returns the current value. The swap may fail spuriously.
    #[inline]
    pub(super) fn compare_exchange_weak(&self, from: u128, to: u128) -> Result<(), u128> {
        // The weak form suffices, because all callers loop or report a lost race. On processors with load-linked and
        // store-conditional instructions, it avoids the inner loop of the strong form.
        const ORDERINGS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        match self {
            Self::Narrow(word) => word
                .compare_exchange_weak(narrow::u64(from), narrow::u64(to), ORDERINGS.0, ORDERINGS.1)
                .map(|_| ())
                .map_err(u128::from),
            Self::Wide(word) => {
                word.compare_exchange_weak(from, to, ORDERINGS.0, ORDERINGS.1).map(|_| ())
            }
        }
    }

    /// Sets the closed flag and returns the previous value.
    pub(super) fn close(&self) -> u128 {
        match self {
            Self::Narrow(word) => {
                word.fetch_or(narrow::u64(self.closed_mask()), Ordering::AcqRel).into()
            }
            Self::Wide(word) => word.fetch_or(self.closed_mask(), Ordering::AcqRel),
        }
    }
}
