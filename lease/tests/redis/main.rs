//! Tests the `Redis` store: the conformance suite, servers that lose their data, servers that count as different stores,
//! and server errors.
#![cfg(all(feature = "redis", unix))]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../claims/mod.rs"]
mod claims;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../redis_server/mod.rs"]
mod redis_server;

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    path::Path,
    time::{Duration, Instant, UNIX_EPOCH},
};

use claims::{assert_error, claim, claim_concurrently};
use polyflake_lease::{
    AsyncRedis, Error, ErrorKind, Operator, Options, Redis, Result, Shape, check,
    protocol::{
        AsyncStore, Grant, Namespace, Operation, Random, Record, Reply, ReplyContent, Request,
        Store, conformance, open,
        steps::{Engine, Outcome, Step, Steps},
    },
    sno,
};
use redis_server::{RedisServer, USER_ACL, call_server, program};

const NAMESPACE: &str = "orders/sno";
const MINUTE_MS: u64 = 60_000;

fn now_ms() -> u64 {
    UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap()
}

fn start(program: &Path) -> RedisServer {
    RedisServer::start(program, &[])
}

fn claim_at(url: &str) -> Result<Grant> {
    claim(&mut open(url)?)
}

/// Starts a server with a namespace whose waiting time has passed.
fn start_after_wait(program: &Path) -> RedisServer {
    start_with_options_after_wait(program, &[])
}

fn start_with_options_after_wait(program: &Path, options: &[&str]) -> RedisServer {
    let server = RedisServer::start(program, options);
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    server.skip_wait(NAMESPACE);
    server
}

fn send(store: &mut dyn Store, operation: Operation) -> Result<Reply> {
    store.answer(&Request { number: 1, namespace: NAMESPACE.into(), operation })
}

fn store_name(server: &RedisServer) -> String {
    send(&mut *open(&server.url()).unwrap(), Operation::List).unwrap().store
}

fn list_error(url: &str) -> Error {
    open(url).and_then(|mut store| send(&mut store, Operation::List)).unwrap_err()
}

/// Returns the namespace's record and the record of a worker ID.
fn records_at(url: &str, first: u64) -> (Namespace, Record) {
    let reply = send(&mut *open(url).unwrap(), Operation::Read { first }).unwrap();
    let ReplyContent::Records(records) = reply.content else { panic!("expected records") };
    (reply.namespace.unwrap(), records[0].clone())
}

#[test]
fn the_driver_passes_the_suite() {
    let Some(program) = program() else { return };
    let server = start(&program);
    conformance::check(&mut Redis::open(&server.url()).unwrap());
    conformance::check_together(|| Redis::open(&server.url()).unwrap());
    // Each database of a server is a separate store.
    let other = server.url().replace("/0?", "/1?");
    assert_error(claim_at(&other), ErrorKind::StoreChanged);
    let server = start_after_wait(&program);
    claim_concurrently(|| open(&server.url()).unwrap());
}

#[test]
fn tasks_use_the_store() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut store = AsyncRedis::open(&server.url()).await.unwrap();
        let request = Request { number: 1, namespace: "orders".into(), operation: Operation::List };
        assert_eq!(store.answer(&request).await.unwrap().content, ReplyContent::Names(Vec::new()));
        assert_error(
            open(&server.url()).and_then(|mut store| store.answer(&request)),
            ErrorKind::LeaseUnavailable,
        );
        // Dropping a request ends the connection.
        server.pause(true);
        drop(tokio::time::timeout(Duration::from_millis(50), store.answer(&request)).await);
        server.pause(false);
        assert_error(store.answer(&request).await, ErrorKind::LeaseUnavailable);
    });
}

#[test]
fn a_new_namespace_waits_for_six_minutes_and_leases_last_five() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let error = assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    let left = error.until().unwrap() - now_ms();
    assert!((6 * MINUTE_MS..=6 * MINUTE_MS + 15_000).contains(&left), "{left}");
    server.skip_wait(NAMESPACE);
    let grant = claim_at(&server.url()).unwrap();
    let left = grant.end() - now_ms();
    assert!((4 * MINUTE_MS..=5 * MINUTE_MS).contains(&left), "{left}");
}

