//! The random bytes that identify a generator: 8 bytes in one word, picked once per process.

use crate::{
    Result, fork,
    sync::{AtomicU32, AtomicU64, Ordering},
};

/// The process generation that means "not picked yet". No process has this many forked ancestors.
pub(crate) const NEVER_DRAWN: u32 = u32::MAX;

/// A random word, and the generation of the process that picked it.
#[derive(Debug)]
pub(crate) struct DrawnWord {
    word: AtomicU64,
    generation: AtomicU32,
    draw: fn() -> Result<[u8; 8]>,
    shape: fn(u64) -> u64,
}

impl DrawnWord {
    /// Creates a word that `draw` picks when a process first needs it. `shape` sets the bits that are not random.
    pub(crate) const fn new(draw: fn() -> Result<[u8; 8]>, shape: fn(u64) -> u64) -> Self {
        Self { word: AtomicU64::new(0), generation: AtomicU32::new(NEVER_DRAWN), draw, shape }
    }

    /// Returns the process generation in which the last word was picked, and the word, which belongs to this process or to an
    /// ancestor. It is [`NEVER_DRAWN`] before the first one.
    #[inline]
    pub(crate) fn last(&self) -> (u32, u64) {
        // In this order, so that a thread that sees the generation also sees the word that was drawn in it.
        let generation = self.generation.load(Ordering::Acquire);
        (generation, self.word.load(Ordering::Acquire))
    }

    /// Returns the generation and the word of this process, and picks a word if necessary.
    pub(crate) fn here(&self) -> Result<(u32, u64)> {
        let (generation, word) = self.last();
        if generation == fork::generation() { Ok((generation, word)) } else { self.draw() }
    }

    /// Picks a random word when the first ID is generated or after a fork. If several threads do so at the same time, several
    /// words may be used in succession. All of them belong to this process only, and they share the slots.
    #[cold]
    fn draw(&self) -> Result<(u32, u64)> {
        // Loaded before the draw, so that the swap in `settle` fails if another thread has drawn in the meantime. That thread
        // may already have generated IDs with its word.
        let found = self.word.load(Ordering::Acquire);
        fork::prepare()?;
        let generation = fork::current();
        let drawn = (self.shape)(u64::from_be_bytes((self.draw)()?));
        Ok((generation, self.settle(found, generation, drawn).unwrap_or_else(|earlier| earlier)))
    }

    /// Replaces the word `found` by one that was picked in a process generation, unless another thread replaced it first.
    fn settle(&self, found: u64, generation: u32, drawn: u64) -> core::result::Result<u64, u64> {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        // The word first, so that a thread that sees the generation also sees a word drawn in it. The generation is stored even
        // if the swap failed, because the faster thread may not have come this far.
        let settled = self.word.compare_exchange(found, drawn, ORDERS.0, ORDERS.1);
        self.generation.store(generation, Ordering::Release);
        settled.map(|_| drawn)
    }

    /// Uses bytes from an external source, unless this process already has some. Returns whether they are used.
    pub(crate) fn provide(&self, drawn: [u8; 8]) -> Result<bool> {
        let found = self.word.load(Ordering::Acquire);
        fork::prepare()?;
        let generation = fork::current();
        if self.last().0 == generation {
            return Ok(false);
        }
        Ok(self.settle(found, generation, (self.shape)(u64::from_be_bytes(drawn))).is_ok())
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::sync::explorer::{World, explore};

    /// The word of a parent process, or the first one of all.
    const EARLIER: u64 = 0xff;

    std::thread_local! {
        /// The bytes that the current call picks.
        static DRAWS: Cell<u64> = const { Cell::new(0) };
    }

    /// Threads that need the word of their process. The first one is provided with bytes before.
    struct Threads(DrawnWord);

    impl World for Threads {
        type Record = ();

        fn call(&self, thread: usize, _: u8, (): &mut ()) -> bool {
            let drawn = thread as u64 + 1;
            DRAWS.set(drawn);
            if thread == 0 {
                self.0.provide(drawn.to_be_bytes()).unwrap();
            }
            let (generation, word) = self.0.here().unwrap();
            assert_eq!(generation, fork::current());
            assert_ne!(word, EARLIER, "not drawn in this process");
            true
        }
    }

    /// Explores every interleaving. The threads may use two words, one after the other.
    #[test]
    fn threads_use_only_words_picked_in_their_process() {
        for generation in [NEVER_DRAWN, fork::current() - 1] {
            let draw = || Ok(DRAWS.get().to_be_bytes());
            let word = DrawnWord {
                word: AtomicU64::new(EARLIER),
                generation: AtomicU32::new(generation),
                ..DrawnWord::new(draw, |word| word)
            };
            let threads = Threads(word);
            for calls in [&[2, 2][..], &[1, 1, 1]] {
                assert!(explore(&threads, calls).states > 100);
            }
        }
    }
}
