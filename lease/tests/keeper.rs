//! Tests each step of a keeper: the requests that it sends, the way it handles replies, and the errors that it reports.
#![cfg(feature = "std")]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod host;

use std::sync::{Arc, Mutex};

use host::{HOUR_MS, KeeperHost, RandomSource, START_MS, holder, options};
use polyflake_lease::{
    Error, ErrorKind, Memory, Operator, Options, Result, Shape,
    protocol::{
        Action, Keeper, Operation, Random, Record, Reply, ReplyContent, Request, Store, conformance,
    },
};

#[test]
fn holders_have_distinct_worker_ids() {
    let mut store = Memory::new(START_MS);
    let hosts: Vec<_> = (0..3).map(|_| holder(&mut store, options(3))).collect();
    let mut worker_ids: Vec<_> =
        hosts.iter().map(|(_, grant)| *grant.worker_ids().start()).collect();
    worker_ids.sort_unstable();
    assert_eq!(worker_ids, [0, 1, 2]);
    let mut late = KeeperHost::new(options(3));
    assert_eq!(late.drive_until_idle(&mut store), None);
    let error = late.assert_error(ErrorKind::WorkerIdsExhausted);
    assert_eq!(error.until(), Some(START_MS + HOUR_MS));
    let said = "all 3 worker IDs are leased to other processes, the first until 20";
    assert!(error.to_string().starts_with(said), "{error}");
}

#[test]
fn a_grant_without_a_generator_is_released_and_retried() {
    let mut store = Memory::new(START_MS);
    let (mut host, grant) = holder(&mut store, options(1));
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let reason = "expected a generator, found none";
        host.keeper.not_begun(Error::new(ErrorKind::LeaseUnavailable, reason), host.now);
        assert_eq!((host.drive_until_idle(&mut store), host.keeper.worker_id()), (None, None));
        host.assert_error(ErrorKind::LeaseUnavailable);
        assert_eq!(
            store.records("orders/sno")[0].granted_until,
            store.records("orders/sno")[0].start
        );
        let Action::Wait(until) = host.keeper.poll(host.now) else { panic!("expected a pause") };
        pauses.push(until - host.now.elapsed_ms);
        host.advance(pauses[pauses.len() - 1]);
        host.drive_until_idle(&mut store).expect("expected a grant");
    }
    assert!(pauses[7] > 20 * pauses[0], "{pauses:?}");
    assert_eq!(grant.worker_ids(), 0..=0);
}

/// Even when all worker IDs are granted, a holder may release its worker ID long before its lease ends.
#[test]
fn a_released_worker_id_is_found_within_a_minute() {
    let mut store = Memory::new(START_MS);
    let (mut first, _) = holder(&mut store, options(1));
    let mut other = KeeperHost::new(options(1));
    assert_eq!(other.drive_until_idle(&mut store), None);
    other.assert_error(ErrorKind::WorkerIdsExhausted);
    first.keeper.close();
    first.drive_until_idle(&mut store);
    assert!(other.drive_for(&mut store, 61_000).is_some());
}

#[test]
fn a_closed_keeper_releases_its_worker_id_immediately() {
    let mut store = Memory::new(START_MS);
    let (mut host, grant) = holder(&mut store, options(1));
    assert!(grant.start() <= START_MS && grant.end() == START_MS + HOUR_MS);
    host.keeper.close();
    assert_eq!(host.keeper.poll(host.now), Action::Seal);
    host.keeper.sealed(Some(START_MS + 6), host.now);
    assert_eq!(host.drive_until_idle(&mut store), None);
    assert!(host.ended);
    assert_eq!(store.records("orders/sno")[0].granted_until, START_MS + 8, "rounded up to a tick");
    let mut next = KeeperHost::new(options(1));
    next.advance(8);
    let next =
        next.drive_until_idle(&mut store).expect("expected the worker ID that was given back");
    assert_eq!(next.start(), START_MS + 8);
}

#[test]
fn an_unused_generator_releases_its_whole_grant() {
    let mut store = Memory::new(START_MS);
    let (mut host, grant) = holder(&mut store, options(1));
    host.keeper.close();
    host.drive_until_idle(&mut store);
    assert_eq!(store.records("orders/sno")[0].granted_until, grant.start());
}

#[test]
fn a_forty_minute_store_outage_does_not_interrupt_a_lease() {
    let mut store = Memory::new(START_MS);
    for away_from in [0, 14 * 60_000, 16 * 60_000, 40 * 60_000, 50 * 60_000] {
        let (mut host, _) = holder(&mut store, options(100));
        for minute in 0..180 {
            let is_away = (away_from..away_from + 40 * 60_000).contains(&(minute * 60_000));
            store.set_now(START_MS + host.now.elapsed_ms);
            host.drive_with(
                |request| if is_away { unavailable_reply() } else { store.answer(request) },
            );
            assert!(host.keeper.end() > Some(host.now.wall_ms), "minute {minute}");
            host.advance(60_000);
        }
    }
}

