//! One number after the other, with the instructions that all machines of the target have.

use super::{
    number,
    slices::{Kernels, Slot, text_of, within},
    slot,
};

pub(super) const KERNELS: Kernels = Kernels { encode, decode, decode_column };

fn encode(numbers: &[u64], slots: &mut [Slot]) {
    numbers.iter().zip(slots).for_each(|(&number, place)| *place = slot(number));
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

fn decode_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize {
    let mut spans = offsets.windows(2).zip(&mut *numbers);
    let bad =
        spans.position(|(span, place)| decode_within(text, [span[0], span[1]], place).is_none());
    bad.unwrap_or(numbers.len())
}

/// Writes the number of the text between two offsets, if there is one.
#[inline]
pub(super) fn decode_within(text: &[u8], [start, end]: [i32; 2], place: &mut u64) -> Option<()> {
    let text = within(text, start, end).ok()?;
    number(text).map(|number| *place = number)
}
