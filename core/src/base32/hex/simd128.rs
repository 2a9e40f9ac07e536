//! wasm's SIMD: one number in a register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::wasm32::*;

use safe_unaligned_simd::wasm32::{v128_load, v128_store};

use super::{
    lane::{AT_THE_END, BYTES, LEAST, MOST, MOST_AT_THE_END, PAIRS, PLACES, THIRTEENTH, ZEROS},
    length_of, scalar,
    slices::{Kernels, Slot},
};
use crate::base32::{
    alphabet::HEX,
    simd128::{characters, forties, lift, values, values_of},
};

pub(super) const KERNELS: Kernels = Kernels { encode, decode };

fn encode(numbers: &[u64], slots: &mut [Slot]) {
    let lift = lift();
    for (number, slot) in numbers.iter().zip(slots) {
        let lanes = u8x16_swizzle(u64x2_splat(*number), v128_load(&PAIRS));
        let digits = characters(HEX, values(lanes, lift));
        // From the first digit on. Past the last there is none.
        let order = u8x16_add(v128_load(&PLACES), u8x16_splat(16 - length_of(*number)));
        v128_store(slot, u8x16_swizzle(digits, order));
    }
}

fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    for (done, (slot, place)) in slots.iter().zip(numbers).enumerate() {
        let (number, bad) = number(v128_load(slot));
        if !v128_any_true(bad) {
            *place = number;
        } else if scalar::decode_to(slot, place).is_none() {
            return done;
        }
    }
    slots.len()
}

/// The number of a slot, and something other than 0 unless it has 12 or 13 digits.
#[inline]
fn number(slot: v128) -> (u64, v128) {
    let one_less = u8x16_eq(u8x16_swizzle(slot, v128_load(&THIRTEENTH)), u8x16_splat(0));
    let moved = u8x16_swizzle(slot, u8x16_add(v128_load(&AT_THE_END), one_less));
    let digits = u8x16_max(moved, v128_load(&ZEROS));
    let (values, bad) = values_of(HEX, digits);
    let too_large = u8x16_sub_sat(digits, v128_load(&MOST_AT_THE_END));
    let outside = u8x16_sub_sat(u8x16_sub(slot, v128_load(&LEAST)), v128_load(&MOST));
    let number = u8x16_swizzle(forties(values), v128_load(&BYTES));
    (u64x2_extract_lane::<0>(number), v128_or(v128_or(bad, too_large), outside))
}