#[test]
fn a_longer_lease_is_rejected_immediately() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    let options = || Options::new("orders", Shape::sno(0..=99).unwrap()).unwrap();
    let generator = |options| sno::Generator::with(&server.url(), options, Duration::from_secs(9));
    let claim_error = generator(options().lease_ms(5 * MINUTE_MS + 1).unwrap());
    let error = assert_error(claim_error.map(drop), ErrorKind::OutOfRange);
    assert!(error.to_string().contains("a lease of at most 300 seconds"), "{error}");
    let ids = generator(options().lease_ms(5 * MINUTE_MS).unwrap()).unwrap();
    ids.generate(0).unwrap();
    ids.close();
}

/// A claim creates the missing records of all worker IDs up to the claimed one, even if their number exceeds Lua's limit on
/// the values in one call.
#[test]
fn the_largest_numbers_and_many_records_are_stored() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    claim_at(&server.url()).unwrap();
    let mut store = Redis::open(&server.url()).unwrap();
    let (old, _) = records_at(&server.url(), 0);
    let first = Record::RESERVED - 30_000;
    let new = Namespace { records: old.records + 20_000, version: old.version + 1, ..old.clone() };
    let grow = Operation::PutNamespace { old: old.clone(), new, first, count: 1 };
    assert_eq!(send(&mut store, grow).unwrap().content, ReplyContent::Done);
    let last = first + 19_999;
    let fresh = Record::fresh(last, 1, old.incarnation);
    assert_eq!(records_at(&server.url(), last).1, fresh);
    let found = send(&mut store, Operation::Find { limit: u32::MAX }).unwrap().content;
    let ReplyContent::Records(found) = found else { panic!("expected records") };
    assert_eq!(found.len() as u64, old.records + 20_000);
    assert_eq!(found.iter().filter(|record| **record == fresh).count(), 1);
    let none = send(&mut store, Operation::Find { limit: 0 }).unwrap().content;
    assert_eq!(none, ReplyContent::Records(Vec::new()));
}

/// An emptied server keeps its name, so only the missing namespace shows that its records are lost.
#[test]
fn an_emptied_server_grants_nothing_for_six_minutes() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    let name = store_name(&server);
    claim_at(&server.url()).unwrap();
    server.call_as_admin(&["FLUSHALL"]);
    assert_eq!(store_name(&server), name);
    let error = assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    assert!(error.until().unwrap() > now_ms() + 6 * MINUTE_MS, "{error}");
}

/// A killed server restarts with its last snapshot or without data. In both cases, its name changes.
#[test]
fn a_restarted_server_is_another_store() {
    let Some(program) = program() else { return };
    let mut server = start_after_wait(&program);
    claim_at(&server.url()).unwrap();
    let (first, before) = (store_name(&server), records_at(&server.url(), 0));
    let mut store = Redis::open(&server.url()).unwrap();
    server.call_as_admin(&["SAVE"]);
    server.kill();
    assert_error(claim(&mut store), ErrorKind::LeaseUnavailable);
    assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    server.launch();
    assert_eq!(records_at(&server.url(), 0), before, "expected the snapshot");
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    let second = store_name(&server);
    server.kill();
    std::fs::remove_file(server.folder().join("dump.rdb")).unwrap();
    server.launch();
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    let third = store_name(&server);
    assert!(first != second && second != third && first != third, "{first} {second} {third}");
    for name in [first, second, third] {
        let parts: Vec<_> = name.split(':').collect();
        assert!(matches!(&*parts, ["volatile", "redis", run, id] if run.len() + id.len() == 80));
    }
}

/// If the snapshot contains a holder's record, the holder renews its grant on the restarted server.
#[test]
#[ignore = "half a minute; `cargo xtask leases` runs it"]
fn a_living_holder_renews_after_a_restart() {
    let Some(program) = program() else { return };
    let mut server = start_after_wait(&program);
    let options = Options::new("orders", Shape::sno(0..=99).unwrap()).unwrap();
    let options = options.renew_ms(1000).unwrap();
    let ids = sno::Generator::with(&server.url(), options, Duration::from_secs(9)).unwrap();
    let end = ids.lease().end().unwrap();
    server.call_as_admin(&["SAVE"]);
    server.kill();
    server.launch();
    let began = Instant::now();
    while ids.lease().end().unwrap() <= end + 1000 || !is_settled(&server) {
        assert!(began.elapsed() < Duration::from_secs(120), "expected a renewal after {end}");
        std::thread::sleep(Duration::from_millis(100));
    }
    ids.generate(0).unwrap();
    ids.close();
}

