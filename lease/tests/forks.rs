//! Tests leased generators in forked child processes. Each child must lease a different worker ID and must not change its
//! parent's lease.
#![cfg(all(feature = "sqlite", unix, not(miri)))]
#![allow(unsafe_code, reason = "fork has no safe door")]
#![allow(unreachable_pub, reason = "modules of one test")]

#[path = "../../core/tests/forks/mod.rs"]
mod forks;
#[cfg(feature = "postgresql")]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    error::Error as _,
    future::{Future, poll_fn},
    mem::replace,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, UNIX_EPOCH},
};

use forks::{fork_with_hooks, fork_without_hooks, run_in_child_with};
use polyflake::sno::Sno;
use polyflake_lease::{
    Host, Memory, Options, Result, Shape, Task,
    protocol::{AsyncStore, Operation, Reply, Request, Store, open},
    sno::Generator,
};
use tempfile::TempDir;

/// Serializes the tests, because a child would reject a file that another test has open.
fn lock_tests() -> MutexGuard<'static, ()> {
    static TEST_LOCK: Mutex<()> = Mutex::new(());
    TEST_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn temp_store_url() -> (TempDir, String) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let url = format!("sqlite:{}?allow=overlayfs", folder.path().join("leases.db").display());
    (folder, url)
}

/// Returns a bitwise copy of the generator, so that a child can close the copy without using the original.
fn copy(ids: &Generator) -> Generator {
    // SAFETY: this runs in a child that exits with `_exit` and never uses or drops the original generator again. Only the
    // copy is closed, so nothing is freed twice.
    unsafe { std::ptr::read(ids) }
}

/// Decodes IDs from their bytes.
#[track_caller]
fn decode_ids(bytes: &[u8], count: usize) -> Vec<Sno> {
    let ids: Vec<_> = bytes.chunks(10).map(|id| Sno::from_slice(id).unwrap()).collect();
    assert_eq!(ids.len(), count, "the child failed");
    ids
}

fn encode_ids(ids: &[Sno]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.to_bytes()).collect()
}

fn check_children(url: &str) {
    let ids = Generator::new(url, "orders").unwrap();
    let mine = ids.generate(0).unwrap().partition();
    for fork in [Some(fork_with_hooks as fn() -> _), fork_without_hooks()].into_iter().flatten() {
        let work = || {
            let mut made = vec![ids.generate(0).unwrap(), Sno::default(), Sno::default()];
            ids.fill(0, &mut made[1..]).unwrap();
            // The grandchild leases a worker ID as well.
            made.extend(decode_ids(
                &run_in_child_with(fork, || encode_ids(&[ids.generate(0).unwrap()])),
                1,
            ));
            made.push(ids.generate(0).unwrap());
            copy(&ids).close();
            encode_ids(&made)
        };
        let made = decode_ids(&run_in_child_with(fork, work), 5);
        let worker_ids: Vec<_> = made.iter().map(Sno::partition).collect();
        assert_eq!([worker_ids[1], worker_ids[2], worker_ids[4]], [worker_ids[0]; 3]);
        assert!(
            worker_ids[0] != mine && worker_ids[3] != mine && worker_ids[0] != worker_ids[3],
            "{worker_ids:?}"
        );
        assert_eq!(ids.generate(0).unwrap().partition(), mine);
    }
    let kept = run_in_child_with(fork_with_hooks, || {
        drop(copy(&ids));
        vec![1]
    });
    assert_eq!((kept, ids.lease().worker_id()), (vec![1], Some(mine.into())));
    drop(ids);
    // The worker IDs of the parent and the child were released, but those of the grandchildren were not.
    let mut next = (0..4).map(|_| Generator::new(url, "orders").unwrap()).collect::<Vec<_>>();
    assert!(next.iter().any(|ids| ids.lease().worker_id() == Some(mine.into())));
    next.clear();
}

