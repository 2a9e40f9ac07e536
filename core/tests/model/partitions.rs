//! Models the partition table with one or two partitions. Default generators acquire, renew, lose and release
//! reservations, and explicit generators claim and release a partition. Threads that share one generator replace each
//! other's claims.

use std::{
    future::poll_fn,
    mem::replace,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use polyflake::{
    Result,
    fork::partitions::{Cells, FindTable, Table},
    sno::{Builder, Generator, Handle, Sno},
};

use super::{
    assert_distinct,
    checker::{Arc, check, lazy_static, thread},
    clock, collect,
    family::AnyClock,
    run_concurrently, tick_to_ms,
};

lazy_static! {
    static ref ONE: Cells<1> = with_registered_atomics(Cells::new());
    static ref TWO: Cells<2> = with_registered_atomics(Cells::new());
}

/// Registers a table's atomics with the model by accessing each of them, and returns the table.
fn with_registered_atomics<const N: usize>(table: Cells<N>) -> Cells<N> {
    for _ in 0..N {
        table.entry(table.next_partition().unwrap());
    }
    table
}

fn find_table_of_one() -> Result<&'static dyn Table> {
    Ok(&*ONE)
}

fn find_table_of_two() -> Result<&'static dyn Table> {
    Ok(&*TWO)
}

/// Returns a generator with four sequence numbers per tick. All generators use the same four sequence numbers, so two
/// generators with the same partition generate equal IDs within a tick.
fn generator(find: FindTable, ticks: &[i64]) -> Generator<AnyClock> {
    waiting_generator(find, ticks, Duration::ZERO)
}

fn waiting_generator(find: FindTable, ticks: &[i64], max_wait: Duration) -> Generator<AnyClock> {
    build(builder(find, ticks).max_wait(max_wait).sequence_max(3))
}

fn builder(find: FindTable, ticks: &[i64]) -> Builder<AnyClock> {
    find().unwrap();
    let clock = clock(ticks.iter().map(|tick| tick_to_ms(*tick)));
    Generator::builder().clock(clock).max_wait(Duration::ZERO).partitions_from(find)
}

/// Builds a generator, and registers it with the model.
fn build(builder: Builder<AnyClock>) -> Generator<AnyClock> {
    let ids = builder.build().unwrap();
    ids.extend_window(ids.window().1).unwrap();
    ids.partition();
    ids
}

/// Returns a builder for a generator with an explicit partition, which is the only partition of the table [`ONE`].
fn explicit_builder(ticks: &[i64]) -> Builder<AnyClock> {
    builder(find_table_of_one, ticks).partition(0)
}

/// Generates IDs. A call may fail, but only with one of the expected codes.
fn generate(ids: &Generator<AnyClock>, calls: usize) -> Vec<Sno> {
    let reasons = ["partitions_exhausted", "sequence_exhausted", "clock_behind"];
    collect(calls, &reasons, || ids.generate(0))
}

/// Checks threads that each use a separate generator. A generator reads its clock once per ID, and releases its
/// reservation when it is dropped.
fn check_threads(find: FindTable, preemptions: Option<usize>, readings: &'static [&'static [i64]]) {
    check(preemptions, move || {
        let start = |ticks: &'static [i64]| {
            let ids = generator(find, ticks);
            move || generate(&ids, ticks.len())
        };
        let others: Vec<_> =
            readings[1..].iter().map(|ticks| thread::spawn(start(ticks))).collect();
        let mut all = start(readings[0])();
        all.extend(others.into_iter().flat_map(|thread| thread.join().unwrap()));
        assert_distinct(all);
    });
}

#[test]
fn two_generators_never_share_a_partition_in_a_tick() {
    check_threads(find_table_of_one, None, &[&[100, 101], &[100, 101]]);
}

#[test]
fn two_generators_reuse_lost_partitions_without_colliding() {
    check_threads(find_table_of_one, None, &[&[100, 101, 103], &[101, 102]]);
}

#[test]
fn two_generators_with_different_clocks_never_collide() {
    check_threads(find_table_of_two, Some(3), &[&[100, 102, 101], &[101, 100, 103]]);
}

#[test]
fn three_generators_on_two_partitions_never_collide() {
    check_threads(find_table_of_two, Some(2), &[&[100, 101], &[100, 101], &[101, 100]]);
}

