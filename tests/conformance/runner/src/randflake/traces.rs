//! Random traces: generators with random leases, with calls and lease extensions at random seconds on a scripted clock.

use fastrand::Rng;
use serde_json::{Value, json};

use super::random::{END_SECOND, FIRST_SECOND};
use crate::{
    case::Case,
    random::{choose, number},
    sparx64::secret,
    trace,
};

/// A time in 2041. From then on, raw values use all of their bits.
const BASE_SECONDS: i64 = 2_266_870_912;

pub(crate) fn trace_case(rng: &mut Rng) -> Case {
    let mut options = options(rng);
    options["steps"] = (0..rng.usize(1..20)).map(|_| step(rng, &options, 1)).collect();
    Case::new("randflake.generator", "randflake.generator", options, trace::ids_are_unique())
}

fn options(rng: &mut Rng) -> Value {
    let mut options = json!({
        "secret": secret(rng),
        "nodes": nodes(rng),
        "lease": lease(rng),
        "max_wait_ms": 0,
    });
    if rng.u32(..3) == 0 {
        options["on_exhausted"] = choose(rng, &["wait", "error"]).into();
    }
    if rng.u32(..4) == 0 {
        options["resume_after"] = second(rng).to_string().into();
    }
    options
}

/// Returns a node ID or a range of node IDs, which is occasionally invalid.
fn nodes(rng: &mut Rng) -> Value {
    let node = if rng.u32(..16) == 0 { number(rng) } else { rng.i64(0..1 << 17) };
    match rng.u32(..3) {
        0 => json!([node, node + rng.i64(-1..=3)]),
        _ => node.into(),
    }
}

/// Returns a time span close to the scripted clock's times.
fn lease(rng: &mut Rng) -> Value {
    let start = match rng.u32(..20) {
        0 => FIRST_SECOND + rng.i64(-1..=1),
        1 => END_SECOND + rng.i64(-2..=1),
        2 => number(rng),
        _ => BASE_SECONDS + rng.i64(-9..=1),
    };
    let end = match rng.u32(..20) {
        0 => number(rng),
        1 => start + rng.i64(-1..=1),
        2..=9 => END_SECOND + rng.i64(-9..=0),
        _ => BASE_SECONDS + rng.i64(2..=9),
    };
    json!([start.to_string(), end.to_string()])
}

fn second(rng: &mut Rng) -> i64 {
    match rng.u32(..40) {
        0 => FIRST_SECOND + rng.i64(-2..=2),
        1 => END_SECOND + rng.i64(-2..=2),
        2 => rng.i64(-4..=4),
        _ => BASE_SECONDS + rng.i64(-3..=5),
    }
}

/// Returns a clock reading within the given second.
fn reading(rng: &mut Rng, second: i64) -> String {
    (second * 1000 + rng.i64(0..1000)).to_string()
}

/// Clock readings that are not valid times, for languages in which a clock can return them.
const INVALID_TIMES: [&str; 4] = ["raise", "none", "boolean", "float"];

/// Returns a step. During a large batch, the clock does not change, because the format does not specify how often a batch
/// reads the clock.
fn step(rng: &mut Rng, options: &Value, depth: u32) -> Value {
    let mut step = match rng.u32(..24) {
        0 | 1 => extension(rng, options),
        2 => json!({"op": "stats"}),
        3 if rng.u32(..4) == 0 => json!({"op": "close"}),
        4..=8 => json!({"op": "generate", "count": rng.u32(..70)}),
        9 if rng.u32(..20) == 0 => json!({"op": "generate", "count": 131_072 + rng.i32(-40..=40)}),
        _ => json!({"op": "generate"}),
    };
    let is_large = step["count"].as_u64().is_some_and(|count| count > 1000);
    let time = |rng: &mut Rng| {
        let second = second(rng);
        reading(rng, second)
    };
    step["clock"] =
        if is_large { json!([time(rng)]) } else { trace::clock(rng, &INVALID_TIMES, time) };
    if !is_large {
        trace::add_nested_steps(rng, depth, &mut step, |rng, depth| {
            self::step(rng, options, depth)
        });
    }
    step
}

/// Returns a step that extends the lease, usually with the generator's current node IDs and start.
fn extension(rng: &mut Rng, options: &Value) -> Value {
    let nodes = if rng.u32(..8) == 0 { nodes(rng) } else { options["nodes"].clone() };
    let mut lease = if rng.u32(..8) == 0 { lease(rng) } else { options["lease"].clone() };
    if rng.bool() {
        lease[1] = (BASE_SECONDS + rng.i64(0..9)).to_string().into();
    }
    json!({"op": "extend_lease", "nodes": nodes, "lease": lease})
}
