//! A state machine with one sequence for each tick, and with ticks that never decrease. This is the state machine of every
//! ID format except sno.
//!
//! ```text
//! word, of 64 or 128 bits: 1 closed | tick | next slot
//! ```
//!
//! The tick in the word never decreases, and within a tick `next` only increases, so each (tick, slot) pair is assigned
//! once. The exception is a state machine that starts over after long rollbacks. It assigns each pair once between two such
//! rollbacks.
//!
//! A caller may choose the first slot of a tick, for example at random. The swap that enters the tick also writes this
//! slot. If the first slot were stored in a separate word, a thread could combine it with a `next` that was counted from a
//! different first slot.

use super::{Flip, Machine, SlotRange, Step, Used, word::Word};
use crate::{Error, ErrorKind, narrow};

/// What a step does when the clock is behind the last tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BehindPolicy {
    /// The step fails with an error.
    Rejected,
    /// The step continues in the last tick.
    Held,
    /// The step continues in the last tick, and fails once all slots of that tick are used. However, if the clock is behind
    /// by more than this number of ticks, the step starts over in the clock's tick, and may reassign slots that were
    /// assigned before.
    HeldWithin(u64),
}

/// The first and the last slot of a tick, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The complete state at one point in time. `next` is one past the last slot that was assigned in `tick`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) tick: u64,
    pub(crate) next: u128,
    pub(crate) closed: bool,
}

#[derive(Debug)]
pub(crate) struct PerTick {
    word: Word,
    slots: Slots,
    behind: BehindPolicy,
    next_bits: u32,
}

impl PerTick {
    /// Creates an unused state machine for ticks up to `last_tick`. Returns `None` if a tick and a slot together need more
    /// than 127 bits.
    pub(crate) const fn new(slots: Slots, behind: BehindPolicy, last_tick: u64) -> Option<Self> {
        Self::restore(slots, behind, last_tick, 0, slots.first as u128)
    }

    /// Creates a state machine whose next slot is slot `next` of `tick`. If the tick is exhausted, `next` is one past the
    /// last slot.
    pub(crate) const fn restore(
        slots: Slots,
        behind: BehindPolicy,
        last_tick: u64,
        tick: u64,
        next: u128,
    ) -> Option<Self> {
        debug_assert!(tick <= last_tick && next <= slots.last as u128 + 1);
        let next_bits = 128 - (slots.last as u128 + 1).leading_zeros();
        let tick_bits = 64 - last_tick.leading_zeros();
        let bits = next_bits + tick_bits;
        if bits > Word::MAX_BITS {
            return None;
        }
        let word = Word::new(bits, (tick as u128) << next_bits | next);
        Some(Self { word, slots, behind, next_bits })
    }

    /// Returns the atomic word that contains the state.
    #[inline]
    const fn word(&self) -> &Word {
        &self.word
    }

    /// Plans a step that starts from `word`. Returns the slots to reserve and the new word to swap in, or the reason why no
    /// slots are available.
    #[inline]
    pub(super) fn plan(
        &self,
        word: u128,
        now: u64,
        want: u32,
        start: u64,
        flip: Flip,
    ) -> Result<(SlotRange, u128), Step> {
        if self.is_closed_at(word) {
            return Err(Step::Closed);
        }
        if let Flip::Below(floor) = flip {
            // An unused state machine does not go back in time. It behaves like a state machine that has used all slots of
            // the floor's last tick.
            return Err(match self.behind {
                BehindPolicy::Held => Step::Full,
                BehindPolicy::Rejected | BehindPolicy::HeldWithin(_) => Step::Behind(floor + 1),
            });
        }
        let last = self.tick(word);
        let tick = self.tick_for(word, now);
        if tick < last && self.behind == BehindPolicy::Rejected {
            return Err(Step::Behind(last));
        }
        let first = if tick == last { self.next(word) } else { self.slots.first.max(start).into() };
        // The number of slots is computed in 128 bits, because the slots of a tick may use all 64 bits, and `last + 1`
        // would then overflow.
        let left = (u128::from(self.slots.last) + 1).saturating_sub(first);
        if left == 0 {
            let is_held = now < tick && self.behind != BehindPolicy::Held;
            return Err(if is_held { Step::Behind(tick + 1) } else { Step::Full });
        }
        let len = narrow::u32(narrow::u64(left.min(want.into())));
        let slot = narrow::u64(first);
        let next = u128::from(tick) << self.next_bits | (first + u128::from(len));
        Ok((SlotRange { tick, tick_tock: false, first: slot, len }, next))
    }

