//! Tests copies of a process image. A keeper notices that it was restored because its wall clock and monotonic clock have
//! diverged. Only one of several copies keeps the worker ID.
#![cfg(feature = "std")]
#![allow(unreachable_pub, reason = "modules of one test")]

#[allow(dead_code, reason = "other tests use the rest")]
mod host;

use std::{cell::Cell, rc::Rc};

use host::{HOUR_MS, KeeperHost, START_MS, holder, options};
use polyflake_lease::{
    Error, ErrorKind, Memory, Result,
    protocol::{Action, Grant, Moment, Random, Reply, ReplyContent, Store},
};

const MINUTE_MS: u64 = 60_000;

fn unavailable_reply() -> Result<Reply> {
    Err(Error::new(ErrorKind::LeaseUnavailable, "away"))
}

/// Moves the wall clock but not the monotonic clock, as happens when a virtual machine is restored or the system clock is
/// set.
fn move_wall_clock(host: &mut KeeperHost, ms: i64) {
    host.now.wall_ms = host.now.wall_ms.saturating_add_signed(ms);
}

/// Drives a keeper against a store whose clock shows the same time as the host's clock.
fn drive(host: &mut KeeperHost, store: &mut Memory) -> Option<Grant> {
    store.set_now(host.now.wall_ms);
    host.drive_with(|request| store.answer(request))
}

/// Returns the time until the keeper's next action.
fn next_wait_ms(host: &mut KeeperHost) -> u64 {
    match host.keeper.poll(host.now) {
        Action::Wait(until) => until - host.now.elapsed_ms,
        other => panic!("expected a pause, found {other:?}"),
    }
}

/// Drives a keeper for `ms` milliseconds, and advances the clocks to the time of each action. The store is always
/// available.
fn run_for(host: &mut KeeperHost, store: &mut Memory, ms: u64) {
    let until = host.now.elapsed_ms + ms;
    while host.now.elapsed_ms < until {
        drive(host, store);
        let next = next_wait_ms(host).min(until - host.now.elapsed_ms);
        host.advance(next);
    }
    drive(host, store);
}

/// Returns copies of one process. `image` runs in each copy with the same random numbers and the same replies, as if it had
/// run before the process was copied. After `image` returns, the copies use different random numbers.
fn copies<const N: usize>(
    store: &mut Memory,
    worker_ids: u64,
    mut image: impl FnMut(&mut KeeperHost, &mut Memory),
) -> [KeeperHost; N] {
    let before = store.clone();
    std::array::from_fn(|copy| {
        let (drawn, parted) = (Cell::new(1_u128 << 64), Rc::new(Cell::new(0)));
        let parts = parted.clone();
        let draw = move || {
            drawn.set(drawn.get() + (1 << 64) + 1 + parts.get());
            Ok(Random(drawn.get()))
        };
        let mut host = KeeperHost::with_random_source(options(worker_ids), Box::new(draw));
        *store = before.clone();
        image(&mut host, store);
        parted.set((1 + copy as u128) << 80);
        host
    })
}

/// Restores the copies and runs them at the same time. Each copy's clock is at least six minutes ahead of the time at which
/// the image was taken.
fn restore(hosts: &mut [KeeperHost], store: &mut Memory) {
    for (late, host) in hosts.iter_mut().enumerate() {
        move_wall_clock(host, 6 * 60_000 + 300 * late.cast_signed() as i64);
    }
    for _ in 0..200 {
        for host in &mut *hosts {
            drive(host, store);
            host.advance(50);
        }
    }
}

/// Asserts that one copy kept the worker ID, that the others acquired different ones, and that no copy released a worker
/// ID.
#[track_caller]
fn assert_copies_diverged(hosts: &[KeeperHost], store: &Memory) {
    let mut worker_ids: Vec<_> =
        hosts.iter().map(|host| host.keeper.worker_id().unwrap()).collect();
    worker_ids.sort_unstable();
    worker_ids.dedup();
    assert_eq!((worker_ids.len(), worker_ids[0]), (hosts.len(), 0), "{worker_ids:?}");
    let lost =
        |host: &&KeeperHost| host.rejected.iter().any(|it| it.kind() == ErrorKind::LeaseLost);
    let count = hosts.iter().filter(lost).count();
    assert!(count < hosts.len(), "{count}");
    for record in store.records("orders/sno").iter().filter(|it| worker_ids.contains(&it.first)) {
        assert!(record.granted_until >= START_MS + HOUR_MS, "{record:?}");
    }
}

