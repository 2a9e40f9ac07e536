//! Writes functions for PostgreSQL that the planner inlines, like the functions in `crates/sql/polyflake.sql`.

use crate::sql::{
    Bounds, Table, Time,
    bounds::{BitStrings, BoundFunction},
    fields::{Field, Kind, Source},
    quote,
};

/// The functions that `crates/sql/polyflake.sql` also contains.
const HELPERS: &str = include_str!("postgresql.sql");

/// The function that reports an error for a field that is not a 64-bit integer.
const NOT_AN_INTEGER_HELPER: &str = "\
CREATE OR REPLACE FUNCTION flake.no_integer_of(layout text, field text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE datatype_mismatch USING MESSAGE = format(
        'invalid_type: expected a field with an integer of at most 64 bits, found %L: use flake.%s_bytes', field, layout);
END $$;
";

/// The functions that check the bytes or the text of a bindable field above the timestamp.
const CHECK_BYTES_HELPER: &str = "\
-- Bytes are a number without leading zeros, as in the library.
CREATE OR REPLACE FUNCTION flake.fit_bytes(value bytea, bits int, field text) RETURNS varbit
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made varbit := ('x' || encode(value, 'hex'))::varbit;
    over int := length(made) - bits;
BEGIN
    IF over <= 0 THEN
        RETURN repeat('0', -over)::varbit || made;
    ELSIF position(B'1' IN substring(made FROM 1 FOR over)) > 0 THEN
        RAISE numeric_value_out_of_range USING MESSAGE = format(
            'out_of_range: expected %s of at most %s bits, found %s bytes', field, bits, length(value));
    END IF;
    RETURN substring(made FROM over + 1);
END $$;

CREATE OR REPLACE FUNCTION flake.fit_text(value text, bits int, field text) RETURNS varbit
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN flake.fit_bytes(convert_to(value, 'UTF8'), bits, field);
END $$;
";

/// The function that checks the integer of a bindable field above the timestamp.
const CHECK_INTEGER_HELPER: &str = "\
CREATE OR REPLACE FUNCTION flake.fit(value bigint, bits int, field text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF bits < 64 AND (value < 0 OR value >> bits <> 0) THEN
        RAISE numeric_value_out_of_range USING MESSAGE = format(
            'out_of_range: expected %s of at most %s bits, found %s', field, bits, value);
    END IF;
    RETURN value;
END $$;
";

const BITS: BitStrings = BitStrings {
    constant: |digits| format!("B'{digits}'"),
    number: |value, bits| format!("({value})::bit({bits})"),
    inverted: |bits| format!("(~{bits})"),
    bytes: |bits| format!("substr(varbit_send({bits}), 5)"),
};

