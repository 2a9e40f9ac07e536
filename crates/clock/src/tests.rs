//! Tests the anchor with simulated counters and wall clocks, both correct and faulty, for several simulated seconds.

use std::{cell::Cell, ops::Range};

use super::{
    Anchor, Hardware, MAX_READINGS, SLACK_NANOS,
    anchor::{MAX_LEAD, SPAN},
    trust,
};

/// The error for a simulated wall clock that cannot be read.
#[derive(Debug, PartialEq)]
struct ClockFailure;

type Result<T> = std::result::Result<T, ClockFailure>;

const US: i64 = 1_000;
const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;
/// The start of a simulation, in Unix nanoseconds.
const START_NANOS: i64 = 1_763_650_000 * SECOND;
/// The time until the rate is first measured, or until it is measured again after a fault.
const WARM_UP: i64 = 4 * MS;

/// A function that returns the value of a counter or a wall clock at a given true time, in nanoseconds since the start.
type TimeFn = Box<dyn Fn(i64) -> i64>;

/// A simulated machine. Every clock or counter read advances its time.
struct SimulatedMachine {
    now: Cell<i64>,
    counter: TimeFn,
    wall: TimeFn,
    /// The duration of a wall-clock sample.
    sample: i64,
    samples: Cell<u32>,
    /// Whether some samples are interrupted, before or after the wall clock is read.
    is_interrupted: bool,
    /// The time range in which the wall clock cannot be read.
    fails: Range<i64>,
}

impl SimulatedMachine {
    fn new(counter: impl Fn(i64) -> i64 + 'static, wall: impl Fn(i64) -> i64 + 'static) -> Self {
        let (counter, wall) = (Box::new(counter), Box::new(wall));
        let (now, samples) = (Cell::new(0), Cell::new(0));
        Self { now, counter, wall, sample: 20, samples, is_interrupted: false, fails: 0..0 }
    }

    /// Creates a machine with a correct counter and the given wall clock.
    fn with_wall_clock(wall: impl Fn(i64) -> i64 + 'static) -> Self {
        Self::new(|now| now * 26 / 10 + (1 << 40), wall)
    }

    /// Creates a machine with the given counter and a correct wall clock.
    fn with_counter(counter: impl Fn(i64) -> i64 + 'static) -> Self {
        Self::new(counter, |now| now)
    }

    fn advance(&self, nanos: i64) {
        self.now.set(self.now.get() + nanos);
    }

    fn interrupt_if_due(&self, of: u32) {
        let samples = self.samples.get();
        if self.is_interrupted && samples % 10 == of {
            self.advance(i64::from(samples * 13 % 200) * US);
        }
    }

    /// Returns the time that the wall clock shows.
    fn wall_time(&self) -> i64 {
        START_NANOS + (self.wall)(self.now.get())
    }
}

impl Hardware for SimulatedMachine {
    type Error = ClockFailure;

    fn counter(&self) -> u64 {
        self.advance(7);
        (self.counter)(self.now.get()).cast_unsigned()
    }
    fn ordered_counter(&self) -> u64 {
        self.counter()
    }
    fn wall_nanos(&self) -> Result<i64> {
        if self.fails.contains(&self.now.get()) {
            return Err(ClockFailure);
        }
        self.interrupt_if_due(3);
        self.samples.set(self.samples.get() + 1);
        self.advance(self.sample);
        let now = self.wall_time();
        self.interrupt_if_due(9);
        Ok(now)
    }
}

/// A clock reading and its lead over the wall clock, both in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: i64,
    shows: i64,
    leads: i64,
}

/// Returns the clock readings that one thread takes every `step` nanoseconds until the simulated time `until`.
fn readings(world: &SimulatedMachine, step: i64, until: i64) -> Vec<Reading> {
    let (anchor, left) = (Anchor::new(), Cell::new(0));
    let mut all = vec![];
    while world.now.get() < until {
        let shows = read_or_renew(&anchor, &left, world).unwrap();
        let (at, leads) = (world.now.get(), shows - world.wall_time());
        all.push(Reading { at, shows, leads });
        world.advance(step);
    }
    all
}

