//! The floor: a range of ticks around a generator's first clock reading, of which an earlier generator with the same worker
//! ID may have used any.
//!
//! A generator that is rebuilt after a restart does not know the last ID of its predecessor. However, the predecessor
//! generated that ID before the new generator's first call. If the clock was not set back in between, the time of that ID
//! is no later than the latest time that a different clock could have shown at that call, which is the clock reading of the
//! first call plus the slack and the resolution of the clock. The tick of that time is the floor's last tick, and the first
//! ID of the new generator belongs to a later tick. A clock that was set back while no generator ran cannot be detected
//! without a snapshot.
//!
//! A later clock reading may lag behind the first reading by less than the slack, so the floor begins at the first reading
//! minus the slack. A reading within the floor is not a clock rollback, and a step must not treat it as a rollback. If
//! every generator with a worker ID flipped the tick-tock bit because of a lagging reading, two consecutive generators
//! could both do so, and use the same tick with the same flipped bit. A step within the floor therefore behaves as if all
//! slots up to the floor's last tick were used. Only a reading before the floor means that the clock moved backward.

use super::Flip;

/// Returns the maximum number of nanoseconds by which an earlier reading of a different clock can be ahead of this clock's
/// reading.
pub(crate) fn max_lead(slack: u64, resolution: u64) -> i64 {
    // A clock rounds down, so the actual time may be later than the clock reading by almost one unit of the resolution.
    let late = slack.saturating_add(resolution.max(1) - 1);
    i64::try_from(late).unwrap_or(i64::MAX)
}

/// A floor, which consists of the ticks `from ..= last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    /// The tick of the first call's clock reading minus the slack.
    pub(crate) from: u64,
    /// The last tick of the floor. The generator's first ID belongs to a later tick.
    pub(crate) last: u64,
}

impl Floor {
    /// Returns the floor for a clock with the given slack and resolution that read `first` at the first call. All values
    /// are in nanoseconds.
    ///
    /// # Errors
    /// Returns the error from `tick_of` if the format's time range ends before the floor does.
    pub(crate) fn new<E>(
        first: i64,
        slack: u64,
        resolution: u64,
        tick_of: impl Fn(i64) -> Result<u64, E>,
    ) -> Result<Self, E> {
        // If the floor would start before the format's first tick, it starts at the first tick instead, because no ID is
        // older than that tick.
        let from = tick_of(first.saturating_sub_unsigned(slack)).unwrap_or(0);
        let last = tick_of(first.saturating_add(max_lead(slack, resolution)))?;
        Ok(Self { from, last })
    }

    /// Returns whether a step at `tick` may go back in time. `flip` is the result that would apply without the floor.
    /// Returns `None` if the step must wait until the floor ends.
    pub(crate) const fn check_flip(self, tick: u64, is_unused: bool, flip: Flip) -> Option<Flip> {
        if tick > self.last {
            return Some(flip);
        }
        if tick >= self.from {
            return None;
        }
        // Once a state machine has been used, its state word contains the last used tick, so the state machine detects the
        // rollback itself.
        Some(if is_unused { Flip::Below(self.last) } else { flip })
    }
}
