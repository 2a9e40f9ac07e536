//! Tests the UUID v7 format against IDs from other libraries: fields, bytes, integers and strings.

mod support;

use std::sync::LazyLock;

use polyflake::{
    Error, ErrorKind,
    uuid7::{LAST_MS, LAST_SEQUENCE, Parts, Uuid7, describe, generate_at, worker_id},
};
use proptest::prelude::*;
use serde::Deserialize;
use support::{LONG_INPUT, assert_code, typed_vectors};

#[derive(Deserialize)]
struct Case {
    text: String,
    unix_ms: i64,
    sequence: u32,
    random: String,
}

#[derive(Deserialize)]
struct RejectedCase {
    what: String,
    text: String,
}

#[derive(Deserialize)]
struct VectorFile {
    ids: Vec<Case>,
    others: Vec<RejectedCase>,
}

static VECTORS: LazyLock<VectorFile> = LazyLock::new(|| typed_vectors("uuid7.json"));

/// Parses a string as an ID. Asserts that its bytes, its integer and the `const` parser give the same result.
#[track_caller]
fn parse(text: &str) -> Result<Uuid7, Error> {
    let id = Uuid7::parse(text);
    assert_eq!(Uuid7::parse_const(text), id.clone().ok(), "{text:?}");
    if let Some(bytes) = text.as_bytes().try_into().ok().filter(|_| text.is_ascii()) {
        assert_eq!(Uuid7::parse_bytes(bytes), id, "{text:?}");
    }
    if let Some(uuid) = text.parse::<uuid::Uuid>().ok().filter(|_| text.len() == 36) {
        assert_eq!(Uuid7::from_bytes(uuid.into_bytes()), id);
        assert_eq!(Uuid7::from_slice(uuid.as_bytes()), id);
        assert_eq!(Uuid7::from_u128(uuid.as_u128()), id);
        assert_eq!(Uuid7::try_from(uuid), id);
    }
    id
}

#[test]
fn ids_match_the_vectors() {
    assert!(VECTORS.ids.len() > 40, "found {} cases", VECTORS.ids.len());
    for Case { text, unix_ms, sequence, random } in &VECTORS.ids {
        let random = u64::from_str_radix(random, 16).unwrap();
        let parts = Parts { unix_ms: *unix_ms, sequence: *sequence, random };
        let id = parse(text).unwrap();
        assert_eq!(id.parts(), parts, "{text}");
        assert_eq!((id.unix_ms(), id.sequence(), id.random()), (*unix_ms, *sequence, random));
        assert_eq!(u64::from(worker_id(id)), random >> 40);
        assert_eq!(Uuid7::from_parts(parts), Ok(id));
        assert_eq!((id.text().as_str(), id.to_string()), (text.as_str(), text.clone()));
        assert_eq!(parse(&text.to_uppercase()), Ok(id));
        let uuid = uuid::Uuid::from(id);
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
        assert_eq!((uuid.as_u128(), uuid.to_string()), (id.to_u128(), text.clone()));
        assert_eq!(uuid.into_bytes(), id.to_bytes());
        let (seconds, nanos) = uuid.get_timestamp().unwrap().to_unix();
        assert_eq!(seconds * 1000 + u64::from(nanos) / 1_000_000, unix_ms.cast_unsigned());
    }
}

#[test]
fn ids_sort_like_their_bytes_integers_and_strings() {
    let mut ids: Vec<_> = VECTORS.ids.iter().map(|case| parse(&case.text).unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.is_sorted_by_key(|id| id.to_bytes()));
    assert!(ids.is_sorted_by_key(|id| id.to_u128()));
    assert!(ids.is_sorted_by_key(ToString::to_string));
    assert!(ids.is_sorted_by_key(|id| id.parts()));
}

