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

use super::REPEATED_IDENTITY;
use crate::{
    Error, ErrorKind, Result, fork,
    sync::{AtomicU64, Ordering},
};

/// The process generation that means "not picked yet". No process has this many forked ancestors.
pub(crate) const NOT_PICKED: u64 = u64::MAX;

/// The number of low bits, which only determine where a counter starts. The bits above them identify the generator.
const LOW_BITS: u32 = 24;

/// How many times a thread checks whether another thread stores the generation of its word.
const MAX_CHECKS: u32 = 100;

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
            let drawn = (self.shape)(in_process(u64::from_be_bytes(draw()?), generation));
            // Bytes that the source returned after a restore must not be stored as those of an earlier generation.
            if current() != generation {
                continue;
            }
            self.check_unused_before(found, generation, drawn)?;
            if self.replace_word(found, generation, drawn) {
                return Ok((generation, drawn));
            }
            let (settled, word) = self.last_picked();
            if settled == generation {
                return Ok((generation, word));
            }
        }
    }

    /// Rejects bytes that a source returns although it returned the same ones in this process before a restore, because
    /// another copy of the process may use them. In a child, the bytes always differ from those of the parent (see
    /// [`in_process`]).
    fn check_unused_before(&self, found: u64, generation: u64, drawn: u64) -> Result<()> {
        // The same bytes of this generation are equal in all bits, so another thread has just stored them.
        if found >> LOW_BITS != drawn >> LOW_BITS || found == drawn {
            return Ok(());
        }
        // Another thread may have stored other low bits in this generation, but not the generation yet.
        let is_of_earlier = || {
            let of_found = self.generation.load(Ordering::Acquire);
            let is_picked = of_found != NOT_PICKED && of_found != generation;
            is_picked && fork::belongs_to_this_process(of_found)
        };
        if (0..MAX_CHECKS).all(|_| is_of_earlier()) {
            return Err(Error::with_reason(ErrorKind::Forked, REPEATED_IDENTITY));
        }
        Ok(())
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

/// Returns the bytes that a process uses in place of the bytes of the random source. In the program's first process, they
/// are the same. In a child, the upper 40 bits are combined with the generation and the process ID, because a source that
/// was seeded before the fork returns the same bytes in each child.
///
/// Each generation and process ID changes the bits in a different way, as long as both together fit in 40 bits. The
/// multiplication spreads them, so that bytes which a caller numbers consecutively rarely become equal.
///
/// After a restore, the low bits differ from those before it, so that two equal words were picked in one generation.
fn in_process(word: u64, generation: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let word = word ^ ((generation >> 32) & ((1 << LOW_BITS) - 1));
    if !fork::is_of_child(generation) {
        return word;
    }
    let key = fork::process_key(generation);
    let number = (key >> 32) ^ (key & u64::from(u32::MAX)) << 18;
    word ^ number.wrapping_mul(ODD) << LOW_BITS
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
        is_constant: bool,
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
            let current = || self.restores.load(Ordering::Acquire) << 32 | 1;
            let (generation, word) = if generation == current() {
                (generation, word)
            } else {
                // Bit 32 shows whether the word was picked after the restore. Words picked before the restore also exist in
                // the other copy of the process. The bits above it differ for each call, or are 0 for a source that always
                // returns the same bytes in a generation.
                let from =
                    if self.is_constant { 0 } else { u64::from(number) << 8 | thread as u64 };
                let draw = || {
                    let restores = self.restores.load(Ordering::Acquire);
                    Ok((from << 40 | restores << 32).to_be_bytes())
                };
                self.word.pick_in(current, draw).unwrap()
            };
            // Like the engine, the test checks the generation again before it uses the word.
            if begins_after && generation == current() {
                assert_eq!(word >> 32 & 1, 1, "a word that another copy has");
            }
            true
        }
    }

    #[test]
    fn calls_that_begin_after_a_restore_use_words_picked_after_it() {
        for (calls, is_constant) in
            [(&[1, 1, 1][..], false), (&[1, 2], false), (&[1, 1, 1], true), (&[1, 2], true)]
        {
            let threads = RestoredProcess {
                word: RandomWord::new(|| unreachable!("the world draws"), |word| word),
                restores: AtomicU64::new(0),
                is_constant,
            };
            assert!(explore(&threads, calls).states > 40);
        }
    }
}
