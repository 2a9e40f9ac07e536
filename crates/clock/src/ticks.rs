//! A time that one thread updates once per interval and all other threads read.

#[cfg(loom)]
use loom::sync::atomic::{AtomicI64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicI64, Ordering};

/// The largest wall-clock rollback, in nanoseconds, that is ignored. A rollback of up to this size may not be real, because
/// a delayed thread may report a clock reading that is older than the readings of other threads.
const MAX_IGNORED_ROLLBACK: i64 = 10_000_000;

/// The latest time, in Unix nanoseconds, that any thread has read from the wall clock.
///
/// Readings move backwards only if the wall clock does. Once a thread has seen a reading, or an ID that was created from
/// it, the thread never gets an earlier reading, unless the wall clock has moved backwards by more than ten milliseconds in
/// the meantime.
///
/// ```
/// use polyflake_clock::SharedTime;
///
/// let ticks = SharedTime::new(1_767_225_600_000_000_000);
/// ticks.tick(|| Ok::<_, ()>(1_767_225_600_001_000_000))?;
/// assert_eq!(ticks.now(), 1_767_225_600_001_000_000);
/// # Ok::<(), ()>(())
/// ```
#[derive(Debug)]
pub struct SharedTime(AtomicI64);

impl SharedTime {
    /// Creates a `SharedTime` that starts at the given wall-clock reading.
    #[cfg(not(loom))]
    pub const fn new(wall: i64) -> Self {
        Self(AtomicI64::new(wall))
    }

    /// Creates a `SharedTime` that starts at the given wall-clock reading. This is not a `const fn`, because loom's
    /// atomics cannot be created in one.
    #[cfg(loom)]
    pub fn new(wall: i64) -> Self {
        Self(AtomicI64::new(wall))
    }

    /// Returns the latest stored time in Unix nanoseconds.
    #[inline]
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::Acquire)
    }

    /// Reads the wall clock and stores the reading. Only the thread that keeps the time up to date may call this method.
    ///
    /// The stored time is loaded before the clock is read. Therefore a reading that is well behind the stored time means
    /// that the wall clock moved backwards, not that this thread was suspended after it read the clock. A time that another
    /// thread stores in the meantime is kept.
    ///
    /// # Errors
    /// Returns any error that `read` returns. In that case, the stored time is unchanged.
    pub fn tick<E>(&self, read: impl FnOnce() -> Result<i64, E>) -> Result<(), E> {
        let now = self.now();
        let wall = read()?;
        if wall > now {
            self.observe(wall);
        } else if now.saturating_sub(wall) > MAX_IGNORED_ROLLBACK {
            // If the exchange fails, the next call detects the rollback.
            let _ = self.0.compare_exchange(now, wall, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(())
    }

    /// Stores a wall-clock reading from a thread other than the one that keeps the time up to date. Returns that reading or
    /// the stored time, whichever is later.
    pub fn observe(&self, wall: i64) -> i64 {
        self.0.fetch_max(wall, Ordering::AcqRel).max(wall)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    impl SharedTime {
        fn tick_at(&self, wall: i64) {
            self.tick(|| Ok::<_, ()>(wall)).unwrap();
        }
    }

    #[test]
    fn ticks_follow_the_wall_clock() {
        let ticks = SharedTime::new(100);
        ticks.tick_at(200);
        assert_eq!(ticks.now(), 200);
        assert_eq!(ticks.observe(300), 300);
        assert_eq!(ticks.now(), 300);
    }

    #[test]
    fn a_tick_older_than_a_direct_reading_changes_nothing() {
        let ticks = SharedTime::new(0);
        ticks.observe(MAX_IGNORED_ROLLBACK);
        ticks.tick_at(0);
        assert_eq!(ticks.now(), MAX_IGNORED_ROLLBACK);
    }

    #[test]
    fn a_delayed_tick_never_sets_the_time_back() {
        let ticks = SharedTime::new(0);
        let held_up = |wall| {
            ticks.tick(|| {
                ticks.observe(3 * MAX_IGNORED_ROLLBACK);
                Ok::<_, ()>(wall)
            })
        };
        held_up(0).unwrap();
        assert_eq!(ticks.now(), 3 * MAX_IGNORED_ROLLBACK);
        let ticks = SharedTime::new(2 * MAX_IGNORED_ROLLBACK);
        let overtaken = ticks.tick(|| {
            ticks.observe(3 * MAX_IGNORED_ROLLBACK);
            Ok::<_, ()>(0)
        });
        assert_eq!((overtaken, ticks.now()), (Ok(()), 3 * MAX_IGNORED_ROLLBACK));
    }

    #[test]
    fn a_failing_wall_clock_changes_nothing() {
        let ticks = SharedTime::new(7);
        assert_eq!((ticks.tick(|| Err("none")), ticks.now()), (Err("none"), 7));
    }

    #[test]
    fn a_direct_reading_older_than_a_tick_returns_the_tick() {
        let ticks = SharedTime::new(0);
        ticks.tick_at(200);
        assert_eq!((ticks.observe(100), ticks.now()), (200, 200));
    }

    #[test]
    fn a_clock_rollback_is_followed_at_the_next_tick() {
        let ticks = SharedTime::new(MAX_IGNORED_ROLLBACK + 1);
        assert_eq!(ticks.observe(0), MAX_IGNORED_ROLLBACK + 1);
        ticks.tick_at(0);
        assert_eq!(ticks.now(), 0);
        let ticks = SharedTime::new(i64::MAX);
        ticks.tick_at(i64::MIN);
        assert_eq!(ticks.now(), i64::MIN);
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::{
        sync::{Arc, atomic::AtomicBool},
        thread,
    };

    use super::*;

    /// One thread reads the wall clock directly and publishes the reading, as a generator publishes an ID. Meanwhile,
    /// another thread calls `tick` twice, first with an older reading and then with a newer one.
    #[test]
    fn no_thread_reads_an_earlier_time_than_one_it_has_seen() {
        loom::model(|| {
            let (ticks, published) =
                (Arc::new(SharedTime::new(0)), Arc::new(AtomicBool::new(false)));
            let ticker = {
                let ticks = ticks.clone();
                thread::spawn(move || [1, 3].map(|wall| ticks.tick(|| Ok::<_, ()>(wall))))
            };
            let observer = {
                let (ticks, published) = (ticks.clone(), published.clone());
                thread::spawn(move || {
                    let reading = ticks.observe(2);
                    published.store(true, Ordering::Release);
                    reading
                })
            };
            let before = published.load(Ordering::Acquire);
            let reading = ticks.now();
            assert!(!before || reading >= 2, "{reading}");
            ticker.join().unwrap();
            assert!(observer.join().unwrap() >= 2);
            assert_eq!(ticks.now(), 3);
        });
    }
}
