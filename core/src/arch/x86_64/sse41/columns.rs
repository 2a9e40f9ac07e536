//! Columns and filters.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;
use core::ops::Range;

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128};

use crate::arch::{
    Id,
    lanes::columns::{self, Registers},
};

#[target_feature(enable = "sse4.1")]
pub(super) fn unix_ms(ids: &[Id], column: &mut [i64]) {
    columns::unix_ms(Sse41::here(), ids, column);
}

#[target_feature(enable = "sse4.1")]
pub(super) fn metabyte(ids: &[Id], column: &mut [u8]) {
    columns::metabyte(Sse41::here(), ids, column);
}

#[target_feature(enable = "sse4.1")]
pub(super) fn partition(ids: &[Id], column: &mut [u16]) {
    columns::partition(Sse41::here(), ids, column);
}

#[target_feature(enable = "sse4.1")]
pub(super) fn sequence(ids: &[Id], column: &mut [u16]) {
    columns::sequence(Sse41::here(), ids, column);
}

#[target_feature(enable = "sse4.1")]
pub(super) fn having_metabyte(ids: &[Id], metabyte: u8, bitmap: &mut [u8]) -> usize {
    columns::having_metabyte(Sse41::here(), ids, metabyte, bitmap)
}

#[target_feature(enable = "sse4.1")]
pub(super) fn in_ticks(ids: &[Id], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    columns::in_ticks(Sse41::here(), ids, ticks, bitmap)
}

/// The proof that this machine has SSE4.1.
#[derive(Clone, Copy)]
struct Sse41(());

impl Sse41 {
    /// Safe code can only call this where the features are switched on.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    const fn here() -> Self {
        Self(())
    }
}

/// Calls functions that need the features of SSE4.1, by a value of the type.
macro_rules! by {
    ($proof:ident, $call:expr) => {{
        let Self(()) = $proof;
        // SAFETY: `Sse41` is only made by `here`, where these features are switched on.
        #[allow(unsafe_code)]
        unsafe {
            $call
        }
    }};
}

impl Registers for Sse41 {
    type Register = __m128i;

    #[inline(always)]
    fn load(self, bytes: &[u8; 16]) -> __m128i {
        by!(self, _mm_loadu_si128(bytes))
    }

    #[inline(always)]
    fn store(self, register: __m128i, place: &mut [u8; 16]) {
        by!(self, _mm_storeu_si128(place, register));
    }

    #[inline(always)]
    fn store_u16(self, register: __m128i, place: &mut [u16; 8]) {
        by!(self, _mm_storeu_si128(place, register));
    }

    #[inline(always)]
    fn store_i64(self, register: __m128i, place: &mut [i64; 2]) {
        by!(self, _mm_storeu_si128(place, register));
    }

    #[inline(always)]
    fn pick(self, bytes: __m128i, positions: __m128i) -> __m128i {
        by!(self, _mm_shuffle_epi8(bytes, positions))
    }

    #[inline(always)]
    fn and(self, one: __m128i, other: __m128i) -> __m128i {
        by!(self, _mm_and_si128(one, other))
    }

    #[inline(always)]
    fn or(self, one: __m128i, other: __m128i) -> __m128i {
        by!(self, _mm_or_si128(one, other))
    }

    #[inline(always)]
    fn add(self, one: __m128i, other: __m128i) -> __m128i {
        by!(self, _mm_add_epi64(one, other))
    }

    #[inline(always)]
    fn equal(self, one: __m128i, other: __m128i) -> __m128i {
        by!(self, _mm_cmpeq_epi8(one, other))
    }

    #[inline(always)]
    fn within(self, values: __m128i, start: __m128i, end: __m128i) -> __m128i {
        // The sign of a difference is set if the value is below the end, but not below the start.
        by!(self, _mm_andnot_si128(_mm_sub_epi64(values, start), _mm_sub_epi64(values, end)))
    }

    #[inline(always)]
    fn narrow(self, marks: [__m128i; 8]) -> __m128i {
        let [a, b, c, d, e, f, g, h] = marks;
        by!(self, narrow([[[a, b], [c, d]], [[e, f], [g, h]]]))
    }

    #[inline(always)]
    fn bits(self, marks: __m128i) -> [u8; 2] {
        let [first, second, ..] = by!(self, _mm_movemask_epi8(marks)).to_le_bytes();
        [first, second]
    }
}

/// The upper halves of lanes, twice narrowed with saturation, which keeps their signs.
#[inline]
#[target_feature(enable = "sse4.1")]
fn narrow(marks: [[[__m128i; 2]; 2]; 2]) -> __m128i {
    let [first, second] =
        marks.map(|[first, second]| _mm_packs_epi32(upper_halves(first), upper_halves(second)));
    _mm_packs_epi16(first, second)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn upper_halves(lanes: [__m128i; 2]) -> __m128i {
    let [first, second] = lanes.map(|lanes| _mm_castsi128_ps(lanes));
    _mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(first, second))
}
