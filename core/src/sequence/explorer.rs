//! Explores every interleaving of threads that share a state machine, either tick-tock or per-tick, with every sequence of
//! clock readings.
//!
//! The threads run the real code of the state machines, one memory access at a time. Unlike in a loom test, the clock is
//! unrestricted. In some tests, a clock reading can be in any tick. In other tests, a clock reading is the current time or
//! slightly earlier. A step that enters a tick can start at any slot.

use super::{
    Flip, Machine, SlotRange, Step,
    per_tick::{BehindPolicy, PerTick, Slots},
    tick_tock::{Bounds, TickTock},
};
use crate::sync::{
    AtomicU64, Ordering,
    explorer::{Scenario, SearchResult, choose, explore},
    watched_atomics::with_interceptor,
};

/// Each tick has only two sequence numbers, so that ticks are exhausted quickly.
const BOUNDS: Bounds = Bounds { min: 0, max: 1 };
const SLOTS: Slots = Slots { first: 0, last: 1 };
/// The last tick of a state machine whose ticks and slots fit in a 64-bit state word. A state machine with `LAST_WIDE_TICK`
/// needs a 128-bit word.
const LAST_NARROW_TICK: u64 = 10;
const LAST_WIDE_TICK: u64 = u64::MAX;

/// The possible clock readings, as ticks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readings {
    /// Each clock reading can be in any tick.
    Any,
    /// Each clock reading is in the current tick, which never decreases, or in the tick before it. With slack, a clock
    /// reading in the tick before the state machine's tick counts as a reading in the state machine's tick. The engine
    /// treats such readings in the same way.
    Lagging { has_slack: bool },
}

/// The state of a closed state machine, as (tick, next slot, safe tick, number of clock rollbacks).
type ClosedState = (u64, u128, u64, u32);

/// Threads that reserve slots from a shared state machine.
struct Threads<M: Machine> {
    machine: M,
    /// Returns the slots for a step. The argument indicates whether the step enters a tick and may therefore choose the
    /// tick's first slot.
    limits: fn(bool) -> M::Limits,
    ticks: u8,
    want: u32,
    readings: Readings,
    /// The current time, in ticks, from which lagging clock readings are derived.
    time: AtomicU64,
    /// The index of the first thread whose calls are never interrupted. Each call of this thread, and of every thread with
    /// a higher index, runs in a single step.
    first_uninterruptible: usize,
    /// The thread, if any, that closes the state machine instead of reserving slots.
    closer: Option<usize>,
    state: fn(&M::State) -> ClosedState,
    /// Creates a state machine that continues from the state of a closed state machine.
    restore: fn(ClosedState) -> M,
}

#[derive(Clone, Debug, Default, Hash)]
struct Record {
    /// A bitmap of the slots that were assigned, with one bit for each (tick, tick-tock bit, slot).
    given: u64,
    /// The number of clock rollbacks that were followed by the assignment of slots.
    drifts: u32,
    was_behind: bool,
    closed: Option<ClosedState>,
}

impl Record {
    #[track_caller]
    fn add(&mut self, SlotRange { tick, tick_tock, first, len }: SlotRange) {
        let line = tick * 4 + u64::from(tick_tock) * 2 + first;
        let slots = ((1 << len) - 1) << line;
        assert_eq!(self.given & slots, 0, "given out twice: tick {tick}, bit {tick_tock}");
        self.given |= slots;
    }
}

impl<M: Machine> Threads<M> {
    /// Returns the tick of a clock reading that a thread takes after it has observed the state machine in tick `wall`.
    fn read_clock(&self, wall: u64) -> u64 {
        let Readings::Lagging { has_slack } = self.readings else {
            return u64::from(choose(self.ticks)) + 1;
        };
        let passed = choose(2).into();
        let time = self.time.fetch_add(passed, Ordering::SeqCst) + passed;
        let now = time.min(self.ticks.into()) - u64::from(choose(2));
        if has_slack && now + 1 == wall { wall } else { now }
    }

    /// Reserves slots in the same way as the engine. Returns the tick in which the state machine was observed, and the
    /// outcome of the step.
    fn reserve(&self) -> (u64, Step) {
        let seen = self.machine.observe();
        let (wall, now) = (self.machine.tick(seen), self.read_clock(self.machine.tick(seen)));
        let is_within = now == wall;
        let limits = (self.limits)(!is_within);
        let within = || self.machine.step_within(seen, self.want, limits);
        let otherwise = || self.machine.step(seen, now, self.want, limits, Flip::Allowed);
        (wall, is_within.then(within).flatten().map_or_else(otherwise, Step::Reserved))
    }
}

impl<M: Machine> Scenario for Threads<M> {
    type Record = Record;

    fn call(&self, thread: usize, _: u8, record: &mut Record) -> bool {
        if self.closer == Some(thread) {
            let state = self.machine.close().unwrap();
            record.closed = Some((self.state)(&state));
            return true;
        }
        match self.reserve() {
            (wall, Step::Reserved(run)) => {
                record.add(run);
                record.drifts += u32::from(run.tick < wall);
            }
            (_, Step::Raced) => return false,
            (_, Step::Behind(_)) => record.was_behind = true,
            (_, Step::Full | Step::Closed) => {}
        }
        true
    }

