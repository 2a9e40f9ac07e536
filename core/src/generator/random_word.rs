//! The 8 random bytes that identify a generator, stored in one word. They are picked once per process generation. Each
//! process therefore picks its own bytes, and picks new bytes after a restore.
//!
//! The generation is stored in a second word, and the two words are always accessed in the following order:
//!
//! ```text
//! a thread that picks the word    1. swap the word          2. store the generation
//! a thread that uses it           1. load the generation    2. load the word
//! ```
//!
//! A thread that sees a generation therefore also sees a word that was picked in that generation. If the generation were
//! stored first, a thread could see the generation of a forked child together with the bytes of its parent, and generate
//! the same IDs as the parent.

use crate::{
    Result, fork,
    sync::{AtomicU64, Ordering},
};

/// The process generation that means "not picked yet". No process has this many forked ancestors.
pub(crate) const NOT_PICKED: u64 = u64::MAX;

/// A random word, and the process generation in which it was picked.
#[derive(Debug)]
pub(crate) struct RandomWord {
    word: AtomicU64,
    generation: AtomicU64,
    draw: fn() -> Result<[u8; 8]>,
    shape: fn(u64) -> u64,
}

impl RandomWord {
    /// Creates a word that `draw` picks when a process first needs it. `shape` sets the non-random bits.
    pub(crate) const fn new(draw: fn() -> Result<[u8; 8]>, shape: fn(u64) -> u64) -> Self {
        Self { word: AtomicU64::new(0), generation: AtomicU64::new(NOT_PICKED), draw, shape }
    }

    /// Returns the generation in which the last word was picked, and the word itself, which belongs to this process or to
    /// an ancestor. The generation is [`NOT_PICKED`] if no word has been picked yet.
    #[inline]
    pub(crate) fn last_picked(&self) -> (u64, u64) {
        // The generation is loaded before the word, so that a thread that sees a generation also sees the word that was
        // picked in that generation.
        let generation = self.generation.load(Ordering::Acquire);
        (generation, self.word.load(Ordering::Acquire))
    }

    /// Returns the current generation, as reported by `current`, and the word of that generation. Picks a word if that
    /// generation does not have one yet.
    pub(crate) fn get_or_pick(&self, current: impl Fn() -> u64) -> Result<(u64, u64)> {
        let (generation, word) = self.last_picked();
        if generation == current() { Ok((generation, word)) } else { self.draw(current) }
    }

    /// Picks a random word for the first ID of a process, or for the first ID after a fork or a restore. If several threads
    /// pick words at the same time, several words may be used in succession. All of these words belong only to this
    /// generation, and no slot is used with more than one of them.
    #[cold]
    fn draw(&self, current: impl Fn() -> u64) -> Result<(u64, u64)> {
        fork::prepare()?;
        self.pick_in(current, self.draw)
    }

    /// Picks a word in the current generation, as reported by `current`.
    ///
    /// A thread interrupted by a restore may still store a word picked before the restore, and another copy of the process
    /// may have the same word. Therefore only the thread that stored a word sets the word's generation, and a thread that
    /// was too late picks another word.
    fn pick_in(
        &self,
        current: impl Fn() -> u64,
        draw: impl Fn() -> Result<[u8; 8]>,
    ) -> Result<(u64, u64)> {
        loop {
            // The word is loaded before the generation is read, so a word that replaces `found` belongs to the generation
            // of `found` or to a later one.
            let found = self.word.load(Ordering::Acquire);
            let generation = current();
            let drawn = (self.shape)(u64::from_be_bytes(draw()?));
            if self.replace_word(found, generation, drawn) {
                return Ok((generation, drawn));
            }
            let (settled, word) = self.last_picked();
            if settled == generation {
                return Ok((generation, word));
            }
        }
    }

    /// Replaces the word `found` with `drawn`, which was picked in `generation`. Returns `false` if another thread replaced
    /// `found` first.
    fn replace_word(&self, found: u64, generation: u64, drawn: u64) -> bool {
        const ORDERINGS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        // The word is stored first, so that a thread that sees the generation also sees a word picked in that generation.
        let settled = self.word.compare_exchange(found, drawn, ORDERINGS.0, ORDERINGS.1);
        if settled.is_ok() {
            self.generation.store(generation, Ordering::Release);
        }
        settled.is_ok()
    }