/// Returns whether the holder has written the server's new name into the namespace's record.
fn is_settled(server: &RedisServer) -> bool {
    records_at(&server.url(), 0).0.store == store_name(server)
}

#[test]
fn a_promoted_replica_without_a_backlog_is_another_store() {
    let Some(program) = program() else { return };
    // A replica connects over TCP.
    let port = free_port();
    let primary =
        start_with_options_after_wait(&program, &["--bind", "127.0.0.1", "--port", &port]);
    let (replica, name) = (start(&program), store_name(&primary));
    replica.call_as_admin(&["REPLICAOF", "127.0.0.1", &port]);
    wait_until(|| replica.info_field("master_link_status") == "up");
    for (server, fact) in [(&primary, "connected_slaves=1"), (&replica, "role=slave")] {
        let error = list_error(&server.url());
        assert_eq!(error.kind(), ErrorKind::StoreNotDurable, "{error}");
        assert!(error.to_string().contains(fact) && !error.is_permanent(), "{error}");
    }
    replica.call_as_admin(&["REPLICAOF", "NO", "ONE"]);
    wait_until(|| primary.info_field("connected_slaves") == "0");
    for server in [&primary, &replica] {
        let error = list_error(&server.url());
        assert!(error.to_string().contains("repl_backlog_active=1"), "{error}");
        server.call_as_admin(&["CONFIG", "SET", "repl-backlog-ttl", "1"]);
        wait_until(|| server.info_field("repl_backlog_active") == "0");
        assert_ne!(store_name(server), name);
        assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    }
    assert_ne!(store_name(&primary), store_name(&replica));
}

fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

