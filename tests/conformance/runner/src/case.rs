//! A request that is sent to every runtime, and a pattern for the expected answer.

use std::{collections::HashSet, fmt};

use serde_json::{Value, json};

/// One request and its expected answer.
pub(crate) struct Case {
    /// The origin of the case, which the report prints.
    pub(crate) name: String,
    pub(crate) request: Value,
    pub(crate) expected: Pattern,
    /// Whether the case has an argument that only dynamically typed languages can pass.
    pub(crate) dynamic: bool,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, op: &str, args: Value, expected: Pattern) -> Self {
        let mut request = json!({ "op": op });
        request["args"] = args;
        Self { name: name.into(), request, expected, dynamic: false }
    }

    /// Creates a case whose name includes its operation.
    pub(crate) fn for_op(name: &str, op: &str, args: Value, expected: Pattern) -> Self {
        Self::new(format!("{name}: {op}"), op, args, expected)
    }

    /// Restricts the case to dynamically typed languages.
    pub(crate) fn for_dynamic_languages(self) -> Self {
        Self { dynamic: true, ..self }
    }

    /// Returns the case's format, which is the part of the operation before the dot, or else the `family` argument.
    pub(crate) fn family(&self) -> &str {
        let op = self.request["op"].as_str().unwrap_or_default();
        let family = self.request["args"]["family"].as_str().unwrap_or(op);
        op.split_once('.').map_or(family, |(family, _)| family)
    }

    /// Returns whether lengths and positions in the answer depend on how a language counts characters. Rust and Python
    /// count a character above U+FFFF as one unit, whereas JavaScript counts it as two.
    pub(crate) fn has_astral_characters(&self) -> bool {
        fn is_astral(value: &Value) -> bool {
            match value {
                Value::String(text) => text.chars().any(|c| c > '\u{ffff}'),
                Value::Array(items) => items.iter().any(is_astral),
                Value::Object(members) => members.values().any(is_astral),
                _ => false,
            }
        }
        is_astral(&self.request["args"])
    }
}

/// A pattern for the expected answer.
pub(crate) enum Pattern {
    /// Matches any answer, as long as all runtimes agree.
    Any,
    /// Matches exactly this value.
    Is(Value),
    /// Matches an object with at least these members.
    Has(Vec<(&'static str, Pattern)>),
    /// Matches an array with one item for each pattern.
    Each(Vec<Pattern>),
    /// Matches an array of `len` distinct items. Only the first and last few items are known.
    Ends { len: usize, first: Vec<Value>, last: Vec<Value> },
    /// Matches any value that satisfies a named rule.
    Obeys(&'static str, fn(&Value) -> bool),
}

impl Pattern {
    /// Expects the answer `{"ok": value}`.
    pub(crate) fn ok(value: Value) -> Self {
        Self::ok_with(Self::Is(value))
    }

    /// Expects an answer `{"ok": ...}` whose value matches `pattern`.
    pub(crate) fn ok_with(pattern: Pattern) -> Self {
        Self::Has(vec![("ok", pattern)])
    }

    /// Expects an answer `{"ok": ...}` whose value is an object with at least these members.
    pub(crate) fn ok_with_members<const N: usize>(members: [(&'static str, Value); N]) -> Self {
        let members = members.map(|(name, value)| (name, Self::Is(value)));
        Self::ok_with(Self::Has(members.into()))
    }

    /// Expects an answer `{"error": {"code": ..., "position": ...}}`. Other members are compared only between runtimes.
    pub(crate) fn error(code: &Value, position: Option<&Value>) -> Self {
        let mut members = vec![("code", Self::Is(code.clone()))];
        members.extend(position.map(|position| ("position", Self::Is(position.clone()))));
        Self::Has(vec![("error", Self::Has(members))])
    }

    /// Expects a list of `len` distinct items. Only the first and last few items are known.
    pub(crate) fn ends(len: usize, first: &[Value], last: &[Value]) -> Self {
        Self::Ends { len, first: first.to_vec(), last: last.to_vec() }
    }

    /// Returns whether an answer matches the pattern.
    pub(crate) fn matches(&self, found: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Is(value) => value == found,
            Self::Has(members) => members
                .iter()
                .all(|(name, pattern)| found.get(name).is_some_and(|it| pattern.matches(it))),
            Self::Each(patterns) => found.as_array().is_some_and(|items| {
                items.len() == patterns.len()
                    && patterns.iter().zip(items).all(|(pattern, item)| pattern.matches(item))
            }),
            Self::Ends { len, first, last } => found.as_array().is_some_and(|items| {
                items.len() == *len
                    && items.starts_with(first)
                    && items.ends_with(last)
                    && all_differ(items)
            }),
            Self::Obeys(_, rule) => rule(found),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Is(value) => write!(f, "{value}"),
            Self::Has(members) => {
                f.write_str("{")?;
                for (name, pattern) in members {
                    write!(f, "\"{name}\": {pattern}, ")?;
                }
                f.write_str("...}")
            }
            Self::Each(patterns) => {
                f.write_str("[")?;
                for pattern in patterns {
                    write!(f, "{pattern}, ")?;
                }
                f.write_str("]")
            }
            Self::Ends { len, first, last } => {
                write!(
                    f,
                    "{} ... {} ({len} different items)",
                    CommaSeparated(first),
                    CommaSeparated(last)
                )
            }
            Self::Obeys(rule, _) => write!(f, "an answer with {rule}"),
        }
    }
}

fn all_differ(items: &[Value]) -> bool {
    let mut seen = HashSet::new();
    items.iter().all(|item| seen.insert(item))
}

/// Displays values with a comma after each value.
struct CommaSeparated<'a>(&'a [Value]);

impl fmt::Display for CommaSeparated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|value| write!(f, "{value}, "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_allows_extra_members_but_no_missing_ones() {
        let pattern = Pattern::error(&json!("invalid_character"), Some(&json!(3)));
        assert!(pattern.matches(
            &json!({"error": {"code": "invalid_character", "position": 3, "written": 0}})
        ));
        assert!(!pattern.matches(&json!({"error": {"code": "invalid_character", "position": 4}})));
        assert!(!pattern.matches(&json!({"error": {"code": "invalid_character"}})));
        assert!(!pattern.matches(&json!({"ok": 1})));
    }

    #[test]
    fn a_shortened_list_is_compared_by_its_ends_and_length() {
        let pattern = Pattern::ends(5, &[json!(1), json!(2)], &[json!(4), json!(5)]);
        assert!(pattern.matches(&json!([1, 2, 3, 4, 5])));
        assert!(!pattern.matches(&json!([1, 2, 4, 5])));
        assert!(!pattern.matches(&json!([1, 2, 3, 4, 6])));
        assert!(!pattern.matches(&json!([0, 2, 3, 4, 5])));
        assert!(!pattern.matches(&json!([1, 2, 2, 4, 5])));
    }

    #[test]
    fn lists_are_compared_item_by_item() {
        let pattern = Pattern::Each(vec![Pattern::Any, Pattern::Is(json!(2))]);
        assert!(pattern.matches(&json!([7, 2])));
        assert!(!pattern.matches(&json!([7, 3])));
        assert!(!pattern.matches(&json!([7, 2, 2])));
    }
}
