//! Tests reading and writing layout descriptions as JSON, and the error codes for invalid descriptions.

use polyflake::{
    clock::ManualClock,
    layout::{Builder, Field, Layout, PRESETS, Tick, ValueType, preset},
};
use serde_json::{Value as Json, json};

use crate::shared::assert_code;

/// The example from the format's documentation, with a constant instead of the shard.
const EXAMPLE: &str = r#"{"id":"integer","bits":64,"fields":[
    {"kind":"unused","bits":1},
    {"kind":"timestamp","bits":41,"tick":"1ms","epoch_ms":1483228800000},
    {"kind":"constant","bits":5,"name":"data-center-id","value":1},
    {"kind":"bindable","bits":5,"name":"shard"},
    {"kind":"sequence","bits":12,"start":0}]}"#;

fn compact(json: &str) -> String {
    json.lines().map(str::trim).collect()
}

#[test]
fn the_example_round_trips_unchanged() {
    let layout = Layout::from_json(EXAMPLE).unwrap();
    let fields = [
        Field::unused(1),
        Field::timestamp(41, Tick::MILLISECOND, 1_483_228_800_000),
        Field::constant(5, "data-center-id", 1),
        Field::bindable(5, "shard"),
        Field::sequence(12),
    ];
    assert_eq!(layout, Layout::integer(fields).unwrap());
    assert_eq!(layout.to_json(), compact(EXAMPLE));
}

#[test]
fn json_preserves_the_only_read_member() {
    for name in PRESETS {
        let layout = preset(name, []).unwrap();
        let json = layout.to_json();
        assert_eq!(Layout::from_json(&json).as_ref(), Ok(&layout), "{name}");
        assert_eq!(json.ends_with(",\"only_read\":true}"), ["mastodon", "baidu"].contains(name));
    }
    let copy = Layout::from_json(&preset("baidu", []).unwrap().to_json()).unwrap();
    assert_code(Builder::with_clock(copy, ManualClock::at_unix_ms(0)).build(), "invalid_layout");

    let said = |value: &str| {
        let end = format!("}}],\"only_read\":{value}}}");
        Layout::from_json(&compact(EXAMPLE).replace("}]}", &end))
    };
    assert_eq!(said("false"), Layout::from_json(EXAMPLE));
    assert_ne!(said("true"), Layout::from_json(EXAMPLE));
    for wrong in ["1", "null", "\"true\"", "[]"] {
        assert_code(said(wrong), "invalid_layout");
    }
}

#[test]
fn every_type_and_large_integers_round_trip() {
    let wide =
        (polyflake::layout::Value::from(u128::MAX), "340282366920938463463374607431768211455");
    let fields = [
        Field::constant(8, None, b"\xfe").inverted(),
        Field::constant(24, "text", "€"),
        Field::constant(128, "wide", wide.0),
        Field::constant(64, "negative", i64::MIN),
        Field::sequence_from(64, (1_i64 << 53) + 1),
        Field::timestamp(64, "250us".parse().unwrap(), -1),
        Field::bindable_of(ValueType::Text, 8, "b"),
        Field::bindable_of(ValueType::Bytes, 8, None),
    ];
    let layout = Layout::bytes(46, fields).unwrap();
    let json: Json = serde_json::from_str(&layout.to_json()).unwrap();
    let expected = json!({"id": "bytes", "bits": 368, "fields": [
        {"kind": "constant", "bits": 8, "name": "const-0-8", "type": "bytes", "value": "fe", "invert": true},
        {"kind": "constant", "bits": 24, "name": "text", "type": "text", "value": "€"},
        {"kind": "constant", "bits": 128, "name": "wide", "value": wide.1},
        {"kind": "constant", "bits": 64, "name": "negative", "value": "-9223372036854775808"},
        {"kind": "sequence", "bits": 64, "start": "9007199254740993"},
        {"kind": "timestamp", "bits": 64, "tick": "250us", "epoch_ms": -1},
        {"kind": "bindable", "bits": 8, "name": "b", "type": "text"},
        {"kind": "bindable", "bits": 8, "name": "bindable-360-8", "type": "bytes"}]});
    assert_eq!(json, expected);
    assert_eq!(Layout::from_json(&layout.to_json()), Ok(layout.clone()));
    assert_eq!(serde_json::from_value::<Layout>(json).unwrap(), layout);
}

