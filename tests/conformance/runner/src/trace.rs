//! The steps of a generator with a scripted clock, as requests and expected answers.

use std::collections::HashSet;

use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    case::{Case, Pattern},
    random::choose,
};

/// A step's request and its expected answer.
pub(crate) struct Step {
    pub(crate) request: Value,
    pub(crate) expected: Pattern,
}

impl Step {
    pub(crate) fn new(request: Value, expected: Pattern) -> Self {
        Self { request, expected }
    }
}

/// Separates the requests from the expected answers.
pub(crate) fn split(steps: Vec<Step>) -> (Vec<Value>, Vec<Pattern>) {
    steps.into_iter().map(|step| (step.request, step.expected)).unzip()
}

/// Returns a case that builds a generator and runs every step of a trace.
pub(crate) fn case(
    name: impl Into<String>,
    op: &str,
    mut options: Value,
    steps: Vec<Step>,
) -> Case {
    let (requests, patterns) = split(steps);
    options["steps"] = requests.into();
    let answers = Pattern::Has(vec![("steps", Pattern::Each(patterns))]);
    Case::new(name, op, options, Pattern::ok_with(answers))
}

/// Returns a case in which a generator's options are rejected.
pub(crate) fn rejection_case(
    name: impl Into<String>,
    op: &str,
    mut options: Value,
    code: &Value,
) -> Case {
    options["steps"] = json!([]);
    Case::new(name, op, options, Pattern::error(code, None))
}

/// Returns a pattern that matches answers in which all IDs are unique.
pub(crate) fn ids_are_unique() -> Pattern {
    Pattern::Obeys("no ID given out twice", |answer| all_cells_are_unique(answer, Value::clone))
}

/// Returns whether all IDs that are listed in a trace's answers have different cells. `cell` returns an ID's cell, which is
/// the part of the ID that must be unique.
pub(crate) fn all_cells_are_unique(answer: &Value, cell: impl Fn(&Value) -> Value) -> bool {
    fn collect_cells(steps: &Value, cell: &impl Fn(&Value) -> Value, cells: &mut Vec<Value>) {
        for step in steps.as_array().into_iter().flatten() {
            cells.extend(step["ok"].as_array().into_iter().flatten().map(cell));
            collect_cells(&step["inside"], cell, cells);
        }
    }
    let mut cells = Vec::new();
    collect_cells(&answer["ok"]["steps"], &cell, &mut cells);
    let mut seen = HashSet::new();
    cells.iter().all(|cell| seen.insert(cell))
}

/// Returns clock readings for a call, usually in ascending order. Occasionally, one of the readings is not a valid time.
pub(crate) fn clock(rng: &mut Rng, no_times: &[&str], time: impl Fn(&mut Rng) -> String) -> Value {
    let mut readings: Vec<_> = (0..rng.usize(1..5)).map(|_| time(rng)).collect();
    if rng.u32(..3) > 0 {
        readings.sort();
    }
    if rng.u32(..50) == 0 {
        let at = rng.usize(..=readings.len());
        readings.insert(at, choose(rng, no_times).to_owned());
    }
    readings.into()
}

/// Occasionally adds steps that the clock runs while `step` is in progress, up to `depth` levels deep.
pub(crate) fn add_nested_steps(
    rng: &mut Rng,
    depth: u32,
    step: &mut Value,
    make: impl Fn(&mut Rng, u32) -> Value,
) {
    if depth > 0 && rng.u32(..16) == 0 {
        step["inside"] = (0..rng.usize(1..4)).map(|_| make(rng, depth - 1)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_id_is_detected() {
        let outer = |id| json!({"ok": [id]});
        let inner = |id| json!({"ok": null, "inside": [{"ok": [id]}]});
        let trace = |steps: [Value; 2]| json!({"ok": {"steps": steps}});
        assert!(ids_are_unique().matches(&trace([outer("1"), inner("2")])));
        assert!(!ids_are_unique().matches(&trace([outer("1"), inner("1")])));
        assert!(!ids_are_unique().matches(&trace([outer("1"), outer("1")])));
        let by_first = |id: &Value| id.as_str().map(|id| &id[..1]).into();
        assert!(all_cells_are_unique(&trace([outer("12"), outer("22")]), by_first));
        assert!(!all_cells_are_unique(&trace([outer("12"), inner("13")]), by_first));
    }
}
