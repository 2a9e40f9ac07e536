//! The engine's parts for a layout: its timestamp, and all bits of an ID but time and sequence.

use alloc::vec::Vec;

use super::{Draft, Layout, Slot, Values, ticks::LayoutTicks};
use crate::{
    Error, ErrorKind, Result,
    generator::{Family, ProcessGuard, Window},
    sequence::per_tick::PerTick,
};

/// IDs of one layout, without time and sequence.
#[derive(Debug)]
pub(crate) struct Template {
    pub(super) layout: Layout,
    /// An ID with the constants and the fixed bindables in it.
    pub(super) base: Draft,
    /// The bindables that are not fixed.
    pub(super) missing: Vec<Slot>,
    /// None for a generator of the sequence only.
    pub(super) ticks: Option<LayoutTicks>,
    pub(super) process: ProcessGuard,
}

impl Template {
    /// Room for the bindables of an ID, with the fixed ones in it.
    pub(super) fn values(&self) -> Values<'_> {
        Values::resume(&self.layout, &self.base, &self.missing)
    }

    /// An ID without time and sequence, if no bindable is missing.
    #[inline]
    pub(super) fn complete(&self) -> Result<&Draft> {
        match self.missing.first() {
            None => Ok(&self.base),
            Some(slot) => Err(self.missing_field(*slot)),
        }
    }

    #[cold]
    fn missing_field(&self, slot: Slot) -> Error {
        let name = self.layout.name(slot);
        Error::field_error(ErrorKind::MissingField, alloc::string::String::from(name))
    }

    /// An ID without time and sequence, of these values.
    #[inline]
    pub(super) fn base_of<'v>(&self, values: &'v Values<'_>) -> Result<&'v Draft> {
        let is_ours = core::ptr::eq(values.layout(), &raw const self.layout);
        if !is_ours && *values.layout() != self.layout {
            return Err(Error::because(
                ErrorKind::InvalidLayout,
                "expected values of the generator's layout, found those of another",
            ));
        }
        values.check_all_but_cell()?;
        Ok(values.draft())
    }
}

impl Family for Template {
    type Machine = PerTick;
    type Ticks = LayoutTicks;
    type Identity = ();

    /// `false`: no bit of a layout tells IDs made before a step back from IDs made after it.
    const WAITS_BEHIND: bool = false;

    #[inline]
    fn ticks(&self) -> Option<&LayoutTicks> {
        self.ticks.as_ref()
    }

    #[inline]
    fn found(&self, window: &Window, tick: u64) -> Option<(u32, ())> {
        window.holds(tick).then_some((self.process.epoch(), ()))
    }

    fn identify(&self, _: &Self::Machine, _: &Window, _: u64) -> Result<(u32, ())> {
        Ok((self.process.epoch(), ()))
    }

    fn check_process(&self) -> Result<()> {
        self.process.check()
    }

    #[inline]
    fn limits(&self, (): ()) {}
}
