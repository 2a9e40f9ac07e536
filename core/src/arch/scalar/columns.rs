//! Fields of sno's IDs, one ID after the other.

use core::ops::Range;

use crate::arch::Id;

/// The start of tick 0, in Unix milliseconds.
pub(crate) const EPOCH_MS: i64 = 1_262_304_000_000;

pub(in crate::arch) fn unix_ms(ids: &[Id], column: &mut [i64]) {
    // Ticks have 39 bits, and 4 ms each.
    fill(ids, column, |id| EPOCH_MS + 4 * tick(id).cast_signed());
}

pub(in crate::arch) fn metabyte(ids: &[Id], column: &mut [u8]) {
    fill(ids, column, metabyte_of);
}

pub(in crate::arch) fn partition(ids: &[Id], column: &mut [u16]) {
    fill(ids, column, |&[.., high, low, _, _]| u16::from_be_bytes([high, low]));
}

pub(in crate::arch) fn sequence(ids: &[Id], column: &mut [u16]) {
    fill(ids, column, |&[.., high, low]| u16::from_be_bytes([high, low]));
}

pub(in crate::arch) fn having_metabyte(ids: &[Id], metabyte: u8, bitmap: &mut [u8]) -> usize {
    mark(ids, bitmap, |id| metabyte_of(id) == metabyte);
    ones(bitmap)
}

pub(in crate::arch) fn in_ticks(ids: &[Id], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    mark(ids, bitmap, |id| ticks.contains(&tick(id)));
    ones(bitmap)
}

/// Number of set bits. It is inlined, to be counted with the caller's instructions.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]
pub(in crate::arch) fn ones(bitmap: &[u8]) -> usize {
    let (words, last) = bitmap.as_chunks();
    let ones = words.iter().map(|word| u64::from_le_bytes(*word).count_ones());
    ones.chain(last.iter().map(|byte| byte.count_ones())).map(|ones| ones as usize).sum()
}

/// The upper 39 bits, out of one load.
const fn tick(&[a, b, c, d, e, f, g, h, ..]: &Id) -> u64 {
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> (64 - 39)
}

const fn metabyte_of(&[_, _, _, _, _, metabyte, ..]: &Id) -> u8 {
    metabyte
}

fn fill<T>(ids: &[Id], column: &mut [T], field: impl Fn(&Id) -> T) {
    ids.iter().zip(column).for_each(|(id, place)| *place = field(id));
}

fn mark(ids: &[Id], bitmap: &mut [u8], passes: impl Fn(&Id) -> bool) {
    for (eight, byte) in ids.chunks(8).zip(bitmap) {
        *byte = eight.iter().rev().fold(0, |bits, id| bits << 1 | u8::from(passes(id)));
    }
}
