//! Tests threads, handles and tasks that use one generator at the same time: at its first ID, at reservation renewals
//! and at partition changes.
//!
//! A call is suspended at each clock reading and each access to the partition table, and other calls run in the meantime.
//! The test explores every order of calls, and lets the clock advance at any reading. Only the number of calls that start
//! inside other calls is limited. When a waiting task gets its next turn, it is either polled again or dropped. In
//! contrast, the models in `tests/model` switch threads at each memory access, but cover only a few sequences of clock
//! readings. To run a longer test, with one more nested call and one more tick, use `POLYFLAKE_MORE=1 cargo test --release
//! -p polyflake --test meetings`.
#![cfg(not(any(loom, shuttle, miri)))]

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    env,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use polyflake::{
    Result,
    clock::Clock,
    fork::partitions::Table,
    sno::{self, Generator, Sno},
};
use tokio::task::yield_now;

const EPOCH_MS: i64 = 1_262_304_000_000;
/// The tick in which each run starts.
const START_TICK: u64 = 100;
/// The number of sequence numbers in a tick: two blocks of a handle, plus two more.
const SEQUENCES: u16 = 130;

type TestGenerator = Generator<InterruptedClock>;
type Handle = sno::Handle<Rc<TestGenerator>>;
type WaitingCall = Pin<Box<dyn Future<Output = Result<Sno>>>>;

thread_local! {
    static CURRENT_RUN: RefCell<Rc<Run>> = RefCell::default();
}

fn current_run() -> Rc<Run> {
    CURRENT_RUN.with_borrow(Rc::clone)
}

/// The run's clock. It suspends a call between a clock reading and the use of that reading.
struct InterruptedClock;

impl Clock for InterruptedClock {
    fn unix_nanos(&self) -> Result<i64> {
        let run = current_run();
        if run.tick.get() < run.last_tick.get() {
            run.tick.update(|tick| tick + u64::from(run.choose(2)));
        }
        let tick = run.tick.get();
        run.interrupt();
        Ok((EPOCH_MS + 4 * i64::try_from(tick).unwrap()) * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        unreachable!("only tasks wait")
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}

/// The run's table of two partitions. Each access suspends the call.
struct InterruptedTable;

impl Table for InterruptedTable {
    fn random_bits(&self) -> Result<u16> {
        Ok(0)
    }

    fn next_partition(&self) -> Result<u16> {
        let run = current_run();
        run.looks.update(|looks| looks + 1);
        Ok(run.looks.get() % 2)
    }

    fn entry(&self, partition: u16) -> u64 {
        let run = current_run();
        run.interrupt();
        run.until[usize::from(partition)].get()
    }

    fn swap(&self, partition: u16, old: u64, new: u64) -> bool {
        let (run, access) = (current_run(), Some((partition, old, new)));
        // Repeated failed accesses to a lost reservation suspend the call only once.
        if run.last_failed_access.get() != access {
            run.interrupt();
        }
        let is_mine = run.until[usize::from(partition)].get() == old;
        if is_mine {
            run.until[usize::from(partition)].set(new);
            if !run.records_reservations_atomically.get() {
                run.interrupt();
            }
        }
        run.last_failed_access.set(access.filter(|_| !is_mine));
        is_mine
    }

    fn count(&self) -> usize {
        2
    }
}

/// A caller, which makes one call at a time.
enum Caller {
    Thread(Rc<TestGenerator>),
    Handle(Handle),
    /// A task, and its waiting call, if any.
    Task(Rc<TestGenerator>, Option<WaitingCall>),
    /// A caller with a separate generator, which competes for the partitions.
    Competitor(Box<TestGenerator>),
}

use Caller::{Competitor, Task, Thread};

impl Caller {
    /// Makes a call, or continues the waiting call.
    fn take_turn(&mut self) -> Option<Sno> {
        match self {
            Thread(ids) => successful_id(ids.try_generate(0)),
            Self::Handle(handle) => successful_id(handle.try_generate(0)),
            Competitor(ids) => successful_id(ids.try_generate(0)),
            Task(ids, waiting) => {
                let mut call = waiting.take().unwrap_or_else(|| new_call(ids.clone()));
                match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(id) => successful_id(id),
                    Poll::Pending => {
                        current_run().waits.update(|waits| waits + 1);
                        *waiting = (current_run().choose(2) == 0).then_some(call);
                        None
                    }
                }
            }
        }
    }
}

/// Returns the ID if the call succeeded, or `None` otherwise.
fn successful_id(id: Result<Sno>) -> Option<Sno> {
    let is_refused = id.as_ref().is_err_and(|error| error.code() != "partitions_exhausted");
    current_run().rejections.update(|rejections| rejections + usize::from(is_refused));
    id.ok()
}

/// Returns a call that waits until it is polled again.
fn new_call(ids: Rc<TestGenerator>) -> WaitingCall {
    Box::pin(async move { ids.generate_async(|_| yield_now(), 0).await })
}

/// A caller with no call in progress, together with its number of remaining turns and the IDs that it has generated.
struct IdleCaller {
    caller: Option<Caller>,
    turns: usize,
    made: Vec<Sno>,
}

/// One run, which executes the calls in a particular order.
#[derive(Default)]
struct Run {
    /// The choices made in this run, each with its number of alternatives.
    choices: RefCell<Vec<(u8, u8)>>,
    chosen: Cell<usize>,
    tick: Cell<u64>,
    /// The tick at which the clock stops.
    last_tick: Cell<u64>,
    until: [Cell<u64>; 2],
    /// The last access to the table, if it failed.
    last_failed_access: Cell<Option<(u16, u64, u64)>>,
    looks: Cell<u16>,
    callers: RefCell<Vec<IdleCaller>>,
    /// Whether a call records a reservation in the generator immediately after it gets the reservation from the table,
    /// without being suspended in between. If the call were suspended there, another call might consider the
    /// reservation lost and switch to another partition.
    records_reservations_atomically: Cell<bool>,
    /// The number of calls that may still start inside other calls.
    inside: Cell<usize>,
    waits: Cell<usize>,
    rejections: Cell<usize>,
}

impl Run {
    /// Returns a number below `end`. The first run uses 0, and later runs use each of the other numbers.
    fn choose(&self, end: u8) -> u8 {
        let (mut choices, at) = (self.choices.borrow_mut(), self.chosen.get());
        self.chosen.set(at + 1);
        if at == choices.len() {
            choices.push((0, end));
        }
        assert_eq!(choices[at].1, end, "a run that repeats itself");
        choices[at].0
    }

