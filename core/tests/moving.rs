//! Tests generators that switch between grants. The tests check how long calls wait, which switches are rejected, and
//! whether IDs stay unique.

mod support;

use std::{
    collections::HashSet,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    thread,
    time::Duration,
};

use polyflake::{
    Call, Error, OnExhausted, Progress, Result, SlotSource,
    clock::{Clock, SystemClock},
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout},
    randflake::{self, Grant},
    sno::{self, Builder, Leased, Sno},
};
use support::assert_code;

/// The start of a tick in every format, in Unix milliseconds.
const START_MS: i64 = 1_763_650_000_000;

type ClockHook = Box<dyn FnOnce() + Send>;

/// A clock that advances when a call sleeps, and that runs a hook during its first sleep or during one of its readings.
#[derive(Default)]
struct HookedClock {
    nanos: AtomicI64,
    sleeps: AtomicI64,
    first_sleep: Mutex<Option<ClockHook>>,
    next_reading: Mutex<Option<ClockHook>>,
}

impl HookedClock {
    fn at_unix_ms(unix_ms: i64) -> Arc<Self> {
        Arc::new(Self { nanos: AtomicI64::new(unix_ms * 1_000_000), ..Self::default() })
    }
    fn unix_ms(&self) -> i64 {
        self.nanos.load(Ordering::Relaxed) / 1_000_000
    }
    fn set_unix_ms(&self, unix_ms: i64) {
        self.nanos.store(unix_ms * 1_000_000, Ordering::Relaxed);
    }
    fn on_first_sleep(&self, hook: impl FnOnce() + Send + 'static) {
        *self.first_sleep.lock().unwrap() = Some(Box::new(hook));
    }
}

impl Clock for HookedClock {
    fn unix_nanos(&self) -> Result<i64> {
        let hook = self.next_reading.lock().unwrap().take();
        hook.into_iter().for_each(|hook| hook());
        Ok(self.nanos.load(Ordering::Relaxed))
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.nanos.fetch_add(nanos.cast_signed(), Ordering::Relaxed);
        self.sleeps.fetch_add(1, Ordering::Relaxed);
        let hook = self.first_sleep.lock().unwrap().take();
        hook.into_iter().for_each(|hook| hook());
        Ok(())
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}

fn granted_builder(
    time: &Arc<HookedClock>,
    partition: u16,
    span: Range<i64>,
) -> Builder<Arc<HookedClock>> {
    Builder::with_clock(time.clone()).partition(partition).window(span.start, span.end)
}

fn leased_generator(
    time: &Arc<HookedClock>,
    partition: u16,
    span: Range<i64>,
) -> Leased<Arc<HookedClock>> {
    Leased::new(granted_builder(time, partition, span).build().unwrap()).unwrap()
}

#[test]
fn each_tick_of_a_sno_grant_starts_at_a_random_sequence_in_the_lower_half() {
    let time = HookedClock::at_unix_ms(START_MS);
    let builder = granted_builder(&time, 7, START_MS..START_MS + 60_000)
        .sequence_min(100)
        .sequence_max(1_098);
    let ids = Leased::new(builder.on_exhausted(OnExhausted::Error).build().unwrap()).unwrap();
    let mut starts = HashSet::new();
    for tick in 0..100 {
        time.set_unix_ms(START_MS + 4 * tick);
        let first = ids.generate(7).unwrap().sequence();
        assert!((100..600).contains(&first), "{first}");
        let mut others = [Sno::default(); 499];
        ids.fill(7, &mut others).unwrap();
        assert!(others.iter().map(Sno::sequence).eq(first + 1..first + 500));
        starts.insert(first);
    }
    assert!(starts.len() > 50, "{} starts in 100 ticks", starts.len());
}

/// Two unrelated processes may have the same default partition. Only their different lower bounds prevent collisions.
#[test]
fn each_tick_of_a_default_partition_starts_at_the_same_sequence() {
    let time = HookedClock::at_unix_ms(START_MS);
    let builder = Builder::with_clock(time.clone()).window(START_MS, START_MS + 60_000);
    let ids = Leased::new(builder.build().unwrap()).unwrap();
    let first = |tick: i64| {
        time.set_unix_ms(START_MS + 4 * tick);
        ids.generate(7).unwrap().sequence()
    };
    assert_eq!((0..100).map(first).collect::<HashSet<_>>().len(), 1);
}

#[test]
fn a_switch_seals_the_old_grant_and_uses_the_next() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = leased_generator(&time, 7, START_MS - 1000..START_MS + 1000);
    assert_eq!(ids.grant(), (0, START_MS - 1000..START_MS + 1000));
    let first = ids.generate(0).unwrap();
    ids.try_fill(0, &mut vec![Sno::default(); 65_536]).unwrap();
    assert_code(ids.try_generate(0), "sequence_exhausted");
    let moved = ids.move_to(|highest| {
        assert_eq!(highest, Some(START_MS..START_MS + 4));
        granted_builder(&time, 9, START_MS..START_MS + 5000).build()
    });
    assert_eq!((moved, ids.grant()), (Ok(1), (1, START_MS..START_MS + 5000)));
    let next = ids.try_generate(0).unwrap();
    assert_eq!((first.partition(), next.partition()), (7, 9));
    assert_eq!((first.unix_ms(), next.unix_ms()), (START_MS, START_MS), "a state of its own");
}

