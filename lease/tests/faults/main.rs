//! Tests that processes generate no duplicate IDs while faults are injected. The processes use one-second leases, and there
//! are fewer worker IDs than processes. The test kills, closes or terminates processes at random, or pauses them for longer
//! than a lease. Their clocks jump by up to ten years. The store is unavailable for longer than a lease, rejects changes or
//! releases, is killed, or is replaced by its replica. A volatile store also loses its data. The processes connect to one
//! database with three roles, each with its own schema. The network is slow, drops replies and sends messages twice. In
//! addition, one process per language has an explicit worker ID. This process repeatedly creates its generator, and is
//! killed and restarted. No two processes may use the same (partition, tick), no ID may occur twice, and no two grants of a
//! worker ID may overlap. Each of five controls breaks one rule, and must create duplicates.
//!
//! `POLYFLAKE_CYCLES=200 cargo test --release -p polyflake-lease --all-features --test faults` takes several minutes. With
//! `POLYFLAKE_SECONDS=600`, it takes ten minutes.
#![cfg(all(
    feature = "sqlite",
    feature = "postgresql",
    feature = "mysql",
    feature = "redis",
    unix
))]
#![allow(unreachable_pub, reason = "modules of one test")]

mod clock;
mod clones;
mod gaps;
mod life;
mod losses;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../mysql_server/mod.rs"]
mod mysql_server;
mod proxy;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../redis_server/mod.rs"]
mod redis_server;
mod rival;
mod run;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../server/mod.rs"]
mod server;
mod service;
mod store;
mod trace;
#[path = "../trace/mod.rs"]
mod values;

use std::{
    env, thread,
    time::{Duration, Instant},
};

use life::{LEASE, WeakenedRule};
use losses::{DataLoss, LossyServer};
use mysql_server::MysqlServer;
use proxy::{Address, Proxy};
use run::{Faults, Totals};
use server::{Server, programs};
use service::Services;
use store::{Backend, FaultyStore};
use tempfile::TempDir;

#[test]
fn life() {
    life::run_child();
}

fn number_from_env(name: &str) -> Option<usize> {
    env::var(name).ok().and_then(|value| value.parse().ok())
}

fn sqlite() -> (TempDir, FaultyStore) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let url = format!("sqlite:{}?allow=overlayfs", folder.path().join("leases.db").display());
    let path = folder.path().join("leases.db");
    (folder, FaultyStore::new(url, Backend::Sqlite(path), None))
}

/// Places two services between the processes and a store.
fn start_services_for(stage: FaultyStore) -> FaultyStore {
    let urls = [stage.url.clone(), stage.url.clone()];
    FaultyStore { services: Some(Services::start(urls)), ..stage }
}

fn assert_no_duplicates(stage: &FaultyStore, others: &[String]) {
    let (began, seconds) = (Instant::now(), number_from_env("POLYFLAKE_SECONDS"));
    // A volatile store grants nothing for a while after most faults, so its cycles take longer.
    let cycles =
        number_from_env("POLYFLAKE_CYCLES").unwrap_or(if stage.is_volatile() { 8 } else { 16 });
    let mut faults = Faults::start_all(stage, WeakenedRule::Nowhere, others);
    faults.begin_namespace();
    while seconds.map_or(faults.cycles < cycles, |seconds| {
        began.elapsed() < Duration::from_secs(seconds as u64)
    }) {
        faults.cycle();
    }
    faults.end();
    let Faults { found, cycles, all_lives, counts, .. } = &faults;
    println!("{cycles} cycles, {all_lives} lives, {found:?}, {:.0?}", began.elapsed());
    println!("{counts:?}, {:?}", stage.proxy.as_ref().map(Proxy::counts));
    println!("{}", faults.gaps.lines());
    assert_eq!((found.ticks_twice, found.ids_twice, found.grants_twice), (0, 0, 0));
    if let Backend::Redis(server) = &*stage.backend.borrow() {
        server.assert_one_wait_per_loss();
    }
    let is_busy =
        found.ids > 50 * cycles && found.explicit_ids > 50 * cycles && 4 * found.grants > *cycles;
    assert!(is_busy, "expected IDs and grants, found {found:?}");
    if *cycles >= 150 {
        let proxied = stage.proxy.as_ref().map_or([1; 3], Proxy::counts);
        let others = counts.keys().filter(|name| !name.starts_with("Step")).count();
        assert!(others >= faults.fault_kinds() && !proxied.contains(&0), "expected every fault");
    }
}

