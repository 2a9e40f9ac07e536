//! Explores the behavior of consecutive generators with the same worker ID for every sequence of clock readings. The search
//! visits every reachable state.
//!
//! A generation is a generator and the threads that call it. Like a process that is killed, a generation can end before any
//! memory access of its threads. The next generation begins with an unused state machine, and may use a different kind of
//! clock. The threads run the real code of the state machines and of the floor. Only the atomics are simulated.
//!
//! The search respects the precondition of the floor: at the first call of a generation, the time is not earlier than the
//! time of any previously generated ID.

use std::{collections::HashSet, vec, vec::Vec};

use super::{
    Flip, Machine,
    floor::Floor,
    per_tick::{BehindPolicy, PerTick, Slots},
    tick_tock::{self, Bounds, Plan, TickTock, Word},
};

/// The number of time units in a tick.
const TICK_LENGTH: u8 = 2;
/// The last time unit of any search.
const END_TIME: u8 = 7;
/// The last slot of any tick.
const LAST_SLOT: u8 = 1;

/// The kind of clock that a generation reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Clock {
    Exact,
    /// A clock reading may be one unit old.
    Lagging,
    /// A clock reading is rounded down to an odd unit, which is in the middle of a tick.
    Coarse,
}

impl Clock {
    const ALL: [Self; 3] = [Self::Exact, Self::Lagging, Self::Coarse];

    fn slack(self) -> u8 {
        if self == Self::Lagging { 2 } else { 0 }
    }

    fn resolution(self) -> u8 {
        if self == Self::Coarse { 2 } else { 1 }
    }

    /// Returns the possible clock readings at a time.
    fn possible_readings(self, time: u8) -> Vec<u8> {
        match self {
            Self::Exact => vec![time],
            Self::Lagging => vec![time, time.saturating_sub(1)],
            Self::Coarse => vec![time.saturating_sub((time + 1) % 2)],
        }
    }
}

/// The type of state machine that every generation uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MachineKind {
    TickTock,
    PerTick(BehindPolicy),
}

/// The outcome of a step, which consists of the reserved (tick, tick-tock bit, slot) cell, the new word, and the tick to
/// which `safe` must be raised before the step.
struct StepOutcome {
    cell: u8,
    next: u64,
    raise: Option<u8>,
}

impl MachineKind {
    fn per_tick(behind: BehindPolicy) -> PerTick {
        let slots = Slots { first: 0, last: LAST_SLOT.into() };
        PerTick::new(slots, behind, (END_TIME / TICK_LENGTH).into()).unwrap()
    }

    fn tick(self, word: u64) -> u64 {
        match self {
            Self::TickTock => TickTock::new().tick(Word(word)),
            Self::PerTick(behind) => Self::per_tick(behind).tick(word.into()),
        }
    }

    /// Returns the tick in which a step at `now` would reserve slots.
    fn tick_for(self, word: u64, now: u64) -> u64 {
        match self {
            Self::TickTock => now,
            Self::PerTick(behind) => Self::per_tick(behind).tick_for(word.into(), now),
        }
    }

    fn step(self, word: u64, safe: u8, now: u64, flip: Flip) -> Option<StepOutcome> {
        let (run, next, raise) = match self {
            Self::TickTock => {
                let bounds = Bounds { min: 0, max: LAST_SLOT.into() };
                let plan = tick_tock::plan(Word(word), safe.into(), now, 1, bounds, flip);
                let Plan::Take { range: run, next, goes_back } = plan else { return None };
                let wall = flip.wall_tick(self.tick(word));
                (run, next.0, goes_back.then(|| u8::try_from(wall).unwrap()))
            }
            Self::PerTick(behind) => {
                let (run, next) = Self::per_tick(behind).plan(word.into(), now, 1, 0, flip).ok()?;
                (run, u64::try_from(next).unwrap(), None)
            }
        };
        let cell = u8::try_from(run.tick * 4 + u64::from(run.tick_tock) * 2 + run.first).unwrap();
        Some(StepOutcome { cell, next, raise })
    }
}

