//! Tests the sno generator with windows, and with misbehaving clocks and callers.

mod support;

use std::{
    collections::HashSet,
    num::NonZeroU32,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use polyflake::{
    Error, ErrorKind,
    clock::{Clock, ManualClock, Stall},
    sno::{Assignment, Builder, Generator, Handle, Snapshot, Sno},
};
use support::{BrokenClock, CoarseClock, ReadingsClock, ScriptedClock, assert_code};

/// The start of a tick, in Unix milliseconds.
const START_MS: i64 = 1_763_650_000_000;
const LONG_WAIT: Duration = Duration::from_secs(1);

fn builder_at_start(clock: &ScriptedClock) -> Builder<ScriptedClock> {
    clock.set_readings([START_MS]);
    Generator::builder().clock(clock.clone()).partition(7)
}

fn small_pool_builder(clock: &ScriptedClock) -> Builder<ScriptedClock> {
    builder_at_start(clock).sequence_min(10).sequence_max(13)
}

fn generate(ids: &Generator<ScriptedClock>, count: usize) -> Vec<Sno> {
    (0..count).map(|_| ids.generate(0).unwrap()).collect()
}

#[test]
fn a_wait_is_no_longer_than_max_wait() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).max_wait(Duration::from_millis(25)).build().unwrap();
    generate(&ids, 1);
    clock.set_readings([START_MS - 1000]);
    generate(&ids, 1);
    // All the following readings are behind the generator's last tick and before its safe point, so the call has to wait.
    clock.set_readings((0..1000).map(|ms| START_MS - 5000 + ms));
    let error = assert_code(ids.generate(0), "clock_behind");
    assert_eq!(error.retry_at(), Some(START_MS - 1000));
    assert_eq!(clock.slept_nanos(), 25_000_000);
}

/// The call has waited for a clock that was behind, and for a full tick.
#[test]
fn a_call_that_found_the_clock_behind_never_moves_backwards() {
    let clock = ScriptedClock::default();
    let ids = small_pool_builder(&clock).build().unwrap();
    for (reading, count) in [(START_MS, 1), (START_MS - 1000, 1), (START_MS + 1000, 4)] {
        clock.set_readings([reading]);
        generate(&ids, count);
    }
    // The second rollback is short enough for another call.
    clock.set_readings([START_MS - 4, START_MS + 1000, START_MS + 500, START_MS + 1004]);
    assert_eq!(ids.generate(0).unwrap().unix_ms(), START_MS + 1004);
}

#[test]
fn a_stalled_call_reports_before_each_sleep() {
    let clock = ScriptedClock::default();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = notices.clone();
    let ids = small_pool_builder(&clock)
        .on_stall(move |stall| {
            let Stall { reason, unix_ms, stalled, slept_ms, .. } = *stall;
            heard.lock().unwrap().push((reason, unix_ms, stalled, slept_ms));
        })
        .build()
        .unwrap();
    for _ in 0..4 {
        ids.generate(0).unwrap();
    }
    assert!(notices.lock().unwrap().is_empty());
    clock.set_readings([START_MS, START_MS + 1, START_MS + 4]);
    ids.generate(0).unwrap();
    let notice = |unix_ms, slept_ms| (ErrorKind::SequenceExhausted, unix_ms, 1, slept_ms);
    assert_eq!(*notices.lock().unwrap(), [notice(START_MS, 0), notice(START_MS + 1, 4)]);
    // The call has stopped waiting, so the next call begins a new wait. That wait lasts until the clock has shown the same
    // time for the maximum number of readings.
    notices.lock().unwrap().clear();
    for _ in 0..3 {
        ids.generate(0).unwrap();
    }
    assert_code(ids.generate(0), "sequence_exhausted");
    let patience: Vec<_> = (0..16).map(|slept| notice(START_MS + 4, 4 * slept)).collect();
    assert_eq!(*notices.lock().unwrap(), patience);
}

