//! Tests that a generator with an explicit worker ID skips its first tick, because an earlier generator may have generated
//! IDs in that tick.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use polyflake::{
    Error, OnExhausted, Result,
    clock::{Clock, ClockInfo, ManualClock},
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    randflake::{self, Grant},
    sno::{self, Snapshot},
};

use super::{
    assert_id,
    family::{AnyGenerator, FAMILIES, Family, GeneratorOptions, START_MS},
    support::{ScriptedClock, assert_code},
};

const NANOS_PER_MS: u64 = 1_000_000;

/// A clock that another generator may also have read, for example before a restart.
#[derive(Clone)]
struct SharedReadingsClock<C> {
    clock: C,
    slack: u64,
    resolution: u64,
}

impl<C: Clock> Clock for SharedReadingsClock<C> {
    fn unix_nanos(&self) -> Result<i64> {
        self.clock.unix_nanos()
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.clock.sleep(nanos)
    }
    fn info(&self) -> ClockInfo {
        let info = self.clock.info().for_tests(false);
        info.slack(Duration::from_nanos(self.slack))
            .resolution(Duration::from_nanos(self.resolution))
    }
    fn monotonic(&self) -> Option<Duration> {
        self.clock.monotonic()
    }
}

fn shared_readings<C>(clock: C) -> SharedReadingsClock<C> {
    SharedReadingsClock { clock, slack: 0, resolution: 1 }
}

/// A clock that advances whenever a call sleeps. By default, calls wait only briefly.
#[derive(Clone, Default)]
struct SleepingClock(Arc<AtomicI64>);

impl SleepingClock {
    fn at_unix_ms(unix_ms: i64) -> SharedReadingsClock<Self> {
        shared_readings(Self(Arc::new(AtomicI64::new(unix_ms * 1_000_000))))
    }
}

impl Clock for SleepingClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.0.fetch_add(nanos.cast_signed(), Ordering::Relaxed);
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        let mut info = ClockInfo::new();
        info.in_event_loop = true;
        info
    }
    fn monotonic(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.0.load(Ordering::Relaxed).cast_unsigned()))
    }
}

/// Runs a test for each format, with a clock that shows [`START_MS`].
fn for_each_family_with_options(
    options: impl Fn(&Family) -> GeneratorOptions,
    test: impl Fn(&Family, &ScriptedClock, &Arc<dyn AnyGenerator>),
) {
    for family in FAMILIES {
        println!("{}", family.name);
        let clock = ScriptedClock::default();
        clock.set_readings([START_MS]);
        test(
            &family,
            &clock,
            &family.build(shared_readings(clock.clone()), options(&family)).unwrap(),
        );
    }
}

fn default_options(_: &Family) -> GeneratorOptions {
    GeneratorOptions::default()
}

#[track_caller]
fn assert_exhausted<V>(result: Result<V>, retry_at: i64) -> Error {
    let error = assert_code(result, "sequence_exhausted");
    assert_eq!(error.retry_at(), Some(retry_at));
    error
}

#[test]
fn the_first_id_is_in_the_tick_after_the_first_call() {
    for_each_family_with_options(default_options, |family, clock, ids| {
        let next = START_MS + family.tick;
        for ms in [START_MS, next - 1] {
            clock.set_readings([ms]);
            assert_exhausted(ids.try_generate(), next);
            assert_exhausted(ids.non_waiting_handle()(), next);
            assert_eq!(ids.try_fill(2), Ok(vec![]));
        }
        assert_eq!(clock.slept_nanos(), 0);
        // Statistics and the highest tick of a lease include only ticks that contain IDs.
        let other = ScriptedClock::default();
        other.set_readings([next - 1]);
        let untouched = family.generator(shared_readings(other));
        assert_eq!(ids.stats(), untouched.stats());
        clock.set_readings([next]);
        assert_id(ids.try_generate(), next, 0);
        clock.set_readings([next]);
        assert_id(ids.try_generate(), next, 1);
    });
}

