//! Tests generators with a range of worker IDs. Within a tick, all calls together must use each pair of worker ID and
//! sequence number exactly once, in ID order. A restart with a different range must not repeat an ID.

use std::{collections::HashSet, ops::RangeInclusive};

use polyflake::{
    Result,
    clock::ManualClock,
    layout::{Builder, Field, Generator, Handle, Id, Layout, Snapshot, Tick},
};

use crate::shared::assert_code;

const MS: Tick = Tick::MILLISECOND;

fn time_field() -> Field {
    Field::timestamp(40, MS, 0)
}

/// Returns an integer or byte layout with a `node` field and, below it, a `region` field. The region is either passed with
/// each ID or fixed.
fn node_layout(is_integer: bool, node_bits: u32, sequence_bits: u32) -> Layout {
    let fields = [
        time_field(),
        Field::bindable(node_bits, "node"),
        Field::bindable(2, "region"),
        Field::sequence(sequence_bits),
        Field::unused(22 - node_bits - sequence_bits),
    ];
    if is_integer { Layout::integer(fields) } else { Layout::bytes(8, fields) }.unwrap()
}

fn ranged_builder(
    layout: Layout,
    clock: &ManualClock,
    numbers: RangeInclusive<u64>,
) -> Builder<&ManualClock> {
    Builder::with_clock(layout, clock).bind("region", 1).range("node", numbers)
}

/// Returns the time, the node and the sequence number of an ID.
fn parts(layout: &Layout, id: &Id) -> (i64, i128, i128) {
    let parsed = layout.parse(id).unwrap();
    let node = parsed.integer(layout.bindable("node").unwrap()).unwrap();
    assert_eq!(parsed.bindable("region").unwrap(), 1.into());
    (parsed.unix_ms().unwrap(), node, parsed.sequence().unwrap())
}

/// Generates up to `count` IDs in one batch, without leaving the current tick.
fn generate_batch<C: polyflake::clock::Clock>(ids: &Generator<C>, count: usize) -> Vec<Id> {
    if ids.layout().is_integer() {
        let mut batch = vec![0_i64; count];
        let made = ids.try_fill(&mut batch[..]).unwrap();
        return batch[..made].iter().map(|id| Id::Integer(*id)).collect();
    }
    let length = ids.layout().bits() as usize / 8;
    let mut batch = vec![0_u8; length * count];
    let made = ids.try_fill(&mut batch[..]).unwrap();
    batch[..length * made].chunks(length).map(|id| Id::Bytes(id.into())).collect()
}

/// Generates all IDs of one tick with single calls, batches and handles in turn, and returns the sorted IDs.
fn generate_full_tick(ids: &Generator<&ManualClock>) -> Vec<Id> {
    let (mut all, mut handle) = (Vec::new(), Handle::with_first(ids, 2.try_into().unwrap()));
    loop {
        let mut made = generate_batch(ids, 3);
        made.extend(ids.try_generate());
        assert!(made.is_sorted());
        made.extend([handle.try_generate(), handle.try_generate()].into_iter().flatten());
        if made.is_empty() {
            break;
        }
        all.extend(made);
    }
    all.sort_unstable();
    all
}

#[test]
fn each_worker_id_uses_each_sequence_of_a_tick_once() {
    for (is_integer, sequence_bits) in [(true, 0), (true, 2), (false, 3)] {
        let most = if cfg!(miri) { 1 } else { 3 };
        for (first, last) in (0..=most).flat_map(|last| (0..=last).map(move |first| (first, last)))
        {
            let clock = ManualClock::at_unix_ms(5);
            let layout = node_layout(is_integer, 2, sequence_bits);
            let ids = ranged_builder(layout.clone(), &clock, first..=last).build().unwrap();
            for tick in [5, 6, 9] {
                clock.set_unix_ms(tick);
                let made = generate_full_tick(&ids);
                let sequences = || 0..1 << sequence_bits;
                let expected: Vec<_> = (first..=last)
                    .flat_map(|node| sequences().map(move |n| (tick, node.into(), n)))
                    .collect();
                let found: Vec<_> = made.iter().map(|id| parts(&layout, id)).collect();
                assert_eq!(found, expected, "{first}..={last}");
                assert_eq!(ids.stats().len, expected.len() as u128);
                assert_code(ids.try_generate(), "sequence_exhausted");
            }
        }
    }
}

#[test]
fn per_call_values_do_not_override_the_range() {
    let (clock, layout) = (ManualClock::at_unix_ms(5), node_layout(true, 2, 1));
    let ids = Builder::with_clock(layout.clone(), &clock).range("node", 1..=2).build().unwrap();
    assert_code(ids.generate(), "missing_field");
    let mut values = ids.values();
    values.bind("node", 0).unwrap().bind("region", 1).unwrap();
    let mut made = vec![ids.generate_with(&values).unwrap()];
    made.push(ids.handle().generate_with(&values).unwrap());
    let mut rest = [0_i64; 4];
    clock.set_unix_ms(6);
    ids.fill_with(&values, &mut rest[..]).unwrap();
    made.extend(rest.map(Id::Integer));
    let found: Vec<_> = made.iter().map(|id| parts(&layout, id)).collect();
    assert_eq!(found, [(5, 1, 0), (5, 1, 1), (6, 1, 0), (6, 1, 1), (6, 2, 0), (6, 2, 1)]);
}

