//! Compares the state machines with small models that are obviously correct, for every short sequence of clock readings and
//! for longer random sequences. The `POLYFLAKE_SEQUENCES` environment variable sets the number of random sequences.
//!
//! A model is sequential, stores all slots that it has assigned in a set, and uses no state words, bit operations or
//! atomics.

use std::{collections::HashSet, format, vec::Vec};

use super::{
    Flip, Machine, SlotRange, Step,
    per_tick::{BehindPolicy, PerTick, Slots},
    tick_tock::{Bounds, TickTock},
};

const TICKS: u64 = 4;
/// The number of clock readings in a sequence. It is lower under Miri, which is slow.
const READING_COUNT: u32 = if cfg!(miri) { 3 } else { 8 };
const SLOTS_PER_TICK: u64 = 2;

/// Returns all 65,536 sequences of 8 clock readings over 4 ticks.
fn all_sequences() -> impl Iterator<Item = Vec<u64>> {
    (0..TICKS.pow(READING_COUNT))
        .map(|code| (0..READING_COUNT).map(|i| code / TICKS.pow(i) % TICKS).collect())
}

/// Returns pseudorandom sequences (`SplitMix64`) of 24 clock readings over 10 ticks, which are the same in every run.
fn random_sequences() -> impl Iterator<Item = Vec<u64>> {
    let given = std::env::var("POLYFLAKE_SEQUENCES").ok();
    let count = given.map_or(if cfg!(miri) { 20 } else { 2000 }, |count| count.parse().unwrap());
    let mut state = 0_u64;
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    (0..count).map(move |_: u32| (0..24).map(|_| next() % 10).collect())
}

/// Returns every sequence, combined with every rule for choosing the first slot of a tick.
fn all_cases() -> impl Iterator<Item = (Vec<u64>, StartRule)> {
    START_RULES.into_iter().flat_map(|start| {
        all_sequences().chain(random_sequences()).map(move |readings| (readings, start))
    })
}

/// A slot as (tick, tick-tock bit, sequence number).
type SlotCell = (u64, bool, u64);

/// The result of a call, in a form that both the state machine and the model can produce.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Cells(Vec<SlotCell>),
    Full,
    Behind(u64),
}

/// A rule for choosing the first slot to use when a call moves the state machine to a different tick.
type StartRule = fn(u64) -> u64;

/// The rules for choosing the first slot of a tick: always slot 0, or a slot that depends on the tick.
const START_RULES: [StartRule; 2] = [|_| 0, |tick| tick % SLOTS_PER_TICK];

struct TickTockModel {
    start: StartRule,
    wall: u64,
    safe: u64,
    flipped: bool,
    used: u64,
}

impl TickTockModel {
    fn call(&mut self, now: u64, want: u64) -> Answer {
        if now < self.wall {
            if now <= self.safe {
                return Answer::Behind(self.wall);
            }
            self.safe = self.wall;
            self.flipped = !self.flipped;
        }
        if now != self.wall {
            self.wall = now;
            self.used = (self.start)(now);
        }
        take_slots(&mut self.used, now, self.flipped, want)
    }
}

struct PerTickModel {
    start: StartRule,
    behind: BehindPolicy,
    wall: u64,
    used: u64,
}

impl PerTickModel {
    fn call(&mut self, now: u64, want: u64) -> Answer {
        let late = self.wall.saturating_sub(now);
        let follows = match self.behind {
            BehindPolicy::Rejected if late > 0 => return Answer::Behind(self.wall),
            BehindPolicy::HeldWithin(most) => late > most,
            BehindPolicy::Rejected | BehindPolicy::Held => false,
        };
        if now > self.wall || follows {
            self.wall = now;
            self.used = (self.start)(now);
        }
        match take_slots(&mut self.used, self.wall, false, want) {
            Answer::Full if late > 0 && self.behind != BehindPolicy::Held => {
                Answer::Behind(self.wall + 1)
            }
            answer => answer,
        }
    }
}

fn take_slots(used: &mut u64, tick: u64, flipped: bool, want: u64) -> Answer {
    let cells: Vec<SlotCell> =
        (*used..SLOTS_PER_TICK.min(*used + want)).map(|slot| (tick, flipped, slot)).collect();
    *used += cells.len() as u64;
    if cells.is_empty() { Answer::Full } else { Answer::Cells(cells) }
}

/// Runs a sequence of clock readings through the state machine and the model, and asserts that their results are equal.
/// Also asserts that no slot is assigned twice. If `follows` is true, slots may be assigned again after the state machine
/// has moved back to an earlier tick.
#[track_caller]
fn compare_with_model(
    readings: &[u64],
    follows: bool,
    mut machine: impl FnMut(u64, u64) -> Answer,
    mut model: impl FnMut(u64, u64) -> Answer,
) {
    let (mut given, mut last) = (HashSet::new(), 0);
    for (i, &now) in readings.iter().enumerate() {
        let want = 1 + i as u64 % 3;
        let answer = machine(now, want);
        assert_eq!(answer, model(now, want), "{readings:?} at {i}");
        if let Answer::Cells(cells) = answer {
            if follows && cells[0].0 < last {
                given.clear();
            }
            last = cells[0].0;
            assert!(
                cells.into_iter().all(|cell| given.insert(cell)),
                "given out twice: {readings:?} at {i}"
            );
        }
    }
}

