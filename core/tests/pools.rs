//! Pools: several generators as one, which go on with the next one when a tick is used up, and never make an ID twice.

mod support;

use std::{
    collections::HashSet,
    hash::Hash,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use polyflake::{
    ErrorKind, OnExhausted, Result, hotguid,
    layout::{self, Field, Layout, Tick},
    randflake::{self, Grant, Randflake},
    sno::{self, Sno},
};
use proptest::prelude::*;
use support::{ScriptedClock, rounds};

/// A moment at the beginning of a second, and of a tick of every family, in Unix milliseconds.
const T: i64 = 1_763_650_000_000;

type Partitions = sno::Pool<Arc<sno::Generator<ScriptedClock>>>;
type Shards = layout::Pool<Arc<layout::Generator<ScriptedClock>>>;

fn showing(unix_ms: impl IntoIterator<Item = i64>) -> ScriptedClock {
    let clock = ScriptedClock::default();
    clock.play(unix_ms);
    clock
}

/// A builder with 4 sequences in a tick.
fn partition(clock: &ScriptedClock, partition: u16) -> sno::Builder<ScriptedClock> {
    sno::Builder::with_clock(clock.clone()).partition(partition).sequence_max(3)
}

fn partitions(clock: &ScriptedClock, count: u16) -> Partitions {
    let members = (1..=count).map(|number| partition(clock, number).build().map(Arc::new));
    sno::Pool::new(members.collect::<Result<Vec<_>>>().unwrap()).unwrap()
}

#[test]
fn threads_that_share_a_pool_take_from_different_members() {
    let ids = partitions(&showing([T]), 3);
    let make = || [(); 2].map(|()| ids.generate(0).unwrap().partition());
    let other = || thread::scope(|scope| scope.spawn(make).join().unwrap());
    let (mine, others) = (make(), other());
    assert_eq!((mine[0], mine[1], others[0]), (1, 1, others[1]));
    assert_ne!(mine[0], others[0]);
    assert_eq!(make(), [1, 1], "the first thread stays where it is");
}

fn node(clock: &ScriptedClock, node: u32) -> randflake::Builder<ScriptedClock> {
    let lease = Grant::new(node, 1_730_000_000, 2_803_741_824).unwrap();
    randflake::Builder::with_clock(lease, *b"sixteen byte key", clock.clone())
}

fn layout() -> Layout {
    let fields = [
        Field::timestamp(54, Tick::MILLISECOND, 0),
        Field::bindable(8, "shard"),
        Field::sequence(2),
    ];
    Layout::integer(fields).unwrap()
}

fn shards(clock: &ScriptedClock, count: i64) -> Shards {
    let members = (1..=count).map(|number| {
        let builder = layout::Builder::with_clock(layout(), clock.clone()).bind("shard", number);
        Arc::new(builder.build().unwrap())
    });
    layout::Pool::new(members).unwrap()
}

/// The member that made an ID.
fn shard_of(id: &layout::Id) -> i128 {
    let layout = layout();
    layout.parse(id).unwrap().integer(layout.bindable("shard").unwrap()).unwrap()
}

#[track_caller]
fn assert_refused<T>(result: Result<T>, kind: ErrorKind, item: Option<usize>, reason: &str) {
    let Err(error) = result else { panic!("expected {kind:?}") };
    assert_eq!((error.kind(), error.item()), (kind, item), "{error}");
    assert!(error.to_string().contains(reason), "{error}");
}

#[test]
fn a_tick_holds_as_many_ids_as_all_members_have() {
    let clock = showing([T]);
    let ids = partitions(&clock, 3);
    let of = |_| ids.generate(7).unwrap().partition();
    assert_eq!((0..12).map(of).collect::<Vec<_>>(), [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    let error = ids.generate(7).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SequenceExhausted);
    assert_eq!(error.retry_at(), Some(T + 4));
    clock.play([T + 4]);
    assert_eq!(ids.generate_text(7).unwrap().as_str().len(), 16, "usable again");
    assert_eq!(ids.generate(7).unwrap().metabyte(), 7);
}

#[test]
fn nobody_waits_as_long_as_one_has_an_id() {
    let clock = showing([T]);
    let ids = partitions(&clock, 2);
    let mut batch = [Sno::default(); 8];
    ids.fill(1, &mut batch).unwrap();
    assert_eq!(clock.slept(), 0);
    // Two readings for the members, one for the wait; then the next tick.
    clock.play([T, T, T, T + 4]);
    let next = ids.generate(1).unwrap();
    assert_eq!((clock.slept(), next.unix_ms()), (4_000_000, T + 4));
}

#[test]
fn a_batch_spreads_over_all_members_and_says_how_far_it_came() {
    let clock = showing([T]);
    let ids = partitions(&clock, 4);
    let mut batch = [Sno::default(); 20];
    let error = ids.fill(9, &mut batch).unwrap_err();
    assert_eq!((error.kind(), error.written()), (ErrorKind::SequenceExhausted, Some(16)));
    let made: HashSet<Sno> = batch[..16].iter().copied().collect();
    assert_eq!(made.len(), 16);
    for partition in 1..=4 {
        let of_it = made.iter().filter(|id| (id.partition(), id.metabyte()) == (partition, 9));
        assert_eq!(of_it.count(), 4);
    }
}

#[test]
fn stalls_are_told_of_only_when_all_are_used_up() {
    let (clock, stalls) = (showing([T]), Arc::new(AtomicU32::new(0)));
    let heard = |_: &_| {
        stalls.fetch_add(1, Ordering::Relaxed);
    };
    let members =
        [1, 2].map(|number| Arc::new(partition(&clock, number).on_stall(heard).build().unwrap()));
    let ids = sno::Pool::new(members).unwrap();
    ids.fill(0, &mut [Sno::default(); 8]).unwrap();
    assert_eq!(stalls.load(Ordering::Relaxed), 0);
    ids.generate(0).unwrap_err();
    assert!(stalls.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_member_that_would_fail_at_once_is_passed_over_too() {
    let clock = showing([T]);
    let members = [1, 2].map(|number| {
        let builder = partition(&clock, number).on_exhausted(OnExhausted::Error);
        Arc::new(builder.build().unwrap())
    });
    let ids = sno::Pool::new(members).unwrap();
    ids.fill(0, &mut [Sno::default(); 8]).unwrap();
    let error = ids.generate(0).unwrap_err();
    assert_eq!((error.kind(), error.retry_at()), (ErrorKind::SequenceExhausted, Some(T + 4)));
    assert_eq!(clock.slept(), 0);
}

#[test]
fn a_member_ahead_of_the_clock_is_passed_over() {
    let clock = showing([T + 5000]);
    let members = [7, 8].map(|number| Arc::new(node(&clock, number).build().unwrap()));
    let ids = randflake::Pool::new(members).unwrap();
    let node_of = |id: Randflake| ids.members()[0].inspect(id).node;
    assert_eq!(node_of(ids.generate().unwrap()), 7);
    clock.play([T]);
    assert_eq!(node_of(ids.generate().unwrap()), 8, "which made none yet");
    clock.play([T - 1000]);
    let error = ids.generate().unwrap_err();
    assert_eq!((error.kind(), error.retry_at()), (ErrorKind::ClockBehind, Some(T)));

    let clock = showing([T + 8]);
    let ids = shards(&clock, 2);
    assert_eq!(shard_of(&ids.generate().unwrap()), 1);
    clock.play([T]);
    assert_eq!(shard_of(&ids.generate().unwrap()), 2);
}

#[test]
fn every_family_has_pools() {
    let clock = showing([T]);
    let nodes = [7, 9].map(|number| Arc::new(node(&clock, number).build().unwrap()));
    let ids = randflake::Pool::new(nodes).unwrap();
    let block = NonZeroU32::new((1 << 17) - 5).unwrap();
    let first = ids.members()[0].handle_with(block).generate().unwrap();
    assert_ne!(ids.generate_text().unwrap().as_str(), first.text().as_str());
    let mut batch = [Randflake::default(); 100];
    ids.fill(&mut batch).unwrap();
    let of = batch.map(|id| ids.members()[0].inspect(id).node);
    assert_eq!(of[..4], [7; 4]);
    assert_eq!(of[4..], [9; 96]);

    let ids = shards(&clock, 5);
    let mut batch = [0_i64; 20];
    ids.fill(&mut batch[..]).unwrap();
    assert_eq!(batch.iter().collect::<HashSet<_>>().len(), 20);
    assert_refused(ids.generate(), ErrorKind::SequenceExhausted, None, "retry at");
    assert_refused(ids.fill(&mut [0_u8; 16][..]), ErrorKind::InvalidType, None, "integers");

    let machines = [(); 2]
        .map(|()| Arc::new(hotguid::Generator::builder().clock(clock.clone()).build().unwrap()));
    let ids = hotguid::Pool::new(machines).unwrap();
    let first = ids.generate(3).unwrap();
    assert_eq!(first.shard_key(), 3);
    assert_eq!(ids.generate_text(3).unwrap().as_str().len(), 36);
    let mut batch = [first; 100];
    ids.fill(3, &mut batch).unwrap();
    assert_eq!(batch.iter().collect::<HashSet<_>>().len(), 100);
}

#[test]
fn a_hot_guid_pool_goes_on_past_2_24_in_a_second() {
    let clock = showing([T]);
    let machines = [(); 2]
        .map(|()| Arc::new(hotguid::Generator::builder().clock(clock.clone()).build().unwrap()));
    let ids = hotguid::Pool::new(machines).unwrap();
    // A block of all IDs but one.
    let first =
        ids.members()[0].handle_with(NonZeroU32::new((1 << 24) - 1).unwrap()).generate(0).unwrap();
    let [last, next] = [ids.generate(0).unwrap(), ids.generate(0).unwrap()];
    assert_eq!(last.machine(), first.machine());
    assert_ne!(next.machine(), first.machine());
}

#[test]
fn byte_layouts_are_pooled() {
    let clock = showing([T]);
    let fields = [
        Field::timestamp(48, Tick::MILLISECOND, 0),
        Field::bindable(30, "shard"),
        Field::sequence(2),
    ];
    let layout = Layout::bytes(10, fields).unwrap();
    let members = [1, 2].map(|shard| {
        let builder = layout::Builder::with_clock(layout.clone(), clock.clone());
        Arc::new(builder.bind("shard", shard).build().unwrap())
    });
    let ids = layout::Pool::new(members).unwrap();
    let mut packed = [0_u8; 80];
    ids.fill(&mut packed[..]).unwrap();
    assert_eq!(packed.chunks(10).collect::<HashSet<_>>().len(), 8);
    assert_refused(
        ids.fill(&mut packed[..71]),
        ErrorKind::InvalidLength,
        None,
        "a multiple of 10 bytes",
    );
}

#[test]
fn what_else_a_member_refuses_the_pool_refuses() {
    let clock = showing([T]);
    let ids = partitions(&clock, 2);
    ids.members()[1].close().unwrap();
    ids.fill(0, &mut [Sno::default(); 4]).unwrap();
    for _ in 0..2 {
        assert_eq!(ids.generate(0).unwrap_err().kind(), ErrorKind::GeneratorClosed);
    }
    clock.play([T + 4]);
    assert_eq!(ids.generate(0).unwrap().partition(), 1);

    let members = [1, 2]
        .map(|number| Arc::new(partition(&clock, number).window(T, T + 4000).build().unwrap()));
    let ids = sno::Pool::new(members).unwrap();
    clock.play([T + 4000]);
    assert_eq!(ids.generate(0).unwrap_err().kind(), ErrorKind::LeaseExpired);
    ids.members()[0].extend_window(T + 8000).unwrap();
    assert_eq!(ids.generate(0).unwrap().unix_ms(), T + 4000);
}

#[test]
fn a_failing_clock_fails_the_pool() {
    let members = [1, 2].map(|number| {
        let builder = sno::Builder::with_clock(support::BrokenClock).partition(number);
        Arc::new(builder.build().unwrap())
    });
    let ids = sno::Pool::new(members).unwrap();
    assert_eq!(ids.generate(0).unwrap_err().kind(), ErrorKind::ClockFailed);
}

#[test]
fn partitions_that_might_meet_are_refused() {
    let clock = showing([T]);
    let build = |number| Arc::new(partition(&clock, number).build().unwrap());
    let default = || Arc::new(sno::Builder::with_clock(clock.clone()).build().unwrap());
    let pool =
        |members: &[&Arc<_>]| sno::Pool::new(members.iter().map(|member| Arc::clone(member)));
    let (one, two, twin) = (build(1), build(2), build(1));
    assert_refused(
        pool(&[]),
        ErrorKind::OutOfRange,
        None,
        "expected members from 1 to 65536, found 0",
    );
    let out = ErrorKind::OutOfRange;
    assert_refused(pool(&[&one, &two, &one]), out, Some(2), "found one twice");
    assert_refused(pool(&[&two, &one, &twin]), out, Some(2), "partitions, found the same twice");
    assert_refused(pool(&[&one, &default()]), out, Some(1), "found both");
    assert_refused(pool(&[&default(), &two]), out, Some(1), "found both");
    pool(&[&default(), &default()]).unwrap();
}

#[test]
fn leases_that_might_meet_are_refused() {
    let clock = showing([T]);
    let nodes = |nodes: std::ops::RangeInclusive<u32>, secret: &[u8; 16]| {
        let lease = Grant::with_nodes(nodes, 1_730_000_000, 2_803_741_824).unwrap();
        let builder = randflake::Builder::with_clock(lease, *secret, clock.clone());
        Arc::new(builder.build().unwrap())
    };
    let key = b"sixteen byte key";
    let pool = |all: [Arc<randflake::Generator<_>>; 2]| randflake::Pool::new(all).map(drop);
    let out = ErrorKind::OutOfRange;
    for (one, another) in
        [(7..=7, 7..=7), (1..=5, 5..=9), (5..=9, 1..=5), (1..=9, 3..=4), (3..=4, 1..=9)]
    {
        let refused = pool([nodes(one, key), nodes(another, key)]);
        assert_refused(refused, out, Some(1), "nodes, found the same twice");
    }
    pool([nodes(1..=4, key), nodes(5..=9, key)]).unwrap();
    // A secret with another bit at the beginning, and one with another bit at the end.
    for other in [b"rixteen byte key", b"sixteen byte kex"] {
        let refused = pool([nodes(1..=1, key), nodes(2..=2, other)]);
        assert_refused(refused, ErrorKind::InvalidSecret, Some(1), "expected the same secret");
    }
}

#[test]
fn layouts_that_might_meet_are_refused() {
    let clock = showing([T]);
    let build = |layout: &Layout, shard: Option<i64>| {
        let mut builder = layout::Builder::with_clock(layout.clone(), clock.clone());
        if let Some(shard) = shard {
            builder = builder.bind("shard", shard);
        }
        Arc::new(builder.build().unwrap())
    };
    let pool = |all: [Arc<layout::Generator<_>>; 2]| layout::Pool::new(all).map(drop);
    let (ours, theirs) = (layout(), layout::preset("instagram", []).unwrap());
    let twins = pool([build(&ours, Some(1)), build(&ours, Some(1))]);
    assert_refused(twins, ErrorKind::OutOfRange, Some(1), "found the same twice");
    let strangers = pool([build(&ours, Some(1)), build(&theirs, Some(2))]);
    assert_refused(strangers, ErrorKind::InvalidLayout, Some(1), "expected the same layout");
    let open = pool([build(&ours, Some(1)), build(&ours, None)]);
    assert_refused(open, ErrorKind::MissingField, Some(1), "shard");
    let both_open = pool([build(&ours, None), build(&ours, None)]);
    assert_refused(both_open, ErrorKind::MissingField, Some(0), "shard");
}

/// One call, on the pool or past it.
#[derive(Clone, Debug)]
enum Call {
    One,
    Many(usize),
    OfMember(usize),
}

fn calls() -> impl Strategy<Value = Vec<(i64, Call)>> {
    let call = prop_oneof![
        Just(Call::One),
        (1..20_usize).prop_map(Call::Many),
        (0..4_usize).prop_map(Call::OfMember),
    ];
    prop::collection::vec((0..6_i64, call), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: u32::try_from(rounds(2000)).unwrap(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever the clock shows and whichever way is asked: no ID comes twice, and the pool has one as long as a member has one.
    #[test]
    fn no_id_comes_twice(count in 1..=4_u16, calls in calls()) {
        let clock = showing([T]);
        let ids = partitions(&clock, count);
        let mut made = HashSet::new();
        for (tick, call) in calls {
            clock.play([T + 4 * tick]);
            let mut batch = vec![Sno::default(); if let Call::Many(n) = call { n } else { 1 }];
            let result = match call {
                Call::OfMember(place) => {
                    ids.members()[place % usize::from(count)].fill(5, &mut batch)
                }
                _ => ids.fill(5, &mut batch),
            };
            batch.truncate(result.as_ref().err().map_or(batch.len(), |error| error.written().unwrap()));
            for id in batch {
                prop_assert_eq!(id.unix_ms(), T + 4 * tick);
                prop_assert!(made.insert(id), "{} comes twice", id);
            }
        }
    }

    /// Members that go on in the highest tick or refuse: as a pool, they have exactly the IDs of all of them.
    #[test]
    fn a_pool_has_all_that_its_members_have(count in 1..=4_i64, wanted in prop::collection::vec(1..12_usize, 1..8)) {
        let clock = showing([T]);
        let ids = shards(&clock, count);
        let all = 4 * usize::try_from(count).unwrap();
        let mut made: HashSet<i64> = HashSet::new();
        for want in wanted {
            let left = all - made.len();
            let mut batch = vec![0_i64; want];
            let result = ids.fill(&mut *batch);
            let written = result.map_or_else(|error| error.written().unwrap(), |()| want);
            prop_assert_eq!(written, want.min(left));
            made.extend(&batch[..written]);
        }
        prop_assert!(made.len() <= all);
    }
}

/// The IDs that threads make of a pool, one list for each thread.
fn made_by_threads<Id: Copy + Default + Send + Eq + Hash>(
    fill: impl Fn(&mut [Id]) -> Result<()> + Sync,
) -> usize {
    let (threads, batches) = (if cfg!(miri) { 2 } else { 4 }, rounds(4000));
    let made: Vec<Vec<Id>> = thread::scope(|scope| {
        let work = || {
            let mut ids = vec![Id::default(); batches * 5];
            ids.chunks_mut(5).for_each(|batch| fill(batch).unwrap());
            ids
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: HashSet<Id> = made.into_iter().flatten().collect();
    assert_eq!(all.len(), threads * batches * 5, "an ID came twice");
    all.len()
}

#[test]
fn threads_that_share_a_pool_and_its_members_never_meet() {
    // Few sequences, so that threads go from member to member and wait all the time.
    let members: Vec<_> = (1..=4)
        .map(|number| {
            let builder = sno::Generator::builder().partition(number).sequence_max(499);
            builder.max_wait(std::time::Duration::from_secs(60)).build().unwrap()
        })
        .collect();
    let ids = sno::Pool::new(&members).unwrap();
    made_by_threads(|batch| ids.fill(1, batch));
}
