//! Tests the operator's actions while keepers use the same store, and tests capacity planning for a fleet.
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod host;

use host::{HOUR_MS, KeeperHost, START_MS, holder, options};
use polyflake_lease::{
    Error, ErrorKind, Fleet, Memory, Operator, Options, Plan, Result, Shape,
    protocol::{Operation, Random, Record, Reply, ReplyContent, Request, Store},
};

#[expect(clippy::unnecessary_wraps, reason = "as operators call it")]
fn draw_random() -> Result<Random> {
    Ok(Random(fastrand::u128(1..)))
}

fn operator<S: Store>(store: S) -> Operator<S, fn() -> Result<Random>> {
    Operator::new(store, "orders/sno", draw_random as fn() -> Result<Random>).unwrap()
}

#[track_caller]
fn assert_error_kind<V: std::fmt::Debug>(result: Result<V>, kind: ErrorKind) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    error
}

#[test]
fn an_evicted_holder_keeps_its_grant_until_its_end() {
    let mut store = Memory::new(START_MS);
    let (mut first, grant) = holder(&mut store, options(1));
    let record = operator(&mut store).evict(0).unwrap();
    assert_eq!((record.start, record.granted_until), (grant.end(), grant.end()));
    first.advance(20 * 60_000);
    first.drive_until_idle(&mut store);
    assert_eq!(first.rejected[0].kind(), ErrorKind::LeaseLost, "{:?}", first.rejected);
    assert_eq!(first.keeper.end(), Some(grant.end()), "runs to its end");
    let mut second = KeeperHost::new(options(1));
    second.now = first.now;
    assert_eq!(second.drive_until_idle(&mut store), None);
    second.assert_error(ErrorKind::WorkerIdsExhausted);
    let next =
        second.drive_for(&mut store, 2 * HOUR_MS).expect("expected the worker ID after its end");
    assert!(next.start() >= grant.end());
}

#[test]
fn a_reserved_worker_id_is_never_granted_until_freed() {
    let mut store = Memory::new(START_MS);
    let (mut first, grant) = holder(&mut store, options(2));
    assert_eq!(grant.worker_ids(), 0..=0);
    let reserved = operator(&mut store).reserve(0, "retired").unwrap();
    assert_eq!((reserved.start, reserved.granted_until), (grant.end(), Record::RESERVED));
    assert_eq!(operator(&mut store).reserve(0, "again"), Ok(reserved.clone()));
    first.advance(20 * 60_000);
    let moved = first.drive_until_idle(&mut store).expect("expected another worker ID");
    first.assert_error(ErrorKind::LeaseLost);
    assert_eq!(moved.worker_ids(), 1..=1);
    let mut late = KeeperHost::new(options(2).required_worker_id(0).unwrap());
    late.advance(100 * 24 * HOUR_MS);
    assert_eq!(late.drive_until_idle(&mut store), None);
    late.assert_error(ErrorKind::WorkerIdsExhausted);
    let used_until = START_MS + 100 * 24 * HOUR_MS + 5;
    let freed = operator(&mut store).free(0, used_until).unwrap();
    assert_eq!(freed.granted_until, used_until + 3, "rounded up to a tick");
    let next = late.drive_for(&mut store, HOUR_MS).expect("expected the worker ID that was freed");
    assert!(next.start() >= used_until);
    assert_error_kind(operator(&mut store).free(0, 0), ErrorKind::OutOfRange);
}

/// A keeper cannot wait for the end of a reservation, because a reservation has no end.
#[test]
fn a_keeper_reports_that_its_worker_id_is_reserved() {
    let mut store = Memory::new(START_MS);
    let _holders = [holder(&mut store, options(2)), holder(&mut store, options(2))];
    for worker_id in 0..2 {
        operator(&mut store).reserve(worker_id, "retired").unwrap();
    }
    for (options, reason) in [
        (options(2).required_worker_id(0).unwrap(), "worker ID 0 is reserved by an operator"),
        (options(2), "all 2 worker IDs are reserved by an operator"),
    ] {
        let mut late = KeeperHost::new(options);
        assert_eq!(late.drive_until_idle(&mut store), None);
        let error = late.assert_error(ErrorKind::WorkerIdsExhausted);
        assert_eq!((&*error.to_string(), error.until()), (reason, None));
        assert!(error.is_permanent());
    }
}

