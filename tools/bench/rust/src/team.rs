//! Threads that run concurrently, each pinned to a different processor.

use std::{
    hint::{black_box, spin_loop},
    panic::{AssertUnwindSafe, catch_unwind},
    process::exit,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
    time::Instant,
};

use core_affinity::CoreId;

use crate::measure::Work;

/// The processors on which this process may run. The list is read before any thread is pinned, because a pinned thread sees
/// only its own processor.
static CORES: LazyLock<Vec<CoreId>> =
    LazyLock::new(|| core_affinity::get_core_ids().unwrap_or_default());

/// Pins this thread to the processor at `index`, counted from the end of the list of processors.
pub(crate) fn pin(index: usize) {
    if let Some(core) = CORES.iter().rev().nth(index) {
        core_affinity::set_for_current(*core);
    }
}

/// Returns the thread counts to measure: 1, 2, 4 and so on, up to the number of processors.
pub(crate) fn sizes() -> impl Iterator<Item = usize> {
    (0..6).map(|power| 1 << power).take_while(|size| *size <= CORES.len())
}

/// A thread's work, as a function that repeats it the given number of times.
pub(crate) type ThreadWork = Box<dyn FnMut(u32) + Send>;

/// A value that is padded so that a thread's writes do not share a cache line with other threads' data. Without padding,
/// they could share a cache line, because team members are allocated next to each other.
#[repr(align(128))]
struct CachePadded<T>(T);

/// Returns a team member whose work is one call.
pub(crate) fn thread_work<T>(call: impl FnMut() -> T + Send + 'static) -> ThreadWork {
    let mut call = CachePadded(call);
    Box::new(move |count| {
        let CachePadded(call) = &mut call;
        for _ in 0..count {
            black_box(call());
        }
    })
}

/// Counters that synchronize a team. No thread starts a round before all threads are ready, and the round ends when the
/// last thread has finished.
#[derive(Default)]
struct StartBarrier {
    ready: AtomicUsize,
    started: AtomicUsize,
    done: AtomicUsize,
}

/// Returns work that runs `size` members concurrently and measures the duration. The calling thread runs the first member.
pub(crate) fn team_work(size: usize, make: impl Fn() -> ThreadWork) -> Work {
    let line = Arc::new(StartBarrier::default());
    let others: Vec<_> = (1..size).map(|index| spawn(index, make(), line.clone())).collect();
    let (mut mine, mut rounds) = (make(), 0);
    Box::new(move |count| {
        rounds += 1;
        for other in &others {
            other.send(count).expect("a thread that lives as long as this one wants");
        }
        wait_for(&line.ready, rounds * others.len());
        let start = Instant::now();
        line.started.store(rounds, Ordering::Release);
        mine(count);
        wait_for(&line.done, rounds * others.len());
        start.elapsed()
    })
}

fn spawn(index: usize, mut work: ThreadWork, line: Arc<StartBarrier>) -> Sender<u32> {
    let (sender, counts) = channel();
    let rounds = move || {
        pin(index);
        for (round, count) in counts.into_iter().enumerate() {
            line.ready.fetch_add(1, Ordering::Release);
            wait_for(&line.started, round + 1);
            work(count);
            line.done.fetch_add(1, Ordering::Release);
        }
    };
    thread::spawn(move || {
        // Without this exit, the other threads would wait forever. The panic message has already been printed.
        if catch_unwind(AssertUnwindSafe(rounds)).is_err() {
            exit(101);
        }
    });
    sender
}

/// Spins until a counter reaches a value. Spinning is necessary because a sleeping thread would wake up late.
fn wait_for(counter: &AtomicUsize, value: usize) {
    while counter.load(Ordering::Acquire) < value {
        spin_loop();
    }
}
