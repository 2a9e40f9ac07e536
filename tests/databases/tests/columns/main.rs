//! Tests IDs in SQLite and PostgreSQL columns with each database library that the crates support. The tests write, read and
//! sort IDs, query them by time, and check which values are rejected.

mod diesel_postgres;
mod diesel_sqlite;
mod postgres_types;
mod sea_orm;
#[allow(dead_code, unreachable_pub, reason = "the tests of leases use the rest")]
#[path = "../../../../lease/tests/server/mod.rs"]
mod server;
mod sqlite;
mod sqlx;

use std::{
    fmt::Display,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use polyflake::{
    clock::ManualClock,
    hotguid::HotGuid,
    layout,
    randflake::Randflake,
    sno::{Builder, Id, Kind, Sno},
    uuid7::Uuid7,
};
use server::Server;

/// 2026-01-01T00:00:00Z.
const START_MS: i64 = 1_767_225_600_000;
const HOUR_MS: i64 = 3_600_000;

#[derive(Debug)]
struct User;

impl Kind for User {
    const METABYTE: u8 = 1;
}

#[derive(Debug)]
struct Order;

impl Kind for Order {
    const METABYTE: u8 = 2;
}

const REJECTION_MESSAGE: &str = "expected metabyte 2, found 1";

/// The IDs in one row.
#[derive(Clone, Debug, PartialEq)]
struct Ids {
    sno: Sno,
    user: Id<User>,
    flake: Randflake,
    tweet: layout::Id,
    bytes: layout::Id,
    guid: HotGuid,
    uuid7: Uuid7,
}

/// Returns three rows, each an hour after the previous one.
fn rows() -> [Ids; 3] {
    let clock = ManualClock::at_unix_ms(START_MS);
    let ids = Builder::with_clock(&clock).partition(7).build().unwrap();
    [0, 1, 2].map(|hour| {
        let time = START_MS + hour * HOUR_MS;
        clock.set_unix_ms(time);
        let user = Id::generate_with(&ids).unwrap();
        let (guid, _) = HotGuid::time_range(time, time + HOUR_MS).unwrap();
        let (uuid7, _) = Uuid7::time_range(time, time + HOUR_MS).unwrap();
        let number = i64::MIN + hour;
        Ids {
            sno: *user,
            user,
            flake: Randflake::from_i64(number),
            tweet: layout::Id::Integer(number),
            bytes: layout::Id::Bytes(vec![0xca, 0xfe, u8::try_from(hour).unwrap()]),
            guid,
            uuid7,
        }
    })
}

/// Returns the server that all running tests share, or `None` if PostgreSQL is not installed.
fn server() -> Option<Arc<Server>> {
    static SHARED_SERVER: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let programs = server::programs()?;
    let mut shared = SHARED_SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    Some(shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Server::start(&programs));
        *shared = Arc::downgrade(&server);
        server
    }))
}

/// Asserts that an error or one of its sources has the given message.
#[track_caller]
fn assert_message(error: &(dyn std::error::Error + 'static), message: &str) {
    let sources = std::iter::successors(Some(error), |error| error.source());
    let said: Vec<_> = sources.map(ToString::to_string).collect();
    assert!(said.iter().any(|said| said.contains(message)), "expected {message}, found {said:?}");
}

/// Runs an asynchronous test to completion on a Tokio runtime.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

fn to_strings<T: Display>(ids: impl IntoIterator<Item = T>) -> Vec<String> {
    ids.into_iter().map(|id| id.to_string()).collect()
}
