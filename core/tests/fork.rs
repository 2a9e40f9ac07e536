//! Tests generators in forked children. A child must never use its parent's explicit partition, grant or window, and never
//! repeat its parent's IDs.
#![cfg(all(unix, not(miri)))]
#![allow(unsafe_code, reason = "fork, pipe and wait have no safe door")]

use std::{
    collections::HashSet,
    io::{Read, Write, pipe},
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicI64, AtomicU16, Ordering},
    },
};

use family::{AnyGenerator, AnyId, DEFAULTS, FAMILIES, IdMaker, START_MS, all_kinds};
use polyflake::{
    Call, Error, Progress, Result, SlotSource, WrittenCount,
    clock::{Clock, ClockInfo, ManualClock, SystemClock},
    hotguid::{self, HotGuid},
    layout::{Builder, Field, Id, Layout},
    sno::{self, Generator, Sno},
    uuid7::{self, Uuid7},
};
use separate_process::run_in_separate_process;

#[path = "support/family.rs"]
mod family;
#[path = "forks/mod.rs"]
mod forks;
#[path = "support/separate_process.rs"]
mod separate_process;

/// Runs `work` in a forked child and returns its result.
fn run_in_child(work: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    forks::run_in_child_with(forks::fork_with_hooks, work)
}

/// Returns the error code of each call, or `none` for a call that succeeded.
fn error_codes<const N: usize>(found: [Option<Error>; N]) -> Vec<u8> {
    found.map(|error| error.map_or("none", |error| error.code())).join(" ").into_bytes()
}

/// The clock is frozen, so a handle's block can end only because of the fork.
#[test]
fn a_child_rejects_an_explicit_identity() {
    for family in FAMILIES {
        let build = || family.generator(ManualClock::at_unix_ms(START_MS));
        let ids = build();
        let mut handle = ids.handle(64);
        handle().unwrap();
        let found = run_in_child(|| {
            build().generate().expect("a generator of the child's own");
            let made = [ids.generate().err(), ids.try_generate().err(), handle().err()];
            let ended = [ids.fill(2).1.err(), ids.seal().err(), ids.close().err()];
            [error_codes(made), error_codes(ended)].join(&b' ')
        });
        // Hot Guid's `close` returns no snapshot, so it cannot leak the parent's state.
        let close = if family.name == "Hot Guid" { "none" } else { "forked" };
        let expected = format!("forked forked forked forked forked {close}");
        assert_eq!(String::from_utf8_lossy(&found), expected, "{}", family.name);
        assert_eq!((handle().unwrap().place, ids.generate().unwrap().place), (1, 64));
    }
}

#[test]
fn a_child_rejects_timeless_layouts_and_explicit_times() {
    let sequence = Layout::integer([Field::sequence(64)]).unwrap();
    let alone = Builder::with_clock(sequence, SystemClock).sequence_only(true).build().unwrap();
    let given = Generator::builder().partition(7).build().unwrap();
    let found = run_in_child(|| {
        error_codes([alone.generate().err(), given.generate_at(START_MS, 0).err()])
    });
    assert_eq!(found, b"forked forked");
    assert_eq!(alone.generate(), Ok(Id::Integer(0)));
}

/// A child switches to a different grant without affecting the parent's grant.
#[test]
fn a_child_rejects_the_parents_grant() {
    let granted = |partition| {
        let builder = Generator::builder().partition(partition);
        builder.window(1_262_304_000_000, 3_461_327_255_552).build()
    };
    let ids = sno::Leased::new(granted(7).unwrap()).unwrap();
    ids.generate(0).unwrap();
    let told = run_in_child(|| {
        let found = [ids.generate(0).err(), ids.seal(0).err()];
        let mut told: Vec<String> =
            found.map(|error| error.unwrap().code().to_owned()).into_iter().collect();
        let moved = ids.move_to(|highest| {
            told.push(format!("{highest:?}"));
            granted(9)
        });
        told.push(format!("{moved:?} {}", ids.generate(0).unwrap().partition()));
        told.join(", ").into_bytes()
    });
    assert_eq!(String::from_utf8(told).unwrap(), "forked, forked, None, Ok(1) 9");
    assert_eq!((ids.generate(0).unwrap().partition(), ids.grant().0), (7, 0));
}