    fn is_uninterruptible(&self, thread: usize) -> bool {
        thread >= self.first_uninterruptible
    }

    /// Checks that each clock rollback was counted, and that a state machine restored from the closed state assigns no slot
    /// twice.
    fn check_end(&self, record: &Record) {
        let (_, _, _, drifts) = (self.state)(&self.machine.state());
        assert_eq!(drifts, record.drifts, "steps back");
        let Some(closed) = record.closed else { return };
        for readings in (1..=self.ticks).flat_map(|one| (1..=self.ticks).map(move |two| [one, two]))
        {
            let (machine, mut record) = ((self.restore)(closed), record.clone());
            with_interceptor(None, || {
                for now in readings.map(u64::from) {
                    let seen = machine.observe();
                    let step = machine.step(seen, now, 1, (self.limits)(false), Flip::Allowed);
                    if let Step::Reserved(run) = step {
                        record.add(run);
                    }
                }
            });
        }
    }
}

fn tick_tock_threads() -> Threads<TickTock> {
    Threads {
        machine: TickTock::new(),
        limits: |_| BOUNDS,
        ticks: 5,
        want: 1,
        readings: Readings::Any,
        time: AtomicU64::new(1),
        first_uninterruptible: usize::MAX,
        closer: None,
        state: |state| (state.tick, state.next.into(), state.safe, state.drifts),
        restore: |(tick, next, safe, drifts)| {
            TickTock::restore(tick, u32::try_from(next).unwrap(), safe, drifts)
        },
    }
}

/// Returns threads that share a per-tick state machine whose last tick is `LAST`.
fn per_tick_threads<const LAST: u64>(behind: BehindPolicy) -> Threads<PerTick> {
    Threads {
        machine: PerTick::new(SLOTS, behind, LAST).unwrap(),
        limits: |_| 0,
        ticks: 4,
        want: 1,
        readings: Readings::Any,
        time: AtomicU64::new(1),
        first_uninterruptible: usize::MAX,
        closer: None,
        state: |state| (state.tick, state.next, 0, 0),
        restore: |(tick, next, ..)| {
            PerTick::restore(SLOTS, BehindPolicy::Rejected, LAST, tick, next).unwrap()
        },
    }
}

/// Explores every interleaving of the threads, and asserts that the search visits more than `states` states.
#[track_caller]
fn search<M: Machine>(threads: &Threads<M>, calls: &[u8], states: usize) -> SearchResult<Record> {
    let found = explore(threads, calls);
    std::println!("{calls:?}: {} states", found.states);
    assert!(found.states > states, "{} states", found.states);
    found
}

/// Returns threads that share a state machine whose ticks have only one slot, so that entering a tick twice always causes a
/// duplicate.
fn one_slot_threads() -> Threads<TickTock> {
    Threads { limits: |_| Bounds { min: 0, max: 0 }, ..tick_tock_threads() }
}

/// Explores the interleavings of two threads. One call of the first thread is interrupted at each of its memory accesses in
/// turn, and the second thread performs up to five calls before, during and after that call.
#[test]
fn tick_tock_tolerates_one_interrupted_call_and_five_whole_calls() {
    search(&Threads { first_uninterruptible: 1, ..one_slot_threads() }, &[1, 5], 1000);
}

#[test]
fn tick_tock_tolerates_two_interrupted_calls_and_three_whole_calls() {
    search(&Threads { first_uninterruptible: 2, ticks: 3, ..one_slot_threads() }, &[1, 1, 3], 1000);
}

#[test]
fn tick_tock_tolerates_two_threads_with_two_calls_each() {
    search(&Threads { ticks: 4, ..tick_tock_threads() }, &[2, 2], 1000);
}

#[test]
fn tick_tock_tolerates_concurrent_batches() {
    search(&Threads { ticks: 3, want: 2, ..tick_tock_threads() }, &[2, 2], 1000);
}

/// Visits millions of states. Run it with `cargo test --release -p polyflake --lib -- --include-ignored explorer`.
#[test]
#[ignore = "takes minutes without optimisation"]
fn tick_tock_tolerates_long_interleavings() {
    search(&Threads { first_uninterruptible: 1, ..tick_tock_threads() }, &[1, 5], 100_000);
    search(&one_slot_threads(), &[1, 5], 100_000);
    search(&Threads { ticks: 4, ..one_slot_threads() }, &[2, 2, 2], 100_000);
    search(&Threads { ticks: 4, ..tick_tock_threads() }, &[2, 3], 100_000);
}

#[test]
fn tick_tock_tolerates_a_close_during_other_calls() {
    search(
        &Threads { closer: Some(0), first_uninterruptible: 1, ticks: 4, ..tick_tock_threads() },
        &[1, 4],
        100,
    );
    search(
        &Threads { closer: Some(0), first_uninterruptible: 2, ticks: 3, ..one_slot_threads() },
        &[1, 1, 2],
        100,
    );
}

