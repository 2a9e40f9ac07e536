//! Slots reserved ahead for one thread, so that threads don't contend for the state at every ID.
//!
//! A block ends with its tick, with the process (a fork), and when the generator is closed; this is checked for every ID. The
//! window need not be checked, since the block's tick was checked against it and a window never shrinks. The rest of an ended
//! block is never given out.

use core::{fmt, num::NonZeroU32};

use super::{Engine, Family, Mode, Pack, Reserved};
use crate::{Result, clock::Clock, fork};

/// Default number of IDs in the first block of a tick: enough to make the shared step cheap, few enough to lose.
pub(crate) const BLOCK: NonZeroU32 = NonZeroU32::new(64).unwrap();

/// The largest block, in multiples of the first. Within a tick each block is twice as large as the last, so a handle loses
/// hardly more slots than it uses, and a busy handle rarely meets the others.
const GROWTH: u32 = 64;

/// Reserved slots; the first `taken` of them are used.
struct Block<F: Family> {
    slots: Reserved<F>,
    epoch: u32,
    taken: u32,
}

impl<F: Family> Block<F> {
    fn tick(&self) -> u64 {
        self.slots.1.tick
    }

    fn len(&self) -> u32 {
        self.slots.1.len
    }

    /// The next slot's place in the block, if the block is of this tick and has not ended.
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

/// The blocks that one thread has one after the other.
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
    /// Blocks; the first block of a tick has `first` slots.
    pub(crate) const fn new(first: NonZeroU32) -> Self {
        Self { current: None, first }
    }

    /// A block's slots, and the place of the next slot among them. If the last block has ended or is used up, they are of a fresh
    /// block, which may be of a later tick if the clock went on meanwhile.
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

    /// The ID of the next slot.
    #[inline]
    pub(crate) fn one<C: Clock>(
        &mut self,
        engine: &Engine<F, C>,
        mode: Mode,
        given: F::Given<'_>,
    ) -> Result<F::Id>
    where
        F: Pack,
    {
        let (slots, k) = self.next(engine, mode)?;
        Ok(engine.family.id(slots, k, given))
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
        // Read before the reservation: if that forks, the block ends with its first slot, in both processes.
        let epoch = fork::current();
        let slots = engine.reserve(size, mode)?;
        self.current = Some(Block { slots, epoch, taken: 1 });
        Ok((slots, 0))
    }

    /// Number of slots of the next block.
    fn next_size(&self, tick: u64) -> u32 {
        let first = self.first.get();
        let last = self.current.as_ref().filter(|block| block.tick() == tick);
        last.map_or(first, |block| {
            block.len().saturating_mul(2).clamp(first, first.saturating_mul(GROWTH))
        })
    }
}
