//! Steps of a generator under a scripted clock: requests and expected answers.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::case::{Case, Pattern};

/// A step's request, and its expected answer.
pub(crate) struct Step {
    pub(crate) request: Value,
    pub(crate) expected: Pattern,
}

impl Step {
    pub(crate) fn new(request: Value, expected: Pattern) -> Self {
        Self { request, expected }
    }
}

/// The requests, and the expected answers.
pub(crate) fn split(steps: Vec<Step>) -> (Vec<Value>, Vec<Pattern>) {
    steps.into_iter().map(|step| (step.request, step.expected)).unzip()
}

/// A whole trace that is built and answers every step.
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

/// The case of a generator that is refused.
pub(crate) fn refused(name: impl Into<String>, op: &str, mut options: Value, code: &Value) -> Case {
    options["steps"] = json!([]);
    Case::new(name, op, options, Pattern::error(code, None))
}

/// The pattern of answers of which none repeats an ID of an earlier one.
pub(crate) fn no_id_twice() -> Pattern {
    Pattern::Obeys("no ID given out twice", |answer| {
        all_new(&answer["ok"]["steps"], &mut HashSet::new())
    })
}

fn all_new<'a>(steps: &'a Value, seen: &mut HashSet<&'a str>) -> bool {
    steps.as_array().into_iter().flatten().all(|step| {
        let mut ids = step["ok"].as_array().into_iter().flatten().filter_map(Value::as_str);
        ids.all(|id| seen.insert(id)) && all_new(&step["inside"], seen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_given_twice_is_seen() {
        let outer = |id| json!({"ok": [id]});
        let inner = |id| json!({"ok": null, "inside": [{"ok": [id]}]});
        let trace = |steps: [Value; 2]| json!({"ok": {"steps": steps}});
        assert!(no_id_twice().fits(&trace([outer("1"), inner("2")])));
        assert!(!no_id_twice().fits(&trace([outer("1"), inner("1")])));
        assert!(!no_id_twice().fits(&trace([outer("1"), outer("1")])));
    }
}
