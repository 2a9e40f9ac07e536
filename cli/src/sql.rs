//! `polyflake layout sql`: what an ID of a layout says, as functions of a database.
//!
//! A layout becomes a [`Table`]: where its fields are, and the bits that a range of IDs keeps or fills. The dialects share
//! the expressions over an ID, which are here, and differ in how they define a function. `sql/generate.py` takes the
//! expressions of known services from this program's output, so the rule that reads a snowflake is in this file alone.

mod duckdb;
mod postgresql;
mod sqlite;

use polyflake::layout::{Layout, Tick};
use serde_json::Value;

use crate::failure::Failure;

/// A database that the functions are written for.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Dialect {
    Postgresql,
    Duckdb,
    Sqlite,
}

/// Returns the functions of a layout in a dialect, as the text of a file.
pub(crate) fn write(layout: &Layout, name: &str, dialect: Dialect) -> Result<String, Failure> {
    let table = Table::new(layout, name)?;
    match dialect {
        Dialect::Postgresql => Ok(postgresql::file(&table)),
        Dialect::Duckdb => Ok(duckdb::file(&table)),
        Dialect::Sqlite => sqlite::file(&table),
    }
}

/// Returns the name of the functions for a layout's file: its stem, in the characters of an identifier.
pub(crate) fn name_of(path: &str) -> String {
    let stem = std::path::Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    stem.chars().map(plain).collect()
}

/// Names of functions that `sql/polyflake.sql` and `sql/polyflake.duckdb.sql` already have.
const TAKEN: [&str; 10] = [
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

/// Checks a name that becomes a part of an identifier in every dialect without quotes.
pub(crate) fn checked_name(name: &str) -> Result<String, String> {
    let is_plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_');
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    // With the longest suffix, an identifier has at most 63 bytes in PostgreSQL.
    if !starts || name.len() > 55 || !name.chars().all(is_plain) {
        return Err(format!(
            "expected a lowercase letter and up to 54 lowercase letters, digits and underscores, found `{name}`"
        ));
    }
    if TAKEN.contains(&name) {
        return Err(format!(
            "expected a name that polyflake's own functions do not have, found `{name}`"
        ));
    }
    Ok(name.to_owned())
}

/// Arguments of the functions that return bounds.
const ARGUMENTS: [&str; 4] = ["moment", "before", "start", "until"];

/// A field of an ID: its position, and whether its bits are inverted.
struct Field {
    name: String,
    shift: u32,
    bits: u32,
    invert: bool,
}

/// The timestamp, with the length of its ticks and the tick of its epoch, counted from 1970.
struct Time {
    field: Field,
    tick_us: i64,
    epoch: i64,
}

/// The bounds of a range of IDs in the fields other than the timestamp.
struct Bounds {
    /// Bindable fields above the timestamp, which a range needs the values of.
    above: Vec<Field>,
    /// The bits of the constants.
    lowest: i64,
    /// The same, and all bits of the sequence and the bindable fields below the timestamp.
    highest: i64,
}

/// What a layout's functions are written from.
struct Table {
    name: String,
    time: Option<Time>,
    /// The sequence, constants and bindable fields, from the most significant one.
    fields: Vec<Field>,
    /// The bounds, or why the layout has no ranges.
    bounds: Result<Bounds, &'static str>,
}

/// The largest value of a field.
const fn mask(bits: u32) -> i64 {
    if bits >= 64 { -1 } else { ((1_u64 << bits) - 1).cast_signed() }
}

/// An integer as SQL, in which the lowest one is an expression because a literal has no sign.
fn literal(value: i64) -> String {
    if value == i64::MIN { format!("({} - 1)", i64::MIN + 1) } else { value.to_string() }
}

/// A string as SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A field's name as an identifier, with quotes because it may be a keyword.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Field {
    fn new(json: &Value, shift: u32, bits: u32) -> Self {
        let name = json["name"].as_str().or_else(|| json["kind"].as_str()).unwrap_or_default();
        Self { name: name.to_owned(), shift, bits, invert: json["invert"] == true }
    }

    /// The field's number. SQL shifts signed integers, so the field is masked even at the top.
    fn number(&self, word: &str) -> String {
        let mask = mask(self.bits);
        match (self.bits, self.shift, self.invert) {
            (64, _, false) => word.into(),
            (64, _, true) => format!("~{word}"),
            (_, 0, false) => format!("{word} & {mask}"),
            (_, shift, false) => format!("({word} >> {shift}) & {mask}"),
            (_, 0, true) => format!("{mask} - ({word} & {mask})"),
            (_, shift, true) => format!("{mask} - (({word} >> {shift}) & {mask})"),
        }
    }

    /// Bits of the field, in their place.
    fn placed(&self, bits: u64) -> i64 {
        let bits = bits & mask(self.bits).cast_unsigned();
        if self.bits == 0 { 0 } else { (bits << self.shift).cast_signed() }
    }

    /// An expression for the value of a bindable field in its place. The sign bit is set apart, because one database reports an
    /// overflow for a shift into it.
    fn put(&self, value: &str) -> String {
        let flipped =
            if self.invert { format!("({} - {value})", mask(self.bits)) } else { value.into() };
        if self.bits + self.shift < 64 {
            return format!("({flipped} << {})", self.shift);
        }
        let half = mask(self.bits - 1);
        format!(
            "(({flipped} & {half}) << {}) | CASE WHEN {flipped} > {half} THEN {} ELSE 0 END",
            self.shift,
            literal(i64::MIN)
        )
    }
}

