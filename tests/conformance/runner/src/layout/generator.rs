//! Cases from `layout_generator.json` and `layout_range.json`, which test layout generators with a scripted clock.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::description::parse_short_notation;
use crate::{
    case::{Case, Pattern},
    trace::{self, Step},
    vectors::{label, list, member, our_value, text},
};

const OP: &str = "layout.generator";

/// The maximum time that a generator waits. It exceeds every wait that a scenario needs.
const MAX_WAIT_MS: u64 = 500;

pub(crate) fn generator_cases(file: &Value) -> Result<Vec<Case>> {
    let epoch_ms = member(file, "epoch_ms")?;
    let mut made = Vec::new();
    for (index, scenario) in list(file, "scenarios")?.iter().enumerate() {
        let name = label(index, scenario);
        match scenario.get("ids") {
            Some(ids) => made.extend(consecutive_generator_cases(&name, ids, epoch_ms)?),
            None => made.push(scenario_case(&name, scenario, epoch_ms)?),
        }
    }
    Ok(made)
}

fn scenario_case(name: &str, scenario: &Value, epoch_ms: &Value) -> Result<Case> {
    let words = text(scenario, "layout")?;
    let layout = parse_short_notation(words, epoch_ms)?;
    let options = json!({
        "layout": layout,
        "sequence_only": !words.contains(" ts "),
        "max_wait_ms": MAX_WAIT_MS,
    });
    if let Some(code) = our_value(scenario, "error") {
        return Ok(trace::rejection_case(name, OP, options, code));
    }
    let steps = list(scenario, "steps")?.iter().map(|step| translate_step(step, epoch_ms));
    Ok(trace::case(name, OP, options, steps.collect::<Result<_>>()?))
}

fn translate_step(step: &Value, epoch_ms: &Value) -> Result<Step> {
    let epoch = epoch_ms.as_str().context("expected an epoch")?.parse::<i64>()?;
    let readings = list(step, "clock_ms_minus_epoch")?.iter();
    let readings = readings.map(|reading| Some((epoch + reading.as_i64()?).to_string()));
    let clock =
        readings.collect::<Option<Vec<_>>>().context("expected readings in milliseconds")?;
    let expected = match our_value(step, "error") {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok(json!([our_value(step, "id").context("expected an ID")?])),
    };
    Ok(Step::new(json!({"op": "generate", "clock": clock}), expected))
}

/// Returns the cases for generators with a range of worker IDs.
pub(crate) fn worker_range_cases(file: &Value) -> Result<Vec<Case>> {
    let scenarios = list(file, "scenarios")?.iter().enumerate();
    scenarios
        .map(|(index, scenario)| worker_range_case(&label(index, scenario), scenario))
        .collect()
}

fn worker_range_case(name: &str, scenario: &Value) -> Result<Case> {
    let mut options = json!({"max_wait_ms": 0});
    for option in ["layout", "range", "bindables"] {
        options[option] = member(scenario, option)?.clone();
    }
    if let Some(code) = scenario.get("error") {
        return Ok(trace::rejection_case(name, OP, options, code));
    }
    let one = |step: &Value| {
        let request = json!({"op": "generate", "clock": [member(step, "clock_ms")?]});
        let expected = match step.get("error") {
            Some(code) => Pattern::error(code, None),
            None => Pattern::ok(json!([member(step, "id")?])),
        };
        Ok(Step::new(request, expected))
    };
    let steps = list(scenario, "steps")?.iter().map(one).collect::<Result<_>>()?;
    Ok(trace::case(name, OP, options, steps))
}

/// Returns one case for each of several generators that are created in the same tick.
fn consecutive_generator_cases(name: &str, ids: &Value, epoch_ms: &Value) -> Result<Vec<Case>> {
    let normal = json!({"layout": "1 unused, 41 ts ms, 22 seq"});
    let one = |(index, id): (usize, &Value)| {
        let mut scenario = normal.clone();
        scenario["steps"] = json!([{"clock_ms_minus_epoch": [5], "id": id}]);
        scenario_case(&format!("{name}, generator {index}"), &scenario, epoch_ms)
    };
    ids.as_array().context("expected a list of IDs")?.iter().enumerate().map(one).collect()
}
