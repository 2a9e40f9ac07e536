//! Many generators that start at once, on a server that takes fewer connections: all get a number in the end, and the application's own
//! connections are let in.
//!
//! `POLYFLAKE_STARTS=1000 cargo test --release -p polyflake-lease --all-features --test cold -- --nocapture` takes a minute.
#![cfg(all(feature = "postgresql", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use std::{
    collections::HashSet,
    env,
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use polyflake_lease::{Options, Shape, sno::Generator};
use server::{Server, programs};

/// Longer than any of the machine's own delays.
const LONG: Duration = Duration::from_secs(120);

#[test]
fn all_that_start_at_once_get_numbers() {
    let Some(programs) = programs() else { return };
    let starts = env::var("POLYFLAKE_STARTS").ok().and_then(|it| it.parse().ok()).unwrap_or(200);
    let server = Server::start(&programs);
    server.down();
    server.up_with(&format!("-c listen_addresses='' -c max_connections={}", starts / 10));
    let (barrier, is_over) = (Barrier::new(starts), AtomicBool::new(false));
    let (tried, let_in) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let application = || {
        while !is_over.load(Ordering::Relaxed) {
            tried.fetch_add(1, Ordering::Relaxed);
            let connected = postgres::Client::connect(&server.url(), postgres::NoTls);
            let_in.fetch_add(usize::from(connected.is_ok()), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(50));
        }
    };
    let start = || {
        let options = Options::new("orders", Shape::sno(0..=65_535).unwrap()).unwrap();
        barrier.wait();
        let began = Instant::now();
        let ids = Generator::with(&server.url(), options, LONG).unwrap();
        (ids, began.elapsed())
    };
    let mut started: Vec<_> = thread::scope(|scope| {
        let beside = scope.spawn(application);
        let threads: Vec<_> = (0..starts).map(|_| scope.spawn(start)).collect();
        let started = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        beside.join().unwrap();
        started
    });
    started.sort_unstable_by_key(|(_, time)| *time);
    let numbers: HashSet<_> = started.iter().map(|(ids, _)| ids.lease().number()).collect();
    assert_eq!(numbers.len(), starts);
    let within = started.iter().filter(|(_, time)| *time < Duration::from_secs(10)).count();
    let failures: u64 = started.iter().map(|(ids, _)| ids.lease().figures().failures).sum();
    let (tried, let_in) = (tried.into_inner(), let_in.into_inner());
    println!(
        "{starts} starts: half after {:.1?}, all after {:.1?}, {within} within 10 s, {failures} refusals; the application was let in {let_in} times of {tried}",
        started[starts / 2].1,
        started[starts - 1].1,
    );
    assert!(2 * let_in > tried, "{let_in} of {tried}");
    drop(started);
}