#[test]
fn sealing_a_started_but_unused_generator_returns_none() {
    for_each_family_with_options(default_options, |family, _, ids| {
        assert_exhausted(ids.try_generate(), START_MS + family.tick);
        assert_eq!(ids.seal(), Ok(None));
        assert_code(ids.try_generate(), "generator_closed");
    });
}

#[test]
fn calls_wait_for_the_next_tick() {
    for family in FAMILIES {
        for on_exhausted in [OnExhausted::Wait, OnExhausted::Error] {
            let options = GeneratorOptions {
                on_exhausted: Some(on_exhausted),
                ..GeneratorOptions::default()
            };
            let build = || family.build(SleepingClock::at_unix_ms(START_MS), options).unwrap();
            let next = START_MS + family.tick;
            assert_id(build().generate(), next, 0);
            assert_id(build().handle(2)(), next, 0);
            let (made, filled) = build().fill(3);
            assert_eq!((filled, made.len(), made[0].unix_ms), (Ok(()), 3, next));
            // An explicit `max_wait` limits this wait as well.
            let options = GeneratorOptions { max_wait: Some(Duration::ZERO), ..options };
            assert_exhausted(
                family.build(SleepingClock::at_unix_ms(START_MS), options).unwrap().generate(),
                next,
            );
        }
    }
}

/// When a call waits for a later tick, the clock's default limit applies, which is 10 ms here.
#[test]
fn only_the_first_tick_extends_the_wait() {
    let family = &FAMILIES[1];
    let ids =
        family.build(SleepingClock::at_unix_ms(START_MS), GeneratorOptions::default()).unwrap();
    assert_id(ids.generate(), START_MS + family.tick, 0);
    super::family::exhaust_tick(&*ids, family, 1);
    assert_code(ids.generate(), "sequence_exhausted");
}

#[test]
fn the_first_call_waits_at_most_one_second() {
    let fields = [Field::timestamp(31, Tick::from_millis(10_000).unwrap(), 0), Field::sequence(32)];
    let layout = Layout::integer([Field::unused(1)].into_iter().chain(fields)).unwrap();
    let clock = SleepingClock::at_unix_ms(START_MS);
    let ids = layout::Builder::with_clock(layout, clock.clone()).build().unwrap();
    assert_exhausted(ids.generate(), START_MS + 10_000);
    let waited = clock.unix_nanos().unwrap() / 1_000_000 - START_MS;
    assert!((1000..=1020).contains(&waited), "{waited}");
}

/// At the end of a second, the slack moves the first usable tick past the next second, so the wait exceeds one second. Later
/// readings may lag by the slack as well.
#[test]
fn slack_extends_the_wait_for_the_first_tick() {
    let slack = 100 * NANOS_PER_MS;
    let clock = SharedReadingsClock { slack, ..SleepingClock::at_unix_ms(START_MS + 901) };
    let ids = FAMILIES[1].build(clock.clone(), GeneratorOptions::default()).unwrap();
    assert_exhausted(ids.try_generate(), START_MS + 2000);
    clock.clock.0.fetch_sub(slack.cast_signed(), Ordering::Relaxed);
    assert_id(ids.generate(), START_MS + 2000, 0);
}

#[test]
fn a_frozen_clock_ends_the_wait_with_an_error() {
    for_each_family_with_options(default_options, |family, clock, ids| {
        assert_exhausted(ids.generate(), START_MS + family.tick);
        assert!(clock.slept_nanos() > 0);
    });
}

/// Each generator starts after its predecessor's last ID.
#[test]
fn consecutive_generators_share_no_tick() {
    for family in FAMILIES {
        let clock = SleepingClock::at_unix_ms(START_MS + 1);
        let ticks: Vec<i64> = (0..20)
            .map(|_| {
                family
                    .build(clock.clone(), GeneratorOptions::default())
                    .unwrap()
                    .generate()
                    .unwrap()
                    .unix_ms
            })
            .collect();
        assert!(ticks.is_sorted_by(|a, b| a < b), "{}: {ticks:?}", family.name);
    }
}

