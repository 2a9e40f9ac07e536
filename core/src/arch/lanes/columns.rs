//! Fields of sno's IDs, for sets with registers of sixteen bytes that pick bytes out of a register by their positions: the fields
//! of two adjacent IDs at once.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

use core::ops::Range;

use super::parts::part;
use crate::arch::{
    Id,
    scalar::columns::{self as scalar, EPOCH_MS, ones},
};

/// Bytes of two IDs.
const PAIR: usize = 2 * size_of::<Id>();

/// An index past the bytes, for which a shuffle yields 0.
const NONE: u8 = 0x80;

/// The times of two IDs, counted from the start of the first: words with the tick-tock bit as the lowest bit.
const TIMES: [u8; 16] = [4, 3, 2, 1, 0, NONE, NONE, NONE, 14, 13, 12, 11, 10, NONE, NONE, NONE];

/// Start of the sixteen bytes that hold all other fields of two IDs.
const REST: usize = 4;

/// A field of several pairs: each pair's values go behind the values of the pair before.
const METABYTES: [[u8; 16]; 8] = in_turn([1, 11]);
const PARTITIONS: [[u8; 16]; 4] = in_turn([3, 2, 13, 12]);
const SEQUENCES: [[u8; 16]; 4] = in_turn([5, 4, 15, 14]);

const fn in_turn<const BYTES: usize, const PAIRS: usize>(bytes: [u8; BYTES]) -> [[u8; 16]; PAIRS] {
    let mut orders = [[NONE; 16]; PAIRS];
    let mut place = 0;
    while place < 16 {
        orders[place / BYTES][place] = bytes[place % BYTES];
        place += 1;
    }
    orders
}

/// The operations of a set on its registers, for the algorithms below. A value of the type proves that this machine has the set.
///
/// A mark is a lane with all bits set or all clear, or in sets that only look there, with the highest bit set or clear.
pub(in crate::arch) trait Registers: Copy {
    /// Sixteen bytes, which are also lanes of other sizes.
    type Register: Copy;

    fn load(self, bytes: &[u8; 16]) -> Self::Register;
    fn store(self, register: Self::Register, place: &mut [u8; 16]);
    fn store_u16(self, register: Self::Register, place: &mut [u16; 8]);
    fn store_i64(self, register: Self::Register, place: &mut [i64; 2]);

    /// The bytes at these positions, and 0 for a position past them.
    fn pick(self, bytes: Self::Register, positions: Self::Register) -> Self::Register;
    fn and(self, one: Self::Register, other: Self::Register) -> Self::Register;
    fn or(self, one: Self::Register, other: Self::Register) -> Self::Register;
    /// The sums of two lanes of 64 bits.
    fn add(self, one: Self::Register, other: Self::Register) -> Self::Register;

    /// Marks for the bytes that are equal.
    fn equal(self, one: Self::Register, other: Self::Register) -> Self::Register;
    /// Marks for the lanes of 64 bits, of values below 2^63, that are in the half-open range from `start` to `end`.
    fn within(
        self,
        values: Self::Register,
        start: Self::Register,
        end: Self::Register,
    ) -> Self::Register;
    /// The marks of sixteen lanes of 64 bits, as bytes.
    fn narrow(self, marks: [Self::Register; 8]) -> Self::Register;
    /// The marks of bytes, as bits.
    fn bits(self, marks: Self::Register) -> [u8; 2];
}

#[inline(always)]
pub(in crate::arch) fn unix_ms<R: Registers>(r: R, ids: &[Id], column: &mut [i64]) {
    let ((pairs, last), (places, last_places)) =
        (ids.as_chunks::<2>(), column.as_chunks_mut::<2>());
    let (but_tick_tock, epoch) = (both(r, !1), both(r, EPOCH_MS.cast_unsigned()));
    for (pair, place) in pairs.iter().zip(places) {
        // Without the tick-tock bit the time is twice the tick, and a tick has 4 ms.
        let twice_ticks = r.and(times(r, pair.as_flattened(), 0), but_tick_tock);
        r.store_i64(r.add(r.add(twice_ticks, twice_ticks), epoch), place);
    }
    scalar::unix_ms(last, last_places);
}

