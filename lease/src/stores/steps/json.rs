//! Conversion of statements and outcomes to and from JSON.

use alloc::{borrow::ToOwned, vec::Vec};

use serde_json::{Value as Json, json};

use super::{Failure, Outcome, Statement, Value};

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Integer(integer) => Self::from(*integer),
            Value::Text(text) => Self::from(&**text),
            Value::Null => Self::Null,
        }
    }
}

impl From<&Json> for Value {
    fn from(value: &Json) -> Self {
        match value {
            Json::String(text) => Self::Text(text.clone()),
            other => other.as_i64().map_or(Self::Null, Self::Integer),
        }
    }
}

impl From<&Statement> for Json {
    fn from(Statement { text, values }: &Statement) -> Self {
        json!([text, values.iter().map(Self::from).collect::<Vec<_>>()])
    }
}

impl From<&Json> for Failure {
    /// Converts a failure from JSON. Any other value is treated as a lost connection.
    fn from(failure: &Json) -> Self {
        let text = |key| failure.get(key)?.as_str().map(ToOwned::to_owned);
        let none = || "expected an outcome, found none".to_owned();
        Self { code: text("code"), message: text("message").unwrap_or_else(none) }
    }
}

impl From<&Json> for Outcome {
    /// Converts an outcome from JSON. A value without `rows` and `failure` is treated as a lost connection.
    fn from(outcome: &Json) -> Self {
        let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
        let row = |row: &Json| list(row).iter().map(Value::from).collect();
        let rows = |rows: &Json| list(rows).iter().map(row).collect();
        let failure = outcome.get("failure").filter(|failure| failure.is_object());
        let notices = outcome.get("notices").map(list).unwrap_or_default();
        match outcome.get("rows") {
            Some(found) => Self {
                rows: list(found).iter().map(rows).collect(),
                failure: failure.map(Failure::from),
                notices: notices.iter().map(Failure::from).collect(),
            },
            None => {
                Self { failure: Some(failure.unwrap_or(&Json::Null).into()), ..Self::default() }
            }
        }
    }
}
