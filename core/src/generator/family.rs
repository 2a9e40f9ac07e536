//! The parts that a family adds to the engine: its ticks, and its identity.

use super::{Reserved, Window};
use crate::{Error, Result, format::Ticks, sequence::Machine};

/// A family of IDs, as the engine sees it.
pub(crate) trait Family {
    type Machine: Machine;
    type Ticks: Ticks;
    /// The part of an ID besides its slot that the caller does not choose: a partition, a machine.
    type Identity: Copy;

    /// `true` if a call may wait for a clock that is behind.
    const WAITS_BEHIND: bool = true;

    /// The ticks that the family counts; `None` for a sequence without a timestamp, for which the clock is not read.
    fn ticks(&self) -> Option<&Self::Ticks>;

    /// The identity for a tick, and the epoch of the process that it belongs to, which the caller compares with its own. `None`
    /// if the caller must call [`Family::identify`].
    fn found(&self, window: &Window, tick: u64) -> Option<(u32, Self::Identity)>;

    /// The identity for a tick of the window, and the epoch of the process that it belongs to; drawn if need be. An identity
    /// that replaces another one gets a fresh tick: this call then uses up the machine's tick.
    ///
    /// # Errors
    /// `forked` in a child of the process to which identity or window was given.
    fn identify(
        &self,
        machine: &Self::Machine,
        window: &Window,
        tick: u64,
    ) -> Result<(u32, Self::Identity)>;

    /// Returns `false` if another identity has replaced this one.
    fn is_current(&self, identity: Self::Identity) -> bool {
        let _ = identity;
        true
    }

    /// The first tick in which this generator may make IDs, because another generator may still make IDs of its identity before:
    /// calls wait for it.
    fn opens_at(&self) -> u64 {
        0
    }

    /// Refuses with `forked` any other process than the one to which identity or window was given.
    fn check_process(&self) -> Result<()>;

    /// The slots of a tick under an identity.
    fn limits(&self, identity: Self::Identity) -> <Self::Machine as Machine>::Limits;

    /// The error for a reading outside the format's time; `error` by default.
    fn outside(&self, error: Error, unix_nanos: i64) -> Error {
        let _ = unix_nanos;
        error
    }

    /// Called after the window's end has moved.
    fn extended(&self, end: u64) {
        let _ = end;
    }

    /// Called when the generator is dropped.
    fn dropped(&self, machine: &Self::Machine) {
        let _ = machine;
    }
}

/// The types of a family's calls.
pub trait Calls {
    /// An ID.
    type Id;
    /// The part that the caller chooses for each ID: a metabyte, a shard key, nothing.
    type Given<'g>: Copy;
    /// A buffer for many IDs.
    type Batch<'b>;
}

/// The packing of a family's IDs from slots.
pub(crate) trait Pack: Family + Calls {
    /// IDs of neighbouring slots of a handle's block, where it pays to make them together; `()` otherwise.
    type Ahead;
    /// No IDs yet.
    const AHEAD: Self::Ahead;

    /// The ID of the `k`-th slot.
    fn id(&self, slots: Reserved<Self>, k: u32, given: Self::Given<'_>) -> Self::Id;

    /// The ID of the `k`-th slot of a handle's block. The handle asks for all of them in order.
    #[inline]
    fn id_in_block(
        &self,
        slots: Reserved<Self>,
        k: u32,
        given: Self::Given<'_>,
        ahead: &mut Self::Ahead,
    ) -> Self::Id {
        let _ = ahead;
        self.id(slots, k, given)
    }

    /// Returns whether generators of both may make the same IDs in a tick.
    fn may_repeat(&self, other: &Self) -> bool;

    /// Refuses a family whose IDs need values that a lease does not have.
    ///
    /// # Errors
    /// `missing_field`.
    fn check_complete(&self) -> Result<()> {
        Ok(())
    }

    /// Number of IDs that fit a buffer.
    ///
    /// # Errors
    /// `invalid_length` if the buffer is no whole number of IDs; `invalid_type` if it is for IDs of another type.
    fn room(&self, batch: &Self::Batch<'_>, given: Self::Given<'_>) -> Result<usize>;

    /// Writes the IDs of all slots into a buffer, from a place on.
    fn write(
        &self,
        slots: Reserved<Self>,
        given: Self::Given<'_>,
        batch: &mut Self::Batch<'_>,
        from: usize,
    );
}