#[test]
fn a_call_in_steps_waits_for_the_next_grant_and_then_uses_it() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = leased_generator(&time, 7, START_MS - 1000..START_MS);
    let mut call = Call::asynchronous();
    assert!(matches!(ids.generate_step(&mut call, 0), Ok(Progress::Sleep(1_000_000))));
    ids.move_to(|_| granted_builder(&time, 9, START_MS..START_MS + 5000).build()).unwrap();
    assert!(
        matches!(ids.generate_step(&mut call, 0), Ok(Progress::Done(id)) if id.partition() == 9)
    );
}

/// A worker ID's previous generator may have used any sequence number of a tick, even if other worker IDs were used in the
/// meantime.
#[test]
fn a_worker_id_is_reused_only_after_its_last_tick() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = leased_generator(&time, 7, START_MS - 1000..START_MS + 1000);
    ids.generate(0).unwrap();
    assert_code(
        ids.move_to(|_| granted_builder(&time, 7, START_MS..START_MS + 1000).build()),
        "lease_mismatch",
    );
    ids.move_to(|_| granted_builder(&time, 9, START_MS..START_MS + 1000).build()).unwrap();
    ids.generate(0).unwrap();
    assert_code(
        ids.move_to(|_| granted_builder(&time, 7, START_MS..START_MS + 1000).build()),
        "lease_mismatch",
    );
    ids.move_to(|_| granted_builder(&time, 8, START_MS..START_MS + 1000).build()).unwrap();
    assert_eq!(
        ids.move_to(|_| granted_builder(&time, 7, START_MS + 4..START_MS + 1000).build()),
        Ok(3)
    );
}

/// Switches from a generator that used the tick of `START_MS` to a generator whose window starts in that tick.
macro_rules! assert_switch {
    ($leased:ty, $given:expr, $one:expr, $other:expr) => {{
        let ids = <$leased>::new($one).unwrap();
        ids.generate($given).unwrap();
        ids.move_to(|_| Ok($other)).map_err(|error| error.code())
    }};
}

/// The first and last worker IDs before and after a switch.
type WorkerIdSwitch = ([u32; 2], [u32; 2]);

const RANGE_SWITCHES: [(WorkerIdSwitch, std::result::Result<u32, &str>); 7] = [
    (([7, 7], [7, 7]), Err("lease_mismatch")),
    (([1, 5], [5, 9]), Err("lease_mismatch")),
    (([5, 9], [1, 5]), Err("lease_mismatch")),
    (([1, 9], [3, 4]), Err("lease_mismatch")),
    (([3, 4], [1, 9]), Err("lease_mismatch")),
    (([1, 4], [5, 9]), Ok(1)),
    (([5, 9], [1, 4]), Ok(1)),
];

#[test]
fn nodes_are_reused_only_after_their_last_second() {
    let time = HookedClock::at_unix_ms(START_MS);
    let granted = |[first, last]: [u32; 2], secret: &[u8; 16]| {
        let grant = Grant::with_nodes(first..=last, START_MS / 1000, START_MS / 1000 + 9).unwrap();
        randflake::Builder::with_clock(grant, *secret, time.clone()).build().unwrap()
    };
    let key = b"sixteen byte key";
    let moves = |one, other, secret| {
        assert_switch!(randflake::Leased<_>, (), granted(one, key), granted(other, secret))
    };
    for ((one, other), expected) in RANGE_SWITCHES {
        assert_eq!(moves(one, other, key), expected, "{one:?} {other:?}");
    }
    // The first secret differs from `key` in one bit of the first byte, and the second secret differs in one bit of the
    // last byte.
    for other in [b"rixteen byte key", b"sixteen byte kex"] {
        assert_eq!(moves([1, 4], [1, 4], other), Ok(1));
    }
}