#[test]
fn a_lost_reply_is_resolved_by_another_write() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1));
    let claim = host.first_claim(&mut store);
    let lost = store.answer(&claim).unwrap();
    assert_eq!(lost.content, ReplyContent::Done);
    host.advance(20_000);
    let read = host.next_request();
    assert_eq!(read.operation, Operation::Read { first: 0 });
    // The late reply has no effect.
    host.keeper.answered(claim.number, Ok(lost), host.now);
    assert_eq!(host.keeper.worker_id(), None);
    let reply = store.answer(&read);
    host.keeper.answered(read.number, reply, host.now);
    assert_eq!(host.keeper.worker_id(), None, "a replica may not have what a read shows");
    let proof = host.next_request();
    let (Operation::Put { new: first, .. }, Operation::Put { old, new }) =
        (&claim.operation, &proof.operation)
    else {
        panic!("expected two writes")
    };
    assert_eq!(old, first);
    assert!(new.version > old.version && Record { version: old.version, ..new.clone() } == *old);
    let reply = store.answer(&proof);
    host.keeper.answered(proof.number, reply, host.now);
    assert!(matches!(host.keeper.poll(host.now), Action::Begin(_) | Action::Rejected(_)));
    assert_eq!(host.keeper.worker_id(), Some(0));
}

/// Simulates a store whose replica is unavailable: reads show the writes, but no write is acknowledged.
fn answer_without_replica(store: &mut Memory) -> impl FnMut(&Request) -> Result<Reply> {
    |request| match (&request.operation, store.answer(request)?) {
        (Operation::Put { .. }, Reply { content: ReplyContent::Done, .. }) => unavailable_reply(),
        (_, reply) => Ok(reply),
    }
}

#[test]
fn unreplicated_writes_never_acquire_or_extend_a_grant() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1));
    for _ in 0..20 {
        assert_eq!(host.drive_with(answer_without_replica(&mut store)), None);
        assert_eq!(host.keeper.worker_id(), None);
        host.advance(60_000);
    }
    assert!(store.records("orders/sno")[0].version > 10 << 10, "each try writes");
    let grant = host.drive_for(&mut store, 5 * 60_000);
    let grant = grant.expect("expected a grant once a write is acknowledged");
    for _ in 0..30 {
        host.advance(2 * 60_000);
        store.set_now(host.now.wall_ms);
        assert_eq!(host.drive_with(answer_without_replica(&mut store)), None);
        assert_eq!(host.keeper.end(), Some(grant.end()));
    }
    assert!(store.records("orders/sno")[0].granted_until > grant.end());
    host.drive_for(&mut store, 10 * 60_000);
    assert!(host.keeper.end() > Some(grant.end()));
    assert!(host.rejected.iter().all(|it| it.kind() == ErrorKind::LeaseUnavailable));
}

/// The network delivers a write twice. When it is delivered again, the store already contains the record that it wrote.
#[test]
fn a_duplicated_write_is_resolved_by_another_write() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1));
    let mut twice = |request: &Request| {
        if let Operation::Put { .. } = request.operation {
            store.answer(request)?;
        }
        store.answer(request)
    };
    for _ in 0..20 {
        // None of the replies to the writes confirms the claim.
        assert_eq!((host.drive_with(&mut twice), host.keeper.worker_id()), (None, None));
        host.advance(1000);
    }
    assert!(host.drive_for(&mut store, 5 * 60_000).is_some());
}

/// Two renewals receive no reply, and the first renewal arrives after the second one was sent.
#[test]
fn a_late_own_renewal_is_not_mistaken_for_a_clone() {
    let mut store = Memory::new(START_MS);
    let (mut host, _) = holder(&mut store, options(1));
    host.advance(15 * 60_000);
    let mut sent = Vec::new();
    for _ in 0..40 {
        store.set_now(host.now.wall_ms);
        host.drive_with(|request| match request.operation {
            Operation::Put { .. } => {
                sent.push(request.clone());
                unavailable_reply()
            }
            _ => store.answer(request),
        });
        host.advance(60_000);
    }
    assert!(sent.len() > 1);
    assert_eq!(store.answer(&sent[0]).unwrap().content, ReplyContent::Done);
    let before = host.keeper.end();
    host.drive_for(&mut store, 10 * 60_000);
    assert!(host.keeper.end() > before, "{:?}", host.rejected);
    assert!(host.rejected.iter().all(|it| it.kind() == ErrorKind::LeaseUnavailable));
}

/// The clones have identical state, including the full contents of the claim, so they can be distinguished only after one
/// of them has written again.
#[test]
fn only_one_of_two_clones_wins_a_lost_claim() {
    let before = Memory::new(START_MS);
    let mut store = before.clone();
    let [mut one, mut twin] = [1, 2].map(|own: u128| {
        let has_parted = std::rc::Rc::new(std::cell::Cell::new(0));
        let draws = has_parted.clone();
        let draw = Box::new(move || Ok(Random(7 + (draws.get() << 64))));
        let mut host = KeeperHost::with_random_source(options(1), draw);
        store = before.clone();
        let claim = host.first_claim(&mut store);
        assert_eq!(store.answer(&claim).unwrap().content, ReplyContent::Done);
        host.keeper.answered(claim.number, unavailable_reply(), host.now);
        has_parted.set(own);
        host
    });
    assert!(one.drive_until_idle(&mut store).is_some());
    assert_eq!(twin.drive_until_idle(&mut store), None);
    assert_eq!(twin.keeper.worker_id(), None);
}

/// A claim that reaches the store after its claimant has abandoned it does not lead to a grant.
#[test]
fn a_missing_claim_is_abandoned() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1));
    let claim = host.first_claim(&mut store);
    host.advance(20_000);
    let read = host.next_request();
    let reply = store.answer(&read);
    host.keeper.answered(read.number, reply, host.now);
    let late = store.answer(&claim).unwrap();
    host.keeper.answered(claim.number, Ok(late), host.now);
    host.advance(100);
    assert_eq!(host.drive_until_idle(&mut store), None);
    assert_eq!(host.keeper.worker_id(), None);
    host.assert_error(ErrorKind::WorkerIdsExhausted);
}

