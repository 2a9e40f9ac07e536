//! sno against the original's outputs.

mod support;

use std::sync::{Arc, Mutex};

use polyflake::{
    Error, OnExhausted,
    sno::{self, Builder, Generator, Parts, Snapshot, Sno, Stats},
};
use serde_json::Value;
use support::{ScriptedClock, hex, ours, unhex, vectors};

/// Asserts that the fields of a case equal the parsed ID's.
#[track_caller]
fn assert_fields(id: Sno, case: &Value) {
    assert_eq!(id.tick(), case["timestamp_units"], "{case}");
    assert_eq!(id.unix_ms(), case["timestamp_unix_ms"], "{case}");
    assert_eq!(u64::from(id.tick_tock()), case["tick"], "{case}");
    assert_eq!(id.metabyte(), case["metabyte"], "{case}");
    assert_eq!(id.partition(), case["partition"], "{case}");
    assert_eq!(id.sequence(), case["sequence"], "{case}");
}

#[test]
fn ids_have_the_originals_bytes_text_and_fields() {
    let file = vectors("sno.json");
    for case in file["cases"].as_array().unwrap() {
        let (bytes, text) =
            (unhex(case["hex"].as_str().unwrap()), case["encoded"].as_str().unwrap());
        let id = Sno::from_bytes(bytes);
        assert_eq!(id.text(), text);
        assert_eq!(Sno::parse(text), Ok(id));
        assert_eq!(Sno::from_parts(id.parts()), Ok(id));
        assert_eq!(Sno::from_uuid_bytes(id.to_uuid_bytes()), Ok(id));
        assert_eq!(sno::metabyte(text), Ok(id.metabyte()));
        assert_fields(id, case);
    }
}

#[test]
fn texts_that_are_no_ids_are_refused_with_code_and_position() {
    let file = vectors("sno_invalid.json");
    for case in file["cases"].as_array().unwrap() {
        let text = case["input"].as_str().unwrap();
        let error = Sno::parse(text).unwrap_err();
        assert_eq!(error.code(), ours(case)["error"], "{case}");
        assert_eq!(
            error.position(),
            ours(case)["position"].as_u64().map(|p| usize::try_from(p).unwrap()),
            "{case}"
        );
    }
}

#[test]
fn ranges_span_whole_ticks() {
    let file = vectors("ranges.json");
    for case in file["cases"].as_array().unwrap().iter().filter(|case| case["family"] == "sno") {
        let ms = |name: &str| case[name].as_str().unwrap().parse::<i64>().unwrap();
        match Sno::time_range(ms("from_ms"), ms("to_ms")) {
            Ok((lowest, highest)) => {
                assert_eq!(hex(lowest.as_bytes()), case["lowest"]["hex"], "{case}");
                assert_eq!(hex(highest.as_bytes()), case["highest"]["hex"], "{case}");
            }
            Err(error) => assert_eq!(error.code(), case["error"], "{case}"),
        }
    }
}

#[test]
fn the_metabyte_of_polymorphic_json() {
    let file = vectors("polymorphic.json");
    for case in file["cases"].as_array().unwrap() {
        let document: Value = serde_json::from_str(case["json"].as_str().unwrap()).unwrap();
        let text = document.pointer(case["pointer"].as_str().unwrap()).unwrap().as_str().unwrap();
        assert_eq!(text, case["id"]);
        assert_eq!(sno::metabyte(text).unwrap(), case["metabyte"], "{case}");
    }
}

type Ids = Generator<ScriptedClock>;

/// A builder for the vectors' generators, which wait when a tick is used up.
fn builder(clock: &ScriptedClock) -> Builder<ScriptedClock> {
    Generator::builder().clock(clock.clone()).on_exhausted(OnExhausted::Wait)
}

fn build(scenario: &Value, clock: &ScriptedClock) -> Result<Ids, Error> {
    match &scenario["config"] {
        Value::Null => builder(clock)
            .partition(u16::try_from(scenario["partition_u16"].as_u64().unwrap()).unwrap())
            .build(),
        config => builder(clock)
            .import_original(serde_json::from_value::<Snapshot>(config.clone()).unwrap()),
    }
}

fn play(clock: &ScriptedClock, step: &Value) {
    if let Some(script) = step["clock_script"].as_array() {
        clock.play(script.iter().map(|units| 1_262_304_000_000 + units.as_i64().unwrap() * 4));
    }
}

fn generate_many(ids: &Ids, metabyte: u8, count: usize) -> Vec<String> {
    let mut made = vec![Sno::default(); count];
    ids.fill(metabyte, &mut made).unwrap();
    let mut texts: Vec<_> = made.iter().map(|id| hex(id.as_bytes())).collect();
    texts.dedup();
    assert_eq!(texts.len(), count);
    texts
}