#[test]
fn calls_wait_until_the_unsafe_past_ends() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).max_wait(LONG_WAIT).build().unwrap();
    generate(&ids, 1);
    clock.set_readings([START_MS - 400]);
    generate(&ids, 1);
    clock.set_readings([START_MS + 40]);
    let last = generate(&ids, 1)[0];
    // START_MS - 4 is before the safe point, so the call has to wait. At START_MS + 4, a new call could flip the tick-tock
    // bit, but a call that has already had to wait must not.
    clock.set_readings([START_MS - 4, START_MS + 4, START_MS + 8, START_MS + 40]);
    let id = ids.generate(0).unwrap();
    assert_eq!((id.tick(), id.tick_tock(), id.sequence()), (last.tick(), last.tick_tock(), 1));
    clock.set_readings([START_MS + 4]);
    assert_eq!(ids.generate(0).unwrap().tick_tock(), !last.tick_tock());
}

#[test]
fn sequence_bounds_must_span_at_least_four_sequences() {
    let build = |min, max| {
        builder_at_start(&ScriptedClock::default()).sequence_min(min).sequence_max(max).build()
    };
    for (min, max) in [(7, 7), (0, 0), (0, 2), (5, 4), (65_000, 65_002)] {
        let error = assert_code(build(min, max), "out_of_range");
        let range = format!("expected sequence_max from {} to 65535, found {max}", min + 3);
        assert_eq!(error.to_string(), range);
    }
    for (min, max) in [(65_533, 65_535), (65_535, 0), (65_535, 65_535)] {
        let error = assert_code(build(min, max), "out_of_range");
        assert_eq!(
            error.to_string(),
            format!("expected sequence_min from 0 to 65532, found {min}")
        );
    }
    for (min, max) in [(0, 3), (65_532, 65_535), (0, 65_535), (100, 103)] {
        assert!(build(min, max).is_ok());
    }
}

#[test]
fn generate_at_does_not_read_the_clock() {
    let ids = Generator::builder().clock(BrokenClock).partition(1).build().unwrap();
    assert_code(ids.stats(), "clock_failed");
    assert!(ids.generate_at(START_MS, 0).is_ok());
}

#[test]
fn a_generator_survives_a_panicking_callback() {
    let clock = ScriptedClock::default();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = notices.clone();
    let ids = small_pool_builder(&clock).on_stall(move |stall| {
        heard.lock().unwrap().push(stall.stalled);
        panic!("a callback's own");
    });
    let ids = ids.build().unwrap();
    let mut handle = Handle::with_first(&ids, NonZeroU32::new(2).unwrap());
    let panics = |call: &mut dyn FnMut() -> Result<Sno, Error>| {
        catch_unwind(AssertUnwindSafe(call)).expect_err("a panic");
    };
    assert_eq!(handle.generate(0).unwrap().sequence(), 10);
    clock.run_inside_reading(0, || panic!("the clock's own"));
    panics(&mut || ids.generate(0));
    clock.run_inside_reading(0, || panic!("the clock's own"));
    panics(&mut || handle.generate(0));
    let sequences = [handle.generate(0), ids.generate(0), ids.generate(0)];
    assert_eq!(sequences.map(|id| id.unwrap().sequence()), [11, 12, 13]);
    // A call whose wait ended with a panic no longer counts as waiting.
    panics(&mut || ids.generate(0));
    panics(&mut || ids.generate(0));
    assert_eq!(*notices.lock().unwrap(), [1, 1]);
    clock.set_readings([START_MS + 4]);
    assert_eq!(ids.generate(0).unwrap().sequence(), 10);
}

#[test]
fn a_snapshot_resumes_with_the_system_clock() {
    let snapshot = small_pool_builder(&ScriptedClock::default()).build().unwrap().close().unwrap();
    for resume in [Builder::restore, Builder::import_original] {
        let again = resume(Generator::builder(), snapshot).unwrap();
        assert_eq!((again.partition(), again.generate(0).unwrap().sequence()), (Some(7), 10));
    }
}

