//! Snapshots of closed generators, and statistics of running generators.

use super::builder::Bounds;
use crate::{Error, Result, narrow, sequence::tick_tock::State};

/// The state of a closed generator, from which a new generator can be restored. Restore each snapshot only once, because a
/// second generator from the same snapshot would generate duplicate IDs.
///
/// With the `serde` feature, a snapshot is serialized to JSON with the same member names as in the Go library, plus a
/// `format` member whose value is 1. `format` is optional in the input, because the Go library does not write it. Times are
/// counted in 4 ms units since the start of 2010.
///
/// ```
/// use polyflake::sno::{Generator, Snapshot};
///
/// let ids = Generator::builder().partition(42).build()?;
/// let last = ids.generate(7)?;
/// let stored = serde_json::to_string(&ids.close()?)?; // {"format":1,"partition":[0,42], ...
/// let snapshot: Snapshot = serde_json::from_str(&stored)?;
/// assert_ne!(Generator::builder().restore(snapshot)?.generate(7)?, last);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(test, derive(Default))]
#[non_exhaustive]
pub struct Snapshot {
    /// The partition, as two big-endian bytes.
    pub partition: [u8; 2],
    /// The first sequence number in each tick.
    pub sequence_min: u16,
    /// The highest sequence number allowed in a tick.
    pub sequence_max: u16,
    /// The last sequence number used in tick `wall_hi`.
    pub sequence: u32,
    /// The tick at which the snapshot was taken. In snapshots from this library, it equals `wall_hi`. If it differs from
    /// `wall_hi` in a snapshot from the Go library, the last sequence number is unknown, and tick `wall_hi` is treated as
    /// exhausted.
    pub now: u64,
    /// The tick of the last ID.
    pub wall_hi: u64,
    /// The highest tick from which the clock has moved back. If the clock moves back again, to this tick or an earlier one,
    /// the generator waits.
    pub wall_safe: u64,
    /// The number of clock rollbacks. The lowest bit of this number is the tick-tock bit.
    pub drifts: u32,
}

/// A generator's statistics at one point in time. They cannot be used to restore the generator, because it may generate
/// more IDs afterwards.
///
/// ```
/// use polyflake::sno::Generator;
///
/// let ids = Generator::builder().partition(42).sequence_max(999).build()?;
/// let stats = ids.stats()?;
/// assert_eq!((stats.partition, stats.sequence_max, stats.closed), (Some(42), 999, false));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// The partition, or `None` if none is assigned yet.
    pub partition: Option<u16>,
    /// The first sequence number in each tick.
    pub sequence_min: u16,
    /// The highest sequence number allowed in a tick.
    pub sequence_max: u16,
    /// The last sequence number used in the current tick, or the lower bound if no sequence number was used.
    pub sequence: u16,
    /// The number of IDs generated in the current tick.
    pub len: u32,
    /// The current tick according to the generator's clock, in 4 ms units since 2010.
    pub now: u64,
    /// The tick of the last ID.
    pub wall_hi: u64,
    /// The highest tick from which the clock has moved back. If the clock moves back again, to this tick or an earlier one,
    /// the generator waits.
    pub wall_safe: u64,
    /// The number of clock rollbacks.
    pub drifts: u32,
    /// Whether the generator is closed.
    pub closed: bool,
}

impl Snapshot {
    /// Returns a number that identifies the state that the snapshot contains.
    pub(super) fn state_number(&self) -> u128 {
        let ticks = u128::from(self.wall_hi) | u128::from(self.wall_safe) << 40;
        ticks | u128::from(self.sequence) << 80 | u128::from(self.drifts) << 112
    }

