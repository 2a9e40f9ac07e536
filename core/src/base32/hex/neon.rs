//! NEON: one number in a register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::aarch64::*;

use safe_unaligned_simd::aarch64::{vld1q_u8, vld1q_u8_x2, vst1q_u8};

use super::{
    lane::{AT_THE_END, LEAST, MOST, MOST_AT_THE_END, PAIRS, PLACES, THIRTEENTH, ZEROS},
    length_of, scalar,
    slices::{Kernels, Slot},
};
use crate::base32::{
    alphabet::HEX,
    neon::{characters_of, forties, values, values_of},
};

pub(super) const KERNELS: Kernels = Kernels { encode, decode };

static CHARACTERS: [[u8; 16]; 2] = characters_of(HEX);

#[target_feature(enable = "neon")]
fn encode(numbers: &[u64], slots: &mut [Slot]) {
    for (number, slot) in numbers.iter().zip(slots) {
        let bytes = vreinterpretq_u8_u64(vdupq_n_u64(*number));
        let values = values(vqtbl1q_u8(bytes, vld1q_u8(&PAIRS)));
        let digits = vqtbl2q_u8(vld1q_u8_x2(&CHARACTERS), values);
        // From the first digit on. Past the last there is none.
        let order = vaddq_u8(vld1q_u8(&PLACES), vdupq_n_u8(16 - length_of(*number)));
        vst1q_u8(slot, vqtbl1q_u8(digits, order));
    }
}

#[target_feature(enable = "neon")]
fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    for (done, (slot, place)) in slots.iter().zip(numbers).enumerate() {
        let (number, bad) = number(vld1q_u8(slot));
        if vmaxvq_u8(bad) == 0 {
            *place = number;
        } else if scalar::decode_to(slot, place).is_none() {
            return done;
        }
    }
    slots.len()
}

/// The number of a slot, and something other than 0 unless it has 12 or 13 digits.
#[inline]
#[target_feature(enable = "neon")]
fn number(slot: uint8x16_t) -> (u64, uint8x16_t) {
    let one_less = vceqzq_u8(vqtbl1q_u8(slot, vld1q_u8(&THIRTEENTH)));
    let moved = vqtbl1q_u8(slot, vaddq_u8(vld1q_u8(&AT_THE_END), one_less));
    let digits = vmaxq_u8(moved, vld1q_u8(&ZEROS));
    let (values, bad) = values_of(HEX, digits);
    let too_large = vqsubq_u8(digits, vld1q_u8(&MOST_AT_THE_END));
    let outside = vqsubq_u8(vsubq_u8(slot, vld1q_u8(&LEAST)), vld1q_u8(&MOST));
    let forties = forties(values);
    let (high, low) = (vgetq_lane_u64::<0>(forties), vgetq_lane_u64::<1>(forties));
    (high << 40 | low & ((1 << 40) - 1), vorrq_u8(vorrq_u8(bad, too_large), outside))
}
