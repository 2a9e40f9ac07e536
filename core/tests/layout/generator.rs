//! Generators of layouts: the original's traces, then windows, restarts, wide words, many threads, and callers that
//! behave badly.

use std::{collections::HashSet, thread, time::Duration};

use polyflake::{
    Error, OnExhausted, Result,
    clock::ManualClock,
    layout::{Builder, Field, Generator, Id, Layout, Snapshot, Tick, Type, preset},
};
use serde_json::Value as Json;

use crate::{
    shared::{BrokenClock, CoarseClock, ScriptedClock, vectors},
    support::{assert_code, list},
};

const EPOCH: i64 = 1_483_228_800_000;
const MS: Tick = Tick::MILLISECOND;

/// The layout of a scenario: `1 unused, 41 ts ms, 22 seq from 100`.
fn scenario_layout(text: &str) -> Result<Layout> {
    Layout::integer(text.split(", ").map(|field| {
        let words: Vec<_> = field.split(' ').collect();
        let number = |text: &str| text.parse::<u32>().unwrap();
        match words[..] {
            [bits, "unused"] => Field::unused(number(bits)),
            [bits, "ts", "ms"] => Field::timestamp(number(bits), MS, EPOCH),
            [bits, "seq"] => Field::sequence(number(bits)),
            [bits, "seq", "from", start] => Field::sequence_from(number(bits), number(start)),
            _ => panic!("{field}"),
        }
    }))
}

fn scenario(text: &str, clock: &ScriptedClock) -> Result<Generator<ScriptedClock>> {
    let layout = scenario_layout(text)?;
    let alone = layout.timestamp().is_err();
    Builder::with_clock(layout, clock.clone()).sequence_only(alone).build()
}

#[test]
fn scenarios_of_the_vectors() {
    let file = vectors("layout_generator.json");
    let scenarios: Vec<_> = list(&file, "scenarios")
        .iter()
        .filter(|scenario| scenario.get("steps").is_some())
        .collect();
    assert_eq!(scenarios.len(), 12);
    for case in scenarios {
        println!("{}", case["name"]);
        let clock = ScriptedClock::default();
        let ids = scenario(case["layout"].as_str().unwrap(), &clock);
        if let Some(code) = case["ours"]["error"].as_str() {
            assert_code(ids, code);
            continue;
        }
        let (ids, mut made) = (ids.unwrap(), HashSet::new());
        list(case, "steps").iter().for_each(|step| check_step(&ids, &clock, &mut made, step));
    }
}

fn check_step(
    ids: &Generator<ScriptedClock>,
    clock: &ScriptedClock,
    made: &mut HashSet<Id>,
    step: &Json,
) {
    println!("  {step}");
    clock.play(list(step, "clock_ms_minus_epoch").iter().map(|ms| EPOCH + ms.as_i64().unwrap()));
    let expected = step.get("ours").unwrap_or(step);
    let made_now = ids.generate();
    if let Some(code) = expected["error"].as_str() {
        assert_code(made_now, code);
        return;
    }
    let id = made_now.unwrap();
    assert_eq!(id.to_string(), expected["id"].as_str().unwrap());
    assert_eq!(made.insert(id.clone()), expected["duplicate"] == false);
    let parsed = ids.layout().parse(&id).unwrap();
    assert_eq!(parsed.sequence().map(|n| n.to_string()).as_deref(), expected["sequence"].as_str());
    assert_eq!(
        parsed.unix_ms().map(|ms| ms - EPOCH),
        expected["timestamp_ms_minus_epoch"].as_i64()
    );
}

fn snowflake() -> Layout {
    let fields = [
        Field::unused(1),
        Field::timestamp(41, MS, EPOCH),
        Field::bindable(10, "worker"),
        Field::sequence(12),
    ];
    Layout::integer(fields).unwrap()
}

/// A snowflake generator of worker 7, whose clock shows these milliseconds after the epoch.
fn worker(
    clock: &ScriptedClock,
    readings: impl IntoIterator<Item = i64>,
) -> Builder<ScriptedClock> {
    show(clock, readings);
    Builder::with_clock(snowflake(), clock.clone()).bind("worker", 7)
}

fn show(clock: &ScriptedClock, readings: impl IntoIterator<Item = i64>) {
    clock.play(readings.into_iter().map(|ms| EPOCH + ms));
}

