//! UUID v7: strings, bytes, integers and fields, including the strings and fields of UUIDs of other versions.

use polyflake::{
    ErrorKind,
    uuid7::{Uuid7, worker_id},
};

use crate::{
    bytes::neighbours,
    hotguid::{DIGITS, HYPHENS, parse_units, to_ascii_lower},
    texts::{almost_valid_string, for_each_string},
    verdict::{Verdict, check_message, verdict},
};

/// Checks the string form. Most nearly valid strings have the right version and variant.
pub(crate) fn texts(input: &[u8]) {
    let near = almost_valid_string(input, 36, |at| match at {
        14 => "77777774",
        19 => "89abAB8c",
        at if HYPHENS.contains(&at) => "-",
        _ => DIGITS,
    });
    for_each_string(input, &near, |text, units| {
        let id = verdict(Uuid7::parse(text));
        let expected = parse_units(units).and_then(check_version_7);
        assert_eq!(id.map(Uuid7::to_bytes), expected, "{text:?}");
        assert_eq!(Uuid7::parse_const(text), id.ok(), "{text:?}");
        if let Ok(bytes) = text.as_bytes().try_into() {
            assert_eq!(Uuid7::parse_bytes(bytes).ok(), id.ok(), "{text:?}");
        }
        if let Ok(id) = id {
            let canonical = units.iter().map(|unit| to_ascii_lower(*unit));
            assert!(id.text().chars().map(u32::from).eq(canonical), "{text:?}");
        }
    });
}

/// Checks 16-byte IDs and the conversions between their forms. Slices of any other length are rejected.
pub(crate) fn bytes(input: &[u8]) {
    if let Err(error) = Uuid7::from_slice(input) {
        let is_short = error.kind() == ErrorKind::InvalidLength;
        assert_eq!(check_message(&error).kind() == ErrorKind::NotCanonical, !is_short);
        assert_eq!(is_short, input.len() != 16);
    }
    neighbours(input).for_each(assert_forms);
}

fn assert_forms(mut bytes: [u8; 16]) {
    let id = Uuid7::from_bytes(bytes);
    assert_eq!(verdict(id.clone()).map(Uuid7::to_bytes), check_version_7(bytes));
    assert_eq!(Uuid7::from_u128(u128::from_be_bytes(bytes)), id);
    assert_eq!(Uuid7::from_slice(&bytes), id);
    (bytes[6], bytes[8]) = (bytes[6] & 0x0f | 0x70, bytes[8] & 0x3f | 0x80);
    let id = Uuid7::from_bytes(bytes).expect("version 7");
    assert_eq!(Uuid7::from_parts(id.parts()).as_ref(), Ok(&id));
    let time = u64::from_be_bytes(bytes[..8].try_into().expect("8 bytes")) >> 16;
    assert_eq!(id.unix_ms(), time.cast_signed());
    assert_eq!(worker_id(id), u16::from_be_bytes([bytes[9], bytes[10]]));
    assert_eq!(Uuid7::parse(&id.text()).as_ref(), Ok(&id));
    let json = serde_json::to_string(&id).expect("a string");
    assert_eq!(serde_json::from_str::<Uuid7>(&json).expect("what was written"), id);
}

/// Checks the version and the variant in the simplest way.
fn check_version_7(bytes: [u8; 16]) -> Verdict<[u8; 16]> {
    let is_of_version_7 = bytes[6] >> 4 == 7 && bytes[8] >> 6 == 0b10;
    if is_of_version_7 { Ok(bytes) } else { Err((ErrorKind::NotCanonical, None)) }
}
