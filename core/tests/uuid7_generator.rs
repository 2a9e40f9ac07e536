//! Tests the UUID v7 generator: which parts of its IDs are sorted, which are random, and what happens after clock
//! rollbacks.

mod support;

use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicI64, AtomicU8, Ordering},
    },
    thread,
};

use polyflake::{
    Error, ErrorKind, Result,
    clock::{Clock, ClockInfo},
    uuid7::{self, Builder, Generator, LAST_SEQUENCE, Uuid7, worker_id},
};
use support::{CoarseClock, ScriptedClock, assert_code};

/// The time at which the tests start, in Unix milliseconds.
const START_MS: i64 = 1_763_650_000_000;

/// The number of IDs in a millisecond that starts at sequence 0.
const IDS_PER_MS: usize = LAST_SEQUENCE as usize + 1;

/// Returns a builder with the system's random bytes and a clock that shows [`START_MS`].
fn builder_at_start(clock: &ScriptedClock) -> Builder<ScriptedClock> {
    clock.set_readings([START_MS]);
    Generator::builder().clock(clock.clone())
}

/// Generates all but `left` IDs of an unused millisecond.
fn exhaust_tick<C: Clock>(ids: &Generator<C>, left: usize) {
    ids.fill(&mut vec![Uuid7::MIN; IDS_PER_MS - left]).unwrap();
}

#[test]
fn each_millisecond_starts_at_random_in_the_lower_half() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    let starts = (0..16).map(|ms| {
        clock.set_readings([START_MS + ms]);
        let [first, second] = [(); 2].map(|()| ids.generate().unwrap());
        assert_eq!((first.unix_ms(), second.sequence()), (START_MS + ms, first.sequence() + 1));
        first.sequence()
    });
    let starts: HashSet<_> = starts.collect();
    // The probability that two of the 16 starts are equal is 1 in 1,000. Four equal pairs are practically impossible.
    assert!(starts.len() > 12 && starts.iter().all(|start| *start <= LAST_SEQUENCE / 2));
}

#[test]
#[cfg_attr(miri, ignore = "makes many IDs")]
fn a_millisecond_ends_with_the_last_sequence() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    let mut batch = vec![Uuid7::MIN; IDS_PER_MS];
    let made = ids.try_fill(&mut batch).unwrap();
    assert!(made >= IDS_PER_MS / 2, "{made} IDs");
    let ids_of_ms = &batch[..made];
    assert!(ids_of_ms.is_sorted() && ids_of_ms.iter().all(|id| id.unix_ms() == START_MS));
    assert_eq!(ids_of_ms[made - 1].sequence(), LAST_SEQUENCE);
    let error = assert_code(ids.try_generate(), "sequence_exhausted");
    assert_eq!(error.retry_at(), Some(START_MS + 1));
    clock.set_readings([START_MS + 1]);
    assert!(ids.generate().unwrap() > batch[made - 1]);
}

/// In other libraries, the IDs of a millisecond are no longer sorted after 4,096 IDs, when a 12-bit counter wraps around.
#[test]
fn ids_of_one_millisecond_are_sorted_past_4096() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    let mut handle = ids.handle();
    let made: Vec<_> = (0..10_000).map(|_| handle.generate().unwrap()).collect();
    assert!(made.is_sorted_by(|one, next| one < next) && made[9999].unix_ms() == START_MS);
    assert!(ids.generate().unwrap() > made[9999]);
}

/// In other libraries, only the IDs of a single thread are sorted.
#[test]
fn a_call_that_begins_after_another_returned_gets_a_greater_id() {
    let last = Mutex::new(Uuid7::MIN);
    let ids = Generator::new();
    thread::scope(|scope| {
        for thread in 0..4 {
            let (last, ids) = (&last, &ids);
            scope.spawn(move || {
                let mut batch = [Uuid7::MIN; 3];
                for _ in 0..support::rounds(20_000) {
                    let mut last = last.lock().unwrap();
                    if thread == 0 {
                        ids.fill(&mut batch).unwrap();
                    } else {
                        batch = [(); 3].map(|()| ids.generate().unwrap());
                    }
                    assert!(*last < batch[0] && batch.is_sorted());
                    *last = batch[2];
                }
            });
        }
    });
}

