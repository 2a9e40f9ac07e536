//! Tests that a process has at most one live generator for an explicit worker ID, in every ID format.
#![cfg(not(miri))]

#[cfg(unix)]
#[allow(unsafe_code, reason = "fork has no safe door")]
#[path = "forks/mod.rs"]
mod forks;
#[path = "support/separate_process.rs"]
mod separate_process;

use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    thread,
};

use polyflake::{
    Error, Result, after_restore,
    clock::{Clock, ManualClock, SystemClock},
    layout::{self, Field, Layout, Tick, preset},
    randflake::{self, Grant},
    sno, uuid7,
};
use separate_process::run_in_separate_process;

/// The end of a window that has not ended.
const LATER_MS: i64 = 3_000_000_000_000;
const START_MS: i64 = 1_763_650_000_000;

fn in_use<T>(built: Result<T>) -> Error {
    let Err(error) = built else { panic!("expected worker_id_in_use, found a generator") };
    assert_eq!(error.code(), "worker_id_in_use", "{error}");
    error
}

fn sno_builder(partition: u16) -> sno::Builder<SystemClock> {
    sno::Generator::builder().partition(partition)
}

fn randflake_builder(node: u32) -> randflake::Builder<SystemClock> {
    let grant = Grant::new(node, 1_730_000_000, 2_803_741_824).unwrap();
    randflake::Generator::builder(grant, *b"sixteen byte key")
}

fn machine_builder(machine: u16) -> layout::Builder<SystemClock> {
    let sonyflake = preset("sonyflake", []).unwrap();
    layout::Generator::builder(sonyflake).bind("machine", i64::from(machine))
}

#[test]
fn a_worker_id_has_one_live_generator() {
    let generators = (
        sno_builder(7).build().unwrap(),
        randflake_builder(7).build().unwrap(),
        machine_builder(7).build().unwrap(),
        uuid7::Generator::builder().worker_id(7).build().unwrap(),
    );
    let second = || {
        [
            in_use(sno_builder(7).build()),
            in_use(randflake_builder(7).build()),
            in_use(machine_builder(7).build()),
            in_use(uuid7::Generator::builder().worker_id(7).build()),
        ]
    };
    let fields = second().map(|error| error.field().unwrap().to_owned());
    assert_eq!(fields, ["partition", "grant", "bindables", "worker_id"]);
    generators.0.close().unwrap();
    sno_builder(7).build().unwrap();
    generators.1.close().unwrap();
    randflake_builder(7).build().unwrap();
    generators.2.close().unwrap();
    machine_builder(7).build().unwrap();
    drop(generators.3);
    uuid7::Generator::builder().worker_id(7).build().unwrap();
}

#[test]
fn generators_whose_ids_differ_do_not_conflict() {
    let _kept = (
        sno_builder(8).sequence_max(99).build().unwrap(),
        sno_builder(8).sequence_min(100).window(START_MS, LATER_MS).build().unwrap(),
        sno_builder(8).sequence_min(100).window(LATER_MS, LATER_MS + 1000).build().unwrap(),
        // The window has ended.
        sno_builder(9).window(START_MS, START_MS + 1000).build().unwrap(),
        sno_builder(9).build().unwrap(),
    );
    in_use(sno_builder(8).sequence_min(99).window(START_MS, START_MS + 1).build());
    in_use(sno_builder(8).build());
    let clock = || ManualClock::at_unix_ms(START_MS);
    let tests = [(); 2].map(|()| sno_builder(8).clock(clock()).build().unwrap());
    assert_eq!(tests[0].generate(7), tests[1].generate(7), "clocks for tests take no part");
}

#[test]
fn an_extension_does_not_reach_another_generators_time() {
    let first = sno_builder(10).window(START_MS, LATER_MS).build().unwrap();
    let second = sno_builder(10).window(LATER_MS, LATER_MS + 1000).build().unwrap();
    in_use(first.extend_window(LATER_MS + 4));
    assert_eq!(first.window().1, LATER_MS);
    drop(second);
    first.extend_window(LATER_MS + 4).unwrap();
    in_use(sno_builder(10).window(LATER_MS, LATER_MS + 1000).build());

    let until = |end| Grant::new(11, 1_730_000_000, end).unwrap();
    let of = |grant| randflake::Generator::builder(grant, [1; 16]).build();
    let holder = of(until(2_000_000_000)).unwrap();
    let next = of(Grant::new(11, 2_000_000_000, 2_100_000_000).unwrap()).unwrap();
    in_use(holder.extend_grant(until(2_000_000_001)));
    next.close().unwrap();
    holder.extend_grant(until(2_000_000_001)).unwrap();
}

