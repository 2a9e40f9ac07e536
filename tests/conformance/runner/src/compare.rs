//! Compares the answers of all runtimes with the expected answers and with each other.

use std::fmt;

use serde_json::Value;

use super::{Case, Runtime};

/// The answers of one runtime, in the order of the cases. An answer is `None` if its case was not sent to the runtime.
pub(crate) struct Answers {
    pub(crate) runtime: Runtime,
    pub(crate) answers: Vec<Option<Value>>,
}

/// A case with a wrong answer from at least one runtime.
pub(crate) struct Mismatch<'a> {
    case: &'a Case,
    answers: Vec<(Runtime, &'a Value)>,
}

/// Returns the cases with wrong answers.
pub(crate) fn mismatches<'a>(cases: &'a [Case], all: &'a [Answers]) -> Vec<Mismatch<'a>> {
    let row = |index: usize| {
        let given = |one: &'a Answers| Some((one.runtime, one.answers[index].as_ref()?));
        all.iter().filter_map(given).collect::<Vec<_>>()
    };
    cases
        .iter()
        .enumerate()
        .map(|(index, case)| Mismatch { case, answers: row(index) })
        .filter(|row| !row.is_as_expected())
        .collect()
}

impl Mismatch<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.case.name
    }

    fn is_as_expected(&self) -> bool {
        let fits = self
            .answers
            .iter()
            .all(|(_, answer)| self.case.expected.matches(answer) && !is_broken(answer));
        fits && self.runtimes_agree()
    }

    /// Returns whether all runtimes gave the same answer. If the answer depends on how characters are counted, only
    /// runtimes that count them in the same units must agree.
    fn runtimes_agree(&self) -> bool {
        if !self.case.has_astral_characters() {
            return all_equal(self.answers.iter().map(|(_, answer)| *answer));
        }
        let those =
            |utf16| self.answers.iter().filter(move |(runtime, _)| runtime.counts_utf16() == utf16);
        [false, true].into_iter().all(|utf16| all_equal(those(utf16).map(|(_, answer)| *answer)))
    }
}

/// Returns whether an answer would be wrong for any request, because the driver does not recognize the operation or the
/// error does not come from polyflake.
fn is_broken(answer: &Value) -> bool {
    let text = answer.to_string();
    ["unknown_op", "unexpected"].iter().any(|code| text.contains(&format!("\"code\":\"{code}\"")))
}

fn all_equal<'a>(mut answers: impl Iterator<Item = &'a Value>) -> bool {
    let first = answers.next();
    answers.all(|answer| Some(answer) == first)
}

impl fmt::Display for Mismatch<'_> {
    /// Prints equal answers on one line. If the answers differ, prints each distinct answer from a point shortly before the
    /// first difference.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.case.name)?;
        writeln!(f, "  request   {}", excerpt(&self.case.request.to_string(), 0))?;
        writeln!(f, "  expected  {}", excerpt(&self.case.expected.to_string(), 0))?;
        let groups = self.groups();
        let from = groups
            .iter()
            .map(|(answer, _)| common_prefix_length(&groups[0].0, answer))
            .min()
            .unwrap_or_default();
        for (answer, runtimes) in &groups {
            writeln!(
                f,
                "  {}\n            {}",
                runtimes.join(", "),
                excerpt(answer, from.saturating_sub(CONTEXT_CHARS))
            )?;
        }
        Ok(())
    }
}

impl Mismatch<'_> {
    /// Returns each distinct answer with the runtimes that gave it.
    fn groups(&self) -> Vec<(String, Vec<&'static str>)> {
        let mut groups: Vec<(String, Vec<_>)> = Vec::new();
        for (runtime, answer) in &self.answers {
            let answer = answer.to_string();
            match groups.iter_mut().find(|(other, _)| *other == answer) {
                Some((_, runtimes)) => runtimes.push(runtime.name()),
                None => groups.push((answer, vec![runtime.name()])),
            }
        }
        groups
    }
}

/// The number of characters to print before the first difference between two answers.
const CONTEXT_CHARS: usize = 200;

/// Returns the number of characters in the common prefix of two strings.
fn common_prefix_length(one: &str, other: &str) -> usize {
    let differs = one.chars().zip(other.chars()).position(|(left, right)| left != right);
    differs.unwrap_or_else(|| one.chars().count().min(other.chars().count()))
}

/// Returns an excerpt of a string, because long lists of IDs would be unreadable.
fn excerpt(text: &str, from: usize) -> String {
    const MAX_LENGTH: usize = 1000;
    let shown: String = text.chars().skip(from).take(MAX_LENGTH).collect();
    let before = if from > 0 { "..." } else { "" };
    let after = if text.chars().nth(from + MAX_LENGTH).is_some() { "..." } else { "" };
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::case::Pattern, *};

    fn has_no_mismatch(text: &str, expected: Pattern, answers: [(Runtime, Value); 2]) -> bool {
        let cases = [Case::new("test", "sno.parse", json!({ "text": text }), expected)];
        let all = answers.map(|(runtime, answer)| Answers { runtime, answers: vec![Some(answer)] });
        mismatches(&cases, &all).is_empty()
    }

    #[test]
    fn a_mismatch_shows_which_runtimes_differ_and_where() {
        let case = Case::new("long", "sno.generator", json!({}), Pattern::Any);
        let same = json!({"ok": "x".repeat(5000)});
        let other = json!({"ok": format!("{}y", "x".repeat(4999))});
        let answers =
            vec![(Runtime::Rust, &same), (Runtime::Python, &other), (Runtime::Chromium, &same)];
        let shown = Mismatch { case: &case, answers }.to_string();
        assert!(shown.contains("rust, chromium\n            ...xxx"), "{shown}");
        assert!(shown.contains("xy\"}"), "{shown}");
        assert!(shown.len() < 2000, "{shown}");
    }

    #[test]
    fn different_answers_are_a_mismatch() {
        let both =
            |node| [(Runtime::Rust, json!({"ok": 1})), (Runtime::NodeWasm, json!({"ok": node}))];
        assert!(has_no_mismatch("abc", Pattern::Any, both(1)));
        assert!(!has_no_mismatch("abc", Pattern::Any, both(2)));
    }

    #[test]
    fn a_wrong_answer_of_all_runtimes_is_a_mismatch() {
        let both = || [(Runtime::Rust, json!({"ok": 1})), (Runtime::NodeWasm, json!({"ok": 1}))];
        assert!(has_no_mismatch("abc", Pattern::ok(json!(1)), both()));
        assert!(!has_no_mismatch("abc", Pattern::ok(json!(2)), both()));
    }

    #[test]
    fn only_strings_past_the_basic_plane_are_counted_by_code_unit() {
        let both = |runtime| [(Runtime::Rust, json!({"ok": 1})), (runtime, json!({"ok": 2}))];
        assert!(has_no_mismatch("\u{1f600}", Pattern::Any, both(Runtime::NodeWasm)));
        assert!(!has_no_mismatch("\u{1f600}", Pattern::Any, both(Runtime::Python)));
        assert!(!has_no_mismatch("\u{ffff}", Pattern::Any, both(Runtime::NodeWasm)));
    }

    #[test]
    fn an_unknown_operation_is_always_a_mismatch() {
        let answer = json!({"error": {"code": "unknown_op"}});
        assert!(!has_no_mismatch(
            "abc",
            Pattern::Any,
            [(Runtime::Rust, answer.clone()), (Runtime::Python, answer)]
        ));
    }
}