#[test]
fn children_lease_their_own_worker_ids_in_sqlite() {
    let _alone = lock_tests();
    let (_folder, url) = temp_store_url();
    check_children(&url);
}

#[test]
#[cfg(feature = "postgresql")]
fn children_lease_their_own_worker_ids_in_postgresql() {
    let _alone = lock_tests();
    let Some(programs) = server::programs() else { return };
    let server = server::Server::start(&programs);
    check_children(&server.url());
}

#[test]
fn try_generate_starts_a_lease_in_a_child() {
    let _alone = lock_tests();
    let (_folder, url) = temp_store_url();
    let ids = Generator::new(&url, "orders").unwrap();
    let mine = ids.generate(0).unwrap().partition();
    let work = || {
        let error = ids.try_generate(0).unwrap_err();
        assert_eq!(error.code(), "lease_unavailable");
        assert_eq!(
            error.source().unwrap().to_string(),
            "expected a lease of this process, found none yet"
        );
        let made = (0..1000).find_map(|_| {
            thread::sleep(Duration::from_millis(5));
            ids.try_generate(0).ok()
        });
        encode_ids(&[made.unwrap()])
    };
    assert_ne!(decode_ids(&run_in_child_with(fork_with_hooks, work), 1)[0].partition(), mine);
}

#[test]
fn generate_async_leases_a_worker_id_in_a_child() {
    let _alone = lock_tests();
    let (_folder, url) = temp_store_url();
    let ids = Generator::new(&url, "orders").unwrap();
    let mine = ids.generate(0).unwrap().partition();
    let sleep = |pause| async move { thread::sleep(pause) };
    let work = || encode_ids(&[poll_once(ids.generate_async(sleep, 0)).unwrap()]);
    assert_ne!(decode_ids(&run_in_child_with(fork_with_hooks, work), 1)[0].partition(), mine);
}

fn poll_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("expected a future that sleeps at once"),
    }
}

/// An asynchronous in-memory store that counts its requests.
#[derive(Clone)]
struct CountingStore(Arc<AtomicUsize>, Arc<Mutex<Memory>>);

impl AsyncStore for CountingStore {
    async fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut store = self.1.lock().unwrap();
        store.set_now(UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap());
        store.answer(request)
    }
}

/// Pauses for a millisecond, regardless of the requested time.
fn pause(_: Duration) -> impl Future<Output = ()> + Send {
    let mut is_over = false;
    poll_fn(move |_| {
        thread::sleep(Duration::from_millis(1));
        if replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending }
    })
}

/// The child has a copy of the parent's executor, and polls the parent's task with that copy.
#[test]
fn a_parents_task_sends_no_request_in_a_child() {
    let _alone = lock_tests();
    let store = CountingStore(Arc::default(), Arc::new(Mutex::new(Memory::new(0))));
    let (asked, task) = (store.0.clone(), Arc::new(Mutex::new(None)));
    let spawn = {
        let task = task.clone();
        move |it| *task.lock().unwrap() = Some(it)
    };
    let host = Host::new(move || std::future::ready(Ok(store.clone())), pause, spawn);
    let options = Options::new("orders", Shape::sno(0..=9).unwrap()).unwrap();
    let options = options.lease_ms(500).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut making = pin!(Generator::with_async(host, options, Duration::from_secs(20), pause));
    let turn = |context: &mut Context<'_>| {
        let mut task = task.lock().unwrap();
        task.as_mut().is_some_and(|task: &mut Task| task.as_mut().poll(context).is_ready())
    };
    let ids = loop {
        turn(&mut context);
        if let Poll::Ready(ids) = making.as_mut().poll(&mut context) {
            break ids.unwrap();
        }
    };
    let work = || {
        let before = asked.load(Ordering::Relaxed);
        // The loop runs for three times as long as it takes for a renewal to become due.
        let is_over = (0..400).any(|_| turn(&mut Context::from_waker(Waker::noop())));
        assert!(!is_over);
        vec![u8::from(asked.load(Ordering::Relaxed) == before)]
    };
    assert_eq!(run_in_child_with(fork_with_hooks, work), [1]);
    ids.generate(0).unwrap();
}

