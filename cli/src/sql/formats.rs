//! The functions that read snos, Hot Guids, UUIDs and the IDs of known services, for PostgreSQL and `DuckDB`.
//!
//! SQLite has columns instead of functions, which read the parts of a sno with the same expressions.

use std::ops::Range;

use super::{
    Source, Table,
    bounds::BoundFunction,
    fields::bound_tick,
    functions::{Function, Syntax, ranges},
};

/// The preset names that the core accepts but does not list, each with the preset's own name.
pub(super) const ALIASES: [(&str, &str); 1] = [("twitter", "x")];

/// The letters of a sno's string, from the value 0 to 31.
pub(super) const ALPHABET: &str = "23456789abcdefghijklmnopqrstuvwx";

/// The ticks from 1970 to the epoch of snos.
pub(super) const SNO_EPOCH: i64 = 315_576_000_000;

/// The parts of a sno after its time, with their descriptions.
pub(super) const SNO_PARTS: [(&str, &str); 3] = [
    ("metabyte", "The type tag of a sno, 0 to 255"),
    ("partition", "The worker ID of a sno, 0 to 65535"),
    ("sequence", "The sequence of a sno within its tick of 4 ms, 0 to 65535"),
];

/// A form in which a column stores snos, with expressions for the ticks and for each of [`SNO_PARTS`].
pub(super) struct SnoForm {
    /// The prefix of the functions' names.
    pub(super) prefix: &'static str,
    pub(super) sql_type: &'static str,
    pub(super) description: &'static str,
    pub(super) is_valid: String,
    pub(super) parts: [String; 4],
}

/// A known service's layout, with all of its names.
pub(super) struct Preset {
    pub(super) names: Vec<&'static str>,
    pub(super) table: Table,
}

/// Returns an expression that combines values, each shifted to the left. A long expression spans several lines.
pub(super) fn combine(values: impl IntoIterator<Item = (String, u32)>) -> String {
    let shifted = |(value, bits)| if bits == 0 { value } else { format!("({value} << {bits})") };
    let values: Vec<_> = values.into_iter().map(shifted).collect();
    let is_short = values.iter().map(String::len).sum::<usize>() < 90;
    values.join(if is_short { " | " } else { "\n        | " })
}

/// Returns the parts of a sno that is stored as its string. `wide` converts a value to 64 bits.
pub(super) fn string_parts(character: fn(u32) -> String, wide: fn(&str) -> String) -> [String; 4] {
    let read = |places: Range<u32>| {
        let end = places.end;
        combine(places.map(|place| (character(place), 5 * (end - 1 - place))))
    };
    [
        // The time is split into a part of 25 bits and one of 15, so that only one value is converted.
        format!("({} << 14) | (({}) >> 1)", wide(&read(0..5)), read(5..8)),
        format!("({}) >> 2", read(8..10)),
        format!("(({}) >> 1) & 65535", read(9..13)),
        format!("({}) & 65535", read(12..16)),
    ]
}

/// Returns the parts of a sno that is stored as its 10 bytes. `bytes` reads bytes as an integer, given the first one and
/// their number.
pub(super) fn byte_parts(bytes: fn(u32, u32) -> String) -> [String; 4] {
    [format!("({}) >> 1", bytes(0, 5)), bytes(5, 1), bytes(6, 2), bytes(8, 2)]
}

/// Returns the parts of a sno that is stored as a UUID of version 8. The version and the variant are above and in the middle
/// of the worker ID.
pub(super) fn uuid8_parts(bytes: fn(u32, u32) -> String) -> [String; 4] {
    let [ticks, metabyte, ..] = byte_parts(bytes);
    let partition = format!("((({}) & 4095) << 4) | ((({}) >> 2) & 15)", bytes(6, 2), bytes(8, 1));
    [ticks, metabyte, partition, format!("(({}) >> 2) & 65535", bytes(8, 3))]
}

/// Returns the shard key of a Hot Guid in the form of the original: four bytes in little-endian order.
pub(super) fn shard_key(bytes: fn(u32, u32) -> String, wide: fn(&str) -> String) -> String {
    combine((12..16).map(|place| (wide(&bytes(place, 1)), 8 * (place - 12))))
}

/// Returns the names of all presets.
pub(super) fn preset_names(presets: &[Preset]) -> Vec<&'static str> {
    presets.iter().flat_map(|preset| preset.names.clone()).collect()
}