/// Returns the greatest lead and the greatest lag among the readings taken in the simulated time range `from..to`.
fn max_lead_and_lag(all: &[Reading], from: i64, to: i64) -> (i64, i64) {
    let leads = || all.iter().filter(|reading| (from..to).contains(&reading.at));
    (
        leads().map(|reading| reading.leads).max().unwrap(),
        -leads().map(|reading| reading.leads).min().unwrap(),
    )
}

#[track_caller]
fn assert_monotonic(all: &[Reading]) {
    for pair in all.windows(2) {
        assert!(pair[0].shows <= pair[1].shows, "{pair:?}");
    }
}

/// Returns the time according to the anchor, and renews the anchor first if necessary, as `now` does.
fn read_or_renew(anchor: &Anchor, left: &Cell<u32>, world: &SimulatedMachine) -> Result<i64> {
    super::read_anchor(anchor, left, world)
        .map_or_else(|| super::renew_anchor(anchor, left, world, 0), Ok)
}

#[test]
fn readings_lag_less_than_a_microsecond_with_few_system_calls() {
    for tenths in [10_i64, 240, 10_000, 26_000, 50_000] {
        // The counter's rate ranges from one megahertz to five gigahertz. Both bounds below allow for the duration of one
        // count.
        let world = SimulatedMachine::with_counter(move |now| now / 10 * tenths / 1000);
        let all = readings(&world, 100, 50 * MS);
        let (lead, lag) = max_lead_and_lag(&all, WARM_UP, 50 * MS);
        assert!(lead <= 10_000 / tenths && lag < US + 10_000 / tenths, "{tenths}: {lead} {lag}");
        assert_monotonic(&all);
        let samples = world.samples.get();
        assert!(i64::from(samples) < 60 + WARM_UP / 50, "{tenths}: {samples}");
    }
}

#[test]
fn an_anchor_lasts_a_millisecond() {
    let world = SimulatedMachine::with_counter(|now| now * 3);
    let all = readings(&world, 500, WARM_UP + 100 * MS);
    let samples = world.samples.replace(0);
    drop(all);
    assert!((100..100 + WARM_UP / 500).contains(&samples.into()), "{samples}");
}

#[test]
fn idle_times_of_any_length_keep_readings_accurate() {
    for step in [10 * US, 900 * US, MS, 3 * MS, 100 * MS, 3 * SECOND] {
        let all = readings(&SimulatedMachine::with_counter(|now| now * 26 / 10), step, 1000 * step);
        let (lead, lag) = max_lead_and_lag(&all, 4 * step.max(MS), 1000 * step);
        assert!(lead <= 0 && lag <= US, "{step}: {lead} {lag}");
    }
}

/// Returns a machine whose wall clock runs faster by `millionths` parts per million, starting at 20 ms. If `millionths` is
/// negative, the wall clock runs slower.
fn machine_with_slewed_clock(millionths: i64) -> SimulatedMachine {
    SimulatedMachine::with_wall_clock(move |now| {
        now + (now - 20 * MS).max(0) * millionths / 1_000_000
    })
}

#[test]
fn readings_follow_slews_without_moving_backwards() {
    for millionths in [-100_000, -83_333, -500, -50, 50, 500, 83_333, 100_000_i64] {
        let all = readings(&machine_with_slewed_clock(millionths), 170, 60 * MS);
        assert_monotonic(&all);
        // The new rate is measured only after a millisecond, and readings agree with the wall clock again only after part
        // of the following millisecond.
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS, 60 * MS);
        let most = millionths.abs() * MS / 1_000_000 * 5 / 4 + US;
        assert!(lead <= most && lag <= most, "{millionths}: {lead} {lag}");
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS + 2 * WARM_UP, 60 * MS);
        assert!(lead <= US && lag <= US, "{millionths}: {lead} {lag}");
    }
}

