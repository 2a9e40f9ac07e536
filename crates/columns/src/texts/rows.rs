//! Strings in rows of equal width, as in `NumPy` arrays.

use std::{borrow::Cow, ops::Range};

use super::{Items, Texts, Textual, decode_prefix, gather, row_text, to_buffer, trim_padding};

/// How a row stores its string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes without padding.
    Byte,
    /// Bytes padded with NULs, as in `NumPy`'s type `S`.
    PaddedByte,
    /// 4-byte characters padded with NULs, as in `NumPy`'s type `U`.
    PaddedChar,
}

impl Unit {
    /// Returns the unit of a buffer with the given format (PEP 3118, without the byte order) and number of dimensions, or
    /// `None` if the buffer does not contain strings.
    pub fn from_format(format: &str, dimensions: usize) -> Option<Self> {
        match (format.trim_start_matches(|c: char| c.is_ascii_digit()), dimensions) {
            ("s", 1) => Some(Self::PaddedByte),
            ("w", 1) => Some(Self::PaddedChar),
            ("B" | "c", 1 | 2) => Some(Self::Byte),
            _ => None,
        }
    }
}

/// Strings that are stored in rows of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The bytes of all rows.
    pub bytes: &'a [u8],
    /// The number of bytes per row.
    pub width: usize,
    /// How a row stores its string.
    pub unit: Unit,
    /// Whether other code may modify the rows while they are being read. If so, they are copied first.
    pub may_change: bool,
}

impl Rows<'_> {
    fn row(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.width..][..self.width]
    }

    /// Returns the string of a row in a padded buffer. Each non-ASCII character becomes a byte that no format allows.
    fn chars<I: Textual>(&self, index: usize) -> Option<I::TextBuffer> {
        let row = self.row(index);
        match self.unit {
            Unit::Byte => to_buffer::<I>(row_text::<I>(row)),
            Unit::PaddedByte => to_buffer::<I>(trim_padding(row, 0)),
            Unit::PaddedChar => {
                let (text, mut narrow) = (trim_padding(row.as_chunks().0, [0; 4]), I::EMPTY);
                let narrow = narrow.as_mut();
                for (place, char) in narrow.get_mut(..text.len())?.iter_mut().zip(text) {
                    *place = u8::try_from(u32::from_ne_bytes(*char)).unwrap_or(u8::MAX);
                }
                to_buffer::<I>(&narrow[..text.len()])
            }
        }
    }
}

impl Items for Rows<'_> {
    fn len(&self) -> usize {
        self.bytes.len().checked_div(self.width).unwrap_or(0)
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        self.row(index).into()
    }
}

impl<I: Textual> Texts<I> for Rows<'_> {
    fn read(&self, range: Range<usize>, buffers: &mut [I::TextBuffer], ids: &mut [I]) -> usize {
        if self.width != size_of::<I::TextBuffer>() || self.unit == Unit::PaddedChar {
            return gather(range, buffers, ids, |index| self.chars::<I>(index));
        }
        let texts = &I::as_text_buffers(self.bytes)[range];
        if !self.may_change {
            return decode_prefix(texts, ids);
        }
        buffers.copy_from_slice(texts);
        decode_prefix(buffers, ids)
    }

    fn text(&self, index: usize) -> Cow<'_, [u8]> {
        let row = self.row(index);
        match self.unit {
            Unit::Byte => row_text::<I>(row).into(),
            Unit::PaddedByte => trim_padding(row, 0).into(),
            Unit::PaddedChar => {
                let chars = trim_padding(row.as_chunks().0, [0; 4]).iter();
                let chars = chars.map(|char| char::from_u32(u32::from_ne_bytes(*char)));
                let text = chars.map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER));
                text.collect::<String>().into_bytes().into()
            }
        }
    }
}
