//! Handles of the per-tick families: blocks that end with their tick and their generator, and threads that never share an ID.

mod support;

use std::{collections::HashSet, fmt::Debug, hash::Hash, num::NonZeroU32, sync::Arc, thread};

use polyflake::{
    Result, hotguid,
    layout::{self, Field, Layout, Tick},
    randflake::{self, Grant},
};
use support::{ScriptedClock, rounds};

/// A moment at the beginning of a second, in Unix milliseconds.
const T: i64 = 1_763_650_000_000;

fn randflakes(clock: &ScriptedClock) -> randflake::Generator<ScriptedClock> {
    let lease = Grant::new(7, 1_730_000_000, 2_803_741_824).unwrap();
    randflake::Generator::builder(lease, *b"sixteen byte key").clock(clock.clone()).build().unwrap()
}

fn hot_guids(clock: &ScriptedClock) -> hotguid::Generator<ScriptedClock> {
    hotguid::Generator::builder().clock(clock.clone()).build().unwrap()
}

fn layouts(clock: &ScriptedClock) -> layout::Generator<ScriptedClock> {
    let fields = [
        Field::timestamp(42, Tick::MILLISECOND, 0),
        Field::bindable(2, "shard"),
        Field::sequence(20),
    ];
    let builder = layout::Generator::builder(Layout::integer(fields).unwrap()).bind("shard", 3);
    builder.clock(clock.clone()).build().unwrap()
}

/// Slots of three IDs in one tick, then one in the next: the block's rest is lost.
#[track_caller]
fn assert_blocks_die(slots: impl Fn(usize) -> Vec<u64>, clock: &ScriptedClock) {
    clock.play([T]);
    let first = slots(3);
    assert_eq!([first[1] - first[0], first[2] - first[0]], [1, 2]);
    clock.play([T + 1000]);
    assert_eq!(slots(1), [first[0]]);
}

#[test]
fn a_block_dies_with_its_tick() {
    let clock = ScriptedClock::default();
    let ids = randflakes(&clock);
    let handle = std::cell::RefCell::new(ids.handle());
    let slot = || u64::from(ids.inspect(handle.borrow_mut().generate().unwrap()).sequence);
    assert_blocks_die(|count| (0..count).map(|_| slot()).collect(), &clock);

    let ids = layouts(&clock);
    let handle = std::cell::RefCell::new(ids.handle());
    let slot = || {
        let id = handle.borrow_mut().generate().unwrap();
        u64::try_from(ids.layout().parse(&id).unwrap().sequence().unwrap()).unwrap()
    };
    assert_blocks_die(|count| (0..count).map(|_| slot()).collect(), &clock);
}

#[test]
fn two_handles_take_turns_by_blocks() {
    let clock = ScriptedClock::default();
    clock.play([T]);
    let ids = hot_guids(&clock);
    let (mut one, mut other) =
        (ids.handle(), hotguid::Handle::with_first(&ids, NonZeroU32::new(8).unwrap()));
    let first = one.generate(1).unwrap().counter();
    let after = |counter: u32| counter.wrapping_sub(first) & 0xff_ffff;
    assert_eq!(after(other.generate(1).unwrap().counter()), 64);
    assert_eq!(after(one.generate(1).unwrap().counter()), 1);
    assert_eq!(after(ids.generate(1).unwrap().counter()), 72);
    assert_eq!(one.generate(9).unwrap().shard_key(), 9);
}

#[test]
fn a_block_of_hot_guids_goes_on_while_the_clock_is_behind() {
    let clock = ScriptedClock::default();
    clock.play([T]);
    let ids = hot_guids(&clock);
    let mut handle = ids.handle();
    let first = handle.generate(1).unwrap();
    clock.play([T - 5000]);
    let second = handle.generate(1).unwrap();
    let next = ids.generate(1).unwrap();
    let after = |id: hotguid::HotGuid| id.counter().wrapping_sub(first.counter()) & 0xff_ffff;
    assert_eq!([after(second), after(next)], [1, 64]);
    assert_eq!([second.timestamp(), next.timestamp()], [T / 1000; 2]);
}

#[test]
fn blocks_double_within_a_tick() {
    let clock = ScriptedClock::default();
    clock.play([T]);
    let ids = hot_guids(&clock);
    let (mut hasty, start) =
        (hotguid::Handle::with_first(&ids, NonZeroU32::new(2).unwrap()), ids.generate(1).unwrap());
    let after = |id: hotguid::HotGuid| id.counter().wrapping_sub(start.counter()) & 0xff_ffff;
    // The start of the next block, after the handle has used up a number of IDs.
    let mut begins = |uses: u32| {
        for _ in 0..uses {
            hasty.generate(1).unwrap();
        }
        after(ids.generate(1).unwrap())
    };
    // Blocks of 2, 4, 8, ..., 128, then 128 for ever; between them lie the IDs made to look.
    let found = [2, 4, 8, 16, 32, 64, 128, 128].map(&mut begins);
    assert_eq!(found, [3, 8, 17, 34, 67, 132, 261, 390]);
    clock.play([T + 1000]);
    assert_eq!(after(hasty.generate(1).unwrap()), 0, "a tick begins with a small block");
    assert_eq!(after(ids.generate(1).unwrap()), 2);
}