#[test]
fn a_wall_clock_step_is_seen_within_a_millisecond() {
    for step in [3600 * SECOND, 10 * MS, -10 * MS, -2 * MAX_LEAD, -3600 * SECOND] {
        let world = SimulatedMachine::with_wall_clock(move |now| {
            now + if now < 20 * MS { 0 } else { step }
        });
        let all = readings(&world, 170, 60 * MS);
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS + SPAN + US, 60 * MS);
        assert!(lead <= 0 && lag <= US, "{step}: {lead} {lag}");
        assert_eq!(
            all.windows(2).filter(|pair| pair[1].shows < pair[0].shows).count(),
            usize::from(step < 0)
        );
    }
}

#[test]
fn a_small_clock_rollback_is_waited_out() {
    for step in [-1, -50 * US, 1 - MAX_LEAD] {
        let world = SimulatedMachine::with_wall_clock(move |now| {
            now + if now < 20 * MS { 0 } else { step }
        });
        let all = readings(&world, 170, 60 * MS);
        assert_monotonic(&all);
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS + 2 * WARM_UP, 60 * MS);
        assert!(lead <= 0 && lag <= US, "{step}: {lead} {lag}");
    }
}

#[test]
fn a_stopped_counter_is_detected_after_a_limited_number_of_readings() {
    let step = 170;
    let stopped = |now: i64| now.min(20 * MS) * 3;
    let all = readings(&SimulatedMachine::with_counter(stopped), step, 60 * MS);
    let (_, lag) = max_lead_and_lag(&all, 20 * MS, 60 * MS);
    assert!(lag <= i64::from(MAX_READINGS) * (step + 7) + US, "{lag}");
    let (lead, lag) = max_lead_and_lag(&all, 20 * MS + WARM_UP, 60 * MS);
    assert!(lead <= 0 && lag < 20, "the system call alone: {lead} {lag}");
}

#[test]
fn a_counter_jump_shifts_readings_by_at_most_a_millisecond() {
    for jump in [-3600 * SECOND, -MS, -MS / 2, -100, 100, MS / 2, MS, 2 * MS, 3600 * SECOND] {
        let world = SimulatedMachine::with_counter(move |now| {
            (now + if now < 20 * MS { 0 } else { jump }) * 3
        });
        let all = readings(&world, 170, 60 * MS);
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS, 60 * MS);
        assert!(lead <= SPAN + MAX_LEAD && lag <= SPAN + US, "{jump}: {lead} {lag}");
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS + WARM_UP, 60 * MS);
        assert!(lead <= 0 && lag <= US, "{jump}: {lead} {lag}");
    }
}

#[test]
fn a_changed_counter_rate_is_measured_again() {
    for (times, over) in [(2, 1), (10, 1), (1, 2), (1, 10), (21, 20), (19, 20)] {
        let changed =
            move |now: i64| 3 * (now.min(20 * MS) + (now - 20 * MS).max(0) * times / over);
        let all = readings(&SimulatedMachine::with_counter(changed), 170, 80 * MS);
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS, 80 * MS);
        // With a counter that is ten times too slow, a thread uses up its quota of readings before the anchor's span ends.
        assert!(lead <= SPAN + MAX_LEAD && lag <= SPAN + US, "{times}/{over}: {lead} {lag}");
        let (lead, lag) = max_lead_and_lag(&all, 20 * MS + 4 * WARM_UP, 80 * MS);
        assert!(lead <= 10 && lag <= US, "{times}/{over}: {lead} {lag}");
    }
}

#[test]
fn diverging_processors_add_no_more_error_than_they_differ() {
    for apart in [100, 10 * US, 10 * MS] {
        // The thread switches to a different processor at every sample.
        let turn = Cell::new(false);
        let world = SimulatedMachine::with_counter(move |now| {
            turn.set(!turn.get());
            (now + if turn.get() { 0 } else { apart }) * 3
        });
        let all = readings(&world, 170, 40 * MS);
        let (lead, lag) = max_lead_and_lag(&all, 0, 40 * MS);
        let most = apart.min(SPAN) + MAX_LEAD + US;
        assert!(lead <= most && lag <= most, "{apart}: {lead} {lag}");
    }
}

