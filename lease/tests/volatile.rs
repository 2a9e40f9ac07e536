//! Tests keepers with a volatile store that is emptied, loads an old snapshot, or receives duplicated messages.
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod host;

use host::{HOUR_MS, KeeperHost, START_MS, holder, options};
use polyflake_lease::{
    ErrorKind, Memory, Operator,
    protocol::{Namespace, Operation, Random, ReplyContent, Request, Store, conformance},
};

const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60_000;
/// The waiting time: five minutes plus the clock error, plus 15 seconds for the write that starts it.
const WAIT_MS: u64 = 6 * MINUTE_MS + 15 * SECOND_MS;

/// Creates a volatile store whose waiting time has passed, and a holder that has a grant from it.
fn store_after_wait() -> (Memory, KeeperHost) {
    let (mut store, mut host) = (Memory::volatile(START_MS), KeeperHost::new(options(4)));
    assert!(host.drive_until_idle(&mut store).is_none());
    host.advance(WAIT_MS);
    host.drive_until_idle(&mut store).expect("expected a grant");
    (store, host)
}

/// Creates a holder whose clocks start at the current time of `other`.
fn holder_with_clocks_of(other: &KeeperHost) -> KeeperHost {
    let mut host = KeeperHost::new(options(4));
    host.now = other.now;
    host
}

#[test]
fn the_store_passes_the_conformance_suite() {
    conformance::check(&mut Memory::volatile(START_MS));
    conformance::check(&mut Memory::new(START_MS));
}

#[test]
fn a_new_namespace_grants_after_six_minutes() {
    let (mut store, mut host) = (Memory::volatile(START_MS), KeeperHost::new(options(4)));
    assert!(host.drive_until_idle(&mut store).is_none());
    let error = host.assert_error(ErrorKind::StoreChanged);
    assert_eq!(error.until(), Some(START_MS + WAIT_MS));
    assert!(error.to_string().contains("six minutes after it was started, emptied"), "{error}");
    host.advance(WAIT_MS - 1);
    assert!(host.drive_until_idle(&mut store).is_none());
    host.advance(SECOND_MS);
    let grant = host.drive_until_idle(&mut store).expect("expected a grant");
    assert_eq!(grant.start(), START_MS + WAIT_MS, "no grant begins in the waiting time");
}

#[test]
fn a_lease_lasts_at_most_five_minutes() {
    let (mut store, mut host) = store_after_wait();
    let begun = START_MS + host.now.elapsed_ms;
    assert_eq!(host.keeper.end(), Some(begun + 5 * MINUTE_MS));
    host.advance(2 * MINUTE_MS);
    host.drive_until_idle(&mut store);
    assert_eq!(host.keeper.end(), Some(begun + 7 * MINUTE_MS));
    let (_, grant) = holder(&mut Memory::new(START_MS), options(4));
    assert_eq!(
        grant.end(),
        START_MS + HOUR_MS,
        "in a durable store, leases are as long as requested"
    );
}

#[test]
fn an_emptied_store_grants_nothing_for_six_minutes() {
    let (mut store, mut old) = store_after_wait();
    let emptied = old.now.elapsed_ms;
    store.clear();
    let mut new = holder_with_clocks_of(&old);
    assert!(new.drive_until_idle(&mut store).is_none());
    new.assert_error(ErrorKind::StoreChanged);
    // The holder finds no record at its next renewal, and its window ends after five minutes.
    old.advance(2 * MINUTE_MS);
    assert!(old.drive_until_idle(&mut store).is_none());
    assert_eq!(old.keeper.end(), Some(START_MS + emptied + 5 * MINUTE_MS));
    assert!(old.rejected.iter().any(|error| error.kind() == ErrorKind::StoreChanged));
    new.advance(WAIT_MS - 1);
    assert!(new.drive_until_idle(&mut store).is_none());
    new.advance(SECOND_MS);
    let grant = new.drive_until_idle(&mut store).expect("expected a grant");
    assert_eq!(grant.start(), START_MS + emptied + WAIT_MS);
}

/// The program requested an hour before any reply showed that the store is volatile.
#[test]
fn a_holder_recreates_an_emptied_namespace_with_the_same_wait() {
    let (mut store, mut host) = store_after_wait();
    store.clear();
    host.advance(2 * MINUTE_MS);
    assert!(host.drive_until_idle(&mut store).is_none());
    let until = host.assert_error(ErrorKind::StoreChanged).until();
    assert_eq!(until, Some(START_MS + host.now.elapsed_ms + WAIT_MS));
}

