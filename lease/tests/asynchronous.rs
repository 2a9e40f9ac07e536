//! Tests asynchronous calls on an executor. While a call waits, other tasks must be able to run. Dropped futures must not
//! leak worker IDs.
#![cfg(feature = "sqlite")]
#![allow(unreachable_pub, reason = "modules of one test")]

#[cfg(all(feature = "postgresql", unix))]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    cell::Cell,
    future::Future,
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};

use polyflake::sno::Sno;
use polyflake_lease::{Operator, Options, Shape, sno::Generator};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::{runtime, time};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

/// A store with exactly one worker ID, so that a leaked lease makes the next claim fail.
struct SingleIdStore {
    _folder: TempDir,
    url: String,
    path: std::path::PathBuf,
}

impl SingleIdStore {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("leases.db");
        let one = Self {
            _folder: folder,
            url: format!("sqlite:{}?allow=overlayfs", path.display()),
            path,
        };
        Generator::with(&one.url, Self::options(), LONG_TIMEOUT).unwrap().close();
        one
    }

    fn options() -> Options {
        Options::new("orders", Shape::sno(7..=7).unwrap()).unwrap()
    }

    async fn generator(&self) -> Generator {
        Generator::with_async(&self.url, Self::options(), LONG_TIMEOUT, time::sleep).await.unwrap()
    }

    /// Locks the file, so that all writes have to wait.
    fn lock(&self) -> Connection {
        let connection = Connection::open(&self.path).unwrap();
        connection.busy_timeout(LONG_TIMEOUT).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        connection
    }

    /// Waits until the worker ID is free, and returns `false` if it is not free after a short time. Leases last an hour, so
    /// the worker ID cannot become free because a lease expires.
    async fn wait_until_free(&self) -> bool {
        for _ in 0..1000 {
            time::sleep(Duration::from_millis(10)).await;
            let status = Operator::open(&self.url, "orders/sno").and_then(|mut it| it.status());
            if status.is_ok_and(|status| status.granted == 0) {
                return true;
            }
        }
        false
    }
}

/// Mirrors the example in the README.
#[test]
#[cfg(unix)]
fn sigterm_releases_the_worker_id() {
    use std::{
        env,
        io::{BufRead, BufReader},
        process::{Command, Stdio},
    };

    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    const SIGNAL_VARIABLE: &str = "POLYFLAKE_ENDED_BY_A_SIGNAL";
    if let Ok(url) = env::var(SIGNAL_VARIABLE) {
        let work = async {
            let mut asked_to_end = signal(SignalKind::terminate()).unwrap();
            let ids =
                Generator::with_async(&url, SingleIdStore::options(), LONG_TIMEOUT, time::sleep)
                    .await
                    .unwrap();
            println!("ready {}", ids.generate_async(time::sleep, 7).await.unwrap());
            asked_to_end.recv().await;
            ids.close_async(time::sleep).await;
        };
        runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
        return;
    }
    let one = SingleIdStore::new();
    let granted = || Operator::open(&one.url, "orders/sno").unwrap().status().unwrap().granted;
    let mut process = Command::new(env::current_exe().unwrap());
    process.args(["--exact", "sigterm_releases_the_worker_id", "--nocapture"]);
    let mut process =
        process.env(SIGNAL_VARIABLE, &one.url).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("ready")));
    assert_eq!(granted(), 1);
    kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
    assert_eq!(lines.filter(|line| line.as_ref().is_ok_and(|it| it.contains("FAILED"))).count(), 0);
    assert!(process.wait().unwrap().success());
    assert_eq!(granted(), 0);
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

