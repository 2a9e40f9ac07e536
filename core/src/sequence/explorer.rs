//! Every interleaving of threads on the tick-tock machine, under every sequence of clock readings: a search through all states,
//! each visited once.
//!
//! The threads take the real machine's steps one atomic access at a time and decide with its own [`plan`]; only the atomics
//! are simulated. Unlike in loom, the clock is free: each reading may be any tick, or the time or a little before it.

use std::{collections::HashSet, vec, vec::Vec};

use super::{Bounds, Flip, Plan, Word, plan};

/// Two sequences in a tick, so that ticks are soon used up.
const BOUNDS: Bounds = Bounds { min: 0, max: 1 };

/// The progress of a thread in its call: its next step, and the values that it has read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    Observe,
    ReadClock { seen: u64 },
    ReadSafe { seen: u64, now: u8 },
    RaiseSafe { word: u64, now: u8, safe: u8 },
    Swap { word: u64, now: u8, safe: u8 },
}

/// The order of the two writes of a step back: the machine's own, or the wrong one, which the search must find.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    RaiseThenSwap,
    SwapThenRaise,
}

/// The ticks that a reading may show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readings {
    /// Any tick.
    Any,
    /// The time, which only goes on, or the tick before it, for a reading that lags. With slack, a reading in the tick before the
    /// word's counts as one of the word's tick.
    Lagging { has_slack: bool },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Thread {
    at: At,
    calls: u8,
    /// A raise that the wrong order still owes.
    owed: u8,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    word: u64,
    safe: u8,
    /// The latest time at which a lagging clock was read.
    time: u8,
    threads: Vec<Thread>,
    /// A bit for each (tick, tick-tock bit, sequence) that was given out.
    given: u64,
    /// A slot was given out twice.
    repeated: bool,
}

impl State {
    /// The state after a thread went on to its next step.
    fn at(&self, index: usize, at: At) -> Self {
        let mut next = self.clone();
        next.threads[index].at = at;
        next
    }

    /// The state after a thread ended a call.
    fn called(&self, index: usize) -> Self {
        let mut next = self.at(index, At::Observe);
        next.threads[index].calls -= 1;
        next
    }
}

/// The result of a search.
#[derive(Debug)]
struct Found {
    states: usize,
    repeated: bool,
    /// Some step went back in time, or found the clock behind.
    fell_back: bool,
}

struct Explorer {
    ticks: u8,
    want: u32,
    order: Order,
    readings: Readings,
}

