//! Tests default partitions. Each partition is reserved for a limited time, so the partitions never run out. No two
//! generators hold the same partition at the same time.

#![allow(unsafe_code, reason = "fork, pipe and wait have no safe door")]

use std::{
    collections::HashSet,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering},
    },
    time::Duration,
};

use polyflake::{
    Error, ErrorKind,
    clock::{Clock, ClockInfo, ManualClock},
    fork::partitions::{FindTable, RESERVED, Table},
    sno::{Assignment, Builder, Generator, Sno},
};

#[path = "support/separate_process.rs"]
mod separate_process;
#[path = "support/small_table.rs"]
mod small_table;
#[path = "support/mod.rs"]
mod support;

use separate_process::run_in_separate_process;
use small_table::SmallTable;
use support::{ReadingsClock, ScriptedClock, assert_code};

const START_MS: i64 = 1_763_650_000_000;
const MINUTE_MS: i64 = 60_000;

fn generator_with_clock<C: Clock>(clock: C) -> Generator<C> {
    Generator::builder().clock(clock).build().unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "many")]
fn seventy_thousand_consecutive_generators_are_accepted() {
    run_in_separate_process(&[], || {
        let living: Vec<_> = (0..100).map(|_| Generator::new()).collect();
        let mut all: HashSet<Sno> = living.iter().map(|ids| ids.generate(0).unwrap()).collect();
        let partitions: HashSet<u16> = all.iter().map(Sno::partition).collect();
        assert_eq!(partitions.len(), living.len());
        for k in 0..70_000 {
            all.insert(Generator::new().generate(0).unwrap());
            all.insert(living[k % 100].generate(0).unwrap());
        }
        assert_eq!(all.len(), 100 + 2 * 70_000);
    });
}

/// Creates generators without dropping them, as programs in garbage-collected languages might.
#[test]
#[cfg_attr(miri, ignore = "many")]
fn seventy_thousand_leaked_generators_are_accepted() {
    run_in_separate_process(&[], || {
        let forgotten: Vec<_> = (0..70_000).map(|_| Generator::new()).collect();
        let all: HashSet<Sno> = forgotten.iter().map(|ids| ids.generate(0).unwrap()).collect();
        assert_eq!(all.len(), 70_000);
    });
}

#[test]
#[cfg_attr(miri, ignore = "many")]
fn partitions_exhausted_reports_when_one_is_free() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS);
        let all: Vec<_> = (0..65_536)
            .map_while(|_| {
                let ids = generator_with_clock(clock);
                ids.generate(0).is_ok().then_some(ids)
            })
            .collect();
        assert_eq!(all.len(), 65_536);
        // Each renewal extends a reservation by the reservation's length so far, up to a minute.
        let later = MINUTE_MS + 1016;
        for (used, free) in
            [(0, 4), (4, 8), (8, 16), (1000, 1016), (MINUTE_MS, later), (later, later + MINUTE_MS)]
        {
            clock.set_unix_ms(START_MS + used);
            all.iter().for_each(|ids| assert!(ids.generate(0).is_ok()));
            let error =
                assert_code(generator_with_clock(clock).generate(0), "partitions_exhausted");
            assert_eq!(error.retry_at(), Some(START_MS + free));
            clock.set_unix_ms(START_MS + free - 1);
            assert_code(generator_with_clock(clock).generate(0), "partitions_exhausted");
        }
        clock.set_unix_ms(START_MS + later + MINUTE_MS);
        let ids: Vec<Sno> =
            (0..100).map(|_| generator_with_clock(clock).generate(0).unwrap()).collect();
        assert!(ids.iter().all(|id| id.unix_ms() >= START_MS + later + MINUTE_MS));
    });
}