/// An exact clock may already show the next tick while a coarse clock still shows the current tick. In addition, another
/// thread's clock reading may have been ahead by the slack.
#[test]
fn the_first_id_skips_the_slack_and_the_resolution() {
    for family in FAMILIES {
        let late = family.tick.cast_unsigned() * NANOS_PER_MS / 2 + 1;
        for (slack, resolution) in [(0, late + 1), (late, 1), (late / 2, late - late / 2 + 1)] {
            let clock = ScriptedClock::default();
            let shared = SharedReadingsClock { clock: clock.clone(), slack, resolution };
            let ids = family.generator(shared);
            // While this clock shows the middle of a tick, another clock may already show the next tick. Formats with ticks
            // of one millisecond are skipped, because such a tick contains no whole millisecond after its start.
            if family.tick == 1 {
                continue;
            }
            let (half, next) = (START_MS + family.tick / 2, START_MS + family.tick);
            clock.set_readings([half]);
            assert_exhausted(ids.try_generate(), next + family.tick);
            clock.set_readings([next]);
            assert_exhausted(ids.try_generate(), next + family.tick);
            clock.set_readings([next + family.tick]);
            assert_id(ids.try_generate(), next + family.tick, 0);
        }
    }
}

#[test]
fn a_reading_within_the_slack_is_not_a_rollback() {
    for family in FAMILIES {
        let slack = family.tick.cast_unsigned() * NANOS_PER_MS;
        let clock = ScriptedClock::default();
        let ids =
            family.generator(SharedReadingsClock { clock: clock.clone(), slack, resolution: 1 });
        // The first usable tick is START_MS + 2 ticks for every reading, whether the reading is before START_MS or not.
        for ms in [START_MS, START_MS - 1, START_MS - family.tick, START_MS + family.tick] {
            clock.set_readings([ms]);
            assert_exhausted(ids.try_generate(), START_MS + 2 * family.tick);
        }
        clock.set_readings([START_MS + 2 * family.tick]);
        assert_id(ids.try_generate(), START_MS + 2 * family.tick, 0);
    }
}

#[test]
fn a_rollback_before_the_first_id_is_handled() {
    for_each_family_with_options(default_options, |family, clock, ids| {
        let (next, earlier) = (START_MS + family.tick, START_MS - 3 * family.tick);
        assert_exhausted(ids.try_generate(), next);
        clock.set_readings([earlier]);
        match family.name {
            // The tick-tock bit distinguishes the new IDs from the IDs that an earlier generator generated in the same
            // tick.
            "sno" => {
                let made = ids.try_generate().unwrap();
                assert_eq!((made.unix_ms, made.bits >> 40 & 1), (earlier, 1));
                assert!(ids.stats().contains("drifts: 1"), "{}", ids.stats());
                // When the clock returns to the skipped tick, no ID is generated in that tick.
                clock.set_readings([START_MS - 4]);
                assert_id(ids.try_generate(), START_MS - 4, 0);
                clock.set_readings([START_MS]);
                assert_exhausted(ids.try_generate(), next);
                clock.set_readings([next]);
                assert_id(ids.try_generate(), next, 0);
            }
            // A Hot Guid generator stays in the latest second that the clock has shown.
            "Hot Guid" => drop(assert_exhausted(ids.try_generate(), next)),
            _ => {
                let error = assert_code(ids.try_generate(), "clock_behind");
                assert_eq!(error.retry_at(), Some(next));
            }
        }
        clock.set_readings([next]);
        assert!(ids.try_generate().is_ok());
    });
}

