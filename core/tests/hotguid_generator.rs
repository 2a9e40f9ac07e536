//! Tests the Hot Guid generator with windows, and with misbehaving clocks and callers.

mod support;

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU8, Ordering},
};

use polyflake::{
    Error, ErrorKind, Result,
    clock::Clock,
    hotguid::{self, Builder, Generator, HotGuid, LAST_COUNTER, Parts},
};
use support::{CoarseClock, ScriptedClock, assert_code};

/// The second in which the tests start, as a Unix timestamp.
const START_SECONDS: i64 = 1_763_650_000;

const MACHINE: [u8; 5] = [0xaa, 0xbb, 0xcc, 0xdd, 0xee];
/// A counter start close to the counter's maximum.
const COUNTER_START: u32 = 0xff_fffe;

#[allow(clippy::unnecessary_wraps, reason = "the type of a source of random bytes")]
fn fixed_bytes() -> Result<[u8; 8]> {
    Ok([0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0xff, 0xfe])
}

/// A static generator checks its clock at each call, because no earlier step can reject the clock.
#[test]
fn a_static_with_a_clock_coarser_than_a_second_rejects_calls() {
    static FINE_GENERATOR: Generator<CoarseClock> =
        Generator::with_clock(CoarseClock(1_000_000_000), fixed_bytes);
    static COARSE_GENERATOR: Generator<CoarseClock> =
        Generator::with_clock(CoarseClock(1_000_000_001), fixed_bytes);
    assert!(FINE_GENERATOR.generate(0).is_ok());
    for _ in 0..2 {
        let error = assert_code(COARSE_GENERATOR.generate(0), "out_of_range");
        assert_eq!(error.field(), Some("resolution"));
        assert_code(COARSE_GENERATOR.handle().generate(0), "out_of_range");
    }
    assert_eq!(COARSE_GENERATOR.stats().last_second, None);
}

/// Returns a builder whose clock shows the start of second [`START_SECONDS`].
fn builder_at_start(clock: &ScriptedClock) -> Builder<ScriptedClock> {
    set_seconds(clock, [START_SECONDS]);
    Builder::with_clock(clock.clone(), fixed_bytes)
}

fn set_seconds(clock: &ScriptedClock, seconds: impl IntoIterator<Item = i64>) {
    clock.set_readings(seconds.into_iter().map(|second| second * 1000));
}

#[track_caller]
fn assert_next<C: Clock>(ids: &Generator<C>, timestamp: i64, counter: u32) {
    let parts = ids.generate(7).unwrap().parts();
    assert_eq!(parts, Parts { timestamp, machine: MACHINE, counter, shard_key: 7 });
}

#[test]
fn counters_start_at_random_and_wrap_around() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    assert_next(&ids, START_SECONDS, COUNTER_START);
    assert_next(&ids, START_SECONDS, LAST_COUNTER);
    assert_next(&ids, START_SECONDS, 0);
    set_seconds(&clock, [START_SECONDS + 1]);
    assert_next(&ids, START_SECONDS + 1, COUNTER_START);
    let stats = ids.stats();
    assert_eq!(
        (stats.machine, stats.last_second, stats.len),
        (Some(MACHINE), Some(START_SECONDS + 1), 1)
    );
}