#[test]
fn an_idle_generator_continues_without_repeating_an_id() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS + 10 * MINUTE_MS);
        let idle = generator_with_clock(clock);
        let first = idle.generate(0).unwrap();
        clock.set_unix_ms(START_MS + 60 * MINUTE_MS);
        let later = idle.generate(0).unwrap();
        assert_eq!(first.partition(), later.partition(), "nobody else came");
        // The first generator's reservation outlasted its last ID but has ended by now. Other generators acquire all
        // partitions, each of them once.
        clock.set_unix_ms(START_MS + 120 * MINUTE_MS);
        let others: Vec<_> = if cfg!(miri) {
            vec![]
        } else {
            (0..65_536).map(|_| generator_with_clock(clock)).collect()
        };
        let mut made: HashSet<[u8; 10]> =
            others.iter().map(|ids| ids.generate(0).unwrap().to_bytes()).collect();
        clock.set_unix_ms(START_MS + 122 * MINUTE_MS);
        assert!(made.insert(idle.generate(0).unwrap().to_bytes()));
        assert_eq!(made.len(), others.len() + 1);
    });
}

#[test]
fn a_rollback_before_the_lease_switches_the_partition() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS + 200 * MINUTE_MS);
        // After this generator is dropped, the next reservation of its partition starts at the clock's time.
        let before = generator_with_clock(clock);
        let used = before.generate(0).unwrap();
        drop(before);
        if cfg!(miri) {
            return;
        }
        // When the clock shows an earlier time, each of the other partitions is acquired once.
        clock.set_unix_ms(START_MS + 100 * MINUTE_MS);
        (0..65_535).for_each(|_| assert!(generator_with_clock(clock).generate(0).is_ok()));
        clock.set_unix_ms(START_MS + 201 * MINUTE_MS);
        let heir = generator_with_clock(clock);
        assert_eq!(heir.generate(0).unwrap().partition(), used.partition());
        clock.set_unix_ms(START_MS + 200 * MINUTE_MS);
        let id = heir.generate(0).unwrap();
        assert_ne!(id.partition(), used.partition(), "where it was somebody else's");
        assert_eq!(id.unix_ms(), START_MS + 200 * MINUTE_MS);
    });
}

#[test]
#[cfg_attr(miri, ignore = "many")]
fn a_dropped_generators_partition_is_free_after_its_last_tick() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS);
        let dropped = generator_with_clock(clock);
        let used = dropped.generate(0).unwrap();
        drop(dropped);
        let others: Vec<_> = (0..65_535).map(|_| generator_with_clock(clock)).collect();
        assert!(others.iter().all(|ids| ids.generate(0).is_ok()));
        let next = generator_with_clock(clock);
        let error = assert_code(next.generate(0), "partitions_exhausted");
        assert_eq!(error.retry_at(), Some(START_MS + 4));
        clock.set_unix_ms(START_MS + 4);
        assert_eq!(next.generate(0).unwrap().partition(), used.partition());
    });
}

#[test]
fn a_closed_generators_partition_stays_reserved_for_its_snapshot() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS + 300 * MINUTE_MS);
        let ids = generator_with_clock(clock);
        let id = ids.generate(0).unwrap();
        let snapshot = ids.close().unwrap();
        drop(ids);
        clock.set_unix_ms(START_MS + 400 * MINUTE_MS);
        let others = if cfg!(miri) { 10 } else { 66_000 };
        for _ in 0..others {
            assert_ne!(
                generator_with_clock(clock).generate(0).unwrap().partition(),
                id.partition()
            );
            clock.set_unix_ms(clock.unix_nanos().unwrap() / 1_000_000 + 4);
        }
        let again = Generator::builder().clock(clock).restore(snapshot).unwrap();
        assert_eq!(again.generate(0).unwrap().partition(), id.partition());
    });
}

#[test]
#[cfg_attr(miri, ignore = "many")]
fn closing_after_a_lost_lease_keeps_another_partition() {
    run_in_separate_process(&[], || {
        let (clock, ahead) =
            (ManualClock::at_unix_ms(START_MS), ManualClock::at_unix_ms(START_MS + 4));
        // This clock fails after a few readings.
        let readings = AtomicI64::new(0);
        let ids = generator_with_clock(ReadingsClock(|| {
            match readings.fetch_add(1, Ordering::Relaxed) {
                0..10 => clock.unix_nanos(),
                _ => Err(Error::new(ErrorKind::ClockFailed)),
            }
        }));
        let mut all = HashSet::from([ids.generate(0).unwrap()]);
        let others: Vec<_> = (0..65_536).map(|_| generator_with_clock(&ahead)).collect();
        all.extend(others.iter().map(|ids| ids.generate(0).unwrap()));
        assert_code(ids.close(), "partitions_exhausted");
        clock.set_unix_ms(START_MS + 8);
        let snapshot = ids.close().unwrap();
        all.extend(others.iter().map(|ids| ids.generate(0).unwrap()));
        ahead.set_unix_ms(START_MS + 8);
        all.extend(others.iter().filter_map(|ids| ids.generate(0).ok()));
        let again = Generator::builder().clock(&clock).restore(snapshot).unwrap();
        all.extend([(); 3].map(|()| again.generate(0).unwrap()));
        assert_eq!(all.len(), 1 + 65_536 + 65_536 + 65_535 + 3);
    });
}

