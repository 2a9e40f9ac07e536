//! `polyflake layout sql` and `polyflake sql`: database functions that read IDs.
//!
//! Each layout is converted to a [`Table`]. The table contains the positions of the layout's fields. It also contains the
//! bits of the lowest and the highest ID in a time range, except for the timestamp's bits. The dialects share the
//! expressions that read an ID. They differ in how they define a function and how they read bits from bytes.

mod bounds;
mod duckdb;
mod fields;
mod files;
mod formats;
mod functions;
mod postgresql;
mod sqlite;

use bounds::Bounds;
use fields::{Field, Kind, Source, Time};
pub(crate) use files::{File, text};
use polyflake::layout::{Id, Layout, Value as FieldValue};
use serde_json::Value;

use crate::failure::Failure;

/// The version that the files state.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A database that the functions are written for.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Dialect {
    Postgresql,
    Duckdb,
    Sqlite,
}

/// Returns the content of a file that defines the functions of a layout in a dialect.
pub(crate) fn render(layout: &Layout, name: &str, dialect: Dialect) -> Result<String, Failure> {
    let table = Table::new(layout, name)?;
    match dialect {
        Dialect::Postgresql => Ok(postgresql::file(&table)),
        Dialect::Duckdb => Ok(duckdb::file(&table)),
        Dialect::Sqlite => sqlite::file(&table),
    }
}

/// Returns the prefix of the function names for a layout file. The prefix is the file's stem in lower case, with an
/// underscore in place of each character that is not an ASCII letter or digit.
pub(crate) fn name_from_path(path: &str) -> String {
    let stem = std::path::Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    stem.chars().map(plain).collect()
}

/// The prefixes of functions for formats and known services.
const RESERVED_NAMES: [&str; 10] = [
    "hotguid",
    "hotguid_uuid8",
    "sno",
    "sno_blob",
    "sno_bytea",
    "sno_uuid8",
    "snowflake",
    "time_of",
    "unknown",
    "uuid7",
];

/// Checks a name that becomes part of an unquoted identifier in every dialect.
pub(crate) fn parse_name(name: &str) -> Result<String, String> {
    let is_plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_');
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    // PostgreSQL limits identifiers to 63 bytes, and the name must leave room for the longest suffix.
    if !starts || name.len() > 50 || !name.chars().all(is_plain) {
        return Err(format!(
            "expected a lowercase letter and up to 49 lowercase letters, digits and underscores, found `{name}`"
        ));
    }
    if RESERVED_NAMES.contains(&name) {
        return Err(format!(
            "expected a name that polyflake's own functions do not have, found `{name}`"
        ));
    }
    Ok(name.to_owned())
}

/// The names of the arguments and result columns of the functions that return bounds.
const ARGUMENT_NAMES: [&str; 6] = ["moment", "before", "start", "until", "lowest", "highest"];

/// The parts of a layout that determine its SQL functions.
struct Table {
    name: String,
    /// The length of a byte ID, or `None` for an integer ID.
    length: Option<u32>,
    time: Option<Time>,
    /// The sequence, the constants and the bindable fields, starting with the most significant one.
    fields: Vec<Field>,
    /// The bounds, or the reason why the layout has no ranges.
    bounds: Result<Bounds, &'static str>,
}

/// Formats an integer as SQL. The minimum value is written as an expression, because SQL literals have no sign.
fn literal(value: i64) -> String {
    if value == i64::MIN { format!("({} - 1)", i64::MIN + 1) } else { value.to_string() }
}

