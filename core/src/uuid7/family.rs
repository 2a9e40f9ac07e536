//! The part of the engine that is specific to version 7 UUIDs: the random bits of each ID, and the random first sequence
//! number of each millisecond.
//!
//! A generator without a worker ID has no identity that another generator could share. A parent and its child, or two
//! copies of a running process, may even reserve the same slots. Their random bits still differ, because each process has a
//! separate stream.

use super::{LAST_SEQUENCE, SCALE, stream::Entropy};
use crate::{
    Result, fork,
    format::Scale,
    generator::{self, Family, ProcessGuard, Window, WorkerIds},
    sequence::{
        SlotRange,
        per_tick::{BehindPolicy, PerTick, Slots},
    },
    sync::{Ordering, Tally},
};

/// The highest random first sequence number of a millisecond. At least half of the sequence numbers remain for IDs.
pub(super) const MAX_START: u64 = LAST_SEQUENCE as u64 >> 1;

/// The last millisecond that the state machine supports, in the year 2527.
const LAST_TICK: u64 = (1 << 44) - 1;

/// The last millisecond that clock readings can represent, in the year 2262.
pub(super) const LAST_READING_MS: i64 = i64::MAX / 1_000_000;

/// Random bits that a call took from its stream before it reserved slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// The random bits of the first ID.
    pub(super) bits: u64,
    /// The sequence number at which the millisecond starts, if this call is the first call in that millisecond.
    start: u64,
}

/// The random bits of a generator's IDs, and its worker ID.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a generator has them")]
pub struct Uuid7Family {
    pub(super) entropy: Entropy,
    pub(super) worker_id: Option<u16>,
    /// The number of rollbacks after which the generator started over.
    pub(super) rollbacks: Tally,
    /// The highest sequence number at which a millisecond may start.
    last_start: u64,
    /// The process to which a worker ID or a window was assigned.
    process: Option<ProcessGuard>,
}

impl generator::Windowed for Uuid7Family {}

impl Uuid7Family {
    pub(super) const fn new(
        entropy: Entropy,
        worker_id: Option<u16>,
        last_start: u64,
        process: Option<ProcessGuard>,
    ) -> Self {
        Self { entropy, worker_id, rollbacks: Tally::new(0), last_start, process }
    }

    /// Returns the process generation and the tail unchanged, or `None` if the worker ID or the window was assigned in a
    /// different process generation.
    #[inline]
    fn for_current_process(&self, (generation, tail): (u64, Tail)) -> Option<(u64, Tail)> {
        let is_here = self.process.is_none_or(|process| process.generation() == generation);
        is_here.then_some((generation, tail))
    }
}

impl Family for Uuid7Family {
    type Machine = PerTick;
    type Ticks = Scale;
    type Identity = Tail;

    #[inline]
    fn ticks(&self) -> Option<&Scale> {
        Some(&SCALE)
    }

    #[inline]
    fn current_identity(&self, window: &Window, tick: u64, now: i64) -> Option<(u64, Tail)> {
        if !window.contains(tick) {
            return None;
        }
        let (generation, bits) = self.entropy.next(now)?;
        self.for_current_process((generation, Tail { bits, start: 0 }))
    }

    fn acquire_identity(&self, _: &PerTick, _: &Window, _: u64, now: i64) -> Result<(u64, Tail)> {
        let taken = self.entropy.with(now, |stream| {
            let (bits, start) = (stream.next(), stream.next() & self.last_start);
            (stream.generation(), Tail { bits, start })
        })?;
        match self.process {
            Some(process) if process.generation() != taken.0 => {
                Err(fork::foreign_error(process.generation()))
            }
            _ => Ok(taken),
        }
    }

    fn check_process(&self) -> Result<()> {
        self.process.map_or(Ok(()), ProcessGuard::check)
    }

    fn worker_ids(&self) -> Option<WorkerIds> {
        let worker_id = self.worker_id?.to_be_bytes();
        Some(WorkerIds::one("uuid7", &worker_id, (0, LAST_SEQUENCE.into()), "worker_id"))
    }

    #[inline]
    fn limits(&self, _: Tail) -> u64 {
        0
    }

    fn limits_on_entry(&self, tail: Tail) -> u64 {
        tail.start
    }

    fn on_tick_entered(&self, last: u64, range: SlotRange) {
        if range.tick < last {
            self.rollbacks.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns a state machine whose first slot is in a tick after `last`. The state machine starts over after a rollback of
/// more than `most` milliseconds.
pub(super) const fn new_machine(most: u64, last: Option<u64>) -> PerTick {
    let slots = Slots { first: 0, last: LAST_SEQUENCE as u64 };
    let (tick, next) = match last {
        Some(tick) => (tick, LAST_SEQUENCE as u128 + 1),
        None => (0, 0),
    };
    let machine = PerTick::restore(slots, BehindPolicy::HeldWithin(most), LAST_TICK, tick, next);
    machine.expect("19 bits of slots and 44 of milliseconds")
}
