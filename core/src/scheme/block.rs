//! Slots reserved ahead for one thread, so that threads don't meet at the state for every ID.
//!
//! A block dies with its tick, with the process (a fork), and when the generator is closed: asked for every ID. The window needs no
//! asking, since the block's tick was checked against it and a window never shrinks. What is left of a dead block
//! is never given out.

use crate::fork;

/// A run of slots in one tick, of which the first `taken` are used. `R` is what the family packs from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<R> {
    run: R,
    tick: u64,
    epoch: u32,
    taken: u32,
    len: u32,
}

impl<R: Copy> Block<R> {
    /// Slots that were just reserved in this process.
    pub(crate) fn new(run: R, tick: u64, len: u32) -> Self {
        Self { run, tick, epoch: fork::epoch(), taken: 0, len }
    }

    /// The next slot's place in the run, if the block lives in this tick.
    #[inline]
    pub(crate) fn take(&mut self, tick: u64) -> Option<(R, u32)> {
        let alive = self.taken < self.len && tick == self.tick && self.epoch == fork::epoch();
        alive.then(|| {
            self.taken += 1;
            (self.run, self.taken - 1)
        })
    }
}
