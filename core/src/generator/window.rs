//! The time span in which a generator can generate IDs.

use core::ops::Range;

use crate::{
    Error, ErrorKind, Result,
    format::Ticks,
    sync::{AtomicU64, Ordering},
};

/// The ticks `start .. end`. The end can only be moved to a later tick.
#[derive(Debug)]
pub(crate) struct Window {
    start: u64,
    end: AtomicU64,
}

impl Window {
    /// Creates a window that contains every tick up to and including `last`.
    pub(crate) const fn through(last: u64) -> Self {
        Self { start: 0, end: AtomicU64::new(last + 1) }
    }

    pub(crate) const fn new(ticks: Range<u64>) -> Self {
        Self { start: ticks.start, end: AtomicU64::new(ticks.end) }
    }

    /// Returns the window's first tick.
    pub(crate) const fn start(&self) -> u64 {
        self.start
    }

    /// Rejects a tick outside the window with `lease_not_started` or `lease_expired`.
    #[inline]
    pub(crate) fn check(&self, tick: u64, ticks: &impl Ticks) -> Result<()> {
        if tick < self.start {
            return Err(Error::retry_later(
                ErrorKind::LeaseNotStarted,
                ticks.tick_start_ms(self.start),
            ));
        }
        if tick >= self.end.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::LeaseExpired));
        }
        Ok(())
    }

    /// Returns whether an ID may be generated in `tick`.
    /// Returns whether the window contains a tick. This is a second line of defence: the fast path stays in the tick of the
    /// state machine, which only a step after [`Window::check`] enters.
    #[inline]
    pub(crate) fn contains(&self, tick: u64) -> bool {
        (self.start..self.end.load(Ordering::Acquire)).contains(&tick)
    }

    /// Moves the end to a later tick. Does nothing if the new end is not later than the current one.
    pub(crate) fn extend(&self, end: u64) {
        // `fetch_max` is used because two extensions may arrive out of order, and handles rely on a window that never
        // shrinks.
        self.end.fetch_max(end, Ordering::AcqRel);
    }

    pub(crate) fn ticks(&self) -> Range<u64> {
        self.start..self.end.load(Ordering::Acquire)
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use super::Window;
    use crate::sync::explorer::{Scenario, choose, explore};

    impl Scenario for Window {
        type Record = u64;

        fn call(&self, _: usize, _: u8, end: &mut u64) -> bool {
            let extended = 10 + u64::from(choose(4));
            self.extend(extended);
            let seen = self.ticks().end;
            assert!(seen >= extended.max(*end), "{seen} after {extended} and {end}");
            *end = seen;
            true
        }
    }

    #[test]
    fn the_window_end_never_decreases() {
        assert!(explore(&Window::new(5..10), &[2, 2]).states > 100);
    }
}
