//! Decodes strings into bits, one format at a time.

use alloc::{format, string::String, vec::Vec};

use crate::{
    Context,
    bits::{Alphabet, Bits},
    formats::{FORMATS, Format, TYPEID, Text},
    layouts,
    odds::Cost,
    reading::{Reading, Role},
};

/// Returns one reading of the string for each format that has a matching string form.
pub(crate) fn read_text(text: &str, context: &Context<'_>) -> Vec<Reading> {
    let of = |format: &'static Format| {
        format.texts.iter().find_map(|form| {
            let bits = parse_bits(text, format, *form)?;
            read_in_format(format, &bits, form_cost(text, *form), context)
        })
    };
    let mut readings: Vec<Reading> = FORMATS.iter().filter_map(of).collect();
    if let Some((bytes, form)) = parse_base64_uuid(text) {
        let versions = FORMATS.iter().filter(|format| format.name.starts_with("uuid"));
        let bits = Bits::from_bytes(&bytes).expect("16 bytes");
        readings.extend(versions.filter_map(|format| read_in_format(format, &bits, form, context)));
    }
    readings
}

/// Returns a reading of the bytes for each format whose IDs have the same length.
pub(crate) fn read_bytes(bytes: &[u8], context: &Context<'_>) -> Vec<Reading> {
    let Some(bits) = Bits::from_bytes(bytes) else { return Vec::new() };
    let formats = FORMATS.iter().filter(|format| format.has_bytes() && format.bits() == bits.len);
    let form = Cost::bits(0);
    formats.filter_map(|format| read_in_format(format, &bits, form, context)).collect()
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
        Text::Typed => parse_typeid(text),
        Text::Hex => Bits::from_bytes(&parse_hex(text)?).filter(|bits| bits.len == len),
        Text::Digits(length) => {
            let ticks = parse_date(text).filter(|_| text.len() == length)?;
            Bits::from_number(ticks.into(), len)
        }
        Text::Cuid2 => {
            let is_letter = text.starts_with(|first: char| first.is_ascii_lowercase());
            parse_number(text, &Alphabet::BASE36, 24, len).filter(|_| is_letter)
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
fn read_in_format(
    format: &Format,
    bits: &Bits,
    form: Cost,
    context: &Context<'_>,
) -> Option<Reading> {
    match context.secret {
        Some(codec) if format.name == "randflake" => {
            Some(layouts::decrypt_reading(bits, codec, context.now_ms))
        }
        _ => {
            let mut reading = Reading::from_bits(format, bits, form, context.now_ms)?;
            if format.title == TYPEID {
                reading.title = format!("{TYPEID} of {}", uuid_title(bits));
            }
            Some(reading)
        }
    }
}

/// Returns the name of the UUID that the given bits form, such as `a UUID v4`. Formats whose IDs could be any UUID, such as
/// Hot Guids, are not considered.
fn uuid_title(bits: &Bits) -> String {
    let versions = FORMATS
        .iter()
        .filter(|format| format.name.starts_with("uuid") || format.name.starts_with("guid"));
    let mut readings =
        versions.filter_map(|format| Reading::from_bits(format, bits, Cost::bits(0), 0));
    readings.next().map_or_else(String::new, |reading| {
        let is_single = reading.fields.iter().all(|field| field.role == Role::Fixed);
        let article = if is_single { "the" } else { "a" };
        format!("{article} {}", reading.title)
    })
}

/// Returns the cost of a form in which IDs are written less often than in the usual one: hexadecimal digits without
/// hyphens, a TypeID without a type, or a ULID in lower case.
fn form_cost(text: &str, form: Text) -> Cost {
    match form {
        Text::Uuid if text.len() == 32 => Cost::bits(3),
        Text::Typed if !text.contains('_') => Cost::bits(4),
        Text::Number(alphabet, _) if alphabet.0 == Alphabet::CROCKFORD_LOWER.0 => Cost::bits(4),
        _ => Cost::bits(0),
    }
}

/// Decodes a TypeID: a type of lowercase letters and underscores, `_`, and the 26 characters of a UUID. The type can be
/// absent.
fn parse_typeid(text: &str) -> Option<Bits> {
    let (kind, tail) = text.rsplit_once('_').unwrap_or(("a", text));
    let is_type = (1..=63).contains(&kind.len())
        && kind.bytes().all(|of| matches!(of, b'a'..=b'z' | b'_'))
        && !kind.starts_with('_')
        && !kind.ends_with('_');
    parse_number(tail, &Alphabet::CROCKFORD_LOWER, 26, 128).filter(|_| is_type)
}

/// Parses the base64 of a UUID's 16 bytes, in either alphabet. Without padding, 22 characters are more often something
/// else, so that form costs more.
fn parse_base64_uuid(text: &str) -> Option<(Vec<u8>, Cost)> {
    let digits = text.strip_suffix("==").unwrap_or(text);
    let form = if digits.len() < text.len() { 3 } else { 8 };
    let value = |character: u8| match character {
        b'-' => Some(62),
        b'_' => Some(63),
        _ => Alphabet::BASE64.value(character),
    };
    let mut number = 0_u128;
    let (last, first) = digits.as_bytes().split_last().filter(|_| digits.len() == 22)?;
    for character in first {
        number = number << 6 | u128::from(value(*character)?);
    }
    // The last character contains two bits of the UUID, and four zeros.
    let last = value(*last).filter(|last| last.trailing_zeros() >= 4)?;
    number = number << 2 | u128::from(last >> 4);
    Some((number.to_be_bytes().into(), Cost::bits(form)))
}

/// Parses a date in digits as days, a date and a time as seconds, or a date and a time with milliseconds as milliseconds
/// since 1970.
fn parse_date(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let small = |from: usize| number(from, from + 2).and_then(|value| i8::try_from(value).ok());
    if !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let date = jiff::civil::Date::new(number(0, 4)?, small(4)?, small(6)?).ok()?;
    let (hour, minute, second) = match text.len() {
        8 => (0, 0, 0),
        _ => (small(8)?, small(10)?, small(12)?),
    };
    let time = jiff::civil::Time::new(hour, minute, second, 0).ok()?;
    let time = jiff::tz::TimeZone::UTC.to_timestamp(date.to_datetime(time)).ok()?;
    let seconds = u64::try_from(time.as_second()).ok()?;
    match text.len() {
        8 => Some(seconds / 86_400),
        14 => Some(seconds),
        17 => Some(seconds * 1000 + text.get(14..)?.parse::<u64>().ok()?),
        _ => None,
    }
}
