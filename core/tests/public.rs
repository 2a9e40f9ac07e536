//! Tests public IDs: their format, which strings are rejected, and how many forged strings are accepted.
#![cfg(feature = "public")]

mod support;

use std::{collections::HashSet, env};

use polyflake::{
    ErrorKind::{self, *},
    public::{IdType, Keyring},
};
use serde::Deserialize;
use support::{rounds, typed_vectors, unhex};

const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";

#[derive(Deserialize)]
struct VectorFile {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    secret: String,
    #[serde(rename = "type")]
    of: String,
    bits: u32,
    version: u8,
    /// The number as a decimal string, because it may exceed 2^53.
    number: String,
    text: String,
}

fn order_id_type(bits: u32) -> IdType {
    Keyring::new(&[7; 32]).and_then(|ids| ids.of_bits("order", bits)).unwrap()
}

fn parse_error(of: &IdType, text: &str) -> ErrorKind {
    of.decode(text).unwrap_err().kind()
}

/// Replaces the character at index `at` of the string's last 15 characters.
fn replace_character(text: &str, at: usize, character: char) -> String {
    let at = text.len() - 15 + at;
    format!("{}{character}{}", &text[..at], &text[at + 1..])
}

struct TestRng(u64);

impl TestRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 27
    }
}

#[test]
fn strings_match_the_vectors() {
    let VectorFile { cases } = typed_vectors("public.json");
    assert!(cases.len() >= 72, "found {} cases", cases.len());
    for Case { secret, of, bits, version, number, text } in cases {
        let ids = Keyring::with_versions([(version, unhex::<32>(&secret))]).unwrap();
        let ids = ids.of_bits(&of, bits).unwrap();
        let number = number.parse().unwrap();
        assert_eq!(ids.encode(number).unwrap(), text);
        assert_eq!(ids.decode(&text).unwrap(), number);
    }
}

/// The check character is a weighted sum over the field of 32 elements, with a different weight at each position.
#[test]
fn the_check_character_detects_single_typos_and_swaps() {
    let (orders, mut draws) = (order_id_type(64), TestRng(1));
    for _ in 0..50 {
        let text = orders.encode(draws.next()).unwrap();
        for at in 0..15 {
            let own = text.as_bytes()[text.len() - 15 + at] as char;
            for other in ALPHABET.chars().filter(|other| *other != own) {
                let kind = parse_error(&orders, &replace_character(&text, at, other));
                // The first character of the block encodes only four bits.
                let wide = at == 1 && other > 'f';
                assert_eq!(kind, if wide { InvalidCharacter } else { CheckFailed });
            }
        }
        for (one, other) in (0..15).flat_map(|one| (one + 1..15).map(move |other| (one, other))) {
            let (first, second) =
                (text.as_bytes()[6 + one] as char, text.as_bytes()[6 + other] as char);
            if first != second {
                let swapped =
                    replace_character(&replace_character(&text, one, second), other, first);
                let kind = parse_error(&orders, &swapped);
                assert!(kind == CheckFailed || kind == InvalidCharacter && one < 2, "{swapped}");
            }
        }
    }
}

#[test]
fn look_alike_characters_are_rejected_with_a_suggestion() {
    let orders = order_id_type(48);
    let text = orders.encode(42).unwrap();
    for (written, meant) in [('O', '0'), ('o', '0'), ('I', '1'), ('l', '1'), ('L', '1'), ('K', 'k')]
    {
        let error = orders.decode(&replace_character(&text, 9, written)).unwrap_err();
        assert_eq!((error.kind(), error.position()), (InvalidCharacter, Some(15)));
        let message =
            format!("invalid character `{written}` at position 15, did you mean `{meant}`?");
        assert_eq!(error.to_string(), message);
    }
    for none in ['u', '-', ' ', '\0'] {
        let error = orders.decode(&replace_character(&text, 0, none)).unwrap_err();
        assert_eq!((error.kind(), error.position()), (InvalidCharacter, Some(6)));
        assert!(!error.to_string().contains("mean"), "{error}");
    }
}