#[test]
fn unused_generators_close_with_distinct_partitions() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS + 500 * MINUTE_MS);
        let (one, two) = (
            generator_with_clock(clock).close().unwrap(),
            generator_with_clock(clock).close().unwrap(),
        );
        assert_ne!(one.partition, two.partition);
        let ids = generator_with_clock(clock);
        ids.close().unwrap();
        assert_code(ids.close(), "generator_closed");
    });
}

#[test]
fn a_window_limits_the_lease_and_can_be_extended() {
    run_in_separate_process(&[], || {
        let (start, clock) =
            (START_MS + 600 * MINUTE_MS, &ManualClock::at_unix_ms(START_MS + 600 * MINUTE_MS));
        let ids = Generator::builder().clock(clock).window(start, start + 100).build().unwrap();
        let id = ids.generate(0).unwrap();
        clock.set_unix_ms(start + 100);
        assert_code(ids.generate(0), "lease_expired");
        ids.extend_window(start + 10 * MINUTE_MS).unwrap();
        for ms in [100, 999, 1000, 5 * MINUTE_MS, 10 * MINUTE_MS - 4] {
            clock.set_unix_ms(start + ms);
            assert_eq!(ids.generate(0).unwrap().partition(), id.partition());
        }
        clock.set_unix_ms(start + 10 * MINUTE_MS);
        assert_code(ids.generate(0), "lease_expired");
        clock.set_unix_ms(start - 4);
        assert_code(ids.generate(0), "lease_not_started");
    });
}

#[test]
fn threads_that_share_a_generator_share_its_lease() {
    run_in_separate_process(&[], || {
        // This clock advances by one second at each reading.
        let now = AtomicI64::new((START_MS + 700 * MINUTE_MS) * 1_000_000);
        let ids = &generator_with_clock(ReadingsClock(|| {
            Ok(now.fetch_add(1_000_000_000, Ordering::Relaxed))
        }));
        let each = if cfg!(miri) { 20 } else { 20_000 };
        let all: Vec<Sno> = std::thread::scope(|scope| {
            let make = || (0..each).map(|_| ids.generate(0).unwrap()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4 * each);
    });
}

#[test]
fn parallel_default_generators_continue_for_hours() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS + 800 * MINUTE_MS);
        let build = || Generator::builder().clock(clock).max_wait(Duration::ZERO).build().unwrap();
        let generators = [(); 4].map(|()| build());
        let mut all = HashSet::new();
        for hour in 0..5 {
            clock.set_unix_ms(START_MS + (800 + 60 * hour) * MINUTE_MS);
            for ids in &generators {
                let mut batch = [Sno::default(); 25];
                ids.fill(0, &mut batch).unwrap();
                all.extend(batch.map(Sno::to_bytes));
            }
        }
        assert_eq!(all.len(), 500);
    });
}

#[cfg(unix)]
#[path = "forks/mod.rs"]
mod forks;

/// Forks a child for each ID, like a server that forks a worker for each request. Each child terminates with `_exit`.
#[test]
#[cfg(unix)]
#[cfg_attr(miri, ignore = "forks")]
fn seventy_thousand_children_with_one_id_each_are_accepted() {
    run_in_separate_process(&[], || {
        let living: Vec<_> = (0..10).map(|_| Generator::new()).collect();
        let mut all: HashSet<Sno> = living.iter().map(|ids| ids.generate(0).unwrap()).collect();
        for k in 0..70_000 {
            let made =
                forks::run_in_child_with(forks::fork_with_hooks, || match living[0].generate(0) {
                    Ok(id) => id.to_bytes().to_vec(),
                    Err(error) => error.code().into(),
                });
            let said = String::from_utf8_lossy(&made);
            all.insert(Sno::from_slice(&made).unwrap_or_else(|_| panic!("{said}")));
            all.insert(living[k % 10].generate(0).unwrap());
        }
        assert_eq!(all.len(), 10 + 2 * 70_000, "a child meets a living generator");
    });
}

