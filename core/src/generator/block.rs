//! Slots reserved ahead for one thread, so that threads don't meet at the state for every ID.
//!
//! A block dies with its tick, with the process (a fork), and when the generator is closed: asked for every ID. The window needs no
//! asking, since the block's tick was checked against it and a window never shrinks. What is left of a dead block
//! is never given out.

use core::{fmt, num::NonZeroU32};

use super::{Engine, Family, Mode, Reserved};
use crate::{Result, clock::Clock, fork, sequence::Run};

/// IDs in the first block of a tick if nothing is said: enough to make the shared step cheap, few enough to lose.
pub(crate) const BLOCK: NonZeroU32 = NonZeroU32::new(64).unwrap();

/// Within a tick each block is twice as large as the last, up to this many times the first. So a handle loses hardly more
/// than it uses, and one that is in a hurry rarely meets the others.
const GROWTH: u32 = 64;

/// Reserved slots, of which the first `taken` are used.
struct Block<F: Family> {
    slots: Reserved<F>,
    epoch: u32,
    taken: u32,
}

impl<F: Family> Block<F> {
    fn tick(&self) -> u64 {
        self.slots.1.tick()
    }

    fn len(&self) -> u32 {
        self.slots.1.len()
    }

    /// The next slot's place in the block, if the block lives in this tick.
    #[inline]
    fn take(&mut self, tick: u64) -> Option<(Reserved<F>, u32)> {
        let is_alive =
            self.taken < self.len() && tick == self.tick() && self.epoch == fork::epoch();
        is_alive.then(|| {
            self.taken += 1;
            (self.slots, self.taken - 1)
        })
    }
}

/// One thread's blocks, one after the other.
pub(crate) struct Blocks<F: Family> {
    current: Option<Block<F>>,
    first: NonZeroU32,
}

/// Hides slots that have not been used yet.
impl<F: Family> fmt::Debug for Blocks<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("first", &self.first).finish_non_exhaustive()
    }
}

impl<F: Family> Blocks<F> {
    /// Blocks of which the first of a tick has `first` slots.
    pub(crate) const fn new(first: NonZeroU32) -> Self {
        Self { current: None, first }
    }

    /// A block's slots, and the place of the next one among them; of a fresh block where the last one is dead or used up.
    /// The fresh block may be of a later tick, if the clock went on meanwhile.
    #[inline]
    pub(crate) fn next<C: Clock>(
        &mut self,
        engine: &Engine<F, C>,
        mode: Mode,
    ) -> Result<(Reserved<F>, u32)> {
        let tick = engine.look()?;
        match self.current.as_mut().and_then(|block| block.take(tick)) {
            Some(slot) => Ok(slot),
            None => self.refill(engine, mode, tick),
        }
    }

    #[cold]
    fn refill<C: Clock>(
        &mut self,
        engine: &Engine<F, C>,
        mode: Mode,
        tick: u64,
    ) -> Result<(Reserved<F>, u32)> {
        let size = self.next_size(tick);
        self.current = None;
        // Before the reservation: if that forks, the block dies with its first slot, in both processes.
        let epoch = fork::current();
        let slots = engine.reserve(size, mode)?;
        self.current = Some(Block { slots, epoch, taken: 1 });
        Ok((slots, 0))
    }

    /// How many slots the block after this one should have.
    fn next_size(&self, tick: u64) -> u32 {
        let first = self.first.get();
        let last = self.current.as_ref().filter(|block| block.tick() == tick);
        last.map_or(first, |block| {
            block.len().saturating_mul(2).clamp(first, first.saturating_mul(GROWTH))
        })
    }
}