#[track_caller]
fn wait_until(is_done: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_done() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn evicting_servers_and_clusters_are_rejected() {
    let Some(program) = program() else { return };
    let server = start(&program);
    for (policy, is_good) in [("allkeys-lru", false), ("volatile-lru", true), ("noeviction", true)]
    {
        server.call_as_admin(&["CONFIG", "SET", "maxmemory-policy", policy]);
        let listed = send(&mut *open(&server.url()).unwrap(), Operation::List);
        assert_eq!(listed.is_ok(), is_good, "{policy}");
        if let Err(error) = listed {
            let expected = "maxmemory_policy=allkeys-lru, expected noeviction";
            assert!(error.to_string().contains(expected) && error.is_permanent(), "{error}");
        }
    }
    let cluster =
        RedisServer::start(&program, &["--cluster-enabled", "yes", "--port", &free_port()]);
    let error = list_error(&cluster.url());
    assert_eq!(error.kind(), ErrorKind::StoreNotDurable, "{error}");
    assert!(error.is_permanent(), "{error}");
}

/// The script reads what other servers report, here from a replaced `INFO` with the properties of the platforms.
#[test]
fn servers_of_other_platforms_are_recognized() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let request = Request { number: 1, namespace: NAMESPACE.into(), operation: Operation::List };
    for (info, expected) in [
        ("redis_mode:cluster\nos:Amazon ElastiCache", "only a single node without replicas"),
        ("redis_mode:cluster\nos:Amazon MemoryDB", "Amazon MemoryDB cannot be a store"),
        ("redis_mode:standalone\nupstash_version:1.10.5", "Upstash cannot be a store"),
        ("redis_mode:standalone\ndragonfly_version:df-v1.40.1", "Dragonfly cannot be a store"),
        ("server_mode:standalone\nrole:slave", "role=slave, expected master"),
    ] {
        let mut steps = Steps::new(Engine::Redis, &request, Random(1));
        let Ok(Step::Run(mut statements)) = steps.next(Outcome::default()) else { panic!() };
        let info =
            format!("local redis = {{call = function() return [[# Server\n{info}\n]] end}}\n");
        statements[0].text.insert_str(0, &info);
        let answered = statements.iter().map(|it| server.run(it)).collect();
        let error = steps.next(answered).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreNotDurable, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// The error for a missing permission contains the command that an operator must run, and running this command is
/// sufficient.
#[test]
fn a_user_with_the_documented_rights_suffices() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    let words: Vec<_> = USER_ACL.split_whitespace().collect();
    let url = server.url().replace("redis:///0", "redis://orders:PASSWORD@/0");
    let error = assert_error(claim_at(&url), ErrorKind::LeaseUnavailable);
    assert!(error.to_string().contains("the server rejects the connection: WRONGPASS"), "{error}");
    assert!(error.is_permanent(), "{error}");
    assert_eq!(server.call_as_admin(&words), ["OK"]);
    claim_at(&url).unwrap();
    claim_at(&url.replace("/0?", "/2?")).unwrap_err();
    conformance::check(&mut Redis::open(&url.replace("/0?", "/3?")).unwrap());
    for missing in ["-eval", "-info", "resetkeys"] {
        server.call_as_admin(&["ACL", "SETUSER", "orders", missing]);
        let error = assert_error(claim_at(&url), ErrorKind::LeaseUnavailable);
        assert!(error.to_string().contains("the user lacks a right: "), "{missing}: {error}");
        assert!(error.to_string().contains(USER_ACL.trim()) && error.is_permanent(), "{error}");
        server.call_as_admin(&words);
    }
    server.call_as_admin(&["CONFIG", "SET", "requirepass", "sesame"]);
    let error = assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
    // In every version except Redis 6, the server checks the script's length before it looks up the command, so the error
    // may differ.
    let is_named = ["unauthenticated", "NOAUTH"].iter().any(|it| error.to_string().contains(it));
    assert!(is_named && error.is_permanent(), "{error}");
    let error = assert_error(
        check(Some(&format!("{}&namespace=orders", server.url()))),
        ErrorKind::LeaseUnavailable,
    );
    assert!(error.to_string().contains("NOAUTH") && error.is_permanent(), "{error}");
    claim_at(&server.url().replace("redis:///0", "redis://:sesame@/0")).unwrap();
}

/// Returns the names of the commands that the documented rights include.
fn granted_commands() -> BTreeSet<String> {
    let words = USER_ACL.split_whitespace().filter_map(|word| word.strip_prefix('+'));
    words.map(str::to_owned).collect()
}

#[test]
fn every_documented_right_is_required() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let url = server.create_user().replace("/0?", "/1?");
    let passes = || {
        server.call_as_admin(&["FLUSHALL"]);
        let suite = || conformance::check(&mut Redis::open(&url).unwrap());
        std::panic::catch_unwind(AssertUnwindSafe(suite)).is_ok()
    };
    assert!(passes());
    for name in granted_commands() {
        server.call_as_admin(&["ACL", "SETUSER", "orders", &format!("-{name}")]);
        assert!(!passes(), "{name}");
        server.call_as_admin(&["ACL", "SETUSER", "orders", &format!("+{name}")]);
    }
}

/// The commands for authenticating, changing the protocol and closing the connection are excluded, because every user may
/// run them.
#[test]
fn the_documented_rights_permit_no_other_command_and_no_other_key() {
    let Some(program) = program() else { return };
    let server = start(&program);
    server.create_user();
    let as_user = |words: &[&str]| {
        let login = ["AUTH", "orders", "PASSWORD"];
        call_server(&server.socket(), &[&login, words]).unwrap()
    };
    let is_permitted = |name: &str| {
        let facts = server.call_as_admin(&["COMMAND", "INFO", name]);
        let arity = facts[1].parse::<isize>().unwrap().unsigned_abs();
        let mut words: Vec<_> = name.split('|').collect();
        words.resize(arity, "polyflake:any");
        // Redis 7's default configuration disables some commands for all users.
        let is_rejected =
            |error: String| ["NOPERM", "command not allowed"].iter().any(|it| error.contains(it));
        !as_user(&words).is_err_and(is_rejected)
    };
    let categories = server.call_as_admin(&["ACL", "CAT"]);
    let names =
        categories.iter().flat_map(|category| server.call_as_admin(&["ACL", "CAT", category]));
    let names: BTreeSet<_> = names.collect();
    assert!(names.len() > 200, "{names:?}");
    // A command that has subcommands can run only with a subcommand, such as `config|get`.
    let is_whole = |name: &str| !names.iter().any(|it| it.starts_with(&format!("{name}|")));
    let is_free = |name: &str| ["auth", "hello", "quit", "reset"].contains(&name);
    let others = names.iter().filter(|name| is_whole(name) && !is_free(name));
    let permitted: BTreeSet<_> = others.filter(|name| is_permitted(name)).cloned().collect();
    assert_eq!(permitted, granted_commands());
    let script = "return redis.call('HSET', 'orders:1', 'total', '0')";
    for words in [&["HGET", "orders:1", "total"][..], &["EVAL", script, "0"]] {
        let error = as_user(words).unwrap_err();
        assert!(error.contains("access") && error.contains("key"), "{error}");
    }
    assert_eq!(server.call_as_admin(&["EXISTS", "orders:1"]), ["0"]);
}

