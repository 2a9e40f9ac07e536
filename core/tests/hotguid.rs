//! Tests Hot Guid's format against the outputs of the original implementation: fields, byte orders and strings.

mod support;

use std::sync::LazyLock;

use polyflake::hotguid::{HotGuid, LAST_COUNTER, LAST_SECOND, Parts};
use polyflake::{Error, ErrorKind};
use proptest::prelude::*;
use serde::Deserialize;
use support::{LONG_INPUT, hex, miri_step, typed_vectors, unhex};

#[derive(Deserialize)]
struct Case {
    timestamp: i64,
    machine_pid: String,
    counter: u32,
    shard_key: u32,
    bytes_hex: String,
    text: String,
    sql_text: String,
    sql_bytes_hex: String,
    text_order_bytes_hex: String,
}

#[derive(Deserialize)]
struct Conversion {
    guid: String,
    sql: String,
}

#[derive(Deserialize)]
struct VectorFile {
    to_guid_map: [usize; 16],
    to_sql_map: [usize; 16],
    conversions: Vec<Conversion>,
    project_sorted_guids: Vec<String>,
    project_sorted_sqlguids: Vec<String>,
    cases: Vec<Case>,
}

static VECTORS: LazyLock<VectorFile> = LazyLock::new(|| typed_vectors("hotguid.json"));

/// Parses a string as an ID. Asserts that its bytes and its SQL Server form give the same result or the same error.
#[track_caller]
fn parse(text: &str) -> Result<HotGuid, Error> {
    let id = HotGuid::parse(text);
    assert_eq!(HotGuid::parse_sql(text).err(), id.clone().err(), "{text:?}");
    if let Some(bytes) = text.as_bytes().try_into().ok().filter(|_| text.is_ascii()) {
        assert_eq!(HotGuid::parse_bytes(bytes), id, "{text:?}");
    }
    id
}

#[test]
fn ids_match_the_vectors() {
    let VectorFile { cases, .. } = &*VECTORS;
    assert!(cases.len() > 100, "found {} cases", cases.len());
    for case in cases {
        let Case { timestamp, counter, shard_key, .. } = *case;
        let machine = unhex(&case.machine_pid);
        let parts = Parts { timestamp, machine, counter, shard_key };
        let id = HotGuid::from_parts(parts).unwrap();
        assert_eq!(id.parts(), parts);
        assert_eq!(
            (id.timestamp(), id.machine(), id.counter(), id.shard_key()),
            (timestamp, machine, counter, shard_key)
        );
        assert_eq!(id.text(), case.text.as_str());
        assert_eq!(id.sql_text(), case.sql_text.as_str());
        assert_eq!(hex(&id.to_dotnet_bytes()), case.bytes_hex);
        assert_eq!(hex(&id.to_sql()), case.sql_bytes_hex);
        assert_eq!(hex(&id.to_bytes()), case.text_order_bytes_hex);
        assert_eq!(parse(&case.text), Ok(id));
        assert_eq!(HotGuid::parse_sql(&case.sql_text), Ok(id));
        assert_eq!(HotGuid::from_dotnet_bytes(unhex(&case.bytes_hex)), id);
        assert_eq!(HotGuid::from_sql(unhex(&case.sql_bytes_hex)), id);
        assert_eq!(HotGuid::from_bytes(unhex(&case.text_order_bytes_hex)), id);
    }
}

#[test]
fn conversions_match_the_vectors() {
    let VectorFile { conversions, .. } = &*VECTORS;
    assert!(!conversions.is_empty());
    for Conversion { guid, sql } in conversions {
        assert_eq!(parse(guid).unwrap().sql_text(), sql.as_str());
        assert_eq!(HotGuid::parse_sql(sql).unwrap().text(), guid.as_str());
    }
}