#[test]
fn bindables_are_reused_only_after_their_last_tick() {
    let time = HookedClock::at_unix_ms(START_MS);
    let granted = |shard: i64| {
        let layout = layout::preset("instagram", []).unwrap();
        let builder =
            layout::Builder::with_clock(layout, time.clone()).window(START_MS, START_MS + 9000);
        builder.bind("shard", shard).build().unwrap()
    };
    let moves = |shard| assert_switch!(layout::Leased<_>, None, granted(7), granted(shard));
    assert_eq!((moves(7), moves(8)), (Err("lease_mismatch"), Ok(1)));
}

#[test]
fn ranges_are_reused_only_after_their_last_tick() {
    let time = HookedClock::at_unix_ms(START_MS);
    let builder = || {
        let layout = layout::preset("discord", []).unwrap();
        layout::Builder::with_clock(layout, time.clone()).window(START_MS, START_MS + 9000)
    };
    let workers = |[first, last]: [u32; 2], process: i64| {
        builder().range("worker", first.into()..=last.into()).bind("process", process)
    };
    let moves = |one: layout::Builder<_>, other: layout::Builder<_>| {
        assert_switch!(layout::Leased<_>, None, one.build().unwrap(), other.build().unwrap())
    };
    for ((one, other), expected) in RANGE_SWITCHES {
        assert_eq!(moves(workers(one, 3), workers(other, 3)), expected, "{one:?} {other:?}");
        assert_eq!(moves(workers(one, 3), workers(other, 4)), Ok(1), "another process");
    }
    // The following calls switch from a range to a single worker ID.
    let single = |worker: i64| builder().bind("worker", worker).bind("process", 3);
    let is_moved = |worker| moves(workers([2, 4], 3), single(worker)).is_ok();
    assert_eq!([1, 2, 4, 5].map(is_moved), [true, false, false, true]);
    // These cases switch from a range of workers in one process to a range of processes, each with worker 2. The switch
    // fails if the two ranges share a combination of worker and process.
    let processes = |first: u64| builder().bind("worker", 2).range("process", first..=first + 1);
    let is_moved =
        |workers_before, first| moves(workers(workers_before, 3), processes(first)).is_ok();
    let found = [is_moved([1, 2], 3), is_moved([1, 2], 4), is_moved([3, 4], 3)];
    assert_eq!(found, [false, true, true]);
}

#[test]
fn a_grant_before_the_last_tick_is_rejected() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = Leased::new(
        granted_builder(&time, 7, START_MS - 1000..START_MS + 1000)
            .max_wait(Duration::ZERO)
            .build()
            .unwrap(),
    );
    let ids = ids.unwrap();
    time.set_unix_ms(START_MS + 8);
    ids.generate(0).unwrap();
    time.set_unix_ms(START_MS);
    ids.generate(0).unwrap();
    assert_code(
        ids.move_to(|_| granted_builder(&time, 9, START_MS..START_MS + 1000).build()),
        "lease_mismatch",
    );
    assert_code(ids.generate(0), "lease_unavailable");
    let ended = ids.move_to(|_| Err(Error::new(polyflake::ErrorKind::LeaseExpired)));
    assert_code(ended, "lease_expired");
    let later = ids.move_to(|highest| {
        assert_eq!(highest, Some(START_MS + 8..START_MS + 12), "still known");
        granted_builder(&time, 9, START_MS + 8..START_MS + 1000).max_wait(Duration::ZERO).build()
    });
    assert_eq!(later, Ok(1));
    assert_eq!(assert_code(ids.generate(0), "lease_unavailable").retry_at(), Some(START_MS + 8));
    time.set_unix_ms(START_MS + 8);
    assert_eq!(ids.generate(0).unwrap().partition(), 9);
}