#[test]
fn server_errors_have_codes() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    let claim_error = |expected: &str| {
        let error = claim_at(&server.url()).unwrap_err();
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        (error.kind(), error.is_permanent())
    };
    let set = |name: &str, value: &str| server.call_as_admin(&["CONFIG", "SET", name, value]);
    let unavailable = (ErrorKind::LeaseUnavailable, false);
    set("maxmemory", "1");
    assert_eq!(claim_error("raise `maxmemory`"), unavailable);
    set("maxmemory", "0");
    // Redis 6 does not apply this setting to scripts.
    if !server.info_field("redis_version").starts_with("6.") {
        set("min-replicas-to-write", "1");
        assert_eq!(claim_error("set `min-replicas-to-write` to 0"), unavailable);
        set("min-replicas-to-write", "0");
    }
    claim_at(&server.url()).unwrap();
    let error = open(&server.url().replace("/0?", "/99?")).map(drop).unwrap_err();
    assert!(error.to_string().contains("DB index is out of range"), "{error}");
    assert!(error.is_permanent(), "{error}");
    let ends = "polyflake:ends:orders/sno";
    server.call_as_admin(&["DEL", ends]);
    assert_eq!(claim_error("expected"), (ErrorKind::StoreDamaged, false));
    server.call_as_admin(&["SET", ends, "a string"]);
    assert_eq!(claim_error("WRONGTYPE"), (ErrorKind::StoreDamaged, false));
    server.call_as_admin(&["REPLICAOF", "127.0.0.1", "1"]);
    server.call_as_admin(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
    assert_eq!(claim_error("a replica is no store"), (ErrorKind::StoreNotDurable, false));
}

/// In Redis 6, a command's error is embedded in the script's error.
#[test]
fn errors_in_scripts_have_codes() {
    let request = Request { number: 1, namespace: NAMESPACE.into(), operation: Operation::List };
    let read_only = "-READONLY You can't write against a read only replica.";
    for (found, expected, kind) in [
        ("WRONGTYPE Operation against a key", "the keys of leases", ErrorKind::StoreDamaged),
        (read_only, "a replica is no store", ErrorKind::StoreNotDurable),
        ("-OOM command not allowed", "raise `maxmemory`", ErrorKind::LeaseUnavailable),
        ("The user can't run this command", "lacks a right", ErrorKind::LeaseUnavailable),
    ] {
        let mut steps = Steps::new(Engine::Redis, &request, Random(1));
        steps.next(Outcome::default()).unwrap();
        let message = format!("ERR Error running script (call to f_12): @user_script:1: {found}");
        let error = steps.next(Outcome::failed(Some("ERR"), &message)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// While a script runs for a long time, other clients must wait, and the server reports that it is busy.
#[test]
fn a_busy_server_is_unavailable() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    server.call_as_admin(&["CONFIG", "SET", "lua-time-limit", "1"]);
    std::thread::scope(|scope| {
        let endless = scope.spawn(|| server.call_as_admin(&["EVAL", "while true do end", "0"]));
        wait_until(|| server.call_as_admin(&["PING"])[0].starts_with("BUSY"));
        let error = assert_error(claim_at(&server.url()), ErrorKind::LeaseUnavailable);
        assert!(error.to_string().contains("BUSY") && !error.is_permanent(), "{error}");
        server.call_as_admin(&["SCRIPT", "KILL"]);
        endless.join().unwrap();
    });
    claim_at(&server.url()).unwrap();
}

/// The server may have executed a request whose reply was interrupted, so the driver does not reuse the connection.
#[test]
fn an_interrupted_connection_is_not_reused() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    claim_at(&server.url()).unwrap();
    let mut store = Redis::open(&server.url()).unwrap();
    send(&mut store, Operation::List).unwrap();
    server.call_as_admin(&["CLIENT", "KILL", "TYPE", "normal"]);
    for expected in ["no answer from the server", "the last request got no answer"] {
        let claim_error = send(&mut store, Operation::List);
        let error = assert_error(claim_error, ErrorKind::LeaseUnavailable);
        assert!(error.to_string().contains(expected), "{error}");
    }
    claim_at(&server.url()).unwrap();
}

#[test]
fn a_paused_server_does_not_block_its_callers() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    server.pause(true);
    let began = Instant::now();
    let url = format!("{}&namespace=orders&lease_seconds=4", server.url());
    let error = assert_error(check(Some(&url)), ErrorKind::LeaseUnavailable);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?} {error}", began.elapsed());
    server.pause(false);
    assert_eq!(check(Some(&url)).unwrap(), format!("redis://{}/0", server.socket().display()));
}

