//! Columns and filters.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::aarch64::*;
use core::ops::Range;

use safe_unaligned_simd::aarch64::{vld1q_u8, vst1q_s64, vst1q_u8, vst1q_u16};

use crate::arch::{
    Id,
    lanes::columns::{self, Registers},
};

#[target_feature(enable = "neon")]
pub(super) fn unix_ms(ids: &[Id], column: &mut [i64]) {
    columns::unix_ms(Neon::here(), ids, column);
}

#[target_feature(enable = "neon")]
pub(super) fn metabyte(ids: &[Id], column: &mut [u8]) {
    columns::metabyte(Neon::here(), ids, column);
}

#[target_feature(enable = "neon")]
pub(super) fn partition(ids: &[Id], column: &mut [u16]) {
    columns::partition(Neon::here(), ids, column);
}

#[target_feature(enable = "neon")]
pub(super) fn sequence(ids: &[Id], column: &mut [u16]) {
    columns::sequence(Neon::here(), ids, column);
}

#[target_feature(enable = "neon")]
pub(super) fn having_metabyte(ids: &[Id], metabyte: u8, bitmap: &mut [u8]) -> usize {
    columns::having_metabyte(Neon::here(), ids, metabyte, bitmap)
}

#[target_feature(enable = "neon")]
pub(super) fn in_ticks(ids: &[Id], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    columns::in_ticks(Neon::here(), ids, ticks, bitmap)
}

/// The proof that this machine has NEON.
#[derive(Clone, Copy)]
struct Neon(());

impl Neon {
    /// Safe code can only call this where the features are switched on.
    #[inline]
    #[target_feature(enable = "neon")]
    const fn here() -> Self {
        Self(())
    }
}

/// Calls functions that need the features of NEON, by a value of the type.
macro_rules! by {
    ($proof:ident, $call:expr) => {{
        let Self(()) = $proof;
        // SAFETY: `Neon` is only made by `here`, where these features are switched on.
        #[allow(unsafe_code)]
        unsafe {
            $call
        }
    }};
}

impl Registers for Neon {
    type Register = uint8x16_t;

    #[inline(always)]
    fn load(self, bytes: &[u8; 16]) -> uint8x16_t {
        by!(self, vld1q_u8(bytes))
    }

    #[inline(always)]
    fn store(self, register: uint8x16_t, place: &mut [u8; 16]) {
        by!(self, vst1q_u8(place, register));
    }

    #[inline(always)]
    fn store_u16(self, register: uint8x16_t, place: &mut [u16; 8]) {
        by!(self, vst1q_u16(place, vreinterpretq_u16_u8(register)));
    }

    #[inline(always)]
    fn store_i64(self, register: uint8x16_t, place: &mut [i64; 2]) {
        by!(self, vst1q_s64(place, vreinterpretq_s64_u8(register)));
    }

    #[inline(always)]
    fn pick(self, bytes: uint8x16_t, positions: uint8x16_t) -> uint8x16_t {
        by!(self, vqtbl1q_u8(bytes, positions))
    }

    #[inline(always)]
    fn and(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        by!(self, vandq_u8(one, other))
    }

    #[inline(always)]
    fn or(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        by!(self, vorrq_u8(one, other))
    }

    #[inline(always)]
    fn add(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        by!(self, vreinterpretq_u8_u64(vaddq_u64(words(one), words(other))))
    }

    #[inline(always)]
    fn equal(self, one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        by!(self, vceqq_u8(one, other))
    }

    #[inline(always)]
    fn within(self, values: uint8x16_t, start: uint8x16_t, end: uint8x16_t) -> uint8x16_t {
        by!(self, within(words(values), words(start), words(end)))
    }

    #[inline(always)]
    fn narrow(self, marks: [uint8x16_t; 8]) -> uint8x16_t {
        let [a, b, c, d, e, f, g, h] = marks;
        by!(self, narrow([[[a, b], [c, d]], [[e, f], [g, h]]]))
    }

    #[inline(always)]
    fn bits(self, marks: uint8x16_t) -> [u8; 2] {
        by!(self, bits(marks))
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn words(register: uint8x16_t) -> uint64x2_t {
    vreinterpretq_u64_u8(register)
}

#[inline]
#[target_feature(enable = "neon")]
fn within(values: uint64x2_t, start: uint64x2_t, end: uint64x2_t) -> uint8x16_t {
    vreinterpretq_u8_u64(vandq_u64(vcgeq_u64(values, start), vcltq_u64(values, end)))
}

/// The lower halves of lanes, three times. The bits of a mark are all equal, so a half of it is enough.
#[inline]
#[target_feature(enable = "neon")]
fn narrow(marks: [[[uint8x16_t; 2]; 2]; 2]) -> uint8x16_t {
    let [first, second] = marks.map(|marks| {
        let [first, second] = marks.map(|[first, second]| {
            vuzp1q_u32(vreinterpretq_u32_u8(first), vreinterpretq_u32_u8(second))
        });
        vuzp1q_u16(vreinterpretq_u16_u32(first), vreinterpretq_u16_u32(second))
    });
    vuzp1q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second))
}

#[inline]
#[target_feature(enable = "neon")]
fn bits(marks: uint8x16_t) -> [u8; 2] {
    let places = vld1q_u8(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
    let bits = vandq_u8(marks, places);
    [vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits))]
}