impl Explorer {
    fn search(&self, threads: usize, calls: u8) -> Found {
        let thread = Thread { at: At::Observe, calls, owed: 0 };
        let start = State {
            word: Word::new(0, false, 0).0,
            safe: 0,
            time: 1,
            threads: vec![thread; threads],
            given: 0,
            repeated: false,
        };
        let mut known = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            for index in 0..threads {
                for next in self.successors(&state, index) {
                    if known.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
        let repeated = known.iter().any(|state| state.repeated);
        let fell_back = known.iter().any(|state| self.falls_back(state));
        Found { states: known.len(), repeated, fell_back }
    }

    /// Returns whether some thread decides to go back, or to wait for a clock that is behind.
    fn falls_back(&self, state: &State) -> bool {
        state.threads.iter().any(|thread| match thread.at {
            At::ReadSafe { seen, now } => matches!(
                self.plan(seen, now, state.safe),
                Plan::Behind(_) | Plan::Take { goes_back: true, .. }
            ),
            _ => false,
        })
    }

    /// The states that one access of a thread leads to.
    fn successors(&self, state: &State, index: usize) -> Vec<State> {
        let thread = state.threads[index];
        if thread.owed > 0 {
            let mut next = state.clone();
            next.safe = next.safe.max(thread.owed);
            next.threads[index].owed = 0;
            return vec![next];
        }
        if thread.calls == 0 {
            return vec![];
        }
        match thread.at {
            At::Observe => vec![state.at(index, At::ReadClock { seen: state.word })],
            At::ReadClock { seen } => self
                .shown(state.time, tick(seen))
                .map(|(time, now)| State { time, ..state.at(index, At::ReadSafe { seen, now }) })
                .collect(),
            At::ReadSafe { seen, now } => vec![self.decide(state, index, seen, now, state.safe)],
            At::RaiseSafe { word, now, safe } => {
                let mut next = state.at(index, At::Swap { word, now, safe });
                next.safe = next.safe.max(tick(word));
                vec![next]
            }
            At::Swap { word, now, safe } => vec![self.swap(state, index, word, now, safe)],
        }
    }

    /// The times at which a thread may read the clock, each with the tick that it takes the reading for, having seen the word in
    /// tick `wall`.
    fn shown(&self, time: u8, wall: u8) -> impl Iterator<Item = (u8, u8)> {
        let (first, last, lags) = match self.readings {
            Readings::Any => (1, self.ticks, 0),
            Readings::Lagging { .. } => (time, self.ticks, 1),
        };
        (first..=last).flat_map(move |now| {
            (0..=lags).map(move |lag| {
                let is_caught_up =
                    self.readings == Readings::Lagging { has_slack: true } && now - lag + 1 == wall;
                let kept = if self.readings == Readings::Any { time } else { now };
                (kept, if is_caught_up { wall } else { now - lag })
            })
        })
    }

    /// Goes on to the step's first write, or ends the call without an ID.
    fn decide(&self, state: &State, index: usize, word: u64, now: u8, safe: u8) -> State {
        match self.plan(word, now, safe) {
            Plan::Take { goes_back: true, .. } if self.order == Order::RaiseThenSwap => {
                state.at(index, At::RaiseSafe { word, now, safe })
            }
            Plan::Take { .. } => state.at(index, At::Swap { word, now, safe }),
            Plan::Full | Plan::Behind(_) | Plan::Closed => state.called(index),
        }
    }

    fn swap(&self, state: &State, index: usize, word: u64, now: u8, safe: u8) -> State {
        if state.word != word {
            let same_line = Word(state.word).same_line(Word(word));
            return if same_line {
                self.decide(state, index, state.word, now, safe)
            } else {
                state.at(index, At::Observe)
            };
        }
        let Plan::Take { run, next: swapped, goes_back } = self.plan(word, now, safe) else {
            unreachable!("decided before")
        };
        let mut next = state.called(index);
        next.word = swapped.0;
        if goes_back && self.order == Order::SwapThenRaise {
            next.threads[index].owed = tick(word);
        }
        let line = run.tick * 4 + u64::from(run.tick_tock) * 2 + run.first;
        let cells = ((1_u64 << run.len) - 1) << line;
        next.repeated |= next.given & cells != 0;
        next.given |= cells;
        next
    }

    fn plan(&self, word: u64, now: u8, safe: u8) -> Plan {
        plan(Word(word), safe.into(), now.into(), self.want, BOUNDS, Flip::Allowed)
    }
}

fn tick(word: u64) -> u8 {
    u8::try_from(Word(word).tick()).unwrap()
}

/// The machine's own order under a free clock.
const EXPLORER: Explorer =
    Explorer { ticks: 5, want: 1, order: Order::RaiseThenSwap, readings: Readings::Any };

#[test]
fn two_threads_two_calls_over_five_ticks() {
    let found = EXPLORER.search(2, 2);
    assert!(!found.repeated && found.states > 30_000, "{found:?}");
}

#[test]
fn two_threads_with_batches() {
    let explorer = Explorer { ticks: 4, want: 2, ..EXPLORER };
    let found = explorer.search(2, 3);
    assert!(!found.repeated && found.states > 30_000, "{found:?}");
}

/// Visits millions of states: `cargo test --release -p polyflake --lib -- --ignored three_threads`.
#[test]
#[ignore = "takes minutes without optimisation"]
fn three_threads_two_calls_over_four_ticks() {
    let explorer = Explorer { ticks: 4, ..EXPLORER };
    let found = explorer.search(3, 2);
    std::println!("{found:?}");
    assert!(!found.repeated);
}

#[test]
fn raising_safe_after_the_swap_is_found_out() {
    let explorer = Explorer { ticks: 4, order: Order::SwapThenRaise, ..EXPLORER };
    assert!(explorer.search(2, 3).repeated);
}

fn lagging(has_slack: bool) -> Explorer {
    Explorer { readings: Readings::Lagging { has_slack }, ..EXPLORER }
}

#[test]
fn readings_that_lag_by_less_than_the_slack_never_look_like_a_step_back() {
    for (threads, calls) in [(2, 3), (3, 1)] {
        let found = lagging(true).search(threads, calls);
        assert!(!found.repeated && !found.fell_back && found.states > 5_000, "{found:?}");
    }
}

#[test]
fn without_slack_readings_that_lag_look_like_a_step_back() {
    let found = lagging(false).search(2, 2);
    assert!(!found.repeated && found.fell_back, "{found:?}");
}