#[test]
fn the_tick_tock_bit_never_flips_into_the_skipped_tick() {
    let clock = ScriptedClock::default();
    let ids = FAMILIES[0].generator(shared_readings(clock.clone()));
    clock.set_readings([START_MS]);
    assert_exhausted(ids.try_generate(), START_MS + 4);
    clock.set_readings([START_MS + 4]);
    assert_id(ids.try_generate(), START_MS + 4, 0);
    clock.set_readings([START_MS]);
    assert_exhausted(ids.try_generate(), START_MS + 4);
    clock.set_readings([START_MS - 4]);
    assert_eq!(ids.try_generate().unwrap().bits >> 40 & 1, 1);
}

#[test]
fn a_reading_older_than_the_first_call_is_not_a_rollback() {
    for_each_family_with_options(default_options, |family, clock, ids| {
        let later = START_MS + 2 * family.tick;
        // The nested call gets the first reading, so it is the generator's first call.
        clock.set_readings([later, START_MS, later]);
        let other = ids.clone();
        clock.run_inside_reading(0, move || drop(other.try_generate()));
        assert_exhausted(ids.try_generate(), later + family.tick);
        clock.set_readings([later + family.tick]);
        assert_id(ids.try_generate(), later + family.tick, 0);
        assert!(!ids.stats().contains("drifts: 1"), "{}", ids.stats());
    });
}

#[test]
fn a_window_does_not_exempt_from_skipping_the_first_tick() {
    let window = |start| {
        move |family: &Family| GeneratorOptions {
            window: Some((START_MS + start * family.tick, START_MS + 10 * family.tick)),
            ..GeneratorOptions::default()
        }
    };
    // The windows start before, at and after the reading.
    for start in [-1, 0, 1] {
        for_each_family_with_options(window(start), |family, clock, ids| {
            let begins = START_MS + start.max(0) * family.tick;
            if start > 0 {
                let error = assert_code(ids.try_generate(), "lease_not_started");
                assert_eq!(error.retry_at(), Some(begins));
                clock.set_readings([begins]);
            }
            assert_exhausted(ids.try_generate(), begins + family.tick);
            clock.set_readings([begins + family.tick]);
            assert_id(ids.try_generate(), begins + family.tick, 0);
        });
    }
}

#[test]
fn system_clocks_skip_the_first_tick() {
    use polyflake::clock::{ExactClock, SystemClock, TickingClock};

    let ticking = TickingClock::new(Duration::from_millis(1)).unwrap();
    let clocks: [&dyn Clock; 3] = [&SystemClock, &ExactClock, &ticking];
    assert!(clocks.iter().all(|clock| !clock.info().for_tests));
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    assert!(!polyflake::clock::CoarseClock::new().unwrap().info().for_tests);
    assert!(ManualClock::new(0).info().for_tests);
}

#[test]
fn a_random_identity_starts_without_a_wait() {
    let clock = shared_readings(ManualClock::at_unix_ms(START_MS));
    assert!(sno::Generator::builder().clock(&clock).build().unwrap().try_generate(7).is_ok());
    assert!(hotguid::Generator::builder().clock(&clock).build().unwrap().try_generate(7).is_ok());
    let windowed = hotguid::Generator::builder().clock(&clock).window(START_MS, START_MS + 5000);
    assert!(windowed.build().unwrap().try_generate(7).is_ok());
    // The caller's function may return the same identity twice.
    let drawn = sno::Generator::builder().clock(&clock);
    let drawn = drawn
        .identity_from(|| Ok(sno::Assignment { partition: 7, sequence_min: 0 }))
        .build()
        .unwrap();
    assert_exhausted(drawn.try_generate(7), START_MS + 4);
    let drawn =
        hotguid::Generator::builder().clock(&clock).identity_from(|| Ok([7; 8])).build().unwrap();
    assert_exhausted(drawn.try_generate(7), START_MS + 1000);
    assert_exhausted(
        hotguid::Generator::with_clock(&clock, || Ok([7; 8])).try_generate(7),
        START_MS + 1000,
    );
    let draw = || Ok(sno::Assignment { partition: 7, sequence_min: 0 });
    assert_exhausted(sno::Generator::with_clock(&clock, draw).try_generate(7), START_MS + 4);
}

