//! Vectors for generators: leases, secrets, and traces with a scripted clock.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::ids::{field_cases, text_cases};
use crate::{
    case::{Case, Pattern},
    python,
    trace::{self, Step},
    vectors::{label, list, member, number, our_value, text},
};

const OP: &str = "randflake.generator";

/// Returns the cases of `randflake_generator.json`.
pub(crate) fn generator_cases(file: &Value) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (index, case) in list(file, "constructors")?.iter().enumerate() {
        cases.push(lease_case(&format!("lease {index}"), case)?);
    }
    for case in list(file, "secrets")? {
        cases.extend(secret_cases(case)?);
    }
    for (index, scenario) in list(file, "traces")?.iter().enumerate() {
        cases.extend(scenario_cases(&label(index, scenario), scenario)?);
    }
    Ok(cases)
}

/// Returns a case that tries to create a generator with a lease. The generator is either created or rejected with an error.
fn lease_case(name: &str, case: &Value) -> Result<Case> {
    let node = member(case, "node_id")?;
    let is_expression = node.is_string();
    let node = node.as_str().map_or_else(|| Ok(node.clone()), python::parse_expression)?;
    let options = json!({
        "secret": "00".repeat(16),
        "nodes": node,
        "lease": [number(case, "start")?.to_string(), number(case, "end_exclusive")?.to_string()],
    });
    let built = construction_case(name, options, our_value(case, "error"));
    Ok(if is_expression { built.for_dynamic_languages() } else { built })
}

fn construction_case(name: &str, options: Value, error: Option<&Value>) -> Case {
    match error {
        Some(code) if code.is_string() => trace::rejection_case(name, OP, options, code),
        _ => trace::case(name, OP, options, Vec::new()),
    }
}

/// Returns cases for a secret of a given length. A generator, a codec and the cipher must either all accept it or all
/// reject it.
fn secret_cases(case: &Value) -> Result<[Case; 3]> {
    let length = usize::try_from(number(case, "secret_len")?)?;
    let (name, secret) = (format!("secret of {length} bytes"), "00".repeat(length));
    let error = our_value(case, "error").filter(|code| code.is_string());
    let expected =
        || error.map_or(Pattern::ok_with(Pattern::Any), |code| Pattern::error(code, None));
    let options = json!({"secret": secret, "nodes": 0, "lease": ["1730000000", "2803741824"]});
    Ok([
        construction_case(&name, options, error),
        Case::for_op(&name, "randflake.inspect", json!({"secret": secret, "id": "0"}), expected()),
        Case::for_op(
            &name,
            "sparx64.encrypt",
            json!({"key": secret, "block": "00".repeat(8)}),
            expected(),
        ),
    ])
}

/// Returns a scenario's trace, and cases that check the fields of its IDs. If the scenario requests more IDs than are
/// available, a second trace requests them in one batch.
fn scenario_cases(name: &str, scenario: &Value) -> Result<Vec<Case>> {
    let steps = list(scenario, "steps")?;
    let mut cases = vec![scenario_case(name, scenario, steps, FillMethod::ThenOneMore)?];
    if steps.iter().any(|step| step["op"] == "generate_many") {
        cases.push(scenario_case(
            &format!("{name}, at once"),
            scenario,
            steps,
            FillMethod::AtOnce,
        )?);
    }
    for step in steps.iter().filter(|step| step.get("id").is_some()) {
        let (secret, id) = (text(scenario, "secret")?, text(step, "id")?);
        cases.extend(field_cases(name, secret, id, step)?);
        cases.extend(text_cases(name, text(step, "encoded")?, id)?);
    }
    Ok(cases)
}

/// How `generate_many` requests more IDs than are available.
#[derive(Clone, Copy)]
enum FillMethod {
    /// Requests all available IDs, and then one more.
    ThenOneMore,
    /// Requests one batch, which fails and reports how many IDs it wrote.
    AtOnce,
}

