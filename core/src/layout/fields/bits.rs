//! Reads and writes the fields of byte IDs. A field can begin and end at any bit. Offsets are counted from the most
//! significant bit of the first byte.

use alloc::vec::Vec;

/// Writes the low `bits` bits of a value at `offset`. `bits` is at most 64.
pub(in crate::layout) fn write_bits(id: &mut [u8], offset: u32, bits: u32, value: u64) {
    let (mut value, mut end) = (value, offset + bits);
    while end > offset {
        // Each iteration writes one byte, starting at the low end. The lowest `low` bits of the byte are below the field.
        let low = (8 - end % 8) % 8;
        let width = (8 - low).min(end - offset);
        let byte = &mut id[(end as usize - 1) / 8];
        *byte = *byte & !(low_bits_mask(width) << low)
            | (value.to_le_bytes()[0] & low_bits_mask(width)) << low;
        value = value.checked_shr(width).unwrap_or(0);
        end -= width;
    }
}

/// Writes a big-endian number, or its bitwise complement if `invert` is `true`, to a field of any width. The number must
/// fit in the field.
pub(in crate::layout) fn write_wide_bits(
    id: &mut [u8],
    offset: u32,
    bits: u32,
    number: &[u8],
    invert: bool,
) {
    let (mut bytes, mut end) = (number.iter().rev(), offset + bits);
    while end > offset {
        let width = (end - offset).min(8);
        let byte = bytes.next().unwrap_or(&0) ^ if invert { u8::MAX } else { 0 };
        write_bits(id, end - width, width, byte.into());
        end -= width;
    }
}

/// Returns the value of a field of at most 64 bits.
pub(in crate::layout) fn read_bits(id: &[u8], offset: u32, bits: u32) -> u64 {
    let (mut value, mut start, end) = (0, offset, offset + bits);
    while start < end {
        let width = (8 - start % 8).min(end - start);
        let below = 8 - start % 8 - width;
        value = value << width | u64::from(id[start as usize / 8] >> below & low_bits_mask(width));
        start += width;
    }
    value
}

/// Returns the value of a field of any width as a big-endian number without leading zero bytes.
pub(in crate::layout) fn read_wide_bits(
    id: &[u8],
    offset: u32,
    bits: u32,
    invert: bool,
) -> Vec<u8> {
    let mut number = Vec::with_capacity(bits.div_ceil(8) as usize);
    let (mut start, end) = (offset, offset + bits);
    while start < end {
        // The first byte contains the bits that remain after all whole bytes. Each later iteration therefore reads a full
        // byte, and the number ends at a byte boundary.
        let width = (end - start - 1) % 8 + 1;
        let byte = read_bits(id, start, width).to_le_bytes()[0]
            ^ if invert { low_bits_mask(width) } else { 0 };
        if byte != 0 || !number.is_empty() {
            number.push(byte);
        }
        start += width;
    }
    number
}

/// Returns a big-endian number in its shortest form, which is empty for 0.
pub(in crate::layout) fn without_leading_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

/// Returns the number of bits that a big-endian number needs.
pub(in crate::layout) fn significant_bits(number: &[u8]) -> usize {
    let number = without_leading_zeros(number);
    number.first().map_or(0, |top| 8 * number.len() - top.leading_zeros() as usize)
}

/// Returns a mask of the lowest `width` bits, where `width` is from 1 to 8.
const fn low_bits_mask(width: u32) -> u8 {
    u8::MAX >> (8 - width)
}