/// Returns the example with one member changed: a member of a field, or of the whole description.
fn example_with(path: &str, to: Json) -> String {
    let mut json: Json = serde_json::from_str(EXAMPLE).unwrap();
    let (parent, member) = path.rsplit_once('/').unwrap();
    json.pointer_mut(parent).unwrap()[member] = to;
    json.to_string()
}

fn example_without(path: &str) -> String {
    let mut json: Json = serde_json::from_str(EXAMPLE).unwrap();
    let (parent, member) = path.rsplit_once('/').unwrap();
    json.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(member).unwrap();
    json.to_string()
}

#[test]
fn integers_are_numbers_or_decimal_strings() {
    for epoch in [
        json!("1483228800000"),
        json!(-5),
        json!("-5"),
        json!(1_i64 << 53),
        json!(-(1_i64 << 53)),
        json!("9007199254740993"),
    ] {
        Layout::from_json(&example_with("/fields/1/epoch_ms", epoch)).unwrap();
    }
    let wrong = json!([
        (1_i64 << 53) + 1,
        -(1_i64 << 53) - 1,
        u64::MAX,
        1.5,
        41.0,
        1e300,
        "1.0",
        "+1",
        "01",
        "-0",
        "",
        "-",
        " 1",
        "٣",
        "9223372036854775808",
        "9".repeat(1_000_000),
        true,
        null,
        [1],
        {}
    ]);
    for epoch in wrong.as_array().unwrap() {
        let epoch = epoch.clone();
        assert_code(
            Layout::from_json(&example_with("/fields/1/epoch_ms", epoch)),
            "invalid_layout",
        );
    }
}