#[test]
fn an_unused_worker_id_can_be_reserved() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(5)));
    let reserved = operator(&mut store).reserve(3, "a constant").unwrap();
    assert_eq!((reserved.start, &*reserved.holder), (START_MS, "a constant"));
    let worker_ids: Vec<_> =
        (0..3).map(|_| *holder(&mut store, options(5)).1.worker_ids().start()).collect();
    assert!(!worker_ids.contains(&3), "{worker_ids:?}");
    let status = operator(&mut store).status().unwrap();
    assert_eq!((status.granted, status.reserved, status.free), (4, 1, 0));
    assert_eq!((status.next_end, status.is_restored), (Some(START_MS + HOUR_MS), false));
    assert_eq!(status.shape, Shape::sno(0..=4).unwrap());
    let records = operator(&mut store).records().unwrap();
    assert_eq!(records.iter().map(|it| it.first).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

/// The store cannot detect that a dump was loaded into the same server, so an operator must report it.
#[test]
fn a_reported_backup_starts_a_quiet_time() {
    let mut store = Memory::new(START_MS);
    let (mut old, _) = holder(&mut store, options(10));
    let backup = store.clone();
    old.advance(30 * 60_000);
    old.drive_until_idle(&mut store);
    store = backup;
    store.set_now(START_MS + 30 * 60_000);
    let told = operator(&mut store).restored(None).unwrap();
    assert_eq!(told[0].quiet_until, START_MS + HOUR_MS + HOUR_MS + 60_000);
    let later = START_MS + 5 * HOUR_MS;
    let told = operator(&mut store).restored(Some(later)).unwrap();
    assert_eq!(told[0].quiet_until, later);
    let mut new = KeeperHost::new(options(10));
    new.now = old.now;
    assert_eq!(new.drive_until_idle(&mut store), None);
    assert_eq!(new.assert_error(ErrorKind::StoreChanged).until(), Some(later));
    old.advance(29 * 60_000);
    old.drive_until_idle(&mut store);
    old.assert_error(ErrorKind::StoreChanged);
    let grant = new.drive_for(&mut store, 5 * HOUR_MS).expect("expected a grant after that");
    assert!(grant.start() >= later);
    let nanoseconds = START_MS * 1_000_000;
    assert_error_kind(operator(&mut store).restored(Some(nanoseconds)), ErrorKind::OutOfRange);
}

/// In a planned failover, the old server has been shut down, and the new server has all writes that the old server
/// acknowledged.
#[test]
fn a_lossless_promotion_grants_immediately() {
    for is_met in [false, true] {
        let mut store = Memory::new(START_MS);
        let (mut old, _) = holder(&mut store, options(10));
        let [from, to] = fail_over(&mut store);
        let mut new = KeeperHost::new(options(10));
        if is_met {
            assert_eq!(new.drive_until_idle(&mut store), None);
            new.assert_error(ErrorKind::StoreChanged);
        }
        operator(&mut store).promoted(&from, &to).unwrap();
        operator(&mut store).promoted(&from, &to).expect("expected that it may be said twice");
        assert!(!operator(&mut store).status().unwrap().is_restored);
        let grant = KeeperHost::new(options(10))
            .drive_until_idle(&mut store)
            .expect("expected a grant at once");
        assert_ne!(grant.worker_ids(), 0..=0);
        old.advance(15 * 60_000);
        assert_eq!(old.drive_until_idle(&mut store), None);
        assert_eq!(old.keeper.end(), Some(START_MS + 15 * 60_000 + HOUR_MS));
    }
}

/// Replaces the store with a different one that contains all of its data. Returns the old and new names.
fn fail_over(store: &mut Memory) -> [String; 2] {
    let from = operator(&mut *store).status().unwrap().store;
    let backup = store.clone();
    store.restore(backup);
    [from, operator(&mut *store).status().unwrap().store]
}

/// A read from a primary can return a renewal that its replica never received. A backup of such a primary does not prove
/// that the holder kept the worker ID after the acknowledged end, because the promoted replica may have granted the worker
/// ID again.
#[test]
fn a_renewal_lost_by_a_promotion_is_not_continued_from_a_backup() {
    let mut store = Memory::new(START_MS);
    let (mut paused, grant) = holder(&mut store, options(1));
    let replica = store.clone();
    paused.advance(15 * 60_000);
    store.set_now(paused.now.wall_ms);
    paused.drive_with(|request| {
        let reply = store.answer(request);
        let lost = || Error::new(ErrorKind::LeaseUnavailable, "the reply is lost");
        if matches!(request.operation, Operation::Put { .. }) { Err(lost()) } else { reply }
    });
    let backup = store.clone();
    assert!(store.records("orders/sno")[0].granted_until > grant.end());
    let from = operator(&mut store).status().unwrap().store;
    store.restore(replica);
    let to = operator(&mut store).status().unwrap().store;
    operator(&mut store).promoted(&from, &to).unwrap();
    let mut next = KeeperHost::new(options(1));
    next.advance(HOUR_MS);
    let next = next.drive_until_idle(&mut store).expect("expected the worker ID after its end");
    assert_eq!(next.start(), grant.end());
    store.restore(backup);
    paused.advance(46 * 60_000);
    assert_eq!(paused.drive_until_idle(&mut store), None);
    assert_eq!(paused.keeper.end(), Some(grant.end()), "expected no later end");
    paused.assert_error(ErrorKind::StoreChanged);
}

/// A promotion ends only the quiet time that it started.
#[test]
fn a_promotion_ends_only_its_own_quiet_time() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(10)));
    let told = operator(&mut store).restored(Some(START_MS + 5 * HOUR_MS)).unwrap();
    let [from, to] = fail_over(&mut store);
    assert_eq!(
        KeeperHost::new(options(10)).drive_until_idle(&mut store),
        None,
        "notices the failover"
    );
    let told_later = operator(&mut store).promoted(&from, &to).unwrap();
    assert_eq!(told_later[0].quiet_until, told[0].quiet_until);
    assert_ne!(told_later[0].incarnation, told[0].incarnation);
    // Reporting the promotion again does not undo a later restore.
    operator(&mut store).restored(None).unwrap();
    let before = operator(&mut store).status().unwrap().namespace;
    let error =
        assert_error_kind(operator(&mut store).promoted(&from, &to), ErrorKind::StoreChanged);
    assert_eq!(error.until(), Some(before.quiet_until));
    let [_, third] = fail_over(&mut store);
    assert_eq!(
        KeeperHost::new(options(10)).drive_until_idle(&mut store),
        None,
        "notices the failover"
    );
    assert_error_kind(operator(&mut store).promoted(&from, &third), ErrorKind::StoreChanged);
    assert_error_kind(operator(&mut store).promoted(&from, &to), ErrorKind::StoreChanged);
    operator(&mut store).promoted(&to, &third).unwrap();
}