/// How far a thread has progressed through its call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Progress {
    Observe,
    Read { seen: u64 },
    Begin { seen: u64, now: u8 },
    ReadAgain { seen: u64, tick: u8, flip: Option<u8> },
    ReadSafe { seen: u64, tick: u8, flip: Option<u8> },
    Raise { seen: u64, tick: u8, flip: Option<u8>, safe: u8 },
    Swap { seen: u64, tick: u8, flip: Option<u8>, safe: u8 },
}

/// Returns whether a step may go back in time. `floor` is the last tick of the floor, or `None` if there is no floor.
fn flip(floor: Option<u8>) -> Flip {
    floor.map_or(Flip::Allowed, |last| Flip::Below(last.into()))
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    time: u8,
    rollbacks: u8,
    generations: u8,
    clock: Clock,
    /// The clock reading of the first call.
    first: Option<u8>,
    word: u64,
    safe: u8,
    threads: Vec<(Progress, u8)>,
    /// The latest time at which an earlier generation generated an ID.
    before: u8,
    /// The latest time at which this generation generated an ID.
    made: Option<u8>,
    /// A bit for each (tick, tick-tock bit, slot) that was assigned.
    given: u64,
    repeated: bool,
    flipped: bool,
}

impl State {
    fn with_progress(&self, index: usize, at: Progress) -> Self {
        let mut next = self.clone();
        next.threads[index].0 = at;
        next
    }

    fn floor(&self) -> Floor {
        let (slack, resolution) = (self.clock.slack().into(), self.clock.resolution().into());
        let tick_of =
            |nanos: i64| Ok::<_, ()>(nanos.max(0).cast_unsigned() / u64::from(TICK_LENGTH));
        Floor::new(self.first.unwrap_or(0).into(), slack, resolution, tick_of).unwrap()
    }

    fn after_call(&self, index: usize) -> Self {
        let mut next = self.with_progress(index, Progress::Observe);
        next.threads[index].1 -= 1;
        next
    }
}

struct Explorer {
    kind: MachineKind,
    threads: usize,
    calls: u8,
    generations: u8,
    rollbacks: u8,
    /// The last time unit.
    end: u8,
    /// Whether the fast path also handles tick 0, the tick of a new state machine. The engine's real fast path must not
    /// handle that tick.
    is_tick_0_fast: bool,
}

#[derive(Debug)]
struct SearchResult {
    states: usize,
    repeated: bool,
    flipped: bool,
    /// The number of the last generation that generated an ID in any visited state. The first generation is number 1.
    made: u8,
}

impl Explorer {
    /// Creates an explorer with small default limits, which the tests can increase.
    fn new(kind: MachineKind) -> Self {
        Self {
            kind,
            threads: 1,
            calls: 2,
            generations: 2,
            rollbacks: 1,
            end: 5,
            is_tick_0_fast: false,
        }
    }

