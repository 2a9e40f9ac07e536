//! The identity of a generator: its partition, and the process in which it was assigned that partition.

use super::SCALE;
use crate::{
    Error, ErrorKind, Result,
    fork::partitions::{FindTable, NoReservation},
    generator::NOT_PICKED,
};

/// A default partition and the lower bound of its sequence numbers.
///
/// ```
/// use polyflake::sno::{Assignment, Generator};
///
/// let ids = Generator::builder().identity_from(|| Ok(Assignment { partition: 42, sequence_min: 100 })).build()?;
/// assert_eq!(ids.generate(7)?.sequence(), 100);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The partition, which no other generator holds at the same time.
    pub partition: u16,
    /// The lower bound of the sequence numbers, a random number in 0..=32767. The randomness makes collisions less likely
    /// if two processes happen to use the same partition.
    pub sequence_min: u16,
}

impl Assignment {
    /// Picks a random partition for a generator outside this crate. No generator in this process or its forks holds the
    /// partition or will reserve it. The random bytes come from the operating system.
    ///
    /// ```
    /// use polyflake::sno::Assignment;
    ///
    /// let (first, second) = (Assignment::from_system()?, Assignment::from_system()?);
    /// assert_ne!(first.partition, second.partition);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `partitions_exhausted` if all 65,536 partitions are in use, or `entropy_unavailable` if the operating system
    /// provides no random bytes.
    #[cfg(feature = "std")]
    pub fn from_system() -> Result<Self> {
        use crate::{
            clock::{self, Clock, SystemClock},
            fork::partitions,
            format::Ticks as _,
        };
        let (table, now) = (partitions::shared_table()?, SystemClock.unix_nanos()?);
        let tick = SCALE.tick_of_nanos(now);
        let tick =
            tick.map_err(|error| clock::error_in_unit(&error, now, SystemClock.info().unit))?;
        loop {
            let reservation = table.reserve_free_partition(tick).map_err(no_free_partition)?;
            // Another generator may explicitly claim this partition after the reservation but before it is permanent.
            // In that case, the next partition is tried.
            if table.reserve_permanently(reservation) {
                let sequence_min = table.random_bits()? >> 1;
                return Ok(Self { partition: reservation.partition, sequence_min });
            }
        }
    }
}

/// Returns the error for a failed search for a free partition.
#[cold]
pub(super) fn no_free_partition(reason: NoReservation) -> Error {
    match reason {
        NoReservation::Failed(error) => error,
        NoReservation::Before(u64::MAX) => Error::new(ErrorKind::PartitionsExhausted),
        NoReservation::Before(tick) => {
            Error::retry_later(ErrorKind::PartitionsExhausted, SCALE.tick_start_ms(tick))
        }
    }
}

/// How a generator picks its partition.
#[derive(Clone, Copy, Debug)]
pub(super) enum PartitionSource {
    /// Reserves a partition from a table, and reserves another one if the reservation is lost.
    Table(FindTable),
    /// Calls a function to obtain the partition, and uses that partition for the lifetime of the process.
    By(fn() -> Result<Assignment>),
}

/// The table in which explicit partitions are claimed unless the host provides another table. The loom and shuttle models
/// use no table, because they do not include the process-wide table.
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
pub(super) const FIND_DEFAULT_TABLE: Option<FindTable> =
    Some(crate::fork::partitions::shared_table);
#[cfg(not(all(feature = "std", not(any(loom, shuttle)))))]
pub(super) const FIND_DEFAULT_TABLE: Option<FindTable> = None;

/// A generator's identity in this process: its process generation, its partition and its lowest sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(super) generation: u64,
    pub(super) partition: u16,
    pub(super) min: u16,
}

impl Identity {
    /// Returns an identity that has no partition yet.
    pub(super) const fn without_partition(min: u16) -> Self {
        Self { generation: NOT_PICKED, partition: 0, min }
    }
}
