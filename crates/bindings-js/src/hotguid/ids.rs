//! Operations on Hot Guids: conversions between packed bytes and packed strings, and time ranges.

use polyflake::{Result, hotguid::HotGuid};

use crate::{Host, Machine, Scratch, ScratchRef, protocol::register};

/// The maximum number of strings in one call, limited by the size of the scratch area.
const MAX_TEXTS: usize = 448;

impl Scratch {
    pub(crate) fn put_guid(&self, index: usize, id: HotGuid) {
        self.put_bytes(index * HotGuid::TEXT_LEN, id.text().as_bytes());
    }
}

/// Operations on many IDs at once. For single IDs, JavaScript does the conversion itself.
impl<C: Host> Machine<C> {
    /// Reads a count of at most [`MAX_TEXTS`], and packed IDs in RFC byte order. Writes packed strings.
    pub fn hotguid_texts(&self, at: ScratchRef) -> Result<()> {
        let mut ids = [[0; HotGuid::LEN]; MAX_TEXTS];
        let ids = &mut ids[..at.count().min(MAX_TEXTS)];
        self.scratch.get_bytes(0, ids.as_flattened_mut());
        for (index, id) in ids.iter().enumerate() {
            self.scratch.put_guid(index, HotGuid::from_bytes(*id));
        }
        Ok(())
    }

    /// Reads a count of at most [`MAX_TEXTS`], and packed strings. Writes packed IDs in RFC byte order.
    pub fn hotguid_from_texts(&self, at: ScratchRef) -> Result<()> {
        let mut texts = [[0; HotGuid::TEXT_LEN]; MAX_TEXTS];
        let texts = &mut texts[..at.count().min(MAX_TEXTS)];
        self.scratch.get_bytes(0, texts.as_flattened_mut());
        for (index, text) in texts.iter().enumerate() {
            let id = HotGuid::parse_bytes(text)?;
            self.scratch.put_bytes(index * HotGuid::LEN, &id.to_bytes());
        }
        Ok(())
    }

    /// Reads a start time, an end time, and a flag that is 1 for SQL Server strings and 0 otherwise. Writes the strings of
    /// the lowest and the highest ID in the range.
    pub fn hotguid_time_range(&self, at: ScratchRef) -> Result<()> {
        let (start, end) = (at.time(register::VALUE), at.time(register::VALUE + 1));
        let (lowest, highest) = HotGuid::time_range(start, end)?;
        let for_sql = at.number(register::VALUE + 2) > 0.0;
        let text = if for_sql { HotGuid::sql_text } else { HotGuid::text };
        at.put_bytes(0, text(lowest).as_bytes());
        at.put_bytes(HotGuid::TEXT_LEN, text(highest).as_bytes());
        Ok(())
    }
}