#[test]
fn a_gap_is_renewed_within_a_second_and_the_generator_continues() {
    for ms in [-3_600_000, -1_001, 1_001, 5_000, 1_000_000] {
        let mut store = Memory::new(START_MS);
        let (mut host, _) = holder(&mut store, options(1));
        host.advance(2 * MINUTE_MS);
        drive(&mut host, &mut store);
        let version = store.records("orders/sno")[0].version;
        move_wall_clock(&mut host, ms);
        // The store's clock did not jump.
        let wait = next_wait_ms(&mut host);
        assert!(wait <= 1000, "{ms}: {wait}");
        assert_eq!(host.keeper.worker_id(), Some(0));
        host.advance(wait);
        host.drive_until_idle(&mut store);
        assert!(store.records("orders/sno")[0].version > version, "{ms}");
        assert_eq!(host.keeper.worker_id(), Some(0), "{ms}");
        assert!(next_wait_ms(&mut host) > 10_000, "{ms}: one renewal is enough");
    }
}

#[test]
fn a_clock_difference_of_one_second_is_not_a_gap() {
    for ms in [-1000, 1000] {
        let mut store = Memory::new(START_MS);
        let (mut host, _) = holder(&mut store, options(1));
        host.advance(2 * MINUTE_MS);
        move_wall_clock(&mut host, ms);
        let wait = next_wait_ms(&mut host);
        assert!(wait > 10 * MINUTE_MS, "{ms}: {wait}");
    }
}

/// If the clocks of a whole fleet jump together, the fleet's renewals must not reach the store at the same moment.
#[test]
fn renewals_after_a_gap_are_spread_over_a_second() {
    let mut store = Memory::new(START_MS);
    let mut waits: Vec<_> = (0..100_u64)
        .map(|_| {
            let (mut host, _) = holder(&mut store, options(100));
            host.advance(MINUTE_MS);
            move_wall_clock(&mut host, 5_000);
            next_wait_ms(&mut host)
        })
        .collect();
    waits.sort_unstable();
    assert!(waits[10] < 400 && waits[90] > 600 && waits[99] <= 1000, "{waits:?}");
}

#[test]
fn one_of_several_restored_copies_keeps_the_worker_id() {
    let mut store = Memory::new(START_MS);
    let mut hosts: [KeeperHost; 3] = copies(&mut store, 9, |host, store| {
        host.drive_until_idle(store).unwrap();
        host.advance(MINUTE_MS);
        host.drive_until_idle(store);
    });
    restore(&mut hosts, &mut store);
    assert_copies_diverged(&hosts, &store);
}

/// The image was taken after a claim or renewal was sent, and each copy receives the reply.
#[test]
fn a_reply_to_a_write_before_the_image_does_not_settle_a_gap() {
    for is_claim in [true, false] {
        let mut store = Memory::new(START_MS);
        let reply = Rc::new(Cell::new(None));
        let mut hosts: [KeeperHost; 3] = copies(&mut store, 9, |host, store| {
            if !is_claim {
                host.drive_until_idle(store).unwrap();
                host.advance(15 * MINUTE_MS);
                store.set_now(host.now.wall_ms);
            }
            let sent = host.first_claim(store);
            let done = store.answer(&sent).unwrap();
            assert_eq!(done.content, ReplyContent::Done);
            reply.set(Some((sent.number, done)));
        });
        let (number, done) = reply.take().unwrap();
        let ends: Vec<_> = hosts.iter().map(|host| host.keeper.end()).collect();
        for host in &mut hosts {
            move_wall_clock(host, 6 * 60_000);
            host.keeper.answered(number, Ok(done.clone()), host.now);
            host.advance(10);
            assert_eq!(host.keeper.end(), ends[0], "expected no grant and no extension");
        }
        restore(&mut hosts, &mut store);
        assert_copies_diverged(&hosts, &store);
    }
}

