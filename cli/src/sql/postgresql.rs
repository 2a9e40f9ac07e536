//! Writes functions for PostgreSQL that the planner inlines.

use crate::sql::{
    Table, VERSION,
    bounds::BitStrings,
    fields::{Field, Kind},
    formats::{self, Preset, SnoForm, combine},
    functions::{Body, Function, Syntax, layout_functions, row},
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
    let called = [
        (CHECK_INTEGER_HELPER, table.requires_field_of_kind(|kind| kind == Kind::Integer)),
        (CHECK_BYTES_HELPER, table.requires_field_of_kind(|kind| kind != Kind::Integer)),
        (NOT_AN_INTEGER_HELPER, table.has_integer_fields() && table.has_non_integer_fields()),
    ];
    let called = called.into_iter().filter(|(_, is_called)| *is_called);
    let mut parts = vec![HELPERS.to_owned()];
    parts.extend(called.map(|(text, _)| text.to_owned()));
    parts.extend(layout_functions(table, &SYNTAX).iter().map(define));
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
    let comment = "The version of polyflake that wrote the functions.";
    let version = Function::value(version.into(), &[], "text", quote(VERSION), comment.into());
    definitions.push(define(&version));
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
    parts.extend(formats::functions(&SYNTAX, presets).iter().map(define));
    reader_script(head, "version", parts)
}

const SYNTAX: Syntax = Syntax {
    word: "id",
    read_bits: |first, bits| format!("{}::bigint", extract_bits(first, bits)),
    bit_strings: &BITS,
    binary: "bytea",
    length: "length(id)",
    divide: "/",
    wide: |value| format!("({value})::bigint"),
    to_hex: |word| format!("to_hex({word})"),
    from_hex: |digits| format!("decode({digits}, 'hex')"),
    // A single division rounds once, so `to_timestamp` returns the exact microsecond of other ticks than milliseconds.
    time: |ticks, per_second| match per_second {
        1 => format!("to_timestamp(({ticks})::float8)"),
        1000 => format!("flake.time_of_ms({ticks})"),
        _ => format!("to_timestamp(({ticks})::float8 / {per_second})"),
    },
    field_bytes: bytes,
    error_as_bytes: "::text::bytea",
    text: |bytes| format!("convert_from({bytes}, 'UTF8')"),
    service_field: |value| format!("({value})::int"),
    uuid_prefix: "",
    from_uuid: "uuid_send",
    to_uuid: |bytes| format!("encode({bytes}, 'hex')::uuid"),
    uuid_bytes,
    has_version: |version| {
        format!("flake.byte(id, 6) >> 4 = {version} AND flake.byte(id, 8) >> 6 = 2")
    },
    sno_forms,
};

fn sno_forms() -> [SnoForm; 3] {
    let blob_bytes =
        |first, count| read_bytes(|place| format!("get_byte(id, {place})"), first, count);
    let character = |place| format!("flake.sno_character(id, {})", place + 1);
    let form = |sql_type, description, is_valid, parts| SnoForm {
        prefix: "sno",
        sql_type,
        description,
        is_valid,
        parts,
    };
    let is_string = r#"octet_length(id) = 16 AND id COLLATE "C" !~ '[^2-9a-x]'"#.to_owned();
    let is_uuid8 = format!(
        "{} AND flake.byte(id, 10) & 3 = 0\n        AND substr(uuid_send(id), 12) = '\\x0000000000'",
        (SYNTAX.has_version)(8)
    );
    let strings = formats::string_parts(character, SYNTAX.wide);
    [
        form("text", "a string", is_string, strings),
        form("bytea", "10 bytes", "length(id) = 10".into(), formats::byte_parts(blob_bytes)),
        form("uuid", "a UUID of version 8", is_uuid8, formats::uuid8_parts(uuid_bytes)),
    ]
}

fn uuid_bytes(first: u32, count: u32) -> String {
    read_bytes(|place| format!("flake.byte(id, {place})"), first, count)
}

/// Returns an expression for an integer of several bytes, given the expression for one.
fn read_bytes(byte: fn(u32) -> String, first: u32, count: u32) -> String {
    let wide = if count > 3 { "::bigint" } else { "" };
    let last = first + count - 1;
    combine((first..=last).map(|place| (format!("{}{wide}", byte(place)), 8 * (last - place))))
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

/// Returns the definition of a function that the planner can inline, because it is written in SQL and has neither STRICT nor
/// a SET clause.
fn define(function: &Function) -> String {
    let Function { name, arguments, returns, body, comment } = function;
    let list: Vec<_> = arguments.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    let (list, comment) = (list.join(", "), quote(comment));
    let (returns, body) = match body {
        Body::Value(value) => ((*returns).to_owned(), format!("RETURN {value}")),
        // The body is a string, because PostgreSQL 14.9 and 15.5, among others, reject `BEGIN ATOMIC` within a `DO` statement.
        // It contains qualified names only, and no names of fields, because they may contain a dollar sign.
        Body::Row(functions) => {
            let places: Vec<_> = (1..=arguments.len()).map(|place| format!("${place}")).collect();
            let calls = row(functions, &places).join(", ");
            (
                format!("TABLE (lowest {returns}, highest {returns})"),
                format!("AS $$ SELECT {calls} $$"),
            )
        }
    };
    format!(
        "\
CREATE OR REPLACE FUNCTION flake.{name}({list}) RETURNS {returns}
LANGUAGE sql IMMUTABLE PARALLEL SAFE
{body};
COMMENT ON FUNCTION flake.{name}({list}) IS {comment};
"
    )
}
