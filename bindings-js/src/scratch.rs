//! The area of memory for arguments and results.
//!
//! JavaScript writes it, makes a call, and reads it before anything else can run, so one area serves all calls of a thread. A call
//! reads all its arguments before it does anything that could call back into JavaScript.

use core::{cell::Cell, marker::PhantomData, ops::Deref, ptr};

use polyflake::{Error, Result};

use crate::protocol::{
    BATCH, BYTES, NUMBERS,
    call::{Gives, Takes},
    slot::{self, IntegerSlot, Slot},
};

/// The largest integer up to which JavaScript holds all integers exactly.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Bytes of a key or secret.
const SECRET: usize = 16;

/// The area, in cells, since JavaScript writes it without the compiler's knowledge.
///
/// `packages/protocol.toml` has its sizes, for both languages.
#[repr(C)]
#[derive(Debug)]
pub struct Scratch {
    numbers: [Cell<u64>; NUMBERS],
    bytes: [Cell<u8>; BYTES],
}

impl Scratch {
    /// An area of zeros.
    pub const fn new() -> Self {
        Self { numbers: [const { Cell::new(0) }; NUMBERS], bytes: [const { Cell::new(0) }; BYTES] }
    }

    /// The bytes, where calls leave texts.
    pub const fn bytes(&self) -> &[Cell<u8>] {
        &self.bytes
    }

    /// The time at the call, in Unix milliseconds.
    #[inline]
    pub fn now(&self) -> f64 {
        self.number_at(slot::clock::NOW.index())
    }

    /// The number of IDs or of bytes in an answer.
    #[inline]
    pub fn length(&self) -> usize {
        self.place_at(slot::answer::LENGTH.index())
    }

    /// The ID in an answer, if it is an integer.
    #[inline]
    pub fn made(&self) -> i64 {
        self.numbers[slot::made::ID.index()].get().cast_signed()
    }

    #[inline]
    fn number_at(&self, index: usize) -> f64 {
        f64::from_bits(self.raw_at(index))
    }

    #[inline]
    fn raw_at(&self, index: usize) -> u64 {
        self.numbers[index].get()
    }

