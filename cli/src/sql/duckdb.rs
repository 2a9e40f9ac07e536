//! Writes macros for `DuckDB`.

use crate::sql::{
    Table, Time, VERSION,
    bounds::{BitStrings, BoundFunction, range_comment},
    fields::{Field, Kind, Source},
    formats::{self, Body, Function, Preset, SnoForm, Syntax},
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

/// An ID as 64 bits. The conversion is necessary because a macro accepts integers of any type.
const ID_AS_WORD: &str = "flake.word(id)";

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
    let id = table
        .source(ID_AS_WORD, |first, bits| format!("{}::BIT::BIGINT", extract_bits(first, bits)));
    let called = [
        (CHECK_INTEGER_HELPER, table.requires_field_of_kind(|kind| kind == Kind::Integer)),
        (CHECK_BYTES_HELPER, table.requires_field_of_kind(|kind| kind != Kind::Integer)),
        (NON_INTEGER_HELPERS, table.has_non_integer_fields()),
        (UUID_BYTES_HELPER, table.has_uuids()),
    ];
    let called = called.into_iter().filter(|(_, is_called)| *is_called);
    let mut parts = vec![HELPERS.to_owned()];
    parts.extend(called.map(|(text, _)| text.to_owned()));
    let mut read = |suffix: &str, more: &str, body: &str, comment: &str| {
        parts.push(define(&format!("{name}_{suffix}"), &format!("id{more}"), body, comment));
        if table.has_uuids() {
            let body = format!("flake.{name}_{suffix}(flake.uuid_bytes(id){more})");
            parts.push(define(
                &format!("{name}_uuid_{suffix}"),
                &format!("id{more}"),
                &body,
                comment,
            ));
        }
    };
    if let Some(time) = &table.time {
        let ms = null_unless_length(table, time.ms(id, "//"));
        read("ms", "", &ms, "The Unix milliseconds of an ID.");
        read("time", "", &time_expression(table, time, id), "The time of an ID.");
    }
    if table.has_integer_fields() {
        let field = null_unless_length(table, table.field(id));
        read("field", ", field", &field, &table.integer_field_comment());
    }
    if table.has_non_integer_fields() {
        let bytes = null_unless_length(table, table.case_by_field_name("", bytes));
        let comment = table.bytes_field_comment(&format!("decode(flake.{name}_bytes(id, 'name'))"));
        read("bytes", ", field", &bytes, &comment);
    }
    if let Some((time, bounds)) = table.time_and_bounds() {
        let more = bounds.arguments(|_| "");
        let ends = bounds.bound_functions(time, table.length.map(|_| &BITS));
        parts.extend(range(name, &more, &ends));
        if table.has_uuids() {
            let of_bytes = ends.map(|end| {
                let call = format!("flake.{name}_{}({}{more})", end.suffix, end.argument);
                BoundFunction { body: format!("lower(hex({call}))::UUID"), ..end }
            });
            parts.extend(range(&format!("{name}_uuid"), &more, &of_bytes));
        }
    }
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
    parts.push(define(version, "", &quote(VERSION), comment));
    format!("{head}\nCREATE SCHEMA IF NOT EXISTS flake;\n\n{}", parts.join("\n"))
}

fn range(name: &str, more: &str, ends: &[BoundFunction; 2]) -> Vec<String> {
    let calls = ends.each_ref().map(|end| end.call(name, ["start", "until"], more));
    let arguments = format!("start, until{more}");
    let range = define_range(&format!("{name}_range"), &arguments, &calls, &range_comment("ID"));
    let ends = ends.iter().map(|BoundFunction { suffix, argument, body, comment }| {
        define(&format!("{name}_{suffix}"), &format!("{argument}{more}"), body, comment)
    });
    ends.chain([range]).collect()
}