#[test]
fn promotions_require_the_same_postgresql_system_database_and_tables() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(10)));
    let name = |system, timeline, tables| format!("postgresql:{system}:{timeline:08X}:{tables}");
    let from = name(7, 10, "4:5");
    let branch = "4:5:de200bd42b49cc1814412c7e592dd6e9";
    for to in [
        name(8, 11, "4:5"),
        name(7, 11, "4:6"),
        name(7, 11, "3:5"),
        name(7, 11, branch),
        name(7, 10, "4:5"),
        name(7, 9, "4:5"),
        "postgresql:7:aurora:4:5".into(),
        "memory:1".into(),
    ] {
        assert_error_kind(operator(&mut store).promoted(&from, &to), ErrorKind::OutOfRange);
    }
    // These names could belong to a server and its promoted replica, but this store has a different name.
    let possible = operator(&mut store).promoted(&from, &name(7, 11, "4:5"));
    assert_error_kind(possible, ErrorKind::StoreChanged);
}

#[test]
fn mysql_promotions_require_another_server() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(10)));
    for (from, to, kind) in [
        ("mysql:u-1:5", "mysql:u-2:5", ErrorKind::StoreChanged),
        ("mysql:u-1:5", "mysql:u-2:9", ErrorKind::StoreChanged),
        ("mysql:u-1:5", "mysql:u-1:9", ErrorKind::OutOfRange),
        ("mariadb:1:5:8", "mariadb:2:5:8", ErrorKind::StoreChanged),
        ("mariadb:1:5:8", "mariadb:1:6:8", ErrorKind::OutOfRange),
        ("mariadb:1:5:8", "mariadb:1:5:9", ErrorKind::OutOfRange),
        ("mysql:u-1:5", "mariadb:2:5:8", ErrorKind::OutOfRange),
        ("mariadb:1:5:8", "mysql:u-2:5", ErrorKind::OutOfRange),
        ("mysql:u-1:5", "sqlite:1:2", ErrorKind::OutOfRange),
        ("sqlite:1:2", "mariadb:1:5:8", ErrorKind::OutOfRange),
    ] {
        assert_error_kind(operator(&mut store).promoted(from, to), kind);
    }
}