#[test]
fn a_snapshot_with_a_used_tick_starts_without_a_wait() {
    let (manual, ms) = (ManualClock::at_unix_ms(START_MS), START_MS);
    let clock = shared_readings(&manual);
    let sno = || sno::Builder::with_clock(&clock);
    let blank = sno().partition(7).build().unwrap().close().unwrap();
    assert_eq!(blank, Snapshot::new([0, 7], 0, u16::MAX));
    assert_exhausted(sno().restore(blank).unwrap().try_generate(7), ms + 4);
    // A restored generator that has generated no ID has not used the tick that it skipped.
    let begun = sno().restore(blank).unwrap();
    assert_exhausted(begun.try_generate(7), ms + 4);
    let begun = begun.close().unwrap();
    let restored = sno().restore(begun).unwrap();
    assert_exhausted(restored.try_generate(7), ms + 4);
    manual.set_unix_ms(START_MS + 4);
    let first = restored.try_generate(7).unwrap();
    let used = restored.close().unwrap();
    let second = sno().restore(used).unwrap().try_generate(7).unwrap();
    assert_eq!((second.tick(), second.sequence()), (first.tick(), first.sequence() + 1));
}

#[test]
fn a_layout_snapshot_with_a_used_tick_resumes_without_a_wait() {
    let manual = ManualClock::at_unix_ms(START_MS);
    let clock = shared_readings(&manual);
    let layout = || layout::preset("sonyflake", []).unwrap();
    let builder = || layout::Builder::with_clock(layout(), &clock).bind("machine", 7);
    let blank = builder().build().unwrap().close().unwrap();
    let begun = builder().restore(blank).unwrap();
    assert_exhausted(begun.try_generate(), START_MS + 10);
    let begun = begun.close().unwrap();
    assert_eq!((begun.tick > 0, begun.next_sequence), (true, 256));
    let restored = builder().restore(begun).unwrap();
    assert_exhausted(restored.try_generate(), START_MS + 10);
    manual.set_unix_ms(START_MS + 10);
    let first = restored.try_generate().unwrap();
    let again = builder().restore(restored.close().unwrap()).unwrap();
    assert!(again.try_generate().unwrap() > first);
}

#[test]
fn a_grant_resumes_after_its_last_second() {
    let manual = ManualClock::at_unix_ms(START_MS);
    let clock = shared_readings(&manual);
    let builder = || {
        let grant = Grant::new(42, 1_730_000_000, 2_803_741_824).unwrap();
        randflake::Builder::with_clock(grant, [7; 16], &clock)
    };
    assert_eq!(builder().build().unwrap().close(), Ok(None));
    let ids = builder().build().unwrap();
    assert_exhausted(ids.try_generate(), START_MS + 1000);
    assert_eq!(ids.stats().last_second, None);
    let second = ids.close().unwrap().unwrap();
    assert_eq!(second, START_MS / 1000);
    manual.set_unix_ms(START_MS + 1000);
    assert!(builder().resume_after(second).build().unwrap().try_generate().is_ok());
}

/// A new state machine is in tick 0, regardless of the IDs of an earlier generator.
#[test]
fn the_first_tick_of_a_format_is_skipped_like_any_other() {
    let clock = shared_readings(ManualClock::at_unix_ms(START_MS));
    let tick = Tick::from_millis(250).unwrap();
    let fields = [Field::unused(1), Field::timestamp(41, tick, START_MS), Field::sequence(22)];
    let layout = Layout::integer(fields).unwrap();
    let ids = layout::Builder::with_clock(layout, &clock).build().unwrap();
    assert_exhausted(ids.try_generate(), START_MS + 250);
    assert_exhausted(ids.handle().try_generate(), START_MS + 250);
    let unset = shared_readings(ManualClock::at_unix_ms(0));
    let ids = hotguid::Builder::with_clock(&unset, || Ok([7; 8])).build().unwrap();
    assert_exhausted(ids.try_generate(7), 1000);
}

