//! Assembles IDs from reserved sequence slots.

use super::{
    Parts, Sno, fill::write_run, identity::Identity, partition::SnoFamily,
    slice_bytes::as_arrays_mut,
};
use crate::{
    Result,
    generator::{CallTypes, Pack},
    narrow,
    sequence::SlotRange,
};

impl CallTypes for SnoFamily {
    type Id = Sno;
    type Param<'g> = u8;
    type Batch<'b> = &'b mut [Sno];
}

impl Pack for SnoFamily {
    type PrecomputedData = ();
    const EMPTY_PRECOMPUTED_DATA: () = ();

    #[inline]
    fn id(&self, (identity, range): (Identity, SlotRange), k: u32, metabyte: u8) -> Sno {
        let SlotRange { tick, tick_tock, first, .. } = range;
        let (partition, sequence) = (identity.partition, narrow::u16(first + u64::from(k)));
        Sno::pack(Parts { tick, tick_tock, metabyte, partition, sequence })
    }

    /// Returns true if both generators have the same configured partition and overlapping sequence bounds. Partitions from
    /// `identity_from` are ignored, because their source keeps them distinct.
    fn may_repeat(&self, other: &Self) -> bool {
        let (bounds, others) = (self.bounds(), other.bounds());
        self.explicit_partition().is_some_and(|given| other.explicit_partition() == Some(given))
            && bounds.min <= others.max
            && others.min <= bounds.max
    }

    fn capacity(&self, ids: &&mut [Sno], _: u8) -> Result<usize> {
        Ok(ids.len())
    }

    fn write(
        &self,
        slots: (Identity, SlotRange),
        metabyte: u8,
        ids: &mut Self::Batch<'_>,
        from: usize,
    ) -> Result<()> {
        let ids = &mut ids[from..][..slots.1.len as usize];
        write_run(as_arrays_mut(ids).as_flattened_mut(), self.id(slots, 0, metabyte));
        Ok(())
    }
}