#[test]
fn a_handle_that_holds_its_generator_encrypts_slot_after_slot() {
    let clock = ScriptedClock::default();
    clock.play([T]);
    let ids = Arc::new(randflakes(&clock));
    let mut handle = randflake::Handle::new(Arc::clone(&ids));
    let slots: Vec<u32> =
        (0..500).map(|_| ids.inspect(handle.generate().unwrap()).sequence).collect();
    assert_eq!(slots, (0..500).collect::<Vec<_>>());
}

/// A handle of Randflake has encrypted IDs in advance, which it must not show yet.
#[test]
fn what_a_handle_holds_ready_is_not_shown() {
    let lease = Grant::new(7, 1_730_000_000, 2_803_741_824).unwrap();
    let ids = randflake::Generator::builder(lease, *b"sixteen byte key").build().unwrap();
    let mut handle = ids.handle();
    handle.generate().unwrap();
    let shown = format!("{handle:?}");
    assert!(shown.ends_with("group: Group }"), "{shown}");
    assert!(!shown.contains("Randflake("), "{shown}");
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn the_last_block_of_a_tick_is_short_and_nothing_comes_after_it() {
    let clock = ScriptedClock::default();
    clock.play([T]);
    let ids = randflakes(&clock);
    let mut handle = ids.handle();
    let slots = std::iter::from_fn(|| handle.generate().ok()).map(|id| ids.inspect(id).sequence);
    assert!(slots.eq(0..131_072));
}

#[test]
fn a_closed_generator_ends_its_handles() {
    let clock = ScriptedClock::default();
    clock.play([T]);
    let (randflakes, hot_guids, layouts) = (randflakes(&clock), hot_guids(&clock), layouts(&clock));
    let (mut one, mut two, mut three) = (randflakes.handle(), hot_guids.handle(), layouts.handle());
    one.generate().unwrap();
    two.generate(0).unwrap();
    three.generate().unwrap();
    randflakes.close().unwrap();
    hot_guids.close().unwrap();
    let snapshot = layouts.close().unwrap();
    assert_eq!(one.generate().unwrap_err().code(), "generator_closed");
    assert_eq!(two.generate(0).unwrap_err().code(), "generator_closed");
    assert_eq!(three.generate().unwrap_err().code(), "generator_closed");
    assert_eq!(snapshot.next_sequence, 64);
}

#[test]
fn bindables_may_differ_from_id_to_id() {
    let clock = ScriptedClock::default();
    clock.play([T]);
    let ids = layouts(&clock);
    let mut handle = ids.handle();
    let id = handle.generate_with(ids.values().bind("shard", 1).unwrap()).unwrap();
    assert_eq!(ids.layout().parse(&id).unwrap().bindable("shard").unwrap(), 1.into());
    assert_eq!(
        ids.layout().parse(&handle.generate().unwrap()).unwrap().bindable("shard").unwrap(),
        3.into()
    );
}

/// IDs of four threads, each with a handle of its own, on the real clock.
#[track_caller]
fn assert_never_equal<I: Debug + Eq + Hash + Send>(
    make: impl Fn(NonZeroU32) -> Vec<Result<I>> + Sync,
) {
    let all: Vec<I> = thread::scope(|scope| {
        let make = &make;
        let threads: Vec<_> = (1..=4)
            .map(|size| scope.spawn(move || make(NonZeroU32::new(size * 5).unwrap())))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).map(Result::unwrap).collect()
    });
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

#[test]
fn handles_of_many_threads_never_share_an_id() {
    const EACH: usize = rounds(10_000);
    let lease = Grant::with_nodes(7..=9, 1_730_000_000, 2_803_741_824).unwrap();
    let ids = randflake::Generator::builder(lease, *b"sixteen byte key").build().unwrap();
    assert_never_equal(|size| {
        let mut handle = randflake::Handle::with_first(&ids, size);
        (0..EACH).map(|_| handle.generate()).collect()
    });
    let ids = hotguid::Generator::new();
    assert_never_equal(|size| {
        let mut handle = hotguid::Handle::with_first(&ids, size);
        (0..EACH).map(|_| handle.generate(1)).collect()
    });
    let fields = [Field::timestamp(42, Tick::MILLISECOND, 0), Field::sequence(22)];
    let ids = layout::Generator::builder(Layout::integer(fields).unwrap()).build().unwrap();
    assert_never_equal(|size| {
        let mut handle = layout::Handle::with_first(&ids, size);
        (0..EACH).map(|_| handle.generate()).collect()
    });
}