#[test]
fn a_reassigned_grant_does_not_join_windows() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = leased_generator(&time, 7, START_MS..START_MS + 100);
    let mut all = HashSet::from([ids.generate(0).unwrap()]);
    ids.move_to(|_| granted_builder(&time, 8, START_MS + 100..START_MS + 200).build()).unwrap();
    ids.move_to(|_| {
        granted_builder(&time, 7, START_MS + 200..START_MS + 300).max_wait(Duration::ZERO).build()
    })
    .unwrap();
    time.set_unix_ms(START_MS + 152);
    assert_code(ids.generate(0), "lease_unavailable");
    time.set_unix_ms(START_MS + 200);
    all.insert(ids.generate(0).unwrap());
    time.set_unix_ms(START_MS + 300);
    assert_code(ids.generate(0), "lease_unavailable");
    assert_eq!(all.len(), 2);
}

#[test]
fn a_call_waits_for_the_start_up_to_max_wait() {
    for (start, max_wait, waits) in
        [(500_i64, 1000_i64, true), (1000, 1000, true), (1200, 1000, false)]
    {
        let time = HookedClock::at_unix_ms(START_MS);
        let builder = granted_builder(&time, 7, START_MS + start..START_MS + 5000);
        let builder = builder.max_wait(Duration::from_millis(max_wait.cast_unsigned()));
        let ids = Leased::new(builder.build().unwrap()).unwrap();
        let error = assert_code(ids.try_generate(0), "lease_unavailable");
        assert_eq!((error.retry_at(), time.unix_ms()), (Some(START_MS + start), START_MS));
        let made = ids.generate(0);
        if waits {
            assert_eq!(made.unwrap().unix_ms(), START_MS + start);
        } else {
            assert_eq!(assert_code(made, "lease_unavailable").retry_at(), Some(START_MS + start));
            assert_eq!(time.unix_ms(), START_MS + max_wait);
        }
    }
    let time = HookedClock::at_unix_ms(START_MS);
    let builder =
        granted_builder(&time, 7, START_MS + 500..START_MS + 5000).on_exhausted(OnExhausted::Error);
    let ids = Leased::new(builder.build().unwrap()).unwrap();
    assert_code(ids.generate(0), "lease_unavailable");
    assert_code(ids.fill(0, &mut [Sno::default(); 2]), "lease_unavailable");
    assert_eq!(time.unix_ms(), START_MS);
}

/// Hundreds of calls may wait for the same lease.
#[test]
fn a_long_wait_polls_rarely() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = leased_generator(&time, 7, START_MS - 100..START_MS);
    assert_code(ids.generate(0), "lease_unavailable");
    assert_eq!(time.unix_ms(), START_MS + 1000);
    let looks = time.sleeps.load(Ordering::Relaxed);
    assert!((50..150).contains(&looks), "{looks}");
}

#[test]
fn a_call_waits_for_an_extension_or_the_next_grant() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = Arc::new(leased_generator(&time, 7, START_MS - 100..START_MS));
    let (extending, moving, from) = (ids.clone(), ids.clone(), time.clone());
    time.on_first_sleep(move || extending.extend(0, START_MS + 100).unwrap());
    assert_eq!(ids.generate(0).unwrap().partition(), 7);
    time.set_unix_ms(START_MS + 100);
    time.on_first_sleep(move || {
        let moved =
            moving.move_to(|_| granted_builder(&from, 9, START_MS + 100..START_MS + 9000).build());
        assert_eq!(moved, Ok(1));
    });
    assert_eq!(ids.generate(0).unwrap().partition(), 9);
    assert_code(ids.extend(0, START_MS + 90_000), "lease_mismatch");
    assert_code(ids.seal(0), "lease_mismatch");
    assert_eq!(ids.grant(), (1, START_MS + 100..START_MS + 9000));
}

#[test]
fn a_call_in_progress_never_uses_the_old_grant() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = Arc::new(leased_generator(&time, 7, START_MS - 100..START_MS + 1000));
    ids.generate(0).unwrap();
    let (moving, from) = (ids.clone(), time.clone());
    *time.next_reading.lock().unwrap() = Some(Box::new(move || {
        let moved = moving.move_to(|highest| {
            assert_eq!(highest, Some(START_MS..START_MS + 4));
            granted_builder(&from, 9, START_MS + 4..START_MS + 1000).build()
        });
        assert_eq!(moved, Ok(1));
        from.set_unix_ms(START_MS + 4);
    }));
    let id = ids.generate(0).unwrap();
    assert_eq!((id.partition(), id.unix_ms()), (9, START_MS + 4));
}

