//! The Randflake generator: the original's traces, then grants, clocks and callers that behave badly.

mod support;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use polyflake::{
    Error, ErrorKind, OnExhausted, Result,
    clock::Clock,
    randflake::{Builder, Codec, EPOCH, Generator, Grant, LAST_SECOND, Parts, Randflake},
};
use serde_json::Value;
use support::{ScriptedClock, all_or_every, assert_code, ours, rounds, unhex, vectors};

const SECRET: [u8; 16] = *b"sixteen byte key";

/// A second, in Unix seconds.
const S: i64 = 1_763_650_000;
/// Number of IDs of a node in a second.
const FULL: usize = 131_072;

fn grant(nodes: std::ops::RangeInclusive<u32>) -> Grant {
    Grant::with_nodes(nodes, EPOCH, LAST_SECOND + 1).unwrap()
}

/// A generator for one node, whose clock shows the beginning of second [`S`].
fn at(clock: &ScriptedClock) -> Builder<ScriptedClock> {
    show(clock, [S]);
    Builder::with_clock(grant(7..=7), SECRET, clock.clone())
}

fn show(clock: &ScriptedClock, seconds: impl IntoIterator<Item = i64>) {
    clock.play(seconds.into_iter().map(|second| second * 1000));
}

#[track_caller]
fn parts<C: Clock>(ids: &Generator<C>) -> Parts {
    ids.inspect(ids.generate().unwrap())
}

/// Takes all IDs that are left of a second.
fn exhaust<C: Clock>(ids: &Generator<C>, count: usize) -> Vec<Randflake> {
    let mut batch = vec![Randflake::default(); count];
    ids.fill(&mut batch).unwrap();
    batch
}

// The original's traces.

/// A clock that shows a trace's reading, or fails if that is no integer.
#[derive(Clone, Default)]
struct TraceClock(Arc<Mutex<Option<i64>>>);

impl TraceClock {
    fn show(&self, reading: &Value) {
        *self.0.lock().unwrap() = reading.as_i64();
    }
}

impl Clock for TraceClock {
    fn unix_nanos(&self) -> Result<i64> {
        let reading = *self.0.lock().unwrap();
        reading.map(|second| second * 1_000_000_000).ok_or(Error::new(ErrorKind::ClockFailed))
    }
    fn sleep(&self, _: u64) -> Result<()> {
        unreachable!("the original does not wait")
    }
}

/// The grant of a constructor or an extension; none if a value is for dynamic languages only.
fn lease_of(case: &Value) -> Option<Result<Grant>> {
    let node = case["node_id"].as_i64()?;
    let times = (case["start"].as_i64()?, case["end_exclusive"].as_i64()?);
    // A value that does not fit the type is refused when it is converted to the type.
    let Ok(node) = u32::try_from(node) else { return None };
    Some(Grant::new(node, times.0, times.1))
}

