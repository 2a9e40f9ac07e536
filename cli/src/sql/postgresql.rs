//! Writes functions for PostgreSQL that the planner inlines.

use crate::sql::{
    Bounds, Table, Time, VERSION,
    bounds::{BitStrings, BoundFunction, range_comment},
    fields::{Field, Kind, Source},
    formats::{self, Body, Function, Preset, SnoForm, Syntax, combine},
    quote,
};

/// The functions that the files for layouts and for formats both contain. Whichever file was loaded last defines them, so a
/// function keeps its arguments and its results in all versions.
const HELPERS: &str = include_str!("postgresql.sql");

/// The statement that loads functions into a schema, unless objects in it belong to another role.
const SCRIPT: &str = include_str!("files/script.sql");

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
    let head = format!(
        "\
-- What an ID of the layout `{name}` says, in PostgreSQL 14 or later: its time, its fields, and the IDs of a span of time.
-- Written by `polyflake layout sql` {VERSION}. If the owner of the functions loads it again, it replaces them. If the
-- arguments of a function have changed, PostgreSQL asks to drop it first.
--
-- An error begins with a stable code: `time_out_of_range` for a time outside the layout, `unknown_field` for a field that
-- the layout does not have.
{}",
        table.limits(),
    );
    reader_script(&head, &format!("{name}_version"), parts)
}

/// Returns a file that loads functions for every role into the schema `flake`, with a function that returns the program's
/// version.
fn reader_script(head: &str, version: &str, mut definitions: Vec<String>) -> String {
    let body = format!("RETURN '{VERSION}'");
    definitions.push(define(
        version,
        "",
        "text",
        &body,
        "The version of polyflake that wrote the functions.",
    ));
    definitions.push(
        "GRANT USAGE ON SCHEMA flake TO PUBLIC;\nGRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA flake TO PUBLIC;\n".into(),
    );
    script(head, "flake", &definitions)
}

/// Returns a file that loads functions and tables into a schema for the roles to which its owner grants them, with a
/// function that returns the program's version.
pub(super) fn secret_script(head: &str, schema: &str, definitions: &str) -> String {
    let end = format!(
        "\
CREATE OR REPLACE FUNCTION {schema}.version() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '{VERSION}' $$;

REVOKE ALL ON SCHEMA {schema} FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC;
"
    );
    script(head, schema, &[definitions.to_owned(), end])
}

fn script(head: &str, schema: &str, definitions: &[String]) -> String {
    let definitions = definitions.join("\n");
    // The statement ends at its tag, which the name of a field may contain.
    let mut tag = "polyflake".to_owned();
    while definitions.contains(&format!("${tag}$")) {
        tag.push('_');
    }
    let statement = SCRIPT.replace("$polyflake$", &format!("${tag}$")).replace("{schema}", schema);
    format!("{head}--\n{}", statement.replace("{definitions}", &definitions))
}

/// Returns the file with the functions for formats and known services.
pub(super) fn formats_file(head: &str, own: &str, presets: &[Preset]) -> String {
    let mut parts = vec![HELPERS.to_owned(), own.to_owned()];
    parts.extend(formats::functions(&syntax(), presets).into_iter().map(|function| {
        let Function { name, arguments, returns, body, comment } = function;
        let arguments: Vec<_> = arguments.iter().map(|argument| argument.join(" ")).collect();
        let arguments = arguments.join(", ");
        match body {
            Body::Value(value) => {
                define(&name, &arguments, returns, &format!("RETURN {value}"), &comment)
            }
            Body::Row(calls) => define_range(&name, &arguments, returns, &calls, &comment),
        }
    }));
    reader_script(head, "version", parts)
}

