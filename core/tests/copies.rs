//! Tests copies of a running process, such as those created by restoring a virtual machine twice from one snapshot. Neither
//! copy can detect the other. Unlike a forked child, each copy has all of the memory, including the page that the kernel
//! wipes at a fork, and a private copy of shared memory.
//!
//! `cargo test -p polyflake --test copies -- --ignored --nocapture print_figures` prints how many of 5,000 IDs two copies
//! have in common. `POLYFLAKE_RUNS` sets the number of runs, and `POLYFLAKE_ONLY` selects a line of the output, such as
//! `leased sno, running`. With `restored_copies_repeat_no_id` instead of `print_figures`, the test compares ten
//! million IDs of each generator with the IDs of a copy that reports the restore. `POLYFLAKE_IDS` changes the number of
//! IDs.
#![cfg(all(target_os = "linux", not(miri)))]

#[path = "support/family.rs"]
mod family;
#[path = "support/image.rs"]
mod image;
#[path = "support/separate_process.rs"]
mod separate_process;

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use image::run_in_both_copies;
use polyflake::{
    Result, after_restore,
    clock::{Clock, ClockInfo, ManualClock, SystemClock},
    hotguid,
    sno::{self, Sno},
    uuid7::{self, Uuid7},
};
use separate_process::run_in_separate_process;

const START_MS: i64 = 1_763_650_000_000;

fn count_common_ids([here, there]: &[Vec<[u8; 16]>; 2]) -> usize {
    assert_eq!(here.len(), there.len());
    let there: HashSet<_> = there.iter().collect();
    here.iter().filter(|id| there.contains(id)).count()
}

fn to_16_bytes(id: Sno) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..10].copy_from_slice(&id.to_bytes());
    bytes
}

