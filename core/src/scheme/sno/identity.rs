//! Who a generator is: its partition, and the process that it has it in.

use crate::{Result, scheme::Owner};

/// A default partition, and the lower bound of its sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Differs from that of every other default generator in reach.
    pub partition: u16,
    /// Random in 0..=32767, so that two processes that share a partition by chance rarely meet.
    pub sequence_min: u16,
}

impl Drawn {
    /// The next of this process and its forks, with entropy from the system.
    ///
    /// # Errors
    /// `partitions_exhausted` after 65,536 of them; `entropy_unavailable`.
    #[cfg(feature = "std")]
    pub fn from_system() -> Result<Self> {
        use crate::fork::partitions;
        Ok(Self { partition: partitions::next()?, sequence_min: partitions::random_u16()? >> 1 })
    }
}

/// Where the partition comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// Belongs to the process of this epoch.
    Given { partition: u16, epoch: u32 },
    /// Drawn at the first ID and again after a fork; with bounds of one's own, only the partition is.
    /// A window belongs to the process that it was given to.
    Drawn { draw: fn() -> Result<Drawn>, own_min: bool, window_of: Option<Owner> },
}

/// Who a generator is in this process: the epoch it belongs to, its partition and its lowest sequence, in one word.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    pub(super) epoch: u32,
    pub(super) partition: u16,
    pub(super) min: u16,
}

impl Identity {
    /// Stands for "not drawn yet": no process is this many forks deep.
    pub(super) const NEVER: u32 = u32::MAX;

    pub(super) const fn to_word(self) -> u64 {
        (self.epoch as u64) << 32 | (self.partition as u64) << 16 | self.min as u64
    }

    #[allow(clippy::cast_possible_truncation, reason = "the word's parts")]
    pub(super) const fn of_word(word: u64) -> Self {
        Self { epoch: (word >> 32) as u32, partition: (word >> 16) as u16, min: word as u16 }
    }
}
