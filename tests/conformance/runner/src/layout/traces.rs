//! Random traces: generators with random layouts, called at random times on a scripted clock.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::{
    draw::{Constraints, Part, RandomLayout, field_of_kind, fill_layout},
    values::{invalid_value, valid_value},
};
use crate::{
    case::Case,
    random::{choose, number},
    trace,
};

/// Most of the clock's times are shortly after this time, so the clock often shows the same tick again or an earlier tick.
const START_MS: i64 = 2_062_304_000_000;
const SPANS_MS: [i64; 4] = [4, 16, 64, 4000];

pub(crate) fn trace_case(rng: &mut Rng) -> Case {
    let sequence_only = rng.u32(..6) == 0;
    let is_ranged = rng.u32(..4) == 0;
    let drawn = layout(rng, sequence_only, is_ranged);
    let mut options = json!({
        "layout": drawn.layout,
        "max_wait_ms": 0,
        "on_exhausted": choose(rng, &["wait", "error"]),
        "bindables": random_bindables(rng, &drawn, 6),
    });
    let mut numbers =
        drawn.parts.iter().filter(|part| part.kind == "bindable" && (1..=40).contains(&part.bits));
    if let Some(part) = numbers.next_back().filter(|_| is_ranged) {
        options["range"] = range(rng, part);
        if rng.u32(..12) > 0
            && let Some(fixed) = options["bindables"].as_object_mut()
        {
            fixed.remove(&part.name);
        }
    }
    if sequence_only != (rng.u32(..12) == 0) {
        options["sequence_only"] = true.into();
    }
    if rng.u32(..4) == 0 {
        options["window"] = json!([time(rng), time(rng)]);
    }
    options["steps"] = (0..rng.usize(1..20)).map(|_| step(rng, &drawn, 1)).collect();
    Case::new("layout.generator", "layout.generator", options, trace::ids_are_unique())
}

/// Returns a layout that is usually valid for a generator. For a range of worker IDs, the fields are usually in the
/// required order.
fn layout(rng: &mut Rng, sequence_only: bool, is_ranged: bool) -> RandomLayout {
    let is_bytes = rng.bool();
    let needs = Constraints {
        bits: if is_bytes { 8 * rng.u32(16..=34) } else { 64 },
        is_bytes,
        epochs: |rng| START_MS - choose(rng, &[0, 1, 40, 100_000, START_MS]),
    };
    let time = if sequence_only { 0 } else { choose(rng, &[22, 41, 42, 48, 64]) };
    let sequence = choose(rng, &[0, 1, 2, 3, 12, 22, 64]).min(needs.bits - time);
    let mut kinds = Vec::new();
    if !sequence_only {
        kinds.push(("timestamp", time));
    }
    let mut left = needs.bits - time - sequence;
    for kind in ["constant", "bindable", "unused"] {
        let bits = rng.u32(..=left.min(20));
        left -= bits;
        kinds.push((kind, bits));
    }
    kinds.push(("sequence", sequence));
    if !is_ranged || rng.u32(..6) == 0 {
        rng.shuffle(&mut kinds);
    }
    let mut parts: Vec<Part> = Vec::new();
    for (kind, bits) in kinds {
        let part = field_of_kind(rng, &needs, &parts, kind, bits);
        parts.push(part);
    }
    fill_layout(rng, &needs, parts)
}

/// Returns values for the bindables. Each value is missing or invalid with a probability of one in `odds`.
fn random_bindables(rng: &mut Rng, drawn: &RandomLayout, odds: u32) -> Value {
    let mut given = Map::new();
    for part in drawn.parts.iter().filter(|part| part.kind == "bindable") {
        match rng.u32(..6 * odds) {
            0 => {}
            1 => drop(given.insert(part.name.clone(), invalid_value(rng, part))),
            2 => drop(given.insert("nobody".to_owned(), "1".into())),
            _ => drop(given.insert(part.name.clone(), valid_value(rng, part))),
        }
    }
    given.into()
}

/// Returns a short range of values for a bindable. The range is sometimes empty or out of bounds.
fn range(rng: &mut Rng, part: &Part) -> Value {
    let most = (1_u64 << part.bits) - 1;
    let first = rng.u64(..=most);
    let last = match rng.u32(..24) {
        0 => most + 1,
        1 => first.saturating_sub(1),
        _ => most.min(first + rng.u64(..4)),
    };
    json!([part.name, first.to_string(), last.to_string()])
}

fn time(rng: &mut Rng) -> String {
    let span = choose(rng, &SPANS_MS);
    match rng.u32(..60) {
        0 => number(rng),
        1 => START_MS - rng.i64(-5..200),
        _ => START_MS + rng.i64(0..span),
    }
    .to_string()
}

fn step(rng: &mut Rng, drawn: &RandomLayout, depth: u32) -> Value {
    let mut step = match rng.u32(..24) {
        0 | 1 => json!({"op": "stats"}),
        2 => json!({"op": "extend_window", "end_ms": time(rng)}),
        3 if depth > 0 => json!({"op": "restore"}),
        4 if rng.u32(..4) == 0 => json!({"op": "close"}),
        5..=9 => json!({"op": "generate", "count": rng.u32(..12)}),
        _ => json!({"op": "generate"}),
    };
    if step["op"] == "generate" && rng.u32(..6) == 0 {
        step["bindables"] = random_bindables(rng, drawn, 2);
    }
    step["clock"] = trace::clock(rng, &["raise"], time);
    trace::add_nested_steps(rng, depth, &mut step, |rng, depth| self::step(rng, drawn, depth));
    step
}
