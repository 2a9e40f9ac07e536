//! The Hot Guid part of the engine: a machine field that is picked at random in each process, and the counter's start
//! values.
//!
//! In each second, the counter starts at a random value in the lower half of its range, and never wraps around. If a
//! running virtual machine is copied, generators in both copies have the same machine field and the same state, so they
//! would generate the same IDs. In the next second, however, the counters of the copies start at different random values,
//! because the system's random source does not return the same bytes in both copies. In the state machine, the start value
//! is the first slot of a second. It is therefore part of the state word that guarantees uniqueness.
//!
//! If the caller provides the bytes, they include a single start value. This value applies to every second, and the counter
//! wraps around.

use super::{LAST_COUNTER, SCALE, id::MachineBytes, uuid8};
use crate::{
    Result, fork,
    format::Scale,
    generator::{self, Family, NOT_PICKED, ProcessGuard, RandomWord, Window},
    narrow,
    sequence::{
        SlotRange,
        per_tick::{PerTick, State},
    },
    sync::{AtomicU64, Ordering},
};

/// The number of bits below the machine bytes in a random word.
const COUNTER_BITS: u32 = LAST_COUNTER.count_ones();
/// The highest random start value of the counter in a second. This limit leaves at least half of the counter's values
/// available.
const MAX_START: u64 = LAST_COUNTER as u64 >> 1;

/// The machine bytes, which identify a generator, and the value of the counter at slot 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(super) machine: MachineBytes,
    pub(super) start: u32,
}

/// A generator's random identities. Each process has its own identity.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a generator has them")]
pub struct HotGuidFamily {
    pub(super) drawn: RandomWord,
    /// The source of random bytes.
    draw: fn() -> Result<[u8; 8]>,
    /// The mask that selects the counter's start from the random word, if the start is the same in every second. The mask
    /// is 0 if each second has its own random start.
    fixed: u32,
    /// The last second that was entered, and the counter's start in that second. This value is used only for statistics.
    /// The authoritative start is in the state machine's word.
    entered: AtomicU64,
    /// `true` if the IDs are version 8 UUIDs.
    pub(super) uuid8: bool,
    /// The process to which a window was assigned.
    pub(super) process: Option<ProcessGuard>,
}

impl generator::Windowed for HotGuidFamily {}

impl HotGuidFamily {
    /// Creates identities whose random bytes come from `draw`. The version and variant bits of the bytes are adjusted to
    /// the form of the IDs.
    pub(super) const fn new(
        draw: fn() -> Result<[u8; 8]>,
        is_random: bool,
        uuid8: bool,
        process: Option<ProcessGuard>,
    ) -> Self {
        let shape = if uuid8 { uuid8::with_version } else { uuid8::without_version };
        let fixed = if is_random { 0 } else { LAST_COUNTER };
        let drawn = RandomWord::new(draw, shape);
        Self { drawn, draw, fixed, entered: AtomicU64::new(0), uuid8, process }
    }

    /// Returns the process generation to which newly assigned random bytes belong. If the generator has a window, this is
    /// the generation of the window. If the process has been forked or restored since the window was created, the new bytes
    /// are never used, even by a call that checked the window earlier.
    fn generation(&self) -> u64 {
        self.process.map_or_else(fork::ensure_generation, ProcessGuard::generation)
    }

    /// Assigns bytes from an external source, unless the generator already has bytes. Returns whether the new bytes are
    /// used.
    #[cfg(feature = "internals")]
    pub(super) fn provide(&self, drawn: [u8; 8]) -> Result<bool> {
        self.drawn.provide(drawn, || self.generation())
    }

    /// Returns the identity stored in a word, whose lowest 24 bits are the start of the counter.
    #[inline]
    pub(super) const fn unpack_identity(&self, word: u64) -> Identity {
        Identity {
            machine: MachineBytes::from_word(word >> COUNTER_BITS),
            start: narrow::u32(word & self.fixed as u64),
        }
    }

    /// Returns the number of IDs generated in the state's second. When another thread enters that second, the result is 0
    /// until that thread has recorded the counter's start.
    pub(super) fn used_count(&self, state: &State) -> u32 {
        let entered = self.entered.load(Ordering::Acquire);
        let is_known = entered >> COUNTER_BITS == state.tick;
        let start = if is_known { entered & u64::from(LAST_COUNTER) } else { u64::MAX };
        u32::try_from(state.next.saturating_sub(start.into())).unwrap_or(u32::MAX)
    }
}

impl Family for HotGuidFamily {
    type Machine = PerTick;
    type Ticks = Scale;
    type Identity = Identity;

    #[inline]
    fn ticks(&self) -> Option<&Scale> {
        Some(&SCALE)
    }

    #[inline]
    fn current_identity(&self, window: &Window, tick: u64, _: i64) -> Option<(u64, Identity)> {
        let (generation, word) = self.drawn.last_picked();
        (generation != NOT_PICKED && window.contains(tick))
            .then_some((generation, self.unpack_identity(word)))
    }

    fn acquire_identity(
        &self,
        _: &Self::Machine,
        _: &Window,
        _: u64,
        _: i64,
    ) -> Result<(u64, Identity)> {
        self.drawn
            .get_or_pick(|| self.generation())
            .map(|(generation, word)| (generation, self.unpack_identity(word)))
    }

    fn check_process(&self) -> Result<()> {
        self.process.map_or(Ok(()), ProcessGuard::check)
    }

    #[inline]
    fn limits(&self, _: Identity) -> u64 {
        0
    }

    /// Picks the counter's start for a second. If the random source fails, the start that was picked with the machine bytes
    /// is used, because IDs are unique even without a new start.
    fn limits_on_entry(&self, _: Identity) -> u64 {
        if self.fixed != 0 {
            return 0;
        }
        let word = (self.draw)().map_or_else(|_| self.drawn.last_picked().1, u64::from_be_bytes);
        word & MAX_START
    }

    fn on_tick_entered(&self, _: u64, range: SlotRange) {
        // The stored second never decreases, so a delayed thread cannot overwrite a newer second.
        self.entered.fetch_max(range.tick << COUNTER_BITS | range.first, Ordering::AcqRel);
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use super::*;
    use crate::hotguid::generator::counters;

    /// Asserts that newly assigned random bytes do not belong to the current generation if the process is forked or
    /// restored between the check of the window and the assignment.
    #[test]
    fn bytes_assigned_after_the_window_ended_belong_to_no_current_generation() {
        let guard = Some(ProcessGuard::never_current());
        let (window, machine) = (Window::through(SCALE.last), counters());
        let assigned = HotGuidFamily::new(|| Ok([7; 8]), true, false, guard);
        let (generation, _) = assigned.acquire_identity(&machine, &window, 1, 0).unwrap();
        assert_ne!(generation, fork::ensure_generation());
        assert!(
            assigned.current_identity(&window, 1, 0).is_none_or(|(found, _)| found == generation)
        );
    }
}
