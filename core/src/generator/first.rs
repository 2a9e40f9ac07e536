//! The clock reading of a generator's first call, which determines its floor.

use super::NEVER_DRAWN;
use crate::{
    Result,
    clock::{self, Clock, ClockInfo},
    fork,
    format::Ticks,
    sequence::floor::{Floor, lateness},
    sync::{AtomicU64, Ordering},
};

/// The clock reading of the first call that could have generated an ID.
///
/// It is stored as a clock reading in one word, because two ticks in two words could be read inconsistently. The ticks are
/// computed from it once per tick of the generator, away from the hot path.
#[derive(Debug)]
pub(crate) struct FirstReading {
    /// Whether an earlier generator may exist whose IDs this one could duplicate.
    applies: bool,
    /// Unix nanoseconds, or [`UNREAD`].
    nanos: AtomicU64,
    /// The generation to which the reading belongs. The caller's `identity_from` may assign another identity to
    /// a child, which has its own predecessor. So a child starts over with its own first reading.
    generation: AtomicU64,
}

/// Means that there was no call yet. A clock reading with this value is treated as one nanosecond later.
const UNREAD: i64 = i64::MIN;

impl FirstReading {
    /// Creates the state without a reading. `applies` states whether the generator skips the ticks of its predecessor.
    pub(crate) const fn new(applies: bool) -> Self {
        let nanos = AtomicU64::new(UNREAD.cast_unsigned());
        Self { applies, nanos, generation: AtomicU64::new(NEVER_DRAWN) }
    }

    /// Declares that no earlier generator has used the tick of the first call.
    pub(crate) fn exempt(&mut self) {
        self.applies = false;
    }

    /// Returns the stored reading of this process. If this call is the first, `now` is stored and returned.
    ///
    /// The process generation is stored between the parent's reading and that of this process, so a thread that finds this
    /// process's generation finds its reading or none. A process that is forked between any two of these steps does not mistake
    /// its parent's reading for its own.
    fn stored_or(&self, now: i64) -> i64 {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let (here, unread) = (fork::current(), UNREAD.cast_unsigned());
        // Loaded before the generation, so that it is not the reading of another thread of this process, which stored the
        // generation first.
        let before = self.nanos.load(Ordering::Acquire);
        if self.generation.load(Ordering::Acquire) != here {
            // This fails if another thread of this process was faster.
            let _ = self.nanos.compare_exchange(before, unread, ORDERS.0, ORDERS.1);
            self.generation.store(here, Ordering::Release);
        }
        let now = now.max(UNREAD + 1);
        match self.nanos.compare_exchange(unread, now.cast_unsigned(), ORDERS.0, ORDERS.1) {
            Ok(_) => now,
            Err(first) => first.cast_signed(),
        }
    }

    /// Returns the floor for a call that reads `now`, or `None` if the generator has none or the reading is well past it.
    ///
    /// # Errors
    /// `time_out_of_range` if the format's time ends before the floor does.
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
        if !info.skips_first_tick {
            return Ok(None);
        }
        let first = self.stored_or(now);
        let late = lateness(clock::nanos(info.slack), coarsest_nanos(&info));
        let is_past = now.saturating_sub(first.saturating_add(late)).max(0).cast_unsigned()
            >= ticks.tick_nanos();
        if is_past { Ok(None) } else { floor_of(ticks, &info, first).map(Some) }
    }

    /// Returns the last tick of the floor, if there was a first call in this process.
    pub(super) fn last_tick<C: Clock>(&self, ticks: &impl Ticks, clock: &C) -> Option<u64> {
        let is_of_process = self.generation.load(Ordering::Acquire) == fork::current();
        let first = self.nanos.load(Ordering::Acquire).cast_signed();
        let is_read = self.applies && is_of_process && first != UNREAD;
        is_read.then(|| floor_of(ticks, &clock.info(), first).ok())?.map(|floor| floor.last)
    }
}

/// Returns the coarser of a clock's resolution and its unit, in nanoseconds. JavaScript's clocks count milliseconds and still
/// serve formats with shorter ticks, for which a stated resolution would reject them.
pub(super) fn coarsest_nanos(info: &ClockInfo) -> u64 {
    clock::nanos(info.resolution.max(info.unit))
}

fn floor_of(ticks: &impl Ticks, info: &ClockInfo, first: i64) -> Result<Floor> {
    let slack = clock::nanos(info.slack);
    Floor::of(first, slack, coarsest_nanos(info), |nanos| ticks.tick_of_nanos(nanos))
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use core::time::Duration;

    use super::{FirstReading, NEVER_DRAWN, UNREAD, floor_of};
    use crate::{
        clock::{ClockInfo, ManualClock},
        fork,
        format::Scale,
        sync::{
            AtomicU64,
            explorer::{World, choose, explore},
        },
    };

    /// An earlier generator may have read a finer clock, up to one unit later than this one shows.
    #[test]
    fn the_floor_covers_every_tick_of_the_clock_unit() {
        let milliseconds = Scale { epoch_ms: 0, tick_ms: 1, last: 1000 };
        let info = ClockInfo { unit: Duration::from_millis(10), ..ClockInfo::new() };
        let floor = floor_of(&milliseconds, &info, 70_000_000).unwrap();
        assert_eq!((floor.from, floor.last), (70, 79));
    }

    impl World for FirstReading {
        type Record = Option<i64>;

        fn call(&self, _: usize, _: u8, first: &mut Option<i64>) -> bool {
            let stored = self.stored_or(choose(3).into());
            assert!(stored < 100, "a reading of the parent");
            assert_eq!(stored, *first.get_or_insert(stored), "two first readings");
            true
        }
    }

    /// All threads compute the floor from one reading, at every interleaving of their first calls.
    #[test]
    fn concurrent_first_calls_store_one_reading() {
        assert!(explore(&FirstReading::new(true), &[1, 2, 1]).states > 100);
    }

    /// The threads of a child do not use the parent's reading, which the parent may have been about to store.
    #[test]
    fn threads_of_a_child_store_their_own_first_reading() {
        let parent = fork::current() + 1;
        for (generation, nanos) in [(parent, 100), (parent, UNREAD), (NEVER_DRAWN, UNREAD)] {
            let mut inherited = FirstReading::new(true);
            (inherited.generation, inherited.nanos) =
                (AtomicU64::new(generation), AtomicU64::new(nanos.cast_unsigned()));
            let milliseconds = Scale { epoch_ms: 0, tick_ms: 1, last: 1000 };
            assert_eq!(inherited.last_tick(&milliseconds, &ManualClock::new(0)), None);
            assert!(explore(&inherited, &[1, 2, 1]).states > 100);
        }
    }
}