/// Formats a string as an SQL literal.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Formats a field's name as an identifier. It is quoted because it may be a keyword.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Table {
    fn new(layout: &Layout, name: &str) -> Result<Self, Failure> {
        let invalid = |reason: &str| Failure::new("invalid_layout", reason);
        let json: Value = layout.to_json().parse().map_err(|_| invalid("expected JSON"))?;
        let list: Vec<_> = json["fields"].as_array().into_iter().flatten().collect();
        let mut table = Self {
            name: name.to_owned(),
            length: (!layout.is_integer()).then(|| layout.bits() / 8),
            time: None,
            fields: Vec::new(),
            bounds: Err("has no timestamp"),
        };
        let constants = constants(layout, &list)?;
        let mut bounds =
            Bounds { above: Vec::new(), lowest: String::new(), highest: String::new() };
        let (mut first, mut has_sequence_above) = (0, false);
        for json in list {
            let bits = json["bits"].as_u64().and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0);
            let field = Field::new(json, first, bits);
            let kind = json["kind"].as_str().unwrap_or_default();
            let [zeros, ones] = ["0", "1"].map(|digit| digit.repeat(bits as usize));
            let constant = &constants[first as usize..][..bits as usize];
            first += bits;
            let (low, high) = match kind {
                "constant" => (constant, constant),
                "sequence" | "bindable" if table.time.is_some() => (&*zeros, &*ones),
                _ => (&*zeros, &*zeros),
            };
            bounds.lowest.push_str(low);
            bounds.highest.push_str(high);
            if kind == "timestamp" {
                table.time = Some(Time::new(json, field, layout.is_integer())?);
            } else if kind != "unused" {
                if table.time.is_none() {
                    has_sequence_above |= kind == "sequence";
                    bounds.above.extend((kind == "bindable").then(|| field.clone()));
                }
                table.fields.push(field);
            }
        }
        table.check_names()?;
        let is_argument = |field: &&Field| {
            table.time.is_some()
                && ARGUMENT_NAMES.iter().any(|argument| field.name.eq_ignore_ascii_case(argument))
        };
        if let Some(field) = bounds.above.iter().find(is_argument) {
            return Err(duplicate_name_error(field));
        }
        table.bounds = match &table.time {
            None => Err("has no timestamp"),
            Some(time) if time.field.bits == 0 => Err("has a timestamp of 0 bits"),
            Some(_) if has_sequence_above => Err("has its sequence above its timestamp"),
            Some(_) if bounds.above.iter().any(|field| field.kind == Kind::Wide) => {
                Err("has an integer of more than 64 bits above its timestamp")
            }
            Some(_) => Ok(bounds),
        };
        Ok(table)
    }

    /// Returns the source from which expressions read an ID. An integer ID is read as a whole, and a byte ID is read one
    /// range of bits at a time.
    fn source(&self, word: &'static str, bits: fn(u32, u32) -> String) -> Source {
        self.length.map_or(Source::Word(word), |_| Source::Bytes(bits))
    }

    /// Wraps an expression so that it is NULL for bytes of the wrong length. `length` is the expression for the length.
    fn null_unless_length(&self, length: &str, value: String) -> String {
        match self.length {
            None => value,
            Some(count) => format!("CASE WHEN {length} = {count} THEN {value} END"),
        }
    }

    /// Returns whether an ID has 16 bytes, so that it can also be stored as a UUID.
    fn has_uuids(&self) -> bool {
        self.length == Some(16)
    }

    /// Returns whether the functions include `_field`, which reads integers of at most 64 bits.
    fn has_integer_fields(&self) -> bool {
        !self.has_non_integer_fields()
            || self.fields.iter().any(|field| field.kind == Kind::Integer)
    }

    /// Returns whether the functions include `_bytes`, which also reads fields that are not integers of at most 64 bits.
    fn has_non_integer_fields(&self) -> bool {
        self.fields.iter().any(|field| field.kind != Kind::Integer)
    }

    /// Returns whether a bound requires the value of a field of a certain kind.
    fn requires_field_of_kind(&self, is: fn(Kind) -> bool) -> bool {
        self.time_and_bounds()
            .is_some_and(|(_, bounds)| bounds.above.iter().any(|field| is(field.kind)))
    }

    /// Returns the SQL comment for `_field`.
    fn integer_field_comment(&self) -> String {
        let names = self.names(|field| field.kind == Kind::Integer);
        format!("A field of an ID: {names}. Another name is an error.")
    }

    /// Returns the SQL comment for `_bytes`. `text` is an expression for the text of a field.
    fn bytes_field_comment(&self, text: &str) -> String {
        let names = self.names(|_| true);
        format!(
            "The bytes of a field of an ID, without leading zeros: {names}. Another name is an error. The text of a field is \
             {text}."
        )
    }

    /// Checks that each name refers to only one field. In a layout, a constant and a bindable field may have the same name.
    fn check_names(&self) -> Result<(), Failure> {
        let names: Vec<_> = self.fields.iter().map(|field| field.name.to_lowercase()).collect();
        match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            None => Ok(()),
            Some((index, _)) => Err(duplicate_name_error(&self.fields[index])),
        }
    }

    /// Returns the timestamp and the bounds, if the layout has ranges.
    fn time_and_bounds(&self) -> Option<(&Time, &Bounds)> {
        Some((self.time.as_ref()?, self.bounds.as_ref().ok()?))
    }

    /// Returns the last part of the comment at the top of the file, which states what the functions cannot do.
    fn limits(&self) -> String {
        match self.bounds {
            Ok(_) => String::new(),
            Err(reason) => {
                format!("--\n-- There is no range of IDs, because the layout {reason}.\n")
            }
        }
    }

    /// Returns an expression for the integer value of the field with a given name. The expression fails if the name is
    /// unknown, or if the field is not an integer of at most 64 bits.
    fn field(&self, id: Source) -> String {
        self.case_by_field_name("", |field| match field.kind {
            Kind::Integer => field.number(id),
            _ => format!("flake.no_integer_of('{}', field)", self.name),
        })
    }

    /// Returns an expression for the value of the field with a given name. `cast` is appended to the expression for an
    /// unknown name, so that this expression has the same type as the value.
    fn case_by_field_name(&self, cast: &str, value: impl Fn(&Field) -> String) -> String {
        let unknown = format!("flake.unknown_field_of('{}', field){cast}", self.name);
        if self.fields.is_empty() {
            return unknown;
        }
        let options = self
            .fields
            .iter()
            .map(|field| format!("WHEN {} THEN {}\n        ", quote(&field.name), value(field)));
        format!("CASE field\n        {}ELSE {unknown}\n    END", options.collect::<String>())
    }

    /// Returns the names of the fields that a function reads, for the function's SQL comment.
    fn names(&self, is_read: impl Fn(&Field) -> bool) -> String {
        let read = self.fields.iter().filter(|field| is_read(field));
        read.map(|field| &*field.name).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the bits of the constants as binary digits. All other bits are 0, except that the bits of inverted fields are 1.
fn constants(layout: &Layout, fields: &[&Value]) -> Result<String, Failure> {
    let mut values = layout.values();
    for json in fields {
        let (kind, name) = (json["kind"].as_str(), json["name"].as_str().unwrap_or_default());
        match (kind, json["type"].as_str()) {
            (Some("timestamp"), _) => values.time(integer(&json["epoch_ms"]))?,
            (Some("sequence"), _) => values.sequence(0)?,
            (Some("bindable"), Some("bytes")) => values.bind(name, FieldValue::from(Vec::new()))?,
            (Some("bindable"), Some("text")) => values.bind(name, "")?,
            (Some("bindable"), _) => values.bind(name, 0)?,
            _ => &mut values,
        };
    }
    let bytes = match values.pack()? {
        Id::Bytes(bytes) => bytes,
        id => id.as_integer().unwrap_or_default().to_be_bytes().to_vec(),
    };
    let digit = |at: usize| if bytes[at / 8] >> (7 - at % 8) & 1 == 0 { '0' } else { '1' };
    Ok((0..bytes.len() * 8).map(digit).collect())
}

/// Returns the error for a field with the same name as a different field, an argument or a column.
fn duplicate_name_error(field: &Field) -> Failure {
    let name = &field.name;
    Failure::new("invalid_layout", format!("expected distinct names in SQL, found `{name}` twice"))
}

/// Parses an integer, which is a string of digits in JSON if it exceeds 2^53.
fn integer(json: &Value) -> i128 {
    let digits = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    digits.parse().unwrap_or_default()
}
