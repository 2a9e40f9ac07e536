//! Columns and filters.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::wasm32::*;
use core::ops::Range;

use safe_unaligned_simd::wasm32::{v128_load, v128_store};

use crate::arch::{
    Id,
    lanes::columns::{self, Registers},
};

#[target_feature(enable = "simd128")]
pub(super) fn unix_ms(ids: &[Id], column: &mut [i64]) {
    columns::unix_ms(Simd128, ids, column);
}

#[target_feature(enable = "simd128")]
pub(super) fn metabyte(ids: &[Id], column: &mut [u8]) {
    columns::metabyte(Simd128, ids, column);
}

#[target_feature(enable = "simd128")]
pub(super) fn partition(ids: &[Id], column: &mut [u16]) {
    columns::partition(Simd128, ids, column);
}

#[target_feature(enable = "simd128")]
pub(super) fn sequence(ids: &[Id], column: &mut [u16]) {
    columns::sequence(Simd128, ids, column);
}

#[target_feature(enable = "simd128")]
pub(super) fn having_metabyte(ids: &[Id], metabyte: u8, bitmap: &mut [u8]) -> usize {
    columns::having_metabyte(Simd128, ids, metabyte, bitmap)
}

#[target_feature(enable = "simd128")]
pub(super) fn in_ticks(ids: &[Id], ticks: Range<u64>, bitmap: &mut [u8]) -> usize {
    columns::in_ticks(Simd128, ids, ticks, bitmap)
}

/// No proof is needed: an engine without these instructions refuses the module.
#[derive(Clone, Copy)]
struct Simd128;

impl Registers for Simd128 {
    type Register = v128;

    #[inline(always)]
    fn load(self, bytes: &[u8; 16]) -> v128 {
        v128_load(bytes)
    }

    #[inline(always)]
    fn store(self, register: v128, place: &mut [u8; 16]) {
        v128_store(place, register);
    }

    #[inline(always)]
    fn store_u16(self, register: v128, place: &mut [u16; 8]) {
        v128_store(place, register);
    }

    #[inline(always)]
    fn store_i64(self, register: v128, place: &mut [i64; 2]) {
        v128_store(place, register);
    }

    #[inline(always)]
    fn pick(self, bytes: v128, positions: v128) -> v128 {
        u8x16_swizzle(bytes, positions)
    }

    #[inline(always)]
    fn and(self, one: v128, other: v128) -> v128 {
        v128_and(one, other)
    }

    #[inline(always)]
    fn or(self, one: v128, other: v128) -> v128 {
        v128_or(one, other)
    }

    #[inline(always)]
    fn add(self, one: v128, other: v128) -> v128 {
        i64x2_add(one, other)
    }

    #[inline(always)]
    fn equal(self, one: v128, other: v128) -> v128 {
        u8x16_eq(one, other)
    }

    #[inline(always)]
    fn within(self, values: v128, start: v128, end: v128) -> v128 {
        // Below 2^63, a signed comparison is right.
        v128_and(i64x2_ge(values, start), i64x2_lt(values, end))
    }

    #[inline(always)]
    fn narrow(self, marks: [v128; 8]) -> v128 {
        let [a, b, c, d, e, f, g, h] = marks;
        let four = |one, other| i32x4_shuffle::<0, 2, 4, 6>(one, other);
        let first = i16x8_narrow_i32x4(four(a, b), four(c, d));
        let second = i16x8_narrow_i32x4(four(e, f), four(g, h));
        i8x16_narrow_i16x8(first, second)
    }

    #[inline(always)]
    fn bits(self, marks: v128) -> [u8; 2] {
        u8x16_bitmask(marks).to_le_bytes()
    }
}
