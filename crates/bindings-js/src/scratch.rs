//! The memory area for arguments and results.
//!
//! JavaScript writes to the area, makes a call, and reads the results before any other code can run, so one area serves all
//! calls of a thread. A call reads all its arguments before it does anything that could call back into JavaScript.

use core::{cell::Cell, ptr};

use polyflake::{Error, Result};

use crate::{
    floats,
    protocol::{BATCH, BYTES, NUMBERS, register},
};

/// JavaScript's `Number.MAX_SAFE_INTEGER`. JavaScript represents every integer up to this value exactly.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The number of bytes in a key or secret.
const KEY_BYTES: usize = 16;

/// The scratch area. It consists of cells, because JavaScript writes to it without the compiler's knowledge.
///
/// `protocol` defines the area's sizes for both Rust and TypeScript.
#[repr(C)]
#[derive(Debug)]
pub struct Scratch {
    numbers: [Cell<u64>; NUMBERS],
    bytes: [Cell<u8>; BYTES],
}

impl Scratch {
    /// Creates a scratch area filled with zeros.
    pub const fn new() -> Self {
        Self { numbers: [const { Cell::new(0) }; NUMBERS], bytes: [const { Cell::new(0) }; BYTES] }
    }

    /// Returns the bytes of the area, where calls write strings.
    pub const fn bytes(&self) -> &[Cell<u8>] {
        &self.bytes
    }

    /// Returns the time of the call, in Unix milliseconds.
    #[inline]
    pub fn now(&self) -> f64 {
        self.number(register::NOW)
    }

    /// Returns the number of IDs or bytes in an answer.
    #[inline]
    pub fn length(&self) -> usize {
        self.read_usize(register::ANSWER)
    }

    /// Returns the ID in an answer, if it is an integer.
    #[inline]
    pub fn integer_id(&self) -> i64 {
        self.bigint(register::ANSWER)
    }

    /// Returns the number in a register.
    #[inline]
    pub(crate) fn number(&self, register: usize) -> f64 {
        f64::from_bits(self.raw_bits(register))
    }

    /// Returns the raw bits of a register.
    #[inline]
    pub(crate) fn raw_bits(&self, register: usize) -> u64 {
        self.numbers[register].get()
    }

    /// Writes a number into a register.
    #[inline]
    pub(crate) fn put_number(&self, register: usize, number: f64) {
        self.numbers[register].set(number.to_bits());
    }

    /// Returns the numbers in the registers from `first` onward.
    pub(crate) fn values<const COUNT: usize>(&self, first: usize) -> [f64; COUNT] {
        core::array::from_fn(|place| self.number(first + place))
    }

    /// Writes numbers into the answer registers.
    pub(crate) fn put_results(&self, numbers: &[f64]) {
        for (register, number) in self.numbers[register::ANSWER..].iter().zip(numbers) {
            register.set(number.to_bits());
        }
    }

