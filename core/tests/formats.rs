//! Serialized values are read back, in formats of every kind: text, bytes that describe themselves, and bytes that do not.

#![cfg(feature = "serde")]

use std::fmt::Debug;

use polyflake::{
    clock::ManualClock,
    hotguid,
    layout::{self, Description, Layout, preset},
    randflake::Randflake,
    sno::{self, Sno},
};
use serde::{Serialize, de::DeserializeOwned};

#[track_caller]
fn assert_comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
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
    let config = bincode::config::standard();
    let bytes = bincode::serde::encode_to_vec(value, config).unwrap();
    let (read, length) = bincode::serde::decode_from_slice::<T, _>(&bytes, config).unwrap();
    assert_eq!((&read, length), (value, bytes.len()), "bincode");
    let config = bincode::config::legacy();
    let bytes = bincode::serde::encode_to_vec(value, config).unwrap();
    let (read, _) = bincode::serde::decode_from_slice::<T, _>(&bytes, config).unwrap();
    assert_eq!(read, *value, "bincode, as of version 1");
}

const NOON: i64 = 1_763_650_000_000;

#[test]
fn ids() {
    assert_comes_back(&Sno::parse("a7rdmuv326nct5if").unwrap());
    assert_comes_back(&Randflake::from_i64(-7));
    assert_comes_back(&hotguid::generate(7).unwrap());
    assert_comes_back(&vec![Sno::default(); 3]);
}

#[test]
fn snapshots_of_sno() {
    let ids = sno::Generator::builder().clock(ManualClock::at_unix_ms(NOON)).partition(7);
    let ids = ids.sequence_min(300).build().unwrap();
    ids.generate(0).unwrap();
    assert_comes_back(&ids.close().unwrap());
    let mut widest = sno::Snapshot::new([255; 2], u16::MAX, u16::MAX);
    (widest.sequence, widest.drifts) = (u32::MAX, u32::MAX);
    (widest.now, widest.wall_hi, widest.wall_safe) = (u64::MAX >> 1, 1 << 53, 0);
    assert_comes_back(&widest);
}

#[test]
fn layouts_and_their_snapshots() {
    for name in ["twitter", "discord", "instagram", "sonyflake"] {
        assert_comes_back(&preset(name, []).unwrap());
    }
    assert_comes_back(&layout::Snapshot::new(u64::MAX, 1 << 64));
    assert_comes_back(&layout::Snapshot::new(7, 0));
}

/// Figures are written and never read, so JSON stands for all formats.
#[test]
fn descriptions() {
    let described: Description = preset("twitter", []).unwrap().describe();
    assert!(serde_json::to_string(&described).unwrap().contains("per_second"));
    assert!(!postcard::to_stdvec(&described).unwrap().is_empty());
}

#[test]
fn bytes_that_are_no_snapshot_are_refused() {
    assert!(postcard::from_bytes::<sno::Snapshot>(&[1, 2, 3]).is_err());
    assert!(postcard::from_bytes::<layout::Snapshot>(&[1, 2, 3]).is_err());
    assert!(postcard::from_bytes::<Layout>(&[200, 200, 200, 200, 200]).is_err());
    assert!(rmp_serde::from_slice::<sno::Snapshot>(&[0x93, 1, 2, 3]).is_err());
    assert!(postcard::from_bytes::<Sno>(&[3, 1, 2, 3]).is_err());
}

#[test]
fn brackets_without_end_are_refused() {
    // A list of one list of one list, in postcard's way: a tag and a length each.
    let brackets: Vec<u8> = [5, 1].repeat(1_000_000);
    assert!(postcard::from_bytes::<Layout>(&brackets).is_err());
    let objects: Vec<u8> = [6, 1, 0].repeat(1_000_000);
    assert!(postcard::from_bytes::<layout::Snapshot>(&objects).is_err());
}
