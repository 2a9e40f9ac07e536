//! A range of worker IDs for one generator. When the slots of one worker ID are exhausted in a tick, the generator
//! continues with the next worker ID.
//!
//! ```text
//! slot of a tick, from 0:  | number, counted from the first of the range | sequence |
//! ```

use alloc::string::String;
use core::ops::RangeInclusive;

use crate::{
    Error, Result,
    layout::{Layout, fields::validation::invalid_layout_error},
    sequence::per_tick::Slots,
};

/// A range of worker IDs in a bindable field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layout) struct WorkerIdRange {
    /// The index of the bindable field.
    pub(in crate::layout) index: usize,
    pub(in crate::layout) first: u64,
    pub(in crate::layout) last: u64,
    /// The width of the sequence in bits.
    sequence_bits: u32,
}

impl WorkerIdRange {
    /// Creates a range of worker IDs in a bindable field of a layout.
    ///
    /// # Errors
    /// - Returns `unknown_field` if the layout does not have the field; `invalid_type` unless the field accepts integers of
    ///   at most 64 bits; or `out_of_range` if the numbers do not fit in the field or the range is empty.
    /// - Returns `invalid_layout` unless the slots of a tick begin at 0 and the IDs of a tick sort in the order of their
    ///   slots.
    pub(in crate::layout) fn new(
        layout: &Layout,
        name: &str,
        numbers: RangeInclusive<u64>,
    ) -> Result<Self> {
        let slot = layout.bindable(name)?;
        let (index, field) = (slot.0, layout.column_field(slot)?);
        let (first, last) = numbers.into_inner();
        let most = field.width.most.into();
        for (number, least) in [(first, 0), (last, first.into())] {
            if !(least..=most).contains(&number.into()) {
                return Err(Error::out_of_range(String::from(name), number.into(), least, most));
            }
        }
        let is_below_time = layout.time.is_some_and(|time| time < index);
        let below = layout.sequence.filter(|sequence| is_below_time && index < *sequence);
        let Some(sequence) = below else {
            return Err(invalid_layout_error(
                "expected a range for a bindable between timestamp and sequence, found it elsewhere",
            ));
        };
        let sequence = &layout.fields[sequence];
        // A shift splits a slot into the worker ID and the sequence number. This requires a sequence that starts at 0 and
        // uses every value of its field. IDs sort in the order of their slots only if neither the bindable field nor the
        // sequence is inverted.
        let is_counted = matches!(layout.slot_range(), Some((0, _)));
        if !is_counted || field.invert || sequence.invert {
            return Err(invalid_layout_error(
                "expected a range beside a sequence from 0, neither inverted, found another sequence or bindable",
            ));
        }
        Ok(Self { index, first, last, sequence_bits: sequence.width.bits })
    }

    /// Returns the slots of a tick.
    ///
    /// # Errors
    /// Returns `invalid_layout` if there are 2^64 slots or more.
    pub(in crate::layout) fn tick_slots(&self) -> Result<Slots> {
        let count = u128::from(self.last - self.first) + 1;
        let slots = count.checked_mul(1 << self.sequence_bits);
        match slots.and_then(|slots| u64::try_from(slots).ok()) {
            Some(slots) => Ok(Slots { first: 0, last: slots - 1 }),
            None => Err(invalid_layout_error(
                "expected a range of less than 2^64 IDs in a tick, found more",
            )),
        }
    }

    /// Returns the worker ID and the sequence number of a slot.
    #[inline]
    pub(in crate::layout) fn split_slot(&self, slot: u64) -> (u64, u64) {
        (self.first + (slot >> self.sequence_bits), slot & ((1 << self.sequence_bits) - 1))
    }

    /// Returns the number of slots, starting at `slot`, that have the same worker ID.
    pub(in crate::layout) fn slots_left(&self, slot: u64) -> u64 {
        let of_number = 1 << self.sequence_bits;
        of_number - slot % of_number
    }

    /// Returns the `next_sequence` of a snapshot, given that all slots of the tick that are lower than `next` are used. A
    /// partly used tick is treated as exhausted, because the restored generator may have a different range of worker IDs.
    pub(in crate::layout) fn next_sequence(&self, next: u128) -> u128 {
        if next == 0 { 0 } else { 1 << self.sequence_bits }
    }
}
