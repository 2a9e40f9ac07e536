//! Vectors for generators. Each scenario is a sequence of calls with a scripted clock.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    trace::{self, Step},
    vectors::{label, list, member, number, our_value, text},
};

/// The maximum time that a generator waits. It exceeds every wait that a scenario needs.
const MAX_WAIT_MS: u64 = 500;

pub(crate) fn generator_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, scenario) in list(file, "scenarios")?.iter().enumerate() {
        made.extend(scenario_cases(&label(index, scenario), scenario)?);
    }
    Ok(made)
}

/// Returns the cases for a scenario. The last step closes the generator. Our generators return a snapshot only when they
/// are closed, so each snapshot in the scenario requires an additional case that closes the generator at that step.
fn scenario_cases(name: &str, scenario: &Value) -> Result<Vec<Case>> {
    if let Some(code) = our_value(scenario, "error") {
        return Ok(vec![trace::rejection_case(name, "sno.generator", options(scenario), code)]);
    }
    let steps = list(scenario, "steps").map_or(&[][..], Vec::as_slice);
    let snapshots = (0..steps.len()).filter(|&index| steps[index]["op"] == "snapshot");
    let mut cases = Vec::new();
    for index in snapshots {
        let mut before = translate_steps(&steps[..index])?;
        before.push(close_step(Pattern::ok_with(expected_snapshot(member(
            &steps[index],
            "snapshot",
        )?))));
        cases.push(case(&format!("{name}: closed at step {index}"), scenario, before));
    }
    let mut all = translate_steps(steps)?;
    all.push(bounds_step(scenario)?);
    cases.push(case(name, scenario, all));
    Ok(cases)
}

fn case(name: &str, scenario: &Value, steps: Vec<Step>) -> Case {
    trace::case(name, "sno.generator", options(scenario), steps)
}

fn options(scenario: &Value) -> Value {
    json!({
        "config": scenario["config"],
        "original": true,
        "partition": scenario["partition_u16"],
        "max_wait_ms": MAX_WAIT_MS,
    })
}

/// Returns a final step that checks the generator's final bounds and partition.
fn bounds_step(scenario: &Value) -> Result<Step> {
    let bound =
        |name| our_value(scenario, name).cloned().with_context(|| format!("expected {name}"));
    let (min, max) = (bound("effective_min")?, bound("effective_max")?);
    let partition = bound("partition_u16")?.as_u64().context("expected a partition")?;
    let snapshot = Pattern::Has(vec![
        ("partition", Pattern::Is(json!([partition >> 8, partition & 0xff]))),
        ("sequenceMin", Pattern::Is(min)),
        ("sequenceMax", Pattern::Is(max)),
    ]);
    Ok(close_step(Pattern::ok_with(snapshot)))
}

fn close_step(expected: Pattern) -> Step {
    Step { request: json!({"op": "close", "clock": []}), expected }
}

/// Returns a pattern for the snapshot members that must equal those of the original library. If the last ID is from an
/// earlier tick than the snapshot, the original library's snapshot no longer contains the last sequence number. Our
/// snapshots always contain this number, so in that case `now` and `sequence` are not compared.
fn expected_snapshot(snapshot: &Value) -> Pattern {
    let names = ["partition", "sequenceMin", "sequenceMax", "wallHi", "wallSafe", "drifts"];
    let exact = if snapshot["now"] == snapshot["wallHi"] { &["now", "sequence"][..] } else { &[] };
    Pattern::Has(
        names
            .iter()
            .chain(exact)
            .map(|name| (*name, Pattern::Is(snapshot[*name].clone())))
            .collect(),
    )
}

/// Translates a scenario's steps to the protocol. Steps that occur while a call is blocked become part of that call.
fn translate_steps(steps: &[Value]) -> Result<Vec<Step>> {
    let Some(start) = steps.iter().position(is_while_blocked) else {
        return steps.iter().map(translate_step).collect();
    };
    let end = steps
        .iter()
        .position(|step| step["op"] == "new (the blocked one)")
        .context("expected the blocked call's end")?;
    let mut translated = translate_steps(&steps[..start])?;
    translated.push(blocked_step(&steps[start..end], &steps[end])?);
    translated.extend(translate_steps(&steps[end + 1..])?);
    Ok(translated)
}

fn is_while_blocked(step: &Value) -> bool {
    step["note"]
        .as_str()
        .is_some_and(|note| note.starts_with("a second New") && note.contains("is blocked"))
}

