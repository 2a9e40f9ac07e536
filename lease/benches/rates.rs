//! Measures how long claims and renewals take in real stores, and how many renewals per second are possible over one
//! connection and over eight connections. Use `cargo bench -p polyflake-lease --all-features --bench rates` to run the
//! benchmark, which takes two minutes and needs an idle machine. If `POLYFLAKE_STORE` contains the URL of an empty store,
//! for example a store that is served by `polyflake lease serve --rate 1000000`, the benchmark measures that store instead.
//! `tests/leases/cold.py` measures many processes that start at the same time.
#![allow(unreachable_pub, reason = "modules of one program")]

#[cfg(unix)]
#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/mysql_server/mod.rs"]
mod mysql_server;
#[cfg(unix)]
#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/redis_server/mod.rs"]
mod redis_server;
#[cfg(unix)]
#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/server/mod.rs"]
mod server;

use std::{
    env, thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use polyflake_lease::{
    ErrorKind, Options, Result, Shape,
    protocol::{
        Action, Keeper, Moment, Namespace, Operation, Random, Record, ReplyContent, Request, Store,
        open,
    },
};
#[cfg(unix)]
use redis_server::RedisServer;
#[cfg(unix)]
use server::{Server, programs};

const NAMESPACE: &str = "rates/randflake";
/// The number of claims to measure, and the number of renewals to measure.
const ROUNDS: usize = 300;
/// The number of claims to measure after all records of the namespace have been created.
const CLAIMS_IN_FULL_NAMESPACE: usize = 40;
const WORKER_ID_COUNT: u64 = 131_072;
/// The default length of a lease, in milliseconds.
const LEASE_MS: u64 = 3_600_000;

fn randflake_shape() -> Shape {
    Shape::randflake(0..=WORKER_ID_COUNT - 1, &[7; 16]).unwrap()
}

fn now() -> Moment {
    let wall_ms = u64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    Moment { wall_ms, elapsed_ms: wall_ms }
}

fn keeper() -> Keeper<impl FnMut() -> Result<Random>> {
    let options = Options::new("rates", randflake_shape()).unwrap();
    Keeper::new(options, || Ok(Random(fastrand::u128(1..))))
}

/// Claims a worker ID in an open store. Returns the time from the first request until the grant begins, and the record that
/// the claim wrote.
fn claim(store: &mut dyn Store) -> (Duration, Record) {
    let (mut keeper, began, mut put) = (keeper(), Instant::now(), None);
    loop {
        match keeper.poll(now()) {
            Action::Send(request) => {
                if let Operation::Put { new, .. } = &request.operation {
                    put = Some(new.clone());
                }
                keeper.answered(
                    request.number,
                    Ok(retry_while_locked(|| store.answer(&request))),
                    now(),
                );
            }
            Action::Begin(_) => return (began.elapsed(), put.unwrap()),
            Action::Rejected(error) => {
                assert_eq!(error.kind(), ErrorKind::LeaseUnavailable, "{error}");
            }
            Action::Wait(_) => thread::sleep(Duration::from_millis(1)),
            other => panic!("{other:?}"),
        }
    }
}

/// Starts a `Redis` server, and skips the waiting time of its namespace.
#[cfg(unix)]
fn start_redis_after_wait(program: &std::path::Path) -> RedisServer {
    let server = RedisServer::start(program, &[]);
    let (mut store, mut keeper) = (open(&server.url()).unwrap(), keeper());
    loop {
        match keeper.poll(now()) {
            Action::Send(request) => {
                keeper.answered(request.number, store.answer(&request), now());
            }
            Action::Rejected(error) => {
                assert_eq!(error.kind(), ErrorKind::StoreChanged, "{error}");
                server.skip_wait(NAMESPACE);
                return server;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Repeats an operation until no other connection holds a lock on the file, and returns the result.
fn retry_while_locked<V>(mut operation: impl FnMut() -> Result<V>) -> V {
    loop {
        match operation() {
            Ok(answer) => return answer,
            Err(error) => assert_eq!(error.kind(), ErrorKind::LeaseUnavailable, "{error}"),
        }
    }
}

/// Changes the end of the grant in a record, and returns how long the write took. The write is a release if the new end is
/// earlier than the current end, and a renewal otherwise.
fn write(store: &mut dyn Store, record: &mut Record, granted_until: u64) -> Duration {
    let new = Record { granted_until, version: record.version + 1, ..record.clone() };
    let operation = Operation::Put { old: record.clone(), new: new.clone() };
    let (request, began) =
        (Request { number: 1, namespace: NAMESPACE.into(), operation }, Instant::now());
    assert_eq!(retry_while_locked(|| store.answer(&request)).content, ReplyContent::Done);
    *record = new;
    began.elapsed()
}

/// Returns the time until which a renewal extends the grant, based on the current time. However often the lease is renewed,
/// this time is never later than a store allows.
fn renewal_end() -> u64 {
    now().wall_ms + LEASE_MS
}

fn print_times(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    println!("{name}: p50 {:.2?}, p99 {:.2?}, of {}", at(50), at(99), times.len());
}

/// Measures the number of renewals per second over several connections. Each connection leases a separate worker ID.
fn measure_rate(url: &str, connections: usize) -> f64 {
    let threads: Vec<_> = (0..connections)
        .map(|_| {
            let url = url.to_owned();
            thread::spawn(move || {
                let mut store = retry_while_locked(|| open(&url));
                let (_, mut record) = claim(&mut store);
                let (began, mut count) = (Instant::now(), 0);
                while began.elapsed() < Duration::from_secs(5) {
                    write(&mut store, &mut record, renewal_end());
                    count += 1;
                }
                f64::from(count) / began.elapsed().as_secs_f64()
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).sum()
}

fn measure(name: &str, url: &str) {
    let mut store = open(url).unwrap();
    let few = measure_claims(&mut store, ROUNDS);
    print_times(&format!("{name}, claims"), few);
    let (_, mut record) = claim(&mut store);
    let mut renew = || write(&mut store, &mut record, renewal_end());
    print_times(&format!("{name}, renewals"), (0..ROUNDS).map(|_| renew()).collect());
    for connections in [1, 8] {
        println!(
            "{name}, {connections} connections: {:.0} renewals/s",
            measure_rate(url, connections)
        );
    }
    // The remaining measurements are skipped for a lease service. A client waits at most 15 seconds for the service, which
    // may need longer once all records have been created.
    if url.starts_with("http") {
        return;
    }
    // MySQL closed the first connection, which was idle during the previous measurement.
    store = open(url).unwrap();
    fill(&mut store);
    print_times(
        &format!("{name}, claims among {WORKER_ID_COUNT} records"),
        measure_claims(&mut store, CLAIMS_IN_FULL_NAMESPACE),
    );
}

/// Claims and releases worker IDs, and returns how long each claim took.
fn measure_claims(store: &mut dyn Store, count: usize) -> Vec<Duration> {
    let claim_and_return = |_| {
        let (time, mut record) = claim(store);
        let start = record.start;
        write(store, &mut record, start);
        time
    };
    (0..count).map(claim_and_return).collect()
}

/// Creates all records that the namespace can have.
fn fill(store: &mut dyn Store) {
    let mut operation = |operation| {
        store.answer(&Request { number: 1, namespace: NAMESPACE.into(), operation }).unwrap()
    };
    let old = operation(Operation::Survey).namespace.unwrap();
    let (first, version) = (old.records, old.version + 1);
    let new = Namespace { records: WORKER_ID_COUNT, version, ..old.clone() };
    assert_eq!(
        operation(Operation::PutNamespace { old, new, first, count: 1 }).content,
        ReplyContent::Done
    );
}

fn main() {
    if let Ok(url) = env::var("POLYFLAKE_STORE") {
        return measure(url.rsplit('@').next().unwrap_or_default(), &url);
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("leases.db");
    measure("SQLite", &format!("sqlite:{}?allow=overlayfs", file.display()));
    #[cfg(unix)]
    measure_servers();
}

/// Measures the stores whose servers the tests can start.
#[cfg(unix)]
fn measure_servers() {
    let server = Server::start(&programs().expect("expected PostgreSQL on this machine"));
    measure("PostgreSQL", &server.url());
    let program = mysql_server::program().expect("expected MariaDB on this machine");
    let server = mysql_server::MysqlServer::start(&program, &[]);
    measure(if server.is_mariadb() { "MariaDB" } else { "MySQL" }, &server.url());
    let program = redis_server::program().expect("expected Redis on this machine");
    measure("Redis", &start_redis_after_wait(&program).url());
}