    /// Writes the number of IDs or bytes in an answer.
    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "no memory holds 2^53 bytes")]
    pub(crate) fn put_length(&self, length: usize) {
        self.put_number(register::ANSWER, length as f64);
    }

    /// Returns the 64-bit integer in a register.
    #[inline]
    pub(crate) fn bigint(&self, register: usize) -> i64 {
        self.raw_bits(register).cast_signed()
    }

    /// Writes an integer ID as the answer.
    #[inline]
    pub(crate) fn put_integer_id(&self, id: i64) {
        self.numbers[register::ANSWER].set(id.cast_unsigned());
    }

    /// Returns the handle, length or count in a register.
    #[inline]
    pub(crate) fn read_usize(&self, register: usize) -> usize {
        floats::to_usize(self.number(register))
    }

    /// Works like [`Scratch::checked_bits`] for 8 bits, but is optimized for speed, because it runs for every ID.
    #[inline]
    pub(crate) fn byte(&self, register: usize, field: &'static str) -> Result<u8> {
        // The cast saturates, and converts NaN to 0. In both cases, the result differs from the original number, so one
        // comparison checks that the number is a non-negative integer that fits.
        let byte = floats::to_u8(self.number(register));
        #[allow(clippy::float_cmp, reason = "an integer, or not this one")]
        if f64::from(byte) == self.number(register) {
            Ok(byte)
        } else {
            Err(out_of_range(self.number(register), field, u8::MAX.into()))
        }
    }

    /// Works like [`Scratch::byte`], for 32 bits.
    #[inline]
    pub(crate) fn double_word(&self, register: usize, field: &'static str) -> Result<u32> {
        let word = floats::to_u32(self.number(register));
        #[allow(clippy::float_cmp, reason = "as above")]
        if f64::from(word) == self.number(register) {
            Ok(word)
        } else {
            Err(out_of_range(self.number(register), field, u32::MAX.into()))
        }
    }

    /// Returns the integer in a register if it fits in `bits` bits. `bits` is at most 32.
    pub(crate) fn checked_bits(
        &self,
        register: usize,
        field: &'static str,
        bits: u32,
    ) -> Result<u32> {
        let [a, b, c, d, ..] =
            integer(self.number(register), field, (1 << bits) - 1)?.to_le_bytes();
        Ok(u32::from_le_bytes([a, b, c, d]))
    }

    /// Returns a time in whole Unix milliseconds.
    pub(crate) fn time(&self, register: usize) -> i64 {
        time(self.number(register))
    }

    /// Returns the number of IDs, capped at [`BATCH`].
    pub(crate) fn count(&self) -> usize {
        self.read_usize(register::COUNT).min(BATCH)
    }

    /// Reads a key or secret from the scratch area, and erases it there. JavaScript never writes a key of the wrong length.
    pub(crate) fn take_secret(&self, name: &'static str) -> Result<[u8; KEY_BYTES]> {
        match self.read_usize(register::COUNT) {
            KEY_BYTES => {
                let secret = self.chunk(0);
                self.put_bytes(0, &[0; KEY_BYTES]);
                Ok(secret)
            }
            other => Err(Error::invalid_secret(other, 16).with_field(name)),
        }
    }

    /// Writes a string of `LENGTH` bytes at the start of the scratch area's bytes.
    #[inline]
    pub(crate) fn put_text<const LENGTH: usize>(&self, text: &[u8]) {
        self.put_bytes(0, text.first_chunk().unwrap_or(&[0; LENGTH]));
    }

    /// Copies bytes out of the scratch area, starting at `at` and stopping at the end of the area.
    #[inline]
    #[allow(unsafe_code, reason = "cell by cell takes wasm 16 times as long")]
    pub(crate) fn get_bytes(&self, at: usize, bytes: &mut [u8]) {
        let cells = self.bytes.get(at..).unwrap_or_default();
        let count = cells.len().min(bytes.len());
        // SAFETY: `count` is the smaller of the two lengths, so the copy stays within both regions. They do not overlap,
        // because `bytes` is an exclusive reference.
        unsafe { ptr::copy_nonoverlapping(cells.as_ptr().cast(), bytes.as_mut_ptr(), count) };
    }

    /// Returns the `LENGTH` bytes starting at `at`.
    #[inline]
    pub(crate) fn chunk<const LENGTH: usize>(&self, at: usize) -> [u8; LENGTH] {
        let mut chunk = [0; LENGTH];
        self.get_bytes(at, &mut chunk);
        chunk
    }

    /// Copies bytes into the scratch area, starting at `at` and stopping at the end of the area. Returns the number of
    /// bytes copied.
    #[inline]
    #[allow(unsafe_code, reason = "as above")]
    pub(crate) fn put_bytes(&self, at: usize, bytes: &[u8]) -> usize {
        let cells = self.bytes.get(at..).unwrap_or_default();
        let count = cells.len().min(bytes.len());
        // SAFETY: `count` is the smaller of the two lengths, so the copy stays within both regions. They do not overlap,
        // because no method returns the area as plain bytes. Cells may be written through a shared reference.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), cells.as_ptr().cast_mut().cast(), count);
        };
        count
    }
}

/// The scratch area, which lives as long as its thread.
pub type ScratchRef = &'static Scratch;

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// Converts a number to an integer if it is in `0..=max`. `max` fits in 53 bits.
#[inline(never)]
#[allow(clippy::cast_precision_loss, reason = "`max` has at most 53 bits")]
pub(crate) fn integer(number: f64, field: &'static str, max: u64) -> Result<u64> {
    if (0.0..=max as f64).contains(&number) {
        Ok(floats::to_u64(number))
    } else {
        Err(out_of_range(number, field, max))
    }
}

/// Returns the lowest 16 bits of a number.
pub(crate) const fn low_16_bits(number: u64) -> u16 {
    let [low, high, ..] = number.to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// Returns a time in whole Unix milliseconds. Times that do not fit in 64 bits saturate. No format's time range extends
/// beyond 64 bits.
pub(crate) const fn time(number: f64) -> i64 {
    floats::to_i64(number)
}

#[cold]
fn out_of_range(number: f64, field: &'static str, max: u64) -> Error {
    Error::out_of_range(field, floats::to_i128(number), 0, max.into())
}
