//! What Hot Guid adds to the engine: random bytes, drawn once for each process.

use super::{LAST_COUNTER, SCALE, id::Machine};
use crate::{
    Result, fork,
    format::Scale,
    generator::{Family, ProcessGuard, Window},
    sequence::per_tick::PerTick,
    sync::{AtomicU32, AtomicU64, Ordering},
};

/// What tells a generator from all others, and where its counter starts: 8 random bytes in one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(super) machine: Machine,
    pub(super) start: u32,
}

impl Identity {
    #[allow(clippy::cast_possible_truncation, reason = "the lowest 24 bits")]
    const fn of_word(word: u64) -> Self {
        Self { machine: Machine::of_word(word >> 24), start: word as u32 & LAST_COUNTER }
    }
}

/// Stands for "not drawn yet": no process is this many forks deep.
const NEVER: u32 = u32::MAX;

/// An identity for each process.
#[derive(Debug)]
pub(crate) struct Identities {
    /// An [`Identity`], drawn in the process of `epoch`.
    identity: AtomicU64,
    epoch: AtomicU32,
    draw: fn() -> Result<[u8; 8]>,
    /// The process that a window was given to.
    process: Option<ProcessGuard>,
}

impl Identities {
    pub(super) const fn new(draw: fn() -> Result<[u8; 8]>, process: Option<ProcessGuard>) -> Self {
        Self { identity: AtomicU64::new(0), epoch: AtomicU32::new(NEVER), draw, process }
    }

    /// What tells the generator from all others, once it is drawn.
    pub(super) fn machine(&self) -> Option<Machine> {
        let (epoch, identity) = self.drawn();
        (epoch != NEVER).then_some(identity.machine)
    }

    /// What was drawn last, and the epoch that it was drawn in: of this process, or of one before a fork.
    #[inline]
    fn drawn(&self) -> (u32, Identity) {
        // In this order: whoever sees the epoch sees what was drawn in it.
        let epoch = self.epoch.load(Ordering::Acquire);
        (epoch, Identity::of_word(self.identity.load(Ordering::Acquire)))
    }

    /// Draws, at the first ID or after a fork. Of threads that draw at once more than one may be heard, one after the other:
    /// what either drew is of this process alone, and they share the slots.
    #[cold]
    fn draw(&self) -> Result<(u32, Identity)> {
        let found = self.identity.load(Ordering::Acquire);
        fork::prepare()?;
        let epoch = fork::current();
        let mine = u64::from_be_bytes((self.draw)()?);
        let settled = self.settle(found, epoch, mine).unwrap_or_else(|theirs| theirs);
        Ok((epoch, Identity::of_word(settled)))
    }

    /// Puts what was drawn in an epoch in the place of what was found, unless another thread was faster.
    fn settle(&self, found: u64, epoch: u32, mine: u64) -> core::result::Result<u64, u64> {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let settled = self.identity.compare_exchange(found, mine, ORDERS.0, ORDERS.1);
        self.epoch.store(epoch, Ordering::Release);
        settled.map(|_| mine)
    }

    /// Takes random bytes that were drawn elsewhere, unless there are some of this process; returns whether it took them.
    pub(super) fn provide(&self, drawn: [u8; 8]) -> Result<bool> {
        let found = self.identity.load(Ordering::Acquire);
        fork::prepare()?;
        let epoch = fork::current();
        if self.drawn().0 == epoch {
            return Ok(false);
        }
        Ok(self.settle(found, epoch, u64::from_be_bytes(drawn)).is_ok())
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
        let (epoch, identity) = self.drawn();
        (epoch != NEVER && window.holds(tick)).then_some((epoch, identity))
    }

    fn identify(&self, _: &Window, _: u64) -> Result<(u32, Identity)> {
        let (epoch, identity) = self.drawn();
        if epoch == fork::epoch() { Ok((epoch, identity)) } else { self.draw() }
    }

    fn check_process(&self) -> Result<()> {
        self.process.map_or(Ok(()), ProcessGuard::check)
    }

    #[inline]
    fn limits(&self, _: Identity) {}
}