fn syntax() -> Syntax {
    fn bytes(byte: fn(u32) -> String, first: u32, count: u32) -> String {
        let wide = if count > 3 { "::bigint" } else { "" };
        let last = first + count - 1;
        combine((first..=last).map(|place| (format!("{}{wide}", byte(place)), 8 * (last - place))))
    }
    let wide = |value: &str| format!("({value})::bigint");
    let blob_bytes = |first, count| bytes(|place| format!("get_byte(id, {place})"), first, count);
    let uuid_bytes = |first, count| bytes(|place| format!("flake.byte(id, {place})"), first, count);
    let character = |place| format!("flake.sno_character(id, {})", place + 1);
    let form = |sql_type, description, is_valid: &str, parts| SnoForm {
        prefix: "sno",
        sql_type,
        description,
        is_valid: is_valid.into(),
        parts,
    };
    let is_uuid8 =
        "flake.byte(id, 6) >> 4 = 8 AND flake.byte(id, 8) >> 6 = 2 AND flake.byte(id, 10) & 3 = 0
        AND substr(uuid_send(id), 12) = '\\x0000000000'";
    let strings = formats::string_parts(character, wide);
    Syntax {
        sno_forms: [
            form(
                "text",
                "a string",
                "octet_length(id) = 16 AND id COLLATE \"C\" !~ '[^2-9a-x]'",
                strings,
            ),
            form("bytea", "10 bytes", "length(id) = 10", formats::byte_parts(blob_bytes)),
            form("uuid", "a UUID of version 8", is_uuid8, formats::uuid8_parts(uuid_bytes)),
        ],
        binary: "bytea",
        from_hex: |digits| format!("decode({digits}, 'hex')"),
        to_hex: |word| format!("to_hex({word})"),
        uuid_bytes,
        wide,
        has_version: |version| {
            format!("flake.byte(id, 6) >> 4 = {version} AND flake.byte(id, 8) >> 6 = 2")
        },
        // A single division rounds once, so `to_timestamp` returns the exact microsecond of these ticks.
        time: |ticks, per_second| match per_second {
            1 => format!("to_timestamp(({ticks})::float8)"),
            1000 => format!("flake.time_of_ms({ticks})"),
            _ => format!("to_timestamp(({ticks})::float8 / {per_second})"),
        },
        preset_ms: |table| {
            let ms = table.time.as_ref().map(|time| time.ms(Source::Word("id"), "/"));
            ms.unwrap_or_default()
        },
        preset_field: |value| format!("({value})::int"),
        source: Source::Word("id"),
    }
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
            let name = format!("{}_{suffix}", self.table.name);
            define(&name, &arguments, returns, &format!("RETURN {body}"), comment)
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
        let name = &self.table.name;
        let mut made = range(name, self.form, bounds, &bound_functions);
        if self.table.has_uuids() {
            let of_bytes = bound_functions.map(|end| {
                let (suffix, argument, more) = (end.suffix, end.argument, bounds.arguments(|_| ""));
                let body = format!("encode(flake.{name}_{suffix}({argument}{more}), 'hex')::uuid");
                BoundFunction { body, ..end }
            });
            made.extend(range(&format!("{name}_uuid"), "uuid", bounds, &of_bytes));
        }
        made
    }
}

fn range(
    name: &str,
    form: &str,
    bounds: &Bounds,
    bound_functions: &[BoundFunction; 2],
) -> Vec<String> {
    let more = bounds.arguments(sql_type);
    let mut made: Vec<_> = bound_functions
        .iter()
        .map(|BoundFunction { suffix, argument, body, comment }| {
            let arguments = format!("{argument} timestamptz{more}");
            define(
                &format!("{name}_{suffix}"),
                &arguments,
                form,
                &format!("RETURN {body}"),
                comment,
            )
        })
        .collect();
    // The names of fields may contain a dollar sign, so they are not repeated in a body between dollar signs.
    let passed: String = (0..bounds.above.len()).map(|place| format!(", ${}", place + 3)).collect();
    made.push(define_range(
        &format!("{name}_range"),
        &format!("start timestamptz, until timestamptz{more}"),
        form,
        &bound_functions.each_ref().map(|function| function.call(name, ["$1", "$2"], &passed)),
        &range_comment("ID"),
    ));
    made
}

/// Returns the definition of a function that the planner can inline, because it is written in SQL and has neither STRICT nor
/// a SET clause.
fn define(name: &str, arguments: &str, returns: &str, body: &str, comment: &str) -> String {
    let comment = quote(comment);
    format!(
        "\
CREATE OR REPLACE FUNCTION flake.{name}({arguments}) RETURNS {returns}
LANGUAGE sql IMMUTABLE PARALLEL SAFE
{body};
COMMENT ON FUNCTION flake.{name}({arguments}) IS {comment};
"
    )
}

/// Returns the definition of a function that returns a row with two bounds.
///
/// Its body is a string with qualified names only, because a statement within another one cannot contain `BEGIN ATOMIC` in
/// PostgreSQL 14.8, 15.3 and earlier.
fn define_range(
    name: &str,
    arguments: &str,
    form: &str,
    calls: &[String; 2],
    comment: &str,
) -> String {
    let returns = format!("TABLE (lowest {form}, highest {form})");
    define(name, arguments, &returns, &format!("AS $$ SELECT {} $$", calls.join(", ")), comment)
}

/// Returns the argument type for a field's value.
fn sql_type(field: &Field) -> &'static str {
    match field.kind {
        Kind::Integer | Kind::Wide => " bigint",
        Kind::Bytes => " bytea",
        Kind::Text => " text",
    }
}