#[test]
fn a_child_rejects_an_explicit_window() {
    let ids = Generator::builder().window(1_262_304_000_000, 3_461_327_255_552).build().unwrap();
    let found = run_in_child(|| ids.generate(0).unwrap_err().code().into());
    assert_eq!(found, b"forked");
    ids.generate(0).unwrap();
    assert_eq!(run_in_child(|| ids.generate(0).unwrap_err().code().into()), b"forked");
}

const CHILDREN: usize = 20;

/// Generates IDs in this process, in its children, and in one child of each child. Asserts that all IDs differ, and returns
/// the IDs.
#[track_caller]
fn collect_from_all_processes<const LEN: usize, const N: usize>(
    mut make: impl FnMut() -> [[u8; LEN]; N],
) -> HashSet<[u8; LEN]> {
    const CALLS: usize = 50;
    let mut make = || (0..CALLS).flat_map(|_| make()).collect::<Vec<_>>().concat();
    let mut all = make();
    for _ in 0..CHILDREN {
        all.extend(run_in_child(|| [make(), run_in_child(&mut make)].concat()));
        all.extend(make());
    }
    assert_eq!(all.len(), (1 + 3 * CHILDREN) * CALLS * N * LEN);
    let (all, _) = all.as_chunks();
    let different: HashSet<_> = all.iter().copied().collect();
    assert_eq!(different.len(), all.len());
    different
}

#[test]
fn children_and_parent_make_different_snos() {
    let ids = Generator::new();
    let make = || [ids.generate(0), sno::generate(0)].map(|id| id.unwrap().to_bytes());
    let all = collect_from_all_processes(make).into_iter().map(Sno::from_bytes);
    let partitions: HashSet<u16> = all.map(|id| id.partition()).collect();
    assert_eq!(partitions.len(), 2 * (1 + 2 * CHILDREN), "each process takes its own, once");
}

/// The partition that [`assigned`] returns.
static PARTITION: AtomicU16 = AtomicU16::new(0);

#[allow(clippy::unnecessary_wraps, reason = "as `identity_from` expects")]
fn assigned() -> Result<sno::Assignment> {
    Ok(sno::Assignment { partition: PARTITION.load(Ordering::Relaxed), sequence_min: 0 })
}

/// A function that does not distinguish processes returns an ancestor's partition.
#[test]
fn a_child_rejects_an_identity_that_an_ancestor_had() {
    run_in_separate_process(&[], || {
        static CONST: Generator = Generator::with_clock(SystemClock, assigned);
        let built = Generator::builder().identity_from(assigned).build().unwrap();
        for ids in [&CONST, &built] {
            let generate = |partition| {
                PARTITION.store(partition, Ordering::Relaxed);
                ids.generate(0).err()
            };
            assert_eq!(generate(7), None);
            let expected = "forked none forked forked none none";
            let found = run_in_child(|| {
                let of_child = error_codes([generate(7), generate(8)]);
                let of_grandchild =
                    run_in_child(|| error_codes([generate(7), generate(8), generate(9)]));
                [of_child, of_grandchild, error_codes([generate(7)])].join(&b' ')
            });
            assert_eq!(String::from_utf8_lossy(&found), expected);
            let found = run_in_child(|| generate(7).unwrap().to_string().into_bytes());
            assert!(String::from_utf8_lossy(&found).contains("differs in each process"));
        }
    });
}

/// The forking thread has no stream of random bits for the current millisecond, because another thread made the parent's
/// IDs. The child's source returns what it returned in the parent.
#[test]
fn a_childs_first_uuid_belongs_to_a_later_millisecond() {
    static CLOCK: AtomicI64 = AtomicI64::new(START_MS - 1);
    struct SettableClock;
    impl Clock for SettableClock {
        fn unix_nanos(&self) -> Result<i64> {
            Ok(CLOCK.load(Ordering::Relaxed) * 1_000_000)
        }
        fn sleep(&self, _: u64) -> Result<()> {
            Ok(())
        }
        fn info(&self) -> ClockInfo {
            ClockInfo::new()
        }
    }
    let ids = uuid7::Builder::with_clock(SettableClock, || Ok([7; 32])).build().unwrap();
    let generate = || ids.try_generate().err();
    assert_eq!(generate().unwrap().code(), "sequence_exhausted");
    CLOCK.store(START_MS, Ordering::Relaxed);
    std::thread::scope(|scope| assert_eq!(scope.spawn(generate).join().unwrap(), None));
    let found = run_in_child(|| {
        let first = [generate(), generate()];
        CLOCK.store(START_MS + 1, Ordering::Relaxed);
        [error_codes(first), error_codes([generate()])].join(&b' ')
    });
    assert_eq!(String::from_utf8_lossy(&found), "sequence_exhausted sequence_exhausted none");
}

