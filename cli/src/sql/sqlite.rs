//! SQLite: a table with generated columns, as those of `sql/polyflake.sqlite.sql`.

use crate::{
    failure::Failure,
    sql::{Table, Time, identifier, same_names},
};

/// Names that the table has for itself.
const OWN: [&str; 3] = ["id", "ms", "time"];

/// The time as SQLite writes it. It has none after the year 9999.
const TIME: &str = "time TEXT AS (strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch'))";

pub(super) fn file(table: &Table) -> Result<String, Failure> {
    let name = &table.name;
    let mut columns = vec!["id INTEGER PRIMARY KEY".to_owned()];
    if let Some(time) = &table.time {
        columns.push(format!("ms INTEGER AS ({})", time.ms("id", "/")));
    }
    for field in &table.fields {
        if OWN.iter().any(|own| field.name.eq_ignore_ascii_case(own)) {
            return Err(same_names(field));
        }
        columns.push(format!("{} INTEGER AS ({})", identifier(&field.name), field.number("id")));
    }
    if table.time.is_some() {
        columns.push(TIME.to_owned());
    }
    Ok(format!(
        "\
-- What an ID of the layout `{name}` says, in SQLite 3.32 or later: its time and its fields. `polyflake layout sql` wrote this
-- file.
--
-- SQLite has no functions in SQL, so these are generated columns. Copy those that you need into your own table. `ms` is the
-- time in Unix milliseconds.
{}{}
CREATE TABLE {name}_ids (
    {}
);
",
        table.limits(),
        range(table).unwrap_or_default(),
        columns.join(",\n    ")
    ))
}

/// A query for a span of time. It is written only where it needs no more values than the two times.
fn range(table: &Table) -> Option<String> {
    let (time, bounds) = table.ranges()?;
    let is_plain = bounds.above.is_empty() && !time.field.invert;
    is_plain.then(|| {
        let (name, [low, high]) = (&table.name, [":start", ":until"].map(|at| tick(time, at)));
        let low = bounds.word(time, &low, bounds.lowest);
        let high = bounds.word(time, &format!("({high} - 1)"), bounds.highest);
        format!(
            "--\n-- The IDs of a span that includes its start and excludes its end, both in Unix milliseconds:\n\
             --     SELECT * FROM {name}_ids WHERE id BETWEEN {low} AND {high};\n"
        )
    })
}

/// The first tick of a time in Unix milliseconds since 1970, or later.
fn tick(time: &Time, at: &str) -> String {
    let (times, length) =
        if time.is_whole() { (1, time.tick_us / 1000) } else { (1000, time.tick_us) };
    let at = if times == 1 { at.to_owned() } else { format!("{at} * {times}") };
    let tick = if length == 1 { at } else { format!("({at} + {}) / {length}", length - 1) };
    format!("({tick} - {})", time.epoch)
}