/// Returns all functions, in an order in which each one calls only earlier ones.
pub(super) fn functions(syntax: &Syntax, presets: &[Preset]) -> Vec<Function> {
    let forms = (syntax.sno_forms)();
    let mut made: Vec<_> = forms.iter().flat_map(|form| sno_functions(syntax, form)).collect();
    made.extend(uuid_functions(syntax));
    made.extend(snowflake_functions(syntax, presets));
    made.extend(spans(syntax, presets));
    made
}

fn sno_functions(syntax: &Syntax, form: &SnoForm) -> Vec<Function> {
    let SnoForm { prefix, sql_type, description, is_valid, parts } = form;
    let id = &[("id", *sql_type)];
    let null = "NULL for a value that is no sno.";
    let read = |part: &str, returns, body: &str, comment: String| {
        let body = format!("CASE WHEN flake.is_{prefix}(id) THEN\n        {body}\n    END");
        Function::value(format!("{prefix}_{part}"), id, returns, body, comment)
    };
    let comment = format!("Whether a value is a sno as {description}, for a CHECK constraint.");
    let time = (syntax.time)(&format!("({}) + {SNO_EPOCH}", parts[0]), 250);
    let comment_on_time = format!("The time of a sno as {description}, to 4 ms. {null}");
    let mut made = vec![
        Function::value(format!("is_{prefix}"), id, "boolean", is_valid.clone(), comment),
        read("time", "timestamptz", &time, comment_on_time),
    ];
    made.extend(
        SNO_PARTS
            .iter()
            .zip(&parts[1..])
            .map(|((part, meaning), body)| read(part, "int", body, format!("{meaning}. {null}"))),
    );
    made
}

fn uuid_functions(syntax: &Syntax) -> Vec<Function> {
    let Syntax { uuid_bytes: bytes, wide, has_version, time, .. } = syntax;
    let read = |name: &str, returns, body: String, comment: &str| {
        Function::value(name.into(), &[("id", "uuid")], returns, body, comment.into())
    };
    let of_version = |version, body: &str| {
        format!("CASE WHEN {} THEN\n        {body}\n    END", has_version(version))
    };
    vec![
        read(
            "hotguid_time",
            "timestamptz",
            time(&bytes(0, 4), 1),
            "The time of a Hot Guid of either form, to the second. Every UUID has one, since each can be a Hot Guid.",
        ),
        read(
            "hotguid_shard_key",
            "bigint",
            shard_key(*bytes, *wide),
            "The shard key of a Hot Guid in the form of the original, 0 to 4294967295.",
        ),
        read(
            "hotguid_uuid8_shard_key",
            "bigint",
            of_version(8, &bytes(12, 4)),
            "The shard key of a Hot Guid as a UUID of version 8, 0 to 4294967295. NULL for another UUID.",
        ),
        read(
            "uuid7_time",
            "timestamptz",
            of_version(7, &time(&bytes(0, 6), 1000)),
            "The time of a UUID of version 7, to the millisecond. NULL for another UUID.",
        ),
    ]
}

/// Returns an expression that selects a value by a name.
fn case(subject: &str, options: Vec<(String, String)>, otherwise: &str) -> String {
    let options = options.into_iter().map(|(name, value)| format!("WHEN '{name}' THEN {value}"));
    let otherwise = format!("ELSE {otherwise}\n    END");
    let lines: Vec<_> =
        [format!("CASE {subject}")].into_iter().chain(options).chain([otherwise]).collect();
    lines.join("\n        ")
}

/// Returns an expression that selects a value by the name of a preset.
fn preset_case(presets: &[Preset], value: impl Fn(&Table) -> String) -> String {
    let options = presets.iter().flat_map(|preset| {
        preset.names.iter().map(|name| ((*name).to_owned(), value(&preset.table)))
    });
    case("lower(preset)", options.collect(), "flake.unknown_preset(preset)")
}

