//! IDs in columns of SQLite and PostgreSQL, by each library that the crates have types for: written, read, sorted, asked for by time,
//! refused.

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
};
use server::Server;

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000;
const HOUR: i64 = 3_600_000;

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

const REFUSED: &str = "expected metabyte 2, found 1";

/// IDs of one row.
#[derive(Clone, Debug, PartialEq)]
struct Ids {
    sno: Sno,
    user: Id<User>,
    flake: Randflake,
    tweet: layout::Id,
    bytes: layout::Id,
    guid: HotGuid,
}

/// Rows of three hours, each an hour after the one before it.
fn rows() -> [Ids; 3] {
    let clock = ManualClock::at_unix_ms(START);
    let ids = Builder::with_clock(&clock).partition(7).build().unwrap();
    [0, 1, 2].map(|hour| {
        let time = START + hour * HOUR;
        clock.set_unix_ms(time);
        let user = Id::generate_with(&ids).unwrap();
        let (guid, _) = HotGuid::time_range(time, time + HOUR).unwrap();
        let number = i64::MIN + hour;
        Ids {
            sno: *user,
            user,
            flake: Randflake::from_i64(number),
            tweet: layout::Id::Integer(number),
            bytes: layout::Id::Bytes(vec![0xca, 0xfe, u8::try_from(hour).unwrap()]),
            guid,
        }
    })
}

/// The server of all tests that run at this moment; none on a machine without PostgreSQL.
fn server() -> Option<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let programs = server::programs()?;
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    Some(shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Server::start(&programs));
        *shared = Arc::downgrade(&server);
        server
    }))
}

/// Asserts that an error, or one that it came from, has a message.
#[track_caller]
fn assert_says(error: &(dyn std::error::Error + 'static), message: &str) {
    let sources = std::iter::successors(Some(error), |error| error.source());
    let said: Vec<_> = sources.map(ToString::to_string).collect();
    assert!(said.iter().any(|said| said.contains(message)), "expected {message}, found {said:?}");
}

/// Runs a test of an asynchronous library.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

fn texts<T: Display>(ids: impl IntoIterator<Item = T>) -> Vec<String> {
    ids.into_iter().map(|id| id.to_string()).collect()
}
