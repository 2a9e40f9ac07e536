//! The memory area for arguments and results.
//!
//! JavaScript writes to the area, makes a call, and reads the results before anything else can run, so one area serves all
//! calls of a thread. A call reads all its arguments before it does anything that could call back into JavaScript.

use core::{cell::Cell, ptr};

use polyflake::{Error, Result};

use crate::protocol::{BATCH, BYTES, NUMBERS, slot};

/// JavaScript's `Number.MAX_SAFE_INTEGER`. JavaScript represents all integers up to it exactly.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The number of bytes in a key or secret.
const SECRET: usize = 16;

/// The area. It consists of cells, because JavaScript writes to it without the compiler's knowledge.
///
/// `protocol` defines its sizes for both languages.
#[repr(C)]
#[derive(Debug)]
pub struct Scratch {
    numbers: [Cell<u64>; NUMBERS],
    bytes: [Cell<u8>; BYTES],
}

impl Scratch {
    /// Creates an area filled with zeros.
    pub const fn new() -> Self {
        Self { numbers: [const { Cell::new(0) }; NUMBERS], bytes: [const { Cell::new(0) }; BYTES] }
    }

    /// Returns the bytes, where calls write strings.
    pub const fn bytes(&self) -> &[Cell<u8>] {
        &self.bytes
    }

    /// Returns the time of the call, in Unix milliseconds.
    #[inline]
    pub fn now(&self) -> f64 {
        self.number(slot::CLOCK_NOW)
    }

    /// Returns the number of IDs or bytes in an answer.
    #[inline]
    pub fn length(&self) -> usize {
        self.place(slot::ANSWER_LENGTH)
    }

    /// Returns the ID in an answer, if it is an integer.
    #[inline]
    pub fn made(&self) -> i64 {
        self.bigint(slot::MADE_ID)
    }

    /// Returns the number in a slot.
    #[inline]
    pub(crate) fn number(&self, slot: usize) -> f64 {
        f64::from_bits(self.raw(slot))
    }

    /// Returns the bits of the number in a slot.
    #[inline]
    pub(crate) fn raw(&self, slot: usize) -> u64 {
        self.numbers[slot].get()
    }

    /// Writes a number into a slot.
    #[inline]
    pub(crate) fn put_number(&self, slot: usize, number: f64) {
        self.numbers[slot].set(number.to_bits());
    }

    /// Writes numbers into the slots from `first` on.
    pub(crate) fn put_numbers(&self, first: usize, numbers: &[f64]) {
        for (slot, number) in self.numbers.iter().skip(first).zip(numbers) {
            slot.set(number.to_bits());
        }
    }