    #[inline]
    fn put_at(&self, index: usize, number: f64) {
        self.numbers[index].set(number.to_bits());
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    fn place_at(&self, index: usize) -> usize {
        self.number_at(index) as usize
    }

    #[inline(never)]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "only after the check, and `most` has at most 53 bits"
    )]
    fn integer_at(&self, index: usize, field: &'static str, most: u64) -> Result<u64> {
        let number = self.number_at(index);
        if (0.0..=most as f64).contains(&number) {
            Ok(number as u64)
        } else {
            Err(outside(number, field, most))
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared at once")]
    fn byte_at(&self, index: usize, field: &'static str) -> Result<u8> {
        let byte = self.number_at(index) as u8;
        #[allow(clippy::float_cmp, reason = "an integer, or not this one")]
        if f64::from(byte) == self.number_at(index) {
            Ok(byte)
        } else {
            Err(outside(self.number_at(index), field, u8::MAX.into()))
        }
    }

    fn word_at(&self, index: usize, field: &'static str) -> Result<u16> {
        let [low, high, ..] = self.integer_at(index, field, u16::MAX.into())?.to_le_bytes();
        Ok(u16::from_le_bytes([low, high]))
    }

    fn bits_at(&self, index: usize, field: &'static str, bits: u32) -> Result<u32> {
        let [a, b, c, d, ..] = self.integer_at(index, field, (1 << bits) - 1)?.to_le_bytes();
        Ok(u32::from_le_bytes([a, b, c, d]))
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates; no format's range reaches that far"
    )]
    fn time_at(&self, index: usize) -> i64 {
        self.number_at(index) as i64
    }

    fn count_at(&self, index: usize) -> usize {
        self.place_at(index).min(BATCH)
    }

    fn take_secret_at(&self, index: usize, name: &'static str) -> Result<[u8; SECRET]> {
        match self.place_at(index) {
            SECRET => {
                let mut secret = [0; SECRET];
                self.get_bytes(0, &mut secret);
                self.put_bytes(0, &[0; SECRET]);
                Ok(secret)
            }
            other => Err(Error::invalid_secret(other).of(name)),
        }
    }

    /// Writes a text of `LENGTH` bytes at the start of the bytes.
    #[inline]
    pub(crate) fn put_text<const LENGTH: usize>(&self, text: &[u8]) {
        self.put_bytes(0, text.first_chunk().unwrap_or(&[0; LENGTH]));
    }

    /// Copies bytes out, from `at` on, up to the end of the area.
    #[inline]
    #[allow(unsafe_code, reason = "cell by cell takes wasm 16 times as long")]
    pub(crate) fn get_bytes(&self, at: usize, bytes: &mut [u8]) {
        let cells = self.bytes.get(at..).unwrap_or_default();
        let count = cells.len().min(bytes.len());
        // SAFETY: both have at least `count` bytes, and no slice of bytes overlaps cells.
        unsafe { ptr::copy_nonoverlapping(cells.as_ptr().cast(), bytes.as_mut_ptr(), count) };
    }

    /// The `LENGTH` bytes from `at` on.
    #[inline]
    pub(crate) fn chunk<const LENGTH: usize>(&self, at: usize) -> [u8; LENGTH] {
        let mut chunk = [0; LENGTH];
        self.get_bytes(at, &mut chunk);
        chunk
    }

    /// Copies bytes in, from `at` on, up to the end of the area; returns how many fitted.
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

/// The area in a call: the slots of the records that the call `K` takes, to read them, and of those that it gives, to write them.
#[derive(Debug)]
pub struct At<K>(&'static Scratch, PhantomData<K>);

impl<K> Clone for At<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for At<K> {}

/// The bytes serve all calls.
impl<K> Deref for At<K> {
    type Target = Scratch;

    #[inline]
    fn deref(&self) -> &Scratch {
        self.0
    }
}

/// Inlined, so that no code is compiled for each call: the functions above do the work.
#[allow(clippy::inline_always, reason = "see above")]
impl<K> At<K> {
    /// The area in a call that begins.
    #[inline(always)]
    pub(crate) const fn new(scratch: &'static Scratch) -> Self {
        Self(scratch, PhantomData)
    }

    /// The area, for a call that reads the same records.
    #[inline(always)]
    pub(crate) const fn area(self) -> &'static Scratch {
        self.0
    }

    /// The number in a slot.
    #[inline(always)]
    pub(crate) fn number<R>(self, slot: Slot<R>) -> f64
    where
        K: Takes<R>,
    {
        self.0.number_at(slot.index())
    }

    /// The bits of the number in a slot.
    #[inline(always)]
    pub(crate) fn raw<R>(self, slot: Slot<R>) -> u64
    where
        K: Takes<R>,
    {
        self.0.raw_at(slot.index())
    }

    /// Writes a number into a slot.
    #[inline(always)]
    pub(crate) fn put_number<R>(self, slot: Slot<R>, number: f64)
    where
        K: Gives<R>,
    {
        self.0.put_at(slot.index(), number);
    }

    /// Writes the number of IDs or of bytes in an answer.
    #[inline(always)]
    #[allow(clippy::cast_precision_loss, reason = "of what lies in memory")]
    pub(crate) fn put_length(self, length: usize)
    where
        K: Gives<slot::answer::Record>,
    {
        self.put_number(slot::answer::LENGTH, length as f64);
    }

    /// The integer of 64 bits in a slot.
    #[inline(always)]
    pub(crate) fn bigint<R>(self, slot: IntegerSlot<R>) -> i64
    where
        K: Takes<R>,
    {
        self.0.raw_at(slot.index()).cast_signed()
    }

    /// Writes an ID that is an integer as the answer.
    #[inline(always)]
    pub(crate) fn put_made(self, id: i64)
    where
        K: Gives<slot::made::Record>,
    {
        self.0.numbers[slot::made::ID.index()].set(id.cast_unsigned());
    }

    /// The whole number in a slot, if it is within `0..=most`; `most` has at most 53 bits.
    #[inline(always)]
    pub(crate) fn integer<R>(self, slot: Slot<R>, field: &'static str, most: u64) -> Result<u64>
    where
        K: Takes<R>,
    {
        self.0.integer_at(slot.index(), field, most)
    }

    /// As [`At::integer`], for 8 bits.
    #[inline(always)]
    pub(crate) fn byte<R>(self, slot: Slot<R>, field: &'static str) -> Result<u8>
    where
        K: Takes<R>,
    {
        self.0.byte_at(slot.index(), field)
    }

    /// As [`At::integer`], for 16 bits.
    #[inline(always)]
    pub(crate) fn word<R>(self, slot: Slot<R>, field: &'static str) -> Result<u16>
    where
        K: Takes<R>,
    {
        self.0.word_at(slot.index(), field)
    }

    /// As [`At::integer`], for 32 bits.
    #[inline(always)]
    pub(crate) fn double_word<R>(self, slot: Slot<R>, field: &'static str) -> Result<u32>
    where
        K: Takes<R>,
    {
        self.bits(slot, field, 32)
    }

    /// As [`At::integer`], for `bits` bits, at most 32.
    #[inline(always)]
    pub(crate) fn bits<R>(self, slot: Slot<R>, field: &'static str, bits: u32) -> Result<u32>
    where
        K: Takes<R>,
    {
        self.0.bits_at(slot.index(), field, bits)
    }

    /// As [`At::integer`], for the whole numbers that JavaScript holds exactly.
    #[inline(always)]
    pub(crate) fn safe_integer<R>(self, slot: Slot<R>, field: &'static str) -> Result<u64>
    where
        K: Takes<R>,
    {
        self.integer(slot, field, MAX_SAFE_INTEGER)
    }

    /// Returns whether a slot has a value: NaN stands for a missing one.
    #[inline(always)]
    pub(crate) fn given<R>(self, slot: Slot<R>) -> bool
    where
        K: Takes<R>,
    {
        !self.number(slot).is_nan()
    }

    /// The result of `read` for a slot, if the slot has a value.
    #[inline(always)]
    pub(crate) fn optional<R, T>(
        self,
        slot: Slot<R>,
        read: impl FnOnce(Self, Slot<R>) -> Result<T>,
    ) -> Result<Option<T>>
    where
        K: Takes<R>,
    {
        self.given(slot).then(|| read(self, slot)).transpose()
    }

    /// A time in whole Unix milliseconds. Times past 64 bits saturate.
    #[inline(always)]
    pub(crate) fn time<R>(self, slot: Slot<R>) -> i64
    where
        K: Takes<R>,
    {
        self.0.time_at(slot.index())
    }

    /// The count of IDs in a slot, at most [`BATCH`].
    #[inline(always)]
    pub(crate) fn count<R>(self, slot: Slot<R>) -> usize
    where
        K: Takes<R>,
    {
        self.0.count_at(slot.index())
    }

    /// The handle, length or count in a slot.
    #[inline(always)]
    pub(crate) fn place<R>(self, slot: Slot<R>) -> usize
    where
        K: Takes<R>,
    {
        self.0.place_at(slot.index())
    }

    /// Takes a key or secret out of the area, and erases it. A key of the wrong length was not written.
    #[inline(always)]
    pub(crate) fn take_secret(self, name: &'static str) -> Result<[u8; SECRET]>
    where
        K: Takes<slot::secret::Record>,
    {
        self.0.take_secret_at(slot::secret::LENGTH.index(), name)
    }
}

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
