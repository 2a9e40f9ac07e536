//! Suggests which ID the user may have meant if a string is not an ID. The suggestion may be a part of the string, or the
//! string converted to lowercase or uppercase. If the string is one character longer or shorter than an ID, the suggestion
//! says so.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{Context, Reading, inspect, likely};

type LengthRule = (&'static str, usize, fn(u8) -> bool);

/// The fixed-length formats whose IDs are often copied by hand. Each entry contains the format's name, the length of its
/// IDs, and a function that returns whether a character is allowed.
const LENGTHS: [LengthRule; 4] = [
    ("a UUID has", 36, |c| c.is_ascii_hexdigit() || c == b'-'),
    ("a UUID without hyphens has", 32, |c| c.is_ascii_hexdigit()),
    ("a ULID has", 26, |c| c.is_ascii_digit() || c.is_ascii_uppercase()),
    ("a sno has", 16, |c| matches!(c, b'2'..=b'9' | b'a'..=b'x')),
];
/// The minimum length of a substring that may be suggested. Shorter substrings are usually words or numbers.
const MIN_CANDIDATE_LEN: usize = 8;

/// Returns a suggestion for a string whose readings are all unlikely. The string may contain an ID, it may be an ID after
/// conversion to lowercase or uppercase, or it may be one character longer or shorter than an ID.
///
/// ```
/// use polyflake_inspect::{Context, suggest};
///
/// let context = Context { now_ms: 1_795_422_487_000, ..Context::default() };
/// let suggestion = suggest("https://example.com/9afikjv326nct5if?page=2", &[], &context);
/// assert_eq!(suggestion.as_deref(), Some("did you mean 9afikjv326nct5if, a sno?"));
/// let suggestion = suggest("9AFIKJV326NCT5IF", &[], &context);
/// assert_eq!(suggestion.as_deref(), Some("did you mean 9afikjv326nct5if, a sno?"));
/// let suggestion = suggest("9afikjv326nct5i", &[], &context);
/// assert_eq!(suggestion.as_deref(), Some("a character is missing: a sno has 16, and this has 15"));
/// assert_eq!(suggest("hello", &[], &context), None);
/// ```
#[must_use]
pub fn suggest(text: &str, readings: &[Reading], context: &Context<'_>) -> Option<String> {
    if readings.iter().map(|reading| reading.probability).sum::<f64>() >= 0.5 {
        return None;
    }
    let text = text.trim();
    let mut pieces: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').collect();
    pieces.retain(|piece| (MIN_CANDIDATE_LEN..text.len()).contains(&piece.len()));
    pieces.sort_by_key(|piece| core::cmp::Reverse(piece.len()));
    let cases = [text.to_ascii_lowercase(), text.to_ascii_uppercase()];
    let cases = cases.into_iter().filter(|case| case != text);
    let candidates = pieces.into_iter().map(ToString::to_string).chain(cases);
    candidates
        .into_iter()
        .find_map(|id| did_you_mean(&id, context))
        .or_else(|| detect_wrong_length(text))
}

/// Returns a question that asks whether the user meant the ID in `id`, or `None` if `id` is probably not an ID.
fn did_you_mean(id: &str, context: &Context<'_>) -> Option<String> {
    let readings = inspect(id, context);
    let first = likely(&readings).next().filter(|first| first.probability >= 0.5)?;
    Some(format!("did you mean {id}, {}{}?", crate::words::article(first), first.title))
}

/// Detects a string that is one character longer or shorter than an ID. IDs contain digits, so strings without digits are
/// probably words and are ignored.
fn detect_wrong_length(text: &str) -> Option<String> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let near = LENGTHS.iter().find(|(_, length, is_of)| {
        digits > 2 && text.len().abs_diff(*length) == 1 && text.bytes().all(is_of)
    });
    let (has, expected, _) = near?;
    let fault = if text.len() < *expected { "is missing" } else { "is too many" };
    Some(format!("a character {fault}: {has} {expected}, and this has {}", text.len()))
}