impl Time {
    /// Whether a tick is a whole number of milliseconds.
    const fn is_whole(&self) -> bool {
        self.tick_us % 1000 == 0
    }

    /// The tick of an ID, counted from 1970.
    fn tick(&self, word: &str) -> String {
        let tick = format!("({})", self.field.number(word));
        if self.epoch == 0 { tick } else { format!("({tick} + {})", self.epoch) }
    }

    /// The product of an ID's tick and a length.
    fn times(&self, word: &str, length: i64) -> String {
        let tick = self.tick(word);
        if length == 1 { tick } else { format!("{tick} * {length}") }
    }

    fn micros(&self, word: &str) -> String {
        self.times(word, self.tick_us)
    }

    /// The Unix milliseconds of an ID, rounded down. `divide` is the operator of whole numbers.
    fn ms(&self, word: &str, divide: &str) -> String {
        let (length, ms) = if self.is_whole() {
            (self.tick_us / 1000, self.times(word, self.tick_us / 1000))
        } else {
            let us = self.micros(word);
            let ms = if self.epoch >= 0 && self.field.bits < 64 {
                format!("({us}) {divide} 1000")
            } else {
                // A division rounds towards zero, so the remainder goes first.
                format!("({us} - (({us}) % 1000 + 1000) % 1000) {divide} 1000")
            };
            (self.tick_us, ms)
        };
        self.within(word, i64::MIN.into(), i64::MAX.into(), length, ms)
    }

    /// The same expression, but NULL for an ID whose time in this unit is outside the bounds. `length` is that of a tick.
    fn within(&self, word: &str, low: i128, high: i128, length: i64, value: String) -> String {
        let most = mask(self.field.bits.min(63));
        let least = if self.field.bits == 64 { i64::MIN } else { 0 };
        let (epoch, length) = (i128::from(self.epoch), i128::from(length));
        // The first and the last number of the field whose time is within the bounds.
        let first = -(-low).div_euclid(length) - epoch;
        let last = high.div_euclid(length) - epoch;
        let (first, last) = (first.max(least.into()), last.min(most.into()));
        if (first, last) == (least.into(), most.into()) {
            return value;
        }
        let number = self.field.number(word);
        format!("CASE WHEN {number} BETWEEN {first} AND {last} THEN {value} END")
    }

