//! Tests store and holder clocks that differ by a minute, a day or ten years. The error must be clear, no worker ID may
//! stay blocked for years, and leases must work again once the clocks are correct. The module also tests records whose
//! times were edited manually.
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod host;

use host::{HOUR_MS, KeeperHost, START_MS, holder, options};
use polyflake_lease::{
    ErrorKind, Memory,
    protocol::{Action, Operation, Record, ReplyContent, Store},
};

const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * HOUR_MS;
const CLOCK_ERRORS: [u64; 3] = [MINUTE_MS + 1000, DAY_MS, 3653 * DAY_MS];

/// Drives a keeper for several minutes while the clocks of the store and the holder are wrong. Returns the end of the last
/// window that the keeper's generator received.
#[track_caller]
fn drive_with_wrong_clocks(
    host: &mut KeeperHost,
    store: &mut Memory,
    minutes: u64,
    store_off: i64,
    off: i64,
) -> u64 {
    for _ in 0..minutes {
        let true_time = START_MS + host.now.elapsed_ms;
        host.now.wall_ms = true_time.saturating_add_signed(off);
        loop {
            match host.keeper.poll(host.now) {
                Action::Send(request) => {
                    store.set_now(true_time.saturating_add_signed(store_off));
                    let reply = store.answer(&request);
                    host.keeper.answered(request.number, reply, host.now);
                }
                Action::Rejected(error) => host.rejected.push(error),
                Action::Wait(_) => break,
                _ => {}
            }
        }
        host.now.elapsed_ms += MINUTE_MS;
    }
    host.keeper.end().expect("expected a grant")
}

#[test]
fn a_holder_keeps_its_worker_id_after_a_clock_step() {
    for apart in CLOCK_ERRORS {
        for off in [apart.cast_signed(), -apart.cast_signed()] {
            let mut store = Memory::new(START_MS);
            let (mut host, grant) = holder(&mut store, options(3));
            let end = drive_with_wrong_clocks(&mut host, &mut store, 120, 0, off);
            host.assert_error(ErrorKind::ClockSkewed);
            assert!(
                end <= START_MS + 3 * HOUR_MS,
                "expected an end by the store's time, off by {off} ms"
            );
            assert_eq!(host.keeper.worker_id(), Some(*grant.worker_ids().start()));
            host.rejected.clear();
            drive_with_wrong_clocks(&mut host, &mut store, 20, 0, 0);
            host.rejected.clear();
            let end = drive_with_wrong_clocks(&mut host, &mut store, 60, 0, 0);
            assert_eq!(host.rejected, [], "expected none once the clock is right again");
            assert!(end > START_MS + 3 * HOUR_MS, "expected a renewed lease, off by {off} ms");
        }
    }
}

#[test]
fn a_store_clock_step_revokes_no_worker_ids() {
    for apart in CLOCK_ERRORS {
        for off in [apart.cast_signed(), -apart.cast_signed()] {
            let mut store = Memory::new(START_MS);
            let (mut host, _) = holder(&mut store, options(3));
            drive_with_wrong_clocks(&mut host, &mut store, 120, off, 0);
            host.assert_error(ErrorKind::ClockSkewed);
            let mut late = KeeperHost::new(options(3));
            late.now = host.now;
            late.now.wall_ms = START_MS + late.now.elapsed_ms;
            store.set_now(late.now.wall_ms.saturating_add_signed(off));
            let request = match late.keeper.poll(late.now) {
                Action::Send(request) => request,
                other => panic!("expected a request, found {other:?}"),
            };
            late.keeper.answered(request.number, store.answer(&request), late.now);
            assert!(matches!(late.keeper.poll(late.now), Action::Rejected(_)));
            let ends = store.records("orders/sno").into_iter().map(|record| record.granted_until);
            assert!(ends.max().unwrap() <= START_MS + 3 * HOUR_MS, "off by {off} ms");
            drive_with_wrong_clocks(&mut host, &mut store, 20, 0, 0);
            host.rejected.clear();
            let end = drive_with_wrong_clocks(&mut host, &mut store, 60, 0, 0);
            assert_eq!(host.rejected, [], "expected none once the clock is right again");
            assert!(end > START_MS + 3 * HOUR_MS, "expected a renewed lease, off by {off} ms");
        }
    }
}

