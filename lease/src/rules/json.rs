//! Canonical JSON. The fields are sorted in ASCII order, there is no whitespace, and only quotation marks and backslashes
//! are escaped. Any other form is rejected, so each value has exactly one encoding.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value};

use crate::{Error, ErrorKind, Result, rules::error::damaged_record, rules::record::Random};

/// The largest integer in a record. JSON parsers can represent every integer up to this limit exactly.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The fields of a JSON object or of a database row.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            _ => Err(damaged_record("expected an object in JSON")),
        }
    }

    pub(crate) fn from_fields<'f>(fields: impl Iterator<Item = (&'f str, Value)>) -> Self {
        Self(fields.map(|(key, value)| (key.to_string(), value)).collect())
    }

    fn get<'f, V>(&'f self, key: &str, read: impl FnOnce(&'f Value) -> Option<V>) -> Result<V> {
        let value = self.0.get(key).and_then(read);
        value.ok_or_else(|| damaged_record(format!("expected a valid `{key}`")))
    }

    /// Rejects any record format other than 1.
    ///
    /// # Errors
    /// Returns `schema_too_new` for a newer format, or `store_damaged` for any other value.
    pub(crate) fn check_format(&self) -> Result<()> {
        match self.integer("format")? {
            1 => Ok(()),
            0 => Err(damaged_record("expected format 1, found 0")),
            newer => {
                let reason = format!("expected a record of format 1, found {newer}");
                Err(Error::new(ErrorKind::SchemaTooNew, reason))
            }
        }
    }

    pub(crate) fn integer(&self, key: &str) -> Result<u64> {
        self.get(key, |value| value.as_u64().filter(|value| *value <= MAX_SAFE_INTEGER))
    }

    pub(crate) fn string(&self, key: &str) -> Result<String> {
        self.get(key, |value| value.as_str().map(ToString::to_string))
    }

    pub(crate) fn object(&self, key: &str) -> Result<Self> {
        self.get(key, |value| value.as_object().cloned().map(Self))
    }

    /// Returns the list of objects in a field.
    pub(crate) fn objects(&self, key: &str) -> Result<Vec<Self>> {
        let object = |value: &Value| value.as_object().cloned().map(Self);
        self.get(key, |value| value.as_array()?.iter().map(object).collect())
    }

    pub(crate) fn object_or_null(&self, key: &str) -> Result<Option<Self>> {
        let is_null = self.0.get(key).is_some_and(Value::is_null);
        (!is_null).then(|| self.object(key)).transpose()
    }

    /// Returns the list of strings in a field. An empty list is rejected.
    pub(crate) fn nonempty_strings(&self, key: &str) -> Result<Vec<String>> {
        let texts = self.strings(key)?;
        self.get(key, |_| Some(texts).filter(|texts| !texts.is_empty()))
    }

    /// Returns the list of strings in a field.
    pub(crate) fn strings(&self, key: &str) -> Result<Vec<String>> {
        let text = |value: &Value| value.as_str().map(ToString::to_string);
        self.get(key, |value| value.as_array()?.iter().map(text).collect())
    }

    /// Returns whether a field is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Bool(true))
    }

    /// Returns the string in a field, or `None` if the field does not exist.
    pub(crate) fn optional_string(&self, key: &str) -> Result<Option<String>> {
        self.0.contains_key(key).then(|| self.string(key)).transpose()
    }

    pub(crate) fn random(&self, key: &str) -> Result<Random> {
        Random::parse(&self.string(key)?)
    }
}

/// Rejects `text` if it differs from `written`, the canonical encoding of its value, for example because of extra fields, a
/// different order or whitespace.
pub(crate) fn check_canonical(text: &str, written: &str) -> Result<()> {
    if text == written && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(damaged_record("expected canonical JSON, with its fields and no other"))
}
