//! Writes macros for `DuckDB`.

use crate::sql::{
    Table, VERSION,
    bounds::BitStrings,
    fields::{Field, Kind},
    formats::{self, Preset, SnoForm},
    functions::{Body, Function, Syntax, layout_functions, row},
    quote,
};

/// The macros that the files for layouts and for formats both contain.
const HELPERS: &str = include_str!("duckdb.sql");

/// The macro that raises the error for a field that is not a 64-bit integer, and the macro that returns a field's bytes.
const NON_INTEGER_HELPERS: &str = "\
CREATE OR REPLACE MACRO flake.no_integer_of(layout, field) AS
    CASE
        WHEN field IS NOT NULL
            THEN error('invalid_type: expected a field with an integer of at most 64 bits, found ''' || field
                || ''': use flake.' || layout || '_bytes')
    END;

-- The bytes of a string of bits, without leading zeros.
CREATE OR REPLACE MACRO flake.bytes_of(bits) AS unhex(regexp_replace(hex(bits::BIT::BLOB), '^(00)+', ''));
";

/// The macros that check the bytes or the text of a bindable field above the timestamp. `DuckDB` cannot convert an empty
/// BLOB to bits, so a byte is prepended.
const CHECK_BYTES_HELPER: &str = "\
-- Bytes are a number without leading zeros, as in the library.
CREATE OR REPLACE MACRO flake.fit_bytes(value, bits, field) AS
    CASE
        WHEN length(ltrim(('\\x00'::BLOB || value::BLOB)::BIT::VARCHAR, '0')) <= bits
            THEN lpad(ltrim(('\\x00'::BLOB || value::BLOB)::BIT::VARCHAR, '0'), bits::INTEGER, '0')
        WHEN value IS NOT NULL
            THEN error('out_of_range: expected ' || field || ' of at most ' || bits || ' bits, found '
                || octet_length(value::BLOB) || ' bytes')
    END;

CREATE OR REPLACE MACRO flake.fit_text(value, bits, field) AS flake.fit_bytes(encode(value::VARCHAR), bits, field);
";

/// The macro for the bytes of a UUID. In a 16-byte layout, these bytes are the ID.
const UUID_BYTES_HELPER: &str = "\
CREATE OR REPLACE MACRO flake.uuid_bytes(id) AS unhex(replace(id::UUID::VARCHAR, '-', ''));
";

/// The macro that checks the integer of a bindable field above the timestamp.
const CHECK_INTEGER_HELPER: &str = "\
CREATE OR REPLACE MACRO flake.fit(value, bits, field) AS
    CASE
        WHEN bits = 64 THEN flake.word(value)
        WHEN value::BIGINT BETWEEN 0 AND 9223372036854775807 >> greatest(63 - bits, 0) THEN value::BIGINT
        WHEN value IS NOT NULL THEN error('out_of_range: expected ' || field || ' of at most ' || bits
            || ' bits, found ' || value)
    END;
";

/// The syntax for bit strings. A bit string is a string of binary digits, so that string functions can process it.
const BITS: BitStrings = BitStrings {
    constant: |digits| format!("'{digits}'"),
    number: |value, bits| format!("lpad(bin({value}), {bits}, '0')"),
    // This cast is many times faster than `translate`.
    inverted: |bits| format!("(~{bits}::BIT)::VARCHAR"),
    bytes: |bits| format!("({bits})::BIT::BLOB"),
};

pub(super) fn file(table: &Table) -> String {
    let name = &table.name;
    let called = [
        (CHECK_INTEGER_HELPER, table.requires_field_of_kind(|kind| kind == Kind::Integer)),
        (CHECK_BYTES_HELPER, table.requires_field_of_kind(|kind| kind != Kind::Integer)),
        (NON_INTEGER_HELPERS, table.has_non_integer_fields()),
        (UUID_BYTES_HELPER, table.has_uuids()),
    ];
    let called = called.into_iter().filter(|(_, is_called)| *is_called);
    let mut parts = vec![HELPERS.to_owned()];
    parts.extend(called.map(|(text, _)| text.to_owned()));
    parts.extend(layout_functions(table, &SYNTAX).iter().map(define));
    let head = format!(
        "\
-- What an ID of the layout `{name}` says, in DuckDB: its time, its fields, and the IDs of a span of time.
-- Written by `polyflake layout sql` {VERSION}. Load it with `.read`, or execute its text.
--
-- An error begins with a stable code: `time_out_of_range` for a time outside the layout, `unknown_field` for a field that
-- the layout does not have.
{}",
        table.limits()
    );
    script(&head, &format!("{name}_version"), parts)
}

/// Returns a file that loads macros into the schema `flake`, with a macro that returns the program's version.
fn script(head: &str, version: &str, mut parts: Vec<String>) -> String {
    let comment = "The version of polyflake that wrote the macros.";
    parts.push(define(&Function::value(
        version.into(),
        &[],
        "text",
        quote(VERSION),
        comment.into(),
    )));
    format!("{head}\nCREATE SCHEMA IF NOT EXISTS flake;\n\n{}", parts.join("\n"))
}

/// Returns the file with the macros for formats and known services.
pub(super) fn formats_file(head: &str, own: &str, presets: &[Preset]) -> String {
    let mut parts = vec![HELPERS.to_owned(), own.to_owned()];
    parts.extend(formats::functions(&SYNTAX, presets).iter().map(define));
    script(head, "version", parts)
}

const SYNTAX: Syntax = Syntax {
    // The conversion is necessary because a macro accepts integers of any type.
    word: "flake.word(id)",
    read_bits: |first, bits| format!("{}::BIT::BIGINT", extract_bits(first, bits)),
    bit_strings: &BITS,
    binary: "blob",
    length: "octet_length(id::BLOB)",
    divide: "//",
    wide: |value| format!("({value})"),
    to_hex: |word| format!("lower(hex({word}))"),
    from_hex: |digits| format!("unhex({digits})"),
    time: |ticks, per_second| format!("make_timestamptz(({ticks}) * {})", 1_000_000 / per_second),
    field_bytes: bytes,
    error_as_bytes: "",
    text: |bytes| format!("decode({bytes})"),
    service_field: |value| value,
    uuid_prefix: "uuid_",
    from_uuid: "flake.uuid_bytes",
    to_uuid: |bytes| format!("lower(hex({bytes}))::UUID"),
    uuid_bytes,
    has_version: |version| {
        format!("regexp_full_match(flake.uuid_hex(id), '.{{12}}{version}.{{3}}[89ab].{{15}}')")
    },
    sno_forms,
};

fn sno_forms() -> [SnoForm; 3] {
    let blob_bytes = |first, count| read_digits("hex(id::BLOB)", first, count);
    let character = |place| format!("flake.sno_character(id, {})", place + 1);
    let form = |prefix, description, is_valid: &str, parts| SnoForm {
        prefix,
        sql_type: "",
        description,
        is_valid: is_valid.to_owned(),
        parts,
    };
    let is_string = "regexp_full_match(id, '[2-9a-x]{16}')";
    let is_blob = "octet_length(id::BLOB) = 10";
    let is_uuid8 = "regexp_full_match(flake.uuid_hex(id), '.{12}8.{3}[89ab].{4}[048c]0{10}')";
    let strings = formats::string_parts(character, SYNTAX.wide);
    [
        form("sno", "a string", is_string, strings),
        form("sno_blob", "a BLOB of 10 bytes", is_blob, formats::byte_parts(blob_bytes)),
        form("sno_uuid8", "a UUID of version 8", is_uuid8, formats::uuid8_parts(uuid_bytes)),
    ]
}

fn uuid_bytes(first: u32, count: u32) -> String {
    read_digits("flake.uuid_hex(id)", first, count)
}

/// Returns an expression for an integer of several bytes, given the expression for all hexadecimal digits.
fn read_digits(hex: &str, first: u32, count: u32) -> String {
    format!("flake.number({hex}, {}, {})", 2 * first + 1, 2 * count)
}

/// Returns an expression for some bits of a byte ID, as a string of digits.
fn extract_bits(first: u32, bits: u32) -> String {
    format!("substr(id::BLOB::BIT::VARCHAR, {}, {bits})", first + 1)
}

/// Returns an expression for the bytes of a field, without leading zeros.
fn bytes(field: &Field) -> String {
    if field.bits == 0 {
        return "''::BLOB".into();
    }
    let found = extract_bits(field.first, field.bits);
    let found = if field.invert { (BITS.inverted)(&found) } else { found };
    let filler = "0".repeat((field.bits.next_multiple_of(8) - field.bits) as usize);
    let found = if filler.is_empty() { found } else { format!("'{filler}' || {found}") };
    format!("flake.bytes_of({found})")
}

fn define(function: &Function) -> String {
    let Function { name, arguments, body, comment, .. } = function;
    let names: Vec<_> = arguments.iter().map(|(name, _)| name.clone()).collect();
    let (list, comment) = (names.join(", "), quote(comment));
    let (kind, body) = match body {
        Body::Value(value) => ("", value.clone()),
        Body::Row(functions) => {
            let [lowest, highest] = row(functions, &names);
            (" TABLE", format!("SELECT {lowest} AS lowest, {highest} AS highest"))
        }
    };
    format!(
        "\
CREATE OR REPLACE MACRO flake.{name}({list}) AS{kind}
    {body};
COMMENT ON MACRO{kind} flake.{name} IS {comment};
"
    )
}