    fn state_of(&self, word: u128) -> State {
        State { tick: self.tick(word), next: self.next(word), closed: self.is_closed_at(word) }
    }

    #[inline]
    fn next(&self, word: u128) -> u128 {
        word & ((1 << self.next_bits) - 1)
    }
}

impl Machine for PerTick {
    type Word = u128;
    /// The first slot to use in a tick that the step enters. A value below the state machine's first slot has no effect.
    type Limits = u64;
    type State = State;

    #[inline]
    fn observe(&self) -> u128 {
        self.word().load()
    }

    #[inline]
    fn tick(&self, seen: u128) -> u64 {
        narrow::u64((seen & !self.word().closed_mask()) >> self.next_bits)
    }

    #[inline]
    fn is_closed_at(&self, seen: u128) -> bool {
        seen & self.word().closed_mask() != 0
    }

    #[inline]
    fn tick_for(&self, seen: u128, now: u64) -> u64 {
        match self.behind {
            BehindPolicy::Rejected => now,
            BehindPolicy::Held => now.max(self.tick(seen)),
            BehindPolicy::HeldWithin(most) => {
                let last = self.tick(seen);
                if last.saturating_sub(now) > most { now } else { now.max(last) }
            }
        }
    }

    #[inline]
    fn step_within(&self, seen: u128, want: u32, start: u64) -> Option<SlotRange> {
        let (range, next) = self.plan(seen, self.tick(seen), want, start, Flip::Forbidden).ok()?;
        self.word().compare_exchange_weak(seen, next).ok().map(|()| range)
    }

    #[inline]
    fn step(&self, seen: u128, now: u64, want: u32, start: u64, flip: Flip) -> Step {
        let mut word = seen;
        loop {
            let (range, next) = match self.plan(word, now, want, start, flip) {
                Ok(plan) => plan,
                Err(step) => return step,
            };
            match self.word().compare_exchange_weak(word, next) {
                Ok(()) => return Step::Reserved(range),
                // Only `next` differs, so the clock reading still belongs to the word's tick, and the step can be retried.
                Err(newer) if newer >> self.next_bits == word >> self.next_bits => word = newer,
                Err(_) => return Step::Raced,
            }
        }
    }

    fn close(&self) -> crate::Result<State> {
        let word = self.word().close();
        if self.is_closed_at(word) {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(self.state_of(word))
    }

    fn state(&self) -> State {
        self.state_of(self.observe())
    }

    fn highest_tick(&self, state: &State) -> Option<u64> {
        // An unused state machine is in tick 0, too, so in that tick only `next` shows whether slots were reserved.
        let is_used = state.tick > 0 || state.next > self.slots.first.into();
        is_used.then_some(state.tick)
    }

    fn used(&self) -> Option<Used> {
        let tick = self.highest_tick(&self.state())?;
        Some(Used { tick, safe: tick, drifts: 0 })
    }

    fn take_over(&mut self, used: Used) {
        let (tick, end) = (used.highest(), u128::from(self.slots.last) + 1);
        let next = u128::from(tick) << self.next_bits | end;
        let found = self.observe();
        if tick >= self.tick(found) {
            // The swap may fail spuriously.
            while self.word().compare_exchange_weak(found, next).is_err() {}
        }
    }
}
