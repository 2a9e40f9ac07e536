//! sno: strings, bytes, UUIDs, metabytes and JSON.

use polyflake::{
    ErrorKind,
    sno::{self, Sno},
};

use crate::{
    bytes::neighbours,
    texts::{almost_valid_string, for_each_string, is_encoded_as},
    verdict::{Verdict, check_message, expected_result, verdict},
};

const ALPHABET: &str = "23456789abcdefghijklmnopqrstuvwx";

/// Checks strings, their metabytes, and the same strings in UUID form.
pub(crate) fn texts(input: &[u8]) {
    for_each_string(input, &almost_valid_string(input, 16, |_| ALPHABET), |text, units| {
        let read = verdict(Sno::parse(text));
        assert_eq!(read, parse_units(units), "{text:?}");
        let metabyte = verdict(sno::metabyte(text));
        assert_eq!(metabyte, expected_metabyte(units), "{text:?}");
        if let Some(uuid) = uuid_from_units(units) {
            assert_eq!(verdict(Sno::from_uuid_bytes(uuid)), read, "{text:?}");
        }
        if let Ok(id) = read {
            assert_eq!(metabyte, Ok(id.metabyte()));
            assert!(is_encoded_as(&id.text(), units), "{text:?}");
        }
    });
}

/// Checks that an ID's fields and all of its forms convert back to the same ID. Slices of the wrong length are rejected.
pub(crate) fn bytes(input: &[u8]) {
    match Sno::from_slice(input) {
        Ok(id) => assert_eq!(id.as_bytes(), input),
        Err(error) => {
            assert_eq!(check_message(&error).kind(), ErrorKind::InvalidLength);
            assert_ne!(input.len(), 10);
        }
    }
    neighbours(input).for_each(assert_forms);
}

/// Parses the format in the simplest way: 16 characters of five bits each.
pub(crate) fn parse_units(units: &[u32]) -> Verdict<Sno> {
    expected_result(units, 16..=16, |_, unit| digit_value(unit).is_some())?;
    let bits =
        units.iter().fold(0, |bits, unit| bits << 5 | digit_value(*unit).unwrap_or_default());
    let [_, _, _, _, _, _, bytes @ ..] = u128::to_be_bytes(bits);
    Ok(Sno::from_bytes(bytes))
}

/// Reads a string's metabyte using only the characters at positions 8 and 9.
fn expected_metabyte(units: &[u32]) -> Verdict<u8> {
    expected_result(units, 16..=16, |at, unit| at != 8 && at != 9 || digit_value(unit).is_some())?;
    let bits =
        digit_value(units[8]).unwrap_or_default() << 5 | digit_value(units[9]).unwrap_or_default();
    Ok(u8::try_from(bits >> 2).expect("10 bits, less 2"))
}

const fn digit_value(unit: u32) -> Option<u128> {
    match unit {
        0x32..=0x39 => Some(unit as u128 - 0x32),
        0x61..=0x78 => Some(unit as u128 - 0x61 + 8),
        _ => None,
    }
}

/// Returns the bytes of a UUID, or `None` if a character does not fit in a byte.
fn uuid_from_units(units: &[u32]) -> Option<[u8; 16]> {
    let mut uuid = [0; 16];
    for (byte, unit) in uuid.iter_mut().zip(units) {
        *byte = u8::try_from(*unit).ok()?;
    }
    (units.len() == uuid.len()).then_some(uuid)
}

fn assert_forms(bytes: [u8; 10]) {
    let id = Sno::from_bytes(bytes);
    assert_eq!(id.to_bytes(), bytes);
    assert_eq!(Sno::parse(&id.text()).as_ref(), Ok(&id));
    assert_eq!(Sno::from_uuid_bytes(id.to_uuid_bytes()).as_ref(), Ok(&id));
    assert_eq!(Sno::from_parts(id.parts()).as_ref(), Ok(&id));
    let json = serde_json::to_string(&id).expect("a text");
    assert_eq!(json, format!("\"{id}\""));
    assert_eq!(serde_json::from_str::<Sno>(&json).expect("what was written"), id);
}
