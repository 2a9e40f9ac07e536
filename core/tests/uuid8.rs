//! Tests that version 8 UUIDs match the test vectors, preserve all bits and the sort order of the IDs, and are rejected
//! unless they belong to an ID.
#![cfg(feature = "uuid")]

mod support;

use std::collections::BTreeSet;

use polyflake::{
    ErrorKind,
    clock::ManualClock,
    hotguid::{Builder, HotGuid, Uuid8Parts},
    sno::Sno,
};
use proptest::prelude::*;
use support::{unhex, vectors};
use uuid::{Uuid, Variant};

fn uuid8(id: Sno) -> Uuid {
    let uuid = Uuid::from(id);
    assert_eq!(uuid.into_bytes(), id.to_uuid8_bytes());
    assert_eq!(Sno::try_from(uuid), Ok(id));
    uuid
}

#[test]
fn a_uuid_of_another_version_is_rejected() {
    let random = Uuid::from_u128(0x3d3d_f1a5_7f0b_4d39_9f6f_0c2a_6a6f_5d21);
    assert_eq!(Sno::try_from(random), Sno::from_uuid8_bytes(random.into_bytes()));
    assert!(Sno::try_from(random).is_err());
}

#[track_caller]
fn assert_rejected(uuid: Uuid) {
    assert_eq!(
        Sno::from_uuid8_bytes(uuid.into_bytes()).unwrap_err().kind(),
        ErrorKind::NotCanonical,
        "{uuid}"
    );
}

#[test]
fn sno_uuids_match_the_vectors() {
    let file = vectors("uuid8.json");
    let cases = file["sno"].as_array().unwrap();
    assert!(cases.len() > 200);
    for case in cases {
        let id = Sno::from_bytes(unhex(case["hex"].as_str().unwrap()));
        assert_eq!(id.text(), case["encoded"].as_str().unwrap());
        assert_eq!(uuid8(id).to_string(), case["uuid8"].as_str().unwrap());
        assert_eq!(Sno::from_uuid8_bytes(id.to_uuid8_bytes()), Ok(id));
    }
    for case in file["sno_invalid"].as_array().unwrap() {
        assert_rejected(case["uuid"].as_str().unwrap().parse().unwrap());
    }
}

proptest! {
    #[test]
    fn sno_uuids_preserve_all_bits_and_sort_order(one: [u8; 10], other: [u8; 10]) {
        let [one, other] = [one, other].map(Sno::from_bytes);
        let uuid = uuid8(one);
        prop_assert_eq!(Sno::from_uuid8_bytes(uuid.into_bytes()), Ok(one));
        prop_assert_eq!(uuid.get_version_num(), 8);
        prop_assert_eq!(uuid.get_variant(), Variant::RFC4122);
        prop_assert_eq!(uuid.cmp(&uuid8(other)), one.cmp(&other));
        prop_assert_eq!(uuid.to_string().cmp(&uuid8(other).to_string()), one.cmp(&other));
    }

    /// A UUID either belongs to exactly one ID or is rejected.
    #[test]
    fn sno_accepts_only_its_own_uuids(bits: u128, changed in 0..128) {
        let uuid = Uuid::from_u128(bits);
        match Sno::from_uuid8_bytes(uuid.into_bytes()) {
            Ok(id) => prop_assert_eq!(uuid8(id), uuid),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::NotCanonical),
        }
        let id = Sno::from_bytes(bits.to_be_bytes()[..10].try_into().unwrap());
        let near = Uuid::from_u128(uuid8(id).as_u128() ^ 1_u128 << changed);
        match Sno::from_uuid8_bytes(near.into_bytes()) {
            Ok(other) => prop_assert_eq!(uuid8(other), near),
            Err(_) => prop_assert!((76..80).contains(&changed) || changed < 42 || (62..64).contains(&changed)),
        }
    }
}

#[test]
fn hot_guid_uuids_match_the_vectors() {
    let file = vectors("uuid8.json");
    let cases = file["hotguid"].as_array().unwrap();
    assert!(cases.len() > 20);
    for case in cases {
        let number = |name: &str| case[name].as_u64().unwrap();
        let parts = Uuid8Parts {
            timestamp: number("timestamp").try_into().unwrap(),
            machine: case["machine"].as_str().unwrap().parse().unwrap(),
            counter: number("counter").try_into().unwrap(),
            shard_key: number("shard_key").try_into().unwrap(),
        };
        let id = HotGuid::from_uuid8_parts(parts).unwrap();
        assert_eq!(id.text(), case["uuid8"].as_str().unwrap());
        assert_eq!(id.uuid8_parts(), Ok(parts));
    }
}