/// Returns a table of two partitions. Other generators held them until the given numbers of ticks after `START_MS`.
const fn used_table(first: u64, second: u64) -> SmallTable<2> {
    const START_TICK: u64 = (START_MS as u64 - 1_262_304_000_000) / 4;
    let entries = [AtomicU64::new(START_TICK + first), AtomicU64::new(START_TICK + second)];
    SmallTable { entries, ..SmallTable::new() }
}

/// A thread reads the clock and is interrupted. In the meantime, another thread generates the first ID, one tick later. At
/// the time of the first thread's clock reading, the partition still belonged to another generator.
#[test]
fn a_stale_reading_switches_no_partition() {
    static TABLE: SmallTable<2> = used_table(1, 0);
    let clock = ScriptedClock::default();
    let ids = Generator::builder().clock(clock.clone()).partitions_from(|| Ok(&TABLE));
    let ids = Arc::new(ids.build().unwrap());
    let (other, first) = (ids.clone(), Arc::new(OnceLock::new()));
    let seen = first.clone();
    clock.set_readings([START_MS + 4, START_MS, START_MS + 4]);
    clock.run_inside_reading(0, move || seen.set(other.generate(0).unwrap()).unwrap());
    let second = ids.generate(0).unwrap();
    assert!(*first.get().unwrap() < second, "{first:?}, {second}");
    assert_eq!(first.get().unwrap().partition(), second.partition());
}

/// A child drops its inherited generators and creates its own until no partition is left. Each renewal extends a
/// reservation by the reservation's length so far.
#[test]
#[cfg(unix)]
#[cfg_attr(miri, ignore = "forks")]
fn a_child_never_frees_its_parents_partition() {
    static TABLE: SmallTable<2> = used_table(0, 0);
    let clock = &ManualClock::at_unix_ms(START_MS);
    let reserved =
        || Generator::builder().clock(clock).partitions_from(|| Ok(&TABLE)).build().unwrap();
    let ids = reserved();
    for tick in 0..5 {
        clock.set_unix_ms(START_MS + tick * 4);
        ids.generate(0).unwrap();
    }
    let in_child = || {
        drop(ids);
        clock.set_unix_ms(START_MS + 20);
        let made =
            [reserved(), reserved()].map(|own| own.generate(0).map_or(9, |id| id.partition()));
        made.map(u16::to_be_bytes).concat()
    };
    assert_eq!(forks::run_in_child_with(forks::fork_with_hooks, in_child), [0, 1, 0, 9]);
}

/// The ticks before a reservation belong to another generator, so a generator that is restored from the snapshot must
/// not use them either.
#[test]
fn a_snapshot_retains_the_start_of_its_lease() {
    static TABLE: SmallTable<2> = used_table(2, 2);
    let clock = &ManualClock::at_unix_ms(START_MS + 8);
    for made in [0, 1] {
        let ids = Generator::builder().clock(clock).partitions_from(|| Ok(&TABLE)).build().unwrap();
        assert!((0..made).all(|_| ids.generate(0).is_ok()));
        let builder = Generator::builder().clock(clock).max_wait(Duration::ZERO);
        let ids = builder.restore(ids.close().unwrap()).unwrap();
        for before in [4, 0] {
            clock.set_unix_ms(START_MS + before);
            assert!(ids.generate(0).is_err(), "{made} made, at {before}");
        }
        clock.set_unix_ms(START_MS + 8);
        assert_eq!(ids.generate(0).unwrap().unix_ms(), START_MS + 8);
    }
}

#[test]
fn a_snapshot_excludes_a_first_tick_used_by_another_generator() {
    const FIRST_MS: i64 = 1_262_304_000_000;
    static TABLE: SmallTable<2> =
        SmallTable { entries: [const { AtomicU64::new(1) }; 2], ..SmallTable::new() };
    let clock = &ManualClock::at_unix_ms(FIRST_MS + 4);
    let builder = || Generator::builder().clock(clock).max_wait(Duration::ZERO);
    let ids = builder().partitions_from(|| Ok(&TABLE)).build().unwrap();
    let ids = builder().restore(ids.close().unwrap()).unwrap();
    clock.set_unix_ms(FIRST_MS);
    assert_code(ids.generate(0), "sequence_exhausted");
    clock.set_unix_ms(FIRST_MS + 4);
    assert_eq!(ids.generate(0).unwrap().unix_ms(), FIRST_MS + 4);
}