fn snowflake_functions(syntax: &Syntax, presets: &[Preset]) -> Vec<Function> {
    let names = preset_names(presets).join(", ");
    let id = Source::Word(syntax.word);
    let (mut options, mut fields) = (Vec::new(), Vec::new());
    for Preset { names, table } in presets {
        fields.push(format!("{}: {}", names[0], table.names(|_| true)));
        for field in &table.fields {
            let value = (syntax.service_field)(field.number(id));
            let qualified = names.iter().map(|name| format!("{name}.{}", field.name));
            options.extend(qualified.map(|name| (name, value.clone())));
        }
    }
    let field =
        case("lower(preset) || '.' || field", options, "flake.unknown_field(preset, field)");
    let arguments = [("id", "bigint"), ("preset", "text"), ("field", "text")];
    let service = format!("a snowflake of a known service: {names}. Another name is an error.");
    vec![
        Function::value(
            "snowflake_ms".into(),
            &arguments[..2],
            "bigint",
            preset_case(presets, |table| {
                let ms = table.time.as_ref().map(|time| time.ms(id, syntax.divide));
                ms.unwrap_or_default()
            }),
            format!("The Unix milliseconds of {service}"),
        ),
        Function::value(
            "snowflake_time".into(),
            &arguments[..2],
            "timestamptz",
            (syntax.time)("flake.snowflake_ms(id, preset)", 1000),
            format!("The time of {service}"),
        ),
        Function::value(
            "snowflake_field".into(),
            &arguments,
            "int",
            field,
            format!(
                "A field of a snowflake of a known service: {}. Another name is an error.",
                fields.join("; ")
            ),
        ),
    ]
}

/// Returns expressions for the lowest and the highest value of a time span. A value consists of a tick and the `shift` bits
/// below it.
fn words(tick_us: i64, epoch: i64, bits: u32, shift: u32) -> [String; 2] {
    let [low, high] = [true, false].map(|is_start| bound_tick(tick_us, epoch, 1 << bits, is_start));
    if shift == 0 {
        return [low, high];
    }
    [format!("{low} << {shift}"), format!("({high} << {shift}) | {}", (1 << shift) - 1)]
}

/// Returns the functions for the bounds of a time span.
fn spans(syntax: &Syntax, presets: &[Preset]) -> Vec<Function> {
    let sno = words(4000, SNO_EPOCH, 39, 1);
    let to_uuid = |digits: &str| format!("({digits})::uuid");
    // The bounds of values that are followed by certain digits.
    let digits =
        |words: &[String; 2], count: u32, rests: [&str; 2], cast: &dyn Fn(&str) -> String| {
            [0, 1].map(|end| {
                let word = (syntax.to_hex)(&words[end]);
                cast(&format!("lpad({word}, {count}, '0') || '{}'", rests[end]))
            })
        };
    let [zeros, ones] = ["0", "f"].map(|digit| digit.repeat(24));
    let strings = [(0, '2'), (1, 'x')].map(|(end, letter)| {
        format!("flake.sno_string({}) || '{}'", sno[end], letter.to_string().repeat(8))
    });
    let bytes = digits(&sno, 10, [&zeros[..10], &ones[..10]], &syntax.from_hex);
    let uuid8s = digits(&sno, 10, ["0080008000000000000000", "ff8fffbffffc0000000000"], &to_uuid);
    let hotguids = digits(&words(1_000_000, 0, 32, 0), 8, [&zeros, &ones], &to_uuid);
    let uuid7_rests = ["70008000000000000000", "7fffbfffffffffffffff"];
    let uuid7s = digits(&words(1000, 0, 48, 0), 12, uuid7_rests, &to_uuid);
    let snowflakes = [0, 1].map(|end| {
        preset_case(presets, |table| {
            let ends = table.time_and_bounds().map(|(time, it)| it.bound_functions(time, None));
            ends.map(|ends| ends[end].body.clone()).unwrap_or_default()
        })
    });
    let (binary, snos_of_bytes) = (syntax.binary, format!("sno_{}", syntax.binary));
    let spans = [
        ("sno", "text", strings, "sno as a string"),
        (&snos_of_bytes, binary, bytes, "sno as 10 bytes"),
        ("sno_uuid8", "uuid", uuid8s, "sno as a UUID of version 8"),
        ("hotguid", "uuid", hotguids, "Hot Guid of either form"),
        ("uuid7", "uuid", uuid7s, "UUID of version 7"),
        ("snowflake", "bigint", snowflakes, "snowflake of a known service that is not negative"),
    ];
    let functions = spans.map(|(name, returns, [low, high], description)| {
        let ends = [
            BoundFunction::new(false, true, description, low),
            BoundFunction::new(true, false, description, high),
        ];
        let others = [("preset".to_owned(), "text")];
        let others = if name == "snowflake" { &others[..] } else { &[] };
        ranges(name, returns, ends, others, description)
    });
    functions.into_iter().flatten().collect()
}
