//! Explores two processes that continue from the same memory: two copies of a running process, neither of which can detect
//! the other, or a process and its forked child. The search runs the real generator, handle and streams with every sequence
//! of a few calls, and compares the IDs of the two processes.
//!
//! Both processes repeat the calls before the split in the same way, so that they have the same memory at the split. They
//! then continue independently. A call notices a fork only where it reads the process generation, and a report of a restore
//! only where it reads the restore count. Keys differ after the split. The *points* of a process are the beginning of each
//! call, the requests for keys, and the reads of the generation (for a fork) or of the count (for a copy). The split and the
//! report happen before any point.
//!
//! Each millisecond starts at sequence 0 in both processes, so that only the random bits keep their IDs apart. Two copies
//! receive different keys after the split. A child receives the same keys as its parent, like a source that was seeded
//! before the fork. The following IDs of copies may be equal:
//!
//! - IDs of a call that was in progress when the copy was made.
//! - IDs of the copied millisecond. The calls that generate these IDs read the same millisecond as the last call before the
//!   copy, and no call since the copy has read a different millisecond.
//!
//! These exceptions do not apply to a call that begins after its process has reported the restore, or to a forked child.

use core::num::NonZeroU32;
use std::{
    cell::Cell,
    collections::{BTreeMap, HashSet},
    rc::Rc,
    vec,
    vec::Vec,
};

use super::{
    Generator, Handle, SCALE, Uuid7,
    family::{Uuid7Family, new_machine},
    stream::Entropy,
};
use crate::{
    Result,
    clock::{Clock, ClockInfo},
    fork,
    generator::{Engine, FirstReading, WaitPolicy, Window},
    sequence::Machine,
    sync::watched_atomics::{Access, Answer, Operation, with_interceptor},
};

/// The number of calls of each process, including those before the split.
const CALLS: u32 = 3;
/// The possible clock readings, in nanoseconds. They are less than a millisecond apart, but in different milliseconds.
const READINGS: [i64; 2] = [600_000, 1_200_000];
/// The interval between the first readings of two runs, because the thread keeps its stream from one run to the next.
const RUN_NANOS: i64 = 10_000_000;
/// The number of slots in a handle's first block. The second block is twice as large.
const FIRST_BLOCK_LEN: NonZeroU32 = NonZeroU32::MIN;

/// How the second process obtains its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CopyMethod {
    Copy,
    Fork,
}

/// How a call generates IDs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Caller {
    Single,
    Batch,
    Handle,
}

/// A call, and the index of its clock reading.
type Call = (Caller, usize);

/// One of the two processes.
#[derive(Clone, Copy)]
struct Process {
    method: CopyMethod,
    is_second: bool,
    /// The points before which the memory is copied and the restore is reported.
    split_at: usize,
    report_at: usize,
    /// The number of points that the process has passed.
    passed: usize,
    keys: u8,
    now: i64,
}

impl Process {
    const ONLY: Self = Self {
        method: CopyMethod::Copy,
        is_second: false,
        split_at: usize::MAX,
        report_at: usize::MAX,
        passed: 0,
        keys: 0,
        now: 0,
    };

    /// Passes a point of the current process, and returns the process at this point.
    fn pass_point() -> Self {
        let process = PROCESS.get();
        PROCESS.set(Self { passed: process.passed + 1, ..process });
        process
    }

    /// Returns whether this is the copy or the child, after the split.
    fn is_other(&self, method: CopyMethod) -> bool {
        self.method == method && self.is_second && self.passed >= self.split_at
    }
}

std::thread_local! {
    static PROCESS: Cell<Process> = const { Cell::new(Process::ONLY) };
}

/// A clock that shows the reading of the current call.
struct TestClock;

impl Clock for TestClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(PROCESS.get().now)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        unreachable!("a millisecond has more slots than calls")
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// Returns a key that the process has not received before, and that the other copy never receives after the split.
#[allow(clippy::unnecessary_wraps, reason = "a generator's draw may fail")]
fn draw() -> Result<[u8; 32]> {
    let process = Process::pass_point();
    PROCESS.set(Process { keys: process.keys + 1, ..PROCESS.get() });
    let mut key = [0; 32];
    key[31] = process.keys * 2 + u8::from(process.is_other(CopyMethod::Copy));
    Ok(key)
}