/// Runs one step of a scenario, except calls that wait.
fn run(ids: &Ids, clock: &ScriptedClock, step: &Value) {
    play(clock, step);
    let metabyte = |step: &Value| match (step["metabyte"].as_u64(), step["id"].as_str()) {
        (Some(given), _) => u8::try_from(given).unwrap(),
        (None, Some(id)) => Sno::from_bytes(unhex(id)).metabyte(),
        _ => 0,
    };
    let expected = ours(step);
    match step["op"].as_str().unwrap() {
        "new" => match ids.generate(metabyte(step)) {
            Ok(id) => {
                assert_eq!(hex(id.as_bytes()), expected["id"], "{step}");
                if let Some(decoded) = step.get("decoded") {
                    assert_fields(id, decoded);
                }
            }
            Err(error) => assert_eq!(error.code(), expected["error"], "{step}"),
        },
        "new_many" => {
            let count = usize::try_from(step["count"].as_u64().unwrap()).unwrap();
            let made = generate_many(ids, 0, count);
            let listed: Vec<_> =
                step["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
            if listed.len() == count {
                assert_eq!(made, listed);
            } else {
                assert_eq!([&made[..2], &made[count - 2..]].concat(), listed);
            }
        }
        "new_with_time" => {
            let nanos: i64 = step["unix_nano"].as_str().unwrap().parse().unwrap();
            let id = ids.generate_at(nanos.div_euclid(1_000_000), metabyte(step)).unwrap();
            assert_eq!(hex(id.as_bytes()), expected["id"], "{step}");
        }
        "Sequence()" => assert_eq!(ids.stats().unwrap().sequence, expected["value"], "{step}"),
        "Len()" => assert_eq!(ids.stats().unwrap().len, expected["value"], "{step}"),
        "snapshot" => assert_snapshot(ids.stats().unwrap(), &expected["snapshot"]),
        other => panic!("unknown step {other}"),
    }
}

#[track_caller]
fn assert_snapshot(stats: Stats, expected: &Value) {
    let expected: Snapshot = serde_json::from_value(expected.clone()).unwrap();
    let partition = stats.partition.unwrap().to_be_bytes();
    let mut found = Snapshot::new(partition, stats.sequence_min, stats.sequence_max);
    found.sequence = stats.sequence.into();
    found.now = stats.now;
    found.wall_hi = stats.wall_hi;
    found.wall_safe = stats.wall_safe;
    found.drifts = stats.drifts;
    assert_eq!(found, expected);
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a tick")]
fn generators_follow_the_originals_scenarios() {
    let file = vectors("sno_generator.json");
    for scenario in file["scenarios"].as_array().unwrap() {
        let clock = ScriptedClock::default();
        let expected = ours(scenario);
        let ids = match build(scenario, &clock) {
            Ok(ids) => Arc::new(ids),
            Err(error) => {
                assert_eq!(error.code(), expected["error"], "{}", scenario["name"]);
                continue;
            }
        };
        assert_eq!(expected.get("error"), None, "{}", scenario["name"]);
        clock.play([2_000_000_000_000]);
        let stats = ids.stats().unwrap();
        assert_eq!(stats.sequence_min, expected["effective_min"], "{}", scenario["name"]);
        assert_eq!(stats.sequence_max, expected["effective_max"], "{}", scenario["name"]);
        assert_eq!(ids.partition().unwrap(), expected["partition_u16"], "{}", scenario["name"]);
        run_steps(&ids, &clock, scenario["steps"].as_array().map_or(&[][..], Vec::as_slice));
    }
}

/// Runs steps in order. If a step begins a call that waits, the steps up to the one that ends it run inside that call.
fn run_steps(ids: &Arc<Ids>, clock: &ScriptedClock, steps: &[Value]) {
    let begins =
        |step: &Value| step["note"].as_str().is_some_and(|note| note.starts_with("a second New"));
    let Some(begin) = steps.iter().position(begins) else {
        return steps.iter().for_each(|step| run(ids, clock, step));
    };
    let end = steps.iter().position(|step| step["op"] == "new (the blocked one)").unwrap();
    steps[..begin].iter().for_each(|step| run(ids, clock, step));
    let meanwhile = (ids.clone(), clock.clone(), steps[begin..end].to_vec());
    let ran = Arc::new(Mutex::new(false));
    let done = ran.clone();
    play(clock, &steps[begin]);
    clock.inside(1, move || {
        let (ids, clock, steps) = meanwhile;
        steps.iter().for_each(|step| run(&ids, &clock, step));
        *done.lock().unwrap() = true;
    });
    let id = ids.generate(1).unwrap();
    assert_eq!(hex(id.as_bytes()), steps[end]["id"]);
    assert!(*ran.lock().unwrap());
    run_steps(ids, clock, &steps[end + 1..]);
}

#[test]
fn a_text_of_json_is_an_id_and_nothing_else_is() {
    let file = vectors("sno_invalid.json");
    for note in file["json_notes"].as_array().unwrap() {
        let Some(input) = note["input"].as_str() else {
            assert_eq!(
                serde_json::to_string(&Sno::default()).unwrap(),
                note["ours"]["marshal_zero"]
            );
            continue;
        };
        match serde_json::from_str::<Sno>(input) {
            Ok(id) => assert_eq!(hex(id.as_bytes()), ours(note)["id"], "{note}"),
            Err(_) => {
                assert!(note["ours"].get("error").or(note["ours"].get("skip")).is_some(), "{note}");
            }
        }
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let parts = Parts { tick: 1 << 39, tick_tock: false, metabyte: 0, partition: 0, sequence: 0 };
    let error = Sno::from_parts(parts).unwrap_err();
    assert_eq!((error.code(), error.field()), ("out_of_range", Some("tick")));
}