/// Both holders claim the same worker ID, and both grants would have started at the same time.
#[test]
fn another_holders_grant_never_resolves_a_claim() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1));
    host.first_claim(&mut store);
    let mut other = KeeperHost::with_seed(options(1), 7);
    other.drive_until_idle(&mut store);
    assert_eq!(other.keeper.worker_id(), Some(0));
    host.advance(20_000);
    assert_eq!(host.drive_until_idle(&mut store), None);
    assert_eq!(host.keeper.worker_id(), None);
}

#[test]
fn a_required_worker_id_waits_without_writing() {
    let mut store = Memory::new(START_MS);
    let (_first, grant) = holder(&mut store, options(2).required_worker_id(1).unwrap());
    assert_eq!((grant.worker_ids(), grant.end()), (1..=1, START_MS + 60_000));
    let mut second = KeeperHost::new(options(2).required_worker_id(1).unwrap());
    let before = store.records("orders/sno");
    assert_eq!(second.drive_for(&mut store, 59_000), None);
    assert_eq!(store.records("orders/sno"), before);
    second.assert_error(ErrorKind::WorkerIdsExhausted);
    let grant = second.drive_for(&mut store, 10_000).expect("expected the worker ID after its end");
    assert_eq!((grant.worker_ids(), grant.start()), (1..=1, START_MS + 60_000));
}

#[test]
fn a_preferred_worker_id_falls_back_to_another() {
    let mut store = Memory::new(START_MS);
    let (_first, grant) = holder(&mut store, options(5).preferred_worker_id(3).unwrap());
    assert_eq!(grant.worker_ids(), 3..=3);
    let (_second, grant) = holder(&mut store, options(5).preferred_worker_id(3).unwrap());
    assert!(*grant.worker_ids().start() < 3);
}

#[test]
fn a_mismatched_shape_is_rejected() {
    let mut store = Memory::new(START_MS);
    let secret = |byte| Shape::randflake(0..=1, &[byte; 16]);
    let pairs = [
        (Shape::sno(0..=1), Shape::sno(0..=2)),
        (secret(1), secret(2)),
        (Shape::hotguid(0..=1), Shape::hotguid(1..=1)),
    ];
    for (first, other) in pairs {
        let options = |shape: Result<Shape>| Options::new("orders", shape.unwrap()).unwrap();
        let _holder = holder(&mut store, options(first));
        let mut host = KeeperHost::new(options(other));
        assert_eq!(host.drive_until_idle(&mut store), None);
        host.assert_error(ErrorKind::NamespaceMismatch);
    }
}

#[test]
fn excessive_clock_errors_are_rejected() {
    const DAY_MS: u64 = 24 * HOUR_MS;
    for skew in [61_000, DAY_MS, 3653 * DAY_MS] {
        for ahead in [true, false] {
            let mut store = Memory::new(START_MS);
            let mut host = KeeperHost::new(options(1));
            host.now.wall_ms = if ahead { START_MS + skew } else { START_MS - skew };
            assert_eq!(host.drive_until_idle(&mut store), None);
            host.assert_error(ErrorKind::ClockSkewed);
            host.now.wall_ms = START_MS + host.now.elapsed_ms;
            assert!(host.drive_for(&mut store, 60_000).is_some(), "usable afterwards");
        }
    }
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1));
    host.now.wall_ms = START_MS + 59_000;
    assert!(host.drive_until_idle(&mut store).is_some());
}

#[test]
fn a_restored_store_starts_a_quiet_time() {
    let mut store = Memory::new(START_MS);
    let (mut old, _) = holder(&mut store, options(10));
    let backup = store.clone();
    old.advance(20 * 60_000);
    old.drive_until_idle(&mut store);
    assert_eq!(old.keeper.end(), Some(START_MS + 20 * 60_000 + HOUR_MS));
    store.restore(backup);
    let mut new = KeeperHost::new(options(10));
    new.advance(20 * 60_000);
    assert_eq!(new.drive_until_idle(&mut store), None);
    let error = new.assert_error(ErrorKind::StoreChanged);
    assert_eq!(error.until(), Some(START_MS + HOUR_MS + HOUR_MS + 60_000));
    // The current time is now past the end recorded in the backup.
    old.advance(40 * 60_000);
    old.drive_until_idle(&mut store);
    old.assert_error(ErrorKind::StoreChanged);
    assert_eq!(old.keeper.end(), Some(START_MS + 20 * 60_000 + HOUR_MS), "runs to its end");
    let quiet_until = error.until().unwrap();
    new.advance(quiet_until - new.now.wall_ms - 1);
    assert_eq!(new.drive_until_idle(&mut store), None);
    new.advance(60_001);
    let grant = new.drive_until_idle(&mut store).expect("expected a grant after the quiet time");
    assert!(grant.start() >= quiet_until);
}

/// The slack lets a claimant skip its first wait, but does not let a grant start before the quiet time ends.
#[test]
fn the_first_grant_after_a_quiet_time_starts_at_its_end() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(10)));
    let backup = store.clone();
    store.restore(backup);
    let mut host = KeeperHost::new(options(10));
    assert_eq!(host.drive_until_idle(&mut store), None);
    let quiet_until = host.assert_error(ErrorKind::StoreChanged).until().unwrap();
    let mut next = KeeperHost::new(options(10));
    next.advance(quiet_until - START_MS + 1000);
    let grant = next.drive_until_idle(&mut store).expect("expected a grant");
    assert_eq!(grant.start(), quiet_until);
}