#[test]
fn byte_maps_match_the_vectors() {
    let file = &*VECTORS;
    let bytes: [u8; 16] = core::array::from_fn(|i| u8::try_from(i).unwrap());
    let mapped = |map: [usize; 16]| map.map(|from| bytes[from]);
    assert_eq!(HotGuid::from_dotnet_bytes(bytes).to_sql(), mapped(file.to_sql_map));
    assert_eq!(HotGuid::from_sql(bytes).to_dotnet_bytes(), mapped(file.to_guid_map));
}

/// Returns a key that sorts the bytes of `Guid.ToByteArray()` as SQL Server does.
fn sql_server_key(bytes: [u8; 16]) -> [u8; 16] {
    [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3].map(|at| bytes[at])
}

#[test]
fn both_forms_sort_like_the_vectors() {
    let file = &*VECTORS;
    let sorted: Vec<_> =
        file.project_sorted_guids.iter().map(|text| parse(text).unwrap()).collect();
    assert!(sorted.len() > 10 && sorted.is_sorted());
    // The converted GUIDs are listed in the order of their original IDs.
    let converted: Vec<_> =
        file.project_sorted_sqlguids.iter().map(|text| HotGuid::parse_sql(text).unwrap()).collect();
    assert_eq!(converted, sorted);
    assert!(converted.iter().is_sorted_by_key(|id| sql_server_key(id.to_sql())));
}

#[test]
fn out_of_range_fields_are_rejected() {
    let fits = Parts {
        timestamp: LAST_SECOND,
        machine: [0xff; 5],
        counter: LAST_COUNTER,
        shard_key: u32::MAX,
    };
    assert_eq!(HotGuid::from_parts(fits).map(HotGuid::to_bytes), Ok([0xff; 16]));
    for timestamp in [i64::MIN, -1, 1 << 32, i64::MAX] {
        let error = HotGuid::from_parts(Parts { timestamp, ..fits }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimeOutOfRange, "{timestamp}");
    }
    for counter in [1 << 24, u32::MAX] {
        let error = HotGuid::from_parts(Parts { counter, ..fits }).unwrap_err();
        assert_eq!(error, Error::out_of_range("counter", counter.into(), 0, 0xff_ffff));
    }
}

#[test]
fn from_slice_requires_16_bytes() {
    for length in [0, 1, 15, 17, 1 << 20] {
        assert_eq!(
            HotGuid::from_slice(&vec![0; length]),
            Err(Error::invalid_length(length, 16, 16))
        );
    }
    let bytes = *b"0123456789abcdef";
    assert_eq!(HotGuid::from_slice(&bytes), Ok(HotGuid::from_bytes(bytes)));
}

const TEXT: &str = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f";

#[test]
fn uppercase_is_accepted_and_lowercase_is_written() {
    let id = parse(&TEXT.to_uppercase()).unwrap();
    assert_eq!(id, parse(TEXT).unwrap());
    assert_eq!(id.to_string(), TEXT);
    assert_eq!(format!("{id:?}"), format!("HotGuid({TEXT:?})"));
}

/// Tries every one-byte and two-byte character, and some three-byte and four-byte characters, at every position.
#[test]
fn each_character_is_validated_at_its_position() {
    let chars: Vec<char> =
        ('\0'..='\u{2ff}').chain("１٣аKａ\u{2010}\u{feff}\u{fffd}😀𝟎".chars()).collect();
    for (position, there) in TEXT.char_indices() {
        for &char in chars.iter().step_by(miri_step(211)) {
            let text: String = TEXT
                .char_indices()
                .map(|(at, old)| if at == position { char } else { old })
                .collect();
            let good = if there == '-' { char == '-' } else { char.is_ascii_hexdigit() };
            match parse(&text) {
                Ok(id) => assert!(good && id.text() == text.to_lowercase().as_str(), "{text:?}"),
                Err(error) => assert!(
                    !good && error == Error::invalid_character_unit(position, char.into()),
                    "{text:?}: {error}"
                ),
            }
        }
    }
}

