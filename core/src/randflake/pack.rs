//! Packs reserved slots into IDs, and encrypts the IDs.

use super::{LAST_SEQUENCE, Randflake, codec, family::RandflakeFamily};
use crate::{
    Result,
    generator::{CallTypes, Pack},
    narrow,
    sequence::SlotRange,
};

/// The number of slots that a node has in each second. A grant's slots are sorted by node.
pub(super) const SLOTS_PER_NODE: u64 = LAST_SEQUENCE as u64 + 1;

/// The number of IDs that are encrypted together.
const GROUP_LEN: usize = 64;

impl CallTypes for RandflakeFamily {
    type Id = Randflake;
    type Param<'g> = ();
    type Batch<'b> = &'b mut [Randflake];
}

impl Pack for RandflakeFamily {
    /// A buffer of IDs that are encrypted ahead of time. Encrypting IDs in a group takes at most one fifth of the time
    /// needed to encrypt them one by one.
    type PrecomputedData = [Randflake; GROUP_LEN];
    const EMPTY_PRECOMPUTED_DATA: Self::PrecomputedData = [Randflake::from_u64(0); GROUP_LEN];

    #[inline]
    fn id(&self, ((), range): ((), SlotRange), k: u32, (): ()) -> Randflake {
        self.codec.encrypt_raw(self.raw_value(range.tick, range.first + u64::from(k)))
    }

    #[inline]
    fn id_in_block(
        &self,
        ((), range): ((), SlotRange),
        k: u32,
        (): (),
        ahead: &mut Self::PrecomputedData,
    ) -> Randflake {
        let k = k as usize;
        // Encryption takes 33 ns for a single block, but only 2 ns per block if 64 blocks are encrypted at once. The
        // handle's slots are already reserved, so the raw values of its next IDs are known and can be encrypted together.
        if k.is_multiple_of(GROUP_LEN) {
            self.encrypt(range, k, &mut ahead[..GROUP_LEN.min(range.len as usize - k)]);
        }
        ahead[k % GROUP_LEN]
    }

    /// Returns `true` if both generators have the same secret and at least one node ID in common.
    fn may_repeat(&self, other: &Self) -> bool {
        let ((first, last), (other_first, other_last)) =
            (self.grant.nodes().into_inner(), other.grant.nodes().into_inner());
        self.codec.has_same_secret(&other.codec) && first <= other_last && other_first <= last
    }

    fn capacity(&self, ids: &&mut [Randflake], (): ()) -> Result<usize> {
        Ok(ids.len())
    }

    fn write(
        &self,
        ((), range): ((), SlotRange),
        (): (),
        ids: &mut Self::Batch<'_>,
        from: usize,
    ) -> Result<()> {
        self.encrypt(range, 0, &mut ids[from..][..range.len as usize]);
        Ok(())
    }
}

impl RandflakeFamily {
    /// Fills `ids` with the encrypted IDs of consecutive slots, starting with the `k`-th slot of the range.
    fn encrypt(&self, range: SlotRange, k: usize, ids: &mut [Randflake]) {
        let mut slots = range.first + k as u64..;
        for group in ids.chunks_mut(GROUP_LEN) {
            let mut raw = [[0; 8]; GROUP_LEN];
            let raw = &mut raw[..group.len()];
            for (block, slot) in raw.iter_mut().zip(&mut slots) {
                *block = self.raw_value(range.tick, slot).to_le_bytes();
            }
            self.codec.encrypt_many(raw, group);
        }
    }

    /// Returns the raw value of a slot.
    #[inline]
    fn raw_value(&self, tick: u64, slot: u64) -> u64 {
        let node = self.grant.first_node + narrow::u32(slot / SLOTS_PER_NODE);
        codec::pack_raw(tick, node, narrow::u32(slot % SLOTS_PER_NODE))
    }
}
