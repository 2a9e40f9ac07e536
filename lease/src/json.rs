//! Canonical JSON: fields in ASCII order, no white space, and only quotation marks and backslashes escaped. The reader accepts
//! nothing else, so each value has one text.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write;

use crate::{Error, ErrorKind, Result, error::damaged, record::Random};

/// The largest integer in a record, which every JSON reader holds.
pub(crate) const MOST: u64 = (1 << 53) - 1;

/// Writes fields one after the other.
pub(crate) struct Writer(String);

impl Writer {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.text(key);
        self.0.push(':');
    }

    pub(crate) fn integer(mut self, key: &str, value: u64) -> Self {
        self.key(key);
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{value}");
        self
    }

    pub(crate) fn string(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.text(value);
        self
    }

    pub(crate) fn strings(mut self, key: &str, values: &[String]) -> Self {
        self.key(key);
        for (index, value) in values.iter().enumerate() {
            self.0.push(if index == 0 { '[' } else { ',' });
            self.text(value);
        }
        self.0.push_str(if values.is_empty() { "[]" } else { "]" });
        self
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn text(&mut self, text: &str) {
        self.0.push_str(&quoted(text));
    }
}

/// A text in quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// Reads fields in the order in which they are written.
pub(crate) struct Reader<'t> {
    rest: &'t str,
    is_first: bool,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Result<Self> {
        let rest = text.strip_prefix('{').ok_or_else(|| damaged("expected a record in JSON"))?;
        Ok(Self { rest, is_first: true })
    }

    fn skip(&mut self, prefix: &str, expected: &str) -> Result<()> {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.ok_or_else(|| damaged(format!("expected {expected} in a record")))?;
        Ok(())
    }

    fn key(&mut self, key: &str) -> Result<()> {
        if !core::mem::take(&mut self.is_first) {
            self.skip(",", &format!("the field `{key}`"))?;
        }
        self.skip(&format!("\"{key}\":"), &format!("the field `{key}`"))
    }

    pub(crate) fn integer(&mut self, key: &str) -> Result<u64> {
        self.key(key)?;
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let is_canonical = digits == "0" || !digits.starts_with('0');
        let value = digits.parse().ok().filter(|value| is_canonical && *value <= MOST);
        self.rest = rest;
        value.ok_or_else(|| damaged(format!("expected an integer below 2^53 in `{key}`")))
    }

    /// The format of a record, which must be 1.
    pub(crate) fn format(&mut self) -> Result<()> {
        check_format(self.integer("format")?)
    }

    pub(crate) fn string(&mut self, key: &str) -> Result<String> {
        self.key(key)?;
        self.text(key)
    }

    fn text(&mut self, key: &str) -> Result<String> {
        self.skip("\"", &format!("a text in `{key}`"))?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match chars.next() {
                    Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                    _ => break,
                },
                c if c.is_control() => break,
                c => text.push(c),
            }
        }
        Err(damaged(format!("expected a text in `{key}`")))
    }

    /// One text or more.
    pub(crate) fn strings(&mut self, key: &str) -> Result<Vec<String>> {
        self.key(key)?;
        self.skip("[", &format!("a list in `{key}`"))?;
        let mut texts = Vec::from([self.text(key)?]);
        while self.rest.starts_with(',') {
            self.skip(",", "a comma")?;
            texts.push(self.text(key)?);
        }
        self.skip("]", &format!("the end of the list in `{key}`"))?;
        Ok(texts)
    }

    /// The text of a field, if the next field is this one.
    pub(crate) fn optional(&mut self, key: &str) -> Result<Option<String>> {
        let is_next = self.rest.starts_with(&format!(",\"{key}\":"));
        is_next.then(|| self.string(key)).transpose()
    }

    pub(crate) fn random(&mut self, key: &str) -> Result<Random> {
        Random::parse(&self.string(key)?)
    }

    pub(crate) fn end(mut self) -> Result<()> {
        self.skip("}", "no further field")?;
        if self.rest.is_empty() { Ok(()) } else { Err(damaged("expected nothing after a record")) }
    }
}

/// Refuses any format but 1.
///
/// # Errors
/// `schema_outdated` for a newer one, `store_damaged` for 0.
pub(crate) fn check_format(format: u64) -> Result<()> {
    match format {
        1 => Ok(()),
        0 => Err(damaged("expected format 1, found 0")),
        newer => Err(Error::new(
            ErrorKind::SchemaOutdated,
            format!("expected a record of format 1, found {newer}"),
        )),
    }
}