/// The child has a copy of the store, which would grant the parent's worker IDs a second time.
#[test]
fn a_child_rejects_the_parents_in_memory_store() {
    let _alone = lock_tests();
    let options = Options::new("orders", Shape::sno(0..=9).unwrap()).unwrap();
    let longest = Duration::from_millis(300);
    let ids = Generator::with("memory:forks", options, longest).unwrap();
    ids.generate(0).unwrap();
    let work = || {
        let error = ids.generate(0).unwrap_err();
        assert_eq!(error.code(), "lease_unavailable");
        let reason = "cannot lease a worker ID from memory:forks: expected the process that created the in-memory store, found its child";
        assert_eq!(error.source().unwrap().to_string(), reason);
        vec![1]
    };
    assert_eq!(run_in_child_with(fork_with_hooks, work), [1]);
    ids.generate(0).unwrap();
}

/// In a child, `SQLite` mistakes the parent's locks for its own. A fork therefore waits for requests to finish, so that no
/// locks are held.
#[test]
fn a_child_forked_during_requests_leases_a_worker_id() {
    let _alone = lock_tests();
    let ((_folder, url), is_over) = (temp_store_url(), AtomicBool::new(false));
    let ask = || Request { number: 1, namespace: "orders".into(), operation: Operation::Survey };
    open(&url).unwrap().answer(&ask()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut opened = open(&url).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                opened.answer(&ask()).unwrap();
            }
        });
        let work = || match Generator::new(&url, "orders") {
            Ok(ids) => {
                ids.generate(0).unwrap();
                ids.close();
                vec![1]
            }
            Err(error) => error.to_string().into_bytes(),
        };
        let made: Vec<_> = (0..20).map(|_| run_in_child_with(fork_with_hooks, work)).collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(made, vec![[1]; 20], "{}", String::from_utf8_lossy(&made.concat()));
    });
}

/// The fork hooks abort a request that waits for a locked file, so that the child can open files. If a fork bypasses the
/// hooks, the child cannot open files.
#[test]
fn a_child_forked_during_a_file_lock_leases_a_worker_id() {
    let _alone = lock_tests();
    let ((folder, locked), (_folder, url)) = (temp_store_url(), temp_store_url());
    let request = Request { number: 1, namespace: "orders".into(), operation: Operation::Survey };
    open(&locked).unwrap();
    let other = rusqlite::Connection::open(folder.path().join("leases.db")).unwrap();
    let forks = [(Some(fork_with_hooks as fn() -> _), 1), (fork_without_hooks(), 0)];
    for (fork, expected) in forks.into_iter().filter_map(|(fork, is)| Some((fork?, is))) {
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let (locked, request) = (locked.clone(), request.clone());
        let waits = thread::spawn(move || open(&locked)?.answer(&request));
        thread::sleep(Duration::from_millis(300));
        let work = || match open(&url) {
            Ok(_) => vec![1],
            Err(error) if error.to_string().contains("forked while") => vec![0],
            Err(_) => vec![2],
        };
        assert_eq!(run_in_child_with(fork, work), [expected]);
        waits.join().unwrap().unwrap_err();
        other.execute_batch("ROLLBACK").unwrap();
    }
}

/// Opening a store in the parent does not keep its file open, so the child can open the same file.
#[test]
fn a_child_reopens_a_file_opened_before_the_fork() {
    let _alone = lock_tests();
    let ((_folder, url), (folder, other)) = (temp_store_url(), temp_store_url());
    let opened = open(&other).unwrap();
    assert_eq!(run_in_child_with(fork_with_hooks, || vec![u8::from(open(&url).is_ok())]), [1]);
    drop((opened, folder));
}