/// Runs a future and a counting task on one thread. The task counts how often it is polled, and unlocks the store after 40
/// polls.
async fn count_polls_during<T>(lock: impl Sized, work: impl Future<Output = T>) -> (T, usize) {
    let (turns, mut lock) = (Cell::new(0), Some(lock));
    let mut work = pin!(work);
    let count = async {
        loop {
            time::sleep(Duration::from_millis(5)).await;
            turns.set(turns.get() + 1);
            if turns.get() == 40 {
                drop(lock.take());
            }
        }
    };
    let mut count = pin!(count);
    let done = std::future::poll_fn(|context| {
        let _: Poll<()> = count.as_mut().poll(context);
        work.as_mut().poll(context)
    });
    let done = done.await;
    (done, turns.get())
}

#[test]
fn the_executor_runs_while_a_lease_starts_and_ends() {
    let one = SingleIdStore::new();
    block_on(async {
        let (ids, turns) = count_polls_during(one.lock(), one.generator()).await;
        assert!(turns >= 40, "{turns}");
        assert_eq!(ids.generate_async(time::sleep, 3).await.unwrap().partition(), 7);
        let mut batch = vec![Sno::default(); 70_000];
        ids.fill_async(time::sleep, 3, &mut batch, &mut 0).await.unwrap();
        assert!(batch.is_sorted());
        let ((), turns) = count_polls_during(one.lock(), ids.close_async(time::sleep)).await;
        assert!(turns >= 40, "{turns}");
        assert!(one.wait_until_free().await);
    });
}

#[test]
fn a_dropped_future_leaks_no_worker_id() {
    let one = SingleIdStore::new();
    block_on(async {
        let lock = one.lock();
        for _ in 0..3 {
            let began = Instant::now();
            assert!(time::timeout(Duration::from_millis(50), one.generator()).await.is_err());
            assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        }
        drop(lock);
        assert!(one.wait_until_free().await);
        let ids = one.generator().await;
        ids.generate(0).unwrap();
        let lock = one.lock();
        let closing = time::timeout(Duration::from_millis(50), ids.close_async(time::sleep));
        assert!(closing.await.is_err());
        drop(lock);
        assert!(one.wait_until_free().await);
    });
}

#[test]
fn a_failed_future_reports_the_reason() {
    let one = SingleIdStore::new();
    block_on(async {
        let _first = one.generator().await;
        let brief = Duration::from_millis(100);
        let second =
            Generator::with_async(&one.url, SingleIdStore::options(), brief, time::sleep).await;
        assert_eq!(second.err().map(|error| error.code()), Some("worker_ids_exhausted"));
        let another = Generator::new_async(&one.url, "others", time::sleep).await.unwrap();
        another.generate_async(time::sleep, 0).await.unwrap();
    });
}

/// The `PostgreSQL` driver blocks only the thread that serves the lease, so the executor keeps running.
#[test]
#[cfg(all(feature = "postgresql", unix))]
fn the_executor_runs_while_a_server_does_not_respond() {
    use std::{sync::mpsc, thread};

    let Some(programs) = server::programs() else { return };
    let server = server::Server::start(&programs);
    Generator::with(&server.url(), SingleIdStore::options(), LONG_TIMEOUT).unwrap().close();
    // The blocking client needs a separate thread, because it contains its own async runtime.
    let lock = || {
        let (url, (held, holds)) = (server.url(), mpsc::channel());
        let (unlock, unlocked) = mpsc::channel::<()>();
        thread::spawn(move || {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            client.batch_execute("BEGIN; LOCK TABLE polyflake.polyflake_namespaces").unwrap();
            held.send(()).unwrap();
            // Blocks until the sender is dropped.
            let _ = unlocked.recv();
        });
        holds.recv().unwrap();
        unlock
    };
    block_on(async {
        let url = server.url();
        let begin =
            Generator::with_async(&url, SingleIdStore::options(), LONG_TIMEOUT, time::sleep);
        let (ids, turns) = count_polls_during(lock(), begin).await;
        assert!(turns >= 40, "{turns}");
        let ids = ids.unwrap();
        assert_eq!(ids.generate_async(time::sleep, 3).await.unwrap().partition(), 7);
        let ((), turns) = count_polls_during(lock(), ids.close_async(time::sleep)).await;
        assert!(turns >= 40, "{turns}");
    });
}
