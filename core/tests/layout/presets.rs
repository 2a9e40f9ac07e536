//! Tests the documented properties of the presets, and machine IDs that are fixed when the layout is created.

use polyflake::layout::{Generator, Id, PRESETS, Value, preset};
use serde_json::{Value as Json, json};

use crate::shared::assert_code;

#[test]
fn an_explicit_machine_value_becomes_a_constant() {
    let twitter = preset("twitter", [("worker", 26.into()), ("datacenter", 11.into())]).unwrap();
    assert_eq!(twitter.constant_names().collect::<Vec<_>>(), ["datacenter", "worker"]);
    assert_eq!(twitter.bindable_names().count(), 0);
    let id =
        twitter.values().time(1_656_432_460_105_i64).unwrap().sequence(0).unwrap().pack_integer();
    assert_eq!(id, Ok(1_541_815_603_606_036_480));
    let half = preset("twitter", [("worker", 26.into())]).unwrap();
    assert_eq!(half.bindable_names().collect::<Vec<_>>(), ["datacenter"]);
}

#[test]
fn preset_names_are_case_insensitive() {
    for (name, known) in [("Discord", "discord"), ("X", "twitter"), ("x", "twitter")] {
        assert_eq!(preset(name, []).unwrap(), preset(known, []).unwrap(), "{name}");
    }
    let mastodon = preset("Mastodon", []).unwrap();
    assert_code(Generator::builder(mastodon).build(), "invalid_layout");
}

#[test]
fn an_unknown_preset_suggests_the_nearest_name() {
    const KNOWN_PRESETS: &str = "twitter, discord, instagram, sonyflake, mastodon, baidu";
    for (name, meant) in [
        ("discrod", "; did you mean `discord`?"),
        ("Mastodn", "; did you mean `mastodon`?"),
        ("snowflake", ""),
        ("flickr", ""),
        ("", ""),
    ] {
        let error = assert_code(preset(name, []), "invalid_layout");
        assert_eq!(
            error.to_string(),
            format!("expected one of {KNOWN_PRESETS}, found `{name}`{meant}")
        );
    }
}

#[test]
fn decimal_strings_of_ids_are_parsed() {
    let discord = preset("discord", []).unwrap();
    let id = Id::from_decimal("175928847299117063").unwrap();
    assert_eq!(discord.parse(&id).unwrap().unix_ms(), Some(1_462_015_105_796));
    for id in [i64::MIN, -1, 0, i64::MAX] {
        assert_eq!(Id::from_decimal(&id.to_string()), Ok(Id::Integer(id)));
    }
    for (text, code) in [
        ("007", "invalid_character"),
        ("+7", "invalid_character"),
        ("1 ", "invalid_character"),
        ("", "invalid_character"),
        ("-0", "invalid_character"),
        ("cafe", "invalid_character"),
        ("9223372036854775808", "out_of_range"),
        ("340282366920938463463374607431768211455", "out_of_range"),
        ("1000000000000000000000000000000000000000", "out_of_range"),
    ] {
        assert_code(Id::from_decimal(text), code);
    }
}

#[test]
fn invalid_preset_arguments_are_rejected() {
    assert_eq!(preset("y", []).unwrap_err().field(), Some("name"));
    assert_code(preset("discord", [("datacenter", 1.into())]), "unknown_field");
    assert_code(preset("discord", [("worker", 32.into()), ("nope", 1.into())]), "unknown_field");
    assert_code(preset("discord", [("worker", 32.into())]), "out_of_range");
    assert_code(preset("discord", [("worker", (-1).into())]), "out_of_range");
    assert_code(preset("discord", [("worker", "1".into())]), "invalid_type");
    assert_code(
        preset("discord", [("process", "1".into()), ("worker", 32.into())]),
        "out_of_range",
    );
    assert_code(preset("discord", [("worker", Value::Other("float".into()))]), "invalid_type");
}

#[test]
fn every_preset_has_a_description() {
    let figures = |name: &str| serde_json::to_value(preset(name, []).unwrap().describe()).unwrap();
    for name in PRESETS {
        let described = figures(name);
        let fields = described["fields"].as_array().unwrap();
        let widths: u64 = fields.iter().map(|field| field["bits"].as_u64().unwrap()).sum();
        assert_eq!(widths, 64, "{name}");
    }
    let twitter = json!({
        "bits": 64,
        "fields": [
            {"name": "unused", "kind": "unused", "offset": 0, "bits": 1},
            {"name": "timestamp", "kind": "timestamp", "offset": 1, "bits": 41},
            {"name": "datacenter", "kind": "bindable", "offset": 42, "bits": 5},
            {"name": "worker", "kind": "bindable", "offset": 47, "bits": 5},
            {"name": "sequence", "kind": "sequence", "offset": 52, "bits": 12},
        ],
        "per_second": 4_096_000,
        "per_second_in_all": 4_096_000_u64 * 1024,
        "first_ms": 1_288_834_974_657_i64,
        "last_ms": 3_487_858_230_208_i64,
        "sorts_by_time": true,
        "below_2_53": false,
        "below_2_63": true,
    });
    assert_eq!(figures("twitter"), twitter);
    let (mastodon, baidu) = (figures("mastodon"), figures("baidu"));
    assert_eq!(mastodon["per_second"], Json::Null);
    assert_eq!(mastodon["last_ms"], (1_i64 << 48) - 1);
    assert_eq!(
        (&baidu["per_second"], &baidu["last_ms"]),
        (&8192.into(), &1_732_109_055_000_i64.into())
    );
}