/// Time after the epoch, worker and sequence of an ID.
fn parts(id: &Id) -> (i64, i128, i128) {
    let layout = snowflake();
    let parsed = layout.parse(id).unwrap();
    let worker = parsed.integer(layout.bindable("worker").unwrap()).unwrap();
    (parsed.unix_ms().unwrap() - EPOCH, worker, parsed.sequence().unwrap())
}

#[test]
fn bindables_are_fixed_or_given() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [5]).build().unwrap();
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
    // The generator sets time and sequence, whatever the values have; and refused calls have used up nothing.
    let mut values = open.values();
    values.bind("worker", 3).unwrap().time(-1).unwrap().sequence(1 << 20).unwrap();
    assert_eq!(parts(&open.generate_with(&values).unwrap()), (5, 3, 0));
    // Values of an equal layout are accepted, values of another layout are not.
    let (equal, other) = (snowflake(), preset("discord", []).unwrap());
    assert!(open.generate_with(equal.values().bind("worker", 1).unwrap()).is_ok());
    assert_code(open.generate_with(&other.values()), "invalid_layout");
}

#[test]
fn what_is_fixed_is_checked_when_built() {
    let build = |name: &str, value: polyflake::layout::Value<'static>| {
        Builder::with_clock(snowflake(), ManualClock::at_unix_ms(EPOCH)).bind(name, value).build()
    };
    assert_code(build("nope", 1.into()), "unknown_field");
    assert_code(build("worker", 1024.into()), "out_of_range");
    assert_code(build("worker", "7".into()), "invalid_type");
    let both = Builder::with_clock(snowflake(), ManualClock::at_unix_ms(EPOCH))
        .bind("worker", 1024)
        .bind("nope", 1);
    assert_code(both.build(), "unknown_field");
}

#[test]
fn layouts_that_have_no_generator() {
    let clock = || ManualClock::at_unix_ms(EPOCH);
    let time = || Field::timestamp(41, MS, EPOCH);
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
fn a_full_tick_waits_or_fails() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [5]).build().unwrap();
    let mut batch = vec![0; 4096];
    ids.fill(&mut batch[..]).unwrap();
    assert_eq!(
        batch.iter().map(|id| parts(&Id::Integer(*id)).2).collect::<Vec<_>>(),
        (0..4096).collect::<Vec<_>>()
    );
    let error = assert_code(ids.generate(), "sequence_exhausted");
    assert_eq!(error.retry_at(), Some(EPOCH + 6));
    assert!(clock.slept() > 0);
    show(&clock, [5, 5, 6]);
    assert_eq!(parts(&ids.generate().unwrap()), (6, 7, 0));

    let impatient = worker(&clock, [5]).on_exhausted(OnExhausted::Error).build().unwrap();
    impatient.fill(&mut batch[..]).unwrap();
    let slept = clock.slept();
    assert_code(impatient.generate(), "sequence_exhausted");
    assert_eq!(clock.slept(), slept);
    let short = worker(&clock, [5]).max_wait(Duration::ZERO).build().unwrap();
    let error = assert_code(short.fill(&mut vec![0_i64; 5000][..]), "sequence_exhausted");
    assert_eq!((error.written(), clock.slept()), (Some(4096), slept));
}

#[test]
fn a_clock_behind_is_refused_at_once() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [5]).build().unwrap();
    ids.generate().unwrap();
    show(&clock, [4]);
    let error = assert_code(ids.generate(), "clock_behind");
    assert_eq!((error.retry_at(), clock.slept()), (Some(EPOCH + 5), 0));
    show(&clock, [5]);
    assert_eq!(parts(&ids.generate().unwrap()), (5, 7, 1));
    let broken = Builder::with_clock(snowflake(), BrokenClock).bind("worker", 1).build().unwrap();
    assert_code(broken.generate(), "clock_failed");
}

#[test]
fn times_outside_the_layout() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [-1]).build().unwrap();
    assert_code(ids.generate(), "time_out_of_range");
    let last = (1 << 41) - 1;
    show(&clock, [last]);
    assert_eq!(parts(&ids.generate().unwrap()), (last, 7, 0));
    show(&clock, [last + 1]);
    assert_code(ids.generate(), "time_out_of_range");
    // An epoch that no clock reaches.
    for epoch in [i64::MAX, i64::MIN] {
        let fields = [Field::timestamp(40, MS, epoch), Field::sequence(24)];
        let layout = Layout::integer(fields).unwrap();
        let far = Builder::with_clock(layout, ManualClock::at_unix_ms(EPOCH)).build().unwrap();
        assert_code(far.generate(), "time_out_of_range");
    }
}