/// The names of fields do not matter. A range conflicts in the bits of its field.
#[test]
fn layouts_are_compared_by_their_bits() {
    let named = |worker: &str| {
        Layout::integer([
            Field::unused(1),
            Field::timestamp(41, Tick::MILLISECOND, 0),
            Field::bindable(5, worker),
            Field::bindable(5, "process"),
            Field::sequence(12),
        ])
    };
    let builder = |name: &str| layout::Generator::builder(named(name).unwrap());
    let single = |name: &str, worker: i64, process: i64| {
        builder(name).bind(name, worker).bind("process", process).build()
    };
    let range = |first, last, process: i64| {
        builder("worker").range("worker", first..=last).bind("process", process).build()
    };
    let _kept =
        (range(8, 15, 0).unwrap(), range(8, 15, 1).unwrap(), single("worker", 16, 0).unwrap());
    in_use(single("shard", 9, 1));
    in_use(single("shard", 16, 0));
    in_use(range(0, 8, 0));
    in_use(builder("shard").bind("shard", 9).range("process", 1..=3).build());
    assert!(single("shard", 9, 2).is_ok() && range(0, 7, 0).is_ok());
    // Values that the caller passes for each ID are not compared.
    let _open = [(); 2].map(|()| builder("worker").build().unwrap());
}

#[test]
fn a_snapshot_does_not_repeat_a_generator_that_came_after_it() {
    let first = sno_builder(12).build().unwrap();
    let mut made = vec![first.generate(7).unwrap()];
    let snapshot = first.close().unwrap();
    let second = sno_builder(12).build().unwrap();
    made.extend((0..3).map(|_| second.generate(7).unwrap()));
    in_use(sno::Generator::builder().restore(snapshot));
    drop(second);
    let restored = sno::Generator::builder().restore(snapshot).unwrap();
    made.extend((0..3).map(|_| restored.generate(7).unwrap()));
    assert_eq!(made.iter().collect::<HashSet<_>>().len(), made.len());
    // The snapshot of the last generator continues without a wait, once.
    let last = restored.close().unwrap();
    let continued = sno::Generator::builder().restore(last).unwrap();
    assert!(continued.try_generate(7).is_ok());
    drop(continued);
    let again = sno::Generator::builder().restore(last).unwrap();
    assert_eq!(again.try_generate(7).unwrap_err().code(), "sequence_exhausted");
}

/// A clock that a test sets, and that generators take for a real one.
struct AdjustableClock(AtomicI64);

impl Clock for AdjustableClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
    fn sleep(&self, _: u64) -> Result<()> {
        panic!("calls that never wait do not sleep")
    }
}

/// Replaces a generator again and again while its clock jumps between a few ticks. Generators are dropped or closed, and
/// their successors begin anew, with the newest snapshot, or with an old one.
fn check_successors<G, S: Clone>(
    clock: &AdjustableClock,
    tick_ms: i64,
    build: impl Fn(Option<&S>) -> Result<G>,
    generate: impl Fn(&G) -> Result<String>,
    close: impl Fn(&G) -> Result<S>,
) {
    let (mut made, mut snapshots, mut random) = (HashSet::new(), Vec::new(), 1_u64);
    let mut choose = |count: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % count
    };
    for round in 0..2000 {
        // Each round begins later than all IDs before it, so that the generators can make IDs again.
        let start = START_MS + round * 20 * tick_ms;
        let mut ids = build(None).unwrap();
        for _ in 0..choose(20) {
            let now_ms = start + i64::try_from(choose(6)).unwrap() * tick_ms;
            clock.0.store(now_ms * 1_000_000, Ordering::Relaxed);
            match choose(4) {
                0 => {
                    let newest = if choose(2) == 0 { close(&ids).ok() } else { None };
                    drop(ids);
                    let old = (choose(2) == 0).then(|| snapshots.last().cloned()).flatten();
                    ids =
                        build(if choose(3) == 0 { None } else { newest.clone().or(old) }.as_ref())
                            .unwrap();
                    snapshots.extend(newest);
                }
                _ => {
                    if let Ok(id) = generate(&ids) {
                        assert!(made.insert(id.clone()), "{id} in round {round}");
                    }
                }
            }
        }
    }
    assert!(made.len() > 2000, "{} IDs", made.len());
}

