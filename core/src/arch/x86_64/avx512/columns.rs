//! AVX-512 with VBMI: eight IDs fill two registers, and one instruction picks bytes out of both.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;
use core::ops::Range;

use safe_unaligned_simd::x86_64::{
    _mm_storeu_si64, _mm_storeu_si128, _mm512_loadu_si512, _mm512_storeu_si512,
};

use super::super::memory;
use crate::arch::{
    Id,
    lanes::parts::part,
    scalar::columns::{self as scalar, EPOCH_MS, ones},
};

const GROUP: usize = 8;
const LEN: usize = size_of::<Id>();

/// Positions of a field's bytes, the lowest first, one ID after the other.
const TIMES: [u8; 64] = in_turn([4, 3, 2, 1, 0, 0, 0, 0]);
const METABYTES: [u8; 64] = in_turn([5]);
const PARTITIONS: [u8; 64] = in_turn([7, 6]);
const SEQUENCES: [u8; 64] = in_turn([9, 8]);

/// Start of the second register, so that it ends with the group.
const SECOND: usize = GROUP * LEN - 64;

const fn in_turn<const BYTES: usize>(bytes: [usize; BYTES]) -> [u8; 64] {
    let mut order = [0; 64];
    let mut place = 0;
    while place < GROUP * BYTES {
        let byte = LEN * (place / BYTES) + bytes[place % BYTES];
        let index = if byte < 64 { byte } else { 64 + byte - SECOND };
        #[allow(clippy::cast_possible_truncation, reason = "two registers have 128 bytes")]
        {
            order[place] = index as u8;
        }
        place += 1;
    }
    order
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn unix_ms(ids: &[Id], column: &mut [i64]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<GROUP>(), column.as_chunks_mut::<GROUP>());
    for (group, place) in groups.iter().zip(places) {
        // Without the tick-tock bit the time is twice the tick, and a tick has 4 ms.
        let twice_ticks = _mm512_and_si512(times(group), _mm512_set1_epi64(!1));
        let since_epoch = _mm512_slli_epi64::<1>(twice_ticks);
        _mm512_storeu_si512(place, _mm512_add_epi64(since_epoch, _mm512_set1_epi64(EPOCH_MS)));
    }
    scalar::unix_ms(last, last_places);
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn metabyte(ids: &[Id], column: &mut [u8]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<GROUP>(), column.as_chunks_mut::<GROUP>());
    for (group, place) in groups.iter().zip(places) {
        _mm_storeu_si64(place, _mm512_castsi512_si128(gather(group, &METABYTES)));
    }
    scalar::metabyte(last, last_places);
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn partition(ids: &[Id], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &PARTITIONS);
    scalar::partition(last, last_places);
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn sequence(ids: &[Id], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &SEQUENCES);
    scalar::sequence(last, last_places);
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi,popcnt")]
pub(super) fn having_metabyte(ids: &[Id], metabyte: u8, bitmap: &mut [u8]) -> usize {
    let wanted = _mm_set1_epi8(metabyte.cast_signed());
    let passes = |group: &[Id; GROUP]| {
        let metabytes = _mm512_castsi512_si128(gather(group, &METABYTES));
        _mm_mask_cmpeq_epi8_mask(0xff, metabytes, wanted).to_le_bytes()[0]
    };
    let (last, last_places) = mark(ids, bitmap, passes);
    scalar::having_metabyte(last, metabyte, last_places);
    ones(bitmap)
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi,popcnt")]
pub(super) fn in_ticks(ids: &[Id], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    let limit = |tick: u64| _mm512_set1_epi64((tick << 1).cast_signed());
    let (start, span) = (limit(ticks.start), limit(ticks.end.saturating_sub(ticks.start)));
    let passes = |group: &[Id; GROUP]| {
        // A time below the start wraps to a value greater than any span.
        _mm512_cmplt_epu64_mask(_mm512_sub_epi64(times(group), start), span)
    };
    let (last, last_places) = mark(ids, bitmap, passes);
    scalar::in_ticks(last, ticks, last_places);
    ones(bitmap)
}

/// The times of a group, with the tick-tock bit as the lowest bit.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn times(group: &[Id; GROUP]) -> __m512i {
    _mm512_and_si512(gather(group, &TIMES), _mm512_set1_epi64((1 << 40) - 1))
}

/// A field of a group.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn gather(group: &[Id; GROUP], order: &[u8; 64]) -> __m512i {
    let bytes = group.as_flattened();
    memory::ask_ahead(bytes);
    let [first, second] = [0, SECOND].map(|at| _mm512_loadu_si512(part::<_, 64>(bytes, at)));
    _mm512_permutex2var_epi8(first, _mm512_loadu_si512(order), second)
}

/// Writes a field of two bytes for whole groups. Returns the IDs and places that are left.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn words<'a>(ids: &'a [Id], column: &'a mut [u16], order: &[u8; 64]) -> (&'a [Id], &'a mut [u16]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<GROUP>(), column.as_chunks_mut::<GROUP>());
    for (group, place) in groups.iter().zip(places) {
        _mm_storeu_si128(place, _mm512_castsi512_si128(gather(group, order)));
    }
    (last, last_places)
}

/// Writes the bits of each whole group. Returns the IDs and bytes that are left.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn mark<'a>(
    ids: &'a [Id],
    bitmap: &'a mut [u8],
    passes: impl Fn(&[Id; GROUP]) -> u8,
) -> (&'a [Id], &'a mut [u8]) {
    let (groups, last) = ids.as_chunks::<GROUP>();
    let (places, last_places) = bitmap.split_at_mut(groups.len());
    for (group, place) in groups.iter().zip(places) {
        *place = passes(group);
    }
    (last, last_places)
}