#[test]
fn import_original_reads_bounds_like_the_original() {
    for (given, read) in
        [((0, 0), (0, 65_535)), ((5, 0), (5, 65_535)), ((65_535, 0), (0, 65_535)), ((9, 2), (2, 9))]
    {
        let snapshot = Snapshot::new([0, 7], given.0, given.1);
        let ids = Generator::builder().import_original(snapshot).unwrap();
        let stats = ids.stats().unwrap();
        assert_eq!((stats.sequence_min, stats.sequence_max), read);
        assert_eq!(ids.generate(0).unwrap().sequence(), read.0);
    }
}

#[test]
fn a_random_lower_bound_is_reported_and_saved() {
    let clock = ScriptedClock::default();
    clock.set_readings([START_MS]);
    let draw = || Ok(Assignment { partition: 7, sequence_min: 500 });
    let ids = Generator::builder().clock(clock).identity_from(draw).build().unwrap();
    assert_eq!(generate(&ids, 2)[1].sequence(), 501);
    let stats = ids.stats().unwrap();
    assert_eq!((stats.sequence_min, stats.sequence, stats.len), (500, 501, 2));
    let snapshot = ids.close().unwrap();
    assert_eq!(
        (snapshot.sequence_min, snapshot.sequence_max, snapshot.sequence),
        (500, 65_535, 501)
    );
}

/// A new generator's state already contains the format's first tick, although no ID has been generated in that tick.
#[test]
fn a_random_lower_bound_applies_in_the_formats_first_tick() {
    const EPOCH_MS: i64 = 1_262_304_000_000;
    let clock = ScriptedClock::default();
    clock.set_readings([EPOCH_MS + 8, EPOCH_MS]);
    let draw = || Ok(Assignment { partition: 7, sequence_min: 500 });
    let builder =
        Generator::builder().clock(clock).identity_from(draw).window(EPOCH_MS, EPOCH_MS + 4);
    let ids = builder.build().unwrap();
    assert_code(ids.generate(1), "lease_expired");
    assert_eq!(ids.partition(), None, "a failed call assigns no partition");
    assert_eq!(generate(&ids, 1)[0].sequence(), 500);
}

#[test]
fn a_closed_generators_snapshot_resumes() {
    let clock = ScriptedClock::default();
    let ids = small_pool_builder(&clock).build().unwrap();
    let first = generate(&ids, 2);
    let snapshot = ids.close().unwrap();
    let mut expected = Snapshot::new([0, 7], 10, 13);
    expected.sequence = 11;
    (expected.now, expected.wall_hi) = (first[1].tick(), first[1].tick());
    assert_eq!(snapshot, expected);
    assert_code(ids.generate_at(START_MS, 0), "generator_closed");
    let again = Generator::builder().clock(clock.clone()).restore(snapshot).unwrap();
    let second = generate(&again, 2);
    assert_eq!(
        first.iter().chain(&second).map(Sno::sequence).collect::<Vec<_>>(),
        [10, 11, 12, 13]
    );
    assert_code(again.generate(0), "sequence_exhausted");
    // The Go library writes such a snapshot if its clock was set back. The last sequence number of the tick is then unknown.
    expected.now -= 1;
    let again = Generator::builder().clock(clock.clone()).restore(expected).unwrap();
    assert_code(again.generate(0), "sequence_exhausted");
}

#[test]
fn snapshot_json_uses_the_originals_names() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    generate(&ids, 1);
    let snapshot = ids.close().unwrap();
    let json = serde_json::to_string(&snapshot).unwrap();
    assert!(
        json.starts_with(
            r#"{"format":1,"partition":[0,7],"sequenceMin":0,"sequenceMax":65535,"sequence":0,"now":1"#
        ),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), snapshot);
    let original = json.replace("\"format\":1,", "");
    assert_eq!(serde_json::from_str::<Snapshot>(&original).unwrap(), snapshot);
    for (from, to) in [
        ("\"drifts\":0", "\"drifts\":-1"),
        ("\"drifts\":0", "\"drift\":0"),
        (",\"drifts\":0", ""),
        ("\"format\":1", "\"format\":2"),
    ] {
        assert!(serde_json::from_str::<Snapshot>(&json.replace(from, to)).is_err());
    }
}

