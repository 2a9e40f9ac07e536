//! Writes a table with generated columns for SQLite, like the tables in `crates/sql/polyflake.sqlite.sql`.

use crate::{
    failure::Failure,
    sql::{
        Table, Time, duplicate_name_error,
        fields::{Field, Kind, Source, mask},
        identifier,
    },
};

/// The names of the table's standard columns. No field may have one of these names.
const STANDARD_FUNCTIONS: [&str; 5] = ["id", "ms", "time", "hex", "is_valid"];

/// The time in SQLite's format, which does not support years after 9999.
const TIME_COLUMN: &str = "time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))";

pub(super) fn file(table: &Table) -> Result<String, Failure> {
    let name = &table.name;
    let id = table.source("id", number);
    let mut columns = vec!["id INTEGER PRIMARY KEY".to_owned()];
    let (mut about, mut options) = ("", "");
    if let Some(length) = table.length {
        let valid = format!("is_valid INTEGER AS (typeof(id) = 'blob' AND length(id) = {length})");
        columns = vec!["id BLOB PRIMARY KEY".to_owned(), "hex TEXT AS (hex(id))".to_owned(), valid];
        options = " WITHOUT ROWID";
        if table.has_non_integer_fields() {
            about = "-- Bytes, text and integers of more than 64 bits are hexadecimal digits, with leading zeros.\n";
        }
    }
    let read = |value: String| match table.length {
        None => value,
        Some(_) => format!("CASE WHEN is_valid THEN {value} END"),
    };
    if let Some(time) = &table.time {
        columns.push(format!("ms INTEGER AS ({})", read(time.ms(id, "/"))));
    }
    for field in &table.fields {
        if STANDARD_FUNCTIONS.iter().any(|own| field.name.eq_ignore_ascii_case(own)) {
            return Err(duplicate_name_error(field));
        }
        let (form, value) = match field.kind {
            Kind::Integer => ("INTEGER", field.number(id)),
            _ => ("TEXT", digits(field)),
        };
        columns.push(format!("{} {form} AS ({})", identifier(&field.name), read(value)));
    }
    if table.time.is_some() {
        columns.push(TIME_COLUMN.to_owned());
    }
    Ok(format!(
        "\
-- What an ID of the layout `{name}` says, in SQLite 3.32 or later: its time and its fields. `polyflake layout sql` wrote this
-- file.
--
-- SQLite has no functions in SQL, so these are generated columns. Copy those that you need into your own table. `ms` is the
-- time in Unix milliseconds.
{about}{}{}
CREATE TABLE {name}_ids (
    {}
){options};
",
        table.limits(),
        range(table).unwrap_or_default(),
        columns.join(",\n    ")
    ))
}

/// Returns an expression that reads a range of bits of a byte ID as an integer, based on the ID's hexadecimal digits.
/// SQLite has no other way to convert bytes to an integer.
fn number(first: u32, bits: u32) -> String {
    let end = first + bits;
    let digits = (first / 4..end.div_ceil(4)).map(|place| {
        let digit = format!("instr('123456789ABCDEF', substr(hex, {}, 1))", place + 1);
        // The number of requested bits below this digit. It is negative if the digit also contains bits below the requested
        // bits.
        match i64::from(end) - i64::from(place * 4 + 4) {
            0 => digit,
            below @ 1.. => format!("({digit} << {below})"),
            below => format!("({digit} >> {})", -below),
        }
    });
    let number = digits.collect::<Vec<_>>().join("\n        | ");
    // The first digit may also contain bits of the preceding field.
    if first.is_multiple_of(4) || bits == 64 {
        number
    } else {
        format!("({number}) & {}", mask(bits))
    }
}

