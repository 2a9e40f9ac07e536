//! sno: texts, bytes and fields.

use core::ops::RangeInclusive;

use polyflake::{
    Result,
    sno::{self, Parts, Sno},
};

use super::BATCH;
use crate::{Host, Machine, Scratch};

const LENGTHS: RangeInclusive<usize> = Sno::TEXT_LEN..=Sno::TEXT_LEN;

/// The last tick of 39 bits: what is wider never gets to the core.
const LAST_TICK: u64 = (1 << 39) - 1;

impl Scratch {
    fn sno(&self) -> Result<Sno> {
        self.text(LENGTHS, Sno::parse_utf16)
    }

    #[inline]
    pub(crate) fn put_sno(&self, index: usize, id: Sno) {
        self.put_bytes(index * Sno::TEXT_LEN, id.text().as_bytes());
    }
}

/// IDs by their texts: a text's length is in the first slot, its UTF-16 units are among the units.
impl<C: Host> Machine<C> {
    /// Text -> Unix milliseconds, tick, tick-tock, metabyte, partition, sequence; and the 10 bytes.
    #[allow(clippy::cast_precision_loss, reason = "a tick has 39 bits, a time in milliseconds 42")]
    pub fn sno_parse(&self) -> Result<()> {
        let id = self.scratch.sno()?;
        self.scratch.put_bytes(0, id.as_bytes());
        self.scratch.put_numbers([
            id.unix_ms() as f64,
            id.tick() as f64,
            id.tick_tock().into(),
            id.metabyte().into(),
            id.partition().into(),
            id.sequence().into(),
        ]);
        Ok(())
    }

    /// Text -> metabyte, without a look at the other characters.
    pub fn sno_metabyte(&self) -> Result<()> {
        let metabyte = self.scratch.text(LENGTHS, sno::metabyte_utf16)?;
        self.scratch.put_numbers([metabyte.into()]);
        Ok(())
    }

    /// Text; metabyte, partition, sequence, each if given -> text.
    pub fn sno_with(&self) -> Result<()> {
        let scratch = self.scratch;
        let mut id = scratch.sno()?;
        if scratch.given(1) {
            id = id.with_metabyte(scratch.byte(1, "metabyte")?);
        }
        if scratch.given(2) {
            id = id.with_partition(scratch.word(2, "partition")?);
        }
        if scratch.given(3) {
            id = id.with_sequence(scratch.word(3, "sequence")?);
        }
        scratch.put_sno(0, id);
        Ok(())
    }

    /// Tick, tick-tock, metabyte, partition, sequence -> text.
    pub fn sno_from_parts(&self) -> Result<()> {
        let scratch = self.scratch;
        let id = Sno::from_parts(Parts {
            tick: scratch.integer(0, "tick", LAST_TICK)?,
            tick_tock: scratch.integer(1, "tick_tock", 1)? == 1,
            metabyte: scratch.byte(2, "metabyte")?,
            partition: scratch.word(3, "partition")?,
            sequence: scratch.word(4, "sequence")?,
        })?;
        scratch.put_sno(0, id);
        Ok(())
    }

    /// The 16 bytes of a UUID -> text.
    pub fn sno_from_uuid(&self) -> Result<()> {
        let mut bytes = [0; Sno::TEXT_LEN];
        self.scratch.get_bytes(0, &mut bytes);
        self.scratch.put_sno(0, Sno::from_uuid_bytes(bytes)?);
        Ok(())
    }

    /// A count of at most [`BATCH`]; packed bytes -> packed texts.
    pub fn sno_texts(&self) -> Result<()> {
        let (mut packed, mut texts) = ([0; BATCH * Sno::LEN], [[0; Sno::TEXT_LEN]; BATCH]);
        let count = self.scratch.count(0);
        let (packed, texts) = (&mut packed[..count * Sno::LEN], &mut texts[..count]);
        self.scratch.get_bytes(0, packed);
        sno::encode_slice(Sno::slice_from_bytes(packed)?, texts)?;
        self.scratch.put_bytes(0, texts.as_flattened());
        Ok(())
    }

    /// A count of at most [`BATCH`]; packed texts -> packed bytes.
    pub fn sno_from_texts(&self) -> Result<()> {
        let (mut texts, mut ids) = ([[0; Sno::TEXT_LEN]; BATCH], [Sno::default(); BATCH]);
        let count = self.scratch.count(0);
        let (texts, ids) = (&mut texts[..count], &mut ids[..count]);
        self.scratch.get_bytes(0, texts.as_flattened_mut());
        sno::decode_slice(texts, ids)?;
        self.scratch.put_bytes(0, Sno::slice_as_bytes(ids));
        Ok(())
    }

    /// Two times -> two texts.
    pub fn sno_time_range(&self) -> Result<()> {
        let (from, to) = (self.scratch.time(0), self.scratch.time(1));
        let (lowest, highest) = Sno::time_range(from, to)?;
        self.scratch.put_sno(0, lowest);
        self.scratch.put_sno(1, highest);
        Ok(())
    }
}