/// Performs a step of a state machine. If the clock reading is in the machine's tick, the function first tries to reserve
/// slots with `step_within`. `limits` converts the slot at which a tick starts to the machine's type of limits.
fn step<M: Machine>(
    machine: &M,
    now: u64,
    want: u64,
    start: StartRule,
    limits: impl Fn(u64) -> M::Limits,
) -> Answer {
    let (seen, want) = (machine.observe(), want.try_into().unwrap());
    let is_within = now == machine.tick(seen);
    let limits = limits(if is_within { 0 } else { start(now) });
    let within = is_within.then(|| machine.step_within(seen, want, limits)).flatten();
    let otherwise = || machine.step(seen, now, want, limits, Flip::Allowed);
    match within.map_or_else(otherwise, Step::Reserved) {
        Step::Reserved(SlotRange { tick, tick_tock, first, len }) => Answer::Cells(
            (first..).take(len as usize).map(|slot| (tick, tick_tock, slot)).collect(),
        ),
        Step::Full => Answer::Full,
        Step::Behind(tick) => Answer::Behind(tick),
        Step::Raced | Step::Closed => panic!("nobody else is there"),
    }
}

#[test]
fn tick_tock_follows_its_model() {
    for (readings, start) in all_cases() {
        let machine = TickTock::new();
        let mut model = TickTockModel { start, wall: 0, safe: 0, flipped: false, used: 0 };
        let bounds = |min| Bounds { min: u16::try_from(min).unwrap(), max: 1 };
        let step = |now, want| step(&machine, now, want, start, bounds);
        compare_with_model(&readings, false, step, |now, want| model.call(now, want));
    }
}

/// The last tick of a state machine whose ticks and slots fit in a 64-bit state word. A state machine with `LAST_WIDE_TICK`
/// needs a 128-bit word.
const LAST_NARROW_TICK: u64 = 10;
const LAST_WIDE_TICK: u64 = u64::MAX;

fn check_per_tick_model(behind: BehindPolicy, last_tick: u64) {
    for (readings, start) in all_cases() {
        let machine =
            PerTick::new(Slots { first: 0, last: SLOTS_PER_TICK - 1 }, behind, last_tick).unwrap();
        let mut model = PerTickModel { start, behind, wall: 0, used: 0 };
        let step = |now, want| step(&machine, now, want, start, |first| first);
        let follows = behind == BehindPolicy::HeldWithin(1);
        compare_with_model(&readings, follows, step, |now, want| model.call(now, want));
    }
}

#[test]
fn per_tick_follows_its_model_in_every_mode() {
    let within = [1, u64::MAX].map(BehindPolicy::HeldWithin);
    for behind in [BehindPolicy::Rejected, BehindPolicy::Held].into_iter().chain(within) {
        check_per_tick_model(behind, LAST_NARROW_TICK);
        check_per_tick_model(behind, LAST_WIDE_TICK);
    }
}

#[test]
fn tick_tock_moves_back_only_if_flips_are_allowed() {
    let machine = TickTock::new();
    let bounds = Bounds { min: 0, max: 1 };
    assert!(matches!(
        machine.step(machine.observe(), 10, 1, bounds, Flip::Allowed),
        Step::Reserved(_)
    ));
    assert_eq!(machine.step(machine.observe(), 5, 1, bounds, Flip::Forbidden), Step::Behind(10));
    assert!(matches!(
        machine.step(machine.observe(), 5, 1, bounds, Flip::Allowed),
        Step::Reserved(_)
    ));
}

/// Retries an attempt, because a compare-and-swap can fail spuriously on some processors, and often does under Miri.
fn retry_spurious_failures<R>(attempt: impl Fn() -> Option<R>) -> Option<R> {
    (0..100).find_map(|_| attempt())
}

#[test]
fn step_within_takes_no_slots_if_exhausted_or_closed() {
    let (bounds, slots) = (Bounds { min: 0, max: 1 }, Slots { first: 0, last: 1 });
    let tick_tock = TickTock::new();
    let per_tick = PerTick::new(slots, BehindPolicy::Rejected, LAST_NARROW_TICK).unwrap();
    let take = |want| {
        let run =
            retry_spurious_failures(|| tick_tock.step_within(tick_tock.observe(), want, bounds));
        let other = retry_spurious_failures(|| per_tick.step_within(per_tick.observe(), want, 0));
        (run.map(|run| run.len), other.map(|run| run.len))
    };
    assert_eq!([take(1), take(5), take(1)], [(Some(1), Some(1)), (Some(1), Some(1)), (None, None)]);

    let (tick_tock, per_tick) =
        (TickTock::new(), PerTick::new(slots, BehindPolicy::Rejected, LAST_NARROW_TICK).unwrap());
    tick_tock.close().unwrap();
    per_tick.close().unwrap();
    assert_eq!(tick_tock.step_within(tick_tock.observe(), 1, bounds), None);
    assert_eq!(per_tick.step_within(per_tick.observe(), 1, 0), None);
}

#[test]
fn the_word_width_depends_on_ticks_and_slots() {
    let word = |last_slot, last_tick| {
        let slots = Slots { first: 0, last: last_slot };
        PerTick::new(slots, BehindPolicy::Rejected, last_tick).map(|machine| format!("{machine:?}"))
    };
    let is_wide = |last_slot, last_tick| word(last_slot, last_tick).unwrap().contains("Wide");
    assert!(!is_wide((1 << 24) - 1, (1 << 38) - 1));
    assert!(is_wide((1 << 24) - 1, 1 << 38));
    assert!(is_wide(1 << 25, (1 << 38) - 1));
    assert!(is_wide(u64::MAX, (1 << 62) - 1));
    assert_eq!(word(u64::MAX, u64::MAX), None);
}