/// Returns the file with the macros for formats and known services.
pub(super) fn formats_file(head: &str, own: &str, presets: &[Preset]) -> String {
    let mut parts = vec![HELPERS.to_owned(), own.to_owned()];
    parts.extend(formats::functions(&syntax(), presets).into_iter().map(|function| {
        let Function { name, arguments, body, comment, .. } = function;
        let arguments: Vec<_> = arguments.iter().map(|[name, _]| *name).collect();
        let arguments = arguments.join(", ");
        match body {
            Body::Value(value) => define(&name, &arguments, &value, &comment),
            Body::Row(calls) => define_range(&name, &arguments, &calls, &comment),
        }
    }));
    script(head, "version", parts)
}

fn syntax() -> Syntax {
    fn digits(hex: &str, first: u32, count: u32) -> String {
        format!("flake.number({hex}, {}, {})", 2 * first + 1, 2 * count)
    }
    let wide = |value: &str| format!("({value})");
    let blob_bytes = |first, count| digits("hex(id::BLOB)", first, count);
    let uuid_bytes = |first, count| digits("flake.uuid_hex(id)", first, count);
    let character = |place| format!("flake.sno_character(id, {})", place + 1);
    let matches = |text, pattern| format!("regexp_full_match({text}, '{pattern}')");
    let is_uuid8 = matches("flake.uuid_hex(id)", ".{12}8.{3}[89ab].{4}[048c]0{10}");
    let form = |prefix, description, is_valid, parts| SnoForm {
        prefix,
        sql_type: "",
        description,
        is_valid,
        parts,
    };
    let strings = formats::string_parts(character, wide);
    let is_blob = "octet_length(id::BLOB) = 10".to_owned();
    Syntax {
        sno_forms: [
            form("sno", "a string", matches("id", "[2-9a-x]{16}"), strings),
            form("sno_blob", "a BLOB of 10 bytes", is_blob, formats::byte_parts(blob_bytes)),
            form("sno_uuid8", "a UUID of version 8", is_uuid8, formats::uuid8_parts(uuid_bytes)),
        ],
        binary: "blob",
        from_hex: |digits| format!("unhex({digits})"),
        to_hex: |word| format!("lower(hex({word}))"),
        uuid_bytes,
        wide,
        has_version: |version| {
            format!("regexp_full_match(flake.uuid_hex(id), '.{{12}}{version}.{{3}}[89ab].{{15}}')")
        },
        time: |ticks, per_second| {
            format!("make_timestamptz(({ticks}) * {})", 1_000_000 / per_second)
        },
        preset_ms: |table| {
            let ms = table.time.as_ref().map(|time| time.ms(Source::Word(ID_AS_WORD), "//"));
            ms.unwrap_or_default()
        },
        preset_field: |value| value,
        source: Source::Word(ID_AS_WORD),
    }
}

fn null_unless_length(table: &Table, value: String) -> String {
    table.null_unless_length("octet_length(id::BLOB)", value)
}

fn time_expression(table: &Table, time: &Time, id: Source) -> String {
    let value = if time.is_whole_ms() {
        format!("make_timestamptz(flake.{}_ms(id) * 1000)", table.name)
    } else {
        format!("make_timestamptz({})", time.micros(id))
    };
    null_unless_length(table, time.null_outside_calendar(id, value))
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

fn define(name: &str, arguments: &str, body: &str, comment: &str) -> String {
    let comment = quote(comment);
    format!(
        "\
CREATE OR REPLACE MACRO flake.{name}({arguments}) AS
    {body};
COMMENT ON MACRO flake.{name} IS {comment};
"
    )
}

/// Returns the definition of a macro that returns a row with two bounds.
fn define_range(
    name: &str,
    arguments: &str,
    [lowest, highest]: &[String; 2],
    comment: &str,
) -> String {
    let comment = quote(comment);
    format!(
        "\
CREATE OR REPLACE MACRO flake.{name}({arguments}) AS TABLE
    SELECT {lowest} AS lowest, {highest} AS highest;
COMMENT ON MACRO TABLE flake.{name} IS {comment};
"
    )
}