/// A reader repeatedly queries the rows after the highest ID that it has seen. It would miss a row that is inserted later
/// with a lower ID.
#[test]
fn a_cursor_loses_no_row_after_a_rollback() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    let mut handle = ids.handle();
    let mut cursor = Uuid7::MIN;
    for reading in [
        START_MS,
        START_MS - 1,
        START_MS - 5000,
        START_MS + 1,
        START_MS,
        START_MS - 86_400_000,
        START_MS + 2,
        START_MS + 1,
    ] {
        clock.set_readings([reading]);
        let mut rows = vec![Uuid7::MIN; 10];
        ids.fill(&mut rows).unwrap();
        rows.push(ids.generate().unwrap());
        assert!(rows.iter().all(|row| *row > cursor), "after a reading of {}", reading - START_MS);
        cursor = *rows.iter().max().unwrap();
        // A handle's block was reserved earlier, so its IDs are sorted only among themselves.
        assert!(handle.generate().unwrap() < handle.generate().unwrap());
    }
}

/// Other libraries continue in the next millisecond before the clock has reached it.
#[test]
#[cfg_attr(miri, ignore = "makes many IDs")]
fn no_id_is_later_than_the_highest_reading() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).from_sequence_0().build().unwrap();
    exhaust_tick(&ids, 1);
    clock.set_readings([START_MS - 3]);
    assert_eq!(ids.generate().unwrap().unix_ms(), START_MS);
    for error in [
        assert_code(ids.try_generate(), "clock_behind"),
        assert_code(ids.handle().try_generate(), "clock_behind"),
        assert_code(ids.generate(), "clock_behind"),
    ] {
        assert_eq!(error.retry_at(), Some(START_MS + 1));
    }
    assert_eq!(ids.try_fill(&mut [Uuid7::MIN; 2]), Ok(0));
    assert!(clock.slept_nanos() > 0, "it waits at most `max_wait`");
    // The clock catches up while a call waits.
    clock.set_readings([START_MS - 2, START_MS, START_MS + 1]);
    assert_eq!(ids.generate().unwrap().unix_ms(), START_MS + 1);
}

#[test]
fn rollbacks_of_any_length_keep_the_order_by_default() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    let first = ids.generate().unwrap();
    for (ms, sequence) in [(START_MS - 1, 1), (START_MS - 10_001, 2), (0, 3), (START_MS, 4)] {
        clock.set_readings([ms]);
        let id = ids.generate().unwrap();
        assert_eq!((id.unix_ms(), id.sequence()), (START_MS, first.sequence() + sequence));
    }
    assert_eq!((ids.stats().rollbacks, ids.stats().last_ms), (0, Some(START_MS)));
}

#[test]
fn only_rollbacks_of_more_than_10_seconds_are_followed() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).follow_rollbacks(true).build().unwrap();
    let mut handle = ids.handle();
    let mut made = || [ids.generate(), handle.generate()].map(|id| id.unwrap().unix_ms());
    assert_eq!(made(), [START_MS; 2]);
    for (reading, expected, rollbacks) in [
        (START_MS - 10_000, START_MS, 0),
        (START_MS - 10_001, START_MS - 10_001, 1),
        (START_MS - 20_001, START_MS - 10_001, 1),
        (START_MS - 20_002, START_MS - 20_002, 2),
        (START_MS, START_MS, 2),
    ] {
        clock.set_readings([reading]);
        assert_eq!(made(), [expected; 2]);
        assert_eq!(ids.stats().rollbacks, rollbacks);
    }
}