/// A caller may assign a child the identity of an earlier child that has just generated IDs.
#[test]
fn a_child_with_an_identity_source_skips_its_first_tick() {
    let snos = sno::Builder::with_clock(SystemClock).identity_from(assigned).build().unwrap();
    let guids = hotguid::Builder::with_clock(SystemClock, || Ok([7; 8])).build().unwrap();
    PARTITION.store(7, Ordering::Relaxed);
    snos.generate(0).unwrap();
    guids.generate(0).unwrap();
    for _ in 0..20 {
        let made = run_in_child(|| {
            PARTITION.store(8, Ordering::Relaxed);
            let began = SystemClock.unix_nanos().unwrap() / 1_000_000;
            let id = snos.generate(0).unwrap();
            vec![u8::from(id.unix_ms() / 4 > began / 4), u8::from(snos.generate(0).is_ok())]
        });
        assert_eq!(made, [1, 1]);
    }
    let made = run_in_child(|| {
        let began = SystemClock.unix_nanos().unwrap() / 1_000_000_000;
        vec![u8::from(guids.generate(0).unwrap().unix_ms() / 1000 > began)]
    });
    assert_eq!(made, [1]);
}

/// Returns two IDs from each of several children that inherited a random source in the same state.
fn ids_of_children<const LEN: usize>(make: impl Fn() -> [u8; LEN]) -> Vec<[u8; LEN]> {
    let made = (0..CHILDREN).flat_map(|_| run_in_child(|| [make(), make()].concat()));
    made.collect::<Vec<_>>().as_chunks().0.to_vec()
}

/// A source in the program's own memory, such as a generator that was seeded before the fork, returns the same bytes in
/// each child. The clock is frozen, so all children use the same tick.
#[test]
fn children_with_the_same_random_source_make_different_ids() {
    let clock = || ManualClock::at_unix_ms(START_MS);
    let guids = hotguid::Builder::with_clock(clock(), || Ok([7; 8])).build().unwrap();
    let uuids = uuid7::Builder::with_clock(clock(), || Ok([7; 32])).build().unwrap();
    assert_eq!(guids.generate(0).unwrap().machine(), [7; 5], "the first process keeps the bytes");
    let guids = ids_of_children(|| guids.generate(0).unwrap().to_bytes());
    let uuids = ids_of_children(|| uuids.generate().unwrap().to_bytes());
    for ids in [guids, uuids] {
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 2 * CHILDREN);
    }
}

/// Such children have the same process generation, and only their process IDs differ.
#[test]
fn children_forked_before_the_first_generator_key_different_streams() {
    run_in_separate_process(&[], || {
        let uuids = ids_of_children(|| {
            let clock = ManualClock::at_unix_ms(START_MS);
            let ids = uuid7::Builder::with_clock(clock, || Ok([7; 32])).build().unwrap();
            ids.generate().unwrap().to_bytes()
        });
        // Both IDs of a child have the same bytes, because each has a generator of its own with a frozen clock.
        assert_eq!(uuids.iter().collect::<HashSet<_>>().len(), CHILDREN);
    });
}

#[test]
fn children_and_parent_make_different_hot_guids() {
    let ids = hotguid::Generator::new();
    let make = || [ids.generate(7), hotguid::generate(7)].map(|id| id.unwrap().to_bytes());
    let all = collect_from_all_processes(make).into_iter().map(HotGuid::from_bytes);
    let machines: HashSet<[u8; 5]> = all.map(HotGuid::machine).collect();
    assert_eq!(machines.len(), 2 * (1 + 2 * CHILDREN), "each process draws its own, once");
}

/// The clock is frozen, so a handle's block can end only because of the fork, and all processes use the same tick.
#[test]
fn children_and_parent_make_different_ids() {
    for family in DEFAULTS {
        let ids = family.generator(ManualClock::at_unix_ms(START_MS));
        let mut handle = ids.handle(64);
        collect_from_all_processes(|| {
            let (batch, filled) = ids.fill(3);
            let made = [batch[0], batch[2], ids.generate().unwrap(), handle().unwrap()];
            filled.map(|()| made.map(|id| id.bits.to_be_bytes())).unwrap()
        });
    }
}

