//! Random traces. Only the parts of IDs that do not depend on random bytes are compared.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    random::{choose, field, number},
    trace,
};

const START_MS: i64 = 2_266_870_912_000;
const END_MS: i64 = 4_294_967_296_000;

pub(crate) fn trace_case(rng: &mut Rng) -> Case {
    let mut options = json!({"max_wait_ms": 0});
    if rng.u32(..3) == 0 {
        options["window"] = json!([time(rng), time(rng)]);
    }
    if rng.u32(..3) == 0 {
        options["on_exhausted"] = choose(rng, &["wait", "error"]).into();
    }
    if rng.u32(..3) == 0 {
        options["uuid8"] = rng.bool().into();
    }
    options["steps"] = (0..rng.usize(1..20)).map(|_| step(rng, 1)).collect();
    let expected = Pattern::Obeys("no counter used twice in a second", counters_are_unique);
    Case::new("hotguid.generator", "hotguid.generator", options, expected)
}

fn time(rng: &mut Rng) -> String {
    match rng.u32(..50) {
        0 => number(rng),
        1 => rng.i64(-1500..=1500),
        2 => END_MS + rng.i64(-1500..=1500),
        _ => START_MS + rng.i64(-2000..5000),
    }
    .to_string()
}

fn step(rng: &mut Rng, depth: u32) -> Value {
    let shard_key = field(rng, 32);
    let mut step = match rng.u32(..20) {
        0 => json!({"op": "stats"}),
        1 => json!({"op": "extend_window", "end_ms": time(rng)}),
        2 if rng.u32(..4) == 0 => json!({"op": "close"}),
        3..=7 => json!({"op": "generate", "shard_key": shard_key, "count": rng.u32(..70)}),
        _ => json!({"op": "generate", "shard_key": shard_key}),
    };
    step["clock"] = trace::clock(rng, &["raise"], time);
    trace::add_nested_steps(rng, depth, &mut step, self::step);
    step
}

/// Returns whether no two IDs have the same second, machine and counter.
fn counters_are_unique(answer: &Value) -> bool {
    trace::all_cells_are_unique(answer, |id| json!([id["timestamp"], id["machine"], id["counter"]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_counter_is_detected_across_shard_keys() {
        let id = |counter, shard| json!({"timestamp": "7", "machine": 0, "counter": counter, "shard_key": shard});
        let trace = |ids: [Value; 2]| json!({"ok": {"steps": [{"ok": ids}]}});
        assert!(counters_are_unique(&trace([id(1, 5), id(2, 5)])));
        assert!(!counters_are_unique(&trace([id(1, 5), id(1, 6)])));
    }
}