#[test]
fn a_window_holds_and_only_grows() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [0, 9]).window(EPOCH + 10, EPOCH + 20).build().unwrap();
    assert_eq!(ids.window(), Some((EPOCH + 10, EPOCH + 20)));
    for _ in [0, 9] {
        assert_eq!(assert_code(ids.generate(), "lease_not_started").retry_at(), Some(EPOCH + 10));
    }
    for (reading, is_inside) in [(10, true), (19, true), (20, false)] {
        show(&clock, [reading]);
        assert_eq!(ids.generate().is_ok(), is_inside, "{reading}");
    }
    assert_code(ids.generate(), "lease_expired");
    for shorter in [EPOCH + 11, EPOCH + 15] {
        ids.extend_window(shorter).unwrap();
        assert_code(ids.generate(), "lease_expired");
    }
    ids.extend_window(EPOCH + 21).unwrap();
    assert_eq!(parts(&ids.generate().unwrap()), (20, 7, 0));
    let (end, least) = (i128::from(EPOCH) + 10, i128::from(EPOCH) + 11);
    let too_soon = Error::out_of_range("end", end, least, i64::MAX.into());
    assert_eq!(ids.extend_window(EPOCH + 10), Err(too_soon));
    assert_code(ids.extend_window(i64::MAX), "time_out_of_range");
    assert_code(worker(&clock, []).window(EPOCH + 10, EPOCH + 10).build(), "out_of_range");
    assert_code(worker(&clock, []).window(EPOCH - 1, EPOCH + 10).build(), "time_out_of_range");
    assert_code(
        worker(&clock, []).window(EPOCH, EPOCH + (1 << 41) + 1).build(),
        "time_out_of_range",
    );
    let all = worker(&clock, [5]).build().unwrap();
    assert_eq!(all.window(), Some((EPOCH, EPOCH + (1 << 41))));
    all.extend_window(EPOCH + 10).unwrap();
    assert_eq!(all.window(), Some((EPOCH, EPOCH + (1 << 41))));
    // A wait does not go past the window's end.
    let ids = worker(&clock, [19]).window(EPOCH + 10, EPOCH + 20).build().unwrap();
    ids.fill(&mut vec![0_i64; 4096][..]).unwrap();
    show(&clock, [19, 20]);
    assert_code(ids.generate(), "lease_expired");
}

/// The last tick that a generator's state holds is 2^63 - 1.
#[test]
fn windows_end_where_the_state_does() {
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
fn a_clock_may_be_as_coarse_as_a_tick() {
    let tick = Tick::from_millis(4).unwrap();
    let build = |nanos| {
        let layout = Layout::integer([Field::timestamp(42, tick, EPOCH), Field::sequence(22)]);
        Builder::with_clock(layout.unwrap(), CoarseClock(nanos)).build()
    };
    build(4_000_000).unwrap();
    let error = assert_code(build(4_000_001), "out_of_range");
    assert_eq!(
        (error.field(), error.range()),
        (Some("resolution_nanos"), Some((4_000_001, 1, 4_000_000)))
    );
}

#[test]
fn closed_and_restored() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [5]).build().unwrap();
    ids.fill(&mut [0_i64; 3][..]).unwrap();
    let stats = ids.stats();
    assert_eq!((stats.last_ms, stats.len, stats.closed), (Some(EPOCH + 5), 3, false));
    let snapshot = ids.close().unwrap();
    assert_eq!(snapshot, Snapshot::new(5, 3));
    assert_code(ids.generate(), "generator_closed");
    assert_code(ids.close(), "generator_closed");
    assert!(ids.stats().closed);
    let json = serde_json::to_string(&snapshot).unwrap();
    assert_eq!(json, r#"{"format":1,"tick":5,"next_sequence":3}"#);
    assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), snapshot);
    let again = worker(&clock, [5]).restore(snapshot).unwrap();
    assert_eq!(parts(&again.generate().unwrap()), (5, 7, 3));
    show(&clock, [4]);
    assert_code(again.generate(), "clock_behind");

    let refused = |tick, next_sequence| {
        assert_code(worker(&clock, []).restore(Snapshot::new(tick, next_sequence)), "out_of_range")
    };
    assert_eq!(refused(1 << 41, 0).field(), Some("tick"));
    assert_eq!(refused(0, 4097).field(), Some("next_sequence"));
    refused(0, u128::MAX);
    let full = worker(&clock, [5]).restore(Snapshot::new(5, 4096)).unwrap();
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
fn stats_tell_the_first_use_from_none() {
    let clock = ScriptedClock::default();
    let stats = |ids: &Generator<ScriptedClock>| (ids.stats().last_ms, ids.stats().len);
    let ids = scenario("1 unused, 41 ts ms, 22 seq from 100", &clock).unwrap();
    assert_eq!(stats(&ids), (None, 0));
    // The state of a new generator is in the layout's first tick.
    show(&clock, [0]);
    ids.generate().unwrap();
    assert_eq!(stats(&ids), (Some(EPOCH), 1));
    show(&clock, [1]);
    ids.generate().unwrap();
    assert_eq!(stats(&ids), (Some(EPOCH + 1), 1));
    let untouched = Snapshot::new(9, 0);
    assert_eq!(stats(&worker(&clock, []).restore(untouched).unwrap()), (Some(EPOCH + 9), 0));
}

