//! Reads the fields of sno IDs in loops that compilers vectorize. The loops are inlined so that they are compiled for each
//! instruction set.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

use crate::arch::Id;

/// The start of tick 0, in Unix milliseconds.
pub(crate) const EPOCH_MS: i64 = 1_262_304_000_000;

#[inline(always)]
pub(in crate::arch) fn unix_ms(ids: &[Id], column: &mut [i64]) {
    // A tick number has 39 bits, and a tick lasts 4 ms, so a time in milliseconds fits in 64 bits.
    fill(ids, column, |id| EPOCH_MS + 4 * tick(id).cast_signed());
}

#[inline(always)]
pub(in crate::arch) fn metabyte(ids: &[Id], column: &mut [u8]) {
    fill(ids, column, |&[_, _, _, _, _, metabyte, ..]| metabyte);
}

#[inline(always)]
pub(in crate::arch) fn partition(ids: &[Id], column: &mut [u16]) {
    fill(ids, column, |&[.., high, low, _, _]| u16::from_be_bytes([high, low]));
}

#[inline(always)]
pub(in crate::arch) fn sequence(ids: &[Id], column: &mut [u16]) {
    fill(ids, column, |&[.., high, low]| u16::from_be_bytes([high, low]));
}

/// Returns an ID's tick, which is the ID's upper 39 bits. A single load reads all the bytes that contain the tick.
#[inline(always)]
const fn tick(&[a, b, c, d, e, f, g, h, ..]: &Id) -> u64 {
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> (64 - 39)
}

#[inline(always)]
fn fill<T>(ids: &[Id], column: &mut [T], field: impl Fn(&Id) -> T) {
    ids.iter().zip(column).for_each(|(id, place)| *place = field(id));
}
