//! Hot Guid: texts, the three orders of bytes, and fields.

use core::ops::RangeInclusive;

use polyflake::{
    Result,
    hotguid::{HotGuid, Parts},
};

use crate::{Host, Machine, Scratch};

const LENGTHS: RangeInclusive<usize> = HotGuid::TEXT_LEN..=HotGuid::TEXT_LEN;

/// How wide the counter is: what is wider never gets to the core.
const COUNTER_BITS: u32 = 24;

/// Texts that one call makes: as many as there is room for.
const TEXTS: usize = 448;

impl Scratch {
    pub(crate) fn put_guid(&self, index: usize, id: HotGuid) {
        self.put_bytes(index * HotGuid::TEXT_LEN, id.text().as_bytes());
    }
}

impl<C: Host> Machine<C> {
    /// Text -> timestamp, counter, shard key; the text in lower case, the 16 bytes in RFC's order, in .NET's, the 5 of the
    /// machine.
    #[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
    pub fn hotguid_parse(&self) -> Result<()> {
        let id = self.scratch.text(LENGTHS, HotGuid::parse_utf16)?;
        let Parts { timestamp, machine, counter, shard_key } = id.parts();
        self.scratch.put_numbers([timestamp as f64, counter.into(), shard_key.into()]);
        self.scratch.put_guid(0, id);
        self.scratch.put_bytes(36, &id.to_rfc_bytes());
        self.scratch.put_bytes(52, &id.to_bytes());
        self.scratch.put_bytes(68, &machine);
        Ok(())
    }

    /// Timestamp, counter, shard key; the 5 bytes of the machine -> text.
    pub fn hotguid_from_parts(&self) -> Result<()> {
        let (scratch, mut machine) = (self.scratch, [0; 5]);
        scratch.get_bytes(0, &mut machine);
        let id = HotGuid::from_parts(Parts {
            timestamp: scratch.time(0),
            machine,
            counter: scratch.bits(1, "counter", COUNTER_BITS)?,
            shard_key: scratch.double_word(2, "shard_key")?,
        })?;
        scratch.put_guid(0, id);
        Ok(())
    }

    /// Text -> the text of the GUID that SQL Server sorts by time.
    pub fn hotguid_to_sql(&self) -> Result<()> {
        let id = self.scratch.text(LENGTHS, HotGuid::parse_utf16)?;
        self.scratch.put_bytes(0, id.sql_text().as_bytes());
        Ok(())
    }

    /// The text of a GUID that SQL Server sorts by time -> text.
    pub fn hotguid_from_sql(&self) -> Result<()> {
        let id = self.scratch.text(LENGTHS, HotGuid::parse_sql_utf16)?;
        self.scratch.put_guid(0, id);
        Ok(())
    }

    /// The 16 bytes in .NET's order -> text.
    pub fn hotguid_from_dotnet(&self) -> Result<()> {
        let mut bytes = [0; HotGuid::LEN];
        self.scratch.get_bytes(0, &mut bytes);
        self.scratch.put_guid(0, HotGuid::from_bytes(bytes));
        Ok(())
    }

    /// A count of at most [`TEXTS`]; packed IDs in RFC's order -> packed texts.
    pub fn hotguid_texts(&self) -> Result<()> {
        let mut ids = [[0; HotGuid::LEN]; TEXTS];
        let ids = &mut ids[..self.scratch.count(0).min(TEXTS)];
        self.scratch.get_bytes(0, ids.as_flattened_mut());
        for (index, id) in ids.iter().enumerate() {
            self.scratch.put_guid(index, HotGuid::from_rfc_bytes(*id));
        }
        Ok(())
    }

    /// A count of at most [`TEXTS`]; packed texts -> packed IDs in RFC's order.
    pub fn hotguid_from_texts(&self) -> Result<()> {
        let mut texts = [[0; HotGuid::TEXT_LEN]; TEXTS];
        let texts = &mut texts[..self.scratch.count(0).min(TEXTS)];
        self.scratch.get_bytes(0, texts.as_flattened_mut());
        for (index, text) in texts.iter().enumerate() {
            let id = HotGuid::parse_utf16(&text.map(u16::from))?;
            self.scratch.put_bytes(index * HotGuid::LEN, &id.to_rfc_bytes());
        }
        Ok(())
    }

    /// Two times; whether the texts are for SQL Server -> two texts.
    pub fn hotguid_time_range(&self) -> Result<()> {
        let scratch = self.scratch;
        let (lowest, highest) = HotGuid::time_range(scratch.time(0), scratch.time(1))?;
        let for_sql = scratch.integer(2, "sql", 1)? == 1;
        let text = if for_sql { HotGuid::sql_text } else { HotGuid::text };
        scratch.put_bytes(0, text(lowest).as_bytes());
        scratch.put_bytes(HotGuid::TEXT_LEN, text(highest).as_bytes());
        Ok(())
    }
}
