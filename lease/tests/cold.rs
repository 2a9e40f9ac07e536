//! Starts many generators at once against a server that allows fewer connections than there are generators. All of them
//! must eventually receive a worker ID, and the application must still be able to connect.
//!
//! `POLYFLAKE_STARTS=1000 cargo test --release -p polyflake-lease --all-features --test cold -- --nocapture` takes a
//! minute.
#![cfg(all(feature = "postgresql", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    collections::{HashMap, HashSet},
    env,
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use polyflake_lease::{AsyncPostgresql, Host, Options, Shape, sno::Generator};
use server::{Server, programs};
use tokio::{runtime, time};

/// A timeout that calls do not reach, even on a busy machine.
const LONG_TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn processes_that_start_together_all_get_worker_ids() {
    let Some(programs) = programs() else { return };
    let starts = env::var("POLYFLAKE_STARTS").ok().and_then(|it| it.parse().ok()).unwrap_or(200);
    let server = Server::start(&programs);
    server.power_off();
    server
        .start_with_options(&format!("-c listen_addresses='' -c max_connections={}", starts / 10));
    let is_over = AtomicBool::new(false);
    let (tried, let_in) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let application = || {
        while !is_over.load(Ordering::Relaxed) {
            tried.fetch_add(1, Ordering::Relaxed);
            let connected = postgres::Client::connect(&server.url(), postgres::NoTls);
            let_in.fetch_add(usize::from(connected.is_ok()), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(50));
        }
    };
    // Each generator runs in a separate task, so it behaves like a separate process. The threads that normally renew leases
    // would send only a few requests at a time.
    let start = async |url: String| {
        let open = move || {
            let url = url.clone();
            async move { AsyncPostgresql::open(&url).await }
        };
        let host = Host::new(open, time::sleep, |task| drop(tokio::spawn(task)));
        let options = Options::new("orders", Shape::sno(0..=65_535).unwrap()).unwrap();
        let began = Instant::now();
        let ids = Generator::with_async(host, options, LONG_TIMEOUT, time::sleep).await.unwrap();
        (ids, began.elapsed())
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut started: Vec<_> = thread::scope(|scope| {
        let beside = scope.spawn(application);
        let started = runtime.block_on(async {
            let url = server.url();
            let tasks: Vec<_> = (0..starts).map(|_| tokio::spawn(start(url.clone()))).collect();
            let mut started = Vec::new();
            for task in tasks {
                started.push(task.await.unwrap());
            }
            started
        });
        is_over.store(true, Ordering::Relaxed);
        beside.join().unwrap();
        started
    });
    started.sort_unstable_by_key(|(_, time)| *time);
    let worker_ids: HashSet<_> = started.iter().map(|(ids, _)| ids.lease().worker_id()).collect();
    assert_eq!(worker_ids.len(), starts);
    let within = started.iter().filter(|(_, time)| *time < Duration::from_secs(10)).count();
    let failures: u64 = started.iter().map(|(ids, _)| ids.lease().metrics().failures).sum();
    let (tried, let_in) = (tried.into_inner(), let_in.into_inner());
    println!(
        "{starts} starts: half after {:.1?}, all after {:.1?}, {within} within 10 s, {failures} rejections; the application was let in {let_in} times of {tried}",
        started[starts / 2].1,
        started[starts - 1].1,
    );
    assert!(2 * let_in > tried, "{let_in} of {tried}");
    drop(started);
}

/// Acts as a server with too many connections: it rejects the first `rejections` connections of each user and accepts later
/// ones. Returns the users' names in the order of their connections.
fn reject_connections(
    listener: &UnixListener,
    rejections: usize,
    connections: usize,
) -> Vec<String> {
    let (mut came, mut tries) = (Vec::new(), HashMap::<_, usize>::new());
    for _ in 0..connections {
        let (mut connection, _) = listener.accept().unwrap();
        let user = read_user(&mut connection);
        let tried = tries.entry(user.clone()).or_default();
        *tried += 1;
        let answer: &[u8] = if *tried <= rejections {
            b"E\0\0\0\x29SFATAL\0C53300\0Mtoo many connections\0\0"
        } else {
            b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I"
        };
        connection.write_all(answer).unwrap();
        came.push(user);
    }
    came
}

/// Reads a connection's startup message and returns the user name in it. The message consists of its length, the protocol
/// version, and name-value pairs.
fn read_user(connection: &mut UnixStream) -> String {
    let mut length = [0; 4];
    connection.read_exact(&mut length).unwrap();
    let mut message = vec![0; u32::from_be_bytes(length) as usize - 4];
    connection.read_exact(&mut message).unwrap();
    let mut words = message[4..].split(|byte| *byte == 0);
    words.find(|word| *word == b"user").expect("expected the user's name");
    String::from_utf8(words.next().unwrap().to_vec()).unwrap()
}

/// All clients are rejected at the same moment. They must retry after random delays, so that they do not collide again.
#[test]
fn rejected_connections_are_retried_after_random_delays() {
    const CLIENTS: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
    let server = thread::spawn(move || reject_connections(&listener, 1, 2 * CLIENTS));
    let path = folder.path().to_str().unwrap().replace('/', "%2F");
    let url = |user| format!("postgresql://user{user}@{path}/postgres?sslmode=disable");
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let open = async |url: String| AsyncPostgresql::open(&url).await.map(drop);
        let clients: Vec<_> = (0..CLIENTS).map(|user| tokio::spawn(open(url(user)))).collect();
        for client in clients {
            client.await.unwrap().unwrap();
        }
    });
    let came = server.join().unwrap();
    let (first, second) = came.split_at(CLIENTS);
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), CLIENTS);
    assert_ne!(first, second, "expected another order than before");
}
