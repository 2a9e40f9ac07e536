//! Assembles IDs from reserved sequence slots and random bits.

use super::{
    RANDOM, Uuid7, WORKER_ID,
    family::{Tail, Uuid7Family},
    stream::Stream,
};
use crate::{
    Result, fork,
    generator::{CallTypes, Pack},
    sequence::SlotRange,
};

impl CallTypes for Uuid7Family {
    type Id = Uuid7;
    type Param<'g> = ();
    type Batch<'b> = &'b mut [Uuid7];
}

/// A handle's stream of random bits, and the bits of the handle's next ID.
#[derive(Debug)]
pub(crate) struct PrecomputedBits {
    stream: Option<Stream>,
    bits: u64,
}

impl Pack for Uuid7Family {
    type PrecomputedData = PrecomputedBits;
    const EMPTY_PRECOMPUTED_DATA: PrecomputedBits = PrecomputedBits { stream: None, bits: 0 };

    #[inline]
    fn id(&self, (tail, range): (Tail, SlotRange), k: u32, (): ()) -> Uuid7 {
        self.pack_id(range, k, tail.bits)
    }

    /// Takes the bits of the next ID from the handle's stream. The stream belongs to the generation of the handle's block,
    /// and the handle checks afterwards that this generation is still current.
    #[inline]
    fn prepare(&self, ahead: &mut PrecomputedBits, now: i64) -> Result<()> {
        ahead.bits = match &mut ahead.stream {
            Some(stream) if stream.is_in_same_millisecond(now) => stream.next(),
            stream => self.entropy.renew(stream, now)?.next(),
        };
        Ok(())
    }

    /// Returns the ID at position `k` of a block. The first ID of a block uses the bits that were taken for the
    /// reservation, because the reservation has already checked that the generation of these bits is current. For that
    /// first ID, the function also drops the handle's stream if the stream belongs to an earlier generation.
    #[inline]
    fn id_in_block(
        &self,
        (tail, range): (Tail, SlotRange),
        k: u32,
        (): (),
        ahead: &mut PrecomputedBits,
    ) -> Uuid7 {
        if k > 0 {
            return self.pack_id(range, k, ahead.bits);
        }
        ahead.stream.take_if(|stream| stream.generation() != fork::generation());
        self.pack_id(range, k, tail.bits)
    }

    /// Returns true if both generators have the same worker ID.
    fn may_repeat(&self, other: &Self) -> bool {
        self.worker_id.is_some() && self.worker_id == other.worker_id
    }

    fn capacity(&self, ids: &&mut [Uuid7], (): ()) -> Result<usize> {
        Ok(ids.len())
    }

    fn write(
        &self,
        (_, range): (Tail, SlotRange),
        (): (),
        ids: &mut Self::Batch<'_>,
        from: usize,
    ) -> Result<()> {
        let ids = &mut ids[from..][..range.len as usize];
        self.entropy.with_last_stream(|stream| {
            let mut k = 0;
            stream.for_each(ids, |id, bits| {
                *id = self.pack_id(range, k, bits);
                k += 1;
            });
        })
    }
}

impl Uuid7Family {
    #[inline]
    fn pack_id(&self, range: SlotRange, k: u32, bits: u64) -> Uuid7 {
        let random = match self.worker_id {
            None => bits >> (64 - RANDOM.bits()),
            Some(worker_id) => {
                bits >> (64 - WORKER_ID.shift()) | u64::from(worker_id) << WORKER_ID.shift()
            }
        };
        Uuid7::pack(range.tick, range.first + u64::from(k), random)
    }
}
