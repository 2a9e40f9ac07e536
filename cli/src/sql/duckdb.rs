//! `DuckDB`: macros, as those of `sql/polyflake.duckdb.sql`.

use crate::sql::{Table, Time, quoted};

/// What `sql/polyflake.duckdb.sql` has too.
const HELPERS: &str = include_str!("duckdb.sql");

/// The value of a bindable field above the timestamp.
const FIT: &str = "\
CREATE OR REPLACE MACRO flake.fit(value, bits, field) AS
    CASE
        WHEN value::BIGINT BETWEEN 0 AND (1::BIGINT << bits) - 1 THEN value::BIGINT
        WHEN value IS NOT NULL THEN error('out_of_range: expected ' || field || ' of at most ' || bits
            || ' bits, found ' || value)
    END;
";

/// An ID as 64 bits: a macro gets an integer of any type.
const WORD: &str = "flake.word(id)";

pub(super) fn file(table: &Table) -> String {
    let name = &table.name;
    let mut parts = vec![HELPERS.to_owned()];
    let comment = format!("A field of an ID: {}. Another name is an error.", table.names());
    if let Some(time) = &table.time {
        parts.push(define(
            name,
            "ms",
            "id",
            &time.ms(WORD, "//"),
            "The Unix milliseconds of an ID.",
        ));
        parts.push(define(name, "time", "id", &of_time(name, time), "The time of an ID."));
    }
    parts.push(define(name, "field", "id, field", &table.field(WORD), &comment));
    if let Some((time, bounds)) = table.ranges() {
        if !bounds.above.is_empty() {
            parts.insert(1, FIT.to_owned());
        }
        let more = bounds.arguments("");
        let (low, high) =
            if time.field.invert { ("before", "moment") } else { ("moment", "before") };
        for (suffix, argument, body) in
            [("lowest", low, bounds.lowest(time)), ("highest", high, bounds.highest(time))]
        {
            let end = if argument == "moment" {
                "the time `moment` or later"
            } else {
                "a time earlier than `before`"
            };
            let comment =
                format!("The {suffix} ID of {end}. A time outside the layout is an error.");
            parts.push(define(name, suffix, &format!("{argument}{more}"), &body, &comment));
        }
    }
    format!(
        "\
-- What an ID of the layout `{name}` says, in DuckDB: its time, its fields, and the IDs of a span of time.
-- `polyflake layout sql` wrote this file. Load it with `.read`, or execute its text.
--
-- An error begins with a stable code: `time_out_of_range` for a time outside the layout, `unknown_field` for a field that
-- the layout does not have.
{}
CREATE SCHEMA IF NOT EXISTS flake;

{}",
        table.limits(),
        parts.join("\n")
    )
}

fn of_time(name: &str, time: &Time) -> String {
    let value = if time.is_whole() {
        format!("make_timestamptz(flake.{name}_ms(id) * 1000)")
    } else {
        format!("make_timestamptz({})", time.micros(WORD))
    };
    time.within_calendar(WORD, value)
}

fn define(name: &str, suffix: &str, arguments: &str, body: &str, comment: &str) -> String {
    let comment = quoted(comment);
    format!(
        "\
CREATE OR REPLACE MACRO flake.{name}_{suffix}({arguments}) AS
    {body};
COMMENT ON MACRO flake.{name}_{suffix} IS {comment};
"
    )
}
