//! Writes tables with generated columns for SQLite.

use crate::{
    failure::Failure,
    sql::{
        Table, Time, VERSION, duplicate_name_error,
        fields::{Field, Kind, Source, mask},
        formats::{
            ALPHABET, Preset, SNO_EPOCH, SNO_PARTS, byte_parts, shard_key, string_parts,
            uuid8_parts,
        },
        identifier,
    },
};

/// The names of the table's standard columns. No field may have one of these names.
const STANDARD_FUNCTIONS: [&str; 5] = ["id", "ms", "time", "hex", "is_valid"];

/// The time in SQLite's format, which does not support years after 9999.
const TIME_COLUMN: &str = "time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))";

pub(super) fn file(table: &Table) -> Result<String, Failure> {
    let about = if table.length.is_some() && table.has_non_integer_fields() {
        "-- Bytes, text and integers of more than 64 bits are hexadecimal digits, with leading zeros.\n"
    } else {
        ""
    };
    Ok(format!(
        "\
-- What an ID of the layout `{}` says, in SQLite 3.32 or later: its time and its fields.
-- Written by `polyflake layout sql` {VERSION}.
--
-- SQLite has no functions in SQL, so these are generated columns. Copy those that you need into your own table. `ms` is the
-- time in Unix milliseconds.
{about}{}{}
{}",
        table.name,
        table.limits(),
        range(table).unwrap_or_default(),
        layout_table(table)?
    ))
}

