//! Assembles IDs from reserved slots.

use super::{
    HotGuid, LAST_COUNTER,
    family::{HotGuidFamily, Identity},
    fill::write_run,
};
use crate::{
    Result,
    generator::{CallTypes, Pack},
    narrow,
    sequence::SlotRange,
};

impl CallTypes for HotGuidFamily {
    type Id = HotGuid;
    type Param<'g> = u32;
    type Batch<'b> = &'b mut [HotGuid];
}

impl Pack for HotGuidFamily {
    type PrecomputedData = ();
    const EMPTY_PRECOMPUTED_DATA: () = ();

    #[inline]
    fn id(&self, (identity, range): (Identity, SlotRange), k: u32, shard_key: u32) -> HotGuid {
        // Each of the three summands is less than 2^24, so the sum does not overflow. The mask makes the counter wrap
        // around.
        let counter = (identity.start + narrow::u32(range.first) + k) & LAST_COUNTER;
        let shard_key = if self.uuid8 { shard_key.swap_bytes() } else { shard_key };
        HotGuid::pack(range.tick, identity.machine, counter, shard_key)
    }

    /// Returns `false`, because each generator picks its own random bytes.
    fn may_repeat(&self, _: &Self) -> bool {
        false
    }

    fn capacity(&self, ids: &Self::Batch<'_>, _: u32) -> Result<usize> {
        Ok(ids.len())
    }

    fn write(
        &self,
        slots: (Identity, SlotRange),
        key: u32,
        ids: &mut Self::Batch<'_>,
        from: usize,
    ) -> Result<()> {
        write_run(&mut ids[from..][..slots.1.len as usize], self.id(slots, 0, key));
        Ok(())
    }
}