#[test]
fn sqlite_leases_never_repeat_an_id() {
    let (_folder, stage) = sqlite();
    assert_no_duplicates(&stage, &[]);
}

fn postgresql() -> Option<FaultyStore> {
    let server = Server::start(&programs()?);
    server.execute_as_admin(&[include_str!("../../sql/postgresql.sql")]);
    for role in &run::ROLES[1..] {
        // Each role's `search_path` begins with its own schema.
        let role_and_schema =
            format!("CREATE ROLE {role} LOGIN; CREATE SCHEMA AUTHORIZATION {role}");
        let rights = include_str!("../../sql/postgresql-role.sql");
        server.execute_as_admin(&[&role_and_schema, &rights.replace(":\"role\"", role)]);
    }
    let proxy = Proxy::start(vec![Address::Socket(server.socket())]);
    Some(FaultyStore::new(proxy.url(), Backend::Postgresql(server), Some(proxy)))
}

/// The server does not authenticate its users, so it accepts a connection that the proxy replays.
fn mariadb() -> Option<FaultyStore> {
    let server = MysqlServer::start(&mysql_server::program()?, &[]);
    let proxy = Proxy::start(vec![Address::Socket(server.socket())]);
    let url = proxy.url().replace("postgresql:", "mysql:").replace("/postgres?", "/app?");
    Some(FaultyStore::new(url, Backend::Mysql(server), Some(proxy)))
}

/// Starts a server that grants nothing for two lease durations after each loss. Every lost lease ends within the first half
/// of this time.
fn redis() -> Option<FaultyStore> {
    redis_with_wait(2 * LEASE)
}

fn redis_with_wait(wait: Duration) -> Option<FaultyStore> {
    let server = LossyServer::start(&redis_server::program()?, wait);
    let proxy = Proxy::start(vec![Address::Socket(server.socket())]);
    let url = format!("redis://127.0.0.1:{}/0", proxy.port());
    Some(FaultyStore::new(url, Backend::Redis(server), Some(proxy)))
}

/// Runs processes in Rust only. In the regular tests, `languages_that_share_redis_never_repeat_an_id` injects the same
/// faults into processes in three languages.
#[test]
#[ignore = "half a minute; `cargo xtask leases` runs it"]
fn redis_leases_never_repeat_an_id() {
    let Some(stage) = redis() else { return };
    assert_no_duplicates(&stage, &[]);
}

/// The leases are longer than the clock error, so holders whose records survive a loss renew their leases during the wait.
/// The wait is longer than the leases.
#[test]
#[ignore = "minutes; `cargo xtask test lease-redis` runs it"]
fn long_leases_that_share_redis_never_repeat_an_id() {
    let lease = 8 * LEASE;
    let Some(stage) = redis_with_wait(lease + LEASE) else { return };
    assert_no_duplicates(&FaultyStore { lease, ..stage }, &optional_commands());
}

/// Runs processes in Rust only. In the regular tests, `languages_that_share_mariadb_never_repeat_an_id` injects the same
/// faults into processes in three languages.
#[test]
#[ignore = "half a minute; `cargo xtask leases` runs it"]
fn mariadb_leases_never_repeat_an_id() {
    let Some(stage) = mariadb() else { return };
    assert_no_duplicates(&stage, &[]);
}

#[test]
fn postgresql_leases_never_repeat_an_id() {
    let Some(stage) = postgresql() else { return };
    assert_no_duplicates(&stage, &[]);
}

/// The processes are written in Rust. If the variables `POLYFLAKE_LIVES` and `POLYFLAKE_WORKER_LIFE` contain commands, the
/// test runs these commands, too, for processes in other languages and on Workers.
#[test]
#[ignore = "a minute; `cargo xtask leases` runs it for ten"]
fn services_over_sqlite_never_repeat_an_id() {
    let (_folder, stage) = sqlite();
    assert_no_duplicates(&start_services_for(stage), &optional_commands());
}

#[test]
#[ignore = "a minute; `cargo xtask leases` runs it for ten"]
fn services_over_postgresql_never_repeat_an_id() {
    let Some(stage) = postgresql() else { return };
    assert_no_duplicates(&start_services_for(stage), &optional_commands());
}

fn optional_commands() -> Vec<String> {
    let named =
        ["POLYFLAKE_LIVES", "POLYFLAKE_WORKER_LIFE"].map(|name| env::var(name).unwrap_or_default());
    named.iter().flat_map(|commands| commands.lines()).map(str::to_owned).collect()
}

