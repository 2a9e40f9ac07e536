//! The layout-specific part of the engine. It provides the layout's ticks, and the bits of an ID that belong to neither the
//! time nor the sequence number.

use alloc::vec::Vec;

use crate::{
    Error, ErrorKind, Result,
    generator::{self, Family, ProcessGuard, Window, WorkerIds},
    layout::{
        FieldIndex, Id, Layout, Timeline, Values,
        ids::{values::PartialId, worker_id_range::WorkerIdRange},
    },
    sequence::per_tick::PerTick,
};

/// The bits that all IDs of a generator have in common, which are all bits except the timestamp and the sequence number.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a generator has it")]
pub struct Template {
    pub(in crate::layout) layout: Layout,
    /// The constant fields and the fixed bindable fields.
    pub(in crate::layout) partial: PartialId,
    /// The first bindable field that is not fixed, if any.
    pub(in crate::layout) missing: Option<FieldIndex>,
    /// The index of the sequence field.
    pub(in crate::layout) sequence: usize,
    /// The range of worker IDs, or `None` if the generator has no range.
    pub(in crate::layout) numbers: Option<WorkerIdRange>,
    /// The timeline, or `None` if the layout has no timestamp.
    pub(in crate::layout) ticks: Option<Timeline>,
    pub(in crate::layout) process: ProcessGuard,
}

impl Template {
    /// Returns a buffer for the field values of an ID. The fixed bindable fields are already set.
    pub(in crate::layout) fn values(&self) -> Values<'_> {
        Values::from_partial(&self.layout, self.partial.clone())
    }

    /// Returns an ID without the time and the sequence number, or `missing_field` if a bindable field is not fixed.
    #[inline]
    pub(in crate::layout) fn base_id(&self) -> Result<&Id> {
        match self.missing {
            None => Ok(&self.partial.id),
            Some(slot) => Err(self.layout.fields[slot.0].missing_field()),
        }
    }

    /// Returns an ID with the given values but without the time and the sequence number.
    #[inline]
    pub(in crate::layout) fn base_of<'v>(&self, values: &'v Values<'_>) -> Result<&'v Id> {
        // If this generator created the values, they refer to the generator's own layout, and comparing the pointers to the
        // layouts suffices. The fields of the layouts are compared only for values that this generator did not create.
        let is_ours = core::ptr::eq(values.layout(), &raw const self.layout);
        if !is_ours && *values.layout() != self.layout {
            return Err(Error::with_reason(
                ErrorKind::InvalidLayout,
                "expected values of the generator's layout, found those of another",
            ));
        }
        values.check_all_except_time_and_sequence()?;
        Ok(values.id())
    }

    /// Returns the smallest and the largest number that a bindable field can have in the generator's IDs.
    pub(super) fn value_range(&self, index: usize) -> (u64, u64) {
        match &self.numbers {
            Some(numbers) if numbers.index == index => (numbers.first, numbers.last),
            _ => {
                let number = self.partial.id.bits().field_value(&self.layout.fields[index]);
                (number, number)
            }
        }
    }
}

impl generator::Windowed for Template {}

impl Family for Template {
    type Machine = PerTick;
    type Ticks = Timeline;
    type Identity = ();

    /// This constant is `false`, because a custom layout has no bit that distinguishes IDs created before a clock rollback
    /// from IDs created after it.
    const WAITS_WHEN_BEHIND: bool = false;

    #[inline]
    fn ticks(&self) -> Option<&Timeline> {
        self.ticks.as_ref()
    }

    #[inline]
    fn current_identity(&self, window: &Window, tick: u64, _: i64) -> Option<(u64, ())> {
        window.contains(tick).then_some((self.process.generation(), ()))
    }

    fn acquire_identity(&self, _: &Self::Machine, _: &Window, _: u64, _: i64) -> Result<(u64, ())> {
        Ok((self.process.generation(), ()))
    }

    fn check_process(&self) -> Result<()> {
        self.process.check()
    }

    fn worker_ids(&self) -> Option<WorkerIds> {
        let base = self.base_id().ok()?;
        let bounds = self.layout.slot_range()?;
        // Layouts with other names for the same bits make the same IDs.
        let place = |index: usize| {
            let field = &self.layout.fields[index];
            (field.offset, field.width.bits, field.invert)
        };
        let (time, sequence) = (self.layout.time.map(place), place(self.sequence));
        let length = to_bytes(base).len();
        let scheme = alloc::format!("layout {length} {time:?} {:?} {sequence:?}", self.ticks);
        let ids = WorkerIds::one(scheme, &to_bytes(base), bounds, "bindables");
        let Some(numbers) = &self.numbers else { return Some(ids) };
        let field = &self.layout.fields[numbers.index];
        let with = |number| {
            let mut id = base.clone();
            id.write_field(field, number);
            id
        };
        let [blank, filled] = [0, field.width.most].map(|number| to_bytes(&with(number)));
        let mask: Vec<u8> = blank.iter().zip(&filled).map(|(one, other)| one ^ other).collect();
        let sequences = (0, u64::MAX);
        let ids = WorkerIds { first: to_bytes(&with(numbers.first)), sequences, ..ids };
        Some(ids.with_range(&to_bytes(&with(numbers.last)), &mask))
    }

    #[inline]
    fn limits(&self, (): ()) -> u64 {
        0
    }
}

/// Returns the bytes of an ID, the most significant one first.
fn to_bytes(id: &Id) -> Vec<u8> {
    match id {
        Id::Integer(id) => id.to_be_bytes().to_vec(),
        Id::Bytes(id) => id.clone(),
    }
}
