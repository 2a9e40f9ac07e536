//! wasm's SIMD: swizzles pick the fields out of two adjacent IDs.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::wasm32::*;
use core::ops::Range;

use safe_unaligned_simd::wasm32::{v128_load, v128_store};

use super::{
    super::{SCALE, Sno},
    pairs::{METABYTES, PARTITIONS, REST, SEQUENCES, TIMES},
    scalar,
    slices::{Kernels, ones},
};
use crate::cpu::parts::part;

pub(super) const KERNELS: Kernels =
    Kernels { unix_ms, metabyte, partition, sequence, having_metabyte, in_ticks };

fn unix_ms(ids: &[Sno], column: &mut [i64]) {
    let ((pairs, last), (places, last_places)) =
        (ids.as_chunks::<2>(), column.as_chunks_mut::<2>());
    for (pair, place) in pairs.iter().zip(places) {
        // Without the tick-tock bit the time is twice the tick, and a tick has 4 ms.
        let twice_ticks = v128_andnot(times(Sno::slice_as_bytes(pair), 0), i64x2_splat(1));
        let since_epoch = i64x2_shl(twice_ticks, 1);
        v128_store(place, i64x2_add(since_epoch, i64x2_splat(SCALE.epoch_ms)));
    }
    scalar::unix_ms(last, last_places);
}

fn metabyte(ids: &[Sno], column: &mut [u8]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<16>(), column.as_chunks_mut::<16>());
    for (group, place) in groups.iter().zip(places) {
        v128_store(place, gather(Sno::slice_as_bytes(group), &METABYTES));
    }
    scalar::metabyte(last, last_places);
}

fn partition(ids: &[Sno], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &PARTITIONS);
    scalar::partition(last, last_places);
}

fn sequence(ids: &[Sno], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &SEQUENCES);
    scalar::sequence(last, last_places);
}

fn having_metabyte(ids: &[Sno], metabyte: u8, bitmap: &mut [u8]) -> usize {
    let wanted = u8x16_splat(metabyte);
    let passes = |group: &[u8]| u8x16_eq(gather(group, &METABYTES), wanted);
    let (last, last_places) = mark(ids, bitmap, passes);
    scalar::having_metabyte(last, metabyte, last_places);
    ones(bitmap)
}

fn in_ticks(ids: &[Sno], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    let limit = |tick: u64| u64x2_splat(tick << 1);
    let (start, end) = (limit(ticks.start), limit(ticks.end));
    let two = |group: &[u8], pair| {
        // Times have 40 bits, so a signed comparison is right.
        let times = times(group, pair);
        v128_and(i64x2_ge(times, start), i64x2_lt(times, end))
    };
    let four =
        |group: &[u8], pair| i32x4_shuffle::<0, 2, 4, 6>(two(group, pair), two(group, pair + 1));
    let eight = |group: &[u8], pair| i16x8_narrow_i32x4(four(group, pair), four(group, pair + 2));
    let sixteen = |group: &[u8]| i8x16_narrow_i16x8(eight(group, 0), eight(group, 4));
    let (last, last_places) = mark(ids, bitmap, sixteen);
    scalar::in_ticks(last, ticks, last_places);
    ones(bitmap)
}

/// The times of a pair of IDs, with the tick-tock bit as the lowest bit.
#[inline]
fn times(group: &[u8], pair: usize) -> v128 {
    u8x16_swizzle(v128_load(part::<_, 16>(group, 20 * pair)), v128_load(&TIMES))
}

/// A field of `PAIRS` pairs of IDs.
#[inline]
fn gather<const PAIRS: usize>(group: &[u8], orders: &[[u8; 16]; PAIRS]) -> v128 {
    let mut gathered = u8x16_splat(0);
    for (pair, order) in orders.iter().enumerate() {
        let bytes = v128_load(part::<_, 16>(group, 20 * pair + REST));
        gathered = v128_or(gathered, u8x16_swizzle(bytes, v128_load(order)));
    }
    gathered
}

/// Writes a field of two bytes for whole groups. Returns the IDs and places that are left.
#[inline]
fn words<'a>(
    ids: &'a [Sno],
    column: &'a mut [u16],
    orders: &[[u8; 16]; 4],
) -> (&'a [Sno], &'a mut [u16]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<8>(), column.as_chunks_mut::<8>());
    for (group, place) in groups.iter().zip(places) {
        v128_store(place, gather(Sno::slice_as_bytes(group), orders));
    }
    (last, last_places)
}

/// Writes the signs of sixteen bytes for each whole group. Returns the IDs and bytes that are left.
#[inline]
fn mark<'a>(
    ids: &'a [Sno],
    bitmap: &'a mut [u8],
    passes: impl Fn(&[u8]) -> v128,
) -> (&'a [Sno], &'a mut [u8]) {
    let (groups, last) = ids.as_chunks::<16>();
    let (places, last_places) = bitmap.split_at_mut(2 * groups.len());
    for (group, place) in groups.iter().zip(places.as_chunks_mut().0) {
        *place = u8x16_bitmask(passes(Sno::slice_as_bytes(group))).to_le_bytes();
    }
    (last, last_places)
}