#[test]
fn hot_guid_rejects_out_of_range_fields() {
    let parts = Uuid8Parts { timestamp: 0, machine: 0, counter: 0, shard_key: 0 };
    let assert_rejected = |parts| HotGuid::from_uuid8_parts(parts).unwrap_err();
    let machine = assert_rejected(Uuid8Parts { machine: 1 << 34, ..parts });
    assert_eq!((machine.code(), machine.field()), ("out_of_range", Some("machine")));
    assert_eq!(assert_rejected(Uuid8Parts { counter: 1 << 24, ..parts }).field(), Some("counter"));
    assert_eq!(
        assert_rejected(Uuid8Parts { timestamp: 1 << 32, ..parts }).code(),
        "time_out_of_range"
    );
}

/// Returns random sources of every kind, including one whose bytes have all bits set.
fn random_sources() -> [fn() -> polyflake::Result<[u8; 8]>; 4] {
    [
        || Ok([0; 8]),
        || Ok([0xff; 8]),
        || Ok([1, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 3]),
        || Ok([0x12, 0x34, 0x56, 0x78, 0x9a, 0xff, 0xff, 0xfe]),
    ]
}

#[test]
fn the_uuid8_option_makes_version_8_uuids() {
    let clock = ManualClock::at_unix_ms(1_763_650_000_000);
    for draw in random_sources() {
        let ids = Builder::with_clock(&clock, draw).uuid8(true).build().unwrap();
        let mut many = vec![HotGuid::default(); 100];
        ids.fill(0x0102_0304, &mut many).unwrap();
        many.push(ids.generate(0x0102_0304).unwrap());
        assert_eq!(many.iter().collect::<BTreeSet<_>>().len(), 101);
        let machine = many[0].uuid8_parts().unwrap().machine;
        for (id, next) in many.iter().zip(&many[1..]) {
            let (one, other) = (id.uuid8_parts().unwrap(), next.uuid8_parts().unwrap());
            assert_eq!((one.timestamp, one.shard_key), (1_763_650_000, 0x0102_0304));
            assert_eq!((one.machine, other.counter), (machine, (one.counter + 1) & 0xff_ffff));
            assert_eq!(Uuid::from(*id).get_version_num(), 8);
            assert_eq!(Uuid::from(*id).get_variant(), Variant::RFC4122);
            assert_eq!(&id.to_bytes()[12..], [1, 2, 3, 4]);
        }
    }
}

#[test]
fn a_compatible_generator_never_makes_version_8_uuids() {
    let clock = ManualClock::at_unix_ms(1_763_650_000_000);
    for draw in random_sources() {
        let ids = Builder::with_clock(&clock, draw).build().unwrap();
        let id = ids.generate(7).unwrap();
        assert_eq!(id.uuid8_parts().unwrap_err().kind(), ErrorKind::NotCanonical);
        assert_eq!((id.shard_key(), Some(id.machine())), (7, ids.stats().machine));
    }
}

proptest! {
    #[test]
    fn hot_guid_accepts_only_its_own_version_8_uuids(bits: u128) {
        let id = HotGuid::from_bytes(bits.to_be_bytes());
        match id.uuid8_parts() {
            Ok(parts) => prop_assert_eq!(HotGuid::from_uuid8_parts(parts), Ok(id)),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::NotCanonical),
        }
        let marked = bits & !(15 << 76 | 3 << 62) | 8 << 76 | 2 << 62;
        let id = HotGuid::from_bytes(marked.to_be_bytes());
        prop_assert_eq!(HotGuid::from_uuid8_parts(id.uuid8_parts().unwrap()), Ok(id));
    }

    #[test]
    fn hot_guid_uuids_sort_by_time(one: (u32, u64, u32, u32), other: (u32, u64, u32, u32)) {
        let [one, other] = [one, other].map(|(timestamp, machine, counter, shard_key)| {
            let (machine, counter) = (machine >> 30, counter >> 8);
            Uuid8Parts { timestamp: timestamp.into(), machine, counter, shard_key }
        });
        let [left, right] = [one, other].map(|parts| HotGuid::from_uuid8_parts(parts).unwrap());
        prop_assert_eq!(left.cmp(&right), one.cmp(&other));
        prop_assert_eq!(left.text().cmp(&right.text()), one.cmp(&other));
    }
}
