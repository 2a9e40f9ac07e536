//! One number after the other, each with what all machines of the target have.

use super::{
    number,
    slices::{Kernels, Slot, text_of},
    slot,
};

pub(super) const KERNELS: Kernels = Kernels { encode, decode };

fn encode(numbers: &[u64], slots: &mut [Slot]) {
    numbers.iter().zip(slots).for_each(|(&number, place)| (*place, _) = slot(number));
}

fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    let mut pairs = slots.iter().zip(numbers);
    let bad = pairs.position(|(slot, place)| decode_to(slot, place).is_none());
    bad.unwrap_or(slots.len())
}

/// Writes the number of a slot, if it is one.
#[inline]
pub(super) fn decode_to(slot: &Slot, place: &mut u64) -> Option<()> {
    number(text_of(slot)).map(|number| *place = number)
}