#[test]
fn no_successor_repeats_a_generator_of_its_process() {
    static CLOCK: AdjustableClock = AdjustableClock(AtomicI64::new(START_MS * 1_000_000));
    check_successors(
        &CLOCK,
        4,
        |snapshot| match snapshot {
            Some(snapshot) => sno::Builder::with_clock(&CLOCK).restore(*snapshot),
            None => sno::Builder::with_clock(&CLOCK).partition(14).build(),
        },
        |ids| ids.try_generate(7).map(|id| id.to_string()),
        sno::Generator::close,
    );
    let layout = || {
        let builder = layout::Builder::with_clock(preset("sonyflake", []).unwrap(), &CLOCK);
        builder.bind("machine", 14)
    };
    check_successors(
        &CLOCK,
        10,
        |snapshot: Option<&layout::Snapshot>| match snapshot {
            Some(snapshot) => layout().restore(*snapshot),
            None => layout().build(),
        },
        |ids| ids.try_generate().map(|id| id.to_string()),
        layout::Generator::close,
    );
    check_successors(
        &CLOCK,
        1000,
        |last: Option<&Option<i64>>| {
            let grant = Grant::new(14, 1_730_000_000, 2_803_741_824).unwrap();
            let builder = randflake::Builder::with_clock(grant, [7; 16], &CLOCK);
            match last.copied().flatten() {
                Some(last) => builder.resume_after(last).build(),
                None => builder.build(),
            }
        },
        |ids| ids.try_generate().map(|id| id.to_string()),
        randflake::Generator::close,
    );
}

/// A child and a restored process begin with an empty registry, because their inherited generators fail with `forked`.
#[cfg(unix)]
#[test]
fn inherited_generators_do_not_count() {
    run_in_separate_process(&[], || {
        let _ids = sno_builder(13).build().unwrap();
        let code = || sno_builder(13).build().err().map_or("none", |error| error.code());
        let of_child = forks::run_in_child_with(forks::fork_with_hooks, || {
            let own = sno_builder(13).build();
            format!("{} {}", own.is_ok(), code()).into_bytes()
        });
        assert_eq!(String::from_utf8_lossy(&of_child), "true worker_id_in_use");
        assert_eq!(code(), "worker_id_in_use");
        after_restore().unwrap();
        assert_eq!(code(), "none");
    });
}

/// Sixteen threads construct generators with four worker IDs. They drop some, close some, and restore some from snapshots,
/// each once. `POLYFLAKE_STORM` is the number of generators.
#[test]
fn a_storm_of_generators_makes_no_duplicate() {
    const THREADS: u32 = 16;
    let count = std::env::var("POLYFLAKE_STORM").map_or(20_000, |count| count.parse().unwrap());
    let (attempts, snapshots, all) =
        (AtomicU32::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let run = |seed: u32| {
        let mut made = Vec::new();
        let mut random = seed.wrapping_mul(2_654_435_761) | 1;
        while attempts.fetch_add(1, Ordering::Relaxed) < count {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            let partition = 60_000 + u16::try_from(random >> 8 & 3).unwrap();
            let snapshot = (random & 4 > 0).then(|| snapshots.lock().unwrap().pop()).flatten();
            let built = match snapshot {
                Some(snapshot) => sno::Generator::builder().restore(snapshot),
                None => sno_builder(partition).build(),
            };
            let ids = match built {
                Ok(ids) => ids,
                Err(error) => {
                    assert_eq!(error.code(), "worker_id_in_use");
                    thread::yield_now();
                    continue;
                }
            };
            made.extend((0..random % 3).filter_map(|_| ids.generate(7).ok()));
            if random & 16 > 0 {
                snapshots.lock().unwrap().push(ids.close().unwrap());
            }
        }
        all.lock().unwrap().append(&mut made);
    };
    thread::scope(|scope| (0..THREADS).for_each(|seed| drop(scope.spawn(move || run(seed + 1)))));
    let all = all.into_inner().unwrap();
    assert!(all.len() > 100, "{} IDs", all.len());
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}
