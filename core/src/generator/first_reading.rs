//! The clock reading of a generator's first call, which determines its floor.
//!
//! All threads of a process must use the same reading. Otherwise, their floors would differ, and the threads would disagree
//! about the tick in which the generator begins. A forked child needs its own reading, and so does a process that has been
//! restored. No lock protects the reading, because a child could inherit the lock while it is held. Instead, three
//! compare-and-swap operations replace the reading of generation A with the reading of generation B:
//!
//! ```text
//!              at first         swap 1         swap 2         swap 3
//! nanos        reading of A     no reading                    reading of B
//! generation   A                               B
//! ```
//!
//! A thread that finds generation B therefore finds either B's reading or no reading, but never A's reading. A process that
//! is forked between any two swaps starts over with its own generation.
//!
//! After a restore, unlike after a fork, all threads of the process continue to run. One of them may have been interrupted
//! just before swap 3, with a reading from before the restore. Therefore the value that means "no reading" depends on the
//! restore count, so that this thread's swap fails.

use super::NOT_PICKED;
use crate::{
    Result,
    clock::{self, Clock, ClockInfo},
    fork,
    format::Ticks,
    sequence::floor::{Floor, max_lead},
    sync::{AtomicU64, Ordering},
};

/// The clock reading of the first call that could have generated an ID.
///
/// The reading is stored in one word, because two ticks in separate words could be read inconsistently. The generator
/// computes the ticks from the reading once per tick, outside the hot path.
#[derive(Debug)]
pub(crate) struct FirstReading {
    /// Whether there may be an earlier generator whose IDs this generator could duplicate.
    applies: bool,
    /// The clock reading in Unix nanoseconds, or the value of [`no_reading`].
    nanos: AtomicU64,
    /// The process generation to which the clock reading belongs. In a forked child, `identity_from` may return a different
    /// identity, which may have been used by a different earlier generator. The child therefore records a separate first
    /// clock reading.
    generation: AtomicU64,
}

/// The earliest clock reading that can be stored, in the year 1677. Earlier readings are stored as `EARLIEST_READING`.
const EARLIEST_READING: i64 = i64::MIN + (1 << 32);

/// Returns the restore count of a process generation.
const fn restore_count_of(generation: u64) -> i64 {
    (generation >> 32).cast_signed()
}

/// Returns the value that means "no call yet" in a process generation. The value depends on the restore count. A thread
/// that was interrupted by a restore therefore cannot store its old clock reading as the first reading after the restore.
const fn no_reading(generation: u64) -> i64 {
    i64::MIN + restore_count_of(generation)
}

impl FirstReading {
    /// Creates a state without a clock reading. `applies` indicates whether the generator must skip the ticks that an
    /// earlier generator may have used.
    pub(crate) const fn new(applies: bool) -> Self {
        let nanos = AtomicU64::new(no_reading(0).cast_unsigned());
        Self { applies, nanos, generation: AtomicU64::new(NOT_PICKED) }
    }

    /// Declares that no earlier generator has used the tick of the first call.
    pub(crate) fn skip_first_tick(&mut self) {
        self.applies = false;
    }

    /// Returns the first clock reading of this process generation. If no reading is stored yet, stores and returns `now`.
    /// After a restore, `now` may belong to an earlier generation, so the clock is read again.
    ///
    /// Each swap replaces only the value that this thread loaded. If another thread was faster, this thread starts over.
    fn load_or_store(
        &self,
        now: i64,
        read: impl Fn() -> Result<i64>,
        current: impl Fn() -> u64,
    ) -> Result<i64> {
        const ORDERINGS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        loop {
            // The reading is loaded before the generation, so the reading belongs to generation `found` or to an earlier
            // one, unless another thread has replaced the generation in the meantime.
            let before = self.nanos.load(Ordering::Acquire);
            let found = self.generation.load(Ordering::Acquire);
            let here = current();
            let no_reading = no_reading(here).cast_unsigned();
            if found != here {
                let is_reset = self
                    .nanos
                    .compare_exchange(before, no_reading, ORDERINGS.0, ORDERINGS.1)
                    .is_ok()
                    && self
                        .generation
                        .compare_exchange(found, here, ORDERINGS.0, ORDERINGS.1)
                        .is_ok();
                if !is_reset {
                    continue;
                }
            }
            let mut now = now;
            if restore_count_of(here) > 0 {
                let first = self.nanos.load(Ordering::Acquire).cast_signed();
                if first >= EARLIEST_READING {
                    return Ok(first);
                }
                now = read()?;
            }
            let now = now.max(EARLIEST_READING);
            match self.nanos.compare_exchange(
                no_reading,
                now.cast_unsigned(),
                ORDERINGS.0,
                ORDERINGS.1,
            ) {
                Ok(_) => return Ok(now),
                Err(first) if first.cast_signed() >= EARLIEST_READING => {
                    return Ok(first.cast_signed());
                }
                // Another thread has already started over after a restore.
                Err(_) => {}
            }
        }
    }

    /// Returns the floor for a call whose clock reading is `now`, or `None` if the generator has no floor or `now` is well
    /// past the floor.
    ///
    /// # Errors
    /// Returns `time_out_of_range` if the format's time range ends before the floor does.
    pub(super) fn floor<C: Clock>(
        &self,
        ticks: &impl Ticks,
        clock: &C,
        now: i64,
    ) -> Result<Option<Floor>> {
        if !self.applies {
            return Ok(None);
        }
        let info = clock.info();
        if info.for_tests {
            return Ok(None);
        }
        let first = self.load_or_store(now, || clock.unix_nanos(), fork::ensure_generation)?;
        let late = max_lead(clock::nanos(info.slack), granularity_nanos(&info));
        let is_past = now.saturating_sub(first.saturating_add(late)).max(0).cast_unsigned()
            >= ticks.tick_nanos();
        if is_past { Ok(None) } else { compute_floor(ticks, &info, first).map(Some) }
    }