    /// Writes the number of IDs or of bytes in an answer.
    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "of what lies in memory")]
    pub(crate) fn put_length(&self, length: usize) {
        self.put_number(slot::ANSWER_LENGTH, length as f64);
    }

    /// Returns the 64-bit integer in a slot.
    #[inline]
    pub(crate) fn bigint(&self, slot: usize) -> i64 {
        self.raw(slot).cast_signed()
    }

    /// Writes an integer ID as the answer.
    #[inline]
    pub(crate) fn put_made(&self, id: i64) {
        self.numbers[slot::MADE_ID].set(id.cast_unsigned());
    }

    /// Returns the handle, length or count in a slot.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub(crate) fn place(&self, slot: usize) -> usize {
        self.number(slot) as usize
    }

    /// Returns the integer in a slot if it lies in `0..=most`. `most` has at most 53 bits.
    #[inline(never)]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "only after the check, and `most` has at most 53 bits"
    )]
    pub(crate) fn integer(&self, slot: usize, field: &'static str, most: u64) -> Result<u64> {
        let number = self.number(slot);
        if (0.0..=most as f64).contains(&number) {
            Ok(number as u64)
        } else {
            Err(outside(number, field, most))
        }
    }

    /// Works like [`Scratch::integer`], for integers of 8 bits.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared at once")]
    pub(crate) fn byte(&self, slot: usize, field: &'static str) -> Result<u8> {
        // The cast saturates, and converts NaN to 0. In both cases the result differs from the number, so one comparison is
        // enough.
        let byte = self.number(slot) as u8;
        #[allow(clippy::float_cmp, reason = "an integer, or not this one")]
        if f64::from(byte) == self.number(slot) {
            Ok(byte)
        } else {
            Err(outside(self.number(slot), field, u8::MAX.into()))
        }
    }

    /// Works like [`Scratch::integer`], for integers of 16 bits.
    pub(crate) fn word(&self, slot: usize, field: &'static str) -> Result<u16> {
        let [low, high, ..] = self.integer(slot, field, u16::MAX.into())?.to_le_bytes();
        Ok(u16::from_le_bytes([low, high]))
    }

    /// Works like [`Scratch::integer`], for integers of 32 bits.
    pub(crate) fn double_word(&self, slot: usize, field: &'static str) -> Result<u32> {
        self.bits(slot, field, 32)
    }

    /// Works like [`Scratch::integer`], for integers of `bits` bits, at most 32.
    pub(crate) fn bits(&self, slot: usize, field: &'static str, bits: u32) -> Result<u32> {
        let [a, b, c, d, ..] = self.integer(slot, field, (1 << bits) - 1)?.to_le_bytes();
        Ok(u32::from_le_bytes([a, b, c, d]))
    }

    /// Works like [`Scratch::integer`], for all integers that JavaScript represents exactly.
    pub(crate) fn safe_integer(&self, slot: usize, field: &'static str) -> Result<u64> {
        self.integer(slot, field, MAX_SAFE_INTEGER)
    }

    /// Returns whether a slot has a value. NaN stands for a missing value.
    pub(crate) fn given(&self, slot: usize) -> bool {
        !self.number(slot).is_nan()
    }

    /// Returns the result of `read` for a slot, if the slot has a value.
    pub(crate) fn optional<T>(
        &self,
        slot: usize,
        read: impl FnOnce(&Self, usize) -> Result<T>,
    ) -> Result<Option<T>> {
        self.given(slot).then(|| read(self, slot)).transpose()
    }

    /// Returns a time in whole Unix milliseconds. Times that do not fit in 64 bits saturate.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates; no format's range reaches that far"
    )]
    pub(crate) fn time(&self, slot: usize) -> i64 {
        self.number(slot) as i64
    }

    /// Returns the count of IDs in a slot, at most [`BATCH`].
    pub(crate) fn count(&self, slot: usize) -> usize {
        self.place(slot).min(BATCH)
    }

    /// Takes a key or secret out of the area, and erases it there. A key of the wrong length was never written.
    pub(crate) fn take_secret(&self, name: &'static str) -> Result<[u8; SECRET]> {
        match self.place(slot::SECRET_LENGTH) {
            SECRET => {
                let mut secret = [0; SECRET];
                self.get_bytes(0, &mut secret);
                self.put_bytes(0, &[0; SECRET]);
                Ok(secret)
            }
            other => Err(Error::invalid_secret(other, 16).with_field(name)),
        }
    }

    /// Writes a string of `LENGTH` bytes at the start of the bytes.
    #[inline]
    pub(crate) fn put_text<const LENGTH: usize>(&self, text: &[u8]) {
        self.put_bytes(0, text.first_chunk().unwrap_or(&[0; LENGTH]));
    }

    /// Copies bytes out of the area, from `at` up to its end at most.
    #[inline]
    #[allow(unsafe_code, reason = "cell by cell takes wasm 16 times as long")]
    pub(crate) fn get_bytes(&self, at: usize, bytes: &mut [u8]) {
        let cells = self.bytes.get(at..).unwrap_or_default();
        let count = cells.len().min(bytes.len());
        // SAFETY: both have at least `count` bytes, and a slice of bytes cannot overlap the cells.
        unsafe { ptr::copy_nonoverlapping(cells.as_ptr().cast(), bytes.as_mut_ptr(), count) };
    }

    /// Returns the `LENGTH` bytes from `at` on.
    #[inline]
    pub(crate) fn chunk<const LENGTH: usize>(&self, at: usize) -> [u8; LENGTH] {
        let mut chunk = [0; LENGTH];
        self.get_bytes(at, &mut chunk);
        chunk
    }

    /// Copies bytes into the area, from `at` up to its end at most. Returns the number of bytes copied.
    #[inline]
    #[allow(unsafe_code, reason = "as above")]
    pub(crate) fn put_bytes(&self, at: usize, bytes: &[u8]) -> usize {
        let cells = self.bytes.get(at..).unwrap_or_default();
        let count = cells.len().min(bytes.len());
        // SAFETY: as above; cells may be written through a shared reference.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), cells.as_ptr().cast_mut().cast(), count);
        };
        count
    }
}

/// The area, which lives as long as its thread.
pub type At = &'static Scratch;

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

#[cold]
#[allow(clippy::cast_possible_truncation, reason = "saturates, and only in a message")]
fn outside(number: f64, field: &'static str, most: u64) -> Error {
    Error::out_of_range(field, number as i128, 0, most.into())
}