fn scenario_case(
    name: &str,
    scenario: &Value,
    steps: &[Value],
    fill_method: FillMethod,
) -> Result<Case> {
    let lease = list(scenario, "lease")?;
    ensure!(lease.len() == 2, "expected the two ends of a lease");
    let options = json!({
        "secret": text(scenario, "secret")?,
        "nodes": number(scenario, "node_id")?,
        "lease": [lease[0].to_string(), lease[1].to_string()],
    });
    let mut translated = Vec::new();
    for step in steps {
        translated.extend(translate_step(step, fill_method)?);
    }
    Ok(trace::case(name, OP, options, translated))
}

fn translate_step(step: &Value, fill_method: FillMethod) -> Result<Vec<Step>> {
    match text(step, "op")? {
        "generate" => Ok(vec![generate_step(step, &clock(step)?)?]),
        "generate, clock raises" => Ok(vec![generate_step(step, &json!(["raise"]))?]),
        "generate_many" => generate_many_steps(step, fill_method),
        "extend_lease" => Ok(vec![extend_step(step)?]),
        other => bail!("expected a step that the suite knows, found {other}"),
    }
}

fn generate_step(step: &Value, clock: &Value) -> Result<Step> {
    let expected = match our_value(step, "error") {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok(json!([text(step, "id")?])),
    };
    Ok(Step::new(json!({"op": "generate", "clock": clock}), expected))
}

fn generate_many_steps(step: &Value, fill_method: FillMethod) -> Result<Vec<Step>> {
    let there = our_value(step, "produced").context("expected how many there are")?;
    let code = our_value(step, "error").context("expected an error")?;
    ensure!(our_value(step, "distinct") == Some(there), "expected IDs that all differ");
    let ask = |count: Option<&Value>, expected| -> Result<Step> {
        let mut request = json!({"op": "generate", "clock": clock(step)?});
        if let Some(count) = count {
            request["count"] = count.clone();
        }
        Ok(Step::new(request, expected))
    };
    if let FillMethod::AtOnce = fill_method {
        let written = ("written", Pattern::Is(there.clone()));
        let error = Pattern::Has(vec![("code", Pattern::Is(code.clone())), written]);
        let expected = Pattern::Has(vec![("error", error)]);
        return Ok(vec![ask(Some(member(step, "asked")?), expected)?]);
    }
    let end = |name| our_value(step, name).cloned().with_context(|| format!("expected {name}"));
    let len = usize::try_from(there.as_u64().context("expected a number as produced")?)?;
    let ids = Pattern::ends(len, &[end("first")?], &[end("last")?]);
    Ok(vec![ask(Some(there), Pattern::ok_with(ids))?, ask(None, Pattern::error(code, None))?])
}

fn extend_step(step: &Value) -> Result<Step> {
    let request = json!({
        "op": "extend_lease",
        "nodes": number(step, "node_id")?,
        "lease": [number(step, "start")?.to_string(), number(step, "end_exclusive")?.to_string()],
    });
    let expected = match our_value(step, "error") {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok(extended_lease(list(step, "lease_after")?)?),
    };
    Ok(Step::new(request, expected))
}

fn extended_lease(lease: &[Value]) -> Result<Value> {
    let [node, start, end] = lease else { bail!("expected node, start and end of a lease") };
    Ok(json!({"nodes": [node, node], "start": start.to_string(), "end": end.to_string()}))
}

/// Returns a step's clock reading in Unix milliseconds, or the name of an invalid reading. The vectors contain seconds, or
/// Python expressions for values that are not times.
fn clock(step: &Value) -> Result<Value> {
    let reading = member(step, "clock")?;
    let Some(expression) = reading.as_str() else {
        let seconds = reading.as_i64().context("expected a reading in seconds")?;
        return Ok(json!([(seconds * 1000).to_string()]));
    };
    Ok(json!([match python::parse_expression(expression)? {
        Value::Null => "none",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "float",
        other => bail!("expected a reading that the suite knows, found {other}"),
    }]))
}