/// A keeper that has read all records must still detect a restored store.
#[test]
fn a_waiting_keeper_detects_a_restored_store() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(1)));
    let mut host = KeeperHost::new(options(1));
    assert_eq!(host.drive_until_idle(&mut store), None);
    host.assert_error(ErrorKind::WorkerIdsExhausted);
    let backup = store.clone();
    store.restore(backup);
    host.advance(10 * 60_000);
    assert_eq!(host.drive_until_idle(&mut store), None);
    host.assert_error(ErrorKind::StoreChanged);
}

#[test]
fn a_missing_record_is_reported_as_damage() {
    let mut store = Memory::new(START_MS);
    let (mut first, _) = holder(&mut store, options(3));
    store.lose("orders/sno", 0).expect("expected a record");
    let mut second = KeeperHost::new(options(3));
    assert_eq!(second.drive_until_idle(&mut store), None);
    second.assert_error(ErrorKind::StoreDamaged);
    first.advance(20 * 60_000);
    first.drive_until_idle(&mut store);
    first.assert_error(ErrorKind::StoreDamaged);
}

/// A keeper must not panic, whatever the store replies.
#[test]
fn manually_edited_rows_are_rejected() {
    let fresh = Record::fresh(0, 1, Random(1));
    let rows = [
        Record { version: 0, ..fresh.clone() },
        Record { version: Record::RESERVED, ..fresh.clone() },
        Record { count: 2, ..fresh.clone() },
        Record { first: 9, ..fresh.clone() },
        Record { start: 5, ..fresh.clone() },
        Record { granted_until: u64::MAX, ..fresh.clone() },
        Record { holder: "a\nb".into(), ..fresh.clone() },
    ];
    for row in rows {
        let mut store = Memory::new(START_MS);
        let mut host = KeeperHost::new(options(1));
        for _ in 0..10 {
            store.set_now(host.now.wall_ms);
            let grant = host.drive_with(|request| {
                let mut reply = store.answer(request)?;
                if let ReplyContent::Records(records) = &mut reply.content {
                    *records = vec![row.clone()];
                }
                Ok(reply)
            });
            assert_eq!(grant, None, "{row:?}");
            host.advance(60_000);
        }
        host.assert_error(ErrorKind::StoreDamaged);
    }
}

#[test]
fn a_store_at_the_maximum_time_is_rejected() {
    let mut store = Memory::new(Record::RESERVED);
    let mut host = KeeperHost::new(options(1));
    let request = host.next_request();
    let reply = store.answer(&request);
    host.keeper.answered(request.number, reply, host.now);
    assert_eq!(host.drive_until_idle(&mut Memory::new(START_MS)), None);
    host.assert_error(ErrorKind::StoreDamaged);
}

#[test]
fn no_claim_is_sent_without_entropy() {
    let draw: RandomSource =
        Box::new(|| Err(Error::new(ErrorKind::LeaseUnavailable, "no entropy")));
    let mut host = KeeperHost::new(options(1));
    host.keeper = Keeper::new(options(1), draw);
    assert_eq!(host.drive_until_idle(&mut Memory::new(START_MS)), None);
    host.assert_error(ErrorKind::LeaseUnavailable);
    assert!(host.asked.is_empty());
}

#[test]
fn out_of_range_options_are_rejected() {
    for name in ["", "-a", "a b", "/a", "\u{e9}", &"a".repeat(61)] {
        assert!(Options::new(name, Shape::sno(0..=1).unwrap()).is_err(), "{name}");
    }
    for lease_ms in [0, 1, 499, u64::MAX, 366 * 24 * HOUR_MS + 1] {
        assert!(options(1).lease_ms(lease_ms).is_err(), "{lease_ms}");
    }
    let hotguid = Options::new("a", Shape::hotguid(0..=1).unwrap()).unwrap();
    assert!(hotguid.clone().lease_ms(1999).is_err() && hotguid.lease_ms(2000).is_ok());
    assert!(options(1).holder(&"x".repeat(201)).is_err());
    assert!(options(1).holder("a\0").is_err());
    assert!(
        options(2).preferred_worker_id(2).is_err() && options(2).required_worker_id(2).is_err()
    );
}

/// A store with one deliberate fault that the conformance suite must detect.
struct FaultyStore(Memory, StoreFault);

type StoreFault = fn(&mut Memory, &Request) -> Option<Reply>;

impl Store for FaultyStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let Self(store, fault) = self;
        fault(store, request).map_or_else(|| store.answer(request), Ok)
    }
}

#[test]
fn the_driver_suite_detects_faults() {
    let faults: [(&str, StoreFault); 4] = [
        ("a swap without conditions", |store, request| {
            let Operation::Put { new, .. } = &request.operation else { return None };
            let there = store.records(&request.namespace);
            let old = there.into_iter().find(|record| record.first == new.first)?;
            let ask = Operation::Put { old, new: new.clone() };
            store.answer(&Request { operation: ask, ..request.clone() }).ok()
        }),
        ("a swap that says done and does nothing", |store, request| {
            let Operation::Put { .. } = &request.operation else { return None };
            let reply = store.answer(&Request { operation: Operation::Survey, ..request.clone() });
            Some(Reply { content: ReplyContent::Done, ..reply.ok()? })
        }),
        ("a refusal without the record", |store, request| {
            let mut reply = store.answer(request).ok()?;
            if let ReplyContent::Differs(record) = &mut reply.content {
                *record = None;
            }
            Some(reply)
        }),
        ("reserved worker IDs that are counted", |store, request| {
            let mut reply = store.answer(request).ok()?;
            if let ReplyContent::Survey { latest_end, .. } = &mut reply.content {
                let records = store.records(&request.namespace);
                *latest_end = records.iter().map(|record| record.granted_until).max()?;
            }
            Some(reply)
        }),
    ];
    conformance::check(&mut FaultyStore(Memory::new(START_MS), |_, _| None));
    for (name, fault) in faults {
        let check = move || conformance::check(&mut FaultyStore(Memory::new(START_MS), fault));
        assert!(std::panic::catch_unwind(check).is_err(), "expected that the suite finds {name}");
    }
}