#[test]
fn a_reported_restore_applies_to_every_namespace() {
    let mut store = Memory::new(START_MS);
    assert_error_kind(operator(&mut store).restored(None), ErrorKind::OutOfRange);
    let other = Options::new("payments", Shape::sno(0..=3).unwrap()).unwrap();
    drop((holder(&mut store, options(10)), holder(&mut store, other.clone())));
    assert_eq!(operator(&mut store).namespaces().unwrap(), ["orders/sno", "payments/sno"]);
    let told = operator(&mut store).restored(None).unwrap();
    assert_eq!(told.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["orders/sno", "payments/sno"]);
    for options in [options(10), other] {
        let mut host = KeeperHost::new(options);
        assert_eq!(host.drive_until_idle(&mut store), None);
        host.assert_error(ErrorKind::StoreChanged);
    }
}

/// The worker ID remains granted up to the latest time that the dead holder's clock may have shown.
#[test]
fn a_dead_holders_worker_id_becomes_free_after_the_clock_error() {
    let mut store = Memory::new(START_MS);
    let (dead, grant) = holder(&mut store, options(1));
    let token = store.records("orders/sno")[0].token;
    store.set_now(START_MS + 10 * 60_000);
    assert_error_kind(operator(&mut store).dead(0, Random(1)), ErrorKind::LeaseLost);
    let freed = operator(&mut store).dead(0, token).unwrap();
    assert_eq!((freed.start, freed.granted_until), (grant.start(), START_MS + 11 * 60_000 + 4));
    assert_error_kind(operator(&mut store).dead(0, token), ErrorKind::LeaseLost);
    let mut next = KeeperHost::new(options(1));
    next.advance(10 * 60_000);
    assert_eq!(next.drive_until_idle(&mut store), None);
    let grant =
        next.drive_for(&mut store, 2 * 60_000).expect("expected the dead holder's worker ID");
    assert_eq!(grant.start(), freed.granted_until);
    // The operator's statement was false, because the first holder is alive. This holder loses the lease at its next
    // renewal.
    let mut living = dead;
    living.advance(15 * 60_000);
    living.drive_until_idle(&mut store);
    assert_eq!(living.rejected[0].kind(), ErrorKind::LeaseLost);
    // An operator's statement that a holder is dead never moves the end of the grant to a later time or to a time before
    // its start.
    let token = store.records("orders/sno")[0].token;
    store.set_now(grant.end() - 10);
    assert_eq!(operator(&mut store).dead(0, token).unwrap().granted_until, grant.end());
    let token = store.records("orders/sno")[0].token;
    store.set_now(START_MS - HOUR_MS);
    assert_eq!(operator(&mut store).dead(0, token).unwrap().granted_until, grant.start());
    assert_error_kind(operator(&mut store).dead(7, token), ErrorKind::OutOfRange);
}

#[test]
fn invalid_operations_are_rejected_without_changes() {
    let mut store = Memory::new(START_MS);
    let error = assert_error_kind(operator(&mut store).status(), ErrorKind::OutOfRange);
    assert_eq!(
        error.to_string(),
        "expected a namespace in the store, found none with the name orders/sno"
    );
    drop(holder(&mut store, options(3)));
    let before = store.records("orders/sno");
    let mut it = operator(&mut store);
    assert_error_kind(it.evict(3), ErrorKind::OutOfRange);
    assert_error_kind(it.evict(2), ErrorKind::OutOfRange);
    assert_error_kind(it.reserve(u64::MAX, ""), ErrorKind::OutOfRange);
    assert_error_kind(it.reserve(0, "a\nb"), ErrorKind::OutOfRange);
    assert_error_kind(it.reserve(0, &"x".repeat(201)), ErrorKind::OutOfRange);
    assert_error_kind(it.free(0, START_MS), ErrorKind::OutOfRange);
    assert_error_kind(it.free(0, u64::MAX), ErrorKind::OutOfRange);
    assert_eq!(store.records("orders/sno"), before);
    assert!(Operator::new(Memory::new(START_MS), "a b", draw_random).is_err());
    let backup = store.clone();
    store.restore(backup);
    assert!(operator(&mut store).status().unwrap().is_restored);
    assert_error_kind(operator(&mut store).evict(0), ErrorKind::StoreChanged);
    operator(&mut store).restored(None).unwrap();
    assert!(!operator(&mut store).status().unwrap().is_restored);
    store.lose("orders/sno", 0).expect("expected a record");
    assert_error_kind(operator(&mut store).evict(0), ErrorKind::StoreDamaged);
    assert_error_kind(operator(&mut store).restored(None), ErrorKind::StoreDamaged);
}

