//! The parts that an ID format adds to the engine: its ticks and its identity.

use super::{Reservation, Window, WorkerIds};
use crate::{
    Error, Result,
    format::Ticks,
    sequence::{Machine, SlotRange},
};

/// An ID format, from the engine's point of view.
pub(crate) trait Family {
    type Machine: Machine;
    type Ticks: Ticks;
    /// The part of an ID, other than its slot, that the caller does not choose, such as a partition or a machine field.
    type Identity: Copy;

    /// Whether a call may wait if the clock is behind the last tick.
    const WAITS_WHEN_BEHIND: bool = true;

    /// Returns the ticks of the format, or `None` for a sequence without a timestamp. The engine never reads the clock for
    /// such a sequence.
    fn ticks(&self) -> Option<&Self::Ticks>;

    /// Returns the identity to use in a tick, together with the process generation to which the identity belongs. The
    /// caller compares this generation with the current one. Returns `None` if the caller must call
    /// [`Family::acquire_identity`]. `now` is the clock reading, which may be in an earlier tick.
    fn current_identity(
        &self,
        window: &Window,
        tick: u64,
        now: i64,
    ) -> Option<(u64, Self::Identity)>;

    /// Returns the identity for a tick of the window, and the process generation to which the identity belongs. Assigns an
    /// identity if necessary. An identity that replaces an earlier one must begin in a fresh tick, so the replacement
    /// exhausts the current tick.
    ///
    /// # Errors
    /// Returns `forked` in a child of the process to which the identity or window was assigned.
    fn acquire_identity(
        &self,
        machine: &Self::Machine,
        window: &Window,
        tick: u64,
        now: i64,
    ) -> Result<(u64, Self::Identity)>;

    /// Returns `false` if the identity has been replaced.
    fn is_current(&self, identity: Self::Identity) -> bool {
        let _ = identity;
        true
    }

    /// Returns the first tick in which this generator may create IDs. Before this tick, another generator may still create
    /// IDs with the same identity, so calls wait until the tick begins.
    fn opening_tick(&self) -> u64 {
        0
    }

    /// Returns `forked` in any process other than the one to which the identity or window was assigned.
    fn check_process(&self) -> Result<()>;

    /// Returns the slots that an identity may use in a tick.
    fn limits(&self, identity: Self::Identity) -> <Self::Machine as Machine>::Limits;

    /// Returns the slots to use in a tick that a step is about to enter. Another thread may enter the tick first, with
    /// different slots.
    fn limits_on_entry(&self, identity: Self::Identity) -> <Self::Machine as Machine>::Limits {
        self.limits(identity)
    }

    /// Called after a step has entered a tick. `last` is the tick that the step left, and `range` contains the first slots
    /// reserved in the new tick.
    fn on_tick_entered(&self, last: u64, range: SlotRange) {
        let _ = (last, range);
    }

    /// Returns the explicit worker IDs that no other generator of this process may use at the same time, or `None` if the
    /// generator has none, or if callers pass some of them for each ID.
    fn worker_ids(&self) -> Option<WorkerIds> {
        None
    }

    /// Prepares the format for a generator that belongs to a lease's grant. The engine calls this method before the first
    /// call to the generator.
    fn on_granted(&mut self) {}

    /// Returns the error for a clock reading outside the format's time range. The default is `error`.
    fn reading_out_of_range(&self, error: Error, unix_nanos: i64) -> Error {
        let _ = unix_nanos;
        error
    }

    /// Called after the window's end has moved.
    fn on_extended(&self, end: u64) {
        let _ = end;
    }

    /// Called when the generator is dropped.
    fn on_drop(&self, machine: &Self::Machine) {
        let _ = machine;
    }
}

/// The types that an ID format's methods use.
pub trait CallTypes {
    /// The ID type.
    type Id: Send + 'static;
    /// The part of each ID that the caller chooses: a metabyte, a shard key, or `()`.
    type Param<'g>: Copy;
    /// A buffer for many IDs.
    type Batch<'b>;
}

/// The part of an ID format that packs slots into IDs.
pub(crate) trait Pack: Family + CallTypes {
    /// The data that a handle prepares for its next IDs: the IDs of adjacent slots (if creating them together is faster),
    /// random bits, or `()`.
    type PrecomputedData;
    /// The initial value, which contains no IDs or random bits.
    const EMPTY_PRECOMPUTED_DATA: Self::PrecomputedData;

    /// Returns the ID of the `k`-th slot.
    fn id(&self, slots: Reservation<Self>, k: u32, param: Self::Param<'_>) -> Self::Id;

    /// Updates the precomputed data for a handle's next ID, before the handle assigns a slot to the ID. `now` is the
    /// current clock reading.
    ///
    /// # Errors
    /// Returns `entropy_unavailable` if the ID needs random bits and the source of random bytes fails.
    #[inline]
    fn prepare(&self, ahead: &mut Self::PrecomputedData, now: i64) -> Result<()> {
        let _ = (ahead, now);
        Ok(())
    }

    /// Returns the ID of the `k`-th slot of a handle's block. The handle requests the IDs of the block in order.
    #[inline]
    fn id_in_block(
        &self,
        slots: Reservation<Self>,
        k: u32,
        param: Self::Param<'_>,
        ahead: &mut Self::PrecomputedData,
    ) -> Self::Id {
        let _ = ahead;
        self.id(slots, k, param)
    }

    /// Returns whether generators with these two identities may generate the same ID in a tick.
    fn may_repeat(&self, other: &Self) -> bool;

    /// Rejects a format whose IDs need values that a lease does not provide.
    ///
    /// # Errors
    /// Returns `missing_field`.
    fn check_complete(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the number of IDs that fit in a buffer.
    ///
    /// # Errors
    /// Returns `invalid_length` if the buffer's size is not a whole number of IDs, or `invalid_type` if the buffer is for a
    /// different type of ID.
    fn capacity(&self, batch: &Self::Batch<'_>, param: Self::Param<'_>) -> Result<usize>;

    /// Writes the IDs of all reserved slots to a buffer, starting at an index.
    ///
    /// # Errors
    /// Returns the same errors as [`Pack::prepare`], before any ID is written. In that case, the slots are lost.
    fn write(
        &self,
        slots: Reservation<Self>,
        param: Self::Param<'_>,
        batch: &mut Self::Batch<'_>,
        from: usize,
    ) -> Result<()>;
}