    /// Returns the last tick of the floor, or `None` if this process has not made its first call yet.
    pub(super) fn last_tick<C: Clock>(&self, ticks: &impl Ticks, clock: &C) -> Option<u64> {
        let belongs_to_this_process =
            self.generation.load(Ordering::Acquire) == fork::ensure_generation();
        let first = self.nanos.load(Ordering::Acquire).cast_signed();
        let is_read = self.applies && belongs_to_this_process && first >= EARLIEST_READING;
        is_read.then(|| compute_floor(ticks, &clock.info(), first).ok())?.map(|floor| floor.last)
    }
}

/// Returns the coarser of a clock's resolution and its unit, in nanoseconds. JavaScript's clocks count milliseconds, but
/// must remain usable for formats with shorter ticks. Such formats would reject these clocks if the clocks declared their
/// unit as their resolution.
pub(super) fn granularity_nanos(info: &ClockInfo) -> u64 {
    clock::nanos(info.resolution.max(info.unit))
}

fn compute_floor(ticks: &impl Ticks, info: &ClockInfo, first: i64) -> Result<Floor> {
    let slack = clock::nanos(info.slack);
    Floor::new(first, slack, granularity_nanos(info), |nanos| ticks.tick_of_nanos(nanos))
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use core::time::Duration;

    use super::{FirstReading, NOT_PICKED, compute_floor, no_reading, restore_count_of};
    use crate::{
        clock::{ClockInfo, ManualClock},
        fork,
        format::Scale,
        sync::{
            AtomicU64, Ordering,
            explorer::{Scenario, choose, explore},
        },
    };

    /// Asserts that the floor covers the clock's whole unit. An earlier generator may have read a finer clock, which can be
    /// ahead of the current clock by up to one unit.
    #[test]
    fn the_floor_covers_every_tick_of_the_clock_unit() {
        let milliseconds = Scale { epoch_ms: 0, tick_ms: 1, last: 1000 };
        let info = ClockInfo { unit: Duration::from_millis(10), ..ClockInfo::new() };
        let floor = compute_floor(&milliseconds, &info, 70_000_000).unwrap();
        assert_eq!((floor.from, floor.last), (70, 79));
    }

    impl Scenario for FirstReading {
        type Record = Option<i64>;

        fn call(&self, _: usize, _: u8, first: &mut Option<i64>) -> bool {
            let now = choose(3).into();
            let stored = self.load_or_store(now, || Ok(now), fork::ensure_generation).unwrap();
            assert!(stored < 100, "a reading of the parent");
            assert_eq!(stored, *first.get_or_insert(stored), "two first readings");
            true
        }
    }

    /// Asserts that all threads compute the floor from the same clock reading, however their first calls interleave.
    #[test]
    fn concurrent_first_calls_store_one_reading() {
        assert!(explore(&FirstReading::new(true), &[1, 2, 1]).states > 100);
    }

    /// Asserts that the threads of a forked child store their own clock reading, even if the parent was about to store one
    /// when it forked.
    #[test]
    fn threads_of_a_child_store_their_own_first_reading() {
        let parent = fork::ensure_generation() + 1;
        for (generation, nanos) in
            [(parent, 100), (parent, no_reading(0)), (NOT_PICKED, no_reading(0))]
        {
            let mut inherited = FirstReading::new(true);
            (inherited.generation, inherited.nanos) =
                (AtomicU64::new(generation), AtomicU64::new(nanos.cast_unsigned()));
            let milliseconds = Scale { epoch_ms: 0, tick_ms: 1, last: 1000 };
            assert_eq!(inherited.last_tick(&milliseconds, &ManualClock::new(0)), None);
            for calls in [&[1, 1, 1][..], &[2, 1]] {
                assert!(explore(&inherited, calls).states > 40);
            }
        }
    }

    /// A process that is restored from an image while its threads store their first clock reading. Thread 0 reports the
    /// restore.
    struct RestoredProcess {
        reading: FirstReading,
        restores: AtomicU64,
    }

    impl Scenario for RestoredProcess {
        /// The first clock reading after the restore.
        type Record = Option<i64>;

        fn call(&self, thread: usize, _: u8, first: &mut Option<i64>) -> bool {
            if thread == 0 {
                self.restores.fetch_add(1, Ordering::AcqRel);
                return true;
            }
            let current = || self.restores.load(Ordering::Acquire) << 32 | 1;
            let is_after = restore_count_of(current()) == 1;
            // The test clock reads 0 or 1 before the restore, and 10 or 11 after it.
            let shown = i64::from(choose(2));
            let read = || Ok(shown + if restore_count_of(current()) == 1 { 10 } else { 0 });
            let stored = self.reading.load_or_store(read().unwrap(), read, current).unwrap();
            if is_after {
                assert!(stored >= 10, "a reading from before the restore");
                assert_eq!(stored, *first.get_or_insert(stored), "two first readings");
            }
            true
        }
    }

    #[test]
    fn threads_store_their_own_first_reading_after_a_restore() {
        for calls in [&[1, 1, 1][..], &[1, 2]] {
            let threads =
                RestoredProcess { reading: FirstReading::new(true), restores: AtomicU64::new(0) };
            assert!(explore(&threads, calls).states > 100);
        }
    }
}