#[test]
fn mismatched_and_truncated_strings_are_rejected() {
    let orders = order_id_type(48);
    let text = orders.encode(42).unwrap();
    let tail = &text[6..];
    for other in ["", "42", tail, "Order_", &format!("Order_{tail}"), &format!("line_{text}")] {
        assert_eq!(parse_error(&orders, other), TypeMismatch, "{other}");
    }
    for other in ["order_", &text[..20], &format!("{text}0"), "order_äääääääé"] {
        assert_eq!(parse_error(&orders, other), InvalidLength, "{other}");
    }
    let said = orders.decode(&format!("invoice_{tail}")).unwrap_err().to_string();
    assert_eq!(said, "expected an ID of the type `order`, found `invoice`");
    assert!(orders.decode(&"x_".repeat(10_000)).unwrap_err().to_string().len() < 80);
    let other = Keyring::with_versions([(2, [7; 32])]).and_then(|ids| ids.of("order")).unwrap();
    assert_eq!(parse_error(&orders, &other.encode(42).unwrap()), UnknownVersion);
}

/// Lengths and positions in errors count characters, not bytes.
#[test]
fn non_ascii_strings_are_rejected() {
    let orders = order_id_type(48);
    let text = orders.encode(42).unwrap();
    for at in 0..15 {
        let error = orders.decode(&replace_character(&text, at, 'é')).unwrap_err();
        assert_eq!((error.kind(), error.position()), (InvalidCharacter, Some(6 + at)));
    }
    let error = orders.decode(&text.replace(&text[19..], "é")).unwrap_err();
    assert_eq!(error.to_string(), "expected length 21, found 20");
}

#[test]
fn names_versions_secrets_and_values_have_limits() {
    let ids = Keyring::new(&[7; 32]).unwrap();
    for name in ["a", "order", "a_", "line_item2", &"x".repeat(63)] {
        let of = ids.of(name).unwrap();
        let text = of.encode(7).unwrap();
        assert_eq!((of.name(), of.decode(&text).unwrap()), (name, 7));
    }
    for (name, wanted) in [
        ("", InvalidLength),
        (&*"x".repeat(64), InvalidLength),
        ("Order", InvalidCharacter),
        ("1a", InvalidCharacter),
        ("_a", InvalidCharacter),
        ("a-b", InvalidCharacter),
        ("é", InvalidCharacter),
    ] {
        assert_eq!(ids.of(name).unwrap_err().kind(), wanted, "{name}");
    }
    let capital = ids.of("Order").unwrap_err();
    assert_eq!(capital.to_string(), "invalid character `O` at position 0, did you mean `o`?");
    for bits in [0, 65, u32::MAX] {
        assert_eq!(ids.of_bits("order", bits).unwrap_err().kind(), OutOfRange);
    }
    for bits in 1..=64 {
        let (of, most) = (ids.of_bits("order", bits).unwrap(), u64::MAX >> (64 - bits));
        for number in [0, 1, most] {
            assert_eq!(of.decode(&of.encode(number).unwrap()).unwrap(), number);
        }
        if let Some(above) = most.checked_add(1) {
            assert_eq!(of.encode(above).unwrap_err().range(), Some((above.into(), 0, most.into())));
        }
    }
    for length in [0, 16, 31, 33] {
        let error = Keyring::new(&vec![7; length]).unwrap_err();
        assert_eq!(error.to_string(), format!("expected a secret of 32 bytes, found {length}"));
    }
    let versions = |all: &[u8]| Keyring::with_versions(all.iter().map(|at| (*at, [*at; 32])));
    assert_eq!(versions(&[]).unwrap_err().kind(), MissingField);
    assert_eq!(versions(&[32]).unwrap_err().kind(), OutOfRange);
    assert_eq!(versions(&[3, 3]).unwrap_err().kind(), OutOfRange);
    assert!(versions(&(0..32).collect::<Vec<_>>()).is_ok());
    assert_eq!(format!("{ids:?}"), "Keyring { .. }");
}