#[test]
fn a_living_holder_renews_in_a_restarted_store_that_has_its_record() {
    let (mut store, mut old) = store_after_wait();
    let mut new = holder_with_clocks_of(&old);
    store.restore(store.clone());
    assert!(new.drive_until_idle(&mut store).is_none());
    new.assert_error(ErrorKind::StoreChanged);
    old.advance(2 * MINUTE_MS);
    let end = old.keeper.end();
    assert!(old.drive_until_idle(&mut store).is_none());
    assert_eq!(old.keeper.end(), end.map(|end| end + 2 * MINUTE_MS));
}

/// The store restarts from a snapshot that was saved before the holder's last renewal. In that snapshot, the remaining time
/// of the grant is shorter than the clock error. After saving the snapshot, the store may have granted the worker ID to
/// another holder, and lost this grant in the restart.
#[test]
fn a_holder_does_not_renew_past_the_end_that_a_restarted_store_shows() {
    let (mut store, mut old) = store_after_wait();
    let snapshot = store.clone();
    old.advance(2 * MINUTE_MS);
    old.drive_until_idle(&mut store);
    old.advance(2 * MINUTE_MS + 1);
    store.restore(snapshot);
    let end = old.keeper.end();
    assert!(old.drive_until_idle(&mut store).is_none());
    assert_eq!(old.keeper.end(), end);
    old.assert_error(ErrorKind::StoreChanged);
}

/// The store loses all its data. An hour later, the network delivers a keeper's first messages a second time.
#[test]
fn a_repeated_message_does_not_restart_an_expired_wait() {
    let (mut store, mut host) = (Memory::volatile(START_MS), KeeperHost::new(options(4)));
    host.drive_until_idle(&mut store);
    let writes: Vec<_> = host.asked.iter().filter(|it| is_namespace_write(it)).cloned().collect();
    let begins = |it: &&Request| matches!(it.operation, Operation::PutNamespace { .. });
    assert_eq!(writes.iter().filter(begins).count(), 1, "the beginning of an incarnation");
    store.clear();
    store.set_now(START_MS + HOUR_MS);
    let replies: Vec<_> = writes.iter().map(|it| store.answer(it).unwrap().content).collect();
    assert!(replies.contains(&ReplyContent::Differs(None)), "{replies:?}");
    assert!(!replies.contains(&ReplyContent::Done), "{replies:?}");
    let mut new = KeeperHost::new(options(4));
    new.advance(HOUR_MS);
    assert!(new.drive_until_idle(&mut store).is_none());
    assert_eq!(
        new.assert_error(ErrorKind::StoreChanged).until(),
        Some(START_MS + HOUR_MS + WAIT_MS)
    );
}

fn is_namespace_write(request: &Request) -> bool {
    matches!(request.operation, Operation::Open(_) | Operation::PutNamespace { .. })
}

/// If a proposed namespace could grow, a write that only adds records would make its waiting time appear to have begun.
#[test]
fn a_proposed_namespace_does_not_grow() {
    let mut store = Memory::volatile(START_MS);
    let mut host = KeeperHost::new(options(4));
    let open = host.next_request();
    let old: Namespace = store.answer(&open).unwrap().namespace.unwrap();
    let new = Namespace { records: 1, version: 2, ..old.clone() };
    let operation = Operation::PutNamespace { old, new, first: 0, count: 1 };
    let reply = store.answer(&Request { operation, ..open }).unwrap();
    assert_eq!(reply.content, ReplyContent::Differs(None));
}

#[test]
fn a_volatile_store_keeps_no_reservation_and_has_no_promotion() {
    let (mut store, _) = store_after_wait();
    let mut operator = Operator::new(&mut store, "orders/sno", || Ok(Random(9))).unwrap();
    let error = operator.reserve(3, "an importer").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreNotDurable, "{error}");
    let error = operator.promoted("volatile:memory:1", "volatile:memory:2").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfRange, "{error}");
    let restored = operator.restored(None).unwrap();
    assert_eq!(restored[0].quiet_until, START_MS + 2 * WAIT_MS);
}