/// Returns the statement that creates the table of a layout.
fn layout_table(table: &Table) -> Result<String, Failure> {
    let id = table.source("id", number);
    let mut columns = vec!["id INTEGER PRIMARY KEY".to_owned()];
    let mut options = "";
    if let Some(length) = table.length {
        let valid = format!("is_valid INTEGER AS (typeof(id) = 'blob' AND length(id) = {length})");
        columns = vec!["id BLOB PRIMARY KEY".to_owned(), "hex TEXT AS (hex(id))".to_owned(), valid];
        options = " WITHOUT ROWID";
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
    Ok(create_table(&format!("{}_ids", table.name), &columns, options))
}

fn create_table(name: &str, columns: &[String], options: &str) -> String {
    format!("CREATE TABLE {name} (\n    {}\n){options};\n", columns.join(",\n    "))
}

/// Returns the file with the tables for formats and known services.
pub(super) fn formats_file(head: &str, presets: &[Preset]) -> Result<String, Failure> {
    let wide = |value: &str| format!("({value})");
    let bytes = |first, count| number(8 * first, 8 * count);
    let character = |place| format!("(instr('{ALPHABET}', substr(id, {}, 1)) - 1)", place + 1);
    let has_version = |version| format!("hex GLOB '????????????{version}???[89AB]*'");
    let hex_of_blob = Some("hex TEXT AS (hex(id))".to_owned());
    // Hyphens in other positions are not removed, so a string with such hyphens is not accepted as a UUID.
    let hyphens = [8, 4, 4, 4, 12].map(|count| "?".repeat(count)).join("-");
    let digits = format!("upper(iif(id GLOB '{hyphens}', replace(id, '-', ''), id))");
    let hex_of_uuid = Some(format!("hex TEXT AS (iif(typeof(id) = 'blob', hex(id), {digits}))"));
    // `length` and GLOB treat the first NUL as the end of a string, but `instr` does not.
    let is_uuid = "length(hex) = 32 AND instr(hex, char(0)) = 0 AND hex NOT GLOB '*[^0-9A-F]*'";
    let is_string = "typeof(id) = 'text' AND length(id) = 16 AND instr(id, char(0)) = 0 AND id NOT GLOB '*[^2-9a-x]*'";
    let sno = |[ticks, others @ ..]: [String; 4]| {
        let ms = ("ms", format!("(({ticks}) + {SNO_EPOCH}) * 4"));
        let others = SNO_PARTS.iter().zip(others).map(|((name, _), value)| (*name, value));
        [ms].into_iter().chain(others).collect::<Vec<_>>()
    };
    let as_uuid = "as 16 bytes, 32 digits or 36 characters";
    let shard_key8 = format!("CASE WHEN {} THEN {} END", has_version(8), bytes(12, 4));
    let tables = [
        (
            "A sno as its string.".to_owned(),
            "sno_strings",
            "id TEXT",
            None,
            is_string.to_owned(),
            sno(string_parts(character, wide)),
        ),
        (
            "A sno as its 10 bytes.".to_owned(),
            "sno_blobs",
            "id BLOB",
            hex_of_blob,
            "typeof(id) = 'blob' AND length(id) = 10".to_owned(),
            sno(byte_parts(bytes)),
        ),
        (
            format!("A sno as a UUID of version 8, {as_uuid}."),
            "sno_uuids",
            "id",
            hex_of_uuid.clone(),
            format!("{is_uuid} AND hex GLOB '????????????8???[89AB]????[048C]0000000000'"),
            sno(uuid8_parts(bytes)),
        ),
        (
            format!(
                "A Hot Guid, {as_uuid}. The shard key of a UUID of version 8 is in another place."
            ),
            "hotguids",
            "id",
            hex_of_uuid.clone(),
            is_uuid.to_owned(),
            vec![
                ("ms", format!("({}) * 1000", bytes(0, 4))),
                ("shard_key", shard_key(bytes, wide)),
                ("uuid8_shard_key", shard_key8),
            ],
        ),
        (
            format!("A UUID of version 7, {as_uuid}."),
            "uuid7s",
            "id",
            hex_of_uuid,
            format!("{is_uuid} AND {}", has_version(7)),
            vec![("ms", bytes(0, 6))],
        ),
    ];
    let mut made = vec![head.to_owned()];
    made.extend(tables.map(|(comment, name, id, hex, is_valid, parts)| {
        let mut columns = vec![id.to_owned()];
        columns.extend(hex);
        columns.push(format!("is_valid INTEGER AS ({is_valid})"));
        columns.extend(parts.iter().map(|(part, value)| {
            format!("{part} INTEGER AS (CASE WHEN is_valid THEN {value} END)")
        }));
        columns.push(TIME_COLUMN.to_owned());
        format!("-- {comment}\n{}", create_table(name, &columns, ""))
    }));
    for Preset { names, table } in presets {
        made.push(format!("-- A snowflake of {}.\n{}", names.join(" or "), layout_table(table)?));
    }
    Ok(made.join("\n"))
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
    if !bounds.above.is_empty() {
        return None;
    }
    let name = &table.name;
    let first = tick(time, ":start");
    let last = format!("({} - 1)", tick(time, ":until"));
    let most = time.count - 1;
    let (low, high, about) = if table.length.is_none() {
        let [low, high] = if time.field.invert { [last, first] } else { [first, last] };
        let low = bounds.word(time, &low, &bounds.lowest);
        (low, bounds.word(time, &high, &bounds.highest), "")
    } else {
        // A time range that extends beyond the layout's range is truncated. A time range entirely outside the layout's
        // range matches no rows.
        let ends = [
            (format!("max({first}, 0)"), format!("{first} <= {most}")),
            (format!("min({last}, {most})"), format!("{last} >= 0")),
        ];
        let [low, high] =
            if time.field.invert { [&ends[1], &ends[0]] } else { [&ends[0], &ends[1]] };
        let bound = |(tick, is_inside): &(String, String), rest| {
            Some(format!("CASE WHEN {is_inside} THEN {} END", blob(time, tick, rest)?))
        };
        (
            bound(low, &bounds.lowest)?,
            bound(high, &bounds.highest)?,
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
    let tick = &if time.field.invert {
        format!("({} - {tick})", mask(time.field.bits))
    } else {
        tick.to_owned()
    };
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