/// Covers the batch sizes at which the implementation switches code paths, with alternating versions.
#[test]
fn batches_equal_single_calls() {
    let secrets = [(1, [1; 32]), (2, [2; 32])];
    let [old, both] = [&secrets[..1], &secrets].map(|secrets| {
        Keyring::with_versions(secrets.iter().copied()).and_then(|ids| ids.of("order")).unwrap()
    });
    for count in [0, 1, 2, 63, 64, 65, 200] {
        let numbers: Vec<_> = (0..count).map(|number| number << 30).collect();
        let mut texts = vec![];
        both.encode_many(&numbers, |text| texts.push(text.to_owned())).unwrap();
        let one_by_one = numbers.iter().map(|number| both.encode(*number).unwrap());
        assert_eq!(texts, one_by_one.collect::<Vec<_>>());
        for at in (0..texts.len()).filter(|at| at % 5 < 2) {
            texts[at] = old.encode(numbers[at]).unwrap();
        }
        assert_eq!(both.decode_many(&texts).unwrap(), numbers);
    }
    let error = both.encode_many(&[1, 1 << 48], |_| panic!("called")).unwrap_err();
    assert_eq!((error.kind(), error.item()), (OutOfRange, Some(1)));
    let text = both.encode(1).unwrap();
    let made_up = order_id_type(64).encode(u64::MAX).unwrap();
    for (wrong, kind) in [("order_", InvalidLength), (&*made_up, UnknownId)] {
        let error = both.decode_many([&text, wrong]).unwrap_err();
        assert_eq!((error.kind(), error.item()), (kind, Some(1)));
    }
}

/// The newest secret encrypts, regardless of its position in the list, and every secret decrypts.
#[test]
fn every_version_is_read_and_the_newest_is_written() {
    let secrets = [(3, [3; 32]), (9, [9; 32]), (1, [1; 32])];
    let all = Keyring::with_versions(secrets).and_then(|ids| ids.of("order")).unwrap();
    let newest = all.encode(42).unwrap();
    assert_eq!(newest.as_bytes()[6], b'9');
    let mut texts = HashSet::from([newest]);
    for secret in secrets {
        let one = Keyring::with_versions([secret]).and_then(|ids| ids.of("order")).unwrap();
        let text = one.encode(42).unwrap();
        assert_eq!(all.decode(&text).unwrap(), 42);
        texts.insert(text);
    }
    assert_eq!(texts.len(), 3);
}

#[test]
fn a_version_other_than_the_highest_can_be_written() {
    let secrets = [(3, [3; 32]), (9, [9; 32]), (1, [1; 32])];
    for (version, secret) in secrets {
        let chosen = Keyring::with_versions(secrets).and_then(|ids| ids.write(version));
        let of = chosen.and_then(|ids| ids.of("order")).unwrap();
        let one =
            Keyring::with_versions([(version, secret)]).and_then(|ids| ids.of("order")).unwrap();
        assert_eq!(of.encode(42), one.encode(42));
        assert_eq!(of.decode(&encode_with_versions(&secrets)), Ok(42), "the highest is read");
    }
    let error = Keyring::with_versions(secrets).and_then(|ids| ids.write(2)).unwrap_err();
    assert_eq!(error.kind(), UnknownVersion);
}

/// Encodes 42 with the highest version.
fn encode_with_versions(secrets: &[(u8, [u8; 32])]) -> String {
    let ids = Keyring::with_versions(secrets.iter().copied()).and_then(|ids| ids.of("order"));
    ids.and_then(|of| of.encode(42)).unwrap()
}

#[test]
fn one_secret_with_two_versions_is_rejected() {
    let error = Keyring::with_versions([(1, [7; 32]), (3, [8; 32]), (2, [7; 32])]).unwrap_err();
    assert_eq!(error.kind(), InvalidSecret);
    assert_eq!(error.to_string(), "expected a different secret for version 2 than for version 1");
}