/// Returns a call that reads the clock at the first inner step, waits, and continues after the last inner step.
fn blocked_step(inner: &[Value], end: &Value) -> Result<Step> {
    let inside = inner.iter().map(translate_step).collect::<Result<Vec<_>>>()?;
    let (requests, patterns) = trace::split(inside);
    let mut step = generate_step(end, &concat(&clock(&inner[0])?, &clock(end)?))?;
    step.request["inside"] = requests.into();
    step.expected = Pattern::Has(vec![
        ("ok", Pattern::Is(json!([member(end, "id")?]))),
        ("inside", Pattern::Each(patterns)),
    ]);
    Ok(step)
}

fn concat(first: &Value, second: &Value) -> Value {
    [first, second]
        .into_iter()
        .flat_map(|list| list.as_array().into_iter().flatten())
        .cloned()
        .collect()
}

fn translate_step(step: &Value) -> Result<Step> {
    match text(step, "op")? {
        "new" => generate_step(step, &clock(step)?),
        "new_many" => generate_many_step(step),
        "Sequence()" => stats_step(step, "sequence"),
        "Len()" => stats_step(step, "len"),
        "snapshot" => snapshot_step(step),
        "new_with_time" => generate_at_step(step),
        other => bail!("expected a step that the suite knows, found {other}"),
    }
}

fn generate_step(step: &Value, clock: &Value) -> Result<Step> {
    let id = text(step, "id")?;
    let metabyte = match step.get("metabyte") {
        Some(metabyte) => metabyte.clone(),
        None => u8::from_str_radix(&id[10..12], 16)?.into(),
    };
    let expected = match our_value(step, "error") {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok(json!([id])),
    };
    Ok(Step { request: json!({"op": "generate", "clock": clock, "metabyte": metabyte}), expected })
}

/// Returns a batch call. If the vector lists only the first and last few IDs, only these IDs are compared.
fn generate_many_step(step: &Value) -> Result<Step> {
    let (count, ids) = (number(step, "count")?, list(step, "ids")?);
    let len = usize::try_from(count)?;
    let expected = if ids.len() == len {
        Pattern::Is(ids.clone().into())
    } else {
        Pattern::ends(len, &ids[..2], &ids[2..])
    };
    let request = json!({"op": "generate", "clock": clock(step)?, "metabyte": 0, "count": count});
    Ok(Step { request, expected: Pattern::ok_with(expected) })
}

fn stats_step(step: &Value, name: &'static str) -> Result<Step> {
    let value = our_value(step, "value").context("expected a value")?;
    let expected = Pattern::ok_with(Pattern::Has(vec![(name, Pattern::Is(value.clone()))]));
    Ok(Step { request: json!({"op": "stats", "clock": clock(step)?}), expected })
}

/// Returns a step for a snapshot in the middle of a scenario. Only the snapshot's statistics can be compared.
fn snapshot_step(step: &Value) -> Result<Step> {
    const MEMBER_NAMES: [(&str, &str); 5] = [
        ("sequence", "sequence"),
        ("now", "now"),
        ("wall_hi", "wallHi"),
        ("wall_safe", "wallSafe"),
        ("drifts", "drifts"),
    ];
    let theirs = member(step, "snapshot")?;
    let figures = MEMBER_NAMES
        .into_iter()
        .map(|(ours, original)| (ours, Pattern::Is(theirs[original].clone())))
        .collect();
    let expected = Pattern::ok_with(Pattern::Has(figures));
    Ok(Step { request: json!({"op": "stats", "clock": clock(step)?}), expected })
}

fn generate_at_step(step: &Value) -> Result<Step> {
    let nanos: i64 = text(step, "unix_nano")?.parse()?;
    let unix_ms = nanos.div_euclid(1_000_000).to_string();
    let request =
        json!({"op": "generate_at", "unix_ms": unix_ms, "metabyte": member(step, "metabyte")?});
    Ok(Step { request, expected: Pattern::ok(member(step, "id")?.clone()) })
}

/// Converts a step's clock readings from sno's time units to Unix milliseconds.
fn clock(step: &Value) -> Result<Value> {
    let readings = list(step, "clock_script")?.iter();
    readings
        .map(|units| Ok(unix_ms(units.as_u64().context("expected a reading in units")?)))
        .collect()
}

fn unix_ms(units: u64) -> Value {
    (1_262_304_000_000 + 4 * units).to_string().into()
}
