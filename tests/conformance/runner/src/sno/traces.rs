//! Random traces: generators with random options, called at random times on a scripted clock.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    random::{choose, number},
    trace,
};

/// Most of the clock's times are shortly after this time, so the clock often shows the same tick again or an earlier tick.
const START_MS: i64 = 2_062_304_000_000;
const SPANS_MS: [i64; 3] = [4, 16, 64];

pub(crate) fn trace_case(rng: &mut Rng) -> Case {
    let mut args = options(rng);
    args["steps"] = (0..rng.usize(1..25)).map(|_| step(rng, 1)).collect();
    Case::new(
        "sno.generator",
        "sno.generator",
        args,
        Pattern::Obeys("no ID given out twice", ids_are_unique),
    )
}

/// Returns options for a new generator, or a snapshot to restore. The maximum wait is zero, because in some languages the
/// generator actually sleeps.
fn options(rng: &mut Rng) -> Value {
    let mut options = json!({
        "partition": if rng.u32(..20) == 0 { number(rng) } else { rng.i64(0..1 << 16) },
        "max_wait_ms": 0,
        "on_exhausted": choose(rng, &["wait", "error", "error"]),
    });
    match rng.u32(..4) {
        0 => {
            options["config"] = snapshot(rng);
            options["original"] = rng.bool().into();
        }
        1 | 2 => add_bounds(rng, &mut options),
        _ => {}
    }
    if rng.u32(..4) == 0 {
        options["window"] = json!([time(rng), time(rng)]);
    }
    options
}

/// Sets sequence bounds that leave only a few sequence numbers, so that they run out. Some bounds are too narrow or
/// reversed.
fn add_bounds(rng: &mut Rng, options: &mut Value) {
    let min = if rng.u32(..20) == 0 { number(rng) } else { rng.i64(0..65_530) };
    options["sequence_min"] = min.into();
    let pool = if rng.u32(..8) == 0 { -4..9 } else { 3..9 };
    options["sequence_max"] = (min + rng.i64(pool)).into();
}

fn snapshot(rng: &mut Rng) -> Value {
    let (min, max) = choose(
        rng,
        &[(0, 0), (0, 5), (100, 110), (110, 100), (7, 7), (0, 3), (5, 0), (65_531, 65_535)],
    );
    let wall_hi = random_time_units(rng);
    json!({
        "partition": [rng.u8(..), rng.u8(..)],
        "sequenceMin": min,
        "sequenceMax": max,
        "sequence": choose(rng, &[0, min, min + 1, max, 120]),
        "now": if rng.bool() { wall_hi } else { random_time_units(rng) },
        "wallHi": if rng.u32(..4) == 0 { 0 } else { wall_hi },
        "wallSafe": if rng.bool() { 0 } else { random_time_units(rng) },
        "drifts": rng.u32(..4),
    })
}

/// Returns an offset in milliseconds, often within the same tick, and usually within a few ticks.
fn random_offset(rng: &mut Rng) -> i64 {
    let span = choose(rng, &SPANS_MS);
    rng.i64(0..span)
}

/// Returns a time in sno's units.
fn random_time_units(rng: &mut Rng) -> i64 {
    (START_MS - 1_262_304_000_000 + random_offset(rng)) / 4
}

fn time(rng: &mut Rng) -> String {
    match rng.u32(..60) {
        0 => number(rng),
        1 => 1_262_304_000_000 + rng.i64(-5..=5),
        2 => 3_461_327_255_552 + rng.i64(-5..=5),
        _ => START_MS + random_offset(rng),
    }
    .to_string()
}

/// Returns a step. The scripted clock may run further steps while this step is in progress, up to `depth` levels deep.
fn step(rng: &mut Rng, depth: u32) -> Value {
    let metabyte = if rng.u32(..40) == 0 { number(rng) } else { rng.i64(0..256) };
    let mut step = match rng.u32(..24) {
        0 => json!({"op": "generate_at", "unix_ms": time(rng), "metabyte": metabyte}),
        1 | 2 => json!({"op": "stats"}),
        3 => json!({"op": "extend_window", "end_ms": time(rng)}),
        4 if depth > 0 => json!({"op": "restore"}),
        5 if rng.u32(..4) == 0 => json!({"op": "close"}),
        6..=9 => json!({"op": "generate", "metabyte": metabyte, "count": rng.u32(..12)}),
        _ => json!({"op": "generate", "metabyte": metabyte}),
    };
    step["clock"] = trace::clock(rng, &["raise"], time);
    trace::add_nested_steps(rng, depth, &mut step, self::step);
    step
}

/// Returns whether no answer repeats an earlier ID, ignoring metabytes. IDs with an explicit time may repeat. Their answers
/// are single IDs instead of lists, so this function ignores them.
fn ids_are_unique(answer: &Value) -> bool {
    trace::all_cells_are_unique(answer, |id| {
        id.as_str().map(|hex| format!("{}{}", &hex[..10], &hex[12..])).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_id_is_detected_across_metabytes() {
        let first = json!({"ok": ["5d21dba0000100070001"]});
        let again = json!({"ok": ["5d21dba0000200070001"]});
        let given_time = json!({"ok": "5d21dba0000200070001"});
        let trace = |steps: [&Value; 2]| json!({"ok": {"steps": steps}});
        assert!(ids_are_unique(&trace([&first, &given_time])));
        assert!(!ids_are_unique(&trace([&first, &again])));
    }
}
