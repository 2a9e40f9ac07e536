//! Operations on sno IDs: conversions between packed bytes and packed strings, and time ranges.

use polyflake::{
    Result,
    sno::{self, Sno},
};

use crate::{
    Host, Machine, Scratch, ScratchRef,
    protocol::{BATCH, register},
};

impl Scratch {
    #[inline]
    pub(crate) fn put_sno(&self, index: usize, id: Sno) {
        self.put_bytes(index * Sno::TEXT_LEN, id.text().as_bytes());
    }
}

/// Operations on many IDs at once. For single IDs, JavaScript does the conversion itself.
impl<C: Host> Machine<C> {
    /// Reads a count of at most [`BATCH`], and packed bytes. Writes packed strings.
    pub fn sno_texts(&self, at: ScratchRef) -> Result<()> {
        let (mut packed, mut texts) = ([0; BATCH * Sno::LEN], [[0; Sno::TEXT_LEN]; BATCH]);
        let count = at.count();
        let (packed, texts) = (&mut packed[..count * Sno::LEN], &mut texts[..count]);
        self.scratch.get_bytes(0, packed);
        sno::encode_slice(Sno::slice_from_bytes(packed)?, texts)?;
        self.scratch.put_bytes(0, texts.as_flattened());
        Ok(())
    }

    /// Reads a count of at most [`BATCH`], and packed strings. Writes packed bytes.
    pub fn sno_from_texts(&self, at: ScratchRef) -> Result<()> {
        let (mut texts, mut ids) = ([[0; Sno::TEXT_LEN]; BATCH], [Sno::default(); BATCH]);
        let count = at.count();
        let (texts, ids) = (&mut texts[..count], &mut ids[..count]);
        self.scratch.get_bytes(0, texts.as_flattened_mut());
        sno::decode_slice(texts, ids)?;
        self.scratch.put_bytes(0, Sno::slice_as_bytes(ids));
        Ok(())
    }

    /// Reads a start time and an end time. Writes the strings of the lowest and the highest ID in the range.
    pub fn sno_time_range(&self, at: ScratchRef) -> Result<()> {
        let (from, to) = (at.time(register::VALUE), at.time(register::VALUE + 1));
        let (lowest, highest) = Sno::time_range(from, to)?;
        self.scratch.put_sno(0, lowest);
        self.scratch.put_sno(1, highest);
        Ok(())
    }
}