/// The image was taken after a claim or renewal was sent, and no copy receives the reply. Each copy then reads the record
/// that the write created.
#[test]
fn a_read_of_a_write_before_the_image_does_not_settle_a_gap() {
    for is_claim in [true, false] {
        let mut store = Memory::new(START_MS);
        let mut hosts: [KeeperHost; 3] = copies(&mut store, 9, |host, store| {
            if !is_claim {
                host.drive_until_idle(store).unwrap();
                host.advance(15 * MINUTE_MS);
                store.set_now(host.now.wall_ms);
            }
            let sent = host.first_claim(store);
            store.answer(&sent).unwrap();
            host.keeper.answered(sent.number, unavailable_reply(), host.now);
        });
        restore(&mut hosts, &mut store);
        assert_copies_diverged(&hosts, &store);
    }
}

/// The gap is caused by a wall clock that moves backward, so a renewal cannot move the grant end to a later time.
#[test]
fn a_write_that_keeps_the_grant_end_settles_a_gap() {
    let mut store = Memory::new(START_MS);
    let (mut host, _) = holder(&mut store, options(1));
    host.advance(20 * MINUTE_MS);
    host.drive_until_idle(&mut store);
    let before = store.records("orders/sno")[0].clone();
    host.advance(1);
    move_wall_clock(&mut host, -600_000);
    run_for(&mut host, &mut store, 1500);
    let after = store.records("orders/sno")[0].clone();
    assert!(after.version > before.version && after.granted_until == before.granted_until);
}

/// The original process, whose clocks show no gap, releases the worker ID, and a third process claims it.
#[test]
fn a_copy_seals_if_the_original_released_the_worker_id() {
    let mut store = Memory::new(START_MS);
    let [mut original, mut copy] = copies(&mut store, 1, |host, store| {
        host.drive_until_idle(store).unwrap();
    });
    original.advance(MINUTE_MS);
    original.keeper.close();
    assert_eq!(original.keeper.poll(original.now), Action::Seal);
    original.keeper.sealed(Some(original.now.wall_ms), original.now);
    drive(&mut original, &mut store);
    let mut other = KeeperHost::new(options(1));
    other.now = Moment { wall_ms: original.now.wall_ms + 10, ..original.now };
    assert!(drive(&mut other, &mut store).is_some());
    copy.now = Moment { wall_ms: other.now.wall_ms, ..copy.now };
    copy.advance(1000);
    drive(&mut copy, &mut store);
    copy.advance(1000);
    drive(&mut copy, &mut store);
    assert!(
        copy.rejected.iter().any(|it| it.kind() == ErrorKind::LeaseLost),
        "{:?}",
        copy.rejected
    );
    assert_eq!(copy.keeper.worker_id(), None);
}

/// Another copy may use the worker ID until the end of the grant that the copies share, so a release must not set the
/// recorded end to an earlier time.
#[test]
fn a_release_after_a_gap_keeps_the_shared_grant_end() {
    for (is_asked, is_settled) in [(false, false), (false, true), (true, true)] {
        let mut store = Memory::new(START_MS);
        let (mut host, grant) = holder(&mut store, options(1));
        let mut shared = grant.end();
        host.advance(MINUTE_MS);
        if is_asked {
            // Another copy may receive the reply to a renewal that this copy does not receive.
            host.advance(14 * MINUTE_MS);
            store.set_now(host.now.wall_ms);
            let renewal = host.first_claim(&mut store);
            store.answer(&renewal).unwrap();
            host.keeper.answered(renewal.number, unavailable_reply(), host.now);
            shared = store.records("orders/sno")[0].granted_until;
            assert!(shared > grant.end());
        }
        move_wall_clock(&mut host, 5_000);
        if is_settled {
            run_for(&mut host, &mut store, 2_000);
            assert!(host.keeper.end() > Some(shared));
        }
        host.close_and_drive_with(|request| store.answer(request));
        let end = store.records("orders/sno")[0].granted_until;
        assert_eq!(end, shared, "{is_asked} {is_settled}");
    }
}

/// The image was taken after the keeper had requested the seal, so the other copies' generators may not be sealed yet.
#[test]
fn a_keeper_with_a_gap_before_the_seal_does_not_release() {
    let mut store = Memory::new(START_MS);
    let (mut host, grant) = holder(&mut store, options(1));
    host.advance(MINUTE_MS);
    host.keeper.close();
    assert_eq!(host.keeper.poll(host.now), Action::Seal);
    let used = host.now.wall_ms;
    move_wall_clock(&mut host, 60_000);
    host.keeper.sealed(Some(used), host.now);
    drive(&mut host, &mut store);
    assert!(host.ended);
    assert_eq!(store.records("orders/sno")[0].granted_until, grant.end());
}

