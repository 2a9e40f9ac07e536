//! Messages: values of any type and size, one after the other, for arguments and answers that do not fit in registers.
//!
//! ```text
//! a value: 1 tag | the tag's content                     numbers are little-endian
//! ```
//!
//! `protocol` defines the tags for both Rust and TypeScript.

use alloc::vec::Vec;

use polyflake::{
    Description, Result,
    layout::{Id, Json, Value},
};

use crate::{
    Host, Machine, ScratchRef,
    protocol::{BYTES, register, tag},
};

/// A reader for a message. The package wrote the message, so the message is complete, and reading it cannot fail. If a part
/// were missing, it would be read as zeros.
#[derive(Debug)]
pub(crate) struct Reader<'m>(&'m [u8]);

impl<'m> Reader<'m> {
    pub(crate) const fn new(message: &'m [u8]) -> Self {
        Self(message)
    }

    pub(crate) const fn has_more(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the next `count` 64-bit integers, which have no tags and are in native byte order.
    pub(crate) fn integers(&mut self, count: usize) -> Vec<i64> {
        let (integers, _) = self.take_bytes(count * 8).as_chunks();
        integers.iter().map(|bytes| i64::from_ne_bytes(*bytes)).collect()
    }

    /// Returns all remaining bytes.
    pub(crate) const fn remaining_bytes(&self) -> &'m [u8] {
        self.0
    }

    fn take_bytes(&mut self, length: usize) -> &'m [u8] {
        let (taken, left) = self.0.split_at(length.min(self.0.len()));
        self.0 = left;
        taken
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.take_bytes(bytes).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    pub(crate) fn length(&mut self) -> usize {
        usize::try_from(self.number(LENGTH_BYTES)).unwrap_or(usize::MAX)
    }

    /// Returns the number of values that follow. Each value occupies at least one byte.
    fn value_count(&mut self) -> usize {
        self.length().min(self.0.len())
    }

    fn piece(&mut self) -> &'m [u8] {
        let length = self.length();
        self.take_bytes(length)
    }

    /// Returns a string that has no tag.
    pub(crate) fn text(&mut self) -> &'m str {
        core::str::from_utf8(self.piece()).unwrap_or_default()
    }

    fn tag(&mut self) -> u8 {
        self.take_bytes(1).first().copied().unwrap_or(tag::NONE)
    }

    /// Returns the first and the last number of a range. Returns `None` for any other value, without consuming it.
    pub(crate) fn range(&mut self) -> Option<(u64, u64)> {
        let (tag::LIST, rest) = self.0.split_first().map(|(tag, rest)| (*tag, rest))? else {
            return None;
        };
        self.0 = rest;
        self.length();
        let mut number = || match self.value() {
            Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        };
        number().zip(number())
    }

    /// Returns the value of a field.
    pub(crate) fn value(&mut self) -> Value<'m> {
        match self.tag() {
            tag::INTEGER => self.number(8).cast_signed().into(),
            tag::TEXT => self.text().into(),
            tag::PIECE => self.piece().into(),
            tag::WIDE => magnitude(self.piece()).map_or(Value::Beyond, Value::from),
            tag::NEGATIVE_WIDE => {
                let number = magnitude(self.piece()).and_then(|n| 0_i128.checked_sub_unsigned(n));
                number.map_or(Value::Beyond, Value::from)
            }
            tag::OTHER => Value::Other(self.text().into()),
            _ => Value::Other("nothing".into()),
        }
    }

    /// Returns the next value of a description as JSON.
    pub(crate) fn json(&mut self) -> Json {
        match self.tag() {
            tag::FALSE => Json::Bool(false),
            tag::TRUE => Json::Bool(true),
            tag::INTEGER => Json::Integer(self.number(8).cast_signed()),
            tag::FRACTION => Json::Fraction,
            tag::TEXT => Json::Text(self.text().into()),
            tag::LIST => Json::List((0..self.value_count()).map(|_| self.json()).collect()),
            tag::OBJECT => Json::Object(
                (0..self.value_count()).map(|_| (self.text().into(), self.json())).collect(),
            ),
            _ => Json::Null,
        }
    }
}

/// Returns the number that is encoded in big-endian bytes, or `None` if the number does not fit in 128 bits.
fn magnitude(bytes: &[u8]) -> Option<u128> {
    let shifted = |number: u128| number.checked_mul(256);
    bytes.iter().try_fold(0, |number, byte| Some(shifted(number)? | u128::from(*byte)))
}

/// A writer for the message that answers a call. It allocates memory only for the part that does not fit in the scratch
/// area's bytes.
#[derive(Debug)]
pub(crate) struct Writer {
    at: ScratchRef,
    length: usize,
    rest: Vec<u8>,
}

impl Writer {
    pub(crate) const fn new(at: ScratchRef) -> Self {
        Self { at, length: 0, rest: Vec::new() }
    }