#[test]
fn a_batch_continues_under_the_next_grant() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = Arc::new(leased_generator(&time, 7, START_MS - 100..START_MS + 1000));
    let (moving, from) = (ids.clone(), time.clone());
    time.on_first_sleep(move || {
        moving.move_to(|_| granted_builder(&from, 9, START_MS..START_MS + 9000).build()).unwrap();
    });
    let mut batch = vec![Sno::default(); 100_000];
    ids.fill(0, &mut batch).unwrap();
    let partitions: Vec<_> = batch.iter().map(Sno::partition).collect();
    assert!(partitions.is_sorted() && partitions[32_767] == 7 && partitions[65_536] == 9);
    assert_eq!(batch.iter().collect::<HashSet<_>>().len(), batch.len());
    ids.seal(1).unwrap();
    let error = assert_code(ids.fill(0, &mut batch), "lease_unavailable");
    assert_eq!(error.written(), Some(0));
}

#[test]
fn a_sealed_grant_reports_its_last_tick_once() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = leased_generator(&time, 7, START_MS - 100..START_MS + 9000);
    ids.generate(0).unwrap();
    assert_eq!(ids.seal(0), Ok(Some(START_MS..START_MS + 4)));
    assert_code(ids.seal(0), "generator_closed");
    assert_code(ids.try_generate(0), "lease_unavailable");
    assert_code(ids.generate(0), "lease_unavailable");
    assert_eq!(time.unix_ms(), START_MS + 1000, "it waited for another grant");
}

/// Covers a grant that has not started, a grant that has ended, and the gap between two grants.
#[tokio::test]
async fn a_closed_generator_fails_without_waiting() {
    for (span, is_sealed, used) in [
        (START_MS - 100..START_MS + 9000, false, true),
        (START_MS - 100..START_MS + 9000, true, true),
        (START_MS + 100..START_MS + 9000, false, false),
        (START_MS - 100..START_MS, false, false),
    ] {
        let time = HookedClock::at_unix_ms(START_MS);
        let ids = leased_generator(&time, 7, span);
        let made = ids.try_generate(0).is_ok();
        assert_eq!(made, used);
        if is_sealed {
            assert_eq!(ids.seal(0), Ok(Some(START_MS..START_MS + 4)));
        }
        ids.close();
        let sleep = async |_: Duration| panic!("expected no wait");
        let mut batch = [Sno::default(); 2];
        assert_code(ids.generate(0), "generator_closed");
        assert_code(ids.try_generate(0), "generator_closed");
        assert_code(ids.generate_async(sleep, 0).await, "generator_closed");
        assert_code(ids.fill(0, &mut batch), "generator_closed");
        assert_code(ids.try_fill(0, &mut batch), "generator_closed");
        assert_code(ids.fill_async(sleep, 0, &mut batch, &mut 0).await, "generator_closed");
        assert_eq!(time.unix_ms(), START_MS);
        assert_eq!(ids.seal(0), Ok(used.then_some(START_MS..START_MS + 4)));
        assert_code(
            ids.move_to(|_| granted_builder(&time, 9, START_MS..START_MS + 1000).build()),
            "generator_closed",
        );
        ids.close();
    }
}

#[test]
fn closing_ends_a_wait_for_a_grant() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = Arc::new(leased_generator(&time, 7, START_MS - 100..START_MS));
    let closing = ids.clone();
    time.on_first_sleep(move || closing.close());
    assert_code(ids.generate(0), "generator_closed");
    assert!(time.unix_ms() < START_MS + 10);
}

#[tokio::test]
async fn a_future_waits_for_the_next_grant() {
    let time = HookedClock::at_unix_ms(START_MS);
    let ids = leased_generator(&time, 7, START_MS + 20..START_MS + 9000);
    let sleep = async |wait: Duration| time.sleep(wait.as_nanos().try_into().unwrap()).unwrap();
    assert_eq!(ids.generate_async(sleep, 0).await.unwrap().unix_ms(), START_MS + 20);
    ids.fill_async(sleep, 0, &mut [Sno::default(); 2], &mut 0).await.unwrap();
    ids.seal(0).unwrap();
    assert_code(ids.generate_async(sleep, 0).await, "lease_unavailable");
}

