//! PostgreSQL: functions that the planner replaces by their bodies, as those of `sql/polyflake.sql`.

use crate::sql::{Bounds, Table, Time, quoted};

/// What `sql/polyflake.sql` has too.
const HELPERS: &str = include_str!("postgresql.sql");

/// The value of a bindable field above the timestamp.
const FIT: &str = "\
CREATE OR REPLACE FUNCTION flake.fit(value bigint, bits int, field text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF value < 0 OR value >> bits <> 0 THEN
        RAISE numeric_value_out_of_range USING MESSAGE = format(
            'out_of_range: expected %s of at most %s bits, found %s', field, bits, value);
    END IF;
    RETURN value;
END $$;
";

pub(super) fn file(table: &Table) -> String {
    let name = &table.name;
    let mut parts = vec![HELPERS.to_owned()];
    if table.ranges().is_some_and(|(_, bounds)| !bounds.above.is_empty()) {
        parts.push(FIT.to_owned());
    }
    if let Some(time) = &table.time {
        parts.push(function(
            name,
            "ms",
            "id bigint",
            "bigint",
            &time.ms("id", "/"),
            "The Unix milliseconds of an ID.",
        ));
        parts.push(function(
            name,
            "time",
            "id bigint",
            "timestamptz",
            &of_time(name, time),
            "The time of an ID.",
        ));
    }
    let comment = format!("A field of an ID: {}. Another name is an error.", table.names());
    parts.push(function(
        name,
        "field",
        "id bigint, field text",
        "bigint",
        &table.field("id"),
        &comment,
    ));
    if let Some((time, bounds)) = table.ranges() {
        parts.extend(ranges(name, time, bounds));
    }
    format!(
        "\
-- What an ID of the layout `{name}` says, in PostgreSQL 14 or later: its time, its fields, and the IDs of a span of time.
-- `polyflake layout sql` wrote this file. If the owner of the functions loads it again, it replaces them. If the arguments of
-- a function have changed, PostgreSQL asks to drop it first.
--
-- An error begins with a stable code: `time_out_of_range` for a time outside the layout, `unknown_field` for a field that
-- the layout does not have.
{}
BEGIN;

SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA IF NOT EXISTS flake;
GRANT USAGE ON SCHEMA flake TO PUBLIC;

{}
COMMIT;
",
        table.limits(),
        parts.join("\n")
    )
}

/// The time of an ID: from its milliseconds, or from its microseconds if its ticks are no whole milliseconds.
fn of_time(name: &str, time: &Time) -> String {
    let value = if time.is_whole() {
        format!("flake.time_of_ms(flake.{name}_ms(id))")
    } else {
        format!("to_timestamp(({})::float8 / 1000000)", time.micros("id"))
    };
    time.within_calendar("id", value)
}

/// A function that the planner replaces by its body: SQL, without STRICT and without a SET clause.
fn function(
    name: &str,
    suffix: &str,
    arguments: &str,
    returns: &str,
    body: &str,
    comment: &str,
) -> String {
    defined(name, suffix, arguments, returns, &format!("RETURN {body}"), comment)
}

fn defined(
    name: &str,
    suffix: &str,
    arguments: &str,
    returns: &str,
    body: &str,
    comment: &str,
) -> String {
    let comment = quoted(comment);
    format!(
        "\
CREATE OR REPLACE FUNCTION flake.{name}_{suffix}({arguments}) RETURNS {returns}
LANGUAGE sql IMMUTABLE PARALLEL SAFE
{body};
COMMENT ON FUNCTION flake.{name}_{suffix}({arguments}) IS {comment};
"
    )
}

fn ranges(name: &str, time: &Time, bounds: &Bounds) -> [String; 3] {
    let (more, passed) = (bounds.arguments(" bigint"), bounds.arguments(""));
    let (low, high) = if time.field.invert { ("before", "moment") } else { ("moment", "before") };
    let (from, to) = if time.field.invert { ("until", "start") } else { ("start", "until") };
    let about = |which: &str, end: &str| {
        let end = if end == "moment" {
            "the time `moment` or later"
        } else {
            "a time earlier than `before`"
        };
        format!("The {which} ID of {end}. A time outside the layout is an error.")
    };
    [
        function(
            name,
            "lowest",
            &format!("{low} timestamptz{more}"),
            "bigint",
            &bounds.lowest(time),
            &about("lowest", low),
        ),
        function(
            name,
            "highest",
            &format!("{high} timestamptz{more}"),
            "bigint",
            &bounds.highest(time),
            &about("highest", high),
        ),
        defined(
            name,
            "range",
            &format!("start timestamptz, until timestamptz{more}"),
            "TABLE (lowest bigint, highest bigint)",
            &format!(
                "BEGIN ATOMIC\n    SELECT flake.{name}_lowest({from}{passed}), flake.{name}_highest({to}{passed});\nEND"
            ),
            "The lowest and the highest ID of a span that includes its start and excludes its end, for BETWEEN. A span \
             that is empty or reversed has no rows. A time outside the layout is an error.",
        ),
    ]
}
