//! NEON: table lookups pick the fields out of two adjacent IDs.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::aarch64::*;
use core::ops::Range;

use safe_unaligned_simd::aarch64::{vld1q_u8, vst1q_s64, vst1q_u8, vst1q_u16};

use super::{
    super::{SCALE, Sno},
    pairs::{METABYTES, PARTITIONS, REST, SEQUENCES, TIMES},
    scalar,
    slices::{Kernels, ones},
};
use crate::cpu::parts::part;

pub(super) const KERNELS: Kernels =
    Kernels { unix_ms, metabyte, partition, sequence, having_metabyte, in_ticks };

#[target_feature(enable = "neon")]
fn unix_ms(ids: &[Sno], column: &mut [i64]) {
    let ((pairs, last), (places, last_places)) =
        (ids.as_chunks::<2>(), column.as_chunks_mut::<2>());
    for (pair, place) in pairs.iter().zip(places) {
        // Without the tick-tock bit the time is twice the tick, and a tick has 4 ms.
        let twice_ticks = vbicq_u64(times(Sno::slice_as_bytes(pair), 0), vdupq_n_u64(1));
        let since_epoch = vreinterpretq_s64_u64(vshlq_n_u64::<1>(twice_ticks));
        vst1q_s64(place, vaddq_s64(since_epoch, vdupq_n_s64(SCALE.epoch_ms)));
    }
    scalar::unix_ms(last, last_places);
}

#[target_feature(enable = "neon")]
fn metabyte(ids: &[Sno], column: &mut [u8]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<16>(), column.as_chunks_mut::<16>());
    for (group, place) in groups.iter().zip(places) {
        vst1q_u8(place, gather(Sno::slice_as_bytes(group), &METABYTES));
    }
    scalar::metabyte(last, last_places);
}

#[target_feature(enable = "neon")]
fn partition(ids: &[Sno], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &PARTITIONS);
    scalar::partition(last, last_places);
}

#[target_feature(enable = "neon")]
fn sequence(ids: &[Sno], column: &mut [u16]) {
    let (last, last_places) = words(ids, column, &SEQUENCES);
    scalar::sequence(last, last_places);
}

#[target_feature(enable = "neon")]
fn having_metabyte(ids: &[Sno], metabyte: u8, bitmap: &mut [u8]) -> usize {
    let wanted = vdupq_n_u8(metabyte);
    let passes = |group: &[u8]| vceqq_u8(gather(group, &METABYTES), wanted);
    let (last, last_places) = mark(ids, bitmap, passes);
    scalar::having_metabyte(last, metabyte, last_places);
    ones(bitmap)
}

#[target_feature(enable = "neon")]
fn in_ticks(ids: &[Sno], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    let limit = |tick: u64| vdupq_n_u64(tick << 1);
    let (start, end) = (limit(ticks.start), limit(ticks.end));
    let two = |group: &[u8], pair| {
        let times = times(group, pair);
        vreinterpretq_u32_u64(vandq_u64(vcgeq_u64(times, start), vcltq_u64(times, end)))
    };
    // The bits of each word are all equal, so its lower half is enough.
    let four = |group: &[u8], pair| {
        vreinterpretq_u16_u32(vuzp1q_u32(two(group, pair), two(group, pair + 1)))
    };
    let eight = |group: &[u8], pair| {
        vreinterpretq_u8_u16(vuzp1q_u16(four(group, pair), four(group, pair + 2)))
    };
    let sixteen = |group: &[u8]| vuzp1q_u8(eight(group, 0), eight(group, 4));
    let (last, last_places) = mark(ids, bitmap, sixteen);
    scalar::in_ticks(last, ticks, last_places);
    ones(bitmap)
}

/// The times of a pair of IDs, with the tick-tock bit as the lowest bit.
#[inline]
#[target_feature(enable = "neon")]
fn times(group: &[u8], pair: usize) -> uint64x2_t {
    let bytes = vld1q_u8(part(group, 20 * pair));
    vreinterpretq_u64_u8(vqtbl1q_u8(bytes, vld1q_u8(&TIMES)))
}

/// A field of `PAIRS` pairs of IDs.
#[inline]
#[target_feature(enable = "neon")]
fn gather<const PAIRS: usize>(group: &[u8], orders: &[[u8; 16]; PAIRS]) -> uint8x16_t {
    let mut gathered = vdupq_n_u8(0);
    for (pair, order) in orders.iter().enumerate() {
        let bytes = vld1q_u8(part(group, 20 * pair + REST));
        gathered = vorrq_u8(gathered, vqtbl1q_u8(bytes, vld1q_u8(order)));
    }
    gathered
}

/// Writes a field of two bytes for whole groups. Returns the IDs and places that are left.
#[inline]
#[target_feature(enable = "neon")]
fn words<'a>(
    ids: &'a [Sno],
    column: &'a mut [u16],
    orders: &[[u8; 16]; 4],
) -> (&'a [Sno], &'a mut [u16]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<8>(), column.as_chunks_mut::<8>());
    for (group, place) in groups.iter().zip(places) {
        vst1q_u16(place, vreinterpretq_u16_u8(gather(Sno::slice_as_bytes(group), orders)));
    }
    (last, last_places)
}

/// Writes a bit for each of sixteen bytes, whose bits are all set or all clear, for each whole group. Returns the IDs and bytes
/// that are left.
#[inline]
#[target_feature(enable = "neon")]
fn mark<'a>(
    ids: &'a [Sno],
    bitmap: &'a mut [u8],
    passes: impl Fn(&[u8]) -> uint8x16_t,
) -> (&'a [Sno], &'a mut [u8]) {
    let (groups, last) = ids.as_chunks::<16>();
    let (places, last_places) = bitmap.split_at_mut(2 * groups.len());
    let bits = vld1q_u8(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
    for (group, place) in groups.iter().zip(places.as_chunks_mut::<2>().0) {
        let bits = vandq_u8(passes(Sno::slice_as_bytes(group)), bits);
        *place = [vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits))];
    }
    (last, last_places)
}
