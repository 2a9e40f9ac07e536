//! Tests leases that are renewed by tasks. The executor must stay responsive while the store is slow, and dropped futures
//! must not leak worker IDs.
#![cfg(feature = "std")]

use std::{
    collections::HashSet,
    future::{Future, pending},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, UNIX_EPOCH},
};

use polyflake::sno::Sno;
use polyflake_lease::{
    Host, Memory, Operator, Options, Result, Shape, hotguid, layout,
    protocol::{AsyncStore, Random, Reply, Request, Store},
    randflake,
    sno::Generator,
};
use tokio::{runtime, task::JoinHandle, time};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

fn unix_ms() -> u64 {
    UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap()
}

/// An in-memory store whose replies are delayed or never arrive.
#[derive(Clone)]
struct SlowStore {
    store: Arc<Mutex<Memory>>,
    delay_ms: Arc<AtomicUsize>,
    /// The number of requests that the store has answered.
    answers: Arc<AtomicUsize>,
}

/// The delay that stands for a reply that never arrives.
const UNLIMITED: usize = usize::MAX;

impl SlowStore {
    fn new(delay_ms: usize) -> Self {
        let store = Arc::new(Mutex::new(Memory::new(unix_ms())));
        Self { store, delay_ms: Arc::new(delay_ms.into()), answers: Arc::default() }
    }

    fn host(&self) -> Host {
        self.host_with_spawner(|task| drop(tokio::spawn(task)))
    }

    fn host_with_spawner(
        &self,
        spawn: impl FnOnce(polyflake_lease::Task) + Send + 'static,
    ) -> Host {
        let slow = self.clone();
        Host::new(move || std::future::ready(Ok(slow.clone())), time::sleep, spawn)
    }

    fn grant_count(&self) -> u64 {
        let mut store = self.store.lock().unwrap().clone();
        store.set_now(unix_ms());
        let mut operator = Operator::new(&mut store, "orders/sno", || Ok(Random(1))).unwrap();
        operator.status().map_or(0, |status| status.granted)
    }

    async fn wait_until_free(&self) -> bool {
        for _ in 0..1000 {
            time::sleep(Duration::from_millis(10)).await;
            if self.grant_count() == 0 {
                return true;
            }
        }
        false
    }
}

impl AsyncStore for SlowStore {
    async fn answer(&mut self, request: &Request) -> Result<Reply> {
        match self.delay_ms.load(Ordering::Relaxed) {
            UNLIMITED => pending().await,
            delay_ms => time::sleep(Duration::from_millis(delay_ms as u64)).await,
        }
        self.answers.fetch_add(1, Ordering::Relaxed);
        let mut store = self.store.lock().unwrap();
        store.set_now(unix_ms());
        store.answer(request)
    }
}