/// One of two connections to a store. It reads and writes in separate steps, so its compare-and-swap operations are not
/// atomic.
struct NonAtomicStore(Arc<Mutex<Memory>>);

impl Store for NonAtomicStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let Operation::Put { old, new } = &request.operation else {
            return self.0.lock().unwrap().answer(request);
        };
        let read = Request { operation: Operation::Read { first: old.first }, ..request.clone() };
        let there = |ask: &Request| self.0.lock().unwrap().answer(ask);
        let ReplyContent::Records(found) = there(&read)?.content else {
            panic!("expected records")
        };
        if found.first().is_some_and(|found| found.is_as_read(old)) {
            std::thread::sleep(std::time::Duration::from_millis(1));
            let ReplyContent::Records(found) = there(&read)?.content else {
                panic!("expected records")
            };
            let ask = Operation::Put { old: found[0].clone(), new: new.clone() };
            return there(&Request { operation: ask, ..request.clone() });
        }
        there(request)
    }
}

#[test]
fn the_driver_suite_detects_a_non_atomic_swap() {
    let memory = || Arc::new(Mutex::new(Memory::new(START_MS)));
    let store = memory();
    conformance::check(&mut NonAtomicStore(store.clone()));
    let check = || conformance::check_together(|| NonAtomicStore(store.clone()));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err());
    let store = memory();
    let most = std::cell::Cell::new(0);
    conformance::check_together(|| {
        most.set(most.get().max(Arc::strong_count(&store)));
        SharedMemoryStore(store.clone())
    });
    assert_eq!(most.get(), 2, "expected two connections, as many as a small pool has");
}

/// The suite's threads wait for each other, so a panic in one thread must not block the others forever.
#[test]
fn the_driver_suite_ends_if_one_connection_fails() {
    let store = Arc::new(Mutex::new(Memory::new(START_MS)));
    let opened = std::cell::Cell::new(0);
    let check = || {
        conformance::check_together(|| {
            opened.set(opened.get() + 1);
            FailingConnection(opened.get() == 2, SharedMemoryStore(store.clone()))
        });
    };
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_err();
    let found = found.downcast::<String>().unwrap();
    assert_eq!(*found, "expected an answer to a swap, found away");
}

struct FailingConnection(bool, SharedMemoryStore);

impl Store for FailingConnection {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        if self.0 && request.number == 7 {
            return unavailable_reply();
        }
        self.1.answer(request)
    }
}

struct SharedMemoryStore(Arc<Mutex<Memory>>);

impl Store for SharedMemoryStore {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        self.0.lock().unwrap().answer(request)
    }
}

fn unavailable_reply() -> Result<Reply> {
    Err(Error::new(ErrorKind::LeaseUnavailable, "away"))
}

/// Drives a keeper up to its next pause. The store replies only to requests for which `answers` returns `true`, and
/// otherwise is unavailable. Returns the number of requests.
fn drive_with_failures(
    host: &mut KeeperHost,
    store: &mut Memory,
    answers: fn(&Operation) -> bool,
) -> usize {
    let before = host.asked.len();
    store.set_now(START_MS + host.now.elapsed_ms);
    let mut answer = |request: &Request| {
        if answers(&request.operation) { store.answer(request) } else { unavailable_reply() }
    };
    while host.drive_with(&mut answer).is_some() {}
    host.asked.len() - before
}

/// Advances time from pause to pause, and returns the number of requests.
fn drive_with_failures_for(
    host: &mut KeeperHost,
    store: &mut Memory,
    ms: u64,
    answers: fn(&Operation) -> bool,
) -> usize {
    let (until, mut asked) = (host.now.elapsed_ms + ms, 0);
    while host.now.elapsed_ms < until {
        asked += drive_with_failures(host, store, answers);
        let Action::Wait(next) = host.keeper.poll(host.now) else { panic!("expected a pause") };
        host.advance(next.clamp(host.now.elapsed_ms + 1, until) - host.now.elapsed_ms);
    }
    asked
}

const FAIL_ALL_REQUESTS: fn(&Operation) -> bool = |_| false;
const ANSWER_READS: fn(&Operation) -> bool = |ask| !matches!(ask, Operation::Put { .. });

#[test]
fn a_holder_without_a_grant_limits_its_retries() {
    for answers in [FAIL_ALL_REQUESTS, ANSWER_READS] {
        let mut store = Memory::new(START_MS);
        let (mut host, _) = holder(&mut store, options(1));
        let asked = drive_with_failures_for(&mut host, &mut store, 3 * HOUR_MS, answers);
        assert!((60..900).contains(&asked), "{asked} requests in three hours");
        host.advance(60_000);
        let grant = host.drive_until_idle(&mut store);
        assert!(grant.is_some() || host.keeper.end() > Some(host.now.wall_ms), "usable afterwards");
    }
}