/// A store in which another process changes each record just before it is written.
struct ContendedStore(Memory);

impl Store for ContendedStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        if let Operation::Put { old, .. } = &request.operation {
            let there = self.0.records("orders/sno").into_iter().find(|it| it.first == old.first);
            let old = there.unwrap();
            let new = Record { version: old.version + 1, ..old.clone() };
            let operation = Operation::Put { old, new };
            assert_eq!(
                self.0.answer(&Request { operation, ..request.clone() })?.content,
                ReplyContent::Done
            );
        }
        self.0.answer(request)
    }
}

#[test]
fn updating_a_constantly_changing_record_returns_lease_unavailable() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(3)));
    assert_error_kind(operator(ContendedStore(store)).evict(0), ErrorKind::LeaseUnavailable);
}

#[test]
fn shapes_round_trip() {
    let layout = Shape::layout("{\"a\":\"\\\\\"}", (1, 1500), &["data", "center"], 0..=7);
    let shapes = [
        Shape::sno(3..=1026),
        Shape::randflake(0..=131_071, &[7; 16]),
        Shape::hotguid(0..=0),
        layout,
    ];
    for shape in shapes.map(Result::unwrap) {
        let text = shape.to_json();
        assert_eq!(Shape::from_json(&text), Ok(shape));
        for end in 0..text.len() {
            assert_error_kind(Shape::from_json(&text[..end]), ErrorKind::StoreDamaged);
        }
    }
    let text = Shape::sno(0..=9).unwrap().to_json();
    let damaged = [
        ("\"sno\"", "\"snow\""),
        ("[\"partition\"]", "[]"),
        ("\"last\":9", "\"last\":9007199254740991"),
        ("\"first\":0", "\"first\":10"),
        ("\"block\":1", "\"block\":3"),
        ("\"block\":1", "\"block\":2"),
        ("\"tick_us\":4000", "\"tick_us\":0"),
        ("\"tick_us\"", "\"secret\":1,\"tick_us\""),
    ];
    for (from, to) in damaged {
        assert!(text.contains(from), "{from}");
        assert_error_kind(Shape::from_json(&text.replace(from, to)), ErrorKind::StoreDamaged);
    }
    let newer = text.replace("\"format\":1", "\"format\":2");
    assert_error_kind(Shape::from_json(&newer), ErrorKind::SchemaTooNew);
}

fn plan(worker_ids: u64, lease_ms: u64, holders: u64, kills_per_hour: u64) -> Plan {
    let shape = Shape::hotguid(0..=worker_ids - 1).unwrap();
    Plan::new(&shape, lease_ms, Fleet { holders, kills_per_hour })
}

#[test]
fn a_plan_counts_the_holders_and_kills_of_one_lease_duration() {
    assert_eq!(plan(1000, HOUR_MS, 200, 40).needed, 240);
    assert_eq!(plan(1000, HOUR_MS / 2, 200, 41).needed, 221, "a part of a kill counts");
    assert_eq!(plan(1000, 24 * HOUR_MS, 200, 40).needed, 1160);
    assert!(plan(240, HOUR_MS, 200, 40).fits() && !plan(239, HOUR_MS, 200, 40).fits());
    assert_eq!(plan(240, 24 * HOUR_MS, 200, 40).longest_lease_ms, Some(HOUR_MS));
    assert_eq!(plan(200, HOUR_MS, 200, 40).longest_lease_ms, None);
    assert_eq!(plan(199, HOUR_MS, 200, 0).longest_lease_ms, None);
    assert_eq!(plan(200, HOUR_MS, 200, 0).longest_lease_ms, Some(366 * 24 * HOUR_MS));
    let large = plan(131_072, HOUR_MS, 100_000, 0);
    assert!((large.renewals_per_second - 111.1).abs() < 0.1, "{large:?}");
    let endless = plan(1, u64::MAX, u64::MAX, u64::MAX);
    assert!(!endless.fits() && endless.longest_lease_ms.is_none());
}
