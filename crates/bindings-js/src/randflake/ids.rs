//! Operations on Randflakes: conversions between integers, strings and fields.

use polyflake::{
    Result,
    randflake::{self, Codec, Grant, GrantInfo, Parts, Randflake, SLOT},
};

use crate::{
    Host, Machine, Scratch, ScratchRef,
    handles::Object,
    protocol::{BATCH, register},
};

/// The maximum number of strings in one call, limited by the size of the scratch area, which also contains their offsets.
const MAX_TEXTS: usize = 960;

/// The widths of the fields in bits. This module rejects values that are too wide, because the core's types would accept
/// them.
const NODE_BITS: u32 = 17;
const SEQUENCE_BITS: u32 = 17;

/// The position of the string offsets within the scratch area's bytes.
const OFFSETS_START: usize = MAX_TEXTS * Randflake::TEXT_LEN;

impl Scratch {
    /// Returns the grant in the registers from `first` onward: the first and the last node ID, the start, and the end.
    pub(crate) fn grant(&self, first: usize) -> Result<Grant> {
        let node = |register| self.checked_bits(register, "nodes", NODE_BITS);
        let nodes = node(first)?..=node(first + 1)?;
        Grant::with_nodes(nodes, self.time(first + 2), self.time(first + 3))
    }

    #[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
    pub(crate) fn put_grant(&self, grant: GrantInfo) {
        let nodes = grant.nodes();
        let (first, last) = ((*nodes.start()).into(), (*nodes.end()).into());
        let numbers = [first, last, grant.start() as f64, grant.end() as f64];
        self.put_results(&numbers);
    }

    #[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
    fn put_parts(&self, Parts { timestamp, node, sequence }: Parts) {
        let numbers = [timestamp as f64, node.into(), sequence.into()];
        self.put_results(&numbers);
    }

    #[inline(never)]
    pub(crate) fn put_randflake_text(&self, id: Randflake) {
        let text = id.text();
        self.put_length(text.len());
        self.put_bytes(0, text.as_bytes());
    }

    pub(crate) fn put_randflakes(&self, ids: &[Randflake]) {
        for (index, id) in ids.iter().enumerate() {
            self.put_bytes(index * 8, &id.to_i64().to_ne_bytes());
        }
    }
}

/// Operations on IDs, which are 64-bit integers.
impl<C: Host> Machine<C> {
    /// Reads a grant, and fails if it is invalid.
    pub fn randflake_grant(&self, at: ScratchRef) -> Result<()> {
        at.grant(register::VALUE).map(|_| ())
    }

    /// Reads a secret and its length. Writes a handle.
    pub fn randflake_codec_build(&self, at: ScratchRef) -> Result<()> {
        self.put_object(at, Object::Codec(Codec::new(at.take_secret("secret")?)));
        Ok(())
    }

    /// Reads the handle of a codec or generator, and an ID. Writes the ID's parts.
    pub fn randflake_inspect(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let id = Randflake::from_i64(at.bigint(register::VALUE));
        let parts = match object.codec() {
            Ok(codec) => codec.inspect(id),
            Err(_) => object.randflake()?.generator.inspect(id),
        };
        at.put_parts(parts);
        Ok(())
    }

    /// Reads a codec's handle, and the parts of an ID. Writes the ID.
    pub fn randflake_encrypt(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let id = object.codec()?.encrypt(Parts {
            timestamp: at.time(register::VALUE),
            node: at.checked_bits(register::VALUE + 1, "node", NODE_BITS)?,
            sequence: at.checked_bits(register::VALUE + 2, "sequence", SEQUENCE_BITS)?,
        })?;
        at.put_integer_id(id.to_i64());
        Ok(())
    }

    /// Reads a count of at most [`BATCH`], and packed IDs. Writes their strings, each padded with zeros to 16 bytes.
    pub fn randflake_texts(&self, at: ScratchRef) -> Result<()> {
        let (mut ids, mut slots) = ([Randflake::default(); BATCH], [[0; SLOT]; BATCH]);
        let count = at.count();
        let (ids, slots) = (&mut ids[..count], &mut slots[..count]);
        for (index, id) in ids.iter_mut().enumerate() {
            *id = Randflake::from_i64(i64::from_ne_bytes(self.scratch.chunk(index * 8)));
        }
        randflake::encode_slice(ids, slots)?;
        self.scratch.put_bytes(0, slots.as_flattened());
        Ok(())
    }

    /// Reads a count of at most [`MAX_TEXTS`] and the concatenated strings. At [`OFFSETS_START`], reads the start of each
    /// string and the end of the last one. Writes packed IDs.
    pub fn randflake_from_texts(&self, at: ScratchRef) -> Result<()> {
        let (mut text, mut offsets) = ([0; OFFSETS_START], [0; MAX_TEXTS + 1]);
        let mut ids = [Randflake::default(); MAX_TEXTS];
        let count = at.count().min(MAX_TEXTS);
        let (offsets, ids) = (&mut offsets[..=count], &mut ids[..count]);
        self.scratch.get_bytes(0, &mut text);
        for (index, offset) in offsets.iter_mut().enumerate() {
            *offset = i32::from_ne_bytes(self.scratch.chunk(OFFSETS_START + index * 4));
        }
        randflake::decode_column(offsets, &text, ids)?;
        self.scratch.put_randflakes(ids);
        Ok(())
    }
}
