//! Tests sno's string form. Each ID has one encoding, errors name the first invalid character, and strings, bytes and times
//! sort in the same order.

mod support;

use polyflake::sno::{self, Parts, Sno};
use proptest::prelude::*;
use support::{LONG_INPUT, miri_step};

const ALPHABET: &str = "23456789abcdefghijklmnopqrstuvwx";
const VALID_TEXT: &str = "93bm44ab22flxhjb";

fn any_id() -> impl Strategy<Value = Sno> {
    any::<[u8; 10]>().prop_map(Sno::from_bytes)
}

proptest! {
    #[test]
    fn strings_and_bytes_round_trip(id in any_id()) {
        let text = id.to_string();
        prop_assert!(text.len() == 16 && text.chars().all(|c| ALPHABET.contains(c)));
        prop_assert_eq!(text.parse::<Sno>(), Ok(id));
        prop_assert_eq!(Sno::from_slice(id.as_bytes()), Ok(id));
        prop_assert_eq!(Sno::from_parts(id.parts()), Ok(id));
        prop_assert_eq!(sno::metabyte(&text), Ok(id.metabyte()));
    }

    #[test]
    fn bytes_strings_and_fields_sort_identically(a in any_id(), b in any_id()) {
        let key = |id: &Sno| { let p = id.parts(); (p.tick, p.tick_tock, p.metabyte, p.partition, p.sequence) };
        prop_assert_eq!(a.cmp(&b), key(&a).cmp(&key(&b)));
        prop_assert_eq!(a.cmp(&b), a.text().cmp(&b.text()));
        prop_assert_eq!(a.cmp(&b), a.as_bytes().cmp(b.as_bytes()));
    }

    #[test]
    fn changing_a_field_leaves_the_others_unchanged(id in any_id(), metabyte: u8, partition: u16, sequence: u16) {
        let parts = id.parts();
        prop_assert_eq!(id.with_metabyte(metabyte).parts(), Parts { metabyte, ..parts });
        prop_assert_eq!(id.with_partition(partition).parts(), Parts { partition, ..parts });
        prop_assert_eq!(id.with_sequence(sequence).parts(), Parts { sequence, ..parts });
    }

    #[test]
    fn every_string_is_canonical_or_rejected(text in "\\PC{0,20}") {
        match Sno::parse(&text) {
            Ok(id) => prop_assert_eq!(id.to_string(), text),
            Err(error) => assert_reason(&text, error.code(), error.position()),
        }
    }

    #[test]
    fn a_time_range_contains_exactly_the_ids_of_its_ticks(id in any_id(), from in 1_262_304_000_000_i64..3_461_327_255_552, span in 4_i64..1 << 36) {
        if let Ok((lowest, highest)) = Sno::time_range(from, from + span) {
            let inside = from <= id.unix_ms() && id.unix_ms() < from + span;
            prop_assert_eq!((lowest..=highest).contains(&id), inside);
        }
    }
}

/// Asserts that parsing a string fails with the same code and position as a simple reference implementation.
#[track_caller]
fn assert_reason(text: &str, code: &str, position: Option<usize>) {
    if text.chars().count() == 16 {
        let first_bad = text.chars().position(|c| !ALPHABET.contains(c));
        assert!(first_bad.is_some());
        assert_eq!((code, position), ("invalid_character", first_bad));
    } else {
        assert_eq!((code, position), ("invalid_length", None));
    }
}

/// Tries every character up to U+FFFF. Under Miri, tries every fifth ASCII character and a few others.
#[test]
fn every_character_is_validated_at_every_position() {
    let ascii = (0..0x80).step_by(miri_step(5));
    let others = (0x80..=u16::MAX).step_by(miri_step(4999));
    for character in ascii.chain(others).filter_map(|unit| char::from_u32(unit.into())) {
        let is_good = ALPHABET.contains(character);
        for position in 0..16 {
            let mut text: Vec<char> = VALID_TEXT.chars().collect();
            text[position] = character;
            let text = String::from_iter(text);
            match Sno::parse(&text) {
                Ok(id) => assert!(is_good && id.text() == *text),
                Err(error) => assert_eq!((is_good, error.position()), (false, Some(position))),
            }
            let holds_metabyte = position == 8 || position == 9;
            assert_eq!(sno::metabyte(&text).is_err(), holds_metabyte && !is_good, "{text:?}");
        }
    }
}

#[test]
fn look_alike_strings_are_rejected() {
    let cases = [
        ("", "invalid_length", None),
        ("9", "invalid_length", None),
        ("93bm44ab22flxhj", "invalid_length", None),
        ("93bm44ab22flxhjb2", "invalid_length", None),
        ("\u{feff}93bm44ab22flxhjb", "invalid_length", None),
        ("\u{feff}93bm44ab22flxhj", "invalid_character", Some(0)),
        ("93bm44ab22flxhj\u{ff12}", "invalid_character", Some(15)),
        ("93bm44ab22flxhj\u{0662}", "invalid_character", Some(15)),
        ("93bm44\u{0430}b22flxhjb", "invalid_character", Some(6)),
        ("\u{212a}3bm44ab22flxhjb", "invalid_character", Some(0)),
        ("93bm44ab22flxhj\0", "invalid_character", Some(15)),
        ("93bm44ab22flxhj\n", "invalid_character", Some(15)),
        ("93BM44AB22FLXHJB", "invalid_character", Some(2)),
        ("93bm44ab22flxhjy", "invalid_character", Some(15)),
    ];
    for (text, code, position) in cases {
        let error = Sno::parse(text).unwrap_err();
        assert_eq!((error.code(), error.position()), (code, position), "{text:?}");
        // The two metabyte characters are valid in all of these strings.
        assert_eq!(sno::metabyte(text).is_err(), text.chars().count() != 16, "{text:?}");
    }
    let long = "2".repeat(LONG_INPUT);
    assert_eq!(Sno::parse(&long).unwrap_err().code(), "invalid_length");
    assert_eq!(Sno::from_slice(&[0; 9]).unwrap_err().code(), "invalid_length");
    assert_eq!(Sno::from_uuid_bytes([0; 16]).unwrap_err().position(), Some(0));
}