/// The clock shows each millisecond several times, and the random source repeats its bytes, as a copied or constant source
/// does.
#[test]
fn a_followed_rollback_repeats_no_id_although_the_source_does() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock)
        .entropy_from(|| Ok([7; 32]))
        .follow_rollbacks(true)
        .build()
        .unwrap();
    let mut handle = ids.handle();
    let mut made = HashSet::new();
    for _ in 0..3 {
        for reading in [START_MS, START_MS + 1, START_MS + 60_000] {
            clock.set_readings([reading]);
            let mut batch = [Uuid7::MIN; 100];
            ids.fill(&mut batch).unwrap();
            let singles = [ids.generate().unwrap(), handle.generate().unwrap()];
            assert!(batch.into_iter().chain(singles).all(|id| made.insert(id)));
        }
    }
    assert_eq!(ids.stats().rollbacks, 2);
}

#[test]
fn a_worker_id_excludes_following_rollbacks() {
    let both = Generator::builder().worker_id(7).follow_rollbacks(true).build();
    let error = assert_code(both, "out_of_range");
    let expected = "expected either `worker_id` or `follow_rollbacks`, found both";
    assert_eq!(error.to_string(), expected);
}

/// Defines a random source that counts its calls and returns different bytes for each call.
macro_rules! counting_source {
    ($draws:ident) => {{
        static $draws: AtomicU8 = AtomicU8::new(0);
        (&$draws, || Ok([$draws.fetch_add(1, Ordering::Relaxed); 32]))
    }};
}

#[test]
fn each_thread_has_its_own_random_stream() {
    let (draws, draw) = counting_source!(DRAWS);
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).entropy_from(draw).build().unwrap();
    let mut tails = HashSet::new();
    for _ in 0..3 {
        let made = thread::scope(|scope| {
            scope.spawn(|| [(); 5].map(|()| ids.generate().unwrap())).join().unwrap()
        });
        assert!(made.iter().all(|id| tails.insert(id.random())));
    }
    assert_eq!(draws.load(Ordering::Relaxed), 3);
}

/// A call whose random source fails reserves no slots and uses no bits of the previous millisecond.
#[test]
fn a_failing_random_source_leaves_no_trace() {
    static IS_BROKEN: AtomicU8 = AtomicU8::new(1);
    static DRAWS: AtomicU8 = AtomicU8::new(0);
    let clock = ScriptedClock::default();
    let draw = || match IS_BROKEN.load(Ordering::Relaxed) {
        0 => Ok([DRAWS.fetch_add(1, Ordering::Relaxed); 32]),
        _ => Err(Error::new(ErrorKind::EntropyUnavailable)),
    };
    let ids = builder_at_start(&clock).entropy_from(draw).build().unwrap();
    let mut handle = ids.handle();
    assert_code(ids.generate(), "entropy_unavailable");
    assert_code(handle.generate(), "entropy_unavailable");
    let error = assert_code(ids.fill(&mut [Uuid7::MIN; 3]), "entropy_unavailable");
    assert_eq!((error.written(), ids.stats().last_ms), (Some(0), None));
    IS_BROKEN.store(0, Ordering::Relaxed);
    let first = [ids.generate().unwrap(), handle.generate().unwrap()];
    let draws = DRAWS.load(Ordering::Relaxed);
    IS_BROKEN.store(1, Ordering::Relaxed);
    clock.set_readings([START_MS + 1]);
    assert_code(ids.generate(), "entropy_unavailable");
    assert_code(handle.generate(), "entropy_unavailable");
    assert_eq!(ids.stats().last_ms, Some(START_MS));
    IS_BROKEN.store(0, Ordering::Relaxed);
    clock.set_readings([START_MS]);
    let next = [ids.generate().unwrap(), handle.generate().unwrap()];
    assert!(next[0] > first[0] && next[1] > first[1]);
    assert!(DRAWS.load(Ordering::Relaxed) - draws >= 2, "the bits before the failure were dropped");
}

/// A random source may itself generate IDs with this library.
#[test]
fn a_random_source_may_generate_ids() {
    let draw = || {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&uuid7::generate()?.to_bytes());
        Ok(bytes)
    };
    let ids = Generator::builder().entropy_from(draw).build().unwrap();
    assert!(ids.generate().unwrap() < ids.generate().unwrap());
}