/// The reactions to a clock rollback that ensure that a state machine never enters the same tick twice.
const MONOTONIC_POLICIES: [BehindPolicy; 3] =
    [BehindPolicy::Rejected, BehindPolicy::Held, BehindPolicy::HeldWithin(u64::MAX)];

fn check_per_tick_in_every_mode<const LAST: u64>() {
    for behind in MONOTONIC_POLICIES {
        let threads = Threads { ticks: 3, ..per_tick_threads::<LAST>(behind) };
        let threads = Threads { first_uninterruptible: 1, ..threads };
        search(&threads, &[1, 5], 100);
        let threads = Threads { first_uninterruptible: 3, ..threads };
        search(&threads, &[2, 2], 100);
        let threads = Threads { closer: Some(0), first_uninterruptible: 2, ..threads };
        search(&threads, &[1, 1, 2], 100);
    }
}

#[test]
fn narrow_per_tick_tolerates_every_interleaving() {
    check_per_tick_in_every_mode::<LAST_NARROW_TICK>();
}

#[test]
fn wide_per_tick_tolerates_every_interleaving() {
    check_per_tick_in_every_mode::<LAST_WIDE_TICK>();
}

/// Asserts that no slot is assigned twice when threads race to enter a tick with different first slots. The first slot is
/// part of the state word, so only one thread's choice takes effect.
#[test]
fn per_tick_starts_at_any_slot() {
    for behind in MONOTONIC_POLICIES {
        let from_any = |enters: bool| if enters { choose(2).into() } else { 0 };
        let threads =
            Threads { limits: from_any, ticks: 3, ..per_tick_threads::<LAST_NARROW_TICK>(behind) };
        let threads = Threads { first_uninterruptible: 1, ..threads };
        search(&threads, &[1, 4], 100);
        let threads = Threads { first_uninterruptible: 3, ticks: 2, ..threads };
        search(&threads, &[2, 2], 100);
    }
}

/// A state machine that several threads share. It starts over after a rollback of more than one tick.
struct FollowingMachine(PerTick);

impl Scenario for FollowingMachine {
    /// A bitmap of the slots assigned since the state machine last started over, with one bit for each (tick, slot) pair.
    type Record = u64;

    fn call(&self, _: usize, _: u8, given: &mut u64) -> bool {
        let seen = self.0.observe();
        let (wall, now) = (self.0.tick(seen), u64::from(choose(4)) + 1);
        match self.0.step(seen, now, 1, choose(2).into(), Flip::Allowed) {
            Step::Reserved(run) => {
                if run.tick < wall {
                    assert!(run.tick == now && now + 1 < wall, "from {wall} to {}", run.tick);
                    *given = 0;
                } else {
                    assert_eq!(run.tick, now.max(wall));
                }
                let slot = 1 << (run.tick * 2 + run.first);
                assert_eq!(*given & slot, 0, "given out twice: tick {}", run.tick);
                *given |= slot;
            }
            Step::Behind(next) => assert_eq!((next, now + 1), (wall + 1, wall)),
            Step::Full => assert_eq!(now, wall),
            Step::Raced => return false,
            Step::Closed => unreachable!("no thread closes it"),
        }
        true
    }
}

/// Asserts that the state machine starts over only after a long clock rollback, and that it assigns each slot at most once
/// between two such rollbacks.
#[test]
fn per_tick_follows_long_rollbacks_only() {
    let following = || {
        FollowingMachine(
            PerTick::new(SLOTS, BehindPolicy::HeldWithin(1), LAST_NARROW_TICK).unwrap(),
        )
    };
    for calls in [&[2, 2][..], &[1, 4], &[1, 1, 2]] {
        assert!(explore(&following(), calls).states > 100);
    }
}

#[test]
fn tick_tock_starts_at_any_slot() {
    let from_any = |enters: bool| Bounds { min: if enters { choose(2).into() } else { 0 }, max: 1 };
    let threads = Threads { limits: from_any, ticks: 3, ..tick_tock_threads() };
    search(&Threads { first_uninterruptible: 1, ..threads }, &[1, 4], 1000);
    let threads = Threads { limits: from_any, ticks: 3, ..tick_tock_threads() };
    search(&threads, &[2, 2], 1000);
}

fn lagging_threads(has_slack: bool) -> Threads<TickTock> {
    Threads { ticks: 3, readings: Readings::Lagging { has_slack }, ..tick_tock_threads() }
}

#[test]
fn readings_within_the_slack_are_never_rollbacks() {
    let found = search(&lagging_threads(true), &[2, 2], 1000);
    assert!(found.records.iter().all(|record| !record.was_behind && record.drifts == 0));
}

#[test]
fn late_readings_without_slack_count_as_rollbacks() {
    let found = search(&lagging_threads(false), &[2, 1], 500);
    assert!(found.records.iter().any(|record| record.was_behind || record.drifts > 0));
}
