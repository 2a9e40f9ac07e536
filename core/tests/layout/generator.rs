//! Tests layout generators with bindable fields, restarts, sequences without a timestamp, and state words of all widths.

use polyflake::{
    Error,
    clock::ManualClock,
    layout::{Builder, Field, Generator, Id, Layout, Snapshot, Tick, ValueType, preset},
};

use crate::shared::{BrokenClock, ScriptedClock, assert_code};

const EPOCH_MS: i64 = 1_483_228_800_000;
const MS: Tick = Tick::MILLISECOND;

fn snowflake() -> Layout {
    let fields = [
        Field::unused(1),
        Field::timestamp(41, MS, EPOCH_MS),
        Field::bindable(10, "worker"),
        Field::sequence(12),
    ];
    Layout::integer(fields).unwrap()
}

/// Returns a builder for a snowflake generator with worker ID 7. The clock returns the given readings, in milliseconds
/// after the epoch.
fn worker_builder(
    clock: &ScriptedClock,
    readings: impl IntoIterator<Item = i64>,
) -> Builder<ScriptedClock> {
    set_readings(clock, readings);
    Builder::with_clock(snowflake(), clock.clone()).bind("worker", 7)
}

fn set_readings(clock: &ScriptedClock, readings: impl IntoIterator<Item = i64>) {
    clock.set_readings(readings.into_iter().map(|ms| EPOCH_MS + ms));
}

/// Returns the time since the epoch, the worker ID and the sequence number of an ID.
fn parts(id: &Id) -> (i64, i128, i128) {
    let layout = snowflake();
    let parsed = layout.parse(id).unwrap();
    let worker = parsed.integer(layout.bindable("worker").unwrap()).unwrap();
    (parsed.unix_ms().unwrap() - EPOCH_MS, worker, parsed.sequence().unwrap())
}

#[test]
fn bindables_are_bound_or_passed_with_each_call() {
    let clock = ScriptedClock::default();
    let ids = worker_builder(&clock, [5]).build().unwrap();
    assert_eq!(parts(&ids.generate().unwrap()), (5, 7, 0));
    assert_eq!(parts(&ids.generate_with(&ids.values()).unwrap()), (5, 7, 1));
    assert_eq!(
        parts(&ids.generate_with(ids.values().bind("worker", 9).unwrap()).unwrap()),
        (5, 9, 2)
    );
    let open = Builder::with_clock(snowflake(), clock.clone()).build().unwrap();
    assert_eq!(assert_code(open.generate(), "missing_field").field(), Some("worker"));
    assert_code(open.fill(&mut [0_i64; 3][..]), "missing_field");
    assert_code(open.generate_with(&open.values()), "missing_field");
    assert_code(open.generate_with(open.values().bind("worker", 1024).unwrap()), "out_of_range");
    assert_code(open.generate_with(open.values().bind("worker", "7").unwrap()), "invalid_type");
    // The generator overwrites a timestamp and a sequence number that are set in the values. The failed calls above have
    // used no slots.
    let mut values = open.values();
    values.bind("worker", 3).unwrap().time(-1).unwrap().sequence(1 << 20).unwrap();
    assert_eq!(parts(&open.generate_with(&values).unwrap()), (5, 3, 0));
    // Values of an equal layout are accepted. Values of a different layout are rejected.
    let (equal, other) = (snowflake(), preset("discord", []).unwrap());
    assert!(open.generate_with(equal.values().bind("worker", 1).unwrap()).is_ok());
    assert_code(open.generate_with(&other.values()), "invalid_layout");
}

#[test]
fn bound_values_are_checked_at_build() {
    let build = |name: &str, value: polyflake::layout::Value<'static>| {
        Builder::with_clock(snowflake(), ManualClock::at_unix_ms(EPOCH_MS))
            .bind(name, value)
            .build()
    };
    assert_code(build("nope", 1.into()), "unknown_field");
    assert_code(build("worker", 1024.into()), "out_of_range");
    assert_code(build("worker", "7".into()), "invalid_type");
    let both = Builder::with_clock(snowflake(), ManualClock::at_unix_ms(EPOCH_MS))
        .bind("worker", 1024)
        .bind("nope", 1);
    assert_code(both.build(), "unknown_field");
}

