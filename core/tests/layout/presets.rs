//! The presets: their figures, and machine fields that are given a value.

use polyflake::layout::{PRESETS, Value, preset};
use serde_json::{Value as Json, json};

use crate::shared::assert_code;

#[test]
fn a_given_machine_value_becomes_a_constant() {
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
fn wrong_presets() {
    assert_code(preset("x", []), "invalid_layout");
    assert_eq!(preset("x", []).unwrap_err().field(), Some("name"));
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
fn every_preset_describes_itself() {
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