/// Each width of a type has a separate key. Therefore, a string that was encoded with one width is no more likely to decode
/// with another width than a forged string.
#[test]
fn widths_of_a_type_use_different_keys() {
    let (narrow, wide) = (order_id_type(48), order_id_type(63));
    let read = |number| narrow.decode(&wide.encode(number).unwrap()).is_ok();
    assert_eq!((0..200).filter(|number| read(*number)).count(), 0);
    let read = |number| wide.decode(&narrow.encode(number).unwrap()).is_ok();
    let half = (0..200).filter(|number| read(*number)).count();
    assert!((60..140).contains(&half), "at 63 bits every second one decodes: {half} of 200");
    assert!((0..200).all(|number| wide.decode(&narrow.encode(number).unwrap()) != Ok(number)));
}

/// For two types, the encodings of the same value share no more characters than random strings do.
#[test]
fn types_use_different_keys() {
    let ids = Keyring::new(&[7; 32]).unwrap();
    let (orders, invoices) = (ids.of("order").unwrap(), ids.of("invoice").unwrap());
    let mut alike = 0;
    for number in 0..1000 {
        let (one, other) = (orders.encode(number).unwrap(), invoices.encode(number).unwrap());
        let tails = one.bytes().rev().zip(other.bytes().rev()).take(13);
        alike += tails.filter(|(one, other)| one == other).count();
        assert_eq!(parse_error(&orders, &format!("order_{}", &other[8..])), UnknownId);
    }
    // The last 13 characters are compared: about 406 of 13,000 match by chance (1 in 32), with a standard deviation of
    // about 20.
    assert!((306..506).contains(&alike), "{alike}");
}

/// Forged strings with a correct check character decode at a rate of 2^(bits - 64), within five standard deviations. The
/// rates in docs/public-ids.md were measured with `POLYFLAKE_TEXTS=16777216`.
#[test]
fn forged_strings_decode_at_the_documented_rate() {
    let given = env::var("POLYFLAKE_TEXTS").ok();
    let count = given.map_or(rounds(100_000), |text| text.parse().unwrap());
    let (any, mut draws) = (order_id_type(64), TestRng(3));
    let mut limits = [64_u32, 63, 60, 56, 48, 40].map(|bits| (bits, order_id_type(bits), 0));
    for _ in 0..count {
        let text = any.encode(draws.next()).unwrap();
        for (_, of, decoded) in &mut limits {
            *decoded += u32::from(of.decode(&text).is_ok());
        }
    }
    for (bits, _, decoded) in limits {
        let (count, share) =
            (f64::from(u32::try_from(count).unwrap()), 2_f64.powi(bits.cast_signed() - 64));
        let (expected, deviation) = (count * share, (count * share * (1.0 - share)).sqrt());
        println!("{bits}: {decoded}, expected {expected}");
        assert!((f64::from(decoded) - expected).abs() <= 5.0 * deviation, "{bits}: {decoded}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn serde_supports_integers_of_any_size() {
    use std::sync::LazyLock;

    use polyflake::public::Field;
    use serde::Serialize;

    static ORDER_ID_TYPE: LazyLock<IdType> = LazyLock::new(|| order_id_type(64));

    struct OrderId;
    impl Field for OrderId {
        fn ids() -> &'static IdType {
            &ORDER_ID_TYPE
        }
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Row {
        #[serde(with = "OrderId")]
        signed: i64,
        #[serde(with = "OrderId")]
        small: u8,
    }

    let row = Row { signed: i64::MAX, small: 255 };
    let json = serde_json::to_value(&row).unwrap();
    assert_eq!(json["small"], ORDER_ID_TYPE.encode(255).unwrap());
    assert_eq!(serde_json::from_value::<Row>(json.clone()).unwrap(), row);
    assert!(serde_json::to_value(Row { signed: -1, small: 0 }).is_err());
    for wrong in [256.into(), ORDER_ID_TYPE.encode(256).unwrap().into(), "order_".into()] {
        let mut json = json.clone();
        json["small"] = wrong;
        assert!(serde_json::from_value::<Row>(json).is_err());
    }
}
