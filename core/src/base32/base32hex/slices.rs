//! Encodes slices of numbers as strings in 16-byte slots or as concatenated strings, and decodes them.

use super::{MAX_DIGITS, decode_error, digit_count};
use crate::{
    Error, Result,
    arch::{
        Level, Slot,
        scalar::base32hex::{text_in_span, text_of},
    },
    error::{check_same_length, unit_of_byte},
};

/// The number of strings that are buffered in slots while a column is encoded or decoded.
const CHUNK_LEN: usize = 64;

/// Encodes each number into the slot at the same index.
///
/// # Errors
/// Returns `invalid_length` unless both slices have the same length.
pub fn encode(level: Level, numbers: &[u64], slots: &mut [Slot]) -> Result<()> {
    check_same_length(numbers.len(), slots.len())?;
    level.encode_base32hex(numbers, slots);
    Ok(())
}

/// Decodes the number in each slot, up to the first invalid slot.
///
/// # Errors
/// Returns `invalid_length` if the slices have different lengths. Returns the error for the first invalid string, with the
/// string's index.
pub fn decode(level: Level, slots: &[Slot], numbers: &mut [u64]) -> Result<()> {
    check_same_length(slots.len(), numbers.len())?;
    let done = level.decode_base32hex(slots, numbers);
    slots.get(done).map_or(Ok(()), |bad| Err(decode_error_at(text_of(bad), done)))
}

/// Encodes all numbers as concatenated strings, and writes the offset at which each string begins. One more offset, which
/// is also returned, marks the end of the last string.
///
/// # Errors
/// Returns `invalid_length` unless `offsets` has one more element than `numbers` and `text` has room for 13 bytes per
/// number. Returns `out_of_range` if, at 13 bytes per number, the last offset would not fit in 32 bits.
pub fn encode_column(
    level: Level,
    numbers: &[u64],
    offsets: &mut [i32],
    text: &mut [u8],
) -> Result<usize> {
    check_same_length(numbers.len().saturating_add(1), offsets.len())?;
    let most = numbers.len().saturating_mul(MAX_DIGITS);
    if text.len() < most {
        return Err(Error::invalid_length(text.len(), most, usize::MAX));
    }
    if i32::try_from(most).is_err() {
        let most_numbers = i128::from(i32::MAX) / 13;
        return Err(Error::out_of_range("ids", numbers.len() as i128, 0, most_numbers));
    }
    // The strings are first encoded into slots of a fixed size, because the kernels write whole registers. They are then
    // concatenated.
    let mut slots = [[0; 16]; CHUNK_LEN];
    // The last offset does not exceed `most`, and the code above has checked that `most` fits in 32 bits.
    let mut end: u32 = 0;
    offsets[0] = 0;
    for (numbers, offsets) in numbers.chunks(CHUNK_LEN).zip(offsets[1..].chunks_mut(CHUNK_LEN)) {
        encode(level, numbers, &mut slots[..numbers.len()])?;
        for ((number, slot), offset) in numbers.iter().zip(&slots).zip(offsets) {
            let length = digit_count(*number);
            copy_digits(slot, usize::from(length), &mut text[end as usize..]);
            end += u32::from(length);
            *offset = end.cast_signed();
        }
    }
    Ok(end as usize)
}

/// Copies the string in a slot to `places`. If there is enough space, the whole slot is copied, and the bytes after the
/// string are overwritten later.
#[inline]
fn copy_digits(slot: &Slot, length: usize, places: &mut [u8]) {
    match places.first_chunk_mut() {
        Some(place) => *place = *slot,
        None => copy_last_digits(&slot[..length], places),
    }
}

/// Copies only the string, not the whole slot. This is a separate function, because LLVM would otherwise merge the two
/// copies into one call.
#[cold]
#[inline(never)]
fn copy_last_digits(text: &[u8], places: &mut [u8]) {
    places[..text.len()].copy_from_slice(text);
}

/// Decodes the concatenated strings that begin at the given offsets, stopping at the first invalid string.
///
/// # Errors
/// Returns `invalid_length` unless `offsets` has one more element than `numbers`. Returns `out_of_range`, with the index of
/// the string, if an offset is below the previous offset or past the end of the strings. Returns the error for the first
/// invalid string, with the string's index.
pub fn decode_column(
    level: Level,
    offsets: &[i32],
    text: &[u8],
    numbers: &mut [u64],
) -> Result<()> {
    check_same_length(numbers.len().saturating_add(1), offsets.len())?;
    let done = level.decode_base32hex_column(offsets, text, numbers);
    offsets[done..].first_chunk().map_or(Ok(()), |&span| {
        Err(text_in_span(text, span).map_or_else(
            || offsets_error(text, span).in_item(done),
            |text| decode_error_at(text, done),
        ))
    })
}

#[cold]
fn offsets_error(text: &[u8], [start, end]: [i32; 2]) -> Error {
    let (least, most) = (start.max(0).into(), text.len() as i128);
    Error::out_of_range("offsets", end.into(), least, most)
}

#[cold]
fn decode_error_at(text: &[u8], item: usize) -> Error {
    decode_error(text.iter().copied().map(unit_of_byte)).in_item(item)
}