/// Returns a builder for a generator with an explicit partition. The partition is claimed in the small table that default
/// generators use.
fn explicit_builder(clock: &ManualClock, find: FindTable, partition: u16) -> Builder<&ManualClock> {
    let builder = Generator::builder().clock(clock).partitions_from(find);
    builder.partition(partition).max_wait(Duration::ZERO)
}

/// Creates a default generator and returns the partition of its first ID, or the error.
fn default_partition(clock: &ManualClock, find: FindTable) -> Result<u16, Error> {
    let ids = Generator::builder().clock(clock).partitions_from(find).build().unwrap();
    ids.generate(0).map(|id| id.partition())
}

/// A function assigns its partition in the first call, which must wait as well.
#[test]
fn an_explicit_partition_starts_after_a_default_generators_lease() {
    static TABLES: [SmallTable<2>; 2] = [used_table(0, 0), used_table(0, 0)];
    static PARTITION: AtomicU16 = AtomicU16::new(0);
    let assign = || {
        let partition = PARTITION.load(Ordering::Relaxed);
        Ok(Assignment { partition, sequence_min: 0 })
    };
    check_that_a_lease_ends_first(
        || Ok(&TABLES[0]),
        |builder, partition| builder.partition(partition).max_wait(Duration::ZERO),
    );
    check_that_a_lease_ends_first(
        || Ok(&TABLES[1]),
        |builder, partition| {
            PARTITION.store(partition, Ordering::Relaxed);
            builder.identity_from(assign).max_wait(Duration::ZERO)
        },
    );
}

fn check_that_a_lease_ends_first(
    find: FindTable,
    set: impl Fn(Builder<&ManualClock>, u16) -> Builder<&ManualClock>,
) {
    let clock = &ManualClock::at_unix_ms(START_MS);
    let default = Generator::builder().clock(clock).partitions_from(find).build().unwrap();
    let mut all = HashSet::from([default.generate(0).unwrap()]);
    for ms in [4, 8, 16] {
        clock.set_unix_ms(START_MS + ms);
        assert!(all.insert(default.generate(0).unwrap()));
    }
    // The reservation ends 32 ms after START_MS, because its last renewal extended it by its length so far.
    let ids = Generator::builder().clock(clock).partitions_from(find);
    let ids = set(ids, default.partition().unwrap()).build().expect("a generator, without a wait");
    for ms in [16, 31] {
        clock.set_unix_ms(START_MS + ms);
        let error = assert_code(ids.generate(0), "sequence_exhausted");
        assert_eq!(error.retry_at(), Some(START_MS + 32));
        assert_eq!(ids.try_fill(0, &mut [Sno::default(); 3]), Ok(0));
        assert!(all.insert(default.generate(0).unwrap()), "until the reservation ends");
    }
    clock.set_unix_ms(START_MS + 32);
    let (mine, other) = (ids.generate(0).unwrap(), default.generate(0).unwrap());
    assert_ne!(mine.partition(), other.partition(), "the reservation was not renewed");
    // From now on, neither generator may generate IDs in a tick of the other generator.
    clock.set_unix_ms(START_MS + 16);
    let error = assert_code(ids.generate(0), "sequence_exhausted");
    assert_eq!(error.retry_at(), Some(START_MS + 32));
    assert!(all.insert(mine) && all.insert(other));
}

/// Uses the system clock, as real programs do.
#[test]
#[cfg_attr(miri, ignore = "waits")]
fn an_explicit_generator_waits_for_a_default_generators_lease() {
    run_in_separate_process(&[], || {
        let default = Generator::new();
        let partition = default.generate(0).unwrap().partition();
        let mut all = HashSet::new();
        let ids = Generator::builder().partition(partition).build().unwrap();
        let mine = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let mut batch = vec![Sno::default(); 2000];
                ids.fill(0, &mut batch).map(|()| batch)
            });
            while !thread.is_finished() {
                assert!(all.insert(default.generate(0).unwrap()));
            }
            thread.join().unwrap().unwrap()
        });
        assert!(mine.iter().all(|id| id.partition() == partition && all.insert(*id)));
        assert_ne!(default.generate(0).unwrap().partition(), partition);
    });
}

