//! Values of any kind and size, in a row: what does not fit slots.
//!
//! ```text
//! a value: 1 tag | what the tag says                     numbers are little-endian
//! ```
//!
//! `packages/js/src/message.ts` knows the tags.

use alloc::vec::Vec;

use polyflake::{
    Result,
    layout::{Description, Value},
};

use crate::{Host, Machine};

pub(crate) mod tag {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const FALSE: u8 = 1;
    pub(crate) const TRUE: u8 = 2;
    /// 64 bits, signed.
    pub(crate) const INTEGER: u8 = 3;
    /// A length of 32 bits, that many bytes of UTF-8.
    pub(crate) const TEXT: u8 = 4;
    /// A length of 32 bits, that many bytes.
    pub(crate) const BYTES: u8 = 5;
    /// As bytes: the big-endian magnitude of an integer past 64 bits.
    pub(crate) const WIDE: u8 = 6;
}

/// Writes a message.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    pub(crate) fn flag(&mut self, value: bool) {
        self.tag(if value { tag::TRUE } else { tag::FALSE });
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.tag(tag::INTEGER);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.piece(tag::TEXT, text.as_bytes());
    }

    pub(crate) fn piece(&mut self, tag: u8, bytes: &[u8]) {
        self.tag(tag);
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    #[allow(clippy::cast_possible_truncation, reason = "no ID or name has 4 GB")]
    pub(crate) fn length(&mut self, length: usize) {
        self.0.extend_from_slice(&(length as u32).to_le_bytes());
    }

    pub(crate) fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Bytes(bytes) => self.piece(tag::BYTES, bytes),
            Value::Text(text) => self.text(text),
            Value::Wide { magnitude, .. } => self.piece(tag::WIDE, magnitude),
            Value::Integer(number) => match i64::try_from(*number) {
                Ok(number) => self.integer(number),
                // Past 64 bits there are none below zero.
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

    /// A format's figures, then its fields.
    pub(crate) fn description(&mut self, figures: &Description) {
        self.integer(figures.bits.into());
        self.optional(figures.per_second);
        self.optional(figures.per_second_in_all);
        self.optional(figures.first_ms);
        self.optional(figures.last_ms);
        self.flag(figures.sorts_by_time);
        self.flag(figures.below_2_53);
        self.flag(figures.below_2_63);
        for field in &figures.fields {
            self.text(&field.name);
            self.text(field.kind);
            self.integer(field.offset.into());
            self.integer(field.bits.into());
        }
    }
}

/// Messages cross in the bytes, piece by piece where they are longer. The first slot has the length of an answer.
impl<C: Host> Machine<C> {
    /// -> the next piece of the answer.
    pub fn more(&self) -> Result<()> {
        let mut answer = self.message.borrow_mut();
        let written = self.scratch.put_bytes(0, &answer);
        answer.drain(..written);
        Ok(())
    }

    /// Writes a message, whose first piece lies among the bytes then.
    #[allow(clippy::cast_precision_loss, reason = "no message has 2^53 bytes")]
    pub(crate) fn answer(&self, write: impl FnOnce(&mut Writer)) -> Result<()> {
        let mut message = Writer::default();
        write(&mut message);
        self.scratch.put_numbers([message.0.len() as f64]);
        self.message.replace(message.0);
        self.more()
    }
}