/// Two services that were started with `--create` on two machines use two different files, so both lease the same worker
/// IDs.
#[test]
#[ignore = "with the tests of services"]
fn services_over_two_files_use_a_tick_twice() {
    let ((_folder, stage), (_other_folder, other)) = (sqlite(), sqlite());
    let services = Some(Services::start([stage.url.clone(), other.url]));
    let found = assert_control_repeats_a_tick(
        &FaultyStore { services, ..stage },
        WeakenedRule::Nowhere,
        |_| {
            thread::sleep(LEASE);
        },
    );
    assert!(found.grants_twice > 0, "expected grants that overlap, found {found:?}");
}

#[test]
#[ignore = "with the tests of services"]
fn releasing_to_services_without_a_seal_uses_a_tick_twice() {
    let (_folder, stage) = sqlite();
    assert_control_repeats_a_tick(&start_services_for(stage), WeakenedRule::NoSeal, |faults| {
        faults.restart(fastrand::usize(..3));
    });
}

/// Returns the commands that run the processes in other languages.
fn other_commands() -> Vec<String> {
    let commands = env::var("POLYFLAKE_LIVES").expect("expected commands in POLYFLAKE_LIVES");
    commands.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the other languages"]
fn languages_that_share_sqlite_never_repeat_an_id() {
    let (_folder, stage) = sqlite();
    assert_no_duplicates(&stage, &other_commands());
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the other languages"]
fn languages_that_share_postgresql_never_repeat_an_id() {
    let Some(stage) = postgresql() else { return };
    assert_no_duplicates(&stage, &other_commands());
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the other languages"]
fn languages_that_share_mariadb_never_repeat_an_id() {
    let Some(stage) = mariadb() else { return };
    assert_no_duplicates(&stage, &other_commands());
}

#[test]
#[ignore = "`cargo xtask test lease-languages` builds the other languages"]
fn languages_that_share_redis_never_repeat_an_id() {
    let Some(stage) = redis() else { return };
    assert_no_duplicates(&stage, &other_commands());
}

/// One process breaks a rule, while processes in other languages follow all rules.
#[test]
#[ignore = "`cargo xtask test lease-languages` builds the other languages"]
fn skipping_a_rule_uses_a_tick_twice_across_languages() {
    let (_folder, stage) = sqlite();
    let of = |weak| Faults::start_all(&stage, weak, &other_commands());
    run_control(of(WeakenedRule::TtlAsProof), Faults::pause_rust_process);
    run_control(of(WeakenedRule::NoSeal), |faults| faults.restart(fastrand::usize(..3)));
}

/// After every process has held a worker ID, the file is deleted. The first process that finds the namespace missing
/// recreates it, which starts a quiet time.
#[test]
fn deleting_the_file_of_live_holders_never_repeats_an_id() {
    let (folder, stage) = sqlite();
    let mut faults = Faults::new(&stage, WeakenedRule::Nowhere);
    faults.begin_namespace();
    faults.end_process(2);
    thread::sleep(LEASE);
    std::fs::remove_file(folder.path().join("leases.db")).unwrap();
    thread::sleep(LEASE * 4);
    faults.end();
    let Totals { ids, ticks_twice, ids_twice, grants_twice, .. } = faults.found;
    assert_eq!((ticks_twice, ids_twice, grants_twice), (0, 0, 0));
    assert!(ids > 100, "{:?}", faults.found);
}

fn assert_clones_diverge(url: &str) {
    let rounds = number_from_env("POLYFLAKE_CYCLES").unwrap_or(16) / 8;
    let (mut before, mut noticed) = (0, 0);
    for round in 0..rounds {
        let (equal, twice, is_noticed) = clones::clone_holder(url, &format!("twins-{round}"));
        assert_eq!(twice, 0, "expected no tick twice past the end that both clones had");
        before += equal;
        noticed += usize::from(is_noticed);
    }
    println!("{rounds} clones, {before} ticks twice before the end that both had");
    // The number of ticks that both clones used before the end of their shared grant depends on how soon one clone detects
    // the other's renewal, so the test does not check this number.
    assert!(noticed == rounds, "expected clones, {noticed} of {rounds} noticed");
}

#[test]
fn clones_never_repeat_an_id_after_their_shared_end() {
    let (_folder, stage) = sqlite();
    assert_clones_diverge(&stage.url);
    let Some(programs) = programs() else { return };
    let server = Server::start(&programs);
    assert_clones_diverge(&server.url());
}

fn assert_control_repeats_a_tick<'f>(
    stage: &'f FaultyStore,
    weak: WeakenedRule,
    cycle: impl FnMut(&mut Faults<'f>),
) -> Totals {
    run_control(Faults::new(stage, weak), cycle)
}

/// Runs a control until two processes use the same (partition, tick) pair, for at most 20 cycles. Two IDs with the same
/// partition and tick are rarely equal, because each process starts the tick at a random sequence number.
fn run_control<'f>(mut faults: Faults<'f>, mut cycle: impl FnMut(&mut Faults<'f>)) -> Totals {
    // The control uses ten namespaces, because a namespace grants nothing for more than a minute after one of its holders
    // has noticed a clock rollback.
    for _ in 0..10 {
        faults.begin_namespace();
        (0..2).for_each(|_| cycle(&mut faults));
        faults.end();
        println!("{faults}");
        if faults.found.ticks_twice > 0 {
            return faults.found;
        }
    }
    panic!("expected that a control uses a tick twice within 20 cycles");
}

#[test]
fn trusting_a_clock_reading_as_proof_uses_a_tick_twice() {
    let (_folder, stage) = sqlite();
    assert_control_repeats_a_tick(&stage, WeakenedRule::TtlAsProof, Faults::pause_rust_process);
}

/// With a server as the store, this control also shows that the test setup detects duplicates on that server.
#[test]
fn releasing_without_a_seal_uses_a_tick_twice() {
    let (_folder, stage) = sqlite();
    for stage in [Some(stage), mariadb(), redis()].into_iter().flatten() {
        assert_control_repeats_a_tick(&stage, WeakenedRule::NoSeal, |faults| {
            faults.restart(fastrand::usize(..3));
        });
    }
}

/// A process starts with a clock that is a minute ahead, and the clock is corrected before the process generates its first
/// ID. Measured by the fast clock, a live process has not renewed its lease for a long time, so the new process claims the
/// live process's worker ID.
#[test]
fn judging_other_holders_by_the_local_clock_uses_a_tick_twice() {
    if clock::library().is_none() {
        return;
    }
    let (_folder, stage) = sqlite();
    assert_control_repeats_a_tick(&stage, WeakenedRule::OwnClock, |faults| {
        faults.restart_with_clock_ahead(fastrand::usize(..3), Duration::from_secs(60));
        thread::sleep(LEASE * 3 / 2);
    });
}

/// The store loses the writes that it acknowledged in the last one and a half lease durations, like a server that crashes
/// before its data is on disk.
#[test]
fn a_store_without_durable_writes_uses_a_tick_twice() {
    let (folder, stage) = sqlite();
    let (path, copy) = (folder.path().join("leases.db"), folder.path().join("copy.db"));
    let store = || {
        let store = rusqlite::Connection::open(&path).unwrap();
        store.busy_timeout(Duration::from_secs(5)).unwrap();
        store.execute("ATTACH ?1 AS copy", [copy.to_str().unwrap()]).unwrap();
        store
    };
    let found = assert_control_repeats_a_tick(&stage, WeakenedRule::Nowhere, |_| {
        let tables = ["polyflake_leases", "polyflake_namespaces"];
        for name in tables {
            let keep = format!("CREATE TABLE copy.{name} AS SELECT * FROM main.{name}");
            store().execute_batch(&format!("DROP TABLE IF EXISTS copy.{name}; {keep}")).unwrap();
        }
        thread::sleep(LEASE * 3 / 2);
        let back = tables.map(|name| {
            format!("DELETE FROM main.{name}; INSERT INTO main.{name} SELECT * FROM copy.{name};")
        });
        store().execute_batch(&format!("BEGIN IMMEDIATE; {} COMMIT", back.concat())).unwrap();
        thread::sleep(LEASE);
    });
    assert!(found.grants_twice > 0, "expected grants that overlap, found {found:?}");
}

/// After the server is emptied, a holder claims a worker ID whose grant to another holder was lost.
#[test]
fn a_volatile_store_without_a_wait_uses_a_tick_twice() {
    let Some(stage) = redis_with_wait(Duration::ZERO) else { return };
    let found = assert_control_repeats_a_tick(&stage, WeakenedRule::Nowhere, |_| {
        stage.lose_data(DataLoss::Emptied);
        thread::sleep(LEASE * 3 / 2);
    });
    assert!(found.grants_twice > 0, "expected grants that overlap, found {found:?}");
}