#[test]
fn malformed_descriptions_return_invalid_layout() {
    let wrong = json!({
        "/id": ["text", "bytes-64", 64, null],
        "/bits": [63, 0, -64, 4_294_967_360_u64],
        "/fields": [{}, [], [[]], null],
        "/unknown": [1],
        "/fields/0/kind": ["nothing", "Unused", 1],
        "/fields/0/bits": [-1, 2, 4_294_967_297_u64],
        "/fields/0/name": ["x"],
        "/fields/0/invert": [1, "true"],
        "/fields/0/value": [0],
        "/fields/1/name": ["x"],
        "/fields/1/tick": ["1", "ms", "0ms", "01ms", "-1ms", "1.5ms", "1ns", "1 ms", "1msx", "", "9223372036855s", "99999999999999999999s", 1],
        "/fields/1/start": [0],
        "/fields/2/value": ["one", null],
        "/fields/2/name": [null],
        "/fields/2/type": ["bytes", "float"],
        "/fields/2/start": [1],
        "/fields/3/type": ["text"],
        "/fields/3/value": [1],
        "/fields/4/start": ["x"],
        "/fields/4/name": ["sequence"],
    });
    for (path, values) in wrong.as_object().unwrap() {
        for value in values.as_array().unwrap() {
            let text = example_with(path, value.clone());
            println!("{text}");
            assert_code(Layout::from_json(&text), "invalid_layout");
        }
    }
    for path in [
        "/id",
        "/bits",
        "/fields",
        "/fields/0/kind",
        "/fields/0/bits",
        "/fields/1/tick",
        "/fields/1/epoch_ms",
        "/fields/2/value",
    ] {
        assert_code(Layout::from_json(&example_without(path)), "invalid_layout");
    }
    let twice = EXAMPLE.replace(r#""bits":41"#, r#""bits":41,"bits":41"#);
    let texts = [
        "",
        "{",
        "null",
        "[]",
        "\"x\"",
        "1",
        "{} {}",
        &twice,
        &"[".repeat(10_000),
        &EXAMPLE[..100],
    ];
    for text in texts {
        assert_code(Layout::from_json(text), "invalid_layout");
    }
}

#[test]
fn names_and_start_are_optional() {
    for path in ["/fields/2/name", "/fields/3/name", "/fields/4/start"] {
        Layout::from_json(&example_without(path)).unwrap();
    }
}

#[test]
fn out_of_range_constants_are_reported_after_invalid_members() {
    for value in [
        json!(32),
        json!(-1),
        json!("32"),
        json!("100000000000000000000000000000000000000000000000000"),
    ] {
        assert_code(Layout::from_json(&example_with("/fields/2/value", value)), "out_of_range");
    }
    for start in
        [json!(4096), json!(-1), json!("-100000000000000000000000000000000000000000000000000")]
    {
        let error =
            assert_code(Layout::from_json(&example_with("/fields/4/start", start)), "out_of_range");
        assert_eq!(error.field(), Some("sequence"));
    }
    let both = example_with("/fields/2/value", json!(32)).replace(r#""bits":41"#, r#""bits":42"#);
    assert_code(Layout::from_json(&both), "invalid_layout");
    let both = example_with("/fields/2/value", json!(32)).replace(r#""start""#, r#""begin""#);
    assert_code(Layout::from_json(&both), "invalid_layout");
}

#[test]
fn byte_descriptions_are_validated() {
    let bytes = |bits: u64, fields: Json| {
        Layout::from_json(&json!({"id": "bytes", "bits": bits, "fields": fields}).to_string())
    };
    let constant = |value: Json, kind: &str| {
        bytes(8, json!([{"kind": "constant", "bits": 8, "type": kind, "value": value}]))
    };
    assert!(constant(json!("fF"), "bytes").is_ok());
    assert!(constant(json!("0000ff"), "bytes").is_ok());
    assert!(constant(json!(""), "bytes").is_ok());
    assert!(constant(json!(""), "text").is_ok());
    assert!(constant(json!("255"), "integer").is_ok());
    for value in [json!("f"), json!("0xff"), json!("gg"), json!("é1"), json!(1), json!([255])] {
        assert_code(constant(value, "bytes"), "invalid_layout");
    }
    assert_code(constant(json!(1), "text"), "invalid_layout");
    assert_code(constant(json!("01ff"), "bytes"), "out_of_range");
    assert_code(constant(json!("9".repeat(40)), "integer"), "out_of_range");
    assert_code(constant(json!("é"), "text"), "out_of_range");
    for bits in [0, 7, 12, 8 * 129, 1 << 32] {
        assert_code(bytes(bits, json!([{"kind": "unused", "bits": bits}])), "invalid_layout");
    }
    assert!(bytes(1024, json!([{"kind": "unused", "bits": 1024}])).is_ok());
    for kind in ["timestamp", "sequence"] {
        let mut field = json!({"kind": kind, "bits": 72});
        if kind == "timestamp" {
            field["tick"] = "1ms".into();
            field["epoch_ms"] = 0.into();
        }
        assert_code(bytes(72, json!([field])), "invalid_layout");
    }
}

#[test]
fn parsed_fields_serialize_to_json() {
    let written = |id: &[u8], layout: &Layout| {
        let parsed = layout.parse_bytes(id).unwrap();
        serde_json::to_string(&parsed).unwrap()
    };
    let layout = Layout::bytes(
        24,
        [
            Field::timestamp(48, Tick::MILLISECOND, 0),
            Field::sequence(16),
            Field::bindable(64, "large"),
            Field::bindable_of(ValueType::Bytes, 16, "raw"),
            Field::constant(24, "site", "ams"),
            Field::bindable(24, "small"),
        ],
    );
    let mut id = [0; 24];
    id[..6].copy_from_slice(&[0x01, 0x9b, 0x76, 0xda, 0xa8, 0]);
    id[6..8].copy_from_slice(&[1, 2]);
    id[8..16].copy_from_slice(&((1_u64 << 53) + 1).to_be_bytes());
    id[16..].copy_from_slice(b"\x0a\xffams\0\0\x07");
    let expected = r#"{"unix_ms":1767225600000,"sequence":258,
        "bindables":{"large":"9007199254740993","raw":"0aff","small":7},
        "constants":{"site":"ams"}}"#;
    assert_eq!(written(&id, &layout.unwrap()), compact(expected));
    let bare = Layout::bytes(1, [Field::unused(8)]).unwrap();
    let expected = r#"{"unix_ms":null,"sequence":null,"bindables":{},"constants":{}}"#;
    assert_eq!(written(&[0], &bare), expected);
}
