//! Default partitions: 16 random bits for the first, then counted on, so that no two of a fork tree are equal.

use core::sync::atomic::{AtomicU32, Ordering};

use super::imp;
use crate::{Error, ErrorKind, Result, entropy};

const COUNT: u32 = 1 << 16;
/// Set once the base is drawn.
const DRAWN: u32 = 1 << 16;

/// All zero at first, so that a fresh shared page is one.
#[repr(C)]
pub(crate) struct Counter {
    base: AtomicU32,
    taken: AtomicU32,
}

impl Counter {
    pub(super) const fn new() -> Self {
        Self { base: AtomicU32::new(0), taken: AtomicU32::new(0) }
    }

    /// Begins anew, with another base.
    #[cfg(all(unix, not(miri)))]
    pub(super) fn forget(&self) {
        self.base.store(0, Ordering::Relaxed);
        self.taken.store(0, Ordering::Relaxed);
    }

    fn next(&self) -> Result<u16> {
        let base = self.base()?;
        let taken = self
            .taken
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
                (taken < COUNT).then_some(taken + 1)
            })
            .map_err(|_| Error::new(ErrorKind::PartitionsExhausted))?;
        let [low, high, ..] = (base + taken).to_le_bytes();
        Ok(u16::from_le_bytes([low, high]))
    }

    fn base(&self) -> Result<u32> {
        let base = self.base.load(Ordering::Acquire);
        if base != 0 {
            return Ok(base);
        }
        let drawn = DRAWN | u32::from(random_u16()?);
        Ok(self
            .base
            .compare_exchange(0, drawn, Ordering::AcqRel, Ordering::Acquire)
            .map_or_else(|theirs| theirs, |_| drawn))
    }
}

/// The next default partition of this process and its relatives by fork.
pub(crate) fn next() -> Result<u16> {
    imp::prepare()?;
    imp::shared_counter().next()
}

/// 16 bits from the system.
pub(crate) fn random_u16() -> Result<u16> {
    entropy::random().map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn counts_through_all_partitions_once() {
        const ALREADY: u32 = if cfg!(miri) { COUNT - 50 } else { 0 };
        let counter = Counter::new();
        counter.taken.store(ALREADY, Ordering::Relaxed);
        let all: HashSet<u16> = (ALREADY..COUNT).map(|_| counter.next().unwrap()).collect();
        assert_eq!(all.len(), (COUNT - ALREADY) as usize);
        assert_eq!(counter.next().unwrap_err().kind(), ErrorKind::PartitionsExhausted);
    }
}
