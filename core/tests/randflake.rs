//! Tests Randflake's fields, cipher and strings against the outputs of the original implementation.

mod support;

use std::ops::RangeInclusive;

use polyflake::randflake::{
    Codec, EPOCH, Grant, LAST_NODE, LAST_SECOND, LAST_SEQUENCE, Parts, Randflake,
};
use polyflake::{Error, ErrorKind};
use proptest::prelude::*;
use serde::Deserialize;
use support::{LONG_INPUT, miri_step, typed_vectors, unhex};

#[derive(Deserialize)]
struct Case {
    secret: String,
    node_id: u32,
    timestamp: i64,
    sequence: u32,
    encrypted_id: String,
    encoded: String,
    raw_bit63: bool,
}

#[derive(Deserialize)]
struct VectorFile {
    epoch: i64,
    max_timestamp: i64,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct RejectedCase {
    input: String,
    ours: Rejection,
}

#[derive(Deserialize)]
struct Rejection {
    error: String,
    position: Option<usize>,
}

#[derive(Deserialize)]
struct AcceptedCase {
    input: String,
    value: String,
}

#[derive(Deserialize)]
struct TextVectors {
    accepted_boundaries: Vec<AcceptedCase>,
    cases: Vec<RejectedCase>,
}

#[test]
fn ids_match_the_vectors() {
    let file: VectorFile = typed_vectors("randflake.json");
    assert_eq!((file.epoch, file.max_timestamp), (EPOCH, LAST_SECOND));
    assert!(file.cases.len() > 250 && file.cases.iter().any(|case| case.raw_bit63));
    for case in file.cases {
        let codec = Codec::new(unhex(&case.secret));
        let parts =
            Parts { timestamp: case.timestamp, node: case.node_id, sequence: case.sequence };
        let id = Randflake::from_i64(case.encrypted_id.parse().unwrap());
        assert_eq!(codec.encrypt(parts), Ok(id), "{parts:?}");
        assert_eq!(codec.inspect(id), parts, "{id}");
        assert_eq!(id.text(), case.encoded.as_str());
        assert_eq!(parse(&case.encoded), Ok(id));
    }
}

#[test]
fn strings_are_accepted_or_rejected_like_the_vectors() {
    let texts: TextVectors = typed_vectors("randflake_invalid.json");
    assert!(!texts.accepted_boundaries.is_empty() && texts.cases.len() > 20);
    for AcceptedCase { input, value } in texts.accepted_boundaries {
        assert_eq!(parse(&input).map(Randflake::to_i64), Ok(value.parse().unwrap()), "{input}");
    }
    for RejectedCase { input, ours } in texts.cases {
        let error = parse(&input).unwrap_err();
        assert_eq!(
            (error.code(), error.position()),
            (ours.error.as_str(), ours.position),
            "{input:?}"
        );
    }
}

fn parse(text: &str) -> Result<Randflake, Error> {
    Randflake::parse(text)
}

fn is_digit(char: char) -> bool {
    matches!(char, '0'..='9' | 'a'..='v')
}

/// Tries each invalid character up to U+02FF, and some other characters of two to four bytes, at every position in strings
/// of 1 to 13 characters.
#[test]
fn each_invalid_character_is_reported_at_its_position() {
    let chars = ('\0'..='\u{2ff}').chain("１٣аKａ\u{feff}\u{fffd}😀𝟎".chars());
    for bad in chars.filter(|char| !is_digit(*char)).step_by(miri_step(97)) {
        for length in 1..=13 {
            for position in 0..length {
                let mut text = vec!['7'; length];
                text[position] = bad;
                let text: String = text.into_iter().collect();
                assert_eq!(
                    parse(&text),
                    Err(Error::invalid_character_unit(position, bad.into())),
                    "{text:?}"
                );
            }
        }
    }
}

#[test]
fn the_first_of_two_invalid_characters_is_reported() {
    assert_eq!(parse("0w7é"), Err(Error::invalid_character_unit(1, 'w'.into())));
}

#[test]
fn lengths_are_counted_in_characters_and_checked_first() {
    assert_eq!(parse("wwwwwwwwwwwwww"), Err(Error::invalid_length(14, 1, 13)));
    assert_eq!(parse("éééééééééééééé"), Err(Error::invalid_length(14, 1, 13)));
    assert_eq!(parse("ééééééééééééé"), Err(Error::invalid_character_unit(0, 'é'.into())));
    assert_eq!(parse(&"0".repeat(LONG_INPUT)), Err(Error::invalid_length(LONG_INPUT, 1, 13)));
    assert_eq!(Randflake::parse("0123456789abc\u{1f600}"), Err(Error::invalid_length(14, 1, 13)));
}

#[test]
fn thirteen_digit_strings_above_64_bits_are_out_of_range() {
    for first in "ghijklmnopqrstuv".chars() {
        let error = parse(&format!("{first}000000000000")).unwrap_err();
        let number = i128::from(first.to_digit(32).unwrap()) << 60;
        assert_eq!(error, Error::out_of_range("id", number, 0, u64::MAX.into()));
    }
}

#[test]
fn out_of_range_fields_are_rejected() {
    let codec = Codec::new([7; 16]);
    let fits = Parts { timestamp: LAST_SECOND, node: LAST_NODE, sequence: LAST_SEQUENCE };
    assert_eq!(codec.encrypt(fits).map(|id| codec.inspect(id)), Ok(fits));
    for timestamp in [i64::MIN, -1, 0, EPOCH - 1, LAST_SECOND + 1, i64::MAX] {
        let error = codec.encrypt(Parts { timestamp, ..fits }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimeOutOfRange, "{timestamp}");
    }
    for value in [131_072, 1 << 17 | 1, 1 << 30, u32::MAX] {
        let limits = (i128::from(value), 0, 131_071);
        let node = codec.encrypt(Parts { node: value, ..fits }).unwrap_err();
        assert_eq!(
            (node.code(), node.field(), node.range()),
            ("out_of_range", Some("node"), Some(limits))
        );
        let sequence = codec.encrypt(Parts { sequence: value, ..fits }).unwrap_err();
        assert_eq!(
            (sequence.code(), sequence.field(), sequence.range()),
            ("out_of_range", Some("sequence"), Some(limits))
        );
    }
}

#[test]
fn a_secret_has_16_bytes_and_is_never_printed() {
    for length in [0, 15, 17, 32] {
        let error = Codec::from_slice(&vec![1; length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidSecret);
    }
    assert_eq!(
        format!("{:?}", Codec::new(*b"sixteen byte key")),
        "Codec { cipher: Sparx64 { .. } }"
    );
}

#[test]
fn ids_sort_as_signed_integers() {
    let mut ids =
        ["8000000000000", "7vvvvvvvvvvvv", "0", "fvvvvvvvvvvvv"].map(|text| parse(text).unwrap());
    ids.sort();
    assert_eq!(ids.map(Randflake::to_i64), [i64::MIN, -1, 0, i64::MAX]);
}

#[cfg(feature = "serde")]
#[test]
fn json_contains_only_the_string_form() {
    let id = parse("3vgoe12ccb8gh").unwrap();
    assert_eq!(serde_json::to_string(&id).unwrap(), r#""3vgoe12ccb8gh""#);
    assert_eq!(serde_json::from_str::<Randflake>(r#""3vgoe12ccb8gh""#).unwrap(), id);
    for json in ["1", "-1", "null", "true", "[]", r#""""#, r#""01""#, r#""3VGOE12CCB8GH""#] {
        assert!(serde_json::from_str::<Randflake>(json).is_err(), "{json}");
    }
}

#[test]
fn invalid_grants_are_rejected() {
    let invalid_field = |lease: Result<Grant, Error>| {
        let error = lease.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
        error.field().unwrap().to_owned()
    };
    let last = LAST_SECOND;
    assert_eq!(invalid_field(Grant::new(131_072, EPOCH, EPOCH + 1)), "node");
    assert_eq!(
        invalid_field(Grant::with_nodes(RangeInclusive::new(5, 4), EPOCH, EPOCH + 1)),
        "nodes"
    );
    assert_eq!(invalid_field(Grant::with_nodes(5..=131_072, EPOCH, EPOCH + 1)), "nodes");
    assert_eq!(invalid_field(Grant::new(0, EPOCH - 1, EPOCH + 1)), "start");
    assert_eq!(invalid_field(Grant::new(0, last + 1, last + 2)), "start");
    assert_eq!(invalid_field(Grant::new(0, i64::MIN, i64::MAX)), "start");
    assert_eq!(invalid_field(Grant::new(0, i64::MAX, i64::MAX)), "start");
    assert_eq!(invalid_field(Grant::new(0, EPOCH, EPOCH)), "end");
    assert_eq!(invalid_field(Grant::new(0, EPOCH + 1, EPOCH)), "end");
    assert_eq!(invalid_field(Grant::new(0, EPOCH, last + 2)), "end");
    let widest = Grant::with_nodes(0..=LAST_NODE, EPOCH, last + 1).unwrap();
    assert_eq!((widest.nodes(), widest.start(), widest.end()), (0..=131_071, EPOCH, last + 1));
}

#[test]
fn a_grant_is_extended_only_by_the_same_nodes_and_start() {
    let lease = |nodes, start, end| Grant::with_nodes(nodes, EPOCH + start, EPOCH + end).unwrap();
    let mut first = lease(3..=4, 10, 20);
    for (end, expected) in [(15, 20), (20, 20), (30, 30), (25, 30)] {
        first.extend(lease(3..=4, 10, end)).unwrap();
        assert_eq!(first, lease(3..=4, 10, expected), "by {end}");
    }
    for other in [
        lease(3..=3, 10, 30),
        lease(4..=4, 10, 30),
        lease(3..=5, 10, 30),
        lease(3..=4, 11, 30),
        lease(3..=4, 9, 15),
    ] {
        let shown = format!("{other:?}");
        assert_eq!(first.extend(other).unwrap_err().kind(), ErrorKind::LeaseMismatch, "{shown}");
        assert_eq!(first, lease(3..=4, 10, 30), "{shown}");
    }
}

proptest! {
    #[test]
    fn inspect_reverses_encrypt(secret: [u8; 16], timestamp in EPOCH..=LAST_SECOND, node in 0..=LAST_NODE, sequence in 0..=LAST_SEQUENCE) {
        let (codec, parts) = (Codec::new(secret), Parts { timestamp, node, sequence });
        prop_assert_eq!(codec.inspect(codec.encrypt(parts).unwrap()), parts);
    }

    #[test]
    fn encrypt_reverses_inspect(secret: [u8; 16], id: i64) {
        let (codec, id) = (Codec::new(secret), Randflake::from_i64(id));
        prop_assert_eq!(codec.encrypt(codec.inspect(id)), Ok(id));
    }

    #[test]
    fn parsing_reverses_formatting(number: u64, shift in 0..64_u32) {
        let id = Randflake::from_u64(number >> shift);
        prop_assert_eq!(parse(&id.text()), Ok(id));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        prop_assert_eq!(Randflake::from_i64(id.to_i64()), id);
    }

    /// Formatting a parsed string returns the same string, so each ID has one canonical encoding.
    #[test]
    fn only_canonical_strings_are_parsed(text in "[0-9a-w]{0,14}") {
        let most = if text.len() == 13 { 'f' } else { 'v' };
        let canonical = text == "0" || matches!(text.chars().next(), Some(first) if first != '0' && first <= most);
        let valid = canonical && text.len() <= 13 && text.chars().all(is_digit);
        prop_assert_eq!(parse(&text).map(|id| id.to_string()).ok(), valid.then_some(text));
    }

    #[test]
    fn no_string_makes_the_parser_panic(text: String) {
        let _ = parse(&text);
    }
}

#[test]
fn inspect_columns_equals_inspecting_each_id() {
    let codec = Codec::new(std::array::from_fn(|at| u8::try_from(at * 7).expect("a byte")));
    for count in [0, 1, 63, 64, 65, 200] {
        let ids: Vec<Randflake> = (0..count)
            .map(|at: u64| Randflake::from_u64(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        let (mut timestamps, mut nodes, mut sequences) =
            (vec![0; ids.len()], vec![0; ids.len()], vec![0; ids.len()]);
        codec
            .inspect_columns(&ids, &mut timestamps, &mut nodes, &mut sequences)
            .expect("columns of one length");
        for (at, id) in ids.iter().enumerate() {
            let (timestamp, node, sequence) = (timestamps[at], nodes[at], sequences[at]);
            assert_eq!(Parts { timestamp, node, sequence }, codec.inspect(*id), "{at} of {count}");
        }
        let mut longer = vec![0; ids.len() + 1];
        let results = [
            codec.inspect_columns(&ids, &mut vec![0; ids.len() + 1], &mut nodes, &mut sequences),
            codec.inspect_columns(&ids, &mut timestamps, &mut longer.clone(), &mut sequences),
            codec.inspect_columns(&ids, &mut timestamps, &mut nodes, &mut longer),
        ];
        for result in results {
            assert_eq!(result.expect_err("expected an error").kind(), ErrorKind::InvalidLength);
        }
    }
}