    /// Ends the message, and returns the part that does not fit in the scratch area's bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.at.put_length(self.length);
        self.rest
    }

    fn tag(&mut self, tag: u8) {
        self.raw(&[tag]);
    }

    /// Writes the start of an object with the given number of members. Each member is a name and a value.
    pub(crate) fn object(&mut self, members: usize) {
        self.tag(tag::OBJECT);
        self.length(members);
    }

    /// Writes the start of a list.
    pub(crate) fn list(&mut self, length: usize) {
        self.tag(tag::LIST);
        self.length(length);
    }

    /// Writes the name of a member.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.length(name.len());
        self.raw(name.as_bytes());
        self
    }

    pub(crate) fn flag(&mut self, value: bool) {
        self.tag(if value { tag::TRUE } else { tag::FALSE });
    }

    /// Writes a number that JavaScript represents as a float.
    fn number(&mut self, number: u32) {
        self.tag(tag::NUMBER);
        self.raw(&f64::from(number).to_le_bytes());
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.tag(tag::INTEGER);
        self.raw(&number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.piece(tag::TEXT, text.as_bytes());
    }

    pub(crate) fn piece(&mut self, tag: u8, bytes: &[u8]) {
        self.tag(tag);
        self.length(bytes.len());
        self.raw(bytes);
    }

    fn length(&mut self, length: usize) {
        self.raw(&to_bytes(length));
    }

    pub(crate) fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Bytes(bytes) => self.piece(tag::PIECE, bytes),
            Value::Text(text) => self.text(text),
            Value::Wide(number) => self.piece(tag::WIDE, &number.to_be_bytes()),
            Value::Integer(number) => match i64::try_from(*number) {
                Ok(number) => self.integer(number),
                // Negative integers that reach this code always fit in 64 bits.
                Err(_) => self.piece(tag::WIDE, &number.to_be_bytes()),
            },
            _ => self.tag(tag::NONE),
        }
    }

    pub(crate) fn optional<'v>(&mut self, value: Option<impl Into<Value<'v>>>) {
        match value {
            Some(value) => self.value(&value.into()),
            None => self.tag(tag::NONE),
        }
    }

    /// Writes bytes unchanged.
    #[inline(never)]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let written = self.at.put_bytes(self.length, bytes);
        self.rest.extend_from_slice(&bytes[written..]);
        self.length += bytes.len();
    }

    pub(crate) fn id(&mut self, id: &Id) {
        match id {
            Id::Integer(id) => self.integer(*id),
            Id::Bytes(id) => self.piece(tag::PIECE, id),
            // The core has no other ID type.
            _ => self.tag(tag::NONE),
        }
    }

    pub(crate) fn json(&mut self, json: &Json) {
        match json {
            Json::Null | Json::Fraction => self.tag(tag::NONE),
            Json::Bool(value) => self.flag(*value),
            Json::Integer(number) => self.integer(*number),
            Json::Text(text) => self.text(text),
            Json::List(list) => {
                self.list(list.len());
                list.iter().for_each(|value| self.json(value));
            }
            Json::Object(members) => {
                self.object(members.len());
                for (name, value) in members {
                    self.name(name).json(value);
                }
            }
        }
    }

    /// Writes the description of an ID format, with its members under their JavaScript names.
    pub(crate) fn description(&mut self, figures: &Description) {
        let fields = figures.fields();
        self.object(9);
        self.name("bits").number(figures.bits);
        self.name("fields").list(fields.len());
        for field in fields {
            self.object(4);
            self.name("name").text(field.name());
            self.name("kind").text(field.kind);
            self.name("offset").number(field.offset);
            self.name("bits").number(field.bits);
        }
        self.name("perSecond").optional(figures.per_second);
        self.name("perSecondInAll").optional(figures.per_second_in_all);
        self.name("firstMs").optional(figures.first_ms);
        self.name("lastMs").optional(figures.last_ms);
        self.name("sortsByTime").flag(figures.sorts_by_time);
        self.name("below2_53").flag(figures.below_2_53);
        self.name("below2_63").flag(figures.below_2_63);
    }
}

/// The number of bytes that encode a length.
const LENGTH_BYTES: usize = 4;

/// Encodes a length as bytes. No ID or name reaches 4 GB, so a length fits in 32 bits.
const fn to_bytes(length: usize) -> [u8; LENGTH_BYTES] {
    debug_assert!(length as u64 <= u32::MAX as u64);
    let [a, b, c, d, ..] = (length as u64).to_le_bytes();
    [a, b, c, d]
}

/// Operations that pass messages through the scratch area's bytes. A message that does not fit is passed in pieces. A call
/// reads the last piece of its message and writes the first piece of its answer. The caller sends all earlier pieces before
/// the call, and fetches the remaining pieces of the answer afterwards. The answer's length is the length of the whole
/// answer. The register `OFFSET` contains the offset of a piece in its message.
impl<C: Host> Machine<C> {
    /// Reads a piece of a message, other than the last piece, and its length.
    pub fn put_piece(&self, at: ScratchRef) -> Result<()> {
        self.append_piece(at.read_usize(register::LENGTH), at.read_usize(register::OFFSET));
        Ok(())
    }

    /// Writes the next piece of the answer.
    pub fn next_piece(&self, at: ScratchRef) -> Result<()> {
        let mut answer = self.message.borrow_mut();
        let written = at.put_bytes(0, &answer);
        answer.drain(..written);
        Ok(())
    }

    /// Returns the message whose last piece is in the scratch area's bytes.
    pub(crate) fn take_message(&self, at: ScratchRef) -> Vec<u8> {
        self.append_piece(at.read_usize(register::LENGTH), at.read_usize(register::OFFSET));
        self.message.take()
    }

    fn append_piece(&self, length: usize, offset: usize) {
        let mut message = self.message.borrow_mut();
        // The first piece has offset 0, so it discards anything that a failed call left in the message.
        let from = offset.min(message.len());
        message.resize(from + length.min(BYTES), 0);
        self.scratch.get_bytes(0, &mut message[from..]);
    }

    /// Writes a message as the answer, with its first piece in the scratch area's bytes.
    #[allow(clippy::unnecessary_wraps, reason = "the end of calls, which can fail before")]
    pub(crate) fn answer(&self, at: ScratchRef, write: impl FnOnce(&mut Writer)) -> Result<()> {
        let mut message = Writer::new(at);
        write(&mut message);
        self.message.replace(message.finish());
        Ok(())
    }
}
