//! Decodes strings into bits, one format at a time.

use alloc::{string::String, vec::Vec};

use crate::{
    Context,
    bits::{Alphabet, Bits},
    formats::{FORMATS, Format, Text},
    layouts,
    reading::Reading,
};

/// Returns one reading of the string for each format that has a matching string form.
pub(crate) fn read_text(text: &str, context: &Context<'_>) -> Vec<Reading> {
    let of = |format: &'static Format| {
        format
            .texts
            .iter()
            .find_map(|form| read_in_format(format, &parse_bits(text, format, *form)?, context))
    };
    FORMATS.iter().filter_map(of).collect()
}

/// Returns a reading of the bytes for each format whose IDs have the same length.
pub(crate) fn read_bytes(bytes: &[u8], context: &Context<'_>) -> Vec<Reading> {
    let Some(bits) = Bits::from_bytes(bytes) else { return Vec::new() };
    let formats = FORMATS.iter().filter(|format| format.bits() == bits.len);
    formats.filter_map(|format| read_in_format(format, &bits, context)).collect()
}

/// Parses a signed or unsigned 64-bit integer without leading zeros.
pub(crate) fn parse_integer(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    let signed = || text.parse().ok().map(i64::cast_unsigned);
    text.parse().ok().or_else(signed).filter(|_| plain)
}

/// Parses hexadecimal digits as bytes, two digits per byte.
pub(crate) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |character: u8| Alphabet::HEX.value(character.to_ascii_lowercase());
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    pairs.map(byte).collect()
}

/// Parses the 16 bytes of a UUID string.
pub(crate) fn parse_uuid(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let hyphens = |at| matches!(at, 8 | 13 | 18 | 23);
    let placed = text.bytes().enumerate().all(|(at, c)| (c == b'-') == hyphens(at));
    match text.len() {
        36 if placed => parse_hex(&text.replace('-', "")),
        32 => parse_hex(text),
        _ => None,
    }
}

fn parse_bits(text: &str, format: &Format, form: Text) -> Option<Bits> {
    let len = format.bits();
    match form {
        Text::Decimal => Bits::from_number(parse_integer(text)?.into(), len),
        Text::Uuid => Bits::from_bytes(&parse_uuid(text)?),
        Text::Number(alphabet, length) => parse_number(text, alphabet, length, len),
        Text::Short(alphabet, least, most) => {
            let is_short = !text.starts_with('0');
            let length =
                Some(text.len()).filter(|length| is_short && (least..=most).contains(length));
            parse_number(text, alphabet, length?, len)
        }
        Text::Public => parse_public_id(text),
        Text::Typed(alphabet, length) => {
            let (kind, text) = text.rsplit_once('_')?;
            let word = |c| matches!(c, 'a'..='z' | '_');
            (!kind.is_empty() && kind.chars().all(word))
                .then(|| parse_number(text, alphabet, length, len))?
        }
        Text::InUuid(alphabet) => {
            let text = String::from_utf8(parse_uuid(text)?).ok()?;
            parse_number(&text, alphabet, text.len(), len)
        }
        Text::Cuid => parse_cuid(text),
    }
}

/// Decodes a string of `length` characters as an integer of `len` bits.
fn parse_number(text: &str, alphabet: &Alphabet, length: usize, len: u32) -> Option<Bits> {
    (text.len() == length).then(|| Bits::from_text(text, alphabet, len))?
}

/// Decodes a public ID, which consists of a type, `_`, and 15 characters. The last character must be the check character.
/// As docs/formats.md describes, it is the weighted sum of the other characters' values in the field of 32 elements, with
/// powers of 2 as weights. The check does not require the secret.
fn parse_public_id(text: &str) -> Option<Bits> {
    let (kind, tail) = text.rsplit_once('_')?;
    let is_type = (1..=63).contains(&kind.len())
        && kind.starts_with(|first: char| first.is_ascii_lowercase())
        && kind.bytes().all(|of| matches!(of, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let bits = parse_number(tail, &Alphabet::CROCKFORD_LOWER, 15, 75).filter(|_| is_type)?;
    let double = |value: u128| ((value << 1) ^ ((value >> 4) * 0b10_0101)) & 31;
    let sum = (0..14).fold(0, |sum, at| double(sum ^ bits.field(5 * at, 5)));
    (sum == bits.field(70, 5)).then_some(bits)
}

fn parse_cuid(text: &str) -> Option<Bits> {
    let digits = text.strip_prefix('c').filter(|digits| digits.len() == 24 && digits.is_ascii())?;
    let base36 = |from: usize, to: usize, bits| {
        let text = &digits[from..to];
        Bits::from_text(text, &Alphabet::BASE36, bits).map(|bits| bits.field(0, bits.len))
    };
    let (time, counter) = (base36(0, 8, 42)?, base36(8, 12, 21)?);
    let (fingerprint, random) = (base36(12, 16, 21)?, base36(16, 24, 42)?);
    Bits::from_number((time << 21 | counter) << 63 | fingerprint << 42 | random, 126)
}

/// Returns a reading of the bits in the given format, or `None` if the bits do not match the format. The reading of a
/// Randflake contains its fields only if the secret is known.
fn read_in_format(format: &Format, bits: &Bits, context: &Context<'_>) -> Option<Reading> {
    match context.secret {
        Some(codec) if format.name == "randflake" => {
            Some(layouts::decrypt_reading(bits, codec, context.now_ms))
        }
        _ => Reading::from_bits(format, bits, context.now_ms),
    }
}
