//! Malformed layout descriptions.

use fastrand::Rng;
use serde_json::{Value, json};

use super::draw::layout;
use crate::{
    case::{Case, Pattern},
    random::choose,
};

/// Returns a case with the description of a random layout after one or two changes, which usually make the layout invalid.
pub(crate) fn description_case(rng: &mut Rng) -> Case {
    let mut layout = layout(rng).layout;
    for _ in 0..rng.usize(1..=2) {
        corrupt(rng, &mut layout);
    }
    let op = choose(rng, &["layout.json", "layout.json", "layout.describe"]);
    Case::new(format!("{op} of a corrupted layout"), op, json!({"layout": layout}), Pattern::Any)
}

/// Returns a case with a layout description as JSON text, which may be malformed.
pub(crate) fn text_case(rng: &mut Rng) -> Case {
    let mut layout = layout(rng).layout;
    if rng.u32(..4) == 0 {
        corrupt(rng, &mut layout);
    }
    let text = if rng.bool() { layout.to_string() } else { format!("{layout:#}") };
    let text = if rng.u32(..6) == 0 { text } else { corrupt_text(rng, text) };
    Case::new("layout.from_json", "layout.from_json", json!({"text": text}), Pattern::Any)
}

/// Numbers and strings that JSON parsers interpret differently or reject.
const UNUSUAL_TOKENS: [&str; 44] = [
    "64.0",
    "6.4e1",
    "64e0",
    "064",
    "+64",
    "-0",
    "0.0",
    ".5",
    "5.",
    "1e400",
    "-1e400",
    "0x40",
    "1_0",
    "NaN",
    "Infinity",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "100000000000000000000000000",
    "null",
    "true",
    "True",
    "[]",
    "{}",
    "[[[[[[[[[[[[]]]]]]]]]]]]",
    "\"\"",
    "\"\\u0061\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud800\"",
    "\"\\u00\"",
    "\"\\x61\"",
    "\"\u{0}\"",
    "\"\n\"",
    "\"\\n\"",
    "'a'",
    "a",
    "\"bits\": 8, \"bits\"",
    "// a",
    "/* a */",
    "\u{feff}",
    ",",
];

/// Corrupts JSON text by replacing or inserting a token, or by truncating or extending the text.
fn corrupt_text(rng: &mut Rng, mut text: String) -> String {
    let ends: Vec<_> = text.match_indices([':', ',', '}', ']', '"']).map(|(at, _)| at).collect();
    let at = ends[rng.usize(..ends.len())];
    match rng.u32(..8) {
        0 => text.truncate(at + rng.usize(..=1)),
        1 => text.push_str(choose(rng, &[" ", "\n", "x", ",", "{}", "\0", "\u{feff}"])),
        2 => text.insert_str(0, choose(rng, &[" ", "\n", "\u{feff}", "\u{a0}", "[", "\0"])),
        3 => text.insert_str(at, choose(rng, &UNUSUAL_TOKENS)),
        _ => replace_value(rng, &mut text, at),
    }
    text
}

/// Replaces a member's value (the text from the colon to the end of the value) with an unusual token.
fn replace_value(rng: &mut Rng, text: &mut String, from: usize) {
    let Some(start) = text[from..].find(':').map(|at| from + at + 1) else { return };
    let end = text[start..].find([',', '}']).map_or(text.len(), |at| start + at);
    text.replace_range(start..end, choose(rng, &UNUSUAL_TOKENS));
}

fn corrupt(rng: &mut Rng, layout: &mut Value) {
    let count = layout["fields"].as_array().map_or(0, Vec::len);
    match rng.u32(..10) {
        0 => layout["bits"] = unexpected_value(rng),
        1 => layout["id"] = unexpected_value(rng),
        2 => layout["fields"] = unexpected_value(rng),
        3 => remove_random_member(rng, layout, &["id", "bits", "fields"]),
        4 => layout["size"] = unexpected_value(rng),
        _ if count == 0 => {}
        5 => {
            let fields = layout["fields"].as_array_mut().expect("fields were counted");
            let again = fields[rng.usize(..count)].clone();
            fields.insert(rng.usize(..=count), again);
        }
        _ => {
            let field = &mut layout["fields"][rng.usize(..count)];
            corrupt_field(rng, field);
        }
    }
}

fn corrupt_field(rng: &mut Rng, field: &mut Value) {
    const MEMBERS: [&str; 10] =
        ["kind", "bits", "name", "type", "value", "tick", "epoch_ms", "start", "invert", "size"];
    if !field.is_object() {
        return;
    }
    match rng.u32(..4) {
        0 => remove_random_member(rng, field, &MEMBERS),
        1 => *field = unexpected_value(rng),
        2 => {
            field["bits"] =
                choose(rng, &[-1_i64, 0, 1, 8, 63, 64, 65, 128, 1 << 31, 1 << 32]).into();
        }
        _ => field[choose(rng, &MEMBERS)] = unexpected_value(rng),
    }
}

fn remove_random_member(rng: &mut Rng, object: &mut Value, names: &[&str]) {
    if let Some(members) = object.as_object_mut() {
        members.remove(choose(rng, names));
    }
}

/// Returns a value to use where a different type is expected.
fn unexpected_value(rng: &mut Rng) -> Value {
    const UNEXPECTED_TEXTS: [&str; 30] = [
        "",
        "0",
        "1",
        "-1",
        "64",
        "08",
        "+8",
        " 8",
        "8.0",
        "1e3",
        "0x10",
        "1_000",
        "x",
        "integer",
        "bytes",
        "text",
        "unused",
        "timestamp",
        "sequence",
        "constant",
        "bindable",
        "1ms",
        "0ms",
        "1.5ms",
        "1m",
        "ms",
        "9223372036854775808us",
        "1 ms",
        "ab",
        "-9223372036854775809",
    ];
    match rng.u32(..12) {
        0 => Value::Null,
        1 => rng.bool().into(),
        2 => json!([]),
        3 => json!({}),
        4 => json!(1.5),
        5 => choose(rng, &[-1, 0, 7, 8, 64, 65, 1 << 53, (1 << 53) + 2, i64::MIN]).into(),
        _ => choose(rng, &UNEXPECTED_TEXTS).into(),
    }
}