#[test]
fn retries_of_a_failing_claim_are_limited() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1));
    let asked = drive_with_failures_for(&mut host, &mut store, 60_000, ANSWER_READS);
    assert!((10..200).contains(&asked), "{asked} requests in a minute");
    host.advance(60_000);
    assert!(host.drive_until_idle(&mut store).is_some(), "usable afterwards");
}

/// The holder does not wait for the scheduled renewal, because the window may have ended in the meantime.
#[test]
fn a_holder_renews_soon_after_an_outage() {
    for answers in [FAIL_ALL_REQUESTS, ANSWER_READS] {
        for minutes in [30, 70] {
            let mut store = Memory::new(START_MS);
            let (mut host, _) = holder(&mut store, options(1));
            drive_with_failures_for(&mut host, &mut store, minutes * 60_000, answers);
            let Action::Wait(next) = host.keeper.poll(host.now) else { panic!("expected a pause") };
            host.advance(next - host.now.elapsed_ms);
            host.drive_until_idle(&mut store);
            let end = host.keeper.end().expect("expected a grant");
            assert!(end + 8 > host.now.wall_ms + HOUR_MS, "{minutes} minutes: {end}");
        }
    }
}

/// A keeper cannot distinguish a restored store from a promoted replica, and on a promoted replica, holders continue to
/// renew their leases.
#[test]
fn a_holder_renews_in_a_restored_store_before_its_recorded_end() {
    for (minute, is_renewed) in [(30, true), (58, true), (59, false), (70, false)] {
        let mut store = Memory::new(START_MS);
        let (mut host, _) = holder(&mut store, options(10));
        let backup = store.clone();
        host.advance(15 * 60_000);
        host.drive_until_idle(&mut store);
        let lost = host.keeper.end();
        assert_eq!(lost, Some(START_MS + 15 * 60_000 + HOUR_MS));
        store.restore(backup);
        host.advance((minute - 15) * 60_000);
        assert_eq!(host.drive_until_idle(&mut store), None);
        let end = if is_renewed { Some(host.now.wall_ms + HOUR_MS) } else { lost };
        assert_eq!((host.keeper.end(), host.keeper.worker_id()), (end, Some(0)), "minute {minute}");
        assert_eq!(host.rejected.is_empty(), is_renewed, "{:?}", host.rejected);
        let mut other = KeeperHost::new(options(10));
        other.now = host.now;
        assert_eq!(other.drive_until_idle(&mut store), None);
        let quiet_until = other.assert_error(ErrorKind::StoreChanged).until();
        assert!(quiet_until >= Some(host.now.wall_ms + HOUR_MS + 60_000), "{quiet_until:?}");
        // Later renewals work as usual.
        host.advance(15 * 60_000);
        host.drive_until_idle(&mut store);
        assert_eq!(host.keeper.end() > end, is_renewed, "minute {minute}");
    }
}

/// The clock error is a third of the namespace's longest lease, but at least 5 and at most 60 seconds.
#[test]
fn a_short_lease_survives_a_failover() {
    for (lease_ms, error) in [(8_000, 5_000), (40_000, 13_333), (80_000, 26_666), (HOUR_MS, 60_000)]
    {
        let short = || options(10).lease_ms(lease_ms).unwrap();
        let mut store = Memory::new(START_MS);
        let (mut host, _) = holder(&mut store, short());
        let backup = store.clone();
        store.restore(backup);
        // The holder notices the failover at its next renewal.
        host.advance(lease_ms / 4);
        assert_eq!(host.drive_until_idle(&mut store), None);
        assert!(host.keeper.end() > Some(host.now.wall_ms + lease_ms - 4), "{:?}", host.rejected);
        let mut other = KeeperHost::new(short());
        other.now = host.now;
        assert_eq!(other.drive_until_idle(&mut store), None);
        let quiet_until = other.assert_error(ErrorKind::StoreChanged).until();
        assert_eq!(quiet_until, Some(START_MS + lease_ms + lease_ms + error));
    }
}

/// The deleted namespace may have allowed leases that are longer than this holder's.
#[test]
fn a_recreated_namespace_keeps_its_longest_lease() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(10).lease_ms(2 * HOUR_MS).unwrap()));
    let (mut host, _) = holder(&mut store, options(10));
    let mut store = Memory::new(START_MS);
    host.advance(20 * 60_000);
    assert_eq!(host.drive_until_idle(&mut store), None);
    let quiet_until = host.assert_error(ErrorKind::StoreChanged).until();
    assert_eq!(quiet_until, Some(host.now.wall_ms + 2 * HOUR_MS + 60_000));
}

#[test]
fn quiet_times_do_not_add_up() {
    let mut store = Memory::new(START_MS);
    drop(holder(&mut store, options(10)));
    for _ in 0..6 {
        let backup = store.clone();
        store.restore(backup);
        let mut host = KeeperHost::new(options(10));
        assert_eq!(host.drive_until_idle(&mut store), None);
        let quiet_until = host.assert_error(ErrorKind::StoreChanged).until();
        assert_eq!(quiet_until, Some(START_MS + HOUR_MS + HOUR_MS + 60_000));
    }
}

