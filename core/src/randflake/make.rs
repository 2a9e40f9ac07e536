//! Packing IDs from slots, and the cipher.

use super::{Randflake, builder::SLOTS_PER_NODE, codec, family::Nodes};
use crate::{Result, generator::Pack, sequence::Run};

/// Number of IDs that are encrypted together.
pub(super) const GROUP: usize = 64;

impl Pack for Nodes {
    type Id = Randflake;
    type Given<'g> = ();
    type Batch<'b> = &'b mut [Randflake];

    #[inline]
    fn id(&self, ((), run): ((), Run), k: u32, (): ()) -> Randflake {
        self.codec.encrypt_raw(self.raw(run.tick, run.first + u64::from(k)))
    }

    fn room(&self, ids: &&mut [Randflake], (): ()) -> Result<usize> {
        Ok(ids.len())
    }

    fn write(&self, ((), run): ((), Run), (): (), ids: &mut Self::Batch<'_>, from: usize) {
        self.encrypt(run, 0, &mut ids[from..][..run.len as usize]);
    }
}

impl Nodes {
    /// Writes the IDs of a run, from the `k`-th slot on, until `ids` is full.
    pub(super) fn encrypt(&self, run: Run, k: usize, ids: &mut [Randflake]) {
        let mut slots = run.first + k as u64..;
        for group in ids.chunks_mut(GROUP) {
            let mut raw = [[0; 8]; GROUP];
            let raw = &mut raw[..group.len()];
            for (block, slot) in raw.iter_mut().zip(&mut slots) {
                *block = self.raw(run.tick, slot).to_le_bytes();
            }
            self.codec.encrypt_many(raw, group);
        }
    }

    /// The raw value of a slot.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a node's number among those of the grant, and 17 bits"
    )]
    fn raw(&self, tick: u64, slot: u64) -> u64 {
        let node = self.grant.first_node() + (slot / SLOTS_PER_NODE) as u32;
        codec::raw(tick, node, (slot % SLOTS_PER_NODE) as u32)
    }
}
