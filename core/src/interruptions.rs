//! Tests that interrupt a generator's call at each of its memory accesses in turn. During the interruption, other calls run
//! or the process forks.
//!
//! Each run is a plain sequence of calls to the real code, so a test can use any clock and any number of calls. While one
//! call is interrupted, all other calls run to completion. `sync::explorer` can also interleave several calls, but only for
//! code that it can rerun from any state. `uuid7::copies` splits the calls of UUID v7 generators.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::Mutex,
    vec::Vec,
};

use crate::{
    Result,
    clock::Clock,
    fork::partitions::{Cells, Table},
    hotguid::{self, HotGuid},
    sno::{self, Sno},
    sync::{AtomicU32, Ordering, watched_atomics::run_with_interruption},
};

std::thread_local! {
    /// The clock reading of the current call, in Unix milliseconds.
    static CLOCK_MS: Cell<i64> = const { Cell::new(0) };
    /// The first of the random bytes that the last call to `distinct_bytes` returned to a Hot Guid generator.
    static FIRST_RANDOM_BYTE: Cell<u8> = const { Cell::new(0) };
}

/// A clock that returns the current call's clock reading, no matter how often the call reads the clock.
#[derive(Clone, Copy, Debug)]
struct TestClock;

impl Clock for TestClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(CLOCK_MS.get() * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        unreachable!("no call waits")
    }
    fn info(&self) -> crate::clock::ClockInfo {
        crate::clock::ClockInfo::new().for_tests(true)
    }
}

/// Performs a call during which the clock reads `unix_ms`.
fn with_clock_at<R>(unix_ms: i64, call: impl FnOnce() -> R) -> R {
    let before = CLOCK_MS.replace(unix_ms);
    let result = call();
    CLOCK_MS.set(before);
    result
}

/// Returns all sequences of `len` numbers below `end`.
fn sequences(end: usize, len: u32) -> impl Iterator<Item = Vec<usize>> {
    (0..end.pow(len)).map(move |code| (0..len).map(|place| code / end.pow(place) % end).collect())
}

/// Returns the start of a sno tick, in Unix milliseconds.
fn tick_to_ms(tick: usize) -> i64 {
    1_262_304_000_000 + 4 * i64::try_from(tick).unwrap()
}

/// A table of two partitions that alternates between them when it searches for a free partition.
struct AlternatingTable {
    cells: Cells<2>,
    looks: AtomicU32,
}

static TABLE: AlternatingTable = AlternatingTable { cells: Cells::new(), looks: AtomicU32::new(0) };

/// Serializes the tests that use [`TABLE`].
static TABLE_LOCK: Mutex<()> = Mutex::new(());

impl AlternatingTable {
    fn reset(&self) {
        self.looks.store(0, Ordering::Relaxed);
        for partition in 0..2 {
            self.cells.swap(partition, self.cells.entry(partition), 0);
        }
    }
}

impl Table for AlternatingTable {
    fn random_bits(&self) -> Result<u16> {
        Ok(0)
    }
    fn next_partition(&self) -> Result<u16> {
        Ok((self.looks.fetch_add(1, Ordering::Relaxed) % 2) as u16)
    }
    fn entry(&self, partition: u16) -> u64 {
        self.cells.entry(partition)
    }
    fn swap(&self, partition: u16, old: u64, new: u64) -> bool {
        self.cells.swap(partition, old, new)
    }
    fn count(&self) -> usize {
        2
    }
}

fn default_sno_generator() -> sno::Generator<TestClock> {
    let builder = sno::Builder::with_clock(TestClock).partitions_from(|| Ok(&TABLE));
    builder.sequence_max(3).build().unwrap()
}

/// Two generators that share one partition table, and the IDs that they generated. Two threads share the first generator.
struct SharedTableGenerators {
    generators: [sno::Generator<TestClock>; 2],
    made: RefCell<[Vec<Sno>; 2]>,
}

impl SharedTableGenerators {
    fn new() -> Self {
        TABLE.reset();
        Self {
            generators: [default_sno_generator(), default_sno_generator()],
            made: RefCell::default(),
        }
    }

    fn call(&self, generator: usize, tick: usize) {
        let id = with_clock_at(tick_to_ms(tick), || self.generators[generator].try_generate(0));
        self.made.borrow_mut()[generator].extend(id);
    }

    /// Checks that no ID was generated twice. Also checks that, between two clock rollbacks, the first generator used only
    /// one partition in each tick.
    fn check_ids(&self, calls: &[usize]) {
        let made = self.made.borrow();
        let mut partitions = BTreeMap::new();
        for id in &made[0] {
            let tick = (id.tick(), id.tick_tock());
            let partition = *partitions.entry(tick).or_insert(id.partition());
            assert_eq!(partition, id.partition(), "two partitions in a tick: {calls:?}, {made:?}");
        }
        let mut all = made.concat();
        all.sort_unstable();
        assert!(all.is_sorted_by(|one, next| one < next), "made twice: {calls:?}, {made:?}");
    }
}

