//! Packing IDs from slots.

use super::{Parts, Sno, fill::write_run, identity::Identity, partition::Partitions};
use crate::{Error, Result, generator::Pack, sequence::tick_tock::Run};

impl Pack for Partitions {
    type Id = Sno;
    type Given<'g> = u8;
    /// Packed bytes, 10 an ID.
    type Batch<'b> = &'b mut [u8];

    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "k < run.len, and the run ends at a 16-bit bound"
    )]
    fn id(&self, (identity, run): (Identity, Run), k: u32, metabyte: u8) -> Sno {
        let Run { tick, tick_tock, first, .. } = run;
        let (partition, sequence) = (identity.partition, first + k as u16);
        Sno::pack(Parts { tick, tick_tock, metabyte, partition, sequence })
    }

    fn room(&self, bytes: &&mut [u8], _: u8) -> Result<usize> {
        if !bytes.len().is_multiple_of(Sno::LEN) {
            return Err(Error::not_a_multiple(bytes.len(), 10));
        }
        Ok(bytes.len() / Sno::LEN)
    }

    fn write(
        &self,
        slots: (Identity, Run),
        metabyte: u8,
        bytes: &mut Self::Batch<'_>,
        from: usize,
    ) {
        let places = &mut bytes[from * Sno::LEN..][..slots.1.len as usize * Sno::LEN];
        write_run(places, self.id(slots, 0, metabyte));
    }
}
