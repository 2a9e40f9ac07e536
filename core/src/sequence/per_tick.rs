//! One sequence a tick, for clocks that must not go back: Randflake, Hot Guid and custom layouts.
//!
//! ```text
//! word, of 64 or 128 bits: 1 closed | tick | next slot
//! ```
//!
//! The tick in the word never falls, and within a tick `next` only rises, so each (tick, slot) is given out once.

use super::{Step, word::Word};
use crate::{Error, ErrorKind};

/// What a clock behind the last tick means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// An error.
    Refused,
    /// Going on in the last tick.
    Held,
}

/// The slots of a tick, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// Slots `first .. first + len` of one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) tick: u64,
    pub(crate) first: u64,
    pub(crate) len: u32,
}

/// All that the machine knows, at one moment; `next` is one past the last slot given out in `tick`.
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
    behind: Behind,
    next_bits: u32,
}

impl PerTick {
    /// Nothing given out yet, for ticks up to `last_tick`; none where ticks and slots have more than 127 bits.
    pub(crate) const fn new(slots: Slots, behind: Behind, last_tick: u64) -> Option<Self> {
        Self::at(slots, behind, last_tick, 0, slots.first as u128)
    }

    /// With `next` as the next slot of `tick`, one past the last when the tick is used up.
    pub(crate) const fn at(
        slots: Slots,
        behind: Behind,
        last_tick: u64,
        tick: u64,
        next: u128,
    ) -> Option<Self> {
        debug_assert!(tick <= last_tick && next <= slots.last as u128 + 1);
        let next_bits = 128 - (slots.last as u128 + 1).leading_zeros();
        let tick_bits = 64 - last_tick.leading_zeros();
        let bits = next_bits + tick_bits;
        if bits > Word::MOST {
            return None;
        }
        let word = Word::new(bits, (tick as u128) << next_bits | next);
        Some(Self { word, slots, behind, next_bits })
    }

    #[inline]
    pub(crate) fn observe(&self) -> u128 {
        self.word.load()
    }

    /// The tick that a step from here at `now` would encode.
    #[inline]
    pub(crate) fn tick_for(&self, seen: u128, now: u64) -> u64 {
        match self.behind {
            Behind::Refused => now,
            Behind::Held => now.max(self.tick(seen)),
        }
    }

    /// Takes up to `want` slots in the tick that was observed, if there are any and nobody else moved the state: what
    /// [`PerTick::step`] does for a clock that showed that tick. Else nothing is changed.
    #[inline]
    pub(crate) fn step_within(&self, seen: u128, want: u32) -> Option<Run> {
        let (run, next) = self.plan(seen, self.tick(seen), want).ok()?;
        self.word.swap(seen, next).ok().map(|()| run)
    }

    /// Takes up to `want` slots for a clock that showed `now` after `seen` was observed.
    #[inline]
    pub(crate) fn step(&self, seen: u128, now: u64, want: u32) -> Step<Run> {
        let mut word = seen;
        loop {
            let (run, next) = match self.plan(word, now, want) {
                Ok(plan) => plan,
                Err(step) => return step,
            };
            match self.word.swap(word, next) {
                Ok(()) => return Step::Taken(run),
                // Only `next` moved: the reading still fits the tick.
                Err(newer) if newer >> self.next_bits == word >> self.next_bits => word = newer,
                Err(_) => return Step::Raced,
            }
        }
    }

    /// Decides a step from a word: the slots, to be taken by swapping in the new word, or why there are none.
    #[inline]
    fn plan(&self, word: u128, now: u64, want: u32) -> Result<(Run, u128), Step<Run>> {
        if self.is_closed_at(word) {
            return Err(Step::Closed);
        }
        let last = self.tick(word);
        let tick = self.tick_for(word, now);
        if tick < last {
            return Err(Step::Behind(last));
        }
        let first = if tick == last { self.next(word) } else { self.slots.first.into() };
        let left = (u128::from(self.slots.last) + 1).saturating_sub(first);
        if left == 0 {
            return Err(Step::Full);
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "at most `want`; `first` is at most `slots.last` here"
        )]
        let (len, slot) = (left.min(want.into()) as u32, first as u64);
        let next = u128::from(tick) << self.next_bits | (first + u128::from(len));
        Ok((Run { tick, first: slot, len }, next))
    }

    /// Ends the machine: the state returned is the last, and no step succeeds after it.
    pub(crate) fn close(&self) -> crate::Result<State> {
        let word = self.word.close();
        if self.is_closed_at(word) {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(self.state_of(word))
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed_at(self.observe())
    }

    #[inline]
    pub(crate) fn is_closed_at(&self, word: u128) -> bool {
        word & self.word.closed() != 0
    }

    pub(crate) fn state(&self) -> State {
        self.state_of(self.observe())
    }

    fn state_of(&self, word: u128) -> State {
        State { tick: self.tick(word), next: self.next(word), closed: self.is_closed_at(word) }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "`at` packed a 64-bit tick")]
    pub(crate) fn tick(&self, word: u128) -> u64 {
        ((word & !self.word.closed()) >> self.next_bits) as u64
    }

    #[inline]
    fn next(&self, word: u128) -> u128 {
        word & ((1 << self.next_bits) - 1)
    }
}