/// Interrupts a call that generates an ID or closes the generator, while the other thread and the other generator perform
/// three calls. The test runs once with generators that have already generated IDs, and once with new generators.
#[test]
fn default_partition_snos_stay_unique_if_a_call_is_interrupted() {
    let _used = TABLE_LOCK.lock();
    for (used_before, closes) in [(false, false), (true, false), (true, true)] {
        for (now, inside) in (0..3).flat_map(|now| sequences(6, 3).map(move |inside| (now, inside)))
        {
            let mut runs = 0;
            while check_interruption(used_before, closes, now, &inside, runs) {
                runs += 1;
            }
            assert!(runs > 2, "{runs} accesses");
        }
    }
}

/// Runs the test with an interruption at the given access. Returns `false` if the call performs at most `access` accesses.
fn check_interruption(
    used_before: bool,
    closes: bool,
    now: usize,
    inside: &[usize],
    access: usize,
) -> bool {
    let snos = Rc::new(SharedTableGenerators::new());
    if used_before {
        snos.call(0, 100);
        snos.call(1, 100);
    }
    let (others, calls) = (snos.clone(), inside.to_vec());
    let others = move || calls.iter().for_each(|call| others.call(call / 3, 99 + call % 3));
    let mut closed = None;
    let was_held = run_with_interruption(access, others, || {
        if closes {
            closed = with_clock_at(tick_to_ms(99 + now), || snos.generators[0].close().ok());
        } else {
            snos.call(0, 99 + now);
        }
    });
    if let Some(snapshot) = closed {
        let again = sno::Builder::with_clock(TestClock).restore(snapshot).unwrap();
        for tick in 99..103 {
            let id = with_clock_at(tick_to_ms(tick), || again.try_generate(0));
            // The snapshot may have a different partition in the last tick, because one thread can reserve a partition
            // while the other thread is permanently reserving the previous one.
            snos.made.borrow_mut()[1].extend(id);
        }
    }
    for (generator, tick) in [(0, 101), (1, 101), (0, 102), (1, 102), (0, 100)] {
        snos.call(generator, tick);
    }
    snos.check_ids(&[inside, &[now, access]].concat());
    was_held.is_ok()
}

/// Returns different machine bytes on each call.
#[allow(clippy::unnecessary_wraps, reason = "a generator's draw may fail")]
fn distinct_bytes() -> Result<[u8; 8]> {
    FIRST_RANDOM_BYTE.set(FIRST_RANDOM_BYTE.get() + 1);
    Ok([FIRST_RANDOM_BYTE.get(), 1, 2, 3, 4, 0, 0, 0])
}

/// Interrupts a call that generates a Hot Guid, either the generator's first call or a later one, while another thread
/// performs up to five calls. Each ID must contain machine bytes that `distinct_bytes` returned.
#[test]
fn hot_guids_stay_valid_if_a_call_is_interrupted() {
    let seconds = |after: usize| 1_763_650_000_000 + 1000 * i64::try_from(after).unwrap();
    for (before, calls) in [(0, 0), (0, 1), (0, 5), (1, 1), (1, 4)] {
        for (now, inside) in (0..3).flat_map(|now| sequences(3, calls).map(move |it| (now, it))) {
            for access in 0.. {
                FIRST_RANDOM_BYTE.set(0);
                let ids = Rc::new(
                    hotguid::Builder::with_clock(TestClock, distinct_bytes).build().unwrap(),
                );
                let made = Rc::new(RefCell::new(Vec::<HotGuid>::new()));
                let call = move |ids: &hotguid::Generator<TestClock>, after| {
                    with_clock_at(seconds(after), || ids.try_generate(0)).unwrap()
                };
                made.borrow_mut().extend((0..before).map(|_| call(&ids, 1)));
                let (other, noted, calls) = (ids.clone(), made.clone(), inside.clone());
                let others = move || {
                    noted.borrow_mut().extend(calls.iter().map(|after| call(&other, *after)));
                };
                let one = run_with_interruption(access, others, || call(&ids, now));
                let (was_held, Ok(one) | Err(one)) = (one.is_ok(), one);
                made.borrow_mut().extend([one, call(&ids, now), call(&ids, 2)]);
                let mut made = made.take();
                for id in &made {
                    let [drawn, rest @ ..] = id.machine();
                    assert!(
                        (1..=FIRST_RANDOM_BYTE.get()).contains(&drawn) && rest == [1, 2, 3, 4],
                        "{id}"
                    );
                }
                made.sort_unstable();
                assert!(made.is_sorted_by(|one, next| one < next), "made twice: {made:?}");
                if !was_held {
                    assert!(access > 3, "{access} accesses");
                    break;
                }
            }
        }
    }
}

/// Tests that fork the process in the middle of a call.
#[cfg(all(unix, not(miri)))]
mod forks {
    #![allow(unsafe_code, reason = "fork has no safe door")]

    use std::{
        io::{Read, Write, pipe},
        panic::{AssertUnwindSafe, catch_unwind},
    };

