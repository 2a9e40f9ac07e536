//! The Hot Guid part of the engine: a machine field and a counter start, both picked at random in each process.

use super::{LAST_COUNTER, SCALE, id::MachineBytes, uuid8};
use crate::{
    Result,
    format::Scale,
    generator::{self, DrawnWord, Family, NEVER_DRAWN, ProcessGuard, Window},
    narrow,
    sequence::per_tick::PerTick,
};

/// The machine bytes, which identify a generator, and the start of its counter, as 8 random bytes in one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(super) machine: MachineBytes,
    pub(super) start: u32,
}

impl Identity {
    pub(super) const fn of_word(word: u64) -> Self {
        Self {
            machine: MachineBytes::of_word(word >> 24),
            start: narrow::u32(word & LAST_COUNTER as u64),
        }
    }
}

/// A generator's random identities, one for each process.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a generator has them")]
pub struct Identities {
    pub(super) drawn: DrawnWord,
    /// `true` if the IDs are version 8 UUIDs.
    pub(super) uuid8: bool,
    /// The process to which a window was assigned.
    pub(super) process: Option<ProcessGuard>,
}

impl generator::Windowed for Identities {}

impl Identities {
    /// Identities of random bytes, adjusted to the form of the IDs.
    pub(super) const fn new(
        draw: fn() -> Result<[u8; 8]>,
        uuid8: bool,
        process: Option<ProcessGuard>,
    ) -> Self {
        let shape = if uuid8 { uuid8::marked } else { uuid8::unmarked };
        Self { drawn: DrawnWord::new(draw, shape), uuid8, process }
    }
}

impl Family for Identities {
    type Machine = PerTick;
    type Ticks = Scale;
    type Identity = Identity;

    #[inline]
    fn ticks(&self) -> Option<&Scale> {
        Some(&SCALE)
    }

    #[inline]
    fn found(&self, window: &Window, tick: u64) -> Option<(u32, Identity)> {
        let (generation, word) = self.drawn.last();
        (generation != NEVER_DRAWN && window.holds(tick))
            .then_some((generation, Identity::of_word(word)))
    }

    fn identify(&self, _: &Self::Machine, _: &Window, _: u64) -> Result<(u32, Identity)> {
        self.drawn.here().map(|(generation, word)| (generation, Identity::of_word(word)))
    }

    fn check_process(&self) -> Result<()> {
        self.process.map_or(Ok(()), ProcessGuard::check)
    }

    #[inline]
    fn limits(&self, _: Identity) {}
}