/// A sequence without a timestamp has no tick to wait for, so it repeats after a restart.
#[test]
fn a_sequence_without_a_timestamp_starts_without_a_wait() {
    let layout = Layout::integer([Field::unused(54), Field::sequence(10)]).unwrap();
    let clock = shared_readings(ManualClock::at_unix_ms(START_MS));
    let ids = layout::Builder::with_clock(layout, clock).sequence_only(true).build().unwrap();
    assert_eq!(ids.generate().unwrap().as_integer(), Some(0));
}

/// A batch waits until its first tick begins. All of its IDs then belong to that tick, without a further wait.
#[test]
fn a_batch_waits_for_its_first_tick_only() {
    let ids = hotguid::Builder::with_clock(SleepingClock::at_unix_ms(START_MS), || Ok([7; 8]))
        .build()
        .unwrap();
    let mut batch = [HotGuid::default(); 100];
    ids.fill(7, &mut batch).unwrap();
    assert_eq!(batch[0].timestamp(), START_MS / 1000 + 1);
    assert_eq!(batch[99].timestamp(), START_MS / 1000 + 1);
}

/// A grant starts only after the previous grant has ended.
#[test]
fn a_lease_grant_starts_without_a_wait() {
    let clock = shared_readings(ManualClock::at_unix_ms(START_MS));
    let granted = |partition, start| {
        let builder = sno::Builder::with_clock(&clock).partition(partition);
        builder.window(start, START_MS + 5000).build()
    };
    let leased = sno::Leased::new(granted(7, START_MS).unwrap()).unwrap();
    assert_eq!(leased.try_generate(7).unwrap().partition(), 7);
    leased.move_to(|_| granted(8, START_MS)).unwrap();
    assert_eq!(leased.try_generate(7).unwrap().partition(), 8);
    let builder = sno::Builder::with_clock(&clock).partition(9).granted();
    assert!(builder.build().unwrap().try_generate(7).is_ok());
}

/// A clock for threads that cannot sleep.
struct SpinningClock(SharedReadingsClock<SleepingClock>);

impl Clock for SpinningClock {
    fn unix_nanos(&self) -> Result<i64> {
        self.0.unix_nanos()
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.0.sleep(nanos)
    }
    fn info(&self) -> ClockInfo {
        let mut info = self.0.info();
        info.spins = true;
        info
    }
    fn monotonic(&self) -> Option<Duration> {
        self.0.monotonic()
    }
}

#[test]
fn a_thread_that_cannot_sleep_spins_only_for_short_ticks() {
    for family in FAMILIES {
        let (clock, next) = (SleepingClock::at_unix_ms(START_MS), START_MS + family.tick);
        let ids = family.generator(SpinningClock(clock.clone()));
        if family.tick <= 10 {
            assert_id(ids.generate(), next, 0);
            continue;
        }
        let error = assert_exhausted(ids.generate(), next);
        assert!(error.to_string().ends_with("await the asynchronous call"), "{error}");
        assert_eq!(clock.unix_nanos().unwrap(), START_MS * 1_000_000);
        let error = assert_exhausted(ids.try_generate(), next);
        assert!(!error.to_string().contains("asynchronous"), "{error}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_async_call_waits_even_if_threads_cannot_sleep() {
    let clock = SleepingClock::at_unix_ms(START_MS);
    let ids =
        hotguid::Builder::with_clock(SpinningClock(clock.clone()), || Ok([7; 8])).build().unwrap();
    let sleep = async |time: Duration| clock.sleep(time.as_nanos().try_into().unwrap()).unwrap();
    let id = ids.generate_async(sleep, 7).await.unwrap();
    assert_eq!(id.timestamp(), START_MS / 1000 + 1);
}