/// Versions only increase. A version lower than the acknowledged one proves that the store has reverted to an earlier
/// state, even if its name is unchanged.
#[test]
fn an_earlier_record_starts_a_quiet_time() {
    for is_known in [true, false] {
        let mut store = Memory::new(START_MS);
        let (mut first, _) = holder(&mut store, options(1));
        first.keeper.close();
        first.drive_until_idle(&mut store);
        let mut backup = store.clone();
        drop(holder(&mut backup, options(1)));
        let (mut host, _) = holder(&mut store, options(1));
        if is_known {
            backup = store.clone();
        }
        host.advance(20 * 60_000);
        host.drive_until_idle(&mut store);
        host.advance(20 * 60_000);
        assert_eq!(host.drive_until_idle(&mut backup), None);
        let end =
            if is_known { host.now.wall_ms + HOUR_MS } else { START_MS + 20 * 60_000 + HOUR_MS };
        assert_eq!(host.keeper.end(), Some(end));
        if !is_known {
            host.assert_error(ErrorKind::StoreChanged);
        }
        let mut other = KeeperHost::new(options(1));
        other.now = host.now;
        assert_eq!(other.drive_until_idle(&mut backup), None);
        let quiet_until = other.assert_error(ErrorKind::StoreChanged).until();
        assert!(quiet_until >= Some(host.now.wall_ms + HOUR_MS + 60_000), "{quiet_until:?}");
    }
}

/// A second store answers at the address of the first one. Its quiet time covers the grants of the first store, whose
/// holders cannot all be reached, and one proof starts it.
#[test]
fn a_second_store_grants_nothing_while_grants_of_the_first_last() {
    for is_copy in [false, true] {
        let (mut first, mut second) = two_stores(is_copy);
        let mut hosts = [(); 2].map(|()| holder(&mut first, options(3)).0);
        let mut quiet_until = None;
        for (minutes, host) in [20, 25].into_iter().zip(&mut hosts) {
            let end = host.keeper.end();
            host.advance(minutes * 60_000);
            assert_eq!(host.drive_until_idle(&mut second), None);
            assert_eq!(host.keeper.end(), end, "the generator continues");
            let error = host.assert_error(ErrorKind::StoreChanged);
            assert!(error.to_string().contains("lacks grants"), "{error}");
            quiet_until = quiet_until.or(error.until());
            assert_eq!(error.until(), quiet_until, "the second proof extends nothing");
        }
        // The second store's own grant ends an hour after the start.
        let expected = START_MS + 2 * HOUR_MS + 60_000;
        assert_eq!(quiet_until, Some(expected));
        let mut operator = Operator::new(&mut second, "orders/sno", || Ok(Random(9))).unwrap();
        let namespace = operator.status().unwrap().namespace;
        assert_eq!(namespace.previous_store, namespace.store, "no promotion ends the wait");
        hosts[0].advance(HOUR_MS);
        let grant = hosts[0].drive_for(&mut second, 3 * HOUR_MS).expect("expected a grant");
        assert!(grant.start() >= expected);
    }
}

/// A holder that reaches its first store again knows that two stores answer, so it claims from neither. The first store
/// grants nothing either, until the grants of the second have ended.
#[test]
fn a_holder_of_two_stores_claims_from_neither() {
    let (mut first, mut second) = two_stores(false);
    let (mut host, _) = holder(&mut first, options(3));
    host.advance(20 * 60_000);
    assert_eq!(host.drive_until_idle(&mut second), None);
    host.drive_for(&mut second, 2 * HOUR_MS).expect("expected a grant");
    host.advance(20 * 60_000);
    assert_eq!(host.drive_for(&mut first, 4 * HOUR_MS), None);
    let error = host.assert_error(ErrorKind::StoreChanged);
    assert!(error.to_string().contains("two stores answer at this address"), "{error}");
    assert_eq!(host.drive_for(&mut second, HOUR_MS), None);
    let mut operator = Operator::new(&mut first, "orders/sno", || Ok(Random(9))).unwrap();
    assert!(operator.status().unwrap().namespace.quiet_until > START_MS + 3 * HOUR_MS);
    operator.restored(None).unwrap();
    assert_eq!(host.drive_for(&mut second, HOUR_MS), None, "the report concerns the first store");
    host.drive_for(&mut first, 3 * HOUR_MS).expect("expected a grant after the report");
}

/// Returns two stores, in each of which another process has claimed a worker ID. The second store is a new one with
/// another name, or a copy of the first one with its name.
fn two_stores(is_copy: bool) -> (Memory, Memory) {
    let (mut first, mut second) = (Memory::new(START_MS), Memory::new(START_MS));
    let (mut opened, _) = holder(&mut first, options(3));
    opened.keeper.close();
    opened.drive_until_idle(&mut first);
    second.restore(Memory::new(START_MS));
    if is_copy {
        second = first.clone();
    }
    drop(holder(&mut second, options(3)));
    (first, second)
}

/// Returns a keeper and its clones, as if a virtual machine had been cloned.
fn keeper_clones<const N: usize>(store: &mut Memory) -> [KeeperHost; N] {
    let before = store.clone();
    std::array::from_fn(|_| {
        let mut host = KeeperHost::with_seed(options(1), 7);
        *store = before.clone();
        host.drive_until_idle(store).expect("expected a grant");
        host
    })
}

#[test]
fn a_clone_never_adopts_another_clones_renewal() {
    let mut store = Memory::new(START_MS);
    let [mut one, mut twin, mut third] = keeper_clones(&mut store);
    one.advance(15 * 60_000);
    one.drive_until_idle(&mut store);
    assert_eq!(one.keeper.end(), Some(START_MS + 15 * 60_000 + HOUR_MS));
    twin.advance(15 * 60_000 + 400);
    assert_eq!(twin.drive_until_idle(&mut store), None);
    assert_eq!(twin.keeper.worker_id(), None, "its generator is sealed at once");
    assert!(twin.rejected.iter().any(|error| error.kind() == ErrorKind::LeaseLost));
    // A clone does not release the other clone's worker ID either.
    let before = store.records("orders/sno");
    for clone in [&mut twin, &mut third] {
        clone.keeper.close();
        clone.drive_until_idle(&mut store);
        assert!(clone.ended);
        assert_eq!(store.records("orders/sno"), before);
    }
}

