//! Handles, which reserve blocks of a generator's slots for one thread so that threads do not contend for the shared state
//! on every ID.
//!
//! If two threads share a generator, the cache line that contains the generator's state word moves between the threads'
//! cores for every ID. Generating an ID then takes 25 to 33 ns instead of 10 ns. A handle accesses the state word only once
//! per block:
//!
//! ```text
//! slots of a tick   0        64              192                          448
//! word              | A: 64  | B: 128        | A: 256                     | next
//! handle A            ====>                    ==========>     uses its slots without touching the word
//! handle B                     =======>
//! ```
//!
//! A block ends when its tick ends, when the process forks (in the child), and when the generator is closed. The handle
//! checks these conditions for every ID. The window need not be checked, because the block's tick was checked against it
//! and a window never shrinks. The unused slots of an ended block are lost. Losing a slot costs a little capacity, whereas
//! a slot that is kept too long could be used twice. Blocks therefore start small in each tick and double with each
//! reservation, so that twenty threads that need ten IDs each do not exhaust the tick.
#![allow(private_bounds, reason = "only the families of this crate have generators")]

use core::{fmt, num::NonZeroU32, ops::Deref};

use super::{Engine, Generator, Mode, Pack, Reservation, SlotSource};
use crate::{Result, clock::Clock, fork};

/// The default number of slots in the first block of a tick. It is large enough to amortize the cost of accessing the
/// shared generator, and small enough that losing the rest of the block does not matter.
const FIRST_BLOCK_LEN: NonZeroU32 = NonZeroU32::new(64).unwrap();

/// The size of the largest block as a multiple of the first block's size. Each block within a tick is twice as large as the
/// previous one. A handle therefore loses only slightly more slots than it uses, and a busy handle rarely contends with
/// other handles.
const MAX_BLOCK_GROWTH: u32 = 64;

/// A block of reserved slots. The first `taken` slots have been used.
struct Block<F: Pack> {
    slots: Reservation<F>,
    generation: u64,
    taken: u32,
}

impl<F: Pack> Block<F> {
    fn tick(&self) -> u64 {
        self.slots.1.tick
    }

    fn len(&self) -> u32 {
        self.slots.1.len
    }

    /// Takes the next slot and returns its position in the block. Returns `None` if the block belongs to a different tick
    /// or process generation, or is used up.
    #[inline]
    fn take_slot(&mut self, tick: u64) -> Option<(Reservation<F>, u32)> {
        let is_alive =
            self.taken < self.len() && tick == self.tick() && self.generation == fork::generation();
        is_alive.then(|| {
            self.taken += 1;
            (self.slots, self.taken - 1)
        })
    }
}

/// Generates IDs for one thread from a shared [`Generator`]. The handle reserves blocks of sequence slots. Slots that are
/// not used before their tick ends are lost.
///
/// As long as the clock does not move backwards, a handle's IDs sort in the order in which they were generated, with three
/// exceptions:
///
/// - In a sno ID, the metabyte precedes the sequence, so IDs within a 4 ms tick sort by metabyte first.
/// - The counter of a Hot Guid may wrap around within a second if the generator uses `identity_from`.
/// - Randflake IDs are not sorted.
///
/// Within one tick, IDs from different handles are interleaved.
///
/// The module of each ID format has its own handle, such as [`sno::Handle`](crate::sno::Handle).
///
/// ```
/// use polyflake::sno::Generator;
///
/// static IDS: Generator = Generator::new();
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             let mut ids = IDS.handle();
///             let (first, second) = (ids.generate(1).unwrap(), ids.generate(1).unwrap());
///             assert!(first < second);
///         });
///     }
/// });
/// ```
///
/// A handle cannot be cloned, because a handle and its clone would both use the block's remaining slots:
///
/// ```compile_fail,E0599
/// let ids = polyflake::sno::Generator::new();
/// let clone = ids.handle().clone();
/// ```
#[repr(align(128))] // A handle is modified for every ID, so two handles in one cache line would slow each other down.
pub struct Handle<F: Pack, G> {
    generator: G,
    block: Option<Block<F>>,
    /// The number of slots in the first block of a tick.
    first: NonZeroU32,
    ahead: F::PrecomputedData,
}