    /// The same expression, but NULL for an ID whose time the databases do not have: before 4714 BC, or after
    /// 294246.
    fn within_calendar(&self, word: &str, value: String) -> String {
        let (low, high) = (-210_866_803_200_000_000, i64::MAX);
        self.within(word, low, high.into(), self.tick_us, value)
    }

    /// How many ticks ranges have. They end where the sign bit changes, because integers are compared with their signs.
    /// One tick less than 2^63 keeps the end of the last one in 64 bits.
    fn count(&self) -> i64 {
        let bits = self.field.bits.min(63 - self.field.shift);
        if bits == 63 { i64::MAX } else { 1 << bits }
    }

    /// An expression for a tick in its place, and the bits that all these ticks have in common.
    fn placed(&self, tick: &str) -> (String, i64) {
        let Field { shift, bits, invert, .. } = self.field;
        // Where the timestamp has the sign bit, all ticks are in the first half. Inverted, they have the sign bit set.
        let is_top = shift + bits == 64;
        let most = mask(if is_top { bits - 1 } else { bits });
        let tick = if invert { format!("({most} - {tick})") } else { tick.into() };
        let placed = if shift == 0 { tick } else { format!("{tick} << {shift}") };
        (placed, if invert && is_top { i64::MIN } else { 0 })
    }

    /// An expression for the first tick of the time `moment` or later, or for the last tick of a time earlier than `before`.
    fn end(&self, is_start: bool) -> String {
        let Self { tick_us, epoch, .. } = self;
        let count = self.count();
        if is_start {
            format!("flake.tick(moment, {tick_us}, {epoch}, 0, {})", count - 1)
        } else {
            format!("(flake.tick(before, {tick_us}, {epoch}, 1, {count}) - 1)")
        }
    }
}

impl Bounds {
    /// An expression for a bound, from one for its tick and the bits of the other fields.
    fn word(&self, time: &Time, tick: &str, rest: i64) -> String {
        let (placed, sign) = time.placed(tick);
        let rest = Some(rest | sign).filter(|rest| *rest != 0).map(literal);
        let above = self.above.iter().map(|field| {
            let name = identifier(&field.name);
            field.put(&format!("flake.fit({name}, {}, {})", field.bits, quoted(&field.name)))
        });
        let others: Vec<_> = rest.into_iter().chain(above).collect();
        if others.is_empty() {
            return placed;
        }
        let placed = if time.field.shift == 0 { placed } else { format!("({placed})") };
        format!("{placed} | {}", others.join(" | "))
    }

    /// Further arguments of the functions, or what they are called with: the values of the bindable fields.
    fn arguments(&self, form: &str) -> String {
        let names = self.above.iter().map(|field| identifier(&field.name));
        names.flat_map(|name| [", ".to_owned(), name, form.to_owned()]).collect()
    }

    /// The lowest ID of a range.
    fn lowest(&self, time: &Time) -> String {
        self.word(time, &time.end(!time.field.invert), self.lowest)
    }

    /// The highest ID of a range.
    fn highest(&self, time: &Time) -> String {
        self.word(time, &time.end(time.field.invert), self.highest)
    }
}