    /// Gives another caller a turn inside the current call, or lets the call continue.
    fn interrupt(&self) {
        if self.inside.get() == 0 {
            return;
        }
        let idle = self.idle_callers();
        match usize::from(self.choose(u8::try_from(idle.len() + 1).unwrap())) {
            0 => {}
            chosen => {
                self.inside.update(|inside| inside - 1);
                self.run_caller(idle[chosen - 1]);
            }
        }
    }

    /// Gives an idle caller a turn. Returns `false` if no caller is idle.
    fn run_idle_caller(&self) -> bool {
        let idle = self.idle_callers();
        if !idle.is_empty() {
            let chosen = self.choose(u8::try_from(idle.len()).unwrap());
            self.run_caller(idle[usize::from(chosen)]);
        }
        !idle.is_empty()
    }

    fn run_caller(&self, index: usize) {
        let mut caller = self.callers.borrow_mut()[index].caller.take().unwrap();
        let made = caller.take_turn();
        let place = &mut self.callers.borrow_mut()[index];
        (place.caller, place.turns) = (Some(caller), place.turns - 1);
        place.made.extend(made);
    }

    fn idle_callers(&self) -> Vec<usize> {
        let callers = self.callers.borrow();
        let is_idle = |index: &usize| callers[*index].turns > 0 && callers[*index].caller.is_some();
        (0..callers.len()).filter(is_idle).collect()
    }
}

fn generator() -> TestGenerator {
    let builder =
        Generator::builder().clock(InterruptedClock).partitions_from(|| Ok(&InterruptedTable));
    builder.sequence_max(SEQUENCES - 1).max_wait(Duration::from_secs(3600)).build().unwrap()
}

fn thread(ids: &Rc<TestGenerator>) -> Caller {
    Thread(ids.clone())
}

fn handle(ids: &Rc<TestGenerator>) -> Caller {
    Caller::Handle(Handle::new(ids.clone()))
}

fn task(ids: &Rc<TestGenerator>) -> Caller {
    Task(ids.clone(), None)
}

fn competing_generator(_: &Rc<TestGenerator>) -> Caller {
    Competitor(Box::new(generator()))
}

/// What happens before the callers run.
#[derive(Clone, Copy, PartialEq)]
enum Setup {
    Nothing,
    /// The generator has generated the given number of IDs.
    AnyId(usize),
    /// The generator generated an ID before its reservation ended. Another generator then held the partition for a
    /// tick.
    Lost,
    /// Other generators held the partitions until the given ticks.
    Others([u64; 2]),
}

/// Totals over all runs.
#[derive(Debug, Default)]
struct Totals {
    runs: usize,
    waits: usize,
    rejections: usize,
    changes: usize,
}

impl Totals {
    fn add(&mut self, more: &Self) {
        self.runs += more.runs;
        self.waits += more.waits;
        self.rejections += more.rejections;
        self.changes += more.changes;
    }
}

/// Explores all runs in which callers have two turns each and competitors have one. Up to `inside` calls may start inside
/// other calls.
fn explore(
    before: Setup,
    inside: usize,
    records_reservations_atomically: bool,
    callers: &[fn(&Rc<TestGenerator>) -> Caller],
) -> Totals {
    let more: u8 = env::var("POLYFLAKE_MORE").map_or(0, |more| more.parse().unwrap());
    let (mut choices, mut seen) = (Vec::new(), Totals::default());
    loop {
        let run = Rc::new(Run { choices: RefCell::new(choices), ..Run::default() });
        CURRENT_RUN.set(run.clone());
        let ids = Rc::new(generator());
        let made = make_initial_ids(before, &run, &ids);
        let idle = |new: &fn(&Rc<TestGenerator>) -> Caller| {
            let caller = new(&ids);
            let turns = if matches!(caller, Competitor(_)) { 1 } else { 2 };
            IdleCaller { caller: Some(caller), turns, made: Vec::new() }
        };
        run.records_reservations_atomically.set(records_reservations_atomically);
        *run.callers.borrow_mut() = callers.iter().map(idle).collect();
        run.last_tick.set(START_TICK + 1 + u64::from(more));
        run.inside.set(inside + usize::from(more));
        while run.run_idle_caller() {}
        run.inside.set(0);
        check_ids(&run.callers.take(), made, &mut seen);
        seen.runs += 1;
        seen.waits += run.waits.get();
        seen.rejections += run.rejections.get();
        choices = run.choices.take();
        while choices.pop_if(|(chosen, end)| *chosen + 1 == *end).is_some() {}
        match choices.last_mut() {
            Some((chosen, _)) => *chosen += 1,
            None => return seen,
        }
    }
}

/// Generates and returns the IDs that exist before the callers start. These IDs belong to the run's first tick.
fn make_initial_ids(before: Setup, run: &Run, ids: &TestGenerator) -> Vec<Sno> {
    run.tick.set(START_TICK);
    run.last_tick.set(START_TICK);
    let count = match before {
        Setup::Nothing => 0,
        Setup::AnyId(count) => count,
        Setup::Lost => 1,
        Setup::Others(until) => {
            run.until.iter().zip(until).for_each(|(cell, until)| cell.set(until));
            0
        }
    };
    let made: Vec<_> = (0..count).map(|_| ids.try_generate(0).unwrap()).collect();
    if before == Setup::Lost {
        run.until[usize::from(made[0].partition())].set(START_TICK + 2);
    }
    made
}

/// Checks that a run's IDs contain no duplicates, that each caller's IDs are sorted, and that the generator uses one
/// partition per tick.
fn check_ids(callers: &[IdleCaller], mut all: Vec<Sno>, seen: &mut Totals) {
    let mut partitions: BTreeMap<_, _> = all.iter().map(|id| (id.tick(), id.partition())).collect();
    for IdleCaller { caller, made, .. } in callers {
        assert!(made.is_sorted_by(|one, next| one < next), "{made:?}");
        all.extend(made);
        if !matches!(caller, Some(Competitor(_))) {
            for id in made {
                let first = *partitions.entry(id.tick()).or_insert(id.partition());
                assert_eq!(first, id.partition(), "two partitions in a tick: {made:?}");
            }
        }
    }
    let mut held: Vec<u16> = partitions.into_values().collect();
    held.dedup();
    seen.changes += held.len().saturating_sub(1);
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "an ID was given out twice");
}