#[test]
fn a_worker_id_replaces_16_of_the_random_bits() {
    let clock = ScriptedClock::default();
    let of = |worker| {
        let ids = builder_at_start(&clock)
            .entropy_from(|| Ok([7; 32]))
            .worker_id(worker)
            .build()
            .unwrap();
        ids.generate().unwrap()
    };
    let made = [0, 1, 42, u16::MAX].map(of);
    assert_eq!(made.map(worker_id), [0, 1, 42, u16::MAX]);
    assert!(made.iter().all(|id| id.random() & ((1 << 40) - 1) == made[0].random()));
    assert!(made.iter().all(|id| id.sequence() == made[0].sequence()));
    let ids = builder_at_start(&clock).worker_id(0xc0de).build().unwrap();
    let mut handle = ids.handle();
    let mut batch = [Uuid7::MIN; 70];
    ids.fill(&mut batch).unwrap();
    batch[0] = handle.generate().unwrap();
    batch[1] = handle.generate().unwrap();
    assert!(batch.iter().all(|id| worker_id(*id) == 0xc0de));
    let tails: HashSet<_> = batch.iter().map(|id| id.random()).collect();
    assert_eq!((tails.len(), ids.stats().worker_id), (70, Some(0xc0de)));
}

/// A manual clock that declares that an earlier generator may have read it before a restart.
struct RestartedClock(AtomicI64);

impl Clock for RestartedClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(self.0.load(Ordering::Relaxed) * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new()
    }
}

/// An earlier generator with the same worker ID or the same random bytes may have generated IDs in the millisecond of the
/// first call.
#[test]
fn only_generators_that_may_repeat_another_skip_their_first_millisecond() {
    let first = |configure: fn(Builder<&RestartedClock>) -> Builder<&RestartedClock>| {
        let clock = RestartedClock(AtomicI64::new(START_MS));
        let ids = configure(Generator::builder().clock(&clock)).unregistered().build().unwrap();
        let first = ids.try_generate();
        clock.0.store(START_MS + 1, Ordering::Relaxed);
        assert_eq!(ids.generate().unwrap().unix_ms(), START_MS + 1);
        first.map(Uuid7::unix_ms).map_err(|error| (error.code(), error.retry_at()))
    };
    assert_eq!(first(|ids| ids), Ok(START_MS));
    assert_eq!(first(|ids| ids.window(START_MS, START_MS + 100)), Ok(START_MS));
    assert_eq!(first(|ids| ids.follow_rollbacks(true)), Ok(START_MS));
    assert_eq!(first(|ids| ids.worker_id(7).resume_after(START_MS - 1)), Ok(START_MS));
    let skipped = Err(("sequence_exhausted", Some(START_MS + 1)));
    assert_eq!(first(|ids| ids.worker_id(7)), skipped);
    assert_eq!(first(|ids| ids.entropy_from(|| Ok([7; 32]))), skipped);
}

#[test]
fn a_generator_resumes_after_the_last_millisecond_of_another() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    assert_eq!(ids.stats().last_ms, None);
    let last = ids.generate().unwrap();
    clock.set_readings([START_MS - 100]);
    assert_eq!(ids.close(), Ok(Some(START_MS)));
    assert_code(ids.close(), "generator_closed");
    assert_eq!(builder_at_start(&clock).build().unwrap().close(), Ok(None));

    let skipping =
        Generator::builder().worker_id(7).clock(RestartedClock(AtomicI64::new(START_MS)));
    let skipping = skipping.build().unwrap();
    assert_code(skipping.try_generate(), "sequence_exhausted");
    assert_eq!(skipping.close(), Ok(Some(START_MS)), "an earlier generator may have used it");

    let next = builder_at_start(&clock).resume_after(START_MS).build().unwrap();
    assert_eq!(
        assert_code(next.try_generate(), "sequence_exhausted").retry_at(),
        Some(START_MS + 1)
    );
    clock.set_readings([START_MS - 100]);
    assert_eq!(assert_code(next.try_generate(), "clock_behind").retry_at(), Some(START_MS + 1));
    clock.set_readings([START_MS + 1]);
    assert!(next.generate().unwrap() > last);
    // Clock readings end in 2262.
    let last_ms = i64::MAX / 1_000_000;
    let latest = builder_at_start(&clock).resume_after(last_ms).build().unwrap();
    assert_code(latest.try_generate(), "clock_behind");
    for wrong in [-1, last_ms + 1, i64::MIN, i64::MAX] {
        let error =
            assert_code(builder_at_start(&clock).resume_after(wrong).build(), "out_of_range");
        assert_eq!(error.field(), Some("resume_after"));
    }
}