/// A snapshot prevents duplicates no matter which worker IDs the next generator uses.
#[test]
fn a_restart_with_another_range_repeats_no_id() {
    let (clock, layout) = (ManualClock::at_unix_ms(5), node_layout(true, 2, 1));
    let builder = |numbers: Option<RangeInclusive<u64>>, one: u64| match numbers {
        Some(numbers) => ranged_builder(layout.clone(), &clock, numbers),
        None => Builder::with_clock(layout.clone(), &clock).bind("region", 1).bind("node", one),
    };
    let ranges: Vec<_> = (0..4_u64)
        .flat_map(|last| (0..=last).map(move |first| (first, last)))
        .flat_map(|(first, last)| [Some(first..=last), None].map(|range| (range, first)))
        .collect();
    for (before, one) in &ranges {
        for made in 0..=8 {
            clock.set_unix_ms(5);
            let ids = builder(before.clone(), *one).build().unwrap();
            let mut all = generate_batch(&ids, made);
            let snapshot = ids.close().unwrap();
            for (after, one) in &ranges {
                clock.set_unix_ms(5);
                let again = builder(after.clone(), *one).restore(snapshot).unwrap();
                let mut both = all.clone();
                both.extend(generate_batch(&again, 8));
                clock.set_unix_ms(6);
                let next = generate_batch(&again, 8);
                let count = after.as_ref().map_or(1, |range| range.clone().count());
                assert_eq!(next.len(), 2 * count, "the next tick is whole");
                both.extend(next);
                let made = both.len();
                assert_eq!(both.into_iter().collect::<HashSet<_>>().len(), made);
            }
            all.clear();
        }
    }
}

#[test]
fn a_range_snapshot_marks_a_started_tick_as_exhausted() {
    let clock = ManualClock::at_unix_ms(5);
    let build = || ranged_builder(node_layout(true, 2, 1), &clock, 1..=3);
    assert_eq!(build().build().unwrap().close(), Ok(Snapshot::new(0, 0)));
    let ids = build().build().unwrap();
    ids.generate().unwrap();
    assert_eq!(ids.close(), Ok(Snapshot::new(5, 2)));
    assert_code(build().restore(Snapshot::new(5, 3)), "out_of_range");
}

#[test]
fn unsupported_ranges_are_rejected() {
    let assert_error = |fields: Vec<Field>, code| {
        let layout = Layout::bytes(16, fields).unwrap();
        let builder = Builder::with_clock(layout, ManualClock::at_unix_ms(5));
        assert_code(builder.range("node", 0..=1).build(), code)
    };
    let node = || Field::bindable(10, "node");
    let rest = |bits| Field::unused(128_u32 - bits);
    let sequence = || Field::sequence(8);
    assert_error(vec![time_field(), sequence(), node(), rest(58)], "invalid_layout"); // IDs would not be sorted
    assert_error(vec![node(), time_field(), sequence(), rest(58)], "invalid_layout");
    assert_error(vec![time_field(), node(), rest(50)], "invalid_layout");
    assert_error(
        vec![time_field(), node(), Field::sequence_from(8, 1), rest(58)],
        "invalid_layout",
    );
    assert_error(vec![time_field(), node(), sequence().inverted(), rest(58)], "invalid_layout");
    assert_error(vec![time_field(), node().inverted(), sequence(), rest(58)], "invalid_layout");
    assert_error(vec![time_field(), node(), Field::sequence(63), rest(113)], "invalid_layout"); // a tick would have 2^64 slots
    assert_error(
        vec![time_field(), Field::bindable(65, "node"), sequence(), rest(113)],
        "invalid_type",
    );
    let text = Field::bindable_of(polyflake::layout::ValueType::Text, 16, "node");
    assert_error(vec![time_field(), text, sequence(), rest(64)], "invalid_type");
    assert_error(
        vec![time_field(), Field::bindable(10, "shard"), sequence(), rest(58)],
        "unknown_field",
    );
    let alone = Layout::integer([Field::unused(46), node(), sequence()]).unwrap();
    let alone = Generator::builder(alone).sequence_only(true).range("node", 0..=1);
    assert_code(alone.build(), "invalid_layout");
}

#[test]
fn out_of_range_worker_ids_are_rejected() {
    let clock = ManualClock::at_unix_ms(5);
    let build = |numbers| ranged_builder(node_layout(true, 2, 1), &clock, numbers).build();
    let fault = |result: Result<Generator<_>>| {
        let error = assert_code(result, "out_of_range");
        (error.field().map(String::from), error.range())
    };
    let node = Some(String::from("node"));
    assert_eq!(fault(build(0..=4)), (node.clone(), Some((4, 0, 3))));
    assert_eq!(fault(build(4..=u64::MAX)), (node.clone(), Some((4, 0, 3))));
    #[allow(clippy::reversed_empty_ranges, reason = "the range is rejected")]
    let reversed = build(2..=1);
    assert_eq!(fault(reversed), (node, Some((1, 2, 3))));
    let both = ranged_builder(node_layout(true, 2, 1), &clock, 0..=1).bind("node", 1);
    assert_eq!(assert_code(both.build(), "invalid_layout").field(), Some("node"));
}

/// The largest range has 2^64 slots minus the slots of one worker ID.
#[test]
fn the_largest_range_fits_the_state() {
    let clock = ManualClock::at_unix_ms(5);
    let fields = [time_field(), Field::bindable(62, "node"), Field::sequence(2), Field::unused(24)];
    let layout = Layout::bytes(16, fields).unwrap();
    let (first, last) = (1, (1 << 62) - 1);
    let builder = Builder::with_clock(layout.clone(), &clock).range("node", first..=last);
    let ids = builder.build().unwrap();
    let made = [(); 5].map(|()| ids.generate().unwrap());
    assert!(made.is_sorted());
    let node = |id| layout.parse(id).unwrap().bindable("node").unwrap();
    assert_eq!((node(&made[3]), node(&made[4])), (1.into(), 2.into()));
}