pub(super) fn file(table: &Table) -> String {
    let name = &table.name;
    let writer = Writer { table, form: table.length.map_or("bigint", |_| "bytea") };
    let id = table.source("id", |first, bits| format!("{}::bigint", extract_bits(first, bits)));
    let mut parts = vec![HELPERS.to_owned()];
    let called = [
        (CHECK_INTEGER_HELPER, table.requires_field_of_kind(|kind| kind == Kind::Integer)),
        (CHECK_BYTES_HELPER, table.requires_field_of_kind(|kind| kind != Kind::Integer)),
        (NOT_AN_INTEGER_HELPER, table.has_integer_fields() && table.has_non_integer_fields()),
    ];
    let called = called.into_iter().filter(|(_, is_called)| *is_called);
    parts.extend(called.map(|(text, _)| text.to_owned()));
    if let Some(time) = &table.time {
        let ms = null_unless_length(table, time.ms(id, "/"));
        parts.extend(writer.reader_functions(
            "ms",
            "",
            "bigint",
            &ms,
            "The Unix milliseconds of an ID.",
        ));
        parts.extend(writer.reader_functions(
            "time",
            "",
            "timestamptz",
            &time_expression(table, time, id),
            "The time of an ID.",
        ));
    }
    if table.has_integer_fields() {
        let comment = table.integer_field_comment();
        let field = null_unless_length(table, table.field(id));
        parts.extend(writer.reader_functions("field", ", field text", "bigint", &field, &comment));
    }
    if table.has_non_integer_fields() {
        let text = format!("convert_from(flake.{name}_bytes(id, 'name'), 'UTF8')");
        let bytes = null_unless_length(table, table.case_by_field_name("::text::bytea", bytes));
        let comment = table.bytes_field_comment(&text);
        parts.extend(writer.reader_functions("bytes", ", field text", "bytea", &bytes, &comment));
    }
    if let Some((time, bounds)) = table.time_and_bounds() {
        parts.extend(writer.ranges(time, bounds));
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

fn null_unless_length(table: &Table, value: String) -> String {
    table.null_unless_length("length(id)", value)
}

/// Returns an expression for the time of an ID, calculated from its milliseconds or, if its ticks are not whole
/// milliseconds, from its microseconds.
fn time_expression(table: &Table, time: &Time, id: Source) -> String {
    let value = if time.is_whole_ms() {
        format!("flake.time_of_ms(flake.{}_ms(id))", table.name)
    } else {
        null_unless_length(table, format!("to_timestamp(({})::float8 / 1000000)", time.micros(id)))
    };
    time.null_outside_calendar(id, value)
}

/// Returns an expression for some bits of a byte ID, as a bit string.
fn extract_bits(first: u32, bits: u32) -> String {
    let (begin, end) = (first / 8, (first + bits).div_ceil(8));
    let count = end - begin;
    let digits = format!("encode(substr(id, {}, {count}), 'hex')", begin + 1);
    let whole = format!("('x' || {digits})::bit({})", count * 8);
    if bits == count * 8 {
        whole
    } else {
        format!("substring({whole} from {} for {bits})", first % 8 + 1)
    }
}

/// Returns an expression for the bytes of a field, without leading zeros.
fn bytes(field: &Field) -> String {
    let (first, bits) = (field.first, field.bits);
    if bits == 0 {
        return r"'\x'::bytea".into();
    }
    let bytes = if first % 8 == 0 && bits % 8 == 0 && !field.invert {
        format!("substr(id, {}, {})", first / 8 + 1, bits / 8)
    } else {
        let found = extract_bits(first, bits);
        let found = if field.invert { (BITS.inverted)(&found) } else { found };
        let filler = "0".repeat((bits.next_multiple_of(8) - bits) as usize);
        (BITS.bytes)(&if filler.is_empty() { found } else { format!("B'{filler}' || {found}") })
    };
    format!(r"ltrim({bytes}, '\x00'::bytea)")
}

/// A writer for the definitions of a layout's functions.
struct Writer<'a> {
    table: &'a Table,
    /// The SQL type of the ID.
    form: &'static str,
}

impl Writer<'_> {
    /// Returns a function that reads an ID and, for a 16-byte layout, a second function that reads the ID as a UUID.
    fn reader_functions(
        &self,
        suffix: &str,
        more: &str,
        returns: &str,
        body: &str,
        comment: &str,
    ) -> Vec<String> {
        let one = |form: &str, body: &str| {
            let arguments = format!("id {form}{more}");
            self.function(suffix, &arguments, returns, &format!("RETURN {body}"), comment)
        };
        let mut made = vec![one(self.form, body)];
        if self.table.has_uuids() {
            let passed = if more.is_empty() { "" } else { ", field" };
            let call = format!("flake.{}_{suffix}(uuid_send(id){passed})", self.table.name);
            made.push(one("uuid", &call));
        }
        made
    }

    /// Returns the functions that return bounds. The functions for UUIDs have separate names, because overloaded functions
    /// cannot differ only in their result type.
    fn ranges(&self, time: &Time, bounds: &Bounds) -> Vec<String> {
        let bound_functions = bounds.bound_functions(time, self.table.length.map(|_| &BITS));
        let mut made = self.range("", self.form, bounds, &bound_functions);
        if self.table.has_uuids() {
            let of_bytes = bound_functions.map(|end| {
                let Self { table: Table { name, .. }, .. } = self;
                let (suffix, argument, more) = (end.suffix, end.argument, bounds.arguments(|_| ""));
                let body = format!("encode(flake.{name}_{suffix}({argument}{more}), 'hex')::uuid");
                BoundFunction { body, ..end }
            });
            made.extend(self.range("uuid_", "uuid", bounds, &of_bytes));
        }
        made
    }

    fn range(
        &self,
        prefix: &str,
        form: &str,
        bounds: &Bounds,
        bound_functions: &[BoundFunction; 2],
    ) -> Vec<String> {
        let (more, passed) = (bounds.arguments(sql_type), bounds.arguments(|_| ""));
        let mut made: Vec<_> = bound_functions
            .iter()
            .map(|BoundFunction { suffix, argument, body, comment }| {
                let arguments = format!("{argument} timestamptz{more}");
                let body = format!("RETURN {body}");
                self.function(&format!("{prefix}{suffix}"), &arguments, form, &body, comment)
            })
            .collect();
        let name = &self.table.name;
        let calls = bound_functions.each_ref().map(|BoundFunction { suffix, argument, .. }| {
            let time = if *argument == "moment" { "start" } else { "until" };
            format!("flake.{name}_{prefix}{suffix}({time}{passed})")
        });
        made.push(self.function(
            &format!("{prefix}range"),
            &format!("start timestamptz, until timestamptz{more}"),
            &format!("TABLE (lowest {form}, highest {form})"),
            &format!("BEGIN ATOMIC\n    SELECT {};\nEND", calls.join(", ")),
            "The lowest and the highest ID of a span that includes its start and excludes its end, for BETWEEN. A span \
             that is empty or reversed has no rows. A time outside the layout is an error.",
        ));
        made
    }

    /// Returns the definition of a function that the planner can inline, because it is written in SQL and has neither
    /// STRICT nor a SET clause.
    fn function(
        &self,
        suffix: &str,
        arguments: &str,
        returns: &str,
        body: &str,
        comment: &str,
    ) -> String {
        let (name, comment) = (&self.table.name, quote(comment));
        format!(
            "\
CREATE OR REPLACE FUNCTION flake.{name}_{suffix}({arguments}) RETURNS {returns}
LANGUAGE sql IMMUTABLE PARALLEL SAFE
{body};
COMMENT ON FUNCTION flake.{name}_{suffix}({arguments}) IS {comment};
"
        )
    }
}

/// Returns the argument type for a field's value.
fn sql_type(field: &Field) -> &'static str {
    match field.kind {
        Kind::Integer | Kind::Wide => " bigint",
        Kind::Bytes => " bytea",
        Kind::Text => " text",
    }
}