impl Table {
    fn new(layout: &Layout, name: &str) -> Result<Self, Failure> {
        let invalid = |reason: &str| Failure::new("invalid_layout", reason);
        let json: Value = layout.to_json().parse().map_err(|_| invalid("expected JSON"))?;
        if json["id"] != "integer" {
            return Err(invalid("expected a layout of 64-bit integers, found one of bytes"));
        }
        let mut table = Self {
            name: name.to_owned(),
            time: None,
            fields: Vec::new(),
            bounds: Err("has no timestamp"),
        };
        let mut bounds = Bounds { above: Vec::new(), lowest: 0, highest: 0 };
        let (mut shift, mut has_sequence_above) = (64, false);
        for json in json["fields"].as_array().into_iter().flatten() {
            let bits = json["bits"].as_u64().and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0);
            shift -= bits;
            let field = Field::new(json, shift, bits);
            match json["kind"].as_str() {
                Some("timestamp") => table.time = Some(Time::new(json, field)?),
                Some("unused") => {}
                kind => {
                    let constant = kind == Some("constant");
                    let value = if constant { bits_of(&json["value"]) } else { u64::MAX };
                    let flip = if constant && field.invert { u64::MAX } else { 0 };
                    bounds.highest |= field.placed(value ^ flip);
                    if constant {
                        bounds.lowest |= field.placed(value ^ flip);
                    } else if table.time.is_none() {
                        bounds.highest &= !field.placed(u64::MAX);
                        has_sequence_above |= kind == Some("sequence");
                        bounds.above.push(Field::new(json, shift, bits));
                    }
                    table.fields.push(field);
                }
            }
        }
        table.check_names()?;
        let is_argument = |field: &&Field| {
            table.time.is_some()
                && ARGUMENTS.iter().any(|argument| field.name.eq_ignore_ascii_case(argument))
        };
        if let Some(field) = bounds.above.iter().find(is_argument) {
            return Err(same_names(field));
        }
        table.bounds = match &table.time {
            None => Err("has no timestamp"),
            Some(time) if time.field.bits == 0 => Err("has a timestamp of 0 bits"),
            Some(_) if has_sequence_above => Err("has its sequence above its timestamp"),
            Some(_) => Ok(bounds),
        };
        Ok(table)
    }

    /// Checks that each name means one field. A layout may have a constant and a bindable field of one name.
    fn check_names(&self) -> Result<(), Failure> {
        let names: Vec<_> = self.fields.iter().map(|field| field.name.to_lowercase()).collect();
        match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            None => Ok(()),
            Some((index, _)) => Err(same_names(&self.fields[index])),
        }
    }

    /// The timestamp and the bounds of a layout that has ranges.
    fn ranges(&self) -> Option<(&Time, &Bounds)> {
        Some((self.time.as_ref()?, self.bounds.as_ref().ok()?))
    }

    /// The last part of a file's head: what the functions cannot do.
    fn limits(&self) -> String {
        match self.bounds {
            Ok(_) => String::new(),
            Err(reason) => {
                format!("--\n-- There is no range of IDs, because the layout {reason}.\n")
            }
        }
    }

    /// A field by its name. An unknown name is an error.
    fn field(&self, word: &str) -> String {
        let unknown = format!("flake.unknown_field_of('{}', field)", self.name);
        if self.fields.is_empty() {
            return unknown;
        }
        let options = self.fields.iter().map(|field| {
            format!("WHEN {} THEN {}\n        ", quoted(&field.name), field.number(word))
        });
        format!("CASE field\n        {}ELSE {unknown}\n    END", options.collect::<String>())
    }

    /// The names of all fields, for a comment.
    fn names(&self) -> String {
        self.fields.iter().map(|field| &*field.name).collect::<Vec<_>>().join(", ")
    }
}

impl Time {
    fn new(json: &Value, field: Field) -> Result<Self, Failure> {
        let tick: Tick = json["tick"].as_str().unwrap_or_default().parse()?;
        let tick_us = tick.as_micros().cast_signed();
        let epoch = i64::try_from((integer(&json["epoch_ms"]) * 1000).div_euclid(tick_us.into()));
        let epoch = epoch.map_err(|_| {
            Failure::new(
                "invalid_layout",
                "expected an epoch of at most 64 bits in ticks, found more",
            )
        })?;
        Ok(Self { field, tick_us, epoch })
    }
}

/// The error for a field whose name is that of another field, argument or column.
fn same_names(field: &Field) -> Failure {
    let name = &field.name;
    Failure::new("invalid_layout", format!("expected distinct names in SQL, found `{name}` twice"))
}

/// A number, or past 2^53 its digits.
fn integer(json: &Value) -> i128 {
    let digits = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    digits.parse().unwrap_or_default()
}

/// The low 64 bits of a constant, which a negative value has too.
fn bits_of(json: &Value) -> u64 {
    let low = integer(json) & i128::from(u64::MAX);
    u64::try_from(low).unwrap_or_default()
}
