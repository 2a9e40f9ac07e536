//! Fields of sno's IDs: loops that compilers vectorize. They are inlined, to be compiled for each set.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

use core::ops::Range;

use crate::arch::Id;

/// The start of tick 0, in Unix milliseconds.
pub(crate) const EPOCH_MS: i64 = 1_262_304_000_000;

#[inline(always)]
pub(in crate::arch) fn unix_ms(ids: &[Id], column: &mut [i64]) {
    // Ticks have 39 bits, and 4 ms each.
    fill(ids, column, |id| EPOCH_MS + 4 * tick(id).cast_signed());
}

#[inline(always)]
pub(in crate::arch) fn metabyte(ids: &[Id], column: &mut [u8]) {
    fill(ids, column, metabyte_of);
}

#[inline(always)]
pub(in crate::arch) fn partition(ids: &[Id], column: &mut [u16]) {
    fill(ids, column, |&[.., high, low, _, _]| u16::from_be_bytes([high, low]));
}

#[inline(always)]
pub(in crate::arch) fn sequence(ids: &[Id], column: &mut [u16]) {
    fill(ids, column, |&[.., high, low]| u16::from_be_bytes([high, low]));
}

#[inline(always)]
pub(in crate::arch) fn having_metabyte(ids: &[Id], metabyte: u8, bitmap: &mut [u8]) -> usize {
    mark(ids, bitmap, |id| metabyte_of(id) == metabyte)
}

#[inline(always)]
pub(in crate::arch) fn in_ticks(ids: &[Id], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    mark(ids, bitmap, |id| ticks.contains(&tick(id)))
}

/// The upper 39 bits, out of one load.
#[inline(always)]
const fn tick(&[a, b, c, d, e, f, g, h, ..]: &Id) -> u64 {
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> (64 - 39)
}

#[inline(always)]
const fn metabyte_of(&[_, _, _, _, _, metabyte, ..]: &Id) -> u8 {
    metabyte
}

#[inline(always)]
fn fill<T>(ids: &[Id], column: &mut [T], field: impl Fn(&Id) -> T) {
    ids.iter().zip(column).for_each(|(id, place)| *place = field(id));
}

/// Sets the bits of IDs that pass, and returns their number. Groups of a fixed size take half the time of `chunks`.
#[inline(always)]
fn mark(ids: &[Id], bitmap: &mut [u8], passes: impl Fn(&Id) -> bool) -> usize {
    let byte = |ids: &[Id]| ids.iter().rev().fold(0, |bits, id| bits << 1 | u8::from(passes(id)));
    let (groups, last) = ids.as_chunks::<8>();
    let mut places = bitmap.iter_mut();
    for (group, place) in groups.iter().zip(&mut places) {
        *place = byte(group);
    }
    if let Some(place) = places.next() {
        *place = byte(last);
    }
    let (words, last) = bitmap.as_chunks();
    let ones = words.iter().map(|word| u64::from_le_bytes(*word).count_ones());
    ones.chain(last.iter().map(|byte| byte.count_ones())).map(|ones| ones as usize).sum()
}
