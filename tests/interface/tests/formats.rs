//! Tests that serialized values can be read back from text formats, self-describing binary formats, and other binary
//! formats.

use std::fmt::Debug;

use polyflake::{
    Description,
    clock::ManualClock,
    hotguid,
    layout::{self, Layout, preset},
    randflake::{self, Grant, Randflake},
    sno::{self, Id, Kind, Sno},
    uuid7,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

struct User;

impl Kind for User {
    const METABYTE: u8 = 1;
}

#[track_caller]
fn assert_round_trips<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&json).unwrap(), *value, "{json}");
    assert_eq!(serde_json::from_value::<T>(serde_json::to_value(value).unwrap()).unwrap(), *value);
    for bytes in [rmp_serde::to_vec(value).unwrap(), rmp_serde::to_vec_named(value).unwrap()] {
        assert_eq!(rmp_serde::from_slice::<T>(&bytes).unwrap(), *value, "MessagePack");
    }
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    assert_eq!(ciborium::from_reader::<T, _>(&bytes[..]).unwrap(), *value, "CBOR");
    let bytes = postcard::to_stdvec(value).unwrap();
    assert_eq!(postcard::from_bytes::<T>(&bytes).unwrap(), *value, "postcard");
}

/// A record whose members serde buffers before it reads them.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type")]
enum Buffered<T> {
    Record { id: T },
}

#[track_caller]
fn assert_id_round_trips<T: Clone + Serialize + DeserializeOwned + PartialEq + Debug>(id: &T) {
    assert_round_trips(id);
    let record = Buffered::Record { id: id.clone() };
    let bytes = rmp_serde::to_vec_named(&record).unwrap();
    assert_eq!(rmp_serde::from_slice::<Buffered<T>>(&bytes).unwrap(), record, "MessagePack");
    let mut bytes = Vec::new();
    ciborium::into_writer(&record, &mut bytes).unwrap();
    assert_eq!(ciborium::from_reader::<Buffered<T>, _>(&bytes[..]).unwrap(), record, "CBOR");
}

const START_MS: i64 = 1_763_650_000_000;

#[test]
fn ids_round_trip() {
    assert_id_round_trips(&Sno::parse("a7rdmuv326nct5if").unwrap());
    assert_id_round_trips(&Randflake::from_i64(-7));
    assert_id_round_trips(&hotguid::generate(7).unwrap());
    assert_id_round_trips(&uuid7::generate().unwrap());
    assert_id_round_trips(&vec![Sno::default(); 3]);
    assert_id_round_trips(&Id::<User>::parse("a7rdmuv326nct5if").unwrap());
    for id in [i64::MIN, 0, 1234, i64::MAX] {
        assert_id_round_trips(&layout::Id::Integer(id));
    }
    assert_id_round_trips(&layout::Id::Bytes(vec![0x12, 0x34]));
}

#[test]
fn fields_and_grants_round_trip() {
    assert_round_trips(&Sno::MAX.parts());
    assert_round_trips(&hotguid::HotGuid::MAX.parts());
    assert_round_trips(&uuid7::Uuid7::MAX.parts());
    let shard_key = u32::MAX;
    assert_round_trips(&hotguid::Uuid8Parts {
        timestamp: 7,
        machine: 1 << 33,
        counter: 0,
        shard_key,
    });
    assert_round_trips(&randflake::Parts { timestamp: 1_730_000_000, node: 7, sequence: 131_071 });
    let grant = Grant::with_nodes(40..=49, 1_730_000_000, 2_803_741_824).unwrap();
    assert_round_trips(&grant);
    let json = json!({"first_node": 40, "last_node": 49, "start": 1_730_000_000, "end": 2_803_741_824_u32});
    assert_eq!(serde_json::to_value(grant).unwrap(), json);
}

