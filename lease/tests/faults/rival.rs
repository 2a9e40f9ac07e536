//! A negative control for the fault tests. It claims worker IDs with a scheme that other projects document: a claimant uses
//! its own clock to decide whether the holder of a worker ID still sends heartbeats, and a holder keeps generating IDs even
//! if its heartbeat is rejected.

use std::{
    thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use polyflake::sno::{Generator, Sno};
use rusqlite::{Connection, OptionalExtension, params};

use crate::life::LEASE;

/// `GUARD_TIME` is the time without a heartbeat after which a worker ID becomes free. `HEARTBEAT_INTERVAL` is the time
/// between two heartbeats. In version 3 of `CosId`, these durations are 5 minutes and 1 minute.
const GUARD_TIME: Duration = LEASE;
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(200);

const CREATE_TABLE_SQL: &str = "CREATE TABLE IF NOT EXISTS rivals
    (namespace TEXT, number INTEGER, holder INTEGER, seen_ms INTEGER, PRIMARY KEY (namespace, number))";
const INSERT_NUMBER_SQL: &str = "INSERT OR IGNORE INTO rivals VALUES (?1, ?2, 0, 0)";
const CLAIM_SQL: &str = "UPDATE rivals SET holder = ?2, seen_ms = ?3
    WHERE namespace = ?1 AND number = (SELECT min(number) FROM rivals WHERE namespace = ?1 AND seen_ms <= ?4)
    RETURNING number";
const RENEW_SQL: &str =
    "UPDATE rivals SET seen_ms = ?3 WHERE namespace = ?1 AND holder = ?2 AND number = ?4";

fn now() -> i64 {
    i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// A process that follows the other projects' scheme. It uses a separate table in the file.
struct RivalProcess {
    store: Connection,
    namespace: String,
    me: u32,
}

impl RivalProcess {
    fn open(url: &str, namespace: String) -> Self {
        let store = Connection::open(url[7..].split('?').next().unwrap()).unwrap();
        store.busy_timeout(Duration::from_secs(5)).unwrap();
        store.execute_batch(CREATE_TABLE_SQL).unwrap();
        for number in 0..=1 {
            store.execute(INSERT_NUMBER_SQL, params![namespace, number]).unwrap();
        }
        Self { store, namespace, me: std::process::id() }
    }

    fn claim(&self) -> Option<u16> {
        let free = now() - i64::try_from(GUARD_TIME.as_millis()).unwrap();
        let claimed = params![self.namespace, self.me, now(), free];
        self.store.query_row(CLAIM_SQL, claimed, |row| row.get(0)).optional().unwrap()
    }

    /// Sends a heartbeat, and ignores whether another process has taken over the worker ID.
    fn send_heartbeat(&self, number: u16) {
        self.store.execute(RENEW_SQL, params![self.namespace, self.me, now(), number]).unwrap();
    }
}

/// Claims a worker ID, waits until it may generate IDs, and then generates them.
pub fn run_rival(
    url: &str,
    namespace: String,
    should_continue: impl Fn() -> bool,
    mut note: impl FnMut(Sno),
) {
    let rival = RivalProcess::open(url, namespace);
    while should_continue() {
        let Some(number) = rival.claim() else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        let (claimed, mut signed) = (Instant::now(), Instant::now());
        let ids = Generator::builder().partition(number).build().unwrap();
        while should_continue() {
            if signed.elapsed() > HEARTBEAT_INTERVAL {
                rival.send_heartbeat(number);
                signed = Instant::now();
            }
            if claimed.elapsed() > LEASE {
                note(ids.generate(0).unwrap());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