#[test]
fn uuids_of_another_version_or_variant_are_rejected() {
    assert!(VECTORS.others.len() > 20, "found {} cases", VECTORS.others.len());
    for RejectedCase { what, text } in &VECTORS.others {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotCanonical, "{what}: {text}");
        let expected = "expected a UUID of version 7 and RFC 9562's variant, found another";
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn strings_of_another_shape_are_rejected() {
    let text = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    for at in 0..text.len() {
        let mut wrong = text.to_owned();
        wrong.replace_range(at..=at, "g");
        assert_eq!(assert_code(parse(&wrong), "invalid_character").position(), Some(at));
    }
    for wrong in ["", &text[1..], "017f22e279b07cc398c4dc0c0c07398f", &"0".repeat(LONG_INPUT)] {
        assert_code(parse(wrong), "invalid_length");
    }
    for wrong in [format!("{{{text}}}"), format!("urn:uuid:{text}"), format!(" {text}")] {
        assert_code(parse(&wrong), "invalid_length");
    }
}

#[test]
fn fields_outside_their_range_are_rejected() {
    let parts = Parts { unix_ms: LAST_MS, sequence: LAST_SEQUENCE, random: (1 << 56) - 1 };
    assert_eq!(Uuid7::from_parts(parts), Ok(Uuid7::MAX));
    assert_eq!(
        Uuid7::from_parts(Parts { unix_ms: 0, sequence: 0, random: 0 }),
        Ok(Uuid7::default())
    );
    assert_eq!(Uuid7::default(), Uuid7::MIN);
    for unix_ms in [-1, LAST_MS + 1, i64::MIN, i64::MAX] {
        assert_code(Uuid7::from_parts(Parts { unix_ms, ..parts }), "time_out_of_range");
    }
    let sequence = Uuid7::from_parts(Parts { sequence: LAST_SEQUENCE + 1, ..parts });
    assert_eq!(assert_code(sequence, "out_of_range").field(), Some("sequence"));
    let random = Uuid7::from_parts(Parts { random: 1 << 56, ..parts });
    assert_eq!(assert_code(random, "out_of_range").field(), Some("random"));
}

#[test]
fn time_ranges_contain_exactly_the_ids_of_their_milliseconds() {
    const TIMESTAMP_MS: i64 = 1_767_225_600_000;
    let (lowest, highest) = Uuid7::time_range(TIMESTAMP_MS, TIMESTAMP_MS + 2).unwrap();
    let at =
        |unix_ms, sequence, random| Uuid7::from_parts(Parts { unix_ms, sequence, random }).unwrap();
    assert_eq!(lowest, at(TIMESTAMP_MS, 0, 0));
    assert_eq!(highest, at(TIMESTAMP_MS + 1, LAST_SEQUENCE, (1 << 56) - 1));
    let all = Uuid7::time_range(0, LAST_MS + 1).unwrap();
    assert_eq!(all, (Uuid7::MIN, Uuid7::MAX));
    assert_code(Uuid7::time_range(TIMESTAMP_MS, TIMESTAMP_MS), "out_of_range");
    assert_code(Uuid7::time_range(-1, TIMESTAMP_MS), "time_out_of_range");
    assert_code(Uuid7::time_range(TIMESTAMP_MS, LAST_MS + 2), "time_out_of_range");
}

/// The rows of a table get IDs with the times that they already have, of which 100,000 are equal. Every bit after the time
/// is random.
#[test]
fn ids_for_a_million_given_times_have_these_times_and_differ() {
    let time = |row: i64| LAST_MS - (row - 100_000).max(0);
    let mut ids: Vec<_> = (0..1_000_000).map(|row| generate_at(time(row)).unwrap()).collect();
    let wrong = (0..).zip(&ids).filter(|(row, id)| id.unix_ms() != time(*row)).count();
    let of_one_time = ids[..100_000].iter().map(|id| id.to_u128());
    let (any, all) = of_one_time.fold((0, u128::MAX), |(any, all), id| (any | id, all & id));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((wrong, ids.len(), (any ^ all).count_ones()), (0, 1_000_000, 74));
    for time in [-1, LAST_MS + 1, i64::MIN, i64::MAX] {
        assert_eq!(assert_code(generate_at(time), "time_out_of_range").field(), Some("time"));
    }
}

#[test]
fn the_description_covers_all_bits() {
    let figures = describe();
    let bits: u32 = figures.fields().iter().map(|field| field.bits).sum();
    assert_eq!((bits, figures.bits), (128, 128));
    let names: Vec<_> = figures.fields().iter().map(|field| (field.name(), field.offset)).collect();
    let expected = [
        ("timestamp", 0),
        ("version", 48),
        ("sequence_high", 52),
        ("variant", 64),
        ("sequence_low", 66),
        ("random", 72),
    ];
    assert_eq!(names, expected);
    assert_eq!((figures.first_ms, figures.last_ms), (Some(0), Some(LAST_MS)));
}

#[test]
fn ids_serialize_as_strings_and_parts_as_their_fields() {
    let text = "\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\"";
    let id: Uuid7 = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&id).unwrap(), text);
    assert!(serde_json::from_str::<Uuid7>(&text.replace("-7", "-4")).is_err());
    let parts = serde_json::to_string(&id.parts()).unwrap();
    assert_eq!(serde_json::from_str::<Parts>(&parts).unwrap(), id.parts());
}

proptest! {
    /// The `uuid` crate reads and writes the same strings.
    #[test]
    fn parsing_agrees_with_the_uuid_crate(word: u128) {
        let uuid = uuid::Uuid::from_u128(word);
        let is_ours =
            (uuid.get_version_num(), uuid.get_variant()) == (7, uuid::Variant::RFC4122);
        prop_assert_eq!(parse(&uuid.to_string()).is_ok(), is_ours);
        let ours = uuid::Builder::from_u128(word)
            .with_version(uuid::Version::SortRand)
            .with_variant(uuid::Variant::RFC4122)
            .into_uuid();
        let id = parse(&ours.to_string()).unwrap();
        prop_assert_eq!(id.to_u128(), ours.as_u128());
        prop_assert_eq!(Uuid7::from_parts(id.parts()).unwrap(), id);
    }
}