#[test]
fn a_slow_wall_clock_is_read_for_each_reading() {
    let world =
        SimulatedMachine { sample: 5 * US, ..SimulatedMachine::with_counter(|now| now * 3) };
    let all = readings(&world, 170, 60 * MS);
    let exact = all.iter().filter(|reading| reading.leads == 0 || reading.leads == -7).count();
    assert!(exact * 10 > all.len() * 9, "{exact} of {}", all.len());
    assert_monotonic(&all);
}

#[test]
fn an_interrupted_anchor_adds_at_most_two_microseconds_of_lag() {
    let world = SimulatedMachine {
        is_interrupted: true,
        ..SimulatedMachine::with_counter(|now| now * 26 / 10)
    };
    let (anchor, left) = (Anchor::new(), Cell::new(0));
    let (mut latest, mut lag) = (0, 0);
    while world.now.get() < SECOND {
        let before = world.wall_time();
        let shows = read_or_renew(&anchor, &left, &world).unwrap();
        assert!((latest..=world.wall_time()).contains(&shows));
        (latest, lag) = (shows, lag.max(before - shows));
        world.advance(170);
    }
    assert!(lag <= 2 * US, "{lag}");
}

#[test]
fn readings_near_the_maximum_time_never_wrap() {
    let world =
        SimulatedMachine::with_wall_clock(|now| i64::MAX - START_NANOS - 5 * MS + now.min(5 * MS));
    assert_monotonic(&readings(&world, 170, 20 * MS));
}

#[test]
fn a_failing_wall_clock_returns_errors_and_is_retried() {
    let world = SimulatedMachine {
        fails: 10 * MS..12 * MS,
        ..SimulatedMachine::with_counter(|now| now * 3)
    };
    let (anchor, left) = (Anchor::new(), Cell::new(0));
    let mut failed = 0;
    while world.now.get() < 20 * MS {
        match read_or_renew(&anchor, &left, &world) {
            Ok(shows) => assert!((world.wall_time() - shows) < 2 * SPAN),
            Err(error) => {
                assert_eq!(error, ClockFailure);
                failed += 1;
            }
        }
        world.advance(40);
    }
    assert!(failed > 100);
    assert!(world.wall_time() - read_or_renew(&anchor, &left, &world).unwrap() < US);
}

#[test]
fn a_thread_that_cannot_wait_invalidates_a_concurrent_anchor_write() {
    let (world, anchor) =
        (SimulatedMachine::new(|now| now, |now| now - START_NANOS), Anchor::synchronized());
    let writing = anchor.begin_write(7);
    assert_eq!(anchor.read(&world), None);
    let now = anchor.renew(&world, 7).unwrap();
    assert_eq!(now, world.wall_time());
    assert!(anchor.publish(writing).is_err(), "a later reading was shown");
}

#[test]
fn a_child_renews_an_anchor_that_its_parent_was_writing() {
    let (world, anchor) =
        (SimulatedMachine::new(|now| now, |now| now - START_NANOS), Anchor::synchronized());
    anchor.begin_write(7);
    anchor.renew(&world, 8).unwrap();
    assert!(anchor.read(&world).is_some());
}

#[test]
fn the_counter_is_used_only_if_it_is_cheaper() {
    let cheap = SimulatedMachine { sample: 20, ..SimulatedMachine::with_counter(|now| now) };
    let dear = SimulatedMachine { sample: 8, ..SimulatedMachine::with_counter(|now| now) };
    assert!(trust::is_counter_cheaper(&cheap) && !trust::is_counter_cheaper(&dear));
    // A stopped counter cannot measure time.
    assert!(!trust::is_counter_cheaper(&SimulatedMachine::with_counter(|_| 7)));
}

#[test]
fn the_slack_covers_the_lag_of_readings() {
    let all = readings(&SimulatedMachine::with_counter(|now| now * 26 / 10), 33, 50 * MS);
    assert!(max_lead_and_lag(&all, 0, 50 * MS).1.cast_unsigned() * 4 < SLACK_NANOS);
}
