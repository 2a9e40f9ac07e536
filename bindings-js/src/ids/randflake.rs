//! Randflake: integers, texts and fields.

use polyflake::{
    Result,
    randflake::{Codec, Lease, Parts, Randflake},
};

use super::BATCH;
use crate::{Host, Machine, Scratch, kept::Kept};

/// Bytes that each text of a batch has: its characters, zeros, and the number of characters in the last one.
const CELL: usize = 16;

impl Scratch {
    /// The lease whose first and last node, start and end are in these slots.
    #[allow(clippy::cast_possible_truncation, reason = "17 bits, checked")]
    pub(crate) fn lease(&self, at: usize) -> Result<Lease> {
        let node = |at| self.double_word(at, "node");
        Lease::with_nodes(node(at)?..=node(at + 1)?, self.time(at + 2), self.time(at + 3))
    }

    #[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
    pub(crate) fn put_lease(&self, lease: Lease) {
        let nodes = lease.nodes();
        let (first, last) = (*nodes.start(), *nodes.end());
        self.put_numbers([first.into(), last.into(), lease.start() as f64, lease.end() as f64]);
    }

    #[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
    fn put_parts(&self, parts: Parts) {
        self.put_numbers([parts.timestamp as f64, parts.node.into(), parts.sequence.into()]);
    }

    fn id(&self, slot: usize) -> Randflake {
        Randflake::from_i64(self.bigint(slot))
    }
}

/// IDs are integers of 64 bits.
impl<C: Host> Machine<C> {
    /// First and last node, start, end: whether there is such a lease.
    pub fn randflake_lease(&self) -> Result<()> {
        self.scratch.lease(0).map(|_| ())
    }

    /// A secret of as many bytes as the first slot says -> a handle.
    pub fn randflake_codec_build(&self) -> Result<()> {
        self.keep(Kept::Codec(Codec::new(self.scratch.take_secret(0)?)));
        Ok(())
    }

    /// A codec's or generator's handle, ID -> timestamp, node, sequence.
    pub fn randflake_inspect(&self) -> Result<()> {
        let (kept, id) = (self.kept()?, self.scratch.id(1));
        let parts = match kept.codec() {
            Ok(codec) => codec.inspect(id),
            Err(_) => kept.randflake()?.generator.inspect(id),
        };
        self.scratch.put_parts(parts);
        Ok(())
    }

    /// A codec's handle, timestamp, node, sequence -> ID.
    pub fn randflake_encrypt(&self) -> Result<()> {
        let (kept, scratch) = (self.kept()?, self.scratch);
        let id = kept.codec()?.encrypt(Parts {
            timestamp: scratch.time(1),
            node: scratch.double_word(2, "node")?,
            sequence: scratch.double_word(3, "sequence")?,
        })?;
        scratch.put_bigint(0, id.to_i64());
        Ok(())
    }

    /// Text -> ID.
    pub fn randflake_decode(&self) -> Result<()> {
        let id = self.scratch.text(1..=Randflake::TEXT_LEN, Randflake::parse_utf16)?;
        self.scratch.put_bigint(0, id.to_i64());
        Ok(())
    }

    /// A count of at most [`BATCH`]; packed IDs -> their texts, each in so many bytes as [`CELL`] says.
    pub fn randflake_texts(&self) -> Result<()> {
        let mut ids = [[0; 8]; BATCH];
        let ids = &mut ids[..self.scratch.count(0)];
        self.scratch.get_bytes(0, ids.as_flattened_mut());
        for (index, id) in ids.iter().enumerate() {
            let text = Randflake::from_i64(i64::from_ne_bytes(*id)).text();
            let mut cell = [0; CELL];
            cell.iter_mut().zip(text.as_bytes()).for_each(|(cell, byte)| *cell = *byte);
            [.., cell[CELL - 1]] = text.len().to_be_bytes();
            self.scratch.put_bytes(index * CELL, &cell);
        }
        Ok(())
    }
}