    /// Creates a snapshot for a generator that has not generated any IDs. To load a stored snapshot, set the other fields
    /// to the stored values.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Snapshot};
    ///
    /// let ids = Generator::builder().partition(42).build()?;
    /// ids.generate(7)?;
    /// let kept = ids.close()?;
    /// let mut again = Snapshot::new(kept.partition, kept.sequence_min, kept.sequence_max);
    /// again.sequence = kept.sequence;
    /// (again.now, again.wall_hi, again.wall_safe) = (kept.now, kept.wall_hi, kept.wall_safe);
    /// again.drifts = kept.drifts;
    /// assert_eq!(again, kept);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new(partition: [u8; 2], sequence_min: u16, sequence_max: u16) -> Self {
        let (sequence, now, wall_hi, wall_safe, drifts) = (0, 0, 0, 0, 0);
        Self { partition, sequence_min, sequence_max, sequence, now, wall_hi, wall_safe, drifts }
    }

    /// The name of the snapshot member that contains the format version, and the current version.
    ///
    /// Not part of the public API; used by bindings, and for reading and writing snapshots.
    #[doc(hidden)]
    pub const FORMAT: (&'static str, u64) = ("format", 1);

    /// Rejects any format number other than [`Snapshot::FORMAT`].
    ///
    /// # Errors
    /// Returns `out_of_range` for any other format number.
    #[doc(hidden)]
    pub fn check_format(found: u64) -> Result<()> {
        let (name, known) = Self::FORMAT;
        if found == known {
            return Ok(());
        }
        Err(Error::out_of_range(name, found.into(), known.into(), known.into()))
    }

    /// The names and the maximum values of the snapshot's members. The names and their order are the same as in the Go
    /// library.
    ///
    /// Not part of the public API; used by bindings, and for reading and writing snapshots.
    #[doc(hidden)]
    pub const MEMBERS: [(&'static str, u64); 8] = [
        ("partition", u16::MAX as u64),
        ("sequenceMin", u16::MAX as u64),
        ("sequenceMax", u16::MAX as u64),
        ("sequence", u32::MAX as u64),
        ("now", u64::MAX),
        ("wallHi", u64::MAX),
        ("wallSafe", u64::MAX),
        ("drifts", u32::MAX as u64),
    ];

    /// Returns the values of [`Snapshot::MEMBERS`], with the partition as a 16-bit integer.
    #[doc(hidden)]
    pub fn to_numbers(&self) -> [u64; 8] {
        let Self {
            partition, sequence_min, sequence_max, sequence, now, wall_hi, wall_safe, ..
        } = *self;
        [
            u16::from_be_bytes(partition).into(),
            sequence_min.into(),
            sequence_max.into(),
            sequence.into(),
            now,
            wall_hi,
            wall_safe,
            self.drifts.into(),
        ]
    }

    /// Creates a snapshot whose members have the given values.
    ///
    /// # Errors
    /// Returns `out_of_range` with the name of the first member whose value exceeds its maximum.
    #[doc(hidden)]
    pub fn from_numbers(numbers: [u64; 8]) -> Result<Self> {
        for ((name, most), number) in Self::MEMBERS.into_iter().zip(numbers) {
            Error::check_range(name, number, 0..=most)?;
        }
        let [partition, sequence_min, sequence_max, sequence, now, wall_hi, wall_safe, drifts] =
            // The checks above make the conversions below lossless.
            numbers;
        Ok(Self {
            partition: narrow::u16(partition).to_be_bytes(),
            sequence_min: narrow::u16(sequence_min),
            sequence_max: narrow::u16(sequence_max),
            sequence: narrow::u32(sequence),
            now,
            wall_hi,
            wall_safe,
            drifts: narrow::u32(drifts),
        })
    }

    /// Creates a snapshot from a state. The ticks before `start` are treated as used, because they belonged to the
    /// partition's previous holder.
    pub(super) fn from_state(partition: u16, bounds: Bounds, state: State, start: u64) -> Self {
        let before = start.saturating_sub(1);
        let (tick, sequence) = if state.tick < start {
            (before, bounds.max.into())
        } else {
            (state.tick, last_sequence(bounds, state.next))
        };
        Self {
            partition: partition.to_be_bytes(),
            sequence_min: bounds.min,
            sequence_max: bounds.max,
            sequence,
            now: tick,
            wall_hi: tick,
            wall_safe: state.safe.max(before),
            drifts: state.drifts,
        }
    }

    /// Returns whether the snapshot appears to come from a generator that generated no IDs. A generator whose only ID has
    /// tick 0 and sequence 0 produces the same snapshot.
    pub(super) const fn is_blank(&self) -> bool {
        self.wall_hi == 0 && self.now == 0 && self.sequence == 0
    }

    /// Returns the first sequence number in tick `wall_hi` that is guaranteed to be unused.
    pub(super) fn next_sequence(&self, bounds: Bounds) -> Result<u32> {
        let (least, most) = (u32::from(bounds.min), u32::from(bounds.max));
        if self.sequence != 0 {
            Error::check_range("sequence", self.sequence, least..=u32::MAX)?;
        }
        Ok(match self.sequence.max(least) {
            // In this case, the last sequence number of tick `wall_hi` is unknown. Skipping the rest of that tick is better
            // than risking a duplicate ID.
            _ if self.now != self.wall_hi => most + 1,
            last if last >= most => most + 1,
            last => last + 1,
        })
    }
}

impl Stats {
    pub(super) fn from_state(
        partition: Option<u16>,
        bounds: Bounds,
        state: State,
        now: u64,
    ) -> Self {
        let len = if now == state.tick { state.next.saturating_sub(bounds.min.into()) } else { 0 };
        let sequence = if len == 0 { bounds.min.into() } else { last_sequence(bounds, state.next) };
        Self {
            partition,
            sequence_min: bounds.min,
            sequence_max: bounds.max,
            sequence: u16::try_from(sequence).unwrap_or(bounds.max),
            len,
            now,
            wall_hi: state.tick,
            wall_safe: state.safe,
            drifts: state.drifts,
            closed: state.closed,
        }
    }
}

/// Returns the sequence number before `next`, or the lower bound if no sequence number has been used.
fn last_sequence(bounds: Bounds, next: u32) -> u32 {
    next.saturating_sub(1).max(bounds.min.into())
}