/// Busy-waits until the wall clock reaches `time`.
fn wait_until(time: Duration) {
    while SystemTime::now().duration_since(UNIX_EPOCH).unwrap() < time {
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// Returns how many IDs two copies have in common if each generates 1,000 IDs per second after a pause.
fn count_common_ids_at_1000_per_second(
    count: u32,
    pause: Duration,
    mut make: impl FnMut() -> [u8; 16],
) -> usize {
    make();
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + pause;
    count_common_ids(&run_in_both_copies(|_| {
        let paced = |k: u32| {
            wait_until(start + k * Duration::from_millis(1));
            make()
        };
        (0..count).map(paced).collect()
    }))
}

/// Both copies have the same position in the table of partitions. They differ only in the table's base, a number that
/// determines the order in which partitions are assigned. Each copy picks its base at random, and the two bases are equal
/// with a probability of 1 in 65,536.
#[test]
fn copies_that_both_report_assign_different_partitions_and_random_bytes() {
    run_in_separate_process(&[], || {
        let (ids, guids) = ([(); 3].map(|()| sno::Generator::new()), hotguid::Generator::new());
        assert!(ids.iter().all(|ids| ids.generate(7).is_ok()));
        guids.generate(7).unwrap();
        let [here, there] = run_in_both_copies(|_| {
            let mut found = Vec::new();
            // The test restores twice. The bases are equal by chance both times in only 1 of 2^32 runs.
            for _ in 0..2 {
                after_restore().unwrap();
                found.extend(ids.each_ref().map(|ids| {
                    let partition = ids.generate(7).unwrap().partition();
                    u128::from(partition).to_be_bytes()
                }));
                let mut machine = [0; 16];
                machine[..5].copy_from_slice(&guids.generate(7).unwrap().machine());
                found.push(machine);
            }
            found
        });
        let partitions = |found: &[[u8; 16]]| [&found[..3], &found[4..7]].concat();
        assert_ne!(partitions(&here), partitions(&there), "the same partitions");
        assert!(here[3] != there[3] && here[7] != there[7], "the same random bytes");
    });
}

/// A clock that shows a set time, in Unix milliseconds, and reports a restore in the reading that a count reaches.
struct ReportingClock(AtomicI64, AtomicI64);

impl Clock for ReportingClock {
    fn unix_nanos(&self) -> Result<i64> {
        if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
            after_restore().unwrap();
        }
        Ok(self.0.load(Ordering::Relaxed) * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// Both copies continue in the same ticks, and one of them reports the restore during a call. No later call of that copy
/// makes an ID that the other copy makes, or that the image had made. Without a report, the IDs of the first tick are equal.
#[test]
fn a_copy_that_reports_inside_the_clock_repeats_no_later_id() {
    run_in_separate_process(&[], || {
        for (family, readings) in
            family::all_kinds().flat_map(|family| (-1..4).map(move |readings| (family, readings)))
        {
            let reports = readings >= 0;
            let clock = Arc::new(ReportingClock(START_MS.into(), i64::MAX.into()));
            let ids = family.generator(clock.clone());
            let mut handle = ids.handle(2);
            let mut make = || {
                let (batch, filled) = ids.fill(2);
                let made = [ids.generate(), handle(), filled.map(|()| batch[1])];
                made.map(|made| made.map(|id| id.bits.to_be_bytes()).map_err(|error| error.code()))
            };
            let before = make().map(|made| made.unwrap());
            let [here, there] = run_in_both_copies(|is_copy| {
                if is_copy && reports {
                    clock.1.store(readings, Ordering::Relaxed);
                    while clock.1.load(Ordering::Relaxed) >= 0 {
                        let _ = make();
                    }
                }
                let made = [0, 1000].into_iter().flat_map(|later| {
                    clock.0.store(START_MS + later, Ordering::Relaxed);
                    make().into_iter().map(move |made| {
                        // A new default partition begins in a tick of its own.
                        let expected =
                            if family.is_explicit { "forked" } else { "sequence_exhausted" };
                        let is_allowed =
                            |code| code == expected && (family.is_explicit || later == 0);
                        made.unwrap_or_else(|code| {
                            assert!(is_copy && is_allowed(code), "{} {later} {code}", family.name);
                            [0; 16]
                        })
                    })
                });
                made.collect()
            });
            let name = format!("{} {readings}", family.name);
            assert_eq!(here.len(), there.len(), "{name}: the copy failed");
            if !reports {
                assert_eq!(here[..3], there[..3], "{name}: not a copy");
                continue;
            }
            let made: Vec<_> = there.iter().filter(|id| **id != [0; 16]).collect();
            assert_eq!(made.is_empty(), family.is_explicit, "{name}");
            assert!(made.iter().all(|id| !here.contains(id) && !before.contains(id)), "{name}");
        }
    });
}

/// A copy that is restored later starts in a different second.
#[test]
fn hot_guids_of_copies_differ_from_the_next_second_on() {
    run_in_separate_process(&[], || {
        let guids = hotguid::Generator::new();
        let make = || guids.generate(7).unwrap().to_bytes();
        let pause = Duration::from_millis(1100);
        let runs = (0..3).map(|_| count_common_ids_at_1000_per_second(100, pause, make));
        // The probability that the counters of a run overlap is 1 in 40,000.
        assert_eq!(runs.sum::<usize>(), 0);
    });
}

#[test]
fn uuids_of_copies_differ_from_the_next_millisecond_on() {
    run_in_separate_process(&[], || {
        let ids = uuid7::Generator::new();
        let mut handle = ids.handle();
        let pause = Duration::from_millis(5);
        let of_handle = count_common_ids_at_1000_per_second(100, pause, || {
            handle.generate().unwrap().to_bytes()
        });
        let of_generator = count_common_ids_at_1000_per_second(100, pause, || {
            let mut batch = [Uuid7::MIN; 2];
            ids.fill(&mut batch).unwrap();
            ids.generate().unwrap().to_bytes()
        });
        assert_eq!((of_handle, of_generator), (0, 0));
    });
}

/// Returns a leased generator that is created in the same way as in the lease crate.
fn leased_sno() -> sno::Leased {
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis());
    let now = now.unwrap();
    let builder = sno::Generator::builder().partition(8).window(now - 1000, now + 3_600_000);
    sno::Leased::new(builder.build().unwrap()).unwrap()
}

/// Copies share a lease until one of them has to renew it.
#[test]
fn leased_snos_of_copies_differ_in_most_ticks() {
    run_in_separate_process(&[], || {
        let ids = leased_sno();
        let equal = count_common_ids_at_1000_per_second(100, Duration::from_millis(50), || {
            to_16_bytes(ids.generate(7).unwrap())
        });
        // The probability that the sequences of a tick overlap is about 1 in 5,000.
        assert!(equal <= 8, "{equal} of 100 equal");
    });
}

/// Two copies of a leased generator differ only in the first sequence number of each tick. The test therefore uses two
/// generators with the same partition instead of copies, which avoids the delays of real clocks. In each tick, both
/// generators use a run of 4 sequence numbers, and each run has one of 32,768 starts. Two such runs have 16 / 32,768
/// sequence numbers in common on average, which is 0.61 per 5,000 IDs. The mean of 300 runs has a standard deviation of
/// 0.075.
#[test]
fn copies_of_a_leased_sno_repeat_less_than_one_of_5000_ids_on_average() {
    const TICKS: i64 = 375_000;
    let clock = ManualClock::at_unix_ms(START_MS);
    let leased = || {
        let builder = sno::Generator::builder().clock(&clock).partition(8);
        let window = builder.window(START_MS - 1000, START_MS + 4 * TICKS + 1000);
        sno::Leased::new(window.build().unwrap()).unwrap()
    };
    let [one, other] = [leased(), leased()];
    let repeated = |tick| {
        clock.set_unix_nanos((START_MS + 4 * tick) * 1_000_000);
        let [ours, theirs] = [&one, &other].map(|ids| {
            let mut batch = [Sno::MIN; 4];
            ids.fill(7, &mut batch).unwrap();
            batch
        });
        ours.iter().filter(|id| theirs.contains(id)).count()
    };
    let equal: usize = (0..TICKS).map(repeated).sum();
    assert!((90..300).contains(&equal), "{equal} of 1,500,000 equal");
}

/// Compares many IDs of generators without explicit worker IDs, whose copies continue after the report.
#[test]
#[ignore = "takes minutes"]
fn restored_copies_repeat_no_id() {
    let count = std::env::var("POLYFLAKE_IDS").map_or(10_000_000, |count| count.parse().unwrap());
    for family in family::DEFAULTS {
        let ids = family.generator(SystemClock);
        let mut handle = ids.handle(64);
        let mut make = || {
            let (mut made, filled) = ids.fill(8);
            filled.unwrap();
            made.extend([ids.generate().unwrap(), handle().unwrap()]);
            made.into_iter().map(|id| id.bits.to_be_bytes())
        };
        drop(make());
        let [mut all, there] = run_in_both_copies(|is_copy| {
            if is_copy {
                after_restore().unwrap();
            }
            (0..count / 10).flat_map(|_| make()).collect()
        });
        assert_eq!((all.len(), there.len()), (count, count));
        all.extend(there);
        all.sort_unstable();
        let repeated = all.windows(2).filter(|pair| pair[0] == pair[1]).count();
        std::eprintln!("{}: {repeated} of {count} equal", family.name);
        assert_eq!(repeated, 0, "{}", family.name);
    }
}

/// Prints the statistics for `docs/promises.md`.
#[test]
#[ignore = "takes minutes, and prints figures"]
fn print_figures() {
    let runs: u32 = std::env::var("POLYFLAKE_RUNS").map_or(3, |runs| runs.parse().unwrap());
    let only = std::env::var("POLYFLAKE_ONLY").ok();
    let (ids, guids) = (sno::Generator::new(), hotguid::Generator::new());
    let explicit = sno::Generator::builder().partition(7).build().unwrap();
    let leased = leased_sno();
    let random = || {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).unwrap();
        bytes
    };
    let uuids = uuid7::Generator::new();
    let makers: [(&str, &dyn Fn() -> [u8; 16]); 6] = [
        ("default sno", &|| to_16_bytes(ids.generate(7).unwrap())),
        ("explicit sno", &|| to_16_bytes(explicit.generate(7).unwrap())),
        ("leased sno", &|| to_16_bytes(leased.generate(7).unwrap())),
        ("Hot Guid", &|| guids.generate(7).unwrap().to_bytes()),
        ("UUID v7", &|| uuids.generate().unwrap().to_bytes()),
        ("random bytes", &random),
    ];
    for (name, make) in makers {
        for (when, pause) in [("running", 50), ("restored later", 1100)] {
            let line = format!("{name}, {when}");
            if only.as_ref().is_some_and(|only| *only != line) {
                continue;
            }
            let pause = Duration::from_millis(pause);
            let equal: Vec<_> =
                (0..runs).map(|_| count_common_ids_at_1000_per_second(5000, pause, make)).collect();
            let mean =
                f64::from(u32::try_from(equal.iter().sum::<usize>()).unwrap()) / f64::from(runs);
            std::eprintln!("{line}: {equal:?} of 5000, mean {mean:.2}");
        }
    }
}
