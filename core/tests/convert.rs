//! Tests conversions between ID types and integers, bytes, strings and UUIDs.
#![cfg(not(any(loom, shuttle)))]

use polyflake::{hotguid::HotGuid, randflake::Randflake, sno::Sno};
use proptest::prelude::*;

#[track_caller]
fn assert_same_parse(text: &str) {
    assert_eq!(Sno::parse_const(text), Sno::parse(text).ok(), "{text:?}");
    assert_eq!(Randflake::parse_const(text), Randflake::parse(text).ok(), "{text:?}");
    assert_eq!(HotGuid::parse_const(text), HotGuid::parse(text).ok(), "{text:?}");
}

proptest! {
    #[test]
    fn the_const_parser_accepts_the_same_strings_as_parse(
        sno in any::<[u8; 10]>(), number in any::<u64>(), guid in any::<[u8; 16]>(),
        at in any::<prop::sample::Index>(), with in any::<char>(), bits in 0..64_u32,
    ) {
        let texts = [
            Sno::from_bytes(sno).to_string(),
            Randflake::from_u64(number >> bits).to_string(),
            HotGuid::from_dotnet_bytes(guid).to_string(),
            HotGuid::from_dotnet_bytes(guid).to_string().to_uppercase(),
        ];
        for text in texts {
            assert_same_parse(&text);
            let mut changed: Vec<char> = text.chars().collect();
            let place = at.index(changed.len());
            changed[place] = with;
            assert_same_parse(&changed.iter().collect::<String>());
            changed.remove(place);
            assert_same_parse(&changed.iter().collect::<String>());
            assert_same_parse(&format!("{text}{with}"));
        }
    }
}

#[test]
fn the_const_parser_agrees_with_parse_at_the_limits() {
    let edges = [
        "",
        "0",
        "00",
        "fvvvvvvvvvvvv",
        "g000000000000",
        "vvvvvvvvvvvvv",
        "2222222222222222",
        "xxxxxxxxxxxxxxxx",
    ];
    edges.into_iter().for_each(assert_same_parse);
}

#[test]
fn min_and_max_are_the_lowest_and_highest_ids() {
    assert!(Sno::MIN < Sno::MAX && HotGuid::MIN < HotGuid::MAX && Randflake::MIN < Randflake::MAX);
    assert_eq!(Sno::MAX.to_string(), "xxxxxxxxxxxxxxxx");
    assert_eq!(HotGuid::MAX.to_bytes(), [0xff; 16]);
    assert_eq!((i64::from(Randflake::MIN), i64::from(Randflake::MAX)), (i64::MIN, i64::MAX));
}

#[test]
fn ids_convert_from_slices_and_uuid_bytes() {
    let id = Sno::parse("93bm44ab22flxhjb").unwrap();
    assert_eq!(Sno::try_from(&id.to_bytes()[..]), Ok(id));
    assert_eq!(Sno::try_from(&[0_u8; 9][..]).unwrap_err().code(), "invalid_length");
    assert_eq!(Sno::from_uuid_bytes(id.to_uuid_bytes()), Ok(id));
    assert_eq!(Sno::from_uuid_bytes([0; 16]).unwrap_err().position(), Some(0));
    let guid = HotGuid::from_bytes(*b"0123456789abcdef");
    assert_eq!(HotGuid::try_from(&guid.to_bytes()[..]), Ok(guid));
    assert_eq!(HotGuid::try_from(&[0_u8; 17][..]).unwrap_err().code(), "invalid_length");
}
