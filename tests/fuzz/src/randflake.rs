//! Randflake: strings, and the fields of arbitrary numbers.

use polyflake::{
    ErrorKind,
    randflake::{Codec, Randflake},
};

use crate::{
    bytes::neighbours,
    texts::{almost_valid_string, for_each_string, is_encoded_as},
    verdict::{Verdict, expected_result, verdict},
};

const ALPHABET: &str = "0123456789abcdefghijklmnopqrstuv";

/// Checks the string form.
pub(crate) fn texts(input: &[u8]) {
    // In a string of thirteen digits, the first digit is at most `f`.
    let near =
        almost_valid_string(input, 13, |at| if at == 0 { "0123456789abcdefg" } else { ALPHABET });
    for_each_string(input, &near, |text, units| {
        let read = verdict(Randflake::parse(text));
        assert_eq!(read, parse_units(units), "{text:?}");
        assert!(read.is_err() || read.is_ok_and(|id| is_encoded_as(&id.text(), units)), "{text:?}");
    });
}

/// Checks an arbitrary secret and number. Encrypting the number's fields and parsing its string must each return the
/// number.
pub(crate) fn numbers(input: &[u8]) {
    let Some((secret, rest)) = input.split_first_chunk::<16>() else {
        return assert_eq!(Codec::from_slice(input).unwrap_err().kind(), ErrorKind::InvalidSecret);
    };
    let codec = Codec::new(*secret);
    for number in neighbours(rest) {
        let id = Randflake::from_i64(i64::from_le_bytes(number));
        assert_eq!(codec.encrypt(codec.inspect(id)).as_ref(), Ok(&id));
        assert_eq!(Randflake::parse(&id.text()).as_ref(), Ok(&id));
        let json = serde_json::to_string(&id).expect("a text");
        assert_eq!(serde_json::from_str::<Randflake>(&json).expect("what was written"), id);
    }
}

/// Parses the format in the simplest way: a base-32 number without leading zeros.
pub(crate) fn parse_units(units: &[u32]) -> Verdict<Randflake> {
    expected_result(units, 1..=13, |_, unit| digit_value(unit).is_some())?;
    if units.len() > 1 && units[0] == u32::from('0') {
        return Err((ErrorKind::NotCanonical, None));
    }
    let number = units.iter().fold(0, |number, unit| number * 32 + digit_value(*unit).unwrap_or(0));
    let number = u64::try_from(number).map_err(|_| (ErrorKind::OutOfRange, None))?;
    Ok(Randflake::from_u64(number))
}

const fn digit_value(unit: u32) -> Option<u128> {
    match unit {
        0x30..=0x39 => Some(unit as u128 - 0x30),
        0x61..=0x76 => Some(unit as u128 - 0x61 + 10),
        _ => None,
    }
}
