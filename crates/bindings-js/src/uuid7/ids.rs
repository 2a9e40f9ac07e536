//! Operations on version 7 UUIDs: conversions between packed bytes and packed strings, and time ranges.

use polyflake::{Result, uuid7::Uuid7};

use crate::{Host, Machine, Scratch, ScratchRef, protocol::register};

/// The maximum number of strings in one call, limited by the size of the scratch area.
const MAX_TEXTS: usize = 448;

impl Scratch {
    pub(crate) fn put_uuid7(&self, index: usize, id: Uuid7) {
        self.put_bytes(index * Uuid7::TEXT_LEN, id.text().as_bytes());
    }
}

/// Operations on many IDs at once. For single IDs, JavaScript does the conversion itself.
impl<C: Host> Machine<C> {
    /// Reads a count of at most [`MAX_TEXTS`], and packed IDs. Writes packed strings.
    pub fn uuid7_texts(&self, at: ScratchRef) -> Result<()> {
        let mut ids = [[0; Uuid7::LEN]; MAX_TEXTS];
        let ids = &mut ids[..at.count().min(MAX_TEXTS)];
        self.scratch.get_bytes(0, ids.as_flattened_mut());
        for (index, id) in ids.iter().enumerate() {
            self.scratch.put_uuid7(index, Uuid7::from_bytes(*id)?);
        }
        Ok(())
    }

    /// Reads a count of at most [`MAX_TEXTS`], and packed strings. Writes packed IDs.
    pub fn uuid7_from_texts(&self, at: ScratchRef) -> Result<()> {
        let mut texts = [[0; Uuid7::TEXT_LEN]; MAX_TEXTS];
        let texts = &mut texts[..at.count().min(MAX_TEXTS)];
        self.scratch.get_bytes(0, texts.as_flattened_mut());
        for (index, text) in texts.iter().enumerate() {
            let id = Uuid7::parse_bytes(text)?;
            self.scratch.put_bytes(index * Uuid7::LEN, &id.to_bytes());
        }
        Ok(())
    }

    /// Reads a time. Writes the string of a new ID with this time.
    pub fn uuid7_generate_at(&self, at: ScratchRef) -> Result<()> {
        at.put_uuid7(0, Uuid7::at_random(at.time(register::VALUE), C::key)?);
        Ok(())
    }

    /// Reads a start time and an end time. Writes the strings of the lowest and the highest ID in the range.
    pub fn uuid7_time_range(&self, at: ScratchRef) -> Result<()> {
        let (start, end) = (at.time(register::VALUE), at.time(register::VALUE + 1));
        let (lowest, highest) = Uuid7::time_range(start, end)?;
        at.put_uuid7(0, lowest);
        at.put_uuid7(1, highest);
        Ok(())
    }
}
