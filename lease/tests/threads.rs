//! Tests the threads that renew leases. A process has one thread for all of its leases, plus one thread for each slow
//! request.
#![cfg(all(feature = "std", target_os = "linux"))]

use std::{
    cell::Cell,
    fs,
    pin::Pin,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant, UNIX_EPOCH},
};

use polyflake_lease::{
    Host, Memory, Options, Result, Shape, Source,
    protocol::{AsyncStore, Reply, Request, Store, open},
    sno::Generator,
};

const LONG_TIMEOUT: Duration = Duration::from_secs(30);

/// Serializes the tests, because they count the process's threads.
fn lock_tests() -> MutexGuard<'static, ()> {
    static TEST_LOCK: Mutex<()> = Mutex::new(());
    TEST_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn thread_count() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    // A thread may have exited since the folder was listed.
    let names = threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.trim_end() == "polyflake-lease").count()
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < LONG_TIMEOUT,
            "expected {what}, found {} threads",
            thread_count()
        );
        thread::sleep(Duration::from_millis(10));
    }
}

fn options(namespace: &str) -> Options {
    let options = Options::new(namespace, Shape::sno(0..=99).unwrap()).unwrap();
    options.lease_ms(1000).unwrap()
}

#[test]
fn one_thread_serves_all_leases_of_a_process() {
    let _alone = lock_tests();
    let start = || Generator::with("memory:threads", options("orders"), LONG_TIMEOUT).unwrap();
    let all: Vec<_> = (0..40).map(|_| start()).collect();
    wait_until("one thread", || thread_count() == 1);
    wait_until("renewals of all leases", || {
        all.iter().all(|ids| ids.lease().metrics().renewals >= 2 && ids.try_generate(0).is_ok())
    });
    wait_until("one thread", || thread_count() == 1);
    drop(all);
    wait_until("no thread", || thread_count() == 0);
    // Creating another generator starts the thread again.
    start().generate(0).unwrap();
}

/// An in-memory store that can be made to hang.
struct HangingStore(Arc<(Mutex<bool>, Condvar)>, Box<dyn Store>);

impl Store for HangingStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let (hangs, changed) = &*self.0;
        drop(changed.wait_while(hangs.lock().unwrap(), |hangs| *hangs).unwrap());
        self.1.answer(request)
    }
}

#[test]
fn hanging_requests_do_not_block_other_leases() {
    let _alone = lock_tests();
    let hangs = Arc::new((Mutex::new(false), Condvar::new()));
    let source = || {
        let hangs = hangs.clone();
        Source::store(move || Ok(HangingStore(hangs.clone(), open("memory:hangs")?)))
    };
    let held: Vec<_> = (0..8)
        .map(|_| Generator::with(source(), options("orders"), LONG_TIMEOUT).unwrap())
        .collect();
    let ids = Generator::with("memory:beside", options("orders"), LONG_TIMEOUT).unwrap();
    *hangs.0.lock().unwrap() = true;
    wait_until("a thread for each request", || thread_count() == 9);
    let renewals = ids.lease().metrics().renewals;
    wait_until("renewals beside them", || {
        ids.generate(0).unwrap();
        ids.lease().metrics().renewals >= renewals + 4
    });
    // Another lease can begin and end while the requests hang.
    Generator::with("memory:beside", options("orders"), LONG_TIMEOUT).unwrap().generate(0).unwrap();
    let began = Instant::now();
    Generator::with(source(), options("orders"), Duration::ZERO).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(5), "nothing is released without a grant");
    *hangs.0.lock().unwrap() = false;
    hangs.1.notify_all();
    wait_until("IDs of all", || held.iter().all(|ids| ids.try_generate(0).is_ok()));
    wait_until("one thread", || thread_count() == 1);
}

#[test]
fn a_quiet_time_that_outlasts_a_call_ends_its_wait() {
    let _alone = lock_tests();
    let now = UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap();
    let source = Source::store(move || Ok(Memory::volatile(now)));
    let began = Instant::now();
    let error = Generator::with(source, options("orders"), LONG_TIMEOUT).unwrap_err();
    assert!(began.elapsed() < LONG_TIMEOUT / 2, "{error}");
    assert!(error.to_string().contains("six minutes"), "{error}");
}

/// A store that panics on demand.
struct PanickingStore(Arc<AtomicBool>, Box<dyn Store>);

impl Store for PanickingStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        assert!(!self.0.load(Ordering::Relaxed), "a fault of the driver");
        self.1.answer(request)
    }
}