    fn search(&self) -> SearchResult {
        let mut open: Vec<State> = Clock::ALL.map(|clock| self.initial_state(clock)).to_vec();
        let mut known: HashSet<State> = open.iter().cloned().collect();
        let mut found = SearchResult { states: 0, repeated: false, flipped: false, made: 0 };
        while let Some(state) = open.pop() {
            found.repeated |= state.repeated;
            found.flipped |= state.flipped;
            if state.made.is_some() {
                found.made = found.made.max(self.generations - state.generations);
            }
            let begun = self.restart_process(&state);
            let stepped = (0..self.threads).flat_map(|index| self.successors(&state, index));
            for next in begun.chain(stepped) {
                if known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        SearchResult { states: known.len(), ..found }
    }

    fn initial_state(&self, clock: Clock) -> State {
        State {
            time: 0,
            rollbacks: self.rollbacks,
            generations: self.generations - 1,
            clock,
            first: None,
            word: 0,
            safe: 0,
            threads: vec![(Progress::Observe, self.calls); self.threads],
            before: 0,
            made: None,
            given: 0,
            repeated: false,
            flipped: false,
        }
    }

    /// Returns the initial states of the next generation, one for each kind of clock. Returns no states if this is the
    /// last generation.
    fn restart_process(&self, state: &State) -> impl Iterator<Item = State> {
        let next = State {
            time: state.time,
            rollbacks: state.rollbacks,
            generations: state.generations.saturating_sub(1),
            before: state.before.max(state.made.unwrap_or(0)),
            given: state.given,
            repeated: state.repeated,
            flipped: state.flipped,
            ..self.initial_state(state.clock)
        };
        let count = if state.generations == 0 { 0 } else { Clock::ALL.len() };
        Clock::ALL.into_iter().take(count).map(move |clock| State { clock, ..next.clone() })
    }

    fn successors(&self, state: &State, index: usize) -> Vec<State> {
        let (at, calls) = state.threads[index];
        if calls == 0 {
            return vec![];
        }
        match at {
            Progress::Observe => {
                vec![state.with_progress(index, Progress::Read { seen: state.word })]
            }
            Progress::Read { seen } => {
                let read = |(next, now): (State, u8)| {
                    next.with_progress(index, Progress::Begin { seen, now })
                };
                self.readings(state).map(read).collect()
            }
            Progress::Begin { seen, now } => vec![self.begin_step(state, index, seen, now)],
            Progress::ReadAgain { seen, tick, flip } => {
                let from = state.floor().from;
                let judge = |(next, now): (State, u8)| {
                    let is_behind = self.tick_after(state, state.word, now) < from;
                    let at = if is_behind {
                        Progress::ReadSafe { seen, tick, flip }
                    } else {
                        Progress::Observe
                    };
                    next.with_progress(index, at)
                };
                self.readings(state).map(judge).collect()
            }
            Progress::ReadSafe { seen, tick, flip: of } => {
                let safe = state.safe;
                let step = self.kind.step(seen, safe, tick.into(), flip(of));
                vec![match step {
                    None => state.after_call(index),
                    Some(StepOutcome { raise: Some(_), .. }) => {
                        state.with_progress(index, Progress::Raise { seen, tick, flip: of, safe })
                    }
                    Some(_) => {
                        state.with_progress(index, Progress::Swap { seen, tick, flip: of, safe })
                    }
                }]
            }
            Progress::Raise { seen, tick, flip: of, safe } => {
                let raise = self.kind.step(seen, safe, tick.into(), flip(of)).unwrap().raise;
                let mut next =
                    state.with_progress(index, Progress::Swap { seen, tick, flip: of, safe });
                next.safe = next.safe.max(raise.unwrap());
                vec![next]
            }
            Progress::Swap { seen, .. } if state.word != seen => {
                vec![state.with_progress(index, Progress::Observe)]
            }
            Progress::Swap { seen, tick, flip: of, safe } => {
                let taken = self.kind.step(seen, safe, tick.into(), flip(of)).unwrap();
                let mut next = state.after_call(index);
                next.word = taken.next;
                next.repeated |= next.given >> taken.cell & 1 == 1;
                next.given |= 1 << taken.cell;
                next.flipped |= taken.raise.is_some();
                // The time may be before the ID's tick, because another thread may have detected a rollback since this
                // thread read the clock.
                next.made = next.made.max(Some(next.time.max(taken.cell / 4 * TICK_LENGTH)));
                vec![next]
            }
        }
    }

    /// Returns each possible clock reading of a thread, together with the resulting state. Before the reading, time may
    /// advance, or the clock may be set back.
    fn readings(&self, state: &State) -> impl Iterator<Item = (State, u8)> {
        let first = if state.rollbacks > 0 { 0 } else { state.time };
        // This is the precondition of the floor (see the top of this file).
        let earliest = if state.first.is_none() { state.before } else { 0 };
        let (state, clock) = (state.clone(), state.clock);
        (first.max(earliest)..=self.end).flat_map(move |time| {
            let mut next = State { time, ..state.clone() };
            next.rollbacks -= u8::from(time < state.time);
            clock.possible_readings(time).into_iter().map(move |now| (next.clone(), now))
        })
    }

    /// Returns the tick that the engine determines for a clock reading.
    fn tick_after(&self, state: &State, seen: u64, now: u8) -> u64 {
        let (tick, last) = (u64::from(now / TICK_LENGTH), self.kind.tick(seen));
        let lag = (last * u64::from(TICK_LENGTH)).saturating_sub(now.into());
        if tick < last && lag < state.clock.slack().into() { last } else { tick }
    }

    /// Stores the clock reading if this is the generation's first call, and uses the floor to determine whether the step
    /// may go back in time.
    fn begin_step(&self, state: &State, index: usize, seen: u64, now: u8) -> State {
        let mut next = state.clone();
        // This models the fast path in `Engine::try_shortcut`, which does not check the floor.
        let last = self.kind.tick(seen);
        if (last > 0 || self.is_tick_0_fast) && u64::from(now / TICK_LENGTH) == last {
            let taken = self.kind.step(seen, 0, last, Flip::Forbidden);
            if taken.is_some() {
                let tick = u8::try_from(last).unwrap();
                return state
                    .with_progress(index, Progress::Swap { seen, tick, flip: None, safe: 0 });
            }
        }
        next.first = next.first.or(Some(now));
        let clock_tick = self.tick_after(state, seen, now);
        let tick = self.kind.tick_for(seen, clock_tick);
        let is_unused = self.kind.tick(seen) == 0;
        let now = u8::try_from(clock_tick).unwrap();
        match next.floor().check_flip(tick, is_unused, Flip::Allowed) {
            None => next.after_call(index),
            Some(Flip::Below(floor)) => {
                let flip = u8::try_from(floor).unwrap();
                next.with_progress(index, Progress::ReadAgain { seen, tick: now, flip: Some(flip) })
            }
            Some(_) => {
                next.with_progress(index, Progress::ReadSafe { seen, tick: now, flip: None })
            }
        }
    }
}

const KINDS: [MachineKind; 3] = [
    MachineKind::TickTock,
    MachineKind::PerTick(BehindPolicy::Rejected),
    MachineKind::PerTick(BehindPolicy::Held),
];

#[test]
fn a_generation_repeats_no_id_of_earlier_generations() {
    for kind in KINDS {
        let found =
            Explorer { calls: 3, generations: 3, end: END_TIME, ..Explorer::new(kind) }.search();
        assert!(!found.repeated && found.states > 10_000 && found.made == 3, "{kind:?} {found:?}");
        assert_eq!(found.flipped, kind == MachineKind::TickTock, "{kind:?}");
    }
}

#[test]
fn a_two_threaded_generation_repeats_no_earlier_id() {
    for kind in KINDS {
        let found = Explorer { threads: 2, ..Explorer::new(kind) }.search();
        assert!(!found.repeated && found.states > 10_000, "{kind:?} {found:?}");
    }
}

#[test]
fn a_fast_path_in_tick_0_repeats_ids() {
    for kind in KINDS {
        assert!(Explorer { is_tick_0_fast: true, ..Explorer::new(kind) }.search().repeated);
    }
}

/// Demonstrates a limitation of the tick-tock bit. Without a snapshot, a generation does not know which bit values its
/// predecessor used.
#[test]
fn a_second_rollback_before_the_generators_start_can_repeat_ids() {
    let kind = MachineKind::TickTock;
    let explorer = Explorer { calls: 4, rollbacks: 2, end: END_TIME, ..Explorer::new(kind) };
    assert!(explorer.search().repeated);
}