    /// Stores a word made from externally provided bytes, unless this generation already has a word. Returns whether the
    /// bytes were used.
    pub(crate) fn provide(&self, drawn: [u8; 8], current: impl Fn() -> u64) -> Result<bool> {
        let found = self.word.load(Ordering::Acquire);
        fork::prepare()?;
        let generation = current();
        if self.last_picked().0 == generation {
            return Ok(false);
        }
        Ok(self.replace_word(found, generation, (self.shape)(u64::from_be_bytes(drawn))))
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::sync::explorer::{Scenario, explore};

    /// A word that a parent process picked, or that was never picked.
    const EARLIER_WORD: u64 = 0xff;

    std::thread_local! {
        /// The bytes that the random source returns to the current call.
        static NEXT_RANDOM_BYTES: Cell<u64> = const { Cell::new(0) };
    }

    /// Threads that need their process's word. An external source provides bytes to the first thread before that thread
    /// picks a word.
    struct Threads(RandomWord);

    impl Scenario for Threads {
        type Record = ();

        fn call(&self, thread: usize, _: u8, (): &mut ()) -> bool {
            let drawn = thread as u64 + 1;
            NEXT_RANDOM_BYTES.set(drawn);
            if thread == 0 {
                self.0.provide(drawn.to_be_bytes(), fork::ensure_generation).unwrap();
            }
            let (generation, word) = self.0.get_or_pick(fork::ensure_generation).unwrap();
            assert_eq!(generation, fork::ensure_generation());
            assert_ne!(word, EARLIER_WORD, "not drawn in this process");
            true
        }
    }

    /// Explores every interleaving. Asserts that threads use only words picked in their own process. They may use two such
    /// words, one after the other.
    #[test]
    fn threads_use_only_words_picked_in_their_process() {
        for generation in [NOT_PICKED, fork::ensure_generation() - 1] {
            let draw = || Ok(NEXT_RANDOM_BYTES.get().to_be_bytes());
            let word = RandomWord {
                word: AtomicU64::new(EARLIER_WORD),
                generation: AtomicU64::new(generation),
                ..RandomWord::new(draw, |word| word)
            };
            let threads = Threads(word);
            for calls in [&[2, 2][..], &[1, 1, 1]] {
                assert!(explore(&threads, calls).states > 100);
            }
        }
    }

    /// A process that is restored from an image while its threads pick a word. Thread 0 reports the restore.
    struct RestoredProcess {
        word: RandomWord,
        restores: AtomicU64,
    }

    impl Scenario for RestoredProcess {
        /// Whether the restore was reported.
        type Record = bool;

        fn call(&self, thread: usize, number: u8, is_restored: &mut bool) -> bool {
            if thread == 0 {
                self.restores.fetch_add(1, Ordering::AcqRel);
                *is_restored = true;
                return true;
            }
            let begins_after = *is_restored;
            let (generation, word) = self.word.last_picked();
            let current = || self.restores.load(Ordering::Acquire);
            let (generation, word) = if generation == current() {
                (generation, word)
            } else {
                // The upper half of the word shows whether it was picked after the restore. Words picked before the restore
                // also exist in the other copy of the process.
                let draw = || {
                    let from = u64::from(number) << 8 | thread as u64;
                    Ok((current() << 32 | from).to_be_bytes())
                };
                self.word.pick_in(current, draw).unwrap()
            };
            // Like the engine, the test checks the generation again before it uses the word.
            if begins_after && generation == current() {
                assert_eq!(word >> 32, 1, "a word that another copy has");
            }
            true
        }
    }

    #[test]
    fn calls_that_begin_after_a_restore_use_words_picked_after_it() {
        for calls in [&[1, 1, 1][..], &[1, 2]] {
            let threads = RestoredProcess {
                word: RandomWord::new(|| unreachable!("the world draws"), |word| word),
                restores: AtomicU64::new(0),
            };
            assert!(explore(&threads, calls).states > 40);
        }
    }
}