/// Runs `work` with the process generation and the restore count of the current process.
fn run_in_process<R>(work: impl FnOnce() -> R) -> R {
    let address_of = |read: fn() -> u32| {
        let found = Rc::new(Cell::new(0));
        let noted = found.clone();
        let interceptor = Rc::new(move |access: &Access<'_>| {
            noted.set(access.address);
            (access.perform)()
        });
        with_interceptor(Some(interceptor), read);
        found.get()
    };
    let (process, restores) = (address_of(fork::process), address_of(fork::restores));
    let interceptor = Rc::new(move |access: &Access<'_>| {
        let before = match PROCESS.get().method {
            CopyMethod::Fork if access.address == process => {
                1 + u128::from(Process::pass_point().is_other(CopyMethod::Fork))
            }
            CopyMethod::Copy if access.address == restores => {
                let at = Process::pass_point();
                u128::from(at.passed >= at.report_at)
            }
            _ => return (access.perform)(),
        };
        assert!(matches!(access.operation, Operation::Load), "no call forks or reports");
        Answer { before, failed: false }
    });
    with_interceptor(Some(interceptor), work)
}

/// An ID, and whether the other copy may generate it, too.
type GeneratedId = (Uuid7, bool);

/// The IDs that a process can generate. An ID maps to `false` if the other copy must not generate it.
type PossibleIds = BTreeMap<Uuid7, bool>;

/// What a process has done.
#[derive(Default)]
struct Run {
    /// The number of points that the process passed before each call, and in total.
    starts: Vec<usize>,
    passed: usize,
    /// The IDs of the calls that ended after the split.
    made: Vec<GeneratedId>,
    /// Whether the process generated an ID twice.
    repeated: bool,
}

/// For the thread's stream and the handle's, the reading of the last call before the copy. An element is `None` once a call
/// that uses the stream has read a different millisecond.
#[derive(Default)]
struct CopiedReadings([Option<usize>; 2]);

impl CopiedReadings {
    /// Records a call after the copy. Returns whether a stream that it uses shows the copied millisecond.
    fn record(&mut self, reading: usize, uses: [bool; 2]) -> bool {
        let all = self.0.iter_mut().zip(uses).filter(|(_, is_used)| *is_used);
        all.fold(false, |found, (copied, _)| {
            copied.take_if(|copied| *copied != reading);
            found | copied.is_some()
        })
    }
}

#[derive(Debug, Default)]
struct SearchResult {
    runs: i64,
    repeated: bool,
    /// Whether both processes can generate the same ID.
    shared: bool,
}

/// A search, with the longest rollback, in milliseconds, after which the generator does not start over.
struct Explorer {
    method: CopyMethod,
    max_held_rollback: u64,
    found: SearchResult,
}

impl Explorer {
    fn search(method: CopyMethod, max_held_rollback: u64) -> SearchResult {
        fork::prepare().unwrap();
        let mut explorer = Self { method, max_held_rollback, found: SearchResult::default() };
        // Each split is identified by the calls that began before it and its point.
        let mut splits: BTreeMap<(Vec<Call>, usize), [PossibleIds; 2]> = BTreeMap::new();
        for calls in sequences_of_calls() {
            for split_at in 0..explorer.run(&calls, Process { method, ..Process::ONLY }).passed {
                for is_second in [false, true] {
                    for run in explorer.runs_after_split(&calls, split_at, is_second) {
                        let begun = run.starts.partition_point(|start| *start < split_at);
                        let split = splits.entry((calls[..begun].to_vec(), split_at)).or_default();
                        for (id, may_repeat) in run.made {
                            *split[usize::from(is_second)].entry(id).or_insert(true) &= may_repeat;
                        }
                    }
                }
            }
        }
        for [ours, theirs] in splits.values() {
            for (id, may_repeat) in ours {
                let other = theirs.get(id);
                explorer.found.repeated |= other.is_some_and(|other| !(*may_repeat && *other));
                explorer.found.shared |= other.is_some();
            }
        }
        explorer.found
    }

    /// Runs a process without a report of the restore, and with a report before each point after the split.
    fn runs_after_split(&mut self, calls: &[Call], split_at: usize, is_second: bool) -> Vec<Run> {
        let process = Process { method: self.method, is_second, split_at, ..Process::ONLY };
        let silent = self.run(calls, process);
        // A fork needs no report.
        let end = if self.method == CopyMethod::Copy { silent.passed } else { split_at };
        let mut all = vec![silent];
        all.extend(
            (split_at..end).map(|report_at| self.run(calls, Process { report_at, ..process })),
        );
        all
    }

