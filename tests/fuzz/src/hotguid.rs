//! Hot Guid: strings, SQL Server's strings, and the three byte orders.

use polyflake::{ErrorKind, hotguid::HotGuid};

use crate::{
    bytes::neighbours,
    texts::{almost_valid_string, for_each_string},
    verdict::{Verdict, check_message, expected_result, verdict},
};

pub(crate) const DIGITS: &str = "0123456789abcdefABCDEF";
pub(crate) const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The position of each byte in SQL Server's form, taken from the original library.
const SQL_BYTE_ORDER: [usize; 16] = [13, 12, 11, 10, 15, 14, 9, 8, 6, 7, 4, 5, 0, 1, 2, 3];

/// Checks the string forms of IDs, including SQL Server's form.
pub(crate) fn texts(input: &[u8]) {
    let near =
        almost_valid_string(input, 36, |at| if HYPHENS.contains(&at) { "-" } else { DIGITS });
    for_each_string(input, &near, |text, units| {
        let read = verdict(HotGuid::parse(text));
        let sql = verdict(HotGuid::parse_sql(text));
        let expected = parse_units(units);
        assert_eq!(read.map(HotGuid::to_bytes), expected, "{text:?}");
        assert_eq!(sql.map(|id| reverse_groups(id.to_sql())), expected, "{text:?}");
        for spelled in [read.map(HotGuid::text), sql.map(HotGuid::sql_text)].into_iter().flatten() {
            assert!(
                spelled.chars().map(u32::from).eq(units.iter().map(|unit| to_ascii_lower(*unit))),
                "{text:?}"
            );
        }
    });
}

/// Checks 16-byte IDs in each byte order and the conversions between them. Slices of any other length are rejected.
pub(crate) fn bytes(input: &[u8]) {
    match HotGuid::from_slice(input) {
        Ok(id) => assert_eq!(id.to_bytes(), input),
        Err(error) => {
            assert_eq!(check_message(&error).kind(), ErrorKind::InvalidLength);
            assert_ne!(input.len(), 16);
        }
    }
    neighbours(input).for_each(assert_forms);
}

fn assert_forms(bytes: [u8; 16]) {
    let id = HotGuid::from_dotnet_bytes(bytes);
    assert_eq!(id.to_bytes(), reverse_groups(bytes));
    assert_eq!(HotGuid::from_bytes(id.to_bytes()), id);
    assert_eq!(SQL_BYTE_ORDER.map(|at| id.to_sql()[at]), bytes);
    assert_eq!(HotGuid::from_sql(id.to_sql()), id);
    assert_eq!(HotGuid::from_parts(id.parts()).as_ref(), Ok(&id));
    assert_eq!(HotGuid::parse(&id.text()).as_ref(), Ok(&id));
    assert_eq!(HotGuid::parse_sql(&id.sql_text()).as_ref(), Ok(&id));
    let json = serde_json::to_string(&id).expect("a text");
    assert_eq!(serde_json::from_str::<HotGuid>(&json).expect("what was written"), id);
}

/// Parses a GUID's string in the simplest way: 32 hexadecimal digits with hyphens between groups.
pub(crate) fn parse_units(units: &[u32]) -> Verdict<[u8; 16]> {
    let hyphen = u32::from('-');
    let is_good =
        |at, unit| if HYPHENS.contains(&at) { unit == hyphen } else { digit_value(unit).is_some() };
    expected_result(units, 36..=36, is_good)?;
    let digits = units.iter().filter_map(|unit| digit_value(*unit));
    Ok(digits.fold(0, |bits, digit| bits << 4 | u128::from(digit)).to_be_bytes())
}

fn digit_value(unit: u32) -> Option<u32> {
    char::from_u32(unit).and_then(|c| c.to_digit(16))
}

pub(crate) fn to_ascii_lower(unit: u32) -> u32 {
    char::from_u32(unit).map_or(unit, |c| c.to_ascii_lowercase().into())
}

/// Converts bytes between .NET's byte order and the byte order of the string.
fn reverse_groups(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}
