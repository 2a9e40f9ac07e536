//! Tests sno against the outputs of the original implementation.

mod support;

use polyflake::sno::{self, Parts, Sno};
use serde_json::Value;
use support::{expected_result, hex, unhex, vectors};

/// Asserts that the parsed ID's fields equal the fields of the test case.
#[track_caller]
fn assert_fields(id: Sno, case: &Value) {
    assert_eq!(id.tick(), case["timestamp_units"], "{case}");
    assert_eq!(id.unix_ms(), case["timestamp_unix_ms"], "{case}");
    assert_eq!(u64::from(id.tick_tock()), case["tick"], "{case}");
    assert_eq!(id.metabyte(), case["metabyte"], "{case}");
    assert_eq!(id.partition(), case["partition"], "{case}");
    assert_eq!(id.sequence(), case["sequence"], "{case}");
}

#[test]
fn ids_have_the_originals_bytes_string_and_fields() {
    let file = vectors("sno.json");
    for case in file["cases"].as_array().unwrap() {
        let (bytes, text) =
            (unhex(case["hex"].as_str().unwrap()), case["encoded"].as_str().unwrap());
        let id = Sno::from_bytes(bytes);
        assert_eq!(id.text(), text);
        assert_eq!(Sno::parse(text), Ok(id));
        assert_eq!(Sno::from_parts(id.parts()), Ok(id));
        assert_eq!(Sno::from_uuid_bytes(id.to_uuid_bytes()), Ok(id));
        assert_eq!(sno::metabyte(text), Ok(id.metabyte()));
        assert_fields(id, case);
    }
}

#[test]
fn invalid_strings_are_rejected_with_code_and_position() {
    let file = vectors("sno_invalid.json");
    for case in file["cases"].as_array().unwrap() {
        let text = case["input"].as_str().unwrap();
        let error = Sno::parse(text).unwrap_err();
        assert_eq!(error.code(), expected_result(case)["error"], "{case}");
        assert_eq!(
            error.position(),
            expected_result(case)["position"].as_u64().map(|p| usize::try_from(p).unwrap()),
            "{case}"
        );
    }
}

#[test]
fn json_accepts_only_strings_as_ids() {
    let file = vectors("sno_invalid.json");
    for note in file["json_notes"].as_array().unwrap() {
        let Some(input) = note["input"].as_str() else {
            assert_eq!(
                serde_json::to_string(&Sno::default()).unwrap(),
                note["ours"]["marshal_zero"]
            );
            continue;
        };
        match serde_json::from_str::<Sno>(input) {
            Ok(id) => assert_eq!(hex(id.as_bytes()), expected_result(note)["id"], "{note}"),
            Err(_) => {
                assert!(note["ours"].get("error").or(note["ours"].get("skip")).is_some(), "{note}");
            }
        }
    }
}

#[test]
fn out_of_range_parts_are_rejected() {
    let parts = Parts { tick: 1 << 39, tick_tock: false, metabyte: 0, partition: 0, sequence: 0 };
    let error = Sno::from_parts(parts).unwrap_err();
    assert_eq!((error.code(), error.field()), ("out_of_range", Some("tick")));
}