#[test]
fn a_panicking_store_ends_only_its_own_lease() {
    let _alone = lock_tests();
    let panics = Arc::new(AtomicBool::new(false));
    let source = {
        let panics = panics.clone();
        Source::store(move || Ok(PanickingStore(panics.clone(), open("memory:panics")?)))
    };
    let ids = Generator::with("memory:beside", options("orders"), LONG_TIMEOUT).unwrap();
    let ended = Generator::with(source, options("orders"), LONG_TIMEOUT).unwrap();
    panics.store(true, Ordering::Relaxed);
    wait_until("the end of a lease", || ended.lease().worker_id().is_none());
    let renewals = ids.lease().metrics().renewals;
    wait_until("renewals beside it", || ids.lease().metrics().renewals >= renewals + 4);
    ids.generate(0).unwrap();
    // A call that waits for the ended lease restarts it.
    panics.store(false, Ordering::Relaxed);
    ended.lease().ready(LONG_TIMEOUT).unwrap();
    ended.generate(0).unwrap();
    drop((ids, ended));
    wait_until("no thread", || thread_count() == 0);
}

/// Measures the cost of maintaining forty leases for half a minute, both with this crate's threads and with one thread per
/// lease. `cargo test -p polyflake-lease --test threads -- --ignored --nocapture` prints the results.
#[test]
#[ignore = "measures for a minute"]
fn measure_the_cost_of_forty_leases() {
    let _alone = lock_tests();
    measure("one thread for all", || "memory:cost".into());
    measure("a thread for each", || {
        let connect = || async { Ok(SharedStore(open("memory:cost")?)) };
        Host::new(connect, ThreadSleep::new, |task| drop(thread::spawn(|| block_on(task)))).into()
    });
}

fn measure(name: &str, source: impl Fn() -> Source) {
    let before = process_metrics();
    let start = || {
        let options = options("orders").lease_ms(10_000).unwrap();
        let ids = Generator::with_async(source(), options, LONG_TIMEOUT, async |pause| {
            thread::sleep(pause);
        });
        block_on(Box::pin(ids)).unwrap()
    };
    let all: Vec<_> = (0..40).map(|_| start()).collect();
    thread::sleep(Duration::from_secs(1));
    let begun = process_metrics();
    thread::sleep(Duration::from_secs(30));
    let end = process_metrics();
    let renewals: u64 = all.iter().map(|ids| ids.lease().metrics().renewals).sum();
    let left = all.iter().map(|ids| ids.lease().metrics().remaining).min().unwrap();
    println!(
        "{name}: {} threads, {} KiB more memory, {} ms of processor time in 30 s, {renewals} renewals, {} ms left at least",
        begun.threads - before.threads,
        begun.memory - before.memory,
        10 * (end.ticks - begun.ticks),
        left.as_millis(),
    );
    drop(all);
    thread::sleep(Duration::from_secs(2));
}

struct ProcessMetrics {
    threads: u64,
    /// Resident memory in KiB.
    memory: u64,
    /// CPU time in hundredths of a second.
    ticks: u64,
}

fn process_metrics() -> ProcessMetrics {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let number = |key: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = [11, 12].map(|at| fields[at].parse::<u64>().unwrap()).iter().sum();
    ProcessMetrics { threads: number("Threads:"), memory: number("VmRSS:"), ticks }
}

/// A blocking store, for use by a task that has its own thread.
struct SharedStore(Box<dyn Store>);

impl AsyncStore for SharedStore {
    async fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.answer(request)
    }
}

std::thread_local! {
    /// The time at which this thread's task must be polled again.
    static NEXT_WAKE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// A sleep future for a task that has its own thread.
struct ThreadSleep(Instant);

impl ThreadSleep {
    fn new(pause: Duration) -> Self {
        Self(Instant::now() + pause)
    }
}

impl Future for ThreadSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.0 {
            return Poll::Ready(());
        }
        NEXT_WAKE.set(Some(NEXT_WAKE.get().map_or(self.0, |next| next.min(self.0))));
        Poll::Pending
    }
}

struct UnparkWaker(Thread);

impl Wake for UnparkWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a task on this thread.
fn block_on<V>(mut task: Pin<Box<impl Future<Output = V> + ?Sized>>) -> V {
    let waker = Waker::from(Arc::new(UnparkWaker(thread::current())));
    loop {
        NEXT_WAKE.set(None);
        if let Poll::Ready(value) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        match NEXT_WAKE.get() {
            Some(next) => thread::park_timeout(next.saturating_duration_since(Instant::now())),
            None => thread::park(),
        }
    }
}
