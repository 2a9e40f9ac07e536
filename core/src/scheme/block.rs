//! Slots reserved ahead for one thread, so that threads don't meet at the state for every ID.
//!
//! A block dies with its tick, with the process (a fork), and when the generator is closed: asked for every ID. The window needs no
//! asking, since the block's tick was checked against it and a window never shrinks. What is left of a dead block
//! is never given out.

use core::num::NonZeroU32;

use crate::{Result, fork};

/// IDs in the first block of a tick if nothing is said: enough to make the shared step cheap, few enough to lose.
pub(crate) const BLOCK: NonZeroU32 = NonZeroU32::new(64).unwrap();

/// Within a tick each block is twice as large as the last, up to this many times the first. So a handle loses hardly more
/// than it uses, and one that is in a hurry rarely meets the others.
const GROWTH: u32 = 64;

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
    /// Slots that were just reserved, of which the first is taken at once.
    pub(crate) fn new(run: R, tick: u64, len: u32) -> Self {
        Self { run, tick, epoch: 0, taken: 1, len }
    }

    /// The next slot's place in the run, if the block lives in this tick.
    #[inline]
    fn take(&mut self, tick: u64) -> Option<(R, u32)> {
        let alive = self.taken < self.len && tick == self.tick && self.epoch == fork::epoch();
        alive.then(|| {
            self.taken += 1;
            (self.run, self.taken - 1)
        })
    }
}

/// One thread's blocks, one after the other.
#[derive(Debug)]
pub(crate) struct Blocks<R> {
    current: Option<Block<R>>,
    first: NonZeroU32,
}

impl<R: Copy> Blocks<R> {
    /// Blocks of which the first of a tick has `first` slots.
    pub(crate) const fn new(first: NonZeroU32) -> Self {
        Self { current: None, first }
    }

    /// The next slot, for a clock that shows `tick`; from a fresh block of `reserve` where the last one is dead or used up.
    /// The fresh block may be of another tick, if the clock went on meanwhile.
    #[inline]
    pub(crate) fn next(
        &mut self,
        tick: u64,
        reserve: impl FnOnce(u32) -> Result<Block<R>>,
    ) -> Result<(R, u32)> {
        match self.current.as_mut().and_then(|block| block.take(tick)) {
            Some(slot) => Ok(slot),
            None => self.refill(tick, reserve),
        }
    }

    #[cold]
    fn refill(
        &mut self,
        tick: u64,
        reserve: impl FnOnce(u32) -> Result<Block<R>>,
    ) -> Result<(R, u32)> {
        let size = self.next_size(tick);
        self.current = None;
        // Before the reservation: if that forks, the block dies with its first slot, in both processes.
        let epoch = fork::current();
        let block = reserve(size)?;
        self.current = Some(Block { epoch, ..block });
        Ok((block.run, 0))
    }

    /// How many slots the block after this one should have.
    fn next_size(&self, tick: u64) -> u32 {
        let first = self.first.get();
        let last = self.current.filter(|block| block.tick == tick);
        last.map_or(first, |block| {
            block.len.saturating_mul(2).clamp(first, first.saturating_mul(GROWTH))
        })
    }
}