#[test]
fn layouts_without_a_usable_sequence_are_rejected() {
    let clock = || ManualClock::at_unix_ms(EPOCH_MS);
    let time = || Field::timestamp(41, MS, EPOCH_MS);
    let build = |fields: Vec<Field>, alone: bool| {
        Builder::with_clock(Layout::integer(fields).unwrap(), clock()).sequence_only(alone).build()
    };
    assert_code(build(vec![time(), Field::unused(23)], false), "invalid_layout");
    assert_code(build(vec![time(), Field::unused(23)], true), "invalid_layout");
    assert_code(build(vec![Field::unused(64)], true), "invalid_layout");
    assert_code(build(vec![Field::sequence(64)], false), "invalid_layout");
    assert_code(build(vec![time(), Field::sequence(23)], true), "invalid_layout");
    for name in ["mastodon", "baidu"] {
        assert_code(
            Builder::with_clock(preset(name, []).unwrap(), clock()).build(),
            "invalid_layout",
        );
    }
}

#[test]
fn unreachable_epochs_return_time_out_of_range() {
    for epoch in [i64::MAX, i64::MIN] {
        let fields = [Field::timestamp(40, MS, epoch), Field::sequence(24)];
        let layout = Layout::integer(fields).unwrap();
        let far = Builder::with_clock(layout, ManualClock::at_unix_ms(EPOCH_MS)).build().unwrap();
        assert_code(far.generate(), "time_out_of_range");
    }
}

/// The last tick that fits into the generator's state is 2^63 - 1.
#[test]
fn windows_end_at_the_limit_of_the_state() {
    let clock = ScriptedClock::default();
    let build = |epoch: i64, window: (i64, i64)| {
        let fields = [Field::timestamp(64, MS, epoch), Field::sequence(16)];
        let builder = Builder::with_clock(Layout::bytes(10, fields).unwrap(), clock.clone());
        builder.window(window.0, window.1).build()
    };
    let (early, whole) = ((0, 1), (0, i64::MAX));
    for epoch in [0, -1] {
        assert_eq!(build(epoch, whole).unwrap().window(), Some(whole), "{epoch}");
        let ids = build(epoch, early).unwrap();
        ids.extend_window(i64::MAX).unwrap();
        assert_eq!(ids.window(), Some(whole), "{epoch}");
    }
    for epoch in [-2, -9, i64::MIN / 2000] {
        assert_code(build(epoch, whole), "time_out_of_range");
        let ids = build(epoch, early).unwrap();
        assert_code(ids.extend_window(i64::MAX), "out_of_range");
        assert_eq!(ids.window(), Some(early), "{epoch}");
    }
}

#[test]
fn a_closed_generator_is_restored_from_its_snapshot() {
    let clock = ScriptedClock::default();
    let ids = worker_builder(&clock, [5]).build().unwrap();
    ids.fill(&mut [0_i64; 3][..]).unwrap();
    let stats = ids.stats();
    assert_eq!((stats.last_ms, stats.len, stats.closed), (Some(EPOCH_MS + 5), 3, false));
    let snapshot = ids.close().unwrap();
    assert_eq!(snapshot, Snapshot::new(5, 3));
    assert_code(ids.generate(), "generator_closed");
    let json = serde_json::to_string(&snapshot).unwrap();
    assert_eq!(json, r#"{"format":1,"tick":5,"next_sequence":3}"#);
    assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), snapshot);
    let again = worker_builder(&clock, [5]).restore(snapshot).unwrap();
    assert_eq!(parts(&again.generate().unwrap()), (5, 7, 3));
    set_readings(&clock, [4]);
    assert_code(again.generate(), "clock_behind");

    let restore_error = |tick, next_sequence| {
        assert_code(
            worker_builder(&clock, []).restore(Snapshot::new(tick, next_sequence)),
            "out_of_range",
        )
    };
    assert_eq!(restore_error(1 << 41, 0).field(), Some("tick"));
    assert_eq!(restore_error(0, 4097).field(), Some("next_sequence"));
    restore_error(0, u128::MAX);
    let full = worker_builder(&clock, [5]).restore(Snapshot::new(5, 4096)).unwrap();
    assert_code(full.generate(), "sequence_exhausted");
    for json in [
        "{}",
        r#"{"tick":"5"}"#,
        r#"{"tick":"x","next_sequence":"3"}"#,
        r#"{"tick":5,"next_sequence":3,"more":1}"#,
        r#"{"format":2,"tick":5,"next_sequence":3}"#,
        "[]",
    ] {
        assert!(serde_json::from_str::<Snapshot>(json).is_err(), "{json}");
    }
    assert_eq!(
        serde_json::from_str::<Snapshot>(r#"{"tick":"5","next_sequence":"3"}"#).unwrap(),
        snapshot
    );
}

