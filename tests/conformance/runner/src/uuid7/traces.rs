//! Random traces. Only the parts of IDs that do not depend on random bytes are compared.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    random::{choose, number},
    trace,
};

const START_MS: i64 = 1_767_225_600_000;

pub(crate) fn trace_case(rng: &mut Rng) -> Case {
    let mut options = json!({"max_wait_ms": 0});
    if rng.u32(..3) == 0 {
        options["window"] = json!([time(rng), time(rng)]);
    }
    if rng.u32(..3) == 0 {
        options["on_exhausted"] = choose(rng, &["wait", "error"]).into();
    }
    if rng.u32(..3) == 0 {
        options["resume_after"] = time(rng).into();
    }
    let follows = rng.u32(..3) == 0;
    if follows {
        options["follow_rollbacks"] = true.into();
    } else if rng.bool() {
        options["worker_id"] = rng.u16(..).into();
    }
    options["steps"] = (0..rng.usize(1..20)).map(|_| step(rng, 1)).collect();
    // A generator that follows rollbacks may enter a millisecond twice and repeat a sequence, with different random bits.
    let expected = if follows {
        Pattern::Any
    } else {
        Pattern::Obeys("no sequence used twice in a millisecond", sequences_are_unique)
    };
    Case::new("uuid7.generator", "uuid7.generator", options, expected)
}

fn time(rng: &mut Rng) -> String {
    match rng.u32(..30) {
        0 => number(rng),
        1 => rng.i64(-2..=2),
        2 => START_MS - rng.i64(9_990..10_010),
        _ => START_MS + rng.i64(-5..10),
    }
    .to_string()
}

fn step(rng: &mut Rng, depth: u32) -> Value {
    let mut step = match rng.u32(..20) {
        0 | 1 => json!({"op": "stats"}),
        2 => json!({"op": "extend_window", "end_ms": time(rng)}),
        3 if rng.u32(..4) == 0 => json!({"op": "close"}),
        4..=8 => json!({"op": "generate", "count": rng.u32(..70)}),
        _ => json!({"op": "generate"}),
    };
    step["clock"] = trace::clock(rng, &["raise"], time);
    trace::add_nested_steps(rng, depth, &mut step, self::step);
    step
}

/// Returns whether no two IDs have the same millisecond and sequence.
fn sequences_are_unique(answer: &Value) -> bool {
    trace::all_cells_are_unique(answer, |id| json!([id["unix_ms"], id["sequence"]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_sequence_is_detected() {
        let id = |sequence| json!({"unix_ms": "7", "sequence": sequence, "worker_id": 1});
        let trace = |ids: [Value; 2]| json!({"ok": {"steps": [{"ok": ids}]}});
        assert!(sequences_are_unique(&trace([id(1), id(2)])));
        assert!(!sequences_are_unique(&trace([id(1), id(1)])));
    }
}