/// A clock that does not advance and forks during one of its readings.
struct ForkingClock(AtomicI32);

impl ForkingClock {
    /// Returns a clock that can be read `readings` times, and that forks during the next reading.
    fn after_readings(readings: i32) -> Self {
        Self(AtomicI32::new(readings))
    }
    fn has_forked(&self) -> bool {
        self.0.load(Ordering::Relaxed) < 0
    }
}

impl Clock for ForkingClock {
    fn unix_nanos(&self) -> Result<i64> {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 0 {
            // SAFETY: tests read this clock only in a process that `run_in_child` forked. That process has only one
            // thread, so its child may run any code.
            unsafe { libc::fork() };
        }
        Ok(START_MS * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// A call of a generator or a handle.
type Make<'m> = &'m dyn Fn(&dyn AnyGenerator, &mut IdMaker<'_>) -> Result<AnyId>;

/// Forks inside each of the first readings, in the generator's first call or in a later one. The fork happens in a child,
/// whose IDs after the fork are collected together with those of its own child.
#[test]
fn both_processes_make_different_ids_after_a_fork_inside_the_clock() {
    const CALLS: usize = 7;
    let ways: [Make<'_>; 3] = [&|ids, _| ids.generate(), &|_, handle| handle(), &|ids, _| {
        let (made, filled) = ids.fill(2);
        filled.map(|()| made[1])
    }];
    for (family, make, readings) in all_kinds()
        .flat_map(|family| ways.map(|make| (family, make)))
        .flat_map(|(family, make)| (0..6).map(move |readings| (family, make, readings)))
    {
        let found = run_in_child(|| {
            let clock = Arc::new(ForkingClock::after_readings(readings));
            let (ids, first) = (family.generator(clock.clone()), std::process::id());
            let mut handle = ids.handle(2);
            let mut found = Vec::new();
            for _ in 0..CALLS {
                let made = make(&*ids, &mut handle).map(|id| id.bits).map_err(|error| error.code());
                if clock.has_forked() {
                    let is_child = std::process::id() != first;
                    let expected =
                        if is_child && family.is_explicit { Some("forked") } else { None };
                    assert_eq!(made.err(), expected, "{}, {readings}", family.name);
                    found.extend(made.unwrap_or_default().to_be_bytes());
                }
            }
            found
        });
        let (found, _) = found.as_chunks::<16>();
        let made: Vec<_> = found.iter().filter(|bits| **bits != [0; 16]).collect();
        let processes = if family.is_explicit { 1 } else { 2 };
        assert!(found.len() >= 2 && found.len().is_multiple_of(2), "{}, {readings}", family.name);
        assert_eq!(made.len(), found.len() / 2 * processes, "{}, {readings}", family.name);
        let different: HashSet<_> = made.iter().collect();
        assert_eq!(different.len(), made.len(), "{}, {readings}", family.name);
    }
}

/// A clock that advances to a new tick at every reading, and forks during one of the readings.
struct SteppingClock(ForkingClock, AtomicI64);

impl Clock for SteppingClock {
    fn unix_nanos(&self) -> Result<i64> {
        self.0.unix_nanos()?;
        Ok(self.1.fetch_add(1_000_000_000, Ordering::Relaxed))
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// Fills a batch while the clock forks the process. Returns the results of the parent and the child.
fn fill_batch_across_a_fork(fill: impl Fn(SteppingClock) -> Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let both = run_in_child(|| {
        let before = std::process::id();
        let (mut from, mut to) = pipe().unwrap();
        let clock =
            SteppingClock(ForkingClock::after_readings(1), AtomicI64::new(START_MS * 1_000_000));
        let made = fill(clock);
        if std::process::id() != before {
            to.write_all(&made).unwrap();
            // SAFETY: `_exit` has no preconditions. It terminates the child that was forked during the clock reading,
            // without running destructors.
            unsafe { libc::_exit(0) };
        }
        drop(to);
        let mut of_child = Vec::new();
        from.read_to_end(&mut of_child).unwrap();
        assert_eq!(made.len(), of_child.len());
        [made, of_child].concat()
    });
    let (parent, child) = both.split_at(both.len() / 2);
    (parent.to_vec(), child.to_vec())
}

#[track_caller]
fn assert_no_common_ids<const LEN: usize>(fill: impl Fn(SteppingClock) -> Vec<u8>) {
    let (parent, child) = fill_batch_across_a_fork(fill);
    assert!(!parent.is_empty());
    let all: HashSet<&[u8]> = parent.chunks(LEN).chain(child.chunks(LEN)).collect();
    assert_eq!(all.len(), 2 * parent.len() / LEN);
}

#[test]
fn a_batch_in_progress_restarts_in_the_child() {
    assert_no_common_ids::<{ Sno::LEN }>(|clock| {
        let ids = Generator::builder().clock(clock).build().unwrap();
        let mut batch = vec![Sno::default(); 150_000];
        ids.fill(0, &mut batch).unwrap();
        batch.iter().flat_map(|id| id.to_bytes()).collect()
    });
    assert_no_common_ids::<{ HotGuid::LEN }>(|clock| {
        let ids = hotguid::Generator::builder().clock(clock).build().unwrap();
        let mut batch = vec![HotGuid::default(); 17_000_000];
        ids.fill(0, &mut batch).unwrap();
        batch.iter().step_by(1000).flat_map(|id| id.to_bytes()).collect()
    });
    assert_no_common_ids::<{ Uuid7::LEN }>(|clock| {
        let ids = uuid7::Generator::builder().clock(clock).build().unwrap();
        let mut batch = vec![Uuid7::MIN; 600_000];
        ids.fill(&mut batch).unwrap();
        batch.iter().flat_map(|id| id.to_bytes()).collect()
    });
}

/// Skips Hot Guid, because a batch that exhausts one Hot Guid tick would need too much memory.
#[test]
fn a_child_rejects_a_whole_batch_of_an_explicit_identity() {
    for family in FAMILIES.iter().filter(|family| family.per_tick < 1 << 20) {
        let (parent, child) = fill_batch_across_a_fork(|clock| {
            let (made, filled) = family.generator(clock).fill(2 * family.per_tick as usize + 100);
            let code = filled.map_or_else(|error| error.code(), |()| "none");
            format!("{code:6} {}", u8::from(made.is_empty())).into_bytes()
        });
        assert_eq!(String::from_utf8_lossy(&parent), "none   0", "{}", family.name);
        assert_eq!(String::from_utf8_lossy(&child), "forked 1", "{}", family.name);
    }
}

/// The parent's lease has ended, and the child's has not started yet.
#[test]
fn a_child_can_start_a_lease_of_a_closed_generator() {
    let granted = |partition| {
        let builder =
            sno::Builder::with_clock(ManualClock::at_unix_ms(START_MS)).partition(partition);
        builder.window(START_MS, START_MS + 60_000).build()
    };
    let ids = sno::Leased::new(granted(7).unwrap()).unwrap();
    ids.close();
    assert_eq!(ids.try_generate(0).unwrap_err().code(), "generator_closed");
    let made = run_in_child(|| {
        ids.move_to(|_| granted(8)).unwrap();
        error_codes([ids.try_generate(0).err()])
    });
    assert_eq!(made, b"none");
    assert_eq!(ids.move_to(|_| granted(8)).unwrap_err().code(), "generator_closed");
}

/// The parent sleeps between two steps of a batch, as an event loop does, and the fork happens during that sleep.
#[test]
fn a_child_fills_the_batch_of_an_interrupted_call_from_the_start() {
    let clock = ManualClock::at_unix_ms(START_MS);
    let ids = sno::Builder::with_clock(&clock).build().unwrap();
    let mut batch = vec![Sno::default(); 70_000];
    let (mut call, mut filled) = (Call::asynchronous(), WrittenCount::new());
    let first = ids.fill_step(&mut call, 7, &mut batch, &mut filled).unwrap();
    assert!(matches!(first, Progress::Sleep(_)), "a tick has fewer IDs");
    let mut rest = |batch: &mut [Sno]| {
        while matches!(ids.fill_step(&mut call, 7, batch, &mut filled).unwrap(), Progress::Sleep(_))
        {
            clock.set_unix_nanos(clock.unix_nanos().unwrap() + 4_000_000);
        }
    };
    let of_child = run_in_child(|| {
        let mut batch = batch.clone();
        rest(&mut batch);
        batch.iter().flat_map(|id| *id.as_bytes()).collect()
    });
    rest(&mut batch);
    let all: HashSet<_> = batch.iter().map(|id| *id.as_bytes()).collect();
    let (ids_of_child, _) = of_child.as_chunks::<10>();
    assert_eq!((all.len(), ids_of_child.len()), (70_000, 70_000));
    assert!(ids_of_child.iter().all(|id| !all.contains(id)));
}