#[test]
fn stats_distinguish_the_first_use_from_none() {
    let clock = ScriptedClock::default();
    let stats = |ids: &Generator<ScriptedClock>| (ids.stats().last_ms, ids.stats().len);
    let fields =
        [Field::unused(1), Field::timestamp(41, MS, EPOCH_MS), Field::sequence_from(22, 100)];
    let layout = Layout::integer(fields).unwrap();
    let ids = Builder::with_clock(layout, clock.clone()).build().unwrap();
    assert_eq!(stats(&ids), (None, 0));
    // A new generator's state is in the layout's first tick.
    set_readings(&clock, [0]);
    ids.generate().unwrap();
    assert_eq!(stats(&ids), (Some(EPOCH_MS), 1));
    set_readings(&clock, [1]);
    ids.generate().unwrap();
    assert_eq!(stats(&ids), (Some(EPOCH_MS + 1), 1));
    let untouched = Snapshot::new(9, 0);
    assert_eq!(
        stats(&worker_builder(&clock, []).restore(untouched).unwrap()),
        (Some(EPOCH_MS + 9), 0)
    );
}

#[test]
fn batches_accept_their_own_bindables() {
    let clock = ScriptedClock::default();
    let ids = worker_builder(&clock, [5]).build().unwrap();
    let mut batch = [0_i64; 3];
    ids.fill_with(ids.values().bind("worker", 9).unwrap(), &mut batch[..]).unwrap();
    assert_eq!(batch.map(|id| parts(&Id::Integer(id))), [(5, 9, 0), (5, 9, 1), (5, 9, 2)]);
    let mut more = vec![0_i64; 5000];
    assert_eq!(ids.try_fill_with(&ids.values(), &mut more[..]), Ok(4093));
    assert_eq!(parts(&Id::Integer(more[4092])), (5, 7, 4095));
    assert_code(ids.try_generate_with(&ids.values()), "sequence_exhausted");
}

#[test]
fn a_sequence_without_a_timestamp_generates_ids() {
    let layout =
        Layout::bytes(2, [Field::bindable(8, "a"), Field::unused(4), Field::sequence_from(4, 3)])
            .unwrap();
    let build =
        || Builder::with_clock(layout.clone(), BrokenClock).sequence_only(true).bind("a", 255);
    let ids = build().build().unwrap();
    assert_eq!(ids.generate(), Ok(Id::Bytes(vec![255, 3])));
    assert_eq!((ids.window(), ids.stats().last_ms, ids.stats().len), (None, None, 1));
    let mut batch = [0_u8; 30];
    let error = assert_code(ids.fill(&mut batch[..]), "sequence_exhausted");
    assert_eq!((error.written(), error.retry_at()), (Some(12), None));
    assert_eq!(batch[..4], [255, 4, 255, 5]);
    assert_eq!(batch[22..26], [255, 15, 0, 0]);
    assert_code(ids.generate(), "sequence_exhausted");
    assert_eq!(ids.close(), Ok(Snapshot::new(0, 16)));
    let again = build().restore(Snapshot::new(0, 15)).unwrap();
    assert_eq!(again.generate(), Ok(Id::Bytes(vec![255, 15])));
    assert_code(build().restore(Snapshot::new(1, 15)), "out_of_range");
    assert_code(build().restore(Snapshot::new(0, 2)), "out_of_range");
    assert_eq!(
        assert_code(build().window(0, 1).build(), "unknown_field").field(),
        Some("timestamp")
    );
    assert_code(again.extend_window(5), "unknown_field");
}