#[test]
fn claimed_partitions_are_never_leased_to_default_generators() {
    static TABLE: SmallTable<3> = SmallTable::new();
    let clock = &ManualClock::at_unix_ms(START_MS + 8);
    let builder = || Generator::builder().clock(clock).partitions_from(|| Ok(&TABLE));
    let configured = builder().partition(0).build().unwrap();
    let drawn = builder()
        .identity_from(|| Ok(Assignment { partition: 2, sequence_min: 0 }))
        .build()
        .unwrap();
    drawn.generate(0).unwrap();
    assert_eq!(default_partition(clock, || Ok(&TABLE)), Ok(1));
    let elsewhere = Generator::builder().clock(clock).partition(1).build().unwrap();
    let restored = builder().restore(elsewhere.close().unwrap()).unwrap();
    clock.set_unix_ms(START_MS + 80);
    let error = assert_code(default_partition(clock, || Ok(&TABLE)), "partitions_exhausted");
    assert_eq!(error.retry_at(), None, "nobody knows when one is free");
    assert!([&configured, &drawn, &restored].iter().all(|ids| ids.generate(0).is_ok()));
    // The generator's snapshot may be restored at any time, so its partition stays reserved.
    drop(restored);
    assert_code(default_partition(clock, || Ok(&TABLE)), "partitions_exhausted");
    drop((configured, drawn));
    clock.set_unix_ms(START_MS + 84);
    let free = [(); 2].map(|()| default_partition(clock, || Ok(&TABLE)).unwrap());
    assert_eq!(HashSet::from(free), HashSet::from([0, 2]));
    assert_code(default_partition(clock, || Ok(&TABLE)), "partitions_exhausted");
}

#[test]
fn an_explicit_partition_is_free_once_its_last_generator_is_dropped() {
    static TABLE: SmallTable<1> = SmallTable::new();
    let clock = &ManualClock::at_unix_ms(START_MS);
    let low = explicit_builder(clock, || Ok(&TABLE), 0).sequence_max(99).build().unwrap();
    let high = explicit_builder(clock, || Ok(&TABLE), 0).sequence_min(100).build().unwrap();
    assert_eq!(low.generate(0).unwrap().sequence(), 0);
    clock.set_unix_ms(START_MS + 40);
    assert_eq!(high.generate(0).unwrap().sequence(), 100);
    // The partition stays reserved through the generator's highest tick, even though the clock now shows a lower tick.
    clock.set_unix_ms(START_MS + 20);
    assert!(high.generate(0).unwrap().tick_tock());
    drop(high);
    assert_code(default_partition(clock, || Ok(&TABLE)), "partitions_exhausted");
    drop(low);
    let error = assert_code(default_partition(clock, || Ok(&TABLE)), "partitions_exhausted");
    assert_eq!(error.retry_at(), Some(START_MS + 44));
    // The program may configure the partition again immediately, regardless of the time that the clock shows.
    clock.set_unix_ms(START_MS - 1000);
    assert!(explicit_builder(clock, || Ok(&TABLE), 0).build().unwrap().generate(0).is_ok());
    clock.set_unix_ms(START_MS + 44);
    assert_eq!(default_partition(clock, || Ok(&TABLE)), Ok(0));
}

/// Slots that a handle has reserved count as used, even if the handle is dropped before it uses them.
#[test]
fn reserved_slots_delay_the_partitions_next_holder() {
    static TABLE: SmallTable<1> = SmallTable::new();
    let clock = &ManualClock::at_unix_ms(START_MS);
    let ids = explicit_builder(clock, || Ok(&TABLE), 0).build().unwrap();
    let mut handle = ids.handle();
    handle.generate(0).unwrap();
    drop(ids);
    let error = assert_code(default_partition(clock, || Ok(&TABLE)), "partitions_exhausted");
    assert_eq!(error.retry_at(), Some(START_MS + 4));
}

