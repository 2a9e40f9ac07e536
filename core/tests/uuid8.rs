//! UUIDs of version 8: the vectors, every bit, and the order.
#![cfg(feature = "uuid")]

mod support;

use polyflake::{ErrorKind, sno::Sno};
use proptest::prelude::*;
use support::{unhex, vectors};
use uuid::{Uuid, Variant};

#[track_caller]
fn refused(uuid: Uuid) {
    assert_eq!(Sno::from_uuid8(uuid).unwrap_err().kind(), ErrorKind::NotCanonical, "{uuid}");
}

#[test]
fn sno_has_the_uuids_of_the_vectors() {
    let file = vectors("uuid8.json");
    let cases = file["sno"].as_array().unwrap();
    assert!(cases.len() > 200);
    for case in cases {
        let id = Sno::from_bytes(unhex(case["hex"].as_str().unwrap()));
        assert_eq!(id.text(), case["encoded"].as_str().unwrap());
        assert_eq!(id.to_uuid8().to_string(), case["uuid8"].as_str().unwrap());
        assert_eq!(Sno::from_uuid8(id.to_uuid8()), Ok(id));
    }
    for case in file["sno_invalid"].as_array().unwrap() {
        refused(case["uuid"].as_str().unwrap().parse().unwrap());
    }
}

proptest! {
    #[test]
    fn sno_keeps_all_bits_and_their_order(one: [u8; 10], other: [u8; 10]) {
        let [one, other] = [one, other].map(Sno::from_bytes);
        let uuid = one.to_uuid8();
        prop_assert_eq!(Sno::from_uuid8(uuid), Ok(one));
        prop_assert_eq!(uuid.get_version_num(), 8);
        prop_assert_eq!(uuid.get_variant(), Variant::RFC4122);
        prop_assert_eq!(uuid.cmp(&other.to_uuid8()), one.cmp(&other));
        prop_assert_eq!(uuid.to_string().cmp(&other.to_uuid8().to_string()), one.cmp(&other));
    }

    /// A UUID is an ID, and then of that ID alone, or it is refused.
    #[test]
    fn sno_reads_what_it_writes_and_nothing_else(bits: u128, changed in 0..128) {
        let uuid = Uuid::from_u128(bits);
        match Sno::from_uuid8(uuid) {
            Ok(id) => prop_assert_eq!(id.to_uuid8(), uuid),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::NotCanonical),
        }
        let id = Sno::from_bytes(bits.to_be_bytes()[..10].try_into().unwrap());
        let near = Uuid::from_u128(id.to_uuid8().as_u128() ^ 1_u128 << changed);
        match Sno::from_uuid8(near) {
            Ok(other) => prop_assert_eq!(other.to_uuid8(), near),
            Err(_) => prop_assert!((76..80).contains(&changed) || changed < 42 || (62..64).contains(&changed)),
        }
    }
}