/// The timestamp and the sequence have 64 bits each, in a 128-bit word.
#[test]
fn the_widest_layout_generates_ids() {
    let fields = [
        Field::timestamp(64, Tick::MICROSECOND, -5_000_000_000_000).inverted(),
        Field::bindable_of(ValueType::Text, 72, "host"),
        Field::sequence_from(64, -2),
    ];
    let layout = Layout::bytes(25, fields).unwrap();
    let clock = ManualClock::new(1_763_650_000_123_456_789);
    let build = || Builder::with_clock(layout.clone(), &clock).bind("host", "hostname");
    let ids = build().build().unwrap();
    let mut bytes = [0; 50];
    ids.fill(&mut bytes[..]).unwrap();
    for (index, id) in bytes.chunks(25).enumerate() {
        let parsed = layout.parse_bytes(id).unwrap();
        assert_eq!(parsed.unix_nanos(), Some(1_763_650_000_123_456_000));
        assert_eq!(parsed.sequence(), Some([-2, -1][index]));
        assert_eq!(parsed.bindable("host"), Ok("hostname".into()));
    }
    let error = assert_code(
        build().restore(ids.close().unwrap()).unwrap().generate(),
        "sequence_exhausted",
    );
    assert_eq!(error.retry_at(), Some(1_763_650_000_124));
    let ids = build().build().unwrap();
    clock.set_unix_nanos(i64::MAX);
    ids.generate().unwrap();
    assert_eq!(ids.close().unwrap().next_sequence, (1 << 64) - 1);
    // The slots range from the first sequence number of the first tick to the last sequence number of the last tick.
    let whole = Layout::bytes(16, [Field::timestamp(64, MS, 0), Field::sequence(64)]).unwrap();
    let last = Snapshot::new(5, u64::MAX.into());
    let ids = Builder::with_clock(whole, ManualClock::at_unix_ms(5)).restore(last).unwrap();
    assert_eq!(ids.generate(), Ok(Id::Bytes([&[0, 0, 0, 0, 0, 0, 0, 5], &[255; 8][..]].concat())));
    assert_code(ids.generate(), "sequence_exhausted");
}

/// The epoch of a 64-bit timestamp may be so early that the current tick number needs more than 63 bits or does not fit in
/// the state word.
#[test]
fn very_early_epochs_are_handled() {
    let us = Tick::MICROSECOND;
    let clock = ManualClock::at_unix_ms(0);
    let build = |sequence: u32, epoch_ms: i64| {
        let fields = [Field::timestamp(64, us, epoch_ms), Field::sequence(sequence)];
        Builder::with_clock(Layout::bytes(8 + sequence as usize / 8, fields)?, &clock).build()
    };
    let last_ms = i64::MAX / 1000;
    let ids = build(8, -last_ms).unwrap();
    let id = ids.generate().unwrap();
    assert_eq!(ids.layout().parse(&id).unwrap().unix_ms(), Some(0));
    for (unix_ms, tick_holds) in [(0, true), (1, false)] {
        clock.set_unix_ms(unix_ms);
        match ids.generate() {
            Ok(id) => assert_eq!(ids.layout().parse(&id).unwrap().unix_ms(), Some(0)),
            Err(error) => assert_eq!(error.code(), "time_out_of_range"),
        }
        assert_eq!(ids.generate().is_ok(), tick_holds);
    }
    for epoch_ms in [-last_ms, i64::MIN] {
        assert_code(build(64, epoch_ms).map(drop), "invalid_layout");
    }
    assert_code(build(8, i64::MIN).unwrap().generate(), "time_out_of_range");
    assert!(build(64, -last_ms / 4).is_ok());
}

#[test]
fn batches_of_the_wrong_type_or_length_are_rejected() {
    let clock = ScriptedClock::default();
    let ids = worker_builder(&clock, [5]).build().unwrap();
    assert_code(ids.fill(&mut [0_u8; 8][..]), "invalid_type");
    ids.fill(&mut [0_i64; 0][..]).unwrap();
    let fields = [Field::timestamp(41, MS, EPOCH_MS), Field::sequence(15)];
    let bytes = Builder::with_clock(Layout::bytes(7, fields).unwrap(), clock).build().unwrap();
    assert_code(bytes.fill(&mut [0_i64; 8][..]), "invalid_type");
    assert_eq!(bytes.fill(&mut [0_u8; 13][..]), Err(Error::not_a_multiple(13, 7)));
    bytes.fill(&mut [0_u8; 0][..]).unwrap();
    assert_eq!(bytes.stats().len, 0);
}

#[test]
fn a_handle_accepts_bindables_for_each_id() {
    let clock = ScriptedClock::default();
    let ids = worker_builder(&clock, [5]).build().unwrap();
    let mut handle = ids.handle();
    let given = handle.generate_with(ids.values().bind("worker", 1).unwrap()).unwrap();
    assert_eq!(parts(&given), (5, 1, 0));
    assert_eq!(parts(&handle.generate().unwrap()), (5, 7, 1));
    assert_eq!(ids.close(), Ok(Snapshot::new(5, 64)));
}
