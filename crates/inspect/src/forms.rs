//! Forms in which tools and pages show IDs.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::texts;

/// The services whose addresses contain IDs: a part of the address, and the format.
const ADDRESSES: [(&str, &str); 7] = [
    ("tiktok.com/", "tiktok"),
    ("linkedin.com/", "linkedin"),
    ("urn:li:", "linkedin"),
    ("twitter.com/", "twitter"),
    ("discord.com/", "discord"),
    ("//x.com/", "twitter"),
    ("www.x.com/", "twitter"),
];
/// The minimum number of digits of an ID in an address.
const MIN_ADDRESS_DIGITS: usize = 15;
/// The maximum number of hexadecimal digits of a 64-bit integer.
const INTEGER_DIGITS: usize = 16;

/// Parses hexadecimal digits after `0x`, or after `\\x`, as PostgreSQL shows bytes. Up to 16 digits after `0x` are an
/// integer of 8 bytes.
pub(crate) fn parse_prefixed_hex(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        return texts::parse_hex(digits).filter(|bytes| !bytes.is_empty());
    }
    let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty())?;
    let zeros = "0".repeat(INTEGER_DIGITS.saturating_sub(digits.len()));
    texts::parse_hex(&(zeros + digits))
}

/// Returns the service of an address and the last ID in the address, or `None` if the text is no address of a known service
/// with an ID.
pub(crate) fn parse_address(text: &str) -> Option<(&'static str, &str)> {
    let (_, service) = ADDRESSES.iter().find(|(part, _)| text.contains(part))?;
    let mut digits = text.rsplit(|c: char| !c.is_ascii_digit());
    let id = digits.find(|digits| digits.len() >= MIN_ADDRESS_DIGITS)?;
    Some((service, id))
}

/// Returns the digits of an integer whose digits are in groups of three, without the separators.
pub(crate) fn remove_separators(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let separator = digits.chars().find(|c| matches!(c, ',' | '_' | ' ' | '\''))?;
    let mut groups = digits.split(separator);
    let is_number = |group: &str| group.bytes().all(|digit| digit.is_ascii_digit());
    let first = groups.next().filter(|group| (1..=3).contains(&group.len()) && is_number(group))?;
    let sign = if digits.len() < text.len() { "-" } else { "" };
    groups.try_fold(sign.to_string() + first, |all, group| {
        (group.len() == 3 && is_number(group)).then(|| all + group)
    })
}
