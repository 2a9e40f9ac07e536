//! One sequence a tick, for clocks that must not go back: Randflake, Hot Guid and custom layouts.
//!
//! ```text
//! word: 1 closed | tick, counted from a base | next slot
//! ```
//!
//! The tick in the word never falls, and within a tick `next` only rises, so each (tick, slot) is given out once.

use super::Step;
use crate::{
    Error, ErrorKind, Result,
    sync::{AtomicU64, AtomicU128, Ordering},
};

/// An atomic word of 64 or 128 bits, whose top bit means closed.
pub(crate) trait Word {
    /// How many bits it has for tick and next slot together.
    const BITS: u32;
    const CLOSED: u128 = 1 << Self::BITS;
    fn new(value: u128) -> Self;
    fn read(&self) -> u128;
    /// The value found, if it was not `from`.
    fn swap(&self, from: u128, to: u128) -> core::result::Result<(), u128>;
    /// Sets the closed bit and gives what was there before.
    fn close(&self) -> u128;
}

impl Word for AtomicU64 {
    const BITS: u32 = 63;
    fn new(value: u128) -> Self {
        Self::new(narrow(value))
    }
    #[inline]
    fn read(&self) -> u128 {
        self.load(Ordering::Acquire).into()
    }
    #[inline]
    fn swap(&self, from: u128, to: u128) -> core::result::Result<(), u128> {
        self.compare_exchange_weak(narrow(from), narrow(to), Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
            .map_err(u128::from)
    }
    fn close(&self) -> u128 {
        self.fetch_or(narrow(Self::CLOSED), Ordering::AcqRel).into()
    }
}

/// The low half: the machine below packs no more than [`Word::BITS`] bits and the closed one.
#[allow(
    clippy::cast_possible_truncation,
    reason = "checked in debug builds; PerTick::new checks the widths always"
)]
fn narrow(value: u128) -> u64 {
    debug_assert!(value <= u64::MAX.into());
    value as u64
}

impl Word for AtomicU128 {
    const BITS: u32 = 127;
    fn new(value: u128) -> Self {
        Self::new(value)
    }
    #[inline]
    fn read(&self) -> u128 {
        self.load(Ordering::Acquire)
    }
    #[inline]
    fn swap(&self, from: u128, to: u128) -> core::result::Result<(), u128> {
        self.compare_exchange_weak(from, to, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
    fn close(&self) -> u128 {
        self.fetch_or(Self::CLOSED, Ordering::AcqRel)
    }
}

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
pub(crate) struct PerTick<W> {
    word: W,
    slots: Slots,
    behind: Behind,
    next_bits: u32,
}

impl<W: Word> PerTick<W> {
    /// Nothing given out yet, for ticks up to `last_tick`; none where the word is too narrow for them.
    pub(crate) fn new(slots: Slots, behind: Behind, last_tick: u64) -> Option<Self> {
        Self::at(slots, behind, last_tick, 0, slots.first.into())
    }

    /// With `next` as the next slot of `tick`, one past the last when the tick is used up.
    pub(crate) fn at(
        slots: Slots,
        behind: Behind,
        last_tick: u64,
        tick: u64,
        next: u128,
    ) -> Option<Self> {
        let next_bits = 128 - (u128::from(slots.last) + 1).leading_zeros();
        let tick_bits = 64 - last_tick.leading_zeros();
        debug_assert!(tick <= last_tick && next <= u128::from(slots.last) + 1);
        (next_bits + tick_bits <= W::BITS).then(|| Self {
            word: W::new(u128::from(tick) << next_bits | next),
            slots,
            behind,
            next_bits,
        })
    }

    #[inline]
    pub(crate) fn observe(&self) -> u128 {
        self.word.read()
    }

    /// The tick that a step from here at `now` would encode.
    #[inline]
    pub(crate) fn tick_for(&self, seen: u128, now: u64) -> u64 {
        match self.behind {
            Behind::Refused => now,
            Behind::Held => now.max(self.tick(seen)),
        }
    }

    /// Takes up to `want` slots for a clock that showed `now` after `seen` was observed.
    #[inline]
    pub(crate) fn step(&self, seen: u128, now: u64, want: u32) -> Step<Run> {
        let mut word = seen;
        loop {
            if word & W::CLOSED != 0 {
                return Step::Closed;
            }
            let last = self.tick(word);
            let tick = self.tick_for(word, now);
            if tick < last {
                return Step::Behind(last);
            }
            let first = if tick == last { self.next(word) } else { self.slots.first.into() };
            let left = (u128::from(self.slots.last) + 1).saturating_sub(first);
            if left == 0 {
                return Step::Full;
            }
            #[allow(
                clippy::cast_possible_truncation,
                reason = "at most `want`; `first` is at most `slots.last` here"
            )]
            let (len, slot) = (left.min(want.into()) as u32, first as u64);
            match self
                .word
                .swap(word, u128::from(tick) << self.next_bits | (first + u128::from(len)))
            {
                Ok(()) => return Step::Taken(Run { tick, first: slot, len }),
                // Only `next` moved: the reading still fits the tick.
                Err(newer) if newer >> self.next_bits == word >> self.next_bits => word = newer,
                Err(_) => return Step::Raced,
            }
        }
    }

    /// Ends the machine: the state returned is the last, and no step succeeds after it.
    pub(crate) fn close(&self) -> Result<State> {
        let word = self.word.close();
        if word & W::CLOSED != 0 {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(self.state_of(word))
    }

    pub(crate) fn state(&self) -> State {
        self.state_of(self.observe())
    }

    fn state_of(&self, word: u128) -> State {
        State { tick: self.tick(word), next: self.next(word), closed: word & W::CLOSED != 0 }
    }

    #[allow(clippy::cast_possible_truncation, reason = "`at` packed a 64-bit tick")]
    fn tick(&self, word: u128) -> u64 {
        ((word & !W::CLOSED) >> self.next_bits) as u64
    }

    fn next(&self, word: u128) -> u128 {
        word & ((1 << self.next_bits) - 1)
    }
}