#[test]
fn invalid_snapshots_are_rejected() {
    let clock = ScriptedClock::default();
    let ids = small_pool_builder(&clock).build().unwrap();
    generate(&ids, 1);
    let good = ids.close().unwrap();
    let restore = |change: fn(&mut Snapshot)| {
        let mut changed = good;
        change(&mut changed);
        Generator::builder().clock(clock.clone()).restore(changed)
    };
    assert!(restore(|_| ()).is_ok());
    assert_code(restore(|snapshot| snapshot.sequence = 9), "out_of_range");
    assert_code(restore(|snapshot| snapshot.sequence_max = 12), "out_of_range");
    assert_code(restore(|snapshot| snapshot.wall_hi = 1 << 39), "out_of_range");
    assert_code(restore(|snapshot| snapshot.wall_safe = u64::MAX), "out_of_range");
}

#[test]
fn default_partitions_differ_and_start_at_random_sequences() {
    let ids: Vec<_> = (0..100).map(|_| Generator::new()).collect();
    assert!(ids.iter().all(|ids| ids.partition().is_none()));
    let first: Vec<_> = ids.iter().map(|ids| ids.generate(0).unwrap()).collect();
    assert_eq!(first.iter().map(Sno::partition).collect::<HashSet<_>>().len(), 100);
    assert!(first.iter().all(|id| id.sequence() <= 32_767));
    assert!(first.iter().map(Sno::sequence).collect::<HashSet<_>>().len() > 90);
    assert!(ids.iter().zip(&first).all(|(ids, id)| ids.partition() == Some(id.partition())));
}

#[test]
fn explicit_bounds_apply_to_a_default_partition() {
    let clock = ScriptedClock::default();
    clock.set_readings([START_MS]);
    let ids = Generator::builder().clock(clock).sequence_min(5).build().unwrap();
    assert_eq!(ids.generate(0).unwrap().sequence(), 5);
}

#[test]
fn missing_entropy_returns_an_error() {
    let draw = || -> Result<Assignment, Error> { Err(Error::new(ErrorKind::EntropyUnavailable)) };
    let ids = Generator::builder().identity_from(draw).build().unwrap();
    assert_code(ids.generate(0), "entropy_unavailable");
    assert_code(ids.close(), "entropy_unavailable");
}

#[test]
fn generate_at_uses_a_separate_wrapping_sequence() {
    let clock = ScriptedClock::default();
    let ids = small_pool_builder(&clock).build().unwrap();
    let made: Vec<_> = (0..6).map(|_| ids.generate_at(START_MS + 5, 9).unwrap()).collect();
    assert_eq!(made.iter().map(Sno::sequence).collect::<Vec<_>>(), [10, 11, 12, 13, 10, 11]);
    assert!(
        made.iter().all(|id| id.unix_ms() == START_MS + 4 && id.metabyte() == 9 && !id.tick_tock())
    );
    assert_eq!(ids.generate(0).unwrap().sequence(), 10);
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a tick")]
fn two_generators_share_a_partition_by_sequence_bounds() {
    let clock = ScriptedClock::default();
    let low = builder_at_start(&clock).sequence_max(32_767).build().unwrap();
    let high = builder_at_start(&clock).sequence_min(32_768).build().unwrap();
    let all: HashSet<_> =
        generate(&low, 32_768).into_iter().chain(generate(&high, 32_768)).collect();
    assert_eq!(all.len(), 65_536);
}

#[test]
fn the_rest_of_a_block_is_lost_after_a_rollback() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    let mut handle = ids.handle();
    handle.generate(0).unwrap();
    clock.set_readings([START_MS + 4]);
    handle.generate(0).unwrap();
    clock.set_readings([START_MS]);
    let back = handle.generate(0).unwrap();
    assert_eq!((back.unix_ms(), back.tick_tock(), back.sequence()), (START_MS, true, 0));
}