/// The image was taken after the release was sent. All copies are sealed, so the release takes effect whether or not a
/// reply arrives.
#[test]
fn a_gap_during_a_release_does_not_release_twice() {
    for is_answered in [true, false] {
        let mut store = Memory::new(START_MS);
        let mut used = 0;
        let mut hosts: [KeeperHost; 2] = copies(&mut store, 1, |host, store| {
            host.drive_until_idle(store).unwrap();
            host.advance(MINUTE_MS);
            used = host.now.wall_ms;
            host.keeper.close();
            assert_eq!(host.keeper.poll(host.now), Action::Seal);
            host.keeper.sealed(Some(used), host.now);
        });
        for host in &mut hosts {
            let Action::Send(release) = host.keeper.poll(host.now) else { panic!("no release") };
            let reply = store.answer(&release);
            move_wall_clock(host, 60_000);
            host.keeper.answered(
                release.number,
                if is_answered { reply } else { unavailable_reply() },
                host.now,
            );
            host.close_and_drive_with(|request| store.answer(request));
        }
        let record = store.records("orders/sno")[0].clone();
        assert!((used..used + 4).contains(&record.granted_until), "{record:?}");
        let mut next = KeeperHost::new(options(1));
        next.now = hosts[1].now;
        assert!(drive(&mut next, &mut store).is_some());
    }
}

/// A copy that closes immediately after its lease was lost does not release the worker ID, because another copy may still
/// use it.
#[test]
fn a_copy_that_finds_another_copys_renewal_does_not_release() {
    let mut store = Memory::new(START_MS);
    let [mut one, mut other] = copies(&mut store, 1, |host, store| {
        host.drive_until_idle(store).unwrap();
    });
    for host in [&mut one, &mut other] {
        move_wall_clock(host, 60_000);
    }
    run_for(&mut one, &mut store, 2000);
    let renewed = store.records("orders/sno")[0].clone();
    run_for(&mut other, &mut store, 2000);
    assert_eq!((one.keeper.worker_id(), other.keeper.worker_id()), (Some(0), None));
    other.keeper.close();
    drive(&mut other, &mut store);
    assert!(other.ended);
    assert_eq!(store.records("orders/sno")[0], renewed);
}

/// If clocks jump while the store is unavailable, no grant ends early. Each keeper retains its grant without sealing the
/// generator, and renews the grant as soon as the store is available again.
#[test]
fn clock_steps_during_an_outage_do_not_stop_a_fleet_earlier() {
    for ms in [-30 * 60_000, -2_000, 2_000, 10 * 60_000, 20 * 60_000] {
        let mut store = Memory::new(START_MS);
        let mut hosts: Vec<_> = (0..10).map(|_| holder(&mut store, options(100)).0).collect();
        for host in &mut hosts {
            let (worker_id, end) = (host.keeper.worker_id(), host.keeper.end());
            let mut asked = 0;
            for minute in 0..35 {
                host.drive_with(|_| {
                    asked += 1;
                    unavailable_reply()
                });
                assert_eq!((host.keeper.worker_id(), host.keeper.end()), (worker_id, end), "{ms}");
                if minute == 5 {
                    move_wall_clock(host, ms);
                    host.advance(1000);
                    host.drive_with(|_| unavailable_reply());
                }
                host.advance(MINUTE_MS);
            }
            assert!(asked < 60, "{asked} requests in half an hour");
            run_for(host, &mut store, 6 * MINUTE_MS);
            assert!(host.keeper.worker_id() == worker_id && host.keeper.end() > end, "{ms}");
        }
    }
}

/// If the clock jumps while the store is replaced, the grant stays unsealed, although it cannot be renewed in the new
/// store.
#[test]
fn a_gap_does_not_seal_a_grant_of_a_store_that_was_replaced() {
    let mut store = Memory::new(START_MS);
    let (mut host, _) = holder(&mut store, options(1));
    let backup = store.clone();
    store.restore(backup);
    host.advance(59 * MINUTE_MS + 30_000);
    move_wall_clock(&mut host, 2_000);
    run_for(&mut host, &mut store, 2_000);
    assert!(host.rejected.iter().any(|it| it.kind() == ErrorKind::StoreChanged));
    assert_eq!(host.keeper.worker_id(), Some(0));
}