/// Omits unused slots and prepared IDs from the output.
impl<F: Pack, G> fmt::Debug for Handle<F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("first", &self.first).finish_non_exhaustive()
    }
}

impl<F: Pack, G> Handle<F, G> {
    /// Creates a handle that owns its generator or a smart pointer to it, such as an `Arc`. Otherwise, this works like
    /// [`Generator::handle`].
    ///
    /// ```
    /// use std::{sync::Arc, thread};
    ///
    /// use polyflake::sno::{Generator, Handle};
    ///
    /// let ids = Arc::new(Generator::new());
    /// let handle = Handle::new(ids.clone());
    /// thread::spawn(move || drop(handle)).join().unwrap(); // the handle is `'static`
    /// assert_eq!(Arc::strong_count(&ids), 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new(generator: G) -> Self {
        Self::with_first(generator, FIRST_BLOCK_LEN)
    }

    /// Creates a handle whose first block in each tick has `first` slots. Each later block in the tick is twice as large as
    /// the previous one, up to 64 times `first`.
    ///
    /// This function is not part of the public API. It exists for tests.
    #[doc(hidden)]
    pub const fn with_first(generator: G, first: NonZeroU32) -> Self {
        Self { generator, block: None, first, ahead: F::EMPTY_PRECOMPUTED_DATA }
    }
}

impl<F: Pack, C: Clock, G: Deref<Target = Generator<F, C>>> Handle<F, G> {
    /// Drops the rest of the block and returns the generator. If the caller then generates a batch, the handle's later IDs
    /// follow the batch's IDs.
    pub(crate) fn generator_without_block(&mut self) -> &Generator<F, C> {
        self.block = None;
        &self.generator
    }

    #[inline]
    pub(crate) fn engine(&self) -> &Engine<F, C> {
        &self.generator.engine
    }

    /// Returns the ID for the next slot. If the current block belongs to a past tick or is used up, reserves a new block,
    /// which may be in a later tick if the clock has advanced.
    #[inline]
    pub(crate) fn generate_in(&mut self, mode: Mode, param: F::Param<'_>) -> Result<F::Id> {
        let (tick, now) = self.engine().open_tick()?;
        self.generator.engine.family.prepare(&mut self.ahead, now)?;
        let (slots, k) = match self.block.as_mut().and_then(|block| block.take_slot(tick)) {
            Some(slot) => slot,
            None => self.refill(mode, tick)?,
        };
        Ok(self.generator.engine.family.id_in_block(slots, k, param, &mut self.ahead))
    }

    #[cold]
    fn refill(&mut self, mode: Mode, tick: u64) -> Result<(Reservation<F>, u32)> {
        let size = self.next_block_size(tick);
        // The old block is dropped even if the reservation below fails. Otherwise, the handle would continue the block if
        // the clock moved back into its tick.
        self.block = None;
        // The generation is read before the reservation. If the process forks while the clock is read during the
        // reservation, the child uses only the first slot of the block.
        let generation = fork::ensure_generation();
        let (_, slots) = self.generator.reserve(size, mode)?;
        self.block = Some(Block { slots, generation, taken: 1 });
        Ok((slots, 0))
    }

    /// Returns the number of slots in the next block.
    fn next_block_size(&self, tick: u64) -> u32 {
        let first = self.first.get();
        let last = self.block.as_ref().filter(|block| block.tick() == tick);
        last.map_or(first, |block| {
            block.len().saturating_mul(2).clamp(first, first.saturating_mul(MAX_BLOCK_GROWTH))
        })
    }
}
