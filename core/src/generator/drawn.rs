//! Random bytes that tell a generator from all others: 8 of them in a word, drawn once for each process.

use crate::{
    Result, fork,
    sync::{AtomicU32, AtomicU64, Ordering},
};

/// The epoch that stands for "not drawn yet": no process is this many forks deep.
pub(crate) const NEVER_DRAWN: u32 = u32::MAX;

/// A word that was drawn, and the epoch of the process that drew it.
#[derive(Debug)]
pub(crate) struct DrawnWord {
    word: AtomicU64,
    epoch: AtomicU32,
    draw: fn() -> Result<[u8; 8]>,
    shape: fn(u64) -> u64,
}

impl DrawnWord {
    /// A word that `draw` returns when a process first needs it; `shape` sets the bits that are not random.
    pub(crate) const fn new(draw: fn() -> Result<[u8; 8]>, shape: fn(u64) -> u64) -> Self {
        Self { word: AtomicU64::new(0), epoch: AtomicU32::new(NEVER_DRAWN), draw, shape }
    }

    /// The epoch in which a word was drawn last, and the word: of this process, or of a process before a fork. [`NEVER_DRAWN`] before the
    /// first draw.
    #[inline]
    pub(crate) fn last(&self) -> (u32, u64) {
        // In this order: a thread that sees the epoch also sees the word drawn in it.
        let epoch = self.epoch.load(Ordering::Acquire);
        (epoch, self.word.load(Ordering::Acquire))
    }

    /// This process's epoch and word, drawn if need be.
    pub(crate) fn here(&self) -> Result<(u32, u64)> {
        let (epoch, word) = self.last();
        if epoch == fork::epoch() { Ok((epoch, word)) } else { self.draw() }
    }

    /// Draws a word, at the first ID or after a fork. If threads draw at the same time, more than one word may be used, one after
    /// the other: each belongs to this process alone, and they share the slots.
    #[cold]
    fn draw(&self) -> Result<(u32, u64)> {
        let found = self.word.load(Ordering::Acquire);
        fork::prepare()?;
        let epoch = fork::current();
        let drawn = (self.shape)(u64::from_be_bytes((self.draw)()?));
        Ok((epoch, self.settle(found, epoch, drawn).unwrap_or_else(|earlier| earlier)))
    }

    /// Replaces the word `found` by a word drawn in an epoch, unless another thread was faster.
    fn settle(&self, found: u64, epoch: u32, drawn: u64) -> core::result::Result<u64, u64> {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let settled = self.word.compare_exchange(found, drawn, ORDERS.0, ORDERS.1);
        self.epoch.store(epoch, Ordering::Release);
        settled.map(|_| drawn)
    }

    /// Takes bytes that were drawn elsewhere, unless this process already has some. Returns whether it took them.
    pub(crate) fn provide(&self, drawn: [u8; 8]) -> Result<bool> {
        let found = self.word.load(Ordering::Acquire);
        fork::prepare()?;
        let epoch = fork::current();
        if self.last().0 == epoch {
            return Ok(false);
        }
        Ok(self.settle(found, epoch, (self.shape)(u64::from_be_bytes(drawn))).is_ok())
    }
}