#[track_caller]
fn assert_error<T: DeserializeOwned + Debug>(json: &serde_json::Value, reason: &str) {
    let error = serde_json::from_value::<T>(json.clone()).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[test]
fn malformed_records_are_rejected() {
    let whole = json!({"timestamp": 1, "node": 2, "sequence": 3});
    let with = |name: &str, value: serde_json::Value| {
        let mut object = whole.clone();
        object[name] = value;
        object
    };
    assert_error::<randflake::Parts>(&with("more", json!(0)), "unknown field `more`");
    assert_error::<randflake::Parts>(&with("node", json!(-1)), "invalid value");
    assert_error::<randflake::Parts>(
        &json!({"timestamp": 1, "node": 2}),
        "missing field `sequence`",
    );
    assert_error::<randflake::Parts>(&json!([1, 2]), "invalid length 2");
    let twice = r#"{"timestamp": 1, "node": 2, "node": 2, "sequence": 3}"#;
    let error = serde_json::from_str::<randflake::Parts>(twice).unwrap_err().to_string();
    assert!(error.starts_with("duplicate field `node`"), "{error}");
    let reversed =
        json!({"first_node": 5, "last_node": 4, "start": 1_730_000_000, "end": 1_730_000_001});
    assert_error::<Grant>(&reversed, "expected nodes from 5 to 131071, found 4");
}

#[test]
fn noncanonical_and_mistyped_ids_are_rejected() {
    assert_error::<Id<User>>(&json!("aaaaaaaa55aaaaaa"), "expected metabyte 1, found 24");
    for text in ["007", "9223372036854775808", "0xCAFE", "0xabc", "cafe", ""] {
        assert!(serde_json::from_value::<layout::Id>(json!(text)).is_err(), "{text}");
    }
    assert_eq!(serde_json::to_value(layout::Id::Bytes(vec![202, 254])).unwrap(), json!("0xcafe"));
}

#[test]
fn errors_serialize_with_their_details() {
    let error = Sno::parse("9d5ve8222622g22!").unwrap_err();
    let message = "invalid character `!` at position 15";
    let json = json!({"code": "invalid_character", "message": message, "position": 15});
    assert_eq!(serde_json::to_value(&error).unwrap(), json);
    let error = error.in_item(3).with_field("ids");
    let written = serde_json::to_value(&error).unwrap();
    assert_eq!((&written["item"], &written["field"]), (&json!(3), &json!("ids")));
    assert_eq!(rmp_serde::to_vec(&error).unwrap()[0], 0x80 + 5, "a map of five");
    let later = Grant::new(7, 1_730_000_000, 1_730_000_001).unwrap();
    let clock = ManualClock::at_unix_ms(1_729_999_999_000);
    let ids = randflake::Builder::with_clock(later, [7; 16], &clock).build().unwrap();
    let written = serde_json::to_value(ids.generate().unwrap_err()).unwrap();
    assert_eq!(written["retry_at"], json!(1_730_000_000_000_i64));
}

#[test]
fn sno_snapshots_round_trip() {
    let ids = sno::Generator::builder().clock(ManualClock::at_unix_ms(START_MS)).partition(7);
    let ids = ids.sequence_min(300).build().unwrap();
    ids.generate(0).unwrap();
    let snapshot = ids.close().unwrap();
    assert_round_trips(&snapshot);
    let mut bytes = postcard::to_stdvec(&snapshot).unwrap();
    bytes[0] += 1;
    assert!(postcard::from_bytes::<sno::Snapshot>(&bytes).is_err(), "another format");
    let mut widest = sno::Snapshot::new([255; 2], u16::MAX, u16::MAX);
    (widest.sequence, widest.drifts) = (u32::MAX, u32::MAX);
    (widest.now, widest.wall_hi, widest.wall_safe) = (u64::MAX >> 1, 1 << 53, 0);
    assert_round_trips(&widest);
}

#[test]
fn layouts_and_their_snapshots_round_trip() {
    for name in ["twitter", "discord", "instagram", "sonyflake"] {
        assert_round_trips(&preset(name, []).unwrap());
    }
    assert_round_trips(&layout::Snapshot::new(u64::MAX, 1 << 64));
    assert_round_trips(&layout::Snapshot::new(7, 0));
}

/// Descriptions are only serialized and never deserialized, so the test cannot check round trips.
#[test]
fn descriptions_are_serialized() {
    let described: Description = preset("twitter", []).unwrap().describe();
    assert!(serde_json::to_string(&described).unwrap().contains("per_second"));
    assert!(!postcard::to_stdvec(&described).unwrap().is_empty());
    let twitter = preset("twitter", []).unwrap();
    let parsed = twitter.parse_integer(1_541_815_603_606_036_480).unwrap();
    assert!(!postcard::to_stdvec(&parsed).unwrap().is_empty());
}

#[test]
fn malformed_bytes_are_rejected() {
    assert!(postcard::from_bytes::<sno::Snapshot>(&[1, 2, 3]).is_err());
    assert!(postcard::from_bytes::<layout::Snapshot>(&[1, 2, 3]).is_err());
    assert!(postcard::from_bytes::<Layout>(&[200, 200, 200, 200, 200]).is_err());
    assert!(rmp_serde::from_slice::<sno::Snapshot>(&[0x93, 1, 2, 3]).is_err());
    assert!(postcard::from_bytes::<Sno>(&[3, 1, 2, 3]).is_err());
}

#[test]
fn deeply_nested_json_is_rejected() {
    let brackets = postcard::to_stdvec(&"[".repeat(1_000_000)).unwrap();
    assert!(postcard::from_bytes::<Layout>(&brackets).is_err());
    assert!(postcard::from_bytes::<layout::Snapshot>(&brackets).is_err());
}