/// The first generator releases its reservation early. Another generator may already have acquired the partition,
/// because the reservation had ended.
#[test]
fn three_generators_never_collide_after_an_early_release() {
    check_threads(find_table_of_one, Some(3), &[&[104], &[100, 101, 102], &[104]]);
}

/// Two threads that share a generator detect that the generator's reservation has ended. By then, another generator may
/// have acquired the partition.
#[test]
fn claims_of_two_threads_never_collide_with_another_generator() {
    check(Some(2), || {
        let ids = generator(find_table_of_two, &[100, 102, 102, 103]);
        let mut all = generate(&ids, 1);
        let ids = Arc::new(ids);
        let other = ids.clone();
        let stranger = generator(find_table_of_two, &[102, 103]);
        let threads = [
            thread::spawn(move || generate(&other, 2)),
            thread::spawn(move || generate(&stranger, 2)),
        ];
        all.extend(generate(&ids, 1));
        all.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
        assert_distinct(all);
    });
}

/// Checks two threads that use separate handles of the same generator. The arguments determine whether the threads
/// request the generator's first ID, renew the reservation, or detect that another generator has acquired the
/// partition. Each thread's IDs must be sorted, and no tick may have IDs with two partitions.
fn check_handles(preemptions: Option<usize>, readings: &'static [i64], last_ends: &'static [u64]) {
    check(preemptions, move || {
        let readings = [&readings[..1], readings].concat();
        let ids = generator(find_table_of_two, &readings);
        ids.stats().unwrap();
        for _ in last_ends {
            let partition = TWO.next_partition().unwrap();
            assert!(TWO.swap(partition, 0, last_ends[usize::from(partition)]));
        }
        let ids = Arc::new(ids);
        let make = |ids: &Generator<AnyClock>| {
            let mut handle = Handle::with_first(ids, 2.try_into().unwrap());
            let calls = (0..2).map(|_| handle.generate(0));
            let made: Vec<Sno> = calls.filter_map(Result::ok).collect();
            assert!(made.is_sorted(), "{made:?}");
            made
        };
        let (one, other) = run_concurrently(&ids, make, make);
        assert_one_partition_per_tick([one, other].concat());
    });
}

fn assert_one_partition_per_tick(mut all: Vec<Sno>) {
    all.sort_unstable();
    for pair in all.windows(2) {
        let [one, other] = pair else { unreachable!() };
        assert_ne!(one, other);
        assert!(one.tick() != other.tick() || one.partition() == other.partition(), "{pair:?}");
    }
}

#[test]
fn handles_never_collide_at_the_first_id() {
    check_handles(Some(3), &[100, 101, 101, 102], &[]);
}

/// A thread reads the clock, and then detects that another thread has acquired a reservation that starts at a later
/// tick.
#[test]
fn handles_never_collide_after_a_stale_reading() {
    check_handles(Some(3), &[100, 101, 101, 102], &[101, 100]);
}

#[test]
fn handles_never_collide_at_renewals() {
    check_handles(Some(3), &[100, 101, 102, 103, 103], &[]);
}

type Call = Pin<Box<dyn Future<Output = Result<Sno>> + Send>>;

/// Returns the future of a call that generates an ID. If the call has to wait, the future stays pending until it is polled
/// again.
fn new_call(ids: &Arc<Generator<AnyClock>>) -> Call {
    async fn sleep(_: Duration) {
        let mut is_over = false;
        let turn = |_: &mut Context<'_>| match replace(&mut is_over, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        };
        poll_fn(turn).await;
    }
    let ids = ids.clone();
    Box::pin(async move { ids.generate_async(sleep, 0).await })
}