/// Machines restored from the same image at the same time renew at the same moment and with the same end.
#[test]
fn clones_that_renew_simultaneously_are_distinguished() {
    let mut store = Memory::new(START_MS);
    let before = store.clone();
    let [mut one, mut twin] = [1, 2].map(|own: u128| {
        let has_parted = std::rc::Rc::new(std::cell::Cell::new(0));
        let draws = has_parted.clone();
        // `chance` uses the upper half of the random bits.
        let draw = Box::new(move || Ok(Random(7 + (draws.get() << 64))));
        store = before.clone();
        let mut host = KeeperHost::with_random_source(options(1), draw);
        host.drive_until_idle(&mut store).expect("expected a grant");
        has_parted.set(own);
        host
    });
    for host in [&mut one, &mut twin] {
        host.advance(15 * 60_000);
        host.drive_until_idle(&mut store);
    }
    assert_eq!(one.keeper.end(), Some(START_MS + 15 * 60_000 + HOUR_MS));
    assert_eq!(twin.keeper.worker_id(), None);
    assert!(twin.rejected.iter().any(|error| error.kind() == ErrorKind::LeaseLost));
}

/// The reply to a claim is lost, and a clone of the claimant renews the grant before the claimant reads the record.
#[test]
fn another_clones_renewal_never_resolves_a_claim() {
    let mut store = Memory::new(START_MS);
    let before = store.clone();
    let [mut one] = keeper_clones(&mut store);
    one.advance(15 * 60_000);
    one.drive_until_idle(&mut store);
    let (mut twin, mut other) = (KeeperHost::with_seed(options(1), 7), before);
    let claim = twin.first_claim(&mut other);
    other.answer(&claim).unwrap();
    twin.advance(15 * 60_000 + 400);
    assert_eq!(twin.drive_until_idle(&mut store), None);
    assert_eq!(twin.keeper.worker_id(), None);
}

#[test]
fn a_failed_release_is_retried_for_ten_seconds() {
    for failures in [3, usize::MAX] {
        let mut store = Memory::new(START_MS);
        let (mut host, grant) = holder(&mut store, options(1));
        let (began, mut tried) = (host.now.elapsed_ms, 0);
        host.close_and_drive_with(|request| {
            tried += 1;
            if tried > failures { store.answer(request) } else { unavailable_reply() }
        });
        let end = store.records("orders/sno")[0].granted_until;
        assert_eq!(end == grant.start(), failures == 3);
        assert!(host.now.elapsed_ms - began <= 11_000 && (4..200).contains(&tried), "{tried}");
    }
}

/// A renewal receives no reply before the holder closes. If the renewal reached the store, the release follows it. If the
/// stored record has the same version and end but belongs to another holder, the release must not apply.
#[test]
fn a_release_applies_only_to_its_own_grant() {
    for is_own in [true, false] {
        let mut store = Memory::new(START_MS);
        let (mut host, _) = holder(&mut store, options(1));
        host.advance(20 * 60_000);
        let Operation::Put { new: renewed, .. } = host.next_request().operation else {
            panic!("a renewal")
        };
        let token = if is_own { renewed.token } else { Random(99) };
        let found = Record { token, ..renewed };
        let mut releases = Vec::new();
        host.close_and_drive_with(|request| {
            let Operation::Put { old, .. } = &request.operation else { panic!("{request:?}") };
            releases.push(old.version);
            let found = match releases.len() {
                1 => ReplyContent::Differs(Some(found.clone())),
                _ => ReplyContent::Done,
            };
            let read = Request { operation: Operation::Read { first: 0 }, ..request.clone() };
            Ok(Reply { content: found, ..store.answer(&read)? })
        });
        assert_eq!(releases.len(), 1 + usize::from(is_own), "{is_own} {releases:?}");
    }
}

/// Other holders may still use their grants, because they have not yet detected that the store was deleted.
#[test]
fn a_deleted_store_starts_a_quiet_time() {
    let mut store = Memory::new(START_MS);
    let (mut host, _) = holder(&mut store, options(1));
    let mut store = Memory::new(START_MS);
    host.advance(20 * 60_000);
    assert_eq!(host.drive_until_idle(&mut store), None);
    assert_eq!(host.rejected[0].kind(), ErrorKind::StoreDamaged);
    let quiet_until = host.assert_error(ErrorKind::StoreChanged).until();
    assert_eq!(quiet_until, Some(host.now.wall_ms + HOUR_MS + 60_000));
}

/// Before the store grants a worker ID, it creates the records of all worker IDs up to that one.
#[test]
fn worker_ids_past_a_million_records_cannot_be_preferred() {
    let shape = || Shape::layout("{}", (0, 1000), &["node"], 0..=(1 << 22) - 1).unwrap();
    let options = || Options::new("orders", shape()).unwrap();
    options().preferred_worker_id((1 << 20) - 1).unwrap();
    for rejected in [options().preferred_worker_id(1 << 20), options().required_worker_id(1 << 20)]
    {
        assert_eq!(rejected.unwrap_err().kind(), ErrorKind::OutOfRange);
    }
}
