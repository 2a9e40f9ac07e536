//! What a family adds to the engine: its ticks, and its identity.

use super::{Reserved, Window};
use crate::{Error, Result, format::Ticks, sequence::Machine};

/// A family of IDs, as the engine sees it.
pub(crate) trait Family {
    type Machine: Machine;
    type Ticks: Ticks;
    /// What an ID holds besides its slot, and which is not the caller's to choose: a partition, a machine.
    type Identity: Copy;

    /// Whether a call may wait for a clock that is behind.
    const WAITS_BEHIND: bool = true;

    /// The ticks that it counts; none where the sequence is alone, and the clock is not read.
    fn ticks(&self) -> Option<&Self::Ticks>;

    /// The identity that holds in a tick, and the process epoch that it belongs to, which the caller compares with its own. None where
    /// [`Family::identify`] has to be asked.
    fn found(&self, window: &Window, tick: u64) -> Option<(u32, Self::Identity)>;

    /// The identity that holds in a tick of the window, and the process epoch that it belongs to; drawn if need be.
    ///
    /// # Errors
    /// `forked` in a child process of the one that identity or window was given to.
    fn identify(&self, window: &Window, tick: u64) -> Result<(u32, Self::Identity)>;

    /// Refuses a process that identity or window was not given to, with `forked`.
    fn check_process(&self) -> Result<()>;

    /// The slots of a tick under an identity.
    fn limits(&self, identity: Self::Identity) -> <Self::Machine as Machine>::Limits;

    /// The error for a reading outside of the format's time, which is `error` by default.
    fn outside(&self, error: Error, unix_nanos: i64) -> Error {
        let _ = unix_nanos;
        error
    }

    /// Hears that the end of the window moved.
    fn extended(&self, end: u64) {
        let _ = end;
    }
}

/// How a family makes IDs of slots.
pub(crate) trait Pack: Family {
    type Id;
    /// What the caller chooses for each ID: a metabyte, a shard key.
    type Given<'g>: Copy;
    /// Room for many IDs.
    type Batch<'b>;

    /// The ID of the `k`-th slot.
    fn id(&self, slots: Reserved<Self>, k: u32, given: Self::Given<'_>) -> Self::Id;

    /// How many IDs there is room for.
    ///
    /// # Errors
    /// `invalid_length` where the room is no whole number of IDs; `invalid_type` where it is for IDs of another type.
    fn room(&self, batch: &Self::Batch<'_>, given: Self::Given<'_>) -> Result<usize>;

    /// Writes the IDs of all slots, from a place on.
    fn write(
        &self,
        slots: Reserved<Self>,
        given: Self::Given<'_>,
        batch: &mut Self::Batch<'_>,
        from: usize,
    );
}