/// Returns an expression for the hexadecimal digits of a field.
fn digits(field: &Field) -> String {
    let count = field.bits.div_ceil(8) * 2;
    if field.first.is_multiple_of(4) && field.bits.is_multiple_of(4) && !field.invert {
        let found = format!("lower(substr(hex, {}, {}))", field.first / 4 + 1, field.bits / 4);
        return if field.bits.is_multiple_of(8) { found } else { format!("'0' || {found}") };
    }
    if count == 0 {
        return "''".into();
    }
    // The digits are written in groups of 8, counted from the end, so the first group may be shorter.
    let groups = (0..count.div_ceil(8)).rev().map(|group| {
        let end = field.first + field.bits - 32 * group;
        let bits = (end - field.first).min(32);
        let part = Field { kind: Kind::Integer, first: end - bits, bits, ..field.clone() };
        let width = (count - 8 * group).min(8);
        let value = part.number(Source::Bytes(number));
        format!("printf('%0{width}x', {value})")
    });
    groups.collect::<Vec<_>>().join("\n        || ")
}

/// Returns a query for a time range, if the query requires no values except the two times.
fn range(table: &Table) -> Option<String> {
    let (time, bounds) = table.time_and_bounds()?;
    if !bounds.above.is_empty() || time.field.invert {
        return None;
    }
    let name = &table.name;
    let [low, high] = [":start", ":until"].map(|at| tick(time, at));
    let high = format!("({high} - 1)");
    let (low, high, about) = if table.length.is_none() {
        let low = bounds.word(time, &low, &bounds.lowest);
        (low, bounds.word(time, &high, &bounds.highest), "")
    } else {
        let most = time.count - 1;
        // A time range that extends beyond the layout's range is truncated. A time range entirely outside the layout's
        // range matches no rows.
        let first = blob(time, &format!("max({low}, 0)"), &bounds.lowest)?;
        let last = blob(time, &format!("min({high}, {most})"), &bounds.highest)?;
        (
            format!("CASE WHEN {low} <= {most} THEN {first} END"),
            format!("CASE WHEN {high} >= 0 THEN {last} END"),
            " `unhex` needs SQLite 3.41 or later.",
        )
    };
    Some(format!(
        "--\n-- The IDs of a span that includes its start and excludes its end, both in Unix milliseconds.{about}\n\
         --     SELECT * FROM {name}_ids WHERE id BETWEEN {low} AND {high};\n"
    ))
}

/// Returns an expression for a byte ID, given its tick and the bits of the other fields. Returns `None` if the hexadecimal
/// digits that contain the tick have more than 63 bits.
fn blob(time: &Time, tick: &str, rest: &str) -> Option<String> {
    let end = time.field.first + time.field.bits;
    let (begin, until) = (time.field.first / 4 * 4, end.div_ceil(4) * 4);
    let (head, middle) = rest.split_at(begin as usize);
    let (middle, tail) = middle.split_at((until - begin) as usize);
    let shift = until - end;
    let others = i64::from_str_radix(middle, 2).ok().filter(|_| until - begin < 64)?;
    let number = match (shift, others) {
        (0, 0) => tick.to_owned(),
        (0, _) => format!("{tick} | {others}"),
        (_, 0) => format!("{tick} << {shift}"),
        _ => format!("({tick} << {shift}) | {others}"),
    };
    let parts = [
        Some(hex(head)).filter(|digits| !digits.is_empty()).map(|digits| format!("'{digits}'")),
        Some(format!("printf('%0{}X', {number})", (until - begin) / 4)),
        Some(hex(tail)).filter(|digits| !digits.is_empty()).map(|digits| format!("'{digits}'")),
    ];
    Some(format!("unhex({})", parts.into_iter().flatten().collect::<Vec<_>>().join(" || ")))
}

/// Formats binary digits as hexadecimal digits.
fn hex(bits: &str) -> String {
    let digit = |at: usize| u32::from_str_radix(&bits[at..at + 4], 2).unwrap_or_default();
    let digits = (0..bits.len()).step_by(4).filter_map(|at| char::from_digit(digit(at), 16));
    digits.collect::<String>().to_uppercase()
}

/// Returns an expression for the first tick at or after a time in Unix milliseconds. Ticks are counted from the epoch.
fn tick(time: &Time, at: &str) -> String {
    let (times, length) =
        if time.is_whole_ms() { (1, time.tick_us / 1000) } else { (1000, time.tick_us) };
    let at = if times == 1 { at.to_owned() } else { format!("{at} * {times}") };
    let tick = if length == 1 { at } else { format!("({at} + {}) / {length}", length - 1) };
    format!("({tick} - {})", time.epoch)
}