#[inline(always)]
pub(in crate::arch) fn metabyte<R: Registers>(r: R, ids: &[Id], column: &mut [u8]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<16>(), column.as_chunks_mut::<16>());
    for (group, place) in groups.iter().zip(places) {
        r.store(gather(r, group.as_flattened(), &METABYTES), place);
    }
    scalar::metabyte(last, last_places);
}

#[inline(always)]
pub(in crate::arch) fn partition<R: Registers>(r: R, ids: &[Id], column: &mut [u16]) {
    let (last, last_places) = words(r, ids, column, &PARTITIONS);
    scalar::partition(last, last_places);
}

#[inline(always)]
pub(in crate::arch) fn sequence<R: Registers>(r: R, ids: &[Id], column: &mut [u16]) {
    let (last, last_places) = words(r, ids, column, &SEQUENCES);
    scalar::sequence(last, last_places);
}

#[inline(always)]
pub(in crate::arch) fn having_metabyte<R: Registers>(
    r: R,
    ids: &[Id],
    metabyte: u8,
    bitmap: &mut [u8],
) -> usize {
    let (groups, last) = ids.as_chunks::<16>();
    let (places, last_places) = bitmap.split_at_mut(2 * groups.len());
    let wanted = r.load(&[metabyte; 16]);
    for (group, place) in groups.iter().zip(places.as_chunks_mut().0) {
        *place = r.bits(r.equal(gather(r, group.as_flattened(), &METABYTES), wanted));
    }
    scalar::having_metabyte(last, metabyte, last_places);
    ones(bitmap)
}

#[inline(always)]
pub(in crate::arch) fn in_ticks<R: Registers>(
    r: R,
    ids: &[Id],
    ticks: Range<u64>,
    bitmap: &mut [u8],
) -> usize {
    let (groups, last) = ids.as_chunks::<16>();
    let (places, last_places) = bitmap.split_at_mut(2 * groups.len());
    let (start, end) = (both(r, ticks.start << 1), both(r, ticks.end << 1));
    for (group, place) in groups.iter().zip(places.as_chunks_mut().0) {
        let group = group.as_flattened();
        *place = r.bits(r.narrow([
            r.within(times(r, group, 0), start, end),
            r.within(times(r, group, 1), start, end),
            r.within(times(r, group, 2), start, end),
            r.within(times(r, group, 3), start, end),
            r.within(times(r, group, 4), start, end),
            r.within(times(r, group, 5), start, end),
            r.within(times(r, group, 6), start, end),
            r.within(times(r, group, 7), start, end),
        ]));
    }
    scalar::in_ticks(last, ticks, last_places);
    ones(bitmap)
}

/// A register with the same word twice.
#[inline(always)]
fn both<R: Registers>(r: R, word: u64) -> R::Register {
    r.load(&(u128::from(word) << 64 | u128::from(word)).to_le_bytes())
}

/// The times of a pair of IDs, with the tick-tock bit as the lowest bit.
#[inline(always)]
fn times<R: Registers>(r: R, group: &[u8], pair: usize) -> R::Register {
    r.pick(r.load(part(group, PAIR * pair)), r.load(&TIMES))
}

/// A field of `PAIRS` pairs of IDs.
#[inline(always)]
fn gather<R: Registers, const PAIRS: usize>(
    r: R,
    group: &[u8],
    orders: &[[u8; 16]; PAIRS],
) -> R::Register {
    let mut gathered = r.load(&[0; 16]);
    for (pair, order) in orders.iter().enumerate() {
        let bytes = r.load(part(group, PAIR * pair + REST));
        gathered = r.or(gathered, r.pick(bytes, r.load(order)));
    }
    gathered
}

/// Writes a field of two bytes for whole groups. Returns the IDs and places that are left.
#[inline(always)]
fn words<'a, R: Registers>(
    r: R,
    ids: &'a [Id],
    column: &'a mut [u16],
    orders: &[[u8; 16]; 4],
) -> (&'a [Id], &'a mut [u16]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<8>(), column.as_chunks_mut::<8>());
    for (group, place) in groups.iter().zip(places) {
        r.store_u16(gather(r, group.as_flattened(), orders), place);
    }
    (last, last_places)
}