/// Explores every pair of caller kinds, with two nested turns. Also explores every pair together with a competitor, and all
/// three kinds together, with one nested turn. Unless `may_fail` is true, asserts that without a competitor, no call fails
/// and no partition changes.
fn explore_interleavings(before: Setup, may_fail: bool) -> [Totals; 2] {
    let kinds: [fn(&Rc<TestGenerator>) -> Caller; 3] = [thread, handle, task];
    let [mut alone, mut beside] = [Totals::default(), Totals::default()];
    for (index, first) in kinds.into_iter().enumerate() {
        for second in &kinds[index..] {
            alone.add(&explore(before, 2, true, &[first, *second]));
            beside.add(&explore(before, 1, false, &[first, *second, competing_generator]));
        }
    }
    alone.add(&explore(before, 1, true, &kinds));
    println!("{alone:?}, beside a competitor {beside:?}");
    assert!(may_fail || alone.rejections + alone.changes == 0, "{alone:?}");
    [alone, beside]
}

#[test]
fn callers_never_collide_at_the_first_id() {
    explore_interleavings(Setup::Nothing, false);
}

/// One of the partitions belongs to another generator in a tick that some callers read from the clock.
#[test]
fn callers_never_collide_if_the_lease_starts_later() {
    explore_interleavings(Setup::Others([START_TICK, START_TICK + 1]), false);
}

#[test]
fn callers_never_collide_at_renewals() {
    explore_interleavings(Setup::AnyId(1), false);
}

#[test]
fn callers_never_collide_at_a_partition_switch() {
    let [seen, _] = explore_interleavings(Setup::Lost, true);
    assert!(seen.changes > 0, "{seen:?}");
}

#[test]
fn callers_never_collide_in_an_exhausted_tick() {
    let [seen, _] = explore_interleavings(Setup::AnyId(usize::from(SEQUENCES) - 1), true);
    assert!(seen.waits > 0 && seen.changes == 0, "{seen:?}");
}