    /// Performs the calls with a new generator.
    fn run(&mut self, calls: &[Call], process: Process) -> Run {
        self.found.runs += 1;
        let started = self.found.runs * RUN_NANOS;
        PROCESS.set(process);
        let run = run_in_process(|| {
            let ids = self.generator();
            let mut handle = Handle::with_first(&ids, FIRST_BLOCK_LEN);
            let (mut run, mut copied) = (Run::default(), CopiedReadings::default());
            let mut known = HashSet::new();
            for (caller, reading) in calls.iter().copied() {
                let start = Process::pass_point().passed;
                PROCESS.set(Process { now: started + READINGS[reading], ..PROCESS.get() });
                let machine = ids.engine.machine.observe();
                let mut made = [Uuid7::MIN; 2];
                let count = match caller {
                    Caller::Batch => ids.try_fill(&mut made),
                    Caller::Single => ids.try_generate().map(|id| {
                        made[0] = id;
                        1
                    }),
                    Caller::Handle => handle.try_generate().map(|id| {
                        made[0] = id;
                        1
                    }),
                };
                let made = &made[..count.unwrap()];
                let uses = [machine != ids.engine.machine.observe(), caller == Caller::Handle];
                run.starts.push(start);
                run.passed = PROCESS.get().passed;
                // A handle reads the generation again after it has begun a block, when the ID already exists.
                let checked = run.passed - usize::from(uses == [true, true]);
                run.repeated |= made.iter().any(|id| !known.insert(*id));
                // A call that ended before the split, or was in progress, has also read the copied millisecond.
                if start < process.split_at {
                    for (copied, _) in copied.0.iter_mut().zip(uses).filter(|(_, is_used)| *is_used)
                    {
                        *copied = Some(reading);
                    }
                }
                if checked > process.split_at {
                    let may_repeat = copied.record(reading, uses)
                        && process.method == CopyMethod::Copy
                        && start < process.report_at;
                    // Each run has its own milliseconds, which are compared by their distance from the run's first one.
                    run.made.extend(made.iter().map(|id| (at_first_run(*id, started), may_repeat)));
                }
            }
            run
        });
        self.found.repeated |= run.repeated;
        run
    }

    /// Returns a new generator without a floor, whose milliseconds start at sequence 0.
    fn generator(&self) -> Generator<TestClock> {
        let family = Uuid7Family::new(Entropy::new(draw, false), None, 0, None);
        let machine = new_machine(self.max_held_rollback, None);
        let (window, first) = (Window::through(SCALE.last), FirstReading::new(false));
        let policy = WaitPolicy::for_scale(&SCALE);
        Generator { engine: Engine::new(family, machine, window, first, policy, TestClock) }
    }
}

/// Returns the ID with the time that it would have if its run had started at time 0.
fn at_first_run(id: Uuid7, started: i64) -> Uuid7 {
    let earlier = u128::try_from(started / 1_000_000).unwrap() << (128 - 48);
    Uuid7::from_u128(id.to_u128() - earlier).unwrap()
}

fn sequences_of_calls() -> Vec<Vec<Call>> {
    let callers = [Caller::Single, Caller::Batch, Caller::Handle];
    let call: Vec<Call> = callers.into_iter().flat_map(|by| [(by, 0), (by, 1)]).collect();
    (0..CALLS).fold(vec![Vec::new()], |all, _| {
        let longer = |begun: Vec<Call>| {
            call.iter().map(move |next| [&begun[..], &[*next]].concat()).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(longer).collect()
    })
}

/// The two possible behaviors after a long rollback: the generator either continues in its millisecond or starts over in
/// the clock's millisecond.
const MAX_HELD_ROLLBACKS: [u64; 2] = [u64::MAX, 0];

#[test]
fn copies_repeat_ids_of_the_copied_millisecond_only() {
    for most in MAX_HELD_ROLLBACKS {
        let found = Explorer::search(CopyMethod::Copy, most);
        std::println!("{found:?}");
        assert!(!found.repeated && found.shared && found.runs > 10_000, "{found:?}");
    }
}

#[test]
fn a_forked_child_repeats_no_id() {
    for most in MAX_HELD_ROLLBACKS {
        let found = Explorer::search(CopyMethod::Fork, most);
        std::println!("{found:?}");
        assert!(!found.repeated && !found.shared && found.runs > 5_000, "{found:?}");
    }
}