/// A file store has no clock, so it uses the holder's clock. A claim made while that clock is ahead blocks the worker ID
/// until a time in the future, so the holder needs a different worker ID after the rollback.
#[test]
fn a_holder_switches_worker_ids_after_a_clock_rollback() {
    for apart in [DAY_MS, 3653 * DAY_MS] {
        let mut store = Memory::new(START_MS + apart);
        let mut host = KeeperHost::new(options(3));
        host.now.wall_ms = START_MS + apart;
        let grant = loop {
            match host.keeper.poll(host.now) {
                Action::Send(request) => {
                    store.set_now(START_MS + apart);
                    let reply = store.answer(&request);
                    host.keeper.answered(request.number, reply, host.now);
                }
                Action::Begin(grant) => break grant,
                other => panic!("{other:?}"),
            }
        };
        assert!(grant.start() > START_MS + apart - MINUTE_MS);
        let end = drive_with_wrong_clocks(&mut host, &mut store, 60, 0, 0);
        let error = host.assert_error(ErrorKind::ClockSkewed);
        assert_eq!(error.until(), Some(grant.start()));
        assert!(end < START_MS + 3 * HOUR_MS);
        assert_ne!(host.keeper.worker_id(), Some(*grant.worker_ids().start()));
    }
}

/// Times in a namespace's record or a survey may have been edited manually. The error must be clear, and the store must not
/// change.
#[test]
fn manually_edited_times_are_rejected() {
    type ReplyChange = fn(&mut polyflake_lease::protocol::Reply);
    let changes: [(&str, ReplyChange); 6] = [
        ("an end of 2^53", |reply| change_latest_end(reply, Record::RESERVED + 1)),
        ("an end of 2^64 - 1", |reply| change_latest_end(reply, u64::MAX)),
        ("an end just before the end of time", |reply| {
            change_latest_end(reply, Record::RESERVED - 1);
        }),
        ("a lease of 2^64 - 1", |reply| reply.namespace.as_mut().unwrap().longest_ms = u64::MAX),
        ("a quiet time of 2^64 - 1", |reply| {
            reply.namespace.as_mut().unwrap().quiet_until = u64::MAX;
        }),
        ("the last version", |reply| {
            reply.namespace.as_mut().unwrap().version = Record::RESERVED;
        }),
    ];
    for (name, change) in changes {
        let mut store = Memory::new(START_MS);
        drop(holder(&mut store, options(3)));
        let backup = store.clone();
        store.restore(backup);
        let before = store.clone();
        let mut host = KeeperHost::new(options(3));
        for _ in 0..50 {
            match host.keeper.poll(host.now) {
                Action::Send(request) => {
                    assert!(
                        !matches!(
                            request.operation,
                            Operation::Put { .. } | Operation::PutNamespace { .. }
                        ),
                        "{name}: expected that nothing is written, found {request:?}"
                    );
                    store.set_now(host.now.wall_ms);
                    let mut reply = store.answer(&request).unwrap();
                    change(&mut reply);
                    host.keeper.answered(request.number, Ok(reply), host.now);
                }
                Action::Rejected(error) => host.rejected.push(error),
                Action::Wait(_) => host.advance(MINUTE_MS),
                other => panic!("{name}: {other:?}"),
            }
        }
        host.assert_error(ErrorKind::StoreDamaged);
        assert_eq!(store.records("orders/sno"), before.records("orders/sno"), "{name}");
    }
}

fn change_latest_end(reply: &mut polyflake_lease::protocol::Reply, end: u64) {
    if let ReplyContent::Survey { latest_end, .. } = &mut reply.content {
        *latest_end = end;
    }
}