fn poll(call: &mut Call) -> Poll<Result<Sno>> {
    call.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Checks two threads, each of which takes two turns and polls one call in each turn. Depending on the arguments, the
/// calls renew the reservation or wait in an exhausted tick. A pending call is dropped, or polled again in the thread's
/// next turn. At the end, the main thread polls the calls that are still pending.
fn check_tasks(readings: &'static [i64], before: usize, drops: bool) {
    check(Some(2), move || {
        let readings = [&readings[..1], readings].concat();
        let ids = waiting_generator(find_table_of_two, &readings, Duration::from_secs(3600));
        ids.stats().unwrap();
        let mut all: Vec<Sno> = (0..before).map(|_| ids.generate(0).unwrap()).collect();
        let ids = Arc::new(ids);
        let turns = move |ids: &Arc<Generator<AnyClock>>| {
            let (mut made, mut waits) = (Vec::new(), None);
            for _ in 0..2 {
                let mut next = waits.take().unwrap_or_else(|| new_call(ids));
                match poll(&mut next) {
                    Poll::Ready(id) => made.extend(id.ok()),
                    Poll::Pending => waits = Some(next).filter(|_| !drops),
                }
            }
            (made, waits)
        };
        let other = ids.clone();
        let thread = thread::spawn(move || turns(&other));
        for (mut made, waits) in [turns(&ids), thread.join().unwrap()] {
            if let Some(mut call) = waits
                && let Poll::Ready(id) = poll(&mut call)
            {
                made.extend(id.ok());
            }
            assert!(made.is_sorted(), "{made:?}");
            all.extend(made);
        }
        assert_one_partition_per_tick(all);
    });
}

#[test]
fn tasks_never_collide_at_the_first_id() {
    check_tasks(&[100, 101, 101, 102], 0, false);
}

#[test]
fn tasks_never_collide_in_an_exhausted_tick() {
    for drops in [false, true] {
        check_tasks(&[100, 100, 100, 100, 100, 101, 101, 102], 3, drops);
    }
}

/// No other generator may acquire a snapshot's partition, no matter when the generator is closed.
#[test]
fn a_closed_generator_keeps_its_partition() {
    check(None, || {
        let ids = generator(find_table_of_one, &[100, 101, 101]);
        let mut all = generate(&ids, 1);
        let stranger = generator(find_table_of_one, &[101, 102]);
        let thread = thread::spawn(move || generate(&stranger, 2));
        match ids.close() {
            Ok(snapshot) => {
                let clock = clock([tick_to_ms(101), tick_to_ms(102)]);
                let again = Generator::builder().clock(clock).restore(snapshot).unwrap();
                all.extend(generate(&again, 2));
            }
            Err(error) => assert_eq!(error.code(), "partitions_exhausted"),
        }
        all.extend(thread.join().unwrap());
        assert_distinct(all);
    });
}

/// Checks a default generator. At the same time, other threads each build an explicit generator, generate IDs and drop the
/// generator.
fn check_with_explicit_generators(
    preemptions: Option<usize>,
    readings: &'static [i64],
    explicits: &'static [fn() -> Builder<AnyClock>],
) {
    check(preemptions, move || {
        let default = generator(find_table_of_one, readings);
        let start = |explicit_builder: &fn() -> Builder<AnyClock>| {
            let builder = explicit_builder();
            thread::spawn(move || generate(&build(builder), 2))
        };
        let threads: Vec<_> = explicits.iter().map(start).collect();
        let mut all = generate(&default, readings.len());
        all.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
        assert_distinct(all);
    });
}

#[test]
fn an_explicit_generator_never_collides_with_a_default_one() {
    check_with_explicit_generators(
        None,
        &[100, 101, 102],
        &[|| explicit_builder(&[100, 101]).sequence_max(3)],
    );
    check_with_explicit_generators(
        None,
        &[100, 101, 103],
        &[|| explicit_builder(&[101, 102]).sequence_max(3)],
    );
}

#[test]
fn an_explicit_generator_never_collides_after_a_clock_rollback() {
    check_with_explicit_generators(
        None,
        &[100, 101, 102],
        &[|| explicit_builder(&[102, 101]).sequence_max(3)],
    );
}

/// Dropping the first explicit generator must not free the partition while the second generator exists.
#[test]
fn two_explicit_generators_never_collide_with_a_default_one() {
    check_with_explicit_generators(
        Some(2),
        &[100, 102],
        &[
            || explicit_builder(&[101, 102]).sequence_max(3),
            || explicit_builder(&[100, 101]).sequence_min(4).sequence_max(7),
        ],
    );
}

/// Once the explicit generator is closed, no default generator may acquire the snapshot's partition, either before or after
/// the snapshot is restored.
#[test]
fn a_closed_explicit_generator_keeps_its_partition() {
    check(None, || {
        let default = generator(find_table_of_one, &[100, 101, 102]);
        let ids = explicit_builder(&[100, 101]).sequence_max(3);
        let thread = thread::spawn(move || {
            let ids = build(ids);
            let mut made = generate(&ids, 1);
            let snapshot = ids.close().unwrap();
            drop(ids);
            let again = builder(find_table_of_one, &[101, 102]).restore(snapshot).unwrap();
            made.extend(generate(&again, 2));
            made
        });
        let all = [generate(&default, 3), thread.join().unwrap()].concat();
        assert_distinct(all);
    });
}
