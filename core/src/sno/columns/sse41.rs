//! SSSE3 and SSE4.1: shuffles pick the fields out of two adjacent IDs.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;
use core::ops::Range;

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128};

use super::{
    super::{SCALE, Sno},
    pairs::{METABYTES, PARTITIONS, REST, SEQUENCES, TIMES},
    scalar,
    slices::{Kernels, ones},
};
use crate::cpu::parts::part;

pub(super) const KERNELS: Kernels =
    Kernels { unix_ms, metabyte, partition, sequence, having_metabyte, in_ticks };

#[target_feature(enable = "sse4.1")]
fn unix_ms(ids: &[Sno], column: &mut [i64]) {
    let ((pairs, last), (places, last_places)) =
        (ids.as_chunks::<2>(), column.as_chunks_mut::<2>());
    for (pair, place) in pairs.iter().zip(places) {
        // Without the tick-tock bit the time is twice the tick, and a tick has 4 ms.
        let twice_ticks = _mm_and_si128(times(Sno::slice_as_bytes(pair), 0), _mm_set1_epi64x(!1));
        let since_epoch = _mm_slli_epi64::<1>(twice_ticks);
        _mm_storeu_si128(place, _mm_add_epi64(since_epoch, _mm_set1_epi64x(SCALE.epoch_ms)));
    }
    scalar::unix_ms(last, last_places);
}

#[target_feature(enable = "sse4.1")]
fn metabyte(ids: &[Sno], column: &mut [u8]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<16>(), column.as_chunks_mut::<16>());
    for (group, place) in groups.iter().zip(places) {
        _mm_storeu_si128(place, gather(Sno::slice_as_bytes(group), &METABYTES));
    }
    scalar::metabyte(last, last_places);
}

#[target_feature(enable = "sse4.1")]
fn partition(ids: &[Sno], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &PARTITIONS);
    scalar::partition(last, last_places);
}

#[target_feature(enable = "sse4.1")]
fn sequence(ids: &[Sno], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &SEQUENCES);
    scalar::sequence(last, last_places);
}

#[target_feature(enable = "sse4.1")]
fn having_metabyte(ids: &[Sno], metabyte: u8, bitmap: &mut [u8]) -> usize {
    let wanted = _mm_set1_epi8(metabyte.cast_signed());
    let passes = |group: &[u8]| _mm_cmpeq_epi8(gather(group, &METABYTES), wanted);
    let (last, last_places) = mark(ids, bitmap, passes);
    scalar::having_metabyte(last, metabyte, last_places);
    ones(bitmap)
}

#[target_feature(enable = "sse4.1")]
fn in_ticks(ids: &[Sno], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    let limit = |tick: u64| _mm_set1_epi64x((tick << 1).cast_signed());
    let (start, end) = (limit(ticks.start), limit(ticks.end));
    // The sign is set if the time is below the end, but not below the start.
    let passes = |group: &[u8], pair| {
        let times = times(group, pair);
        _mm_andnot_si128(_mm_sub_epi64(times, start), _mm_sub_epi64(times, end))
    };
    let upper_halves = |group: &[u8], pair| {
        let [first, next] =
            [passes(group, pair), passes(group, pair + 1)].map(|signs| _mm_castsi128_ps(signs));
        _mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(first, next))
    };
    let eight = |group: &[u8], pair| {
        _mm_packs_epi32(upper_halves(group, pair), upper_halves(group, pair + 2))
    };
    let sixteen = |group: &[u8]| _mm_packs_epi16(eight(group, 0), eight(group, 4));
    let (last, last_places) = mark(ids, bitmap, sixteen);
    scalar::in_ticks(last, ticks, last_places);
    ones(bitmap)
}

/// The times of a pair of IDs, with the tick-tock bit as the lowest bit.
#[inline]
#[target_feature(enable = "sse4.1")]
fn times(group: &[u8], pair: usize) -> __m128i {
    _mm_shuffle_epi8(_mm_loadu_si128(part::<_, 16>(group, 20 * pair)), _mm_loadu_si128(&TIMES))
}

/// A field of `PAIRS` pairs of IDs.
#[inline]
#[target_feature(enable = "sse4.1")]
fn gather<const PAIRS: usize>(group: &[u8], orders: &[[u8; 16]; PAIRS]) -> __m128i {
    let mut gathered = _mm_setzero_si128();
    for (pair, order) in orders.iter().enumerate() {
        let bytes = _mm_loadu_si128(part::<_, 16>(group, 20 * pair + REST));
        gathered = _mm_or_si128(gathered, _mm_shuffle_epi8(bytes, _mm_loadu_si128(order)));
    }
    gathered
}

/// Writes a field of two bytes for whole groups. Returns the IDs and places that are left.
#[inline]
#[target_feature(enable = "sse4.1")]
fn words<'a>(
    ids: &'a [Sno],
    column: &'a mut [u16],
    orders: &[[u8; 16]; 4],
) -> (&'a [Sno], &'a mut [u16]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<8>(), column.as_chunks_mut::<8>());
    for (group, place) in groups.iter().zip(places) {
        _mm_storeu_si128(place, gather(Sno::slice_as_bytes(group), orders));
    }
    (last, last_places)
}

/// Writes the signs of sixteen bytes for each whole group. Returns the IDs and bytes that are left.
#[inline]
#[target_feature(enable = "sse4.1")]
fn mark<'a>(
    ids: &'a [Sno],
    bitmap: &'a mut [u8],
    passes: impl Fn(&[u8]) -> __m128i,
) -> (&'a [Sno], &'a mut [u8]) {
    let (groups, last) = ids.as_chunks::<16>();
    let (places, last_places) = bitmap.split_at_mut(2 * groups.len());
    for (group, place) in groups.iter().zip(places.as_chunks_mut::<2>().0) {
        let bits = _mm_movemask_epi8(passes(Sno::slice_as_bytes(group)));
        [place[0], place[1], ..] = bits.to_le_bytes();
    }
    (last, last_places)
}