#[test]
fn a_clock_rollback_stays_in_the_highest_second() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    assert_next(&ids, START_SECONDS, COUNTER_START);
    for (behind, counter) in [
        (START_SECONDS - 1, LAST_COUNTER),
        (START_SECONDS - 1_000_000, 0),
        (0, 1),
        (START_SECONDS, 2),
    ] {
        set_seconds(&clock, [behind]);
        assert_next(&ids, START_SECONDS, counter);
    }
    set_seconds(&clock, [START_SECONDS + 1]);
    assert_next(&ids, START_SECONDS + 1, COUNTER_START);
    assert_eq!(clock.slept_nanos(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn no_counter_repeats_within_a_second() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    // After the second is exhausted, the clock shows the previous second, then the exhausted second, and then the next
    // second.
    set_seconds(&clock, [START_SECONDS, START_SECONDS - 1, START_SECONDS, START_SECONDS + 1]);
    let mut all = vec![HotGuid::default(); (1 << 24) + 2];
    ids.fill(7, &mut all).unwrap();
    let next: Vec<_> = all.split_off(1 << 24).into_iter().map(HotGuid::parts).collect();
    let part =
        |counter| Parts { timestamp: START_SECONDS + 1, machine: MACHINE, counter, shard_key: 7 };
    assert_eq!(next, [part(COUNTER_START), part(LAST_COUNTER)]);
    let mut seen = vec![false; 1 << 24];
    for id in all {
        assert_eq!((id.timestamp(), id.machine(), id.shard_key()), (START_SECONDS, MACHINE, 7));
        assert!(!std::mem::replace(&mut seen[id.counter() as usize], true));
    }
    assert!(clock.slept_nanos() > 0);
}

#[test]
fn a_window_applies_to_the_encoded_second() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock)
        .window(START_SECONDS * 1000, (START_SECONDS + 2) * 1000)
        .build()
        .unwrap();
    clock.set_readings([(START_SECONDS + 2) * 1000 - 1]);
    assert_next(&ids, START_SECONDS + 1, COUNTER_START);
    // The generator stays in the second that it last used. That second is in the window, although the clock reading is
    // before the window.
    clock.set_readings([START_SECONDS * 1000 - 1]);
    assert_next(&ids, START_SECONDS + 1, LAST_COUNTER);
}

#[test]
fn random_bytes_are_picked_once_at_the_first_id() {
    static DRAWS: AtomicU8 = AtomicU8::new(0);
    let clock = ScriptedClock::default();
    let counted = || Ok([DRAWS.fetch_add(1, Ordering::Relaxed); 8]);
    let ids = builder_at_start(&clock).identity_from(counted).build().unwrap();
    assert_eq!((ids.stats().machine, DRAWS.load(Ordering::Relaxed)), (None, 0));
    for _ in 0..3 {
        assert_eq!(ids.generate(7).unwrap().machine(), [0; 5]);
    }
    assert_eq!((ids.stats().machine, DRAWS.load(Ordering::Relaxed)), (Some([0; 5]), 1));
}

/// Returns a generator that gets new random bytes from each call of `draw`.
fn random_generator(
    clock: &ScriptedClock,
    draw: fn() -> Result<[u8; 8]>,
) -> Generator<ScriptedClock> {
    builder_at_start(clock).identity_from(draw).at_random().build().unwrap()
}

