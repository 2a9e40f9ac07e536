//! Tests a process that was restored from an image of its memory. After the restore is reported, no generator may continue
//! with state that another copy of the process may also have. Each test runs in a separate process, because a report
//! affects all generators.
#![cfg(not(miri))]

#[cfg(unix)]
#[allow(unsafe_code, reason = "fork has no safe door")]
#[path = "forks/mod.rs"]
mod forks;
#[path = "support/separate_process.rs"]
mod separate_process;

use std::{
    collections::HashSet,
    iter,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use separate_process::run_in_separate_process;

use polyflake::{
    Result, after_restore,
    clock::{Clock, ClockInfo, ManualClock, SystemClock},
    hotguid,
    layout::{Builder, preset},
    randflake,
    sno::{self, Assignment},
    uuid7,
};

const START_MS: i64 = 1_763_650_000_000;

/// The message of `forked` after a restore. A fork causes the same code, and has another message.
const MESSAGE: &str = "generator was created before the process was restored";

#[test]
fn random_worker_ids_are_reassigned_after_a_restore() {
    run_in_separate_process(&[], || {
        let (ids, guids) = (sno::Generator::new(), hotguid::Generator::new());
        let mut handle = guids.handle();
        let partitions = || ids.generate(7).unwrap().partition();
        let (partition, machine) = (partitions(), handle.generate(7).unwrap().machine());
        assert_eq!(partitions(), partition);
        after_restore().unwrap();
        let next = partitions();
        let other = handle.generate(7).unwrap().machine();
        assert_ne!(next, partition);
        assert_ne!(other, machine);
        assert_eq!((partitions(), guids.generate(7).unwrap().machine()), (next, other));
    });
}

/// The clock does not advance, so only the reported restore can cause the streams of random bits to be replaced.
#[test]
fn random_bits_of_uuids_are_rekeyed_after_a_restore() {
    run_in_separate_process(&[], || {
        static CLOCK: ManualClock = ManualClock::at_unix_ms(START_MS);
        static DRAWS: AtomicU32 = AtomicU32::new(0);
        let draw = || Ok([u8::try_from(DRAWS.fetch_add(1, Ordering::Relaxed)).unwrap(); 32]);
        let builder = || uuid7::Generator::builder().clock(&CLOCK).entropy_from(draw);
        let ids = builder().build().unwrap();
        let mut handle = ids.handle();
        let mut make = || {
            handle.generate().unwrap();
            (ids.generate().unwrap().sequence(), DRAWS.load(Ordering::Relaxed))
        };
        let before = make();
        assert_eq!(make().1, before.1);
        let bound = builder().worker_id(7).build().unwrap();
        let mut of_bound = bound.handle();
        assert!(bound.generate().is_ok() && of_bound.generate().is_ok());
        let drawn = DRAWS.load(Ordering::Relaxed);
        after_restore().unwrap();
        make();
        let after = make();
        assert_eq!(after.1 - drawn, 2, "one stream of the thread and one of the handle");
        assert_eq!(make().1, after.1);
        assert_eq!(bound.generate().unwrap_err().code(), "forked");
        assert_eq!(of_bound.generate().unwrap_err().code(), "forked");
    });
}

/// The host that runs the test may not support generation IDs, so the expected number of threads varies.
#[cfg(target_os = "linux")]
#[test]
fn one_thread_of_each_process_watches_for_restores() {
    fn count_threads_after(calls: usize) -> usize {
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let before = threads();
        let results: Vec<_> = (0..calls).map(|_| polyflake::watch_restores()).collect();
        let code = |result: &Result<()>| result.as_ref().err().map(polyflake::Error::code);
        assert!(results.iter().all(|result| code(result) == code(&results[0])));
        assert!([None, Some("watch_unavailable")].contains(&code(&results[0])), "{results:?}");
        let expected = usize::from(results[0].is_ok());
        // A thread exits if it detects that another thread is already watching.
        while threads() != before + expected {
            thread::yield_now();
        }
        expected
    }
    run_in_separate_process(&[], || {
        let here = count_threads_after(3);
        let there = forks::run_in_child_with(forks::fork_with_hooks, || {
            vec![count_threads_after(3).try_into().unwrap()]
        });
        assert_eq!(there, [u8::try_from(here).unwrap()]);
    });
}

#[test]
fn explicit_worker_ids_are_rejected_until_they_are_configured_again() {
    run_in_separate_process(&[], || {
        let partition = || sno::Generator::builder().partition(7).build().unwrap();
        let node = || {
            let grant = randflake::Grant::new(7, 1_730_000_000, 2_803_741_824).unwrap();
            randflake::Generator::builder(grant, [7; 16]).build().unwrap()
        };
        let machine = || {
            let layout = Builder::with_clock(preset("sonyflake", []).unwrap(), SystemClock);
            layout.bind("machine", 7).build().unwrap()
        };
        let window = || hotguid::Generator::builder().window(0, 4_294_967_296_000).build().unwrap();
        let messages = |generators: &(_, _, _, _)| {
            let (partition, node, machine, window): &(
                sno::Generator,
                randflake::Generator,
                polyflake::layout::Generator,
                hotguid::Generator,
            ) = generators;
            let mut handle = partition.handle();
            [
                partition.generate(7).map(drop),
                handle.generate(7).map(drop),
                node.generate().map(drop),
                machine.generate().map(drop),
                window.generate(7).map(drop),
            ]
            .map(|made| made.map_err(|error| (error.code(), error.to_string())))
        };
        let generators = (partition(), node(), machine(), window());
        assert_eq!(messages(&generators), [const { Ok(()) }; 5]);
        after_restore().unwrap();
        assert_eq!(messages(&generators), [(); 5].map(|()| Err(("forked", MESSAGE.to_owned()))));
        assert_eq!(messages(&(partition(), node(), machine(), window())), [const { Ok(()) }; 5]);
    });
}

#[test]
fn a_handle_drops_the_slots_that_it_had_reserved() {
    run_in_separate_process(&[], || {
        static CLOCK: ManualClock = ManualClock::at_unix_ms(START_MS);
        let ids = Arc::new(sno::Generator::builder().clock(&CLOCK).build().unwrap());
        let mut handle = sno::Handle::new(ids.clone());
        let before = [(); 3].map(|()| handle.generate(7).unwrap());
        after_restore().unwrap();
        // The first ID with the new partition must be in a later tick.
        assert_eq!(handle.try_generate(7).unwrap_err().code(), "sequence_exhausted");
        CLOCK.set_unix_ms(START_MS + 4);
        let after = handle.generate(7).unwrap();
        assert!(before.iter().all(|id| id.partition() != after.partition() && *id < after));
    });
}

#[test]
fn an_identity_source_is_called_again_after_a_restore() {
    run_in_separate_process(&[], || {
        static CLOCK: ManualClock = ManualClock::at_unix_ms(START_MS);
        use std::sync::atomic::AtomicU16;
        static NEXT_PARTITION: AtomicU16 = AtomicU16::new(7);
        let assign = || {
            Ok(Assignment {
                partition: NEXT_PARTITION.fetch_add(1, Ordering::Relaxed),
                sequence_min: 0,
            })
        };
        let ids = sno::Generator::builder().clock(&CLOCK).identity_from(assign).build().unwrap();
        assert_eq!(ids.generate(7).unwrap().partition(), 7);
        after_restore().unwrap();
        CLOCK.set_unix_ms(START_MS + 4);
        assert_eq!(ids.generate(7).unwrap().partition(), 8);
        // The claim on partition 7 was released, so other generators may use it.
        let free = iter::from_fn(|| Assignment::from_system().ok());
        assert_eq!(free.count(), 65_535, "all but 8");
    });
}

/// Other copies of the process call the same function.
#[test]
fn an_identity_source_that_repeats_itself_is_rejected_after_a_restore() {
    run_in_separate_process(&[], || {
        static CLOCK: ManualClock = ManualClock::at_unix_ms(START_MS);
        static IDENTITY: AtomicU32 = AtomicU32::new(7);
        let assign = || {
            let partition = u16::try_from(IDENTITY.load(Ordering::Relaxed)).unwrap();
            Ok(Assignment { partition, sequence_min: 0 })
        };
        let draw = || Ok((u64::from(IDENTITY.load(Ordering::Relaxed)) << 32).to_be_bytes());
        let snos = sno::Generator::builder().clock(&CLOCK).identity_from(assign).build().unwrap();
        let guids =
            hotguid::Generator::builder().clock(&CLOCK).identity_from(draw).build().unwrap();
        let codes = |identity| {
            IDENTITY.store(identity, Ordering::Relaxed);
            CLOCK.set_unix_nanos(CLOCK.unix_nanos().unwrap() + 1_000_000_000);
            let found = [snos.generate(7).map(drop), guids.generate(7).map(drop)];
            found.map(|result| result.err().map(|error| error.code()))
        };
        assert_eq!(codes(7), [None; 2]);
        after_restore().unwrap();
        assert_eq!(codes(7), [Some("forked"); 2]);
        assert_eq!(codes(8), [None; 2]);
        after_restore().unwrap();
        assert_eq!(codes(8), [Some("forked"); 2]);
        assert_eq!(codes(9), [None; 2]);
    });
}

/// A clock that reports a restore when its properties are read for the n-th time.
struct ReportingClock<C>(C, Arc<AtomicU32>);

impl<C: Clock> Clock for ReportingClock<C> {
    fn unix_nanos(&self) -> Result<i64> {
        self.0.unix_nanos()
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.0.sleep(nanos)
    }
    fn info(&self) -> ClockInfo {
        let left = self.1.load(Ordering::Relaxed);
        self.1.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 1 {
            after_restore().unwrap();
        }
        self.0.info()
    }
}

/// The window was assigned to one copy of the process. An identity that is assigned after the restore must therefore not be
/// used in that window.
#[test]
fn a_windowed_identity_source_is_not_called_after_a_restore() {
    run_in_separate_process(&[], || {
        static CLOCK: ManualClock = ManualClock::at_unix_ms(START_MS);
        for nth in 1.. {
            let left = Arc::new(AtomicU32::new(0));
            let builder = sno::Generator::builder().clock(ReportingClock(&CLOCK, left.clone()));
            let builder =
                builder.identity_from(|| Ok(Assignment { partition: 7, sequence_min: 0 }));
            let ids = builder.window(START_MS, START_MS + 4000).build().unwrap();
            left.store(nth, Ordering::Relaxed);
            let first = ids.try_generate(7).map(drop).map_err(|error| error.code());
            if left.swap(0, Ordering::Relaxed) > 0 {
                assert!(first.is_ok() && nth > 2, "{first:?} without a report");
                return;
            }
            assert_eq!(first, Err("forked"), "reported at {nth}");
            assert_eq!(ids.try_generate(7).unwrap_err().code(), "forked", "reported at {nth}");
        }
    });
}

/// The snapshot would contain a partition that another copy of the process still uses.
#[test]
fn a_generator_that_is_being_closed_returns_no_snapshot() {
    run_in_separate_process(&[], || {
        let left = Arc::new(AtomicU32::new(0));
        let builder = sno::Generator::builder().partition(7);
        let ids = builder.clock(ReportingClock(SystemClock, left.clone())).build().unwrap();
        // This call fails because the first tick is skipped. As a result, `close` has to read the clock's properties to
        // create the snapshot, and the clock reports the restore during that read.
        assert!(ids.try_generate(7).is_err());
        left.store(1, Ordering::Relaxed);
        let code = ids.close().map_err(|error| error.code()).err();
        assert_eq!(left.load(Ordering::Relaxed), 0, "expected a report");
        assert_eq!(code, Some("forked"));
        assert_eq!(ids.close().unwrap_err().code(), "generator_closed");
    });
}

/// In the child, the keeper of the lease begins a new grant, and the child's calls wait for that grant. The child must
/// never use the parent's grant.
#[cfg(unix)]
#[test]
fn a_childs_lease_is_unavailable_after_a_restore() {
    run_in_separate_process(&[], || {
        let build = |partition| {
            let builder = sno::Generator::builder().partition(partition);
            builder.window(START_MS, 2_000_000_000_000).build()
        };
        let ids = sno::Leased::new(build(7).unwrap()).unwrap();
        assert!(ids.try_generate(7).is_ok());
        let codes = forks::run_in_child_with(forks::fork_with_hooks, || {
            let inherited = ids.try_generate(7).unwrap_err();
            ids.move_to(|_| build(8)).unwrap();
            let own = ids.try_generate(7).map(|id| id.partition());
            after_restore().unwrap();
            let abandoned = ids.try_generate(7).unwrap_err();
            format!("{} {own:?} {}", inherited.code(), abandoned.code()).into_bytes()
        });
        assert_eq!(String::from_utf8_lossy(&codes), "forked Ok(8) lease_unavailable");
        // The child's report of the restore affects the parent as well.
        assert_eq!(ids.try_generate(7).unwrap_err().code(), "lease_unavailable");
    });
}

/// Calls must neither hang nor fail, no matter how often a restore is reported while they are in progress. The check that
/// all IDs are distinct proves little in this test, because the threads share the generators and therefore their slots.
#[test]
fn calls_succeed_while_another_thread_reports_restores() {
    run_in_separate_process(&[], || {
        let (ids, guids) = (sno::Generator::new(), hotguid::Generator::new());
        let made: Vec<_> = thread::scope(|scope| {
            let maker = || {
                let mut handle = ids.handle();
                let mut made = Vec::new();
                for _ in 0..2000 {
                    made.push(ids.generate(7).unwrap().to_bytes().to_vec());
                    made.push(handle.generate(7).unwrap().to_bytes().to_vec());
                    made.push(guids.generate(7).unwrap().to_bytes().to_vec());
                }
                made
            };
            let makers = [(); 3].map(|()| scope.spawn(maker));
            for _ in 0..20 {
                after_restore().unwrap();
                thread::sleep(std::time::Duration::from_millis(1));
            }
            makers.into_iter().flat_map(|maker| maker.join().unwrap()).collect()
        });
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), made.len());
    });
}