#[test]
fn batches_with_bindables_of_their_own() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [5]).build().unwrap();
    let mut batch = [0_i64; 3];
    ids.fill_with(ids.values().bind("worker", 9).unwrap(), &mut batch[..]).unwrap();
    assert_eq!(batch.map(|id| parts(&Id::Integer(id))), [(5, 9, 0), (5, 9, 1), (5, 9, 2)]);
}

#[test]
fn a_sequence_alone() {
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

/// A layout with time and sequence of 64 bits each, in a 128-bit word.
#[test]
fn the_widest_generator() {
    let fields = [
        Field::timestamp(64, Tick::MICROSECOND, -5_000_000_000_000).inverted(),
        Field::bindable_of(Type::Text, 72, "host"),
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
    // From the first slot to the last.
    let whole = Layout::bytes(16, [Field::timestamp(64, MS, 0), Field::sequence(64)]).unwrap();
    let last = Snapshot::new(5, u64::MAX.into());
    let ids = Builder::with_clock(whole, ManualClock::at_unix_ms(5)).restore(last).unwrap();
    assert_eq!(ids.generate(), Ok(Id::Bytes([&[0, 0, 0, 0, 0, 0, 0, 5], &[255; 8][..]].concat())));
    assert_code(ids.generate(), "sequence_exhausted");
}

/// Epochs of 64-bit timestamps may be so long ago that a clock shows ticks past 63 bits, or that a word does not hold them.
#[test]
fn epochs_long_ago() {
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
fn batches_of_the_wrong_kind_or_length() {
    let clock = ScriptedClock::default();
    let ids = worker(&clock, [5]).build().unwrap();
    assert_code(ids.fill(&mut [0_u8; 8][..]), "invalid_type");
    ids.fill(&mut [0_i64; 0][..]).unwrap();
    let fields = [Field::timestamp(41, MS, EPOCH), Field::sequence(15)];
    let bytes = Builder::with_clock(Layout::bytes(7, fields).unwrap(), clock).build().unwrap();
    assert_code(bytes.fill(&mut [0_i64; 8][..]), "invalid_type");
    assert_eq!(bytes.fill(&mut [0_u8; 13][..]), Err(Error::not_a_multiple(13, 7)));
    bytes.fill(&mut [0_u8; 0][..]).unwrap();
    assert_eq!(bytes.stats().len, 0);
}

#[test]
fn threads_never_share_an_id() {
    const THREADS: usize = 8;
    const EACH: usize = 2000;
    let ids = Generator::builder(preset("sonyflake", []).unwrap())
        .bind("machine", 3)
        .max_wait(Duration::from_secs(60));
    let ids = ids.build().unwrap();
    let make = |thread: usize| {
        let mut made = vec![0; EACH];
        if thread.is_multiple_of(2) {
            made.chunks_mut(50).for_each(|batch| ids.fill(batch).unwrap());
        } else {
            made.fill_with(|| if let Id::Integer(id) = ids.generate().unwrap() { id } else { 0 });
        }
        made
    };
    let all: Vec<i64> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || make(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), THREADS * EACH);
}

/// The clock's own callback uses the generator: no lock is held, and the reading grows stale without harm.
#[test]
fn a_clock_may_use_the_generator() {
    use std::sync::{Arc, Mutex};
    let clock = ScriptedClock::default();
    let ids = Arc::new(worker(&clock, [5]).build().unwrap());
    let inner = Arc::new(Mutex::new(None));
    let (hook_ids, hook_inner) = (ids.clone(), inner.clone());
    clock.inside(0, move || *hook_inner.lock().unwrap() = Some(hook_ids.generate()));
    let outer = ids.generate().unwrap();
    let inner = inner.lock().unwrap().take().unwrap().unwrap();
    assert_ne!(outer, inner);
}