fn options() -> Options {
    Options::new("orders", Shape::sno(7..=7).unwrap()).unwrap()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

/// Spawns a task that counts how many times the executor polls it.
fn count_polls() -> (Arc<AtomicUsize>, JoinHandle<()>) {
    let turns = Arc::new(AtomicUsize::new(0));
    let counted = turns.clone();
    let count = async move {
        loop {
            time::sleep(Duration::from_millis(5)).await;
            counted.fetch_add(1, Ordering::Relaxed);
        }
    };
    (turns, tokio::spawn(count))
}

#[test]
fn the_executor_runs_while_the_store_is_slow() {
    let slow = SlowStore::new(100);
    block_on(async {
        let (turns, _counting) = count_polls();
        let ids =
            Generator::with_async(slow.host(), options(), LONG_TIMEOUT, time::sleep).await.unwrap();
        let begun = turns.swap(0, Ordering::Relaxed);
        assert!(begun >= 20 && slow.answers.load(Ordering::Relaxed) >= 3, "{begun}");
        assert_eq!(ids.generate(3).unwrap().partition(), 7);
        let mut batch = vec![Sno::default(); 70_000];
        ids.fill_async(time::sleep, 3, &mut batch, &mut 0).await.unwrap();
        assert!(batch.is_sorted());
        assert_eq!(slow.grant_count(), 1);
        turns.store(0, Ordering::Relaxed);
        ids.close_async(time::sleep).await;
        assert!(turns.load(Ordering::Relaxed) >= 5 && slow.grant_count() == 0);
    });
}

#[test]
fn a_task_renews_its_lease_and_survives_a_silent_store() {
    let slow = SlowStore::new(0);
    block_on(async {
        let brief = options().lease_ms(800).unwrap();
        let ids =
            Generator::with_async(slow.host(), brief, LONG_TIMEOUT, time::sleep).await.unwrap();
        let first = ids.lease().end().unwrap();
        time::sleep(Duration::from_millis(500)).await;
        assert!(ids.lease().end().unwrap() > first && ids.lease().metrics().renewals > 0);
        slow.delay_ms.store(UNLIMITED, Ordering::Relaxed);
        let rejected = loop {
            match ids.generate_async(time::sleep, 0).await {
                Ok(_) => time::sleep(Duration::from_millis(5)).await,
                Err(rejected) => break rejected,
            }
        };
        assert_eq!(rejected.code(), "lease_unavailable");
        let said = ids.lease().rejected().unwrap().to_string();
        assert_eq!(said, "the store did not answer in time");
        slow.delay_ms.store(0, Ordering::Relaxed);
        let since = Instant::now();
        while ids.generate_async(time::sleep, 0).await.is_err() {
            assert!(since.elapsed() < LONG_TIMEOUT, "{:?}", ids.lease().rejected());
        }
    });
}

#[test]
fn dropped_futures_leak_no_worker_id() {
    let slow = SlowStore::new(100);
    block_on(async {
        for ms in [1, 50, 150, 250, 350, 450] {
            let begin = Generator::with_async(slow.host(), options(), LONG_TIMEOUT, time::sleep);
            let _ = time::timeout(Duration::from_millis(ms), begin).await;
        }
        assert!(slow.wait_until_free().await);
        let ids =
            Generator::with_async(slow.host(), options(), LONG_TIMEOUT, time::sleep).await.unwrap();
        ids.generate(0).unwrap();
        let closing = time::timeout(Duration::from_millis(20), ids.close_async(time::sleep));
        assert!(closing.await.is_err());
        assert!(slow.wait_until_free().await);
        let ids =
            Generator::with_async(slow.host(), options(), LONG_TIMEOUT, time::sleep).await.unwrap();
        drop(ids);
        assert!(slow.wait_until_free().await);
    });
}

/// Regardless of when a task is dropped, its generator stops at the end of its window, and the next holder of the worker ID
/// does not generate the same IDs.
#[test]
fn a_dropped_task_repeats_no_id() {
    let slow = SlowStore::new(20);
    let mut made = HashSet::new();
    block_on(async {
        let brief = || options().lease_ms(500).unwrap();
        for ms in [70, 200, 230, 260, 300] {
            let (sender, receiver) = std::sync::mpsc::channel();
            let host = slow.host_with_spawner(move |task| drop(sender.send(tokio::spawn(task))));
            let ids =
                Generator::with_async(host, brief(), LONG_TIMEOUT, time::sleep).await.unwrap();
            let task = receiver.recv().unwrap();
            let since = Instant::now();
            let mut is_dropped = false;
            loop {
                if since.elapsed() >= Duration::from_millis(ms) && !is_dropped {
                    task.abort();
                    is_dropped = true;
                }
                match ids.try_generate(0) {
                    Ok(id) => assert!(made.insert(id), "{id}"),
                    Err(_) if is_dropped => break,
                    Err(_) => {}
                }
                time::sleep(Duration::from_millis(1)).await;
                assert!(since.elapsed() < LONG_TIMEOUT, "expected the end of a window");
            }
            let rejected = ids.lease().ready(Duration::ZERO).unwrap_err().to_string();
            assert_eq!(rejected, "expected a running task that keeps the lease, found none");
        }
    });
    assert!(made.len() > 100, "{}", made.len());
}

#[test]
fn a_task_that_never_runs_is_reported_immediately() {
    let slow = SlowStore::new(20);
    block_on(async {
        let host = slow.host_with_spawner(drop);
        let began = Instant::now();
        let rejected =
            Generator::with_async(host, options(), LONG_TIMEOUT, time::sleep).await.err().unwrap();
        assert_eq!(
            rejected.to_string(),
            "expected a running task that keeps the lease, found none"
        );
        assert!(began.elapsed() < LONG_TIMEOUT / 2, "{:?}", began.elapsed());
    });
}

/// A call would wait forever if it blocked the thread that must run the lease's task.
#[test]
fn a_blocking_call_is_rejected_for_a_task() {
    let made = async { Generator::with(SlowStore::new(0).host(), options(), LONG_TIMEOUT) };
    let rejected = block_on(made).err().unwrap();
    let reason =
        "expected an asynchronous call, such as `with_async`, because a task keeps the lease";
    assert_eq!((rejected.code(), &*rejected.to_string()), ("out_of_range", reason));
}

#[test]
fn every_format_can_lease_in_a_task() {
    let sonyflake = polyflake::layout::preset("sonyflake", []).unwrap();
    block_on(async {
        let sleep = time::sleep;
        let of = |name, shape: Result<Shape>| Options::new(name, shape.unwrap()).unwrap();
        let slow = SlowStore::new(0);
        let options = of("a", Shape::randflake(3..=3, &[7; 16]));
        let ids =
            randflake::Generator::with_async(slow.host(), options, [7; 16], LONG_TIMEOUT, sleep);
        ids.await.unwrap().generate().unwrap();
        let options = of("b", Shape::hotguid(3..=3));
        let ids = hotguid::Generator::with_async(slow.host(), options, true, LONG_TIMEOUT, sleep);
        ids.await.unwrap().generate(7).unwrap();
        let options = of("c", layout::shape(&sonyflake, &["machine"], 3..=3));
        let host = slow.host();
        let ids = layout::Generator::with_async(
            host,
            options,
            &sonyflake,
            &["machine"],
            LONG_TIMEOUT,
            sleep,
        );
        ids.await.unwrap().generate().unwrap();
    });
}