#[test]
fn a_closed_explicit_partition_stays_reserved_for_its_snapshot() {
    static TABLE: SmallTable<1> = SmallTable::new();
    let clock = &ManualClock::at_unix_ms(START_MS);
    let ids = explicit_builder(clock, || Ok(&TABLE), 0).build().unwrap();
    ids.generate(0).unwrap();
    ids.close().unwrap();
    drop(ids);
    clock.set_unix_ms(START_MS + MINUTE_MS);
    assert_code(default_partition(clock, || Ok(&TABLE)), "partitions_exhausted");
}

#[test]
fn a_failed_build_claims_no_partition() {
    struct CoarseTestClock;
    impl Clock for CoarseTestClock {
        fn unix_nanos(&self) -> polyflake::Result<i64> {
            Ok(START_MS * 1_000_000)
        }
        fn sleep(&self, _: u64) -> polyflake::Result<()> {
            Ok(())
        }
        fn info(&self) -> ClockInfo {
            ClockInfo::new().for_tests(true).resolution(Duration::from_secs(1))
        }
    }
    static TABLE: SmallTable<1> = SmallTable::new();
    let builder = || Generator::builder().partitions_from(|| Ok(&TABLE)).partition(0);
    assert_code(builder().clock(CoarseTestClock).build(), "out_of_range");
    assert_code(builder().window(START_MS, START_MS - 1).build(), "out_of_range");
    assert_code(builder().sequence_max(0).build(), "out_of_range");
    assert_eq!(default_partition(&ManualClock::at_unix_ms(START_MS), || Ok(&TABLE)), Ok(0));
}

/// A child drops copies of its parent's generators. This must not free any partition, regardless of the order in which the
/// generators were created.
#[test]
#[cfg(unix)]
#[cfg_attr(miri, ignore = "forks")]
fn dropping_copies_in_a_child_frees_no_explicit_partition() {
    // The table is in memory that the child shares with its parent.
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS);
        let all: Vec<_> = (0..=u16::MAX)
            .map(|partition| Generator::builder().clock(clock).partition(partition).build())
            .collect::<Result<_, _>>()
            .unwrap();
        let in_child = || {
            drop(all);
            generator_with_clock(clock)
                .generate(0)
                .map_or_else(|error| error.code().into(), |_| b"made".to_vec())
        };
        assert_eq!(
            forks::run_in_child_with(forks::fork_with_hooks, in_child),
            b"partitions_exhausted"
        );
    });
}

#[test]
#[cfg_attr(miri, ignore = "many")]
fn all_partitions_are_free_after_their_explicit_generators() {
    run_in_separate_process(&[], || {
        let clock = &ManualClock::at_unix_ms(START_MS);
        for partition in 0..=u16::MAX {
            let ids = Generator::builder().clock(clock).partition(partition).build().unwrap();
            assert_eq!(ids.generate(0).unwrap().partition(), partition);
        }
        let error = assert_code(generator_with_clock(clock).generate(0), "partitions_exhausted");
        assert_eq!(error.retry_at(), Some(START_MS + 4));
        polyflake::sno::generate(0).unwrap();
    });
}

/// Another thread closes the generator just after a partition has been reserved permanently.
#[test]
fn concurrent_closes_keep_one_partition() {
    static TABLE: SmallTable<4> =
        SmallTable { kept: Some(close_concurrently), ..SmallTable::new() };
    static GENERATOR: OnceLock<Generator<ManualClock>> = OnceLock::new();
    fn close_concurrently() {
        let other = std::thread::spawn(|| GENERATOR.get().unwrap().close());
        assert_code(other.join().unwrap(), "generator_closed");
    }
    let ids = GENERATOR.get_or_init(|| {
        let clock = ManualClock::at_unix_ms(START_MS);
        Generator::builder().clock(clock).partitions_from(|| Ok(&TABLE)).build().unwrap()
    });
    let used = ids.generate(0).unwrap().partition();
    let snapshot = ids.close().unwrap();
    assert_eq!(u16::from_be_bytes(snapshot.partition), used);
    let kept = (0..4).filter(|partition| TABLE.entry(*partition) >= RESERVED);
    assert_eq!(kept.collect::<Vec<_>>(), [used]);
    assert_code(ids.close(), "generator_closed");
}