/// Drives a strict holder, and returns the new end of its generator's window, or `None` if the window did not change.
fn drive_strict(host: &mut KeeperHost, store: &mut Memory, is_away: bool) -> Option<u64> {
    store.set_now(host.now.wall_ms);
    let mut end = None;
    loop {
        match host.keeper.poll(host.now) {
            Action::Send(request) => {
                let reply = if is_away { unavailable_reply() } else { store.answer(&request) };
                host.keeper.answered(request.number, reply, host.now);
            }
            Action::Begin(grant) => end = Some(grant.end()),
            Action::Extend(later) => end = Some(later),
            Action::Rejected(error) => host.rejected.push(error),
            Action::Wait(_) => return end,
            other => panic!("expected no {other:?}"),
        }
    }
}

#[test]
fn a_strict_generator_has_a_window_of_seconds() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1).strict());
    let mut end = drive_strict(&mut host, &mut store, false).unwrap();
    for _ in 0..4000 {
        let now = host.now.wall_ms;
        assert!(end > now + 1500 && end <= now + 3000 + 15_000, "{}", end - now);
        assert!(next_wait_ms(&mut host) <= 500);
        host.advance(500);
        let later = drive_strict(&mut host, &mut store, false);
        assert!(later.is_none_or(|later| later > end));
        end = later.unwrap_or(end);
    }
    let granted = host.keeper.end().unwrap();
    assert!(granted > host.now.wall_ms + 40 * MINUTE_MS);
    // The store is away, so the window ends with the grant.
    while host.now.wall_ms < granted {
        host.advance(500);
        end = drive_strict(&mut host, &mut store, true).unwrap_or(end);
        assert!(end <= granted);
    }
    assert_eq!(end, granted);
}

/// The generator withholds IDs until the store confirms that no other copy renewed the grant, but for at most a second.
#[test]
fn a_strict_generator_is_held_back_for_at_most_a_second() {
    for is_away in [false, true] {
        let mut store = Memory::new(START_MS);
        let mut host = KeeperHost::new(options(1).strict());
        let mut end = drive_strict(&mut host, &mut store, false).unwrap();
        for _ in 0..40 {
            host.advance(500);
            end = drive_strict(&mut host, &mut store, false).unwrap_or(end);
        }
        move_wall_clock(&mut host, 60_000);
        assert!(end < host.now.wall_ms, "the window of a copy has ended");
        let mut held_ms = 0;
        while end < host.now.wall_ms {
            host.advance(10);
            held_ms += 10;
            end = drive_strict(&mut host, &mut store, is_away).unwrap_or(end);
            assert!(held_ms <= 1020, "{is_away}: {held_ms}");
        }
        assert_eq!(host.keeper.has_gap(), is_away);
        assert_eq!(held_ms > 900, is_away, "{held_ms}");
    }
}

#[test]
fn renewals_every_ten_seconds_keep_the_lease_duration() {
    let mut store = Memory::new(START_MS);
    let mut host = KeeperHost::new(options(1).renew_ms(10_000).unwrap());
    host.drive_until_idle(&mut store).unwrap();
    for _ in 0..10 {
        let wait = next_wait_ms(&mut host);
        assert!((9_000..=10_000).contains(&wait), "{wait}");
        host.advance(wait);
        host.drive_until_idle(&mut store);
        assert!(host.keeper.end() > Some(host.now.wall_ms + HOUR_MS - 10));
    }
    for bad in [0, 999, u64::MAX] {
        assert_eq!(options(1).renew_ms(bad).unwrap_err().kind(), ErrorKind::OutOfRange);
    }
    let mut host = KeeperHost::new(options(1).renew_ms(2 * HOUR_MS).unwrap());
    host.advance(3 * HOUR_MS);
    host.drive_until_idle(&mut store).unwrap();
    assert!(next_wait_ms(&mut host) <= 15 * MINUTE_MS, "at most a quarter of the lease");
}