#[test]
fn a_snapshot_resumes_after_the_blocks_of_handles() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    ids.handle().generate(0).unwrap();
    let again = Generator::builder().clock(clock).restore(ids.close().unwrap()).unwrap();
    assert_eq!(again.generate(0).unwrap().sequence(), 64);
}

#[test]
fn a_clock_stuck_before_the_next_tick_ends_the_wait() {
    let readings = AtomicI64::new(0);
    // This clock alternates between two times just before the next tick, so it never shows the same time twice in a row.
    let lingering = ReadingsClock(|| {
        let reading = readings.fetch_add(1, Ordering::Relaxed);
        assert!(reading < 100_000, "a wait without an end");
        Ok((START_MS + 4) * 1_000_000 - 1 - reading % 2)
    });
    let ids = Generator::builder().clock(lingering).partition(7).sequence_max(3).build().unwrap();
    assert!((0..4).all(|_| ids.generate(0).is_ok()));
    let error = assert_code(ids.generate(0), "sequence_exhausted");
    assert_eq!(error.retry_at(), Some(START_MS + 4));
}

/// A clock that advances by one tick at each reading. During each reading, the clock also makes an ID with the generator
/// that requested the reading.
#[derive(Default)]
struct InterferingClock {
    asker: OnceLock<Arc<Generator<Arc<Self>>>>,
    readings: AtomicI64,
    is_inside: AtomicBool,
}

