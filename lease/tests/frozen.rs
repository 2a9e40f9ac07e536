//! Tests stores that do not respond: the server's processes are stopped, but its connections stay open. Leases recover when
//! the server responds again, and closing a lease blocks only for a limited time.
#![cfg(all(feature = "postgresql", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod received_events;
#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use polyflake_lease::{
    AsyncPostgresql, ErrorKind, Host, Lease, Memory, Operator, Options, Postgresql, Result, Shape,
    protocol::{Grant, Grantee, Operation, Reply, Request, Store},
    sno::Generator,
};
use received_events::ReceivedEvents;
use server::{Server, programs};
use tokio::{runtime, time};

const LONG_TIMEOUT: Duration = Duration::from_secs(30);

/// An upper bound for the duration of calls: the time limit of `close`, plus a margin for busy machines.
const MAX_CALL_TIME: Duration = Duration::from_secs(20);

fn options() -> Options {
    Options::new("orders", Shape::sno(7..=7).unwrap()).unwrap()
}

#[track_caller]
fn assert_returned_quickly(since: Instant) {
    assert!(since.elapsed() < MAX_CALL_TIME, "{:?}", since.elapsed());
}

#[test]
fn a_lease_survives_a_frozen_server_and_can_be_closed() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let (options, events) = ReceivedEvents::watch_events(options().lease_ms(2000).unwrap());
    let ids = Generator::with(&server.url(), options, LONG_TIMEOUT).unwrap();
    ids.generate(0).unwrap();
    server.freeze();
    events.next("rejected");
    events.next("expired");
    assert_eq!(ids.try_generate(0).unwrap_err().code(), "lease_unavailable");
    server.thaw();
    events.next("acquired renewed");
    server.freeze();
    let since = Instant::now();
    ids.close();
    assert_returned_quickly(since);
    events.next("sealed");
    events.next("rejected");
    server.thaw();
    // The worker ID was not released, so it becomes free only when the lease ends.
    Generator::with(&server.url(), self::options(), LONG_TIMEOUT).unwrap().generate(0).unwrap();
}

#[test]
fn an_operator_times_out_if_the_server_is_frozen() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let mut operator = Operator::open(&server.url(), "orders/sno").unwrap();
    Generator::with(&server.url(), options(), LONG_TIMEOUT).unwrap().close();
    server.freeze();
    let since = Instant::now();
    assert_eq!(operator.status().unwrap_err().kind(), ErrorKind::LeaseUnavailable);
    drop(operator);
    // `status` waits up to 15 seconds for the reply, and dropping the lease waits one second.
    assert!(since.elapsed() < LONG_TIMEOUT, "{:?}", since.elapsed());
}

#[test]
fn a_task_survives_a_frozen_server() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let url = server.url();
    // A task limits each request to a quarter of the lease duration. A quarter of this six-second lease is long enough to
    // open the store on a busy machine.
    let (options, events) = ReceivedEvents::watch_events(options().lease_ms(6000).unwrap());
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let open = move || {
            let url = url.clone();
            async move { AsyncPostgresql::open(&url).await }
        };
        let host = Host::new(open, time::sleep, |task| drop(tokio::spawn(task)));
        let ids = Generator::with_async(host, options, LONG_TIMEOUT, time::sleep).await.unwrap();
        server.freeze();
        let since = Instant::now();
        while ids.try_generate(0).is_ok() {
            assert!(since.elapsed() < LONG_TIMEOUT, "{:?}", since.elapsed());
            time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(ids.try_generate(0).unwrap_err().code(), "lease_unavailable");
        server.thaw();
        let since = Instant::now();
        while ids.generate_async(time::sleep, 0).await.is_err() {
            assert!(since.elapsed() < LONG_TIMEOUT, "{:?}", ids.lease().rejected());
        }
        server.freeze();
        let since = Instant::now();
        ids.close_async(time::sleep).await;
        assert_returned_quickly(since);
    });
    // This drop would block forever if an abandoned connection had left a task behind.
    drop(runtime);
    events.next("sealed");
}

/// Dropping a generator does not block the executor's thread, and the worker ID is released once the server responds.
#[test]
fn dropping_in_a_task_does_not_wait_for_a_frozen_server() {
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let made = Generator::with_async(&server.url(), options(), LONG_TIMEOUT, time::sleep).await;
        let ids = made.unwrap();
        ids.generate(0).unwrap();
        server.freeze();
        let since = Instant::now();
        drop(ids);
        assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
        server.thaw();
    });
    // Each attempt is short, because a claimant that finds no free worker ID would not retry until after this test's
    // timeout.
    let second = Duration::from_secs(1);
    let again = (0..30).find_map(|_| Generator::with(&server.url(), options(), second).ok());
    again.unwrap().generate(0).unwrap();
}

/// An in-memory store that hangs during releases, like a driver without a timeout.
struct HangingStore(Arc<Mutex<Memory>>, Arc<Mutex<mpsc::Receiver<()>>>);

impl Store for HangingStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let mut store = self.0.lock().unwrap();
        if matches!(&request.operation, Operation::Put { old, new } if new.granted_until < old.granted_until)
        {
            // Blocks until the sender is dropped.
            let _ = self.1.lock().unwrap().recv();
        }
        store.answer(request)
    }
}

struct NoGenerator;

impl Grantee for NoGenerator {
    fn begin(&self, _: Grant) -> Result<()> {
        Ok(())
    }
    fn extend(&self, _: u64) {}
    fn seal(&self) -> Option<u64> {
        None
    }
}

#[test]
fn close_abandons_a_hanging_store() {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap();
    let store = Arc::new(Mutex::new(Memory::new(now)));
    let (hold, held) = mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let (options, events) = ReceivedEvents::watch_events(options());
    let open = move || Ok(HangingStore(store.clone(), held.clone()));
    let lease = Lease::start(open, options, Arc::new(NoGenerator)).unwrap();
    lease.ready(LONG_TIMEOUT).unwrap();
    let since = Instant::now();
    lease.close();
    assert!(since.elapsed() >= Lease::CLOSE_LIMIT, "{:?}", since.elapsed());
    assert_returned_quickly(since);
    let names: Vec<_> = events.0.try_iter().map(|event| event.name()).collect();
    assert_eq!(names, ["acquired", "sealed", "rejected"]);
    // Once the store responds, the thread ends and drops its event sender.
    drop((lease, hold));
    assert!(
        events
            .0
            .recv_timeout(LONG_TIMEOUT)
            .is_err_and(|end| end == mpsc::RecvTimeoutError::Disconnected)
    );
}

#[test]
fn blocking_clients_are_rejected_on_executor_threads() {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rejected = runtime.block_on(async { Postgresql::open("postgres://a@localhost:1/b") });
    assert_eq!(
        rejected.unwrap_err().to_string(),
        "expected a thread that may block, found one of an async executor: use `AsyncPostgresql`"
    );
    // This thread is allowed to block, so the call tries to connect.
    let rejected = thread::spawn(|| Postgresql::open("postgres://a@localhost:1/b")).join().unwrap();
    assert!(rejected.unwrap_err().to_string().starts_with("no answer from the server: "));
}