#[test]
fn noncanonical_guid_strings_are_rejected() {
    let simple = TEXT.replace('-', "");
    for (text, error) in [
        ("", Error::invalid_length(0, 36, 36)),
        (&*simple, Error::invalid_length(32, 36, 36)),
        (&*format!("{{{TEXT}}}"), Error::invalid_length(38, 36, 36)),
        (&*format!("urn:uuid:{TEXT}"), Error::invalid_length(45, 36, 36)),
        (&*format!("{TEXT}\n"), Error::invalid_length(37, 36, 36)),
        (&*format!("é{}", &TEXT[2..]), Error::invalid_length(35, 36, 36)),
        (&*"é".repeat(36), Error::invalid_character_unit(0, 'é'.into())),
        (&*"0".repeat(36), Error::invalid_character_unit(8, '0'.into())),
        (&*"-".repeat(LONG_INPUT), Error::invalid_length(LONG_INPUT, 36, 36)),
    ] {
        assert_eq!(parse(text), Err(error), "{text:?}");
    }
}

#[cfg(feature = "uuid")]
#[test]
fn a_uuid_has_the_same_string() {
    let id = parse(TEXT).unwrap();
    assert_eq!(uuid::Uuid::from(id).to_string(), TEXT);
    assert_eq!(HotGuid::from(uuid::Uuid::from(id)), id);
}

#[cfg(feature = "serde")]
#[test]
fn json_contains_only_the_string_form() {
    let (id, json) = (parse(TEXT).unwrap(), format!("\"{TEXT}\""));
    assert_eq!(serde_json::to_string(&id).unwrap(), json);
    assert_eq!(serde_json::from_str::<HotGuid>(&json).unwrap(), id);
    for json in ["1", "null", "{}", r#""""#, "[105,31]", &json.replace('-', "")] {
        assert!(serde_json::from_str::<HotGuid>(json).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn all_forms_round_trip(bytes: [u8; 16]) {
        let id = HotGuid::from_dotnet_bytes(bytes);
        prop_assert_eq!(id.to_dotnet_bytes(), bytes);
        prop_assert_eq!(HotGuid::from_parts(id.parts()), Ok(id));
        prop_assert_eq!(HotGuid::from_bytes(id.to_bytes()), id);
        prop_assert_eq!(HotGuid::from_sql(id.to_sql()), id);
        prop_assert_eq!(HotGuid::parse_sql(&id.sql_text()), Ok(id));
        prop_assert_eq!(parse(&id.text()), Ok(id));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn all_forms_sort_identically(a: [u8; 16], b: [u8; 16], shared in 0..16_usize) {
        let (a, mut b) = (HotGuid::from_bytes(a), b);
        b[..shared].copy_from_slice(&a.to_bytes()[..shared]);
        let b = HotGuid::from_bytes(b);
        let order = a.cmp(&b);
        prop_assert_eq!(a.text().cmp(&b.text()), order);
        prop_assert_eq!(a.to_bytes().cmp(&b.to_bytes()), order);
        prop_assert_eq!(sql_server_key(a.to_sql()).cmp(&sql_server_key(b.to_sql())), order);
        prop_assert!(a.timestamp() == b.timestamp() || a.timestamp().cmp(&b.timestamp()) == order);
    }

    #[test]
    fn a_time_range_contains_exactly_the_ids_made_in_it(from in 0..4_294_967_296_000_i64, lasting in 1000..100_000_i64, bytes: [u8; 16], beside in -3..200_i64) {
        let to = (from + lasting).min(4_294_967_296_000);
        prop_assume!(to - from >= 1000);
        let (lowest, highest) = HotGuid::time_range(from, to).unwrap();
        let timestamp = (from / 1000 + beside).clamp(0, LAST_SECOND);
        let id = HotGuid::from_parts(Parts { timestamp, ..HotGuid::from_dotnet_bytes(bytes).parts() }).unwrap();
        prop_assert_eq!((lowest..=highest).contains(&id), (from..to).contains(&(timestamp * 1000)));
    }

    #[test]
    fn no_string_makes_the_parser_panic(text: String, guid in "[-0-9a-fA-Fg]{35,37}") {
        let _ = (parse(&text), parse(&guid));
    }
}