#[test]
fn the_counter_starts_at_random_in_the_lower_half_of_each_second() {
    static DRAWS: AtomicU8 = AtomicU8::new(0);
    let clock = ScriptedClock::default();
    let ids = random_generator(&clock, || {
        let draw = DRAWS.fetch_add(1, Ordering::Relaxed);
        Ok([0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0x80 | draw, 0, draw])
    });
    // The first call of the random source provides the machine bytes.
    assert_next(&ids, START_SECONDS, 0x01_0001);
    assert_next(&ids, START_SECONDS, 0x01_0002);
    set_seconds(&clock, [START_SECONDS + 2]);
    assert_next(&ids, START_SECONDS + 2, 0x02_0002);
    set_seconds(&clock, [START_SECONDS + 1]);
    let mut handle = ids.handle();
    assert_eq!(handle.generate(7).unwrap().parts().counter, 0x02_0003);
    assert_eq!((ids.stats().last_second, ids.stats().len), (Some(START_SECONDS + 2), 65));
    set_seconds(&clock, [START_SECONDS + 3]);
    assert_eq!(handle.generate(7).unwrap().parts().counter, 0x03_0003);
    assert_eq!(DRAWS.load(Ordering::Relaxed), 4, "one draw a second");
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn a_second_ends_with_the_last_counter() {
    let clock = ScriptedClock::default();
    let ids = random_generator(&clock, fixed_bytes);
    // A second has the fewest IDs if its counter starts at the highest possible value.
    let left = (1 << 23) + 2;
    let mut batch = vec![HotGuid::default(); left];
    set_seconds(&clock, [START_SECONDS]);
    assert_eq!(ids.try_fill(7, &mut batch), Ok(left));
    assert_eq!(batch[0].counter(), 0x7f_fffe);
    assert!(batch.is_sorted() && batch[left - 1].counter() == LAST_COUNTER);
    assert_code(ids.try_generate(7), "sequence_exhausted");
    assert_eq!(ids.stats().len as usize, left);
    set_seconds(&clock, [START_SECONDS + 1]);
    assert_next(&ids, START_SECONDS + 1, 0x7f_fffe);
}

#[test]
fn a_random_source_that_fails_later_leaves_the_start_of_the_machine_bytes() {
    static CALLS: AtomicU8 = AtomicU8::new(0);
    let clock = ScriptedClock::default();
    let ids = random_generator(&clock, || match CALLS.fetch_add(1, Ordering::Relaxed) {
        0 => fixed_bytes(),
        _ => Err(Error::new(ErrorKind::EntropyUnavailable)),
    });
    assert_next(&ids, START_SECONDS, 0x7f_fffe);
    set_seconds(&clock, [START_SECONDS + 1]);
    assert_next(&ids, START_SECONDS + 1, 0x7f_fffe);
}

/// A copy of a running process contains the generator's entire state. From the next second on, the original generator and
/// its copy generate different IDs.
#[test]
fn default_generators_start_each_second_at_a_random_counter() {
    let clock = ScriptedClock::default();
    set_seconds(&clock, [START_SECONDS]);
    let ids = Generator::builder().clock(clock.clone()).build().unwrap();
    let starts = (0..16).map(|second| {
        set_seconds(&clock, [START_SECONDS + second]);
        ids.generate(7).unwrap().counter()
    });
    let starts = starts.collect::<HashSet<_>>();
    // The probability that two of the 16 starts are equal is 1 in 70,000. Four equal pairs are practically impossible.
    assert!(starts.len() > 12 && starts.iter().all(|start| *start <= LAST_COUNTER / 2));
}

#[test]
fn missing_random_bytes_return_an_error() {
    static FAILURES_LEFT: AtomicU8 = AtomicU8::new(1);
    let clock = ScriptedClock::default();
    let unreliable = || match FAILURES_LEFT.fetch_sub(1, Ordering::Relaxed) {
        1 => Err(Error::new(ErrorKind::EntropyUnavailable)),
        _ => fixed_bytes(),
    };
    let ids = builder_at_start(&clock).identity_from(unreliable).build().unwrap();
    assert_code(ids.generate(7), "entropy_unavailable");
    assert_eq!((ids.stats().machine, ids.stats().last_second), (None, None));
    assert_next(&ids, START_SECONDS, COUNTER_START);
}

#[test]
fn each_generator_picks_its_machine_once() {
    static STATIC_GENERATOR: Generator = Generator::new();
    let built = Generator::builder().build().unwrap();
    let machines = || {
        let made = [STATIC_GENERATOR.generate(7), built.generate(7), hotguid::generate(7)];
        made.map(|id| id.unwrap().machine())
    };
    assert_eq!(machines(), machines());
    assert_eq!(HashSet::from(machines()).len(), 3);
}

#[test]
fn a_block_continues_while_the_clock_is_behind() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    let mut handle = ids.handle();
    let first = handle.generate(1).unwrap();
    set_seconds(&clock, [START_SECONDS - 5]);
    let second = handle.generate(2).unwrap();
    let next = ids.generate(3).unwrap();
    let after = |id: HotGuid| id.counter().wrapping_sub(first.counter()) & 0xff_ffff;
    assert_eq!([after(second), after(next)], [1, 64]);
    assert_eq!([second.timestamp(), next.timestamp()], [START_SECONDS; 2]);
    assert_eq!([first, second, next].map(HotGuid::shard_key), [1, 2, 3]);
}