#[test]
fn every_format_switches_between_grants() {
    let time = HookedClock::at_unix_ms(START_MS);
    let grant = |node| Grant::new(node, START_MS / 1000, START_MS / 1000 + 10).unwrap();
    let flakes = |node| randflake::Builder::with_clock(grant(node), [7; 16], time.clone()).build();
    let ids = randflake::Leased::new(flakes(7).unwrap()).unwrap();
    let first = ids.generate(()).unwrap();
    assert_eq!(ids.move_to(|_| flakes(9)), Ok(1));
    let codec = randflake::Codec::from([7; 16]);
    let nodes = [first, ids.generate(()).unwrap()].map(|id| codec.inspect(id).node);
    assert_eq!(nodes, [7, 9]);

    let guids = |machine: u8| {
        let builder = hotguid::Builder::with_clock(time.clone(), || unreachable!("provided"));
        let ids = builder.window(START_MS, START_MS + 10_000).build()?;
        ids.provide_identity([0, 0, 0, 0, machine, 0, 0, 0])?;
        Ok(ids)
    };
    let ids = hotguid::Leased::new(guids(7).unwrap()).unwrap();
    let first = ids.generate(0).unwrap();
    ids.move_to(|_| guids(9)).unwrap();
    let machines = [first, ids.generate(0).unwrap()].map(HotGuid::machine);
    assert_eq!(machines, [[0, 0, 0, 0, 7], [0, 0, 0, 0, 9]]);

    let fields = |number| {
        let number = Field::constant(8, "node", number);
        Layout::integer([
            Field::unused(4),
            Field::timestamp(44, layout::Tick::MILLISECOND, 0),
            number,
            Field::sequence(8),
        ])
    };
    let numbered = |number| {
        let builder = layout::Builder::with_clock(fields(number)?, time.clone());
        builder.window(START_MS, START_MS + 10_000).build()
    };
    let ids = layout::Leased::new(numbered(7).unwrap()).unwrap();
    let mut batch = [0_i64; 4];
    ids.fill(None, batch[..2].as_mut().into()).unwrap();
    ids.move_to(|_| numbered(9)).unwrap();
    assert_eq!(ids.try_fill(None, batch[2..].as_mut().into()), Ok(2));
    assert_eq!(batch.map(|id| id >> 8 & 0xff), [7, 7, 9, 9]);

    // A lease cannot provide values for bindable fields, so the layout must have none.
    let open = || {
        let layout = layout::preset("instagram", [])?;
        layout::Builder::with_clock(layout, time.clone())
            .window(START_MS, START_MS + 10_000)
            .build()
    };
    assert_code(layout::Leased::new(open().unwrap()), "missing_field");
    assert_code(ids.move_to(|_| open()), "missing_field");

    let alone = Layout::integer([Field::unused(56), Field::sequence(8)]).unwrap();
    let alone = layout::Generator::builder(alone).sequence_only(true).build().unwrap();
    assert_code(layout::Leased::new(alone), "unknown_field");
}

/// Threads generate IDs while the generator switches between grants that reuse worker IDs.
#[test]
fn grant_switches_never_repeat_an_id() {
    let moves = if cfg!(miri) { 5 } else { 100 };
    let partition = |number: u32| u16::try_from(number % 2).unwrap();
    let grant = |number: u32, start: i64| {
        let builder = sno::Generator::builder().partition(partition(number));
        builder.window(start, 3_000_000_000_000_i64).build()
    };
    let now = SystemClock.unix_nanos().unwrap() / 1_000_000;
    let ids = &Leased::new(grant(0, now).unwrap()).unwrap();
    let all: Vec<Sno> = thread::scope(|scope| {
        let make = || {
            let (mut all, mut batch) = (Vec::new(), [Sno::default(); 10]);
            while ids.grant().0 < moves {
                all.push(ids.generate(0).unwrap());
                ids.fill(0, &mut batch).unwrap();
                all.extend(batch);
            }
            all
        };
        let makers = [scope.spawn(make), scope.spawn(make)];
        let (mut ends, mut made) = ([now; 2], Vec::new());
        for number in 1..=moves {
            let place = usize::from(partition(number));
            let moved = ids.move_to(|highest| {
                let highest = highest.unwrap_or(now..now);
                ends[1 - place] = highest.end;
                grant(number, ends[place].max(highest.start))
            });
            assert_eq!(moved, Ok(number));
            made.push(ids.generate(0).unwrap());
        }
        made.extend(makers.into_iter().flat_map(|thread| thread.join().unwrap()));
        made
    });
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    assert!(all.len() >= usize::try_from(moves).unwrap());
}