/// An empty server grants no worker ID for six minutes, which the first request begins.
#[test]
fn a_check_reports_the_wait_of_an_empty_server() {
    let Some(program) = program() else { return };
    let server = RedisServer::start(&program, &[]);
    let url = format!("{}&namespace=orders", server.url());
    let error = assert_error(check(Some(&url)), ErrorKind::StoreChanged);
    assert!(error.to_string().contains("first requests a worker ID"), "{error}");
    assert_eq!(error.until(), None);
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
    let error = assert_error(check(Some(&url)), ErrorKind::StoreChanged);
    assert!(error.to_string().contains("the store may have lost grants, and orders/"), "{error}");
    assert!(error.until().is_some(), "{error}");
}

/// A manual restore does not change the store's name, so an operator must report it.
#[test]
fn an_operator_reports_a_restore_and_reserves_nothing() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    let grant = claim_at(&server.url()).unwrap();
    let mut operator = Operator::open(&server.url(), NAMESPACE).unwrap();
    assert_eq!(operator.records().unwrap()[0].granted_until, grant.end());
    let claim_error = operator.reserve(3, "an importer");
    assert_error(claim_error, ErrorKind::StoreNotDurable);
    operator.restored(None).unwrap();
    assert_error(claim_at(&server.url()), ErrorKind::StoreChanged);
}

/// A record that exists beyond the namespace's record count may contain a grant.
#[test]
fn an_existing_record_is_not_overwritten() {
    let Some(program) = program() else { return };
    let server = start_after_wait(&program);
    claim_at(&server.url()).unwrap();
    let (old, record) = records_at(&server.url(), 0);
    let mut store = Redis::open(&server.url()).unwrap();
    let new = Namespace { records: old.records + 1, version: old.version + 1, ..old.clone() };
    let grow = Operation::PutNamespace { old, new, first: 0, count: 1 };
    assert_eq!(send(&mut store, grow).unwrap().content, ReplyContent::Done);
    assert_eq!(records_at(&server.url(), 0).1, record);
}

/// The store compares a namespace's record as a whole. If the namespace does not exist, an `Open` request only proposes its
/// record. The next write begins the namespace's waiting time.
#[test]
fn beginning_a_namespace_with_a_shorter_wait_is_rejected() {
    let Some(program) = program() else { return };
    let server = start(&program);
    let mut store = Redis::open(&server.url()).unwrap();
    let old = Namespace {
        name: NAMESPACE.into(),
        shape: Shape::sno(0..=99).unwrap().to_json(),
        incarnation: Random(1),
        store: String::new(),
        records: 0,
        longest_ms: 5 * MINUTE_MS,
        quiet_until: 0,
        previous_store: String::new(),
        previous_quiet_until: 0,
        version: 1,
    };
    let old = send(&mut store, Operation::Open(old)).unwrap().namespace.unwrap();
    for (wait, expected) in
        [(0, ReplyContent::Differs(None)), (6 * MINUTE_MS + 9000, ReplyContent::Done)]
    {
        let new = Namespace { quiet_until: now_ms() + wait, version: 2, ..old.clone() };
        let begin = Operation::PutNamespace { old: old.clone(), new, first: 0, count: 1 };
        assert_eq!(send(&mut store, begin).unwrap().content, expected, "{wait}");
    }
}