#[test]
fn leases_and_secrets_are_taken_or_refused_as_the_vectors_say() {
    let file = vectors("randflake_generator.json");
    let mut compared = 0;
    for case in file["constructors"].as_array().unwrap() {
        if let Some(grant) = lease_of(case) {
            let code = grant.err().map(|error| error.code());
            assert_eq!(code, ours(case)["error"].as_str(), "{case}");
            compared += 1;
        }
    }
    assert_eq!(compared, 9);
    for case in file["secrets"].as_array().unwrap() {
        let secret = vec![7; usize::try_from(case["secret_len"].as_u64().unwrap()).unwrap()];
        let code = Codec::from_slice(&secret).err().map(|error| error.code());
        assert_eq!(code, ours(case)["error"].as_str(), "{case}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn traces_are_as_the_vectors_say() {
    for trace in vectors("randflake_generator.json")["traces"].as_array().unwrap() {
        let clock = TraceClock::default();
        let node = u32::try_from(trace["node_id"].as_u64().unwrap()).unwrap();
        let [start, end] = [0, 1].map(|i| trace["lease"][i].as_i64().unwrap());
        let secret = unhex::<16>(trace["secret"].as_str().unwrap());
        let grant = Grant::new(node, start, end).unwrap();
        let ids = Builder::with_clock(grant, secret, clock.clone());
        let ids = ids.on_exhausted(OnExhausted::Error).build().unwrap();
        for step in trace["steps"].as_array().unwrap() {
            clock.show(&step["clock"]);
            let context = format!("{}: {step}", trace["name"]);
            match step["op"].as_str().unwrap() {
                "generate" | "generate, clock raises" => one(&ids, step, &context),
                "generate_many" => many(&ids, step, &context),
                "extend_lease" => extend(&ids, step, &context),
                other => panic!("an unknown step: {other}"),
            }
        }
    }
}

#[track_caller]
fn one(ids: &Generator<TraceClock>, step: &Value, context: &str) {
    match ids.generate() {
        Ok(id) => {
            let parts = ids.inspect(id);
            assert_eq!(id.to_i64().to_string(), step["id"], "{context}");
            assert_eq!(&*id.text(), step["encoded"], "{context}");
            assert_eq!(parts.timestamp, step["timestamp"], "{context}");
            assert_eq!(parts.node, step["node_id"], "{context}");
            assert_eq!(parts.sequence, step["sequence"], "{context}");
        }
        Err(error) => assert_eq!(error.code(), ours(step)["error"], "{context}"),
    }
}

#[track_caller]
fn many(ids: &Generator<TraceClock>, step: &Value, context: &str) {
    let mut made =
        vec![Randflake::default(); usize::try_from(step["asked"].as_u64().unwrap()).unwrap()];
    let error = ids.fill(&mut made).unwrap_err();
    made.truncate(error.written().unwrap());
    let (first, last) = (made[0], made[made.len() - 1]);
    let expected = ours(step);
    assert_eq!(error.code(), expected["error"], "{context}");
    assert_eq!(made.len(), expected["produced"], "{context}");
    assert_eq!(first.to_i64().to_string(), expected["first"], "{context}");
    assert_eq!(last.to_i64().to_string(), expected["last"], "{context}");
    assert_eq!(ids.inspect(first).sequence, expected["first_sequence"], "{context}");
    assert_eq!(ids.inspect(last).sequence, expected["last_sequence"], "{context}");
    assert_eq!(made.iter().collect::<HashSet<_>>().len(), expected["distinct"], "{context}");
}

#[track_caller]
fn extend(ids: &Generator<TraceClock>, step: &Value, context: &str) {
    match ids.extend_grant(lease_of(step).unwrap().unwrap()) {
        Ok(()) => {
            let [node, start, end] = [0, 1, 2].map(|i| step["lease_after"][i].as_i64().unwrap());
            let expected = Grant::new(u32::try_from(node).unwrap(), start, end).unwrap();
            assert_eq!(ids.grant(), expected.terms(), "{context}");
        }
        Err(error) => assert_eq!(error.code(), ours(step)["error"], "{context}"),
    }
}

// Ranges of nodes.

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn a_range_goes_on_with_the_next_node() {
    let clock = ScriptedClock::default();
    show(&clock, [S]);
    let ids = Builder::with_clock(grant(131_069..=131_071), SECRET, clock.clone()).build().unwrap();
    let mut all = exhaust(&ids, 3 * FULL - 1);
    let last = ids.generate().unwrap();
    assert_eq!(ids.inspect(all[0]), Parts { timestamp: S, node: 131_069, sequence: 0 });
    assert_eq!(ids.inspect(all[FULL]), Parts { timestamp: S, node: 131_070, sequence: 0 });
    assert_eq!(ids.inspect(last), Parts { timestamp: S, node: 131_071, sequence: 131_071 });
    let error = assert_code(ids.generate(), "sequence_exhausted");
    assert_eq!(error.retry_at(), Some((S + 1) * 1000));
    all.push(last);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 3 * FULL);
    show(&clock, [S + 1]);
    assert_eq!(parts(&ids), Parts { timestamp: S + 1, node: 131_069, sequence: 0 });
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn all_nodes_in_one_lease_need_a_wider_word() {
    let clock = ScriptedClock::default();
    show(&clock, [LAST_SECOND]);
    for last in [32_767, 32_768, 131_071] {
        let ids = Builder::with_clock(grant(0..=last), SECRET, clock.clone()).build().unwrap();
        exhaust(&ids, FULL);
        assert_eq!(parts(&ids), Parts { timestamp: LAST_SECOND, node: 1, sequence: 0 });
        assert_eq!(ids.close(), Ok(Some(LAST_SECOND)));
        assert_code(ids.generate(), "generator_closed");
    }
}

// Waiting.

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn it_fails_at_once_where_it_is_asked_to() {
    let clock = ScriptedClock::default();
    let ids = at(&clock).on_exhausted(OnExhausted::Error).build().unwrap();
    exhaust(&ids, FULL);
    let before = ids.stats();
    assert_eq!(assert_code(ids.generate(), "sequence_exhausted").retry_at(), Some((S + 1) * 1000));
    show(&clock, [S - 1]);
    assert_eq!(assert_code(ids.generate(), "clock_behind").retry_at(), Some(S * 1000));
    assert_eq!(clock.slept(), 0);
    assert_eq!(ids.stats(), before);
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn it_waits_for_the_next_second_and_for_the_clock() {
    let clock = ScriptedClock::default();
    let waiting = at(&clock).max_wait(Duration::from_secs(60));
    let ids = waiting.build().unwrap();
    exhaust(&ids, FULL);
    show(&clock, [S, S, S + 1]);
    assert_eq!(parts(&ids), Parts { timestamp: S + 1, node: 7, sequence: 0 });
    show(&clock, [S, S, S + 1]);
    assert_eq!(parts(&ids), Parts { timestamp: S + 1, node: 7, sequence: 1 });
    assert!(clock.slept() > 0);
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn a_wait_ends_under_a_clock_that_stands_still() {
    let clock = ScriptedClock::default();
    let ids = at(&clock).build().unwrap();
    exhaust(&ids, FULL);
    assert_code(ids.generate(), "sequence_exhausted");
    show(&clock, [S - 5]);
    assert_code(ids.generate(), "clock_behind");
    show(&clock, [S + 1]);
    ids.generate().unwrap();
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn a_wait_ends_where_the_lease_does() {
    let clock = ScriptedClock::default();
    show(&clock, [S]);
    let grant = Grant::new(7, S, S + 1).unwrap();
    let builder = Builder::with_clock(grant, SECRET, clock.clone());
    let ids = builder.on_exhausted(OnExhausted::Wait).build().unwrap();
    exhaust(&ids, FULL);
    show(&clock, [S, S + 1]);
    assert_code(ids.generate(), "lease_expired");
}

// Grants.

#[test]
fn a_lease_holds_from_its_start_to_before_its_end() {
    let clock = ScriptedClock::default();
    let grant = |end| Grant::new(7, S, end).unwrap();
    let ids = Builder::with_clock(grant(S + 2), SECRET, clock.clone()).build().unwrap();
    for early in [i64::MIN / 1_000_000, -1, 0, EPOCH * 1000 - 1, S * 1000 - 1] {
        clock.play([early]);
        let error = assert_code(ids.generate(), "lease_not_started");
        assert_eq!(error.retry_at(), Some(S * 1000), "at {early}");
    }
    for ms in [S * 1000, S * 1000 + 999, S * 1000 + 1999] {
        clock.play([ms]);
        assert_eq!(parts(&ids).timestamp, ms / 1000);
    }
    for late in [(S + 2) * 1000, (LAST_SECOND + 1) * 1000, i64::MAX / 1_000_000] {
        clock.play([late]);
        assert_code(ids.generate(), "lease_expired");
    }
    ids.extend_grant(grant(S + 3)).unwrap();
    clock.play([(S + 3) * 1000 - 1]);
    assert_eq!(parts(&ids).timestamp, S + 2);
    ids.extend_grant(grant(S + 1)).unwrap();
    assert_eq!(ids.grant(), grant(S + 3).terms(), "a shorter one changes nothing");
}

#[test]
fn another_lease_does_not_extend() {
    let ids = at(&ScriptedClock::default()).build().unwrap();
    let before = ids.grant();
    for other in [grant(6..=6), grant(7..=8), Grant::new(7, EPOCH + 1, LAST_SECOND + 1).unwrap()] {
        assert_code(ids.extend_grant(other), "lease_mismatch");
        assert_eq!(ids.grant(), before);
    }
}

// Ends and beginnings.

#[test]
fn the_last_second_used_is_told_at_the_end() {
    let clock = ScriptedClock::default();
    let unused = at(&clock).build().unwrap();
    assert_eq!(unused.close(), Ok(None));
    let ids = at(&clock).build().unwrap();
    ids.generate().unwrap();
    show(&clock, [S + 5]);
    ids.generate().unwrap();
    assert_eq!((ids.stats().last_second, ids.stats().len), (Some(S + 5), 1));
    assert_eq!(ids.close(), Ok(Some(S + 5)));
    assert!(ids.stats().closed);
    assert_code(ids.close(), "generator_closed");
    assert_code(ids.generate(), "generator_closed");
    assert_eq!(
        assert_code(ids.fill(&mut [Randflake::default()]), "generator_closed").written(),
        Some(0)
    );
}

#[test]
fn the_first_second_of_all_counts_as_used() {
    let clock = ScriptedClock::default();
    let ids = at(&clock).build().unwrap();
    show(&clock, [EPOCH]);
    ids.generate().unwrap();
    assert_eq!(ids.close(), Ok(Some(EPOCH)));
}

#[test]
fn the_first_second_of_all_is_not_in_a_later_lease() {
    let clock = ScriptedClock::default();
    let grant = Grant::new(7, S, S + 2).unwrap();
    let ids = Builder::with_clock(grant, SECRET, clock.clone()).build().unwrap();
    show(&clock, [EPOCH]);
    assert_code(ids.generate(), "lease_not_started");
}

#[test]
fn it_resumes_after_a_second_and_not_in_it() {
    let clock = ScriptedClock::default();
    let ids = at(&clock).resume_after(S).build().unwrap();
    assert_eq!(assert_code(ids.generate(), "sequence_exhausted").retry_at(), Some((S + 1) * 1000));
    show(&clock, [S - 1]);
    assert_code(ids.generate(), "clock_behind");
    assert_eq!(ids.stats().last_second, Some(S));
    show(&clock, [S + 1]);
    assert_eq!(parts(&ids), Parts { timestamp: S + 1, node: 7, sequence: 0 });
    let unused = at(&clock).resume_after(S).build().unwrap();
    assert_eq!(unused.close(), Ok(Some(S)), "what was used before stays used");
}

#[test]
fn resuming_repeats_nothing() {
    let clock = ScriptedClock::default();
    let mut all = HashSet::new();
    let mut last = None;
    for second in [S, S, S + 1, S + 1, S + 2] {
        let mut builder = at(&clock);
        if let Some(last) = last {
            builder = builder.resume_after(last);
        }
        let ids = builder.build().unwrap();
        show(&clock, [second]);
        for _ in 0..3 {
            if let Ok(id) = ids.generate() {
                assert!(all.insert(id));
            }
        }
        last = ids.close().unwrap();
    }
    assert_eq!(all.len(), 9);
}

#[test]
fn a_second_that_cannot_be_is_not_resumed_after() {
    for second in [i64::MIN, -1, 0, EPOCH - 1, LAST_SECOND + 1, i64::MAX] {
        let error =
            assert_code(at(&ScriptedClock::default()).resume_after(second).build(), "out_of_range");
        assert_eq!(error.field(), Some("resume_after"));
    }
    let clock = ScriptedClock::default();
    let ids = at(&clock).resume_after(LAST_SECOND).build().unwrap();
    assert_code(ids.generate(), "clock_behind");
}

// Clocks and callers.

#[test]
fn a_reading_that_grew_stale_is_taken_anew() {
    let clock = ScriptedClock::default();
    let ids = Arc::new(at(&clock).build().unwrap());
    ids.generate().unwrap();
    let (other, script) = (ids.clone(), clock.clone());
    // While one call reads S, another makes an ID at S + 1.
    clock.inside(0, move || {
        show(&script, [S + 1]);
        assert_eq!(parts(&other).timestamp, S + 1);
        show(&script, [S, S + 1]);
    });
    assert_eq!(parts(&ids), Parts { timestamp: S + 1, node: 7, sequence: 1 });
}

#[test]
fn batches_of_any_size_are_as_single_ids() {
    let clock = ScriptedClock::default();
    let (single, batched) = (at(&clock).build().unwrap(), at(&clock).build().unwrap());
    for size in [1, 2, 63, 64, 65, 127, 128, 129, 200].into_iter().step_by(all_or_every(4)) {
        let mut batch = vec![Randflake::default(); size];
        batched.fill(&mut batch).unwrap();
        assert!(batch.iter().all(|id| *id == single.generate().unwrap()), "a batch of {size}");
    }
}

#[test]
fn a_reading_still_fits_where_another_call_only_took_a_sequence() {
    let clock = ScriptedClock::default();
    let ids = Arc::new(at(&clock).build().unwrap());
    parts(&ids);
    let other = ids.clone();
    // The other call reads first, this one second; a third reading would be of the next second.
    show(&clock, [S, S, S + 1]);
    clock.inside(0, move || assert_eq!(parts(&other).sequence, 1));
    assert_eq!(parts(&ids), Parts { timestamp: S, node: 7, sequence: 2 });
}

#[test]
fn the_secret_is_not_shown() {
    let builder = || Generator::builder(grant(7..=7), SECRET);
    let shown = format!("{:?} {:?}", builder(), builder().build().unwrap());
    assert!(shown.contains("Sparx64 { .. }") && shown.ends_with("Generator { .. }"), "{shown}");
    let other = || Generator::builder(grant(7..=7), [0; 16]);
    assert_eq!(shown, format!("{:?} {:?}", other(), other().build().unwrap()));
}

#[test]
fn threads_that_share_a_generator_share_no_id() {
    const THREADS: usize = 4;
    const EACH: usize = rounds(20_000);
    let grant = Grant::with_nodes(0..=9, EPOCH, LAST_SECOND + 1).unwrap();
    let ids = Generator::builder(grant, SECRET).build().unwrap();
    let all: Vec<Randflake> = thread::scope(|scope| {
        let work = || {
            let mut made: Vec<_> = (0..EACH).map(|_| ids.generate().unwrap()).collect();
            made.extend(exhaust(&ids, EACH));
            made
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 2 * THREADS * EACH);
}