    use super::{
        Cell, Rc, Result, TestClock, Vec, hotguid, run_with_interruption, sno, tick_to_ms,
        with_clock_at,
    };
    use crate::fork;

    /// Forks the process. Returns 0 in the child, and the child's process ID in the parent.
    fn fork_process() -> libc::pid_t {
        // SAFETY: the child only completes its call and then exits with `_exit`.
        unsafe { libc::fork() }
    }

    /// Runs `call`, and forks the process before atomic access number `access` of that call, counted from 0. Returns the
    /// call's results in this process and in the child, or `None` if the call performs at most `access` accesses.
    fn fork_before_access(access: usize, call: impl FnOnce() -> Vec<u8>) -> Option<[Vec<u8>; 2]> {
        let (mut from, mut to) = pipe().unwrap();
        let child = Rc::new(Cell::new(-1));
        let forked = child.clone();
        let call = || catch_unwind(AssertUnwindSafe(call)).unwrap_or_default();
        let fork = move || {
            forked.set(fork_process());
            assert!(forked.get() >= 0, "expected a child");
        };
        let (Ok(here) | Err(here)) = run_with_interruption(access, fork, call);
        if child.get() == 0 {
            to.write_all(&here).ok();
            // SAFETY: `_exit` has no preconditions. It terminates the child without running any destructors.
            unsafe { libc::_exit(0) };
        }
        drop(to);
        let mut there = Vec::new();
        from.read_to_end(&mut there).unwrap();
        if child.get() < 0 {
            return None;
        }
        // SAFETY: `waitpid` accepts a null pointer for the status, and `child` is the process ID of a child that was just
        // forked, so both arguments are valid.
        unsafe { libc::waitpid(child.get(), std::ptr::null_mut(), 0) };
        Some([here, there])
    }

    /// Forks before each access in turn, each time in a call to a new generator. If the call fails, its result contains no
    /// bytes.
    fn fork_before_each_access<G>(
        child_makes_ids: bool,
        make: impl Fn() -> G,
        call: impl Fn(&G) -> Vec<u8>,
    ) {
        fork::prepare().unwrap();
        for access in 0.. {
            // `ids` is declared outside the call, so that it is dropped only afterwards. Dropping the generator performs
            // further accesses.
            let ids = make();
            let Some([here, there]) = fork_before_access(access, || call(&ids)) else {
                return assert!(access > 2, "{access} accesses");
            };
            assert!(!here.is_empty(), "before access {access}");
            assert_eq!(!there.is_empty(), child_makes_ids, "before access {access}");
            assert_ne!(here, there, "made twice, forked before access {access}");
        }
    }

    fn bytes<const N: usize>(id: Result<[u8; N]>) -> Vec<u8> {
        id.map(Vec::from).unwrap_or_default()
    }

    /// Pairs of the tick of the previous call, if any, and the tick of the tested call. The tested call is the generator's
    /// first call, a second call in the same tick, or a call in a later tick.
    const CALL_TICKS: [(Option<usize>, usize); 3] =
        [(None, 100), (Some(100), 100), (Some(100), 101)];

    #[test]
    fn snos_stay_unique_if_a_fork_interrupts_a_call() {
        let call = |ids: &sno::Generator<TestClock>, tick| {
            bytes(with_clock_at(tick_to_ms(tick), || ids.try_generate(0)).map(sno::Sno::to_bytes))
        };
        // The explicit partition is tested first, because a default generator may reserve partition 7, and an explicit
        // generator can then use it only in a later tick.
        for partition in [Some(7), None] {
            for (before, now) in CALL_TICKS {
                let make = || {
                    let builder = sno::Builder::with_clock(TestClock);
                    let builder = partition.into_iter().fold(builder, sno::Builder::partition);
                    let ids = builder.build().unwrap();
                    before.map(|tick| call(&ids, tick));
                    ids
                };
                fork_before_each_access(partition.is_none(), make, |ids| call(ids, now));
            }
        }
    }

    /// Returns different bytes for the machine field in each process.
    #[allow(clippy::unnecessary_wraps, reason = "a generator's draw may fail")]
    fn process_bytes() -> Result<[u8; 8]> {
        let [a, b, c, d] = std::process::id().to_be_bytes();
        Ok([a, b, c, d, 0, 0, 0, 0])
    }

    #[test]
    fn hot_guids_stay_unique_if_a_fork_interrupts_a_call() {
        let call = |ids: &hotguid::Generator<TestClock>, after: usize| {
            let now = 1_763_650_000_000 + 1000 * i64::try_from(after).unwrap();
            bytes(with_clock_at(now, || ids.try_generate(0)).map(hotguid::HotGuid::to_bytes))
        };
        for (before, now) in CALL_TICKS {
            let make = || {
                let ids = hotguid::Builder::with_clock(TestClock, process_bytes).build().unwrap();
                before.map(|after| call(&ids, after));
                ids
            };
            fork_before_each_access(true, make, |ids| call(ids, now));
        }
    }
}