#[test]
fn times_before_1970_are_rejected() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    clock.set_readings([-1]);
    assert_code(ids.generate(), "time_out_of_range");
    clock.set_readings([0]);
    assert_eq!(ids.generate().unwrap().unix_ms(), 0);
    clock.set_readings([i64::MAX / 1_000_000]);
    assert_eq!(ids.generate().unwrap().unix_ms(), i64::MAX / 1_000_000);
}

/// A static generator checks its clock at each call, because there is no earlier point at which the clock could be
/// rejected.
#[test]
fn a_static_with_a_clock_coarser_than_a_millisecond_rejects_calls() {
    static COARSE_GENERATOR: Generator<CoarseClock> =
        Generator::with_clock(CoarseClock(1_000_001), || Ok([7; 32]));
    assert_eq!(
        assert_code(COARSE_GENERATOR.generate(), "out_of_range").field(),
        Some("resolution")
    );
}

#[test]
#[cfg_attr(
    miri,
    ignore = "a weak compare-and-swap may fail there, and the call then skips random bits"
)]
fn generators_with_the_same_source_and_clock_generate_the_same_ids() {
    let clock = ScriptedClock::default();
    let made = || {
        let ids = builder_at_start(&clock).entropy_from(|| Ok([7; 32])).build().unwrap();
        let mut batch = [Uuid7::MIN; 5];
        ids.fill(&mut batch).unwrap();
        (ids.generate().unwrap(), batch, ids.handle().generate().unwrap())
    };
    assert_eq!(made(), made());
}

#[test]
fn only_generators_with_the_same_worker_id_may_repeat_each_other() {
    let ids = |worker_id| Generator::builder().worker_id(worker_id).unregistered().build().unwrap();
    let may_repeat = |one, other| ids(one).may_repeat(&ids(other), None).unwrap();
    assert!(may_repeat(7, 7) && !may_repeat(7, 8));
    assert!(!Generator::new().may_repeat(&Generator::new(), None).unwrap());
}

/// The bits of a thread's stream are uniformly distributed, regardless of which kind of call generates the IDs. The test
/// covers each bit, and 64 windows of 7 bits.
#[test]
#[cfg_attr(miri, ignore = "makes many IDs")]
fn random_bits_pass_chi_square_tests() {
    const ID_COUNT: u32 = 128 * 1024;
    let ids = Generator::new();
    let mut handle = ids.handle();
    let mut batch = vec![Uuid7::MIN; ID_COUNT as usize];
    ids.fill(&mut batch).unwrap();
    let singles: Vec<_> = (0..ID_COUNT).map(|_| ids.generate().unwrap()).collect();
    let of_handle: Vec<_> = (0..ID_COUNT).map(|_| handle.generate().unwrap()).collect();
    for (name, made) in [("batch", batch), ("singles", singles), ("handle", of_handle)] {
        for shift in (0..=49).step_by(7) {
            let mut counts = [0_u32; 128];
            for id in &made {
                counts[usize::try_from(id.random() >> shift & 127).unwrap()] += 1;
            }
            let expected = f64::from(ID_COUNT / 128);
            let chi: f64 =
                counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
            // With 127 degrees of freedom, the statistic is below 49 with a probability of 10^-9, and above 240 with the
            // same probability.
            assert!((49.0..240.0).contains(&chi), "{name}, bits from {shift} on: {chi}");
        }
    }
}
