//! Tests calls that wait without blocking the thread. The executor must keep running, and a dropped call must not cause a
//! duplicate ID.
#![cfg(not(any(loom, shuttle)))]

use std::{
    collections::HashSet,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use polyflake::{
    Call, Error, ErrorKind, OnExhausted, Progress, SlotSource, WrittenCount,
    clock::{Clock, ManualClock},
    hotguid::{self, HotGuid},
    layout::{self, preset},
    randflake::{self, Grant, Randflake},
    sno::{self, Sno},
};
use tokio::{
    task::yield_now,
    time::{sleep, timeout},
};

const NOW_MS: i64 = 1_763_650_000_000;

type SharedClock = Arc<ManualClock>;

/// Returns a generator with four IDs per tick.
fn four_per_tick_generator(clock: SharedClock) -> sno::Generator<SharedClock> {
    let builder = sno::Builder::with_clock(clock).partition(7).sequence_max(3);
    builder.max_wait(Duration::from_secs(3600)).build().unwrap()
}

fn clock() -> SharedClock {
    Arc::new(ManualClock::at_unix_ms(NOW_MS))
}

/// Advances the clock by one tick every few milliseconds until the future is dropped, and counts these advances in `turns`.
async fn advance_clock(clock: &ManualClock, turns: &AtomicU32) {
    loop {
        sleep(Duration::from_millis(5)).await;
        turns.fetch_add(1, Ordering::Relaxed);
        clock.set_unix_nanos(clock.unix_nanos().unwrap() + 4_000_000);
    }
}

/// Returns how many nanoseconds to sleep before the next step, or `None` if the call is done.
fn sleep_nanos<T>(step: polyflake::Result<Progress<T>>) -> Option<u64> {
    match step.unwrap() {
        Progress::Done(_) => None,
        Progress::Sleep(nanos) => Some(nanos),
    }
}

#[test]
fn a_step_returns_the_wait_until_the_next_tick_and_a_later_step_finishes() {
    let clock = clock();
    let ids = four_per_tick_generator(clock.clone());
    ids.fill(1, &mut [Sno::default(); 4]).unwrap();
    let mut call = Call::asynchronous();
    assert_eq!(sleep_nanos(ids.generate_step(&mut call, 1)), Some(4_000_000));
    clock.set_unix_nanos(NOW_MS * 1_000_000 + 3_000_000);
    assert_eq!(sleep_nanos(ids.generate_step(&mut call, 1)), Some(1_000_000));
    clock.set_unix_nanos(NOW_MS * 1_000_000 + 4_000_000);
    assert!(
        matches!(ids.generate_step(&mut call, 1), Ok(Progress::Done(id)) if id.unix_ms() == NOW_MS + 4)
    );
}

#[test]
fn each_tick_of_a_batch_in_steps_may_take_the_maximum_wait() {
    let clock = clock();
    let builder = sno::Builder::with_clock(clock.clone()).partition(7).sequence_max(3);
    let ids = builder.max_wait(Duration::from_millis(6)).build().unwrap();
    let mut batch = [Sno::default(); 40];
    let (mut call, mut filled, mut slept) = (Call::asynchronous(), WrittenCount::new(), 0);
    while let Some(nanos) = sleep_nanos(ids.fill_step(&mut call, 1, &mut batch, &mut filled)) {
        slept += i64::try_from(nanos).unwrap();
        clock.set_unix_nanos(NOW_MS * 1_000_000 + slept);
    }
    assert_eq!(slept, 36_000_000, "40 IDs are those of ten ticks");
    assert!(batch.is_sorted_by(|one, next| one < next));
}

#[tokio::test(start_paused = true)]
async fn the_executor_runs_other_tasks_while_a_call_waits() {
    let (clock, turns) = (clock(), AtomicU32::new(0));
    let ids = four_per_tick_generator(clock.clone());
    let (mut batch, mut written) = (vec![Sno::default(); 40], 0);
    tokio::select! {
        () = advance_clock(&clock, &turns) => unreachable!(),
        filled = ids.fill_async(sleep, 1, &mut batch, &mut written) => filled.unwrap(),
    }
    assert_eq!(turns.into_inner(), 9, "40 IDs are those of ten ticks");
    assert!(batch.is_sorted_by(|one, next| one < next));
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_repeats_no_id() {
    let (clock, turns) = (clock(), AtomicU32::new(0));
    let ids = four_per_tick_generator(clock.clone());
    let (mut seen, mut parts) = (HashSet::new(), Vec::new());
    let work = async {
        for _ in 0..200 {
            // Some calls are dropped while they wait, possibly after they have generated part of their batch.
            let (mut batch, mut written) = ([Sno::default(); 6], usize::MAX);
            let filled = ids.fill_async(sleep, 1, &mut batch, &mut written);
            match timeout(Duration::from_millis(9), filled).await {
                Ok(filled) => assert_eq!((filled, written), (Ok(()), batch.len())),
                Err(_) => parts.push(written),
            }
            assert!(batch[..written].iter().all(|id| seen.insert(*id)));
            assert!(batch[written..].iter().all(|id| *id == Sno::default()));
            if let Ok(id) = timeout(Duration::from_millis(3), ids.generate_async(sleep, 2)).await {
                assert!(seen.insert(id.unwrap()));
            }
        }
    };
    tokio::select! {
        () = advance_clock(&clock, &turns) => unreachable!(),
        () = work => {}
    }
    assert!(parts.iter().any(|part| (1..6).contains(part)), "a part of a batch: {parts:?}");
    assert!(seen.iter().all(|id| id.partition() == 7));
    let mut written = usize::MAX;
    drop(ids.fill_async(sleep, 1, &mut [Sno::default(); 6], &mut written));
    assert_eq!(written, 0, "nothing is made before the first poll");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_no_longer_stalled() {
    let stalled = AtomicU32::new(0);
    let ids = sno::Builder::with_clock(clock()).partition(7).sequence_max(3);
    let ids = ids.on_stall(|stall| stalled.store(stall.stalled, Ordering::Relaxed));
    let ids = ids.build().unwrap();
    ids.fill(1, &mut [Sno::default(); 4]).unwrap();
    for _ in 0..10 {
        let dropped = timeout(Duration::from_millis(1), ids.generate_async(sleep, 1)).await;
        assert!(dropped.is_err());
        assert_eq!(stalled.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn on_exhausted_error_never_sleeps() {
    let never = async |_: Duration| panic!("it slept");
    let ids = sno::Builder::with_clock(clock()).partition(7).sequence_max(3);
    let ids = ids.on_exhausted(OnExhausted::Error).build().unwrap();
    let mut batch = [Sno::default(); 5];
    let error = ids.fill_async(never, 1, &mut batch, &mut 0).await.unwrap_err();
    assert_eq!((error.kind(), error.written()), (ErrorKind::SequenceExhausted, Some(4)));

    let machine = layout::Builder::with_clock(preset("sonyflake", []).unwrap(), clock());
    let ids = machine.bind("machine", 7).build().unwrap();
    ids.generate_async(never).await.unwrap();
    ids.clock().set_unix_ms(NOW_MS - 1000);
    let error = ids.generate_async(never).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ClockBehind, "a layout never waits for a clock behind");
}

#[tokio::test(start_paused = true)]
async fn a_frozen_clock_ends_the_wait_with_an_error() {
    let ids = four_per_tick_generator(clock());
    let mut batch = [Sno::default(); 5];
    let error = ids.fill_async(sleep, 1, &mut batch, &mut 0).await.unwrap_err();
    assert_eq!((error.kind(), error.written()), (ErrorKind::SequenceExhausted, Some(4)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_share_generators_of_every_format() {
    static SNO_GENERATOR: sno::Generator = sno::Generator::new();
    static GUID_GENERATOR: hotguid::Generator = hotguid::Generator::new();
    let grant = Grant::new(42, randflake::EPOCH, randflake::LAST_SECOND).unwrap();
    let flakes = Arc::new(randflake::Generator::builder(grant, [7; 16]).build().unwrap());
    let layout = layout::Generator::builder(preset("instagram", []).unwrap()).bind("shard", 7);
    let layout = Arc::new(layout.build().unwrap());
    let tasks = (0..100).map(|_| {
        let (flakes, layout) = (flakes.clone(), layout.clone());
        tokio::spawn(async move {
            let (mut guids, mut integers) = ([HotGuid::default(); 20], [0_i64; 20]);
            let (mut snos, mut hidden) = ([Sno::default(); 20], [Randflake::default(); 20]);
            SNO_GENERATOR.fill_async(sleep, 1, &mut snos, &mut 0).await?;
            yield_now().await;
            GUID_GENERATOR.fill_async(sleep, 1, &mut guids, &mut 0).await?;
            flakes.fill_async(sleep, &mut hidden, &mut 0).await?;
            layout.fill_async(sleep, &mut integers[..], &mut 0).await?;
            Ok::<_, Error>((snos, guids, hidden, integers))
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let (mut snos, mut guids) = (HashSet::new(), HashSet::new());
    let (mut hidden, mut integers) = (HashSet::new(), HashSet::new());
    for task in tasks {
        let made = task.await.unwrap().unwrap();
        snos.extend(made.0);
        guids.extend(made.1);
        hidden.extend(made.2);
        integers.extend(made.3);
    }
    assert_eq!([snos.len(), guids.len(), hidden.len(), integers.len()], [2000; 4]);
}

#[test]
fn generators_and_handles_are_sync_and_unwind_safe() {
    fn assert_shareable<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    assert_shareable::<sno::Generator>();
    assert_shareable::<randflake::Generator>();
    assert_shareable::<hotguid::Generator>();
    assert_shareable::<layout::Generator>();
    assert_shareable::<sno::Handle<&sno::Generator>>();
    assert_shareable::<randflake::Handle<&randflake::Generator>>();
    assert_shareable::<hotguid::Handle<&hotguid::Generator>>();
    assert_shareable::<layout::Handle<&layout::Generator>>();
}