impl Clock for InterferingClock {
    fn unix_nanos(&self) -> Result<i64, Error> {
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        if !self.is_inside.swap(true, Ordering::Relaxed) {
            self.asker.get().unwrap().generate(0)?;
            self.is_inside.store(false, Ordering::Relaxed);
        }
        assert!(reading < 100_000, "a call without an end");
        Ok((START_MS + 4 * reading) * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}

#[test]
fn a_clock_that_always_outruns_the_call_fails() {
    let clock = Arc::new(InterferingClock::default());
    let ids = Generator::builder().clock(clock.clone()).partition(7).build().unwrap();
    let ids = clock.asker.get_or_init(|| Arc::new(ids));
    assert_code(ids.generate(0), "clock_failed");
    clock.is_inside.store(true, Ordering::Relaxed);
    assert!(ids.generate(0).is_ok(), "usable afterwards");
}

/// A static generator checks its clock at each call, because there is no earlier point at which the clock could be
/// rejected.
#[test]
fn a_static_with_a_clock_coarser_than_a_tick_rejects_calls() {
    const ASSIGNMENT_SOURCE: fn() -> Result<Assignment, Error> =
        || Ok(Assignment { partition: 7, sequence_min: 0 });
    static FINE_GENERATOR: Generator<CoarseClock> =
        Generator::with_clock(CoarseClock(4_000_000), ASSIGNMENT_SOURCE);
    static COARSE_GENERATOR: Generator<CoarseClock> =
        Generator::with_clock(CoarseClock(4_000_001), ASSIGNMENT_SOURCE);
    assert!(FINE_GENERATOR.generate(0).is_ok());
    for _ in 0..2 {
        let error = assert_code(COARSE_GENERATOR.generate(0), "out_of_range");
        assert_eq!(error.field(), Some("resolution"));
        assert_code(COARSE_GENERATOR.try_generate(0), "out_of_range");
        assert_code(COARSE_GENERATOR.handle().generate(0), "out_of_range");
        let error = assert_code(COARSE_GENERATOR.fill(0, &mut [Sno::default(); 2]), "out_of_range");
        assert_eq!(error.written(), Some(0));
    }
    assert_eq!(COARSE_GENERATOR.stats().unwrap().wall_hi, 0);
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
#[cfg_attr(miri, ignore = "Miri has no coarse clock")]
fn the_coarse_clock_returns_the_time() {
    use polyflake::clock::{CoarseClock, ExactClock};

    let clock = CoarseClock::new().unwrap();
    let shown = clock.unix_nanos().unwrap();
    let behind = ExactClock.unix_nanos().unwrap() - shown;
    assert!((0..1_000_000_000).contains(&behind), "{behind}");
    if clock.info().resolution <= Duration::from_millis(4) {
        let ids = Generator::builder().clock(clock).build().unwrap();
        assert_eq!((0..1000).map(|_| ids.generate(0).unwrap()).collect::<HashSet<_>>().len(), 1000);
    }
}

#[test]
fn a_snapshot_of_the_formats_first_tick_resumes_after_its_id() {
    const FIRST_MS: i64 = 1_262_304_000_000;
    let clock = ManualClock::at_unix_ms(FIRST_MS);
    let ids = Generator::builder().clock(&clock).partition(7).build().unwrap();
    let id = ids.generate(0).unwrap();
    assert_eq!((id.tick(), id.sequence()), (0, 0));
    let again = Generator::builder().clock(&clock).restore(ids.close().unwrap()).unwrap();
    assert_eq!(again.generate(0).unwrap().sequence(), 1);
    // The original implementation would treat this snapshot as the snapshot of a generator that has not generated an ID.
    let other = Generator::builder().clock(&clock).partition(8).build().unwrap();
    other.generate(0).unwrap();
    let imported = Generator::builder().clock(&clock).import_original(other.close().unwrap());
    assert_eq!(imported.unwrap().generate(0).unwrap().sequence(), 0);
}

#[test]
fn generate_at_ignores_windows() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).window(START_MS, START_MS + 4000).build().unwrap();
    assert_eq!(ids.generate_at(START_MS - 86_400_000, 0).unwrap().unix_ms(), START_MS - 86_400_000);
}

#[test]
fn a_const_is_a_new_generator_at_each_use() {
    #[allow(clippy::declare_interior_mutable_const, reason = "what is tested")]
    const NEW_GENERATOR: Generator = Generator::new();
    static SHARED_GENERATOR: Generator = Generator::new();
    #[allow(clippy::borrow_interior_mutable_const, reason = "what is tested")]
    let partitions = [NEW_GENERATOR.generate(0).unwrap(), NEW_GENERATOR.generate(0).unwrap()]
        .map(|id| id.partition());
    assert_ne!(partitions[0], partitions[1]);
    let partitions = [SHARED_GENERATOR.generate(0).unwrap(), SHARED_GENERATOR.generate(0).unwrap()]
        .map(|id| id.partition());
    assert_eq!(partitions[0], partitions[1]);
}

/// A clock of a program's own, which does not say that it is for tests. A sleep advances it.
#[derive(Default)]
struct OwnClock {
    passed: AtomicI64,
    stands_still: bool,
}

impl Clock for OwnClock {
    fn unix_nanos(&self) -> Result<i64, Error> {
        Ok(START_MS * 1_000_000 + self.passed.load(Ordering::Relaxed))
    }
    fn sleep(&self, nanos: u64) -> Result<(), Error> {
        if !self.stands_still {
            self.passed.fetch_add(nanos.cast_signed(), Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn generators_with_a_clock_of_their_own_do_not_repeat_one_another() {
    let clock = OwnClock::default();
    let ids = (0..1000).map(|_| {
        let ids = Generator::builder().partition(42).clock(&clock).build().unwrap();
        ids.generate(7).unwrap()
    });
    assert_eq!(ids.collect::<HashSet<_>>().len(), 1000);
}

#[test]
fn a_clock_that_stands_still_is_reported_with_the_option_for_tests() {
    let clock = OwnClock { stands_still: true, ..OwnClock::default() };
    let ids = Generator::builder().partition(42).clock(&clock).build().unwrap();
    let error = assert_code(ids.generate(7), "sequence_exhausted");
    assert_eq!(error.retry_at(), Some(START_MS + 4));
    let expected = "the clock does not advance to 1763650000004 ms; for a test, use `ManualClock` in Rust, \
                    `test_clock` in Python or `testClock` in JavaScript";
    assert!(error.to_string().ends_with(expected), "{error}");
}
