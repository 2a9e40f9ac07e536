//! Columns of encoded IDs, decoded strictly: each string is accepted or rejected exactly as if it were decoded
//! individually.
//!
//! Strings come from Arrow columns (`crate::arrow`), or from rows of a fixed width (`rows`).
//!
//! # How a column is decoded
//!
//! The core's kernels decode many strings of the same length at once, and stop before a group that contains an invalid
//! string. A column is therefore decoded in blocks of [`BLOCK`] strings. A layout that the kernels can read (strings of the
//! right width, or concatenated strings with offsets) is decoded in place. Strings in any other layout are first copied
//! into a block of padded strings. Blocks are on the stack, so decoding needs no memory except for the IDs.
//!
//! If decoding stops before the end of a block, the next string is decoded again, individually. A rejected item therefore
//! results in the same error as a string that is decoded individually, including the position of the first invalid
//! character. Because the kernels do not create this error, they need no code for errors.

mod rows;

use std::{
    borrow::Cow,
    ops::{Range, RangeInclusive},
};

use polyflake::{
    Error, ErrorKind, Result,
    base32::Text,
    hotguid::HotGuid,
    randflake::{self, Randflake},
    sno::{self, Sno},
    uuid7::Uuid7,
};

pub use self::rows::{Rows, Unit};
use crate::{Fault, Plain, arrow::Column, memory::impl_plain, try_with_capacity, zeroed};

/// A 16-byte buffer for an encoded sno or Randflake. An encoded sno fills it, and shorter strings are followed by zero
/// bytes.
pub type Chars = [u8; 16];

/// An ID type that can represent any GUID, for code that handles the GUIDs of all formats.
pub type AnyGuid = HotGuid;

/// A buffer for the string form of a GUID.
pub type GuidChars = [u8; AnyGuid::TEXT_LEN];

/// The number of strings in a block. The strings of a block and their IDs fit in the L1 cache together.
pub const BLOCK: usize = 512;

/// An ID type with a string form.
pub trait Textual: Plain + Default {
    /// A buffer for one encoded ID.
    type TextBuffer: Plain + AsRef<[u8]> + AsMut<[u8]>;
    /// An empty buffer.
    const EMPTY: Self::TextBuffer;
    /// Whether strings vary in length. If so, fixed-width buffers are padded with zeros.
    const IS_PADDED: bool;
    /// The range of possible lengths of an encoded ID, in characters.
    const LENGTHS: RangeInclusive<usize>;

    /// Parses one string.
    ///
    /// # Errors
    /// Returns any error that the ID format's parser returns.
    fn parse(text: &str) -> Result<Self>;

    /// Reinterprets bytes as a slice of buffers.
    fn as_text_buffers(bytes: &[u8]) -> &[Self::TextBuffer];

    /// Decodes each string into the element of `ids` at the same index.
    ///
    /// # Errors
    ///
    /// Returns the error for the first invalid string, with the string's index.
    fn decode(texts: &[Self::TextBuffer], ids: &mut [Self]) -> Result<()>;

    /// Decodes strings that are stored one after the other, up to the first invalid one, and returns the number of decoded
    /// IDs. `offsets` has one more element than `ids`.
    fn decode_joined(offsets: &[i32], bytes: &[u8], ids: &mut [Self]) -> usize {
        let width = size_of::<Self::TextBuffer>();
        let is_text = |pair: &[i32]| usize::try_from(pair[1].wrapping_sub(pair[0])) == Ok(width);
        // The loop checks all lengths without branching, because all strings have the right length in nearly every column.
        let all = offsets.windows(2).fold(true, |all, pair| all & is_text(pair));
        let whole = if all {
            ids.len()
        } else {
            offsets.windows(2).take_while(|pair| is_text(pair)).count()
        };
        let start = usize::try_from(offsets[0]).unwrap_or(usize::MAX);
        let bytes = bytes.get(start..).and_then(|bytes| bytes.get(..whole * width));
        decode_prefix(Self::as_text_buffers(bytes.unwrap_or_default()), ids)
    }
}

/// Implements the members of [`Textual`] for buffers that are byte arrays.
macro_rules! impl_text_buffers {
    ($place:ty) => {
        type TextBuffer = $place;
        const EMPTY: Self::TextBuffer = [0; size_of::<$place>()];

        fn as_text_buffers(bytes: &[u8]) -> &[Self::TextBuffer] {
            bytes.as_chunks().0
        }
    };
}

impl Textual for Sno {
    const IS_PADDED: bool = false;
    const LENGTHS: RangeInclusive<usize> = Self::TEXT_LEN..=Self::TEXT_LEN;
    impl_text_buffers!(Chars);

    fn parse(text: &str) -> Result<Self> {
        Self::parse(text)
    }

    fn decode(texts: &[Chars], ids: &mut [Self]) -> Result<()> {
        sno::decode_slice(texts, ids)
    }
}

/// Implements [`Plain`] and [`Textual`] for 16-byte IDs that are encoded as GUID strings.
macro_rules! impl_guid {
    ($($id:ty),*) => {$(
        impl_plain! { $id: c"B", 1, ""; }

        impl Textual for $id {
            const IS_PADDED: bool = false;
            const LENGTHS: RangeInclusive<usize> = Self::TEXT_LEN..=Self::TEXT_LEN;
            impl_text_buffers!(GuidChars);

            fn parse(text: &str) -> Result<Self> {
                Self::parse(text)
            }

            fn decode(texts: &[GuidChars], ids: &mut [Self]) -> Result<()> {
                for (item, (text, id)) in texts.iter().zip(ids).enumerate() {
                    *id = Self::parse_bytes(text).map_err(|error| error.in_item(item))?;
                }
                Ok(())
            }
        }
    )*};
}

impl_guid!(HotGuid, Uuid7);

impl Textual for Randflake {
    const IS_PADDED: bool = true;
    const LENGTHS: RangeInclusive<usize> = 1..=Self::TEXT_LEN;
    impl_text_buffers!(Chars);

    fn parse(text: &str) -> Result<Self> {
        Self::parse(text)
    }

    fn decode(texts: &[Chars], ids: &mut [Self]) -> Result<()> {
        randflake::decode_slice(texts, ids)
    }

    fn decode_joined(offsets: &[i32], bytes: &[u8], ids: &mut [Self]) -> usize {
        let read = randflake::decode_column(offsets, bytes, ids);
        read.map_or_else(|error| error.item().unwrap_or(0), |()| ids.len())
    }
}

/// A sequence of byte strings in memory.
pub trait Items {
    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns one item, or an empty slice if the item is outside the memory of the sequence.
    fn item(&self, index: usize) -> Cow<'_, [u8]>;
}

/// A sequence of encoded IDs in memory.
pub trait Texts<I: Textual>: Items {
    /// Decodes the strings in a range of at most [`BLOCK`] items, up to the first invalid one, and returns the number of
    /// decoded IDs. `ids` and `buffers` have one element for each item. Strings whose layout the core does not support are
    /// copied to `buffers`.
    fn read(&self, range: Range<usize>, buffers: &mut [I::TextBuffer], ids: &mut [I]) -> usize;

    /// Returns one string of any length, without padding.
    fn text(&self, index: usize) -> Cow<'_, [u8]> {
        self.item(index)
    }
}

/// Decodes all strings into IDs.
///
/// # Errors
/// Returns the error for the first invalid string, with the string's index, or an error if the allocation fails.
pub fn decode_ids<I: Textual>(
    texts: &(impl Texts<I> + ?Sized),
) -> std::result::Result<Vec<I>, Fault> {
    let mut ids = try_with_capacity(texts.len())?;
    append_ids(&mut ids, texts)?;
    Ok(ids)
}

/// Decodes all strings and appends their IDs to a vector, which must have enough capacity for them.
pub(crate) fn append_ids<I: Textual>(
    ids: &mut Vec<I>,
    texts: &(impl Texts<I> + ?Sized),
) -> Result<()> {
    let bad = decode_until_invalid(texts, 0, |read| ids.extend_from_slice(read));
    bad.map_or(Ok(()), |bad| Err(rejection_error::<I>(&texts.text(bad)).in_item(ids.len())))
}

/// Decodes strings, starting at index `from`, and passes their IDs to `take` in blocks. Returns the index of the first
/// invalid string, if there is one.
pub(crate) fn decode_until_invalid<I: Textual>(
    texts: &(impl Texts<I> + ?Sized),
    mut from: usize,
    mut take: impl FnMut(&[I]),
) -> Option<usize> {
    // The blocks have a fixed size and are stored on the stack. Therefore an invalid column is detected without an
    // allocation proportional to the column's length.
    let (mut buffers, mut read) = ([I::EMPTY; BLOCK], [I::default(); BLOCK]);
    while from < texts.len() {
        let range = from..texts.len().min(from + BLOCK);
        let (count, read) = (range.len(), &mut read[..range.len()]);
        let good = texts.read(range, &mut buffers[..count], read);
        take(&read[..good]);
        from += good;
        if good < count {
            return Some(from);
        }
    }
    None
}

/// Returns the error that results from decoding a rejected string individually.
#[cold]
fn rejection_error<I: Textual>(text: &[u8]) -> Error {
    let changed = "expected a column of strings, found one that changes while it is read";
    let text = String::from_utf8_lossy(text);
    let read = I::parse(&text);
    read.map_or_else(|error| error, |_| Error::with_reason(ErrorKind::InvalidType, changed))
}

/// Decodes strings up to the first invalid one, and returns the number of decoded IDs. `ids` has one element for each
/// string.
pub(crate) fn decode_prefix<I: Textual>(texts: &[I::TextBuffer], ids: &mut [I]) -> usize {
    let read = I::decode(texts, &mut ids[..texts.len()]);
    read.map_or_else(|error| error.item().unwrap_or(0), |()| texts.len())
}

/// Copies strings into `buffers` up to the first one that cannot be an ID, and decodes them.
pub(crate) fn gather<I: Textual>(
    range: Range<usize>,
    buffers: &mut [I::TextBuffer],
    ids: &mut [I],
    text: impl Fn(usize) -> Option<I::TextBuffer>,
) -> usize {
    let mut whole = 0;
    for (chars, text) in buffers.iter_mut().zip(range.map_while(text)) {
        *chars = text;
        whole += 1;
    }
    decode_prefix(&buffers[..whole], ids)
}

/// Copies a string into a padded buffer. Returns `None` if the string cannot be an ID because it has the wrong length or
/// ends in a zero byte.
pub(crate) fn to_buffer<I: Textual>(text: &[u8]) -> Option<I::TextBuffer> {
    let mut place = I::EMPTY;
    let fits = if I::IS_PADDED {
        text.last() != Some(&0)
    } else {
        text.len() == size_of::<I::TextBuffer>()
    };
    place.as_mut().get_mut(..text.len()).filter(|_| fits)?.copy_from_slice(text);
    Some(place)
}

/// Returns the string in a row of fixed width.
pub(crate) fn row_text<I: Textual>(row: &[u8]) -> &[u8] {
    if I::IS_PADDED { trim_padding(row, 0) } else { row }
}

/// Returns a row without its trailing padding.
fn trim_padding<T: Copy + PartialEq>(row: &[T], blank: T) -> &[T] {
    let length = row.iter().rposition(|item| *item != blank).map_or(0, |last| last + 1);
    &row[..length]
}

/// Encodes sno IDs as packed strings.
///
/// # Errors
/// Returns an error if the allocation fails.
pub fn encode_snos(ids: &[Sno]) -> std::result::Result<Vec<Chars>, Fault> {
    let (mut texts, mut block) = (try_with_capacity(ids.len())?, [Chars::default(); BLOCK]);
    for ids in ids.chunks(BLOCK) {
        let block = &mut block[..ids.len()];
        sno::encode_slice(ids, block)?;
        texts.extend_from_slice(block);
    }
    Ok(texts)
}

/// Encodes IDs as packed GUID strings.
///
/// # Errors
///
/// Returns an error if the allocation fails.
pub fn encode_guids<I: Copy>(
    ids: &[I],
    text: impl Fn(I) -> Text<{ size_of::<GuidChars>() }>,
) -> std::result::Result<Vec<GuidChars>, Fault> {
    let mut texts = try_with_capacity(ids.len())?;
    texts.extend(ids.iter().map(|id| {
        let mut place = AnyGuid::EMPTY;
        place.copy_from_slice(text(*id).as_bytes());
        place
    }));
    Ok(texts)
}

/// Encodes Randflakes as strings, each in a buffer that is padded with zeros.
///
/// # Errors
/// Returns an error if the allocation fails.
pub fn encode_randflakes(ids: &[Randflake]) -> std::result::Result<Vec<Chars>, Fault> {
    let mut slots = zeroed(ids.len())?;
    randflake::encode_slice(ids, &mut slots)?;
    Ok(slots)
}

/// Encodes Randflakes as an Arrow column of strings.
///
/// # Errors
///
/// Returns `invalid_length` if the strings together are too long for 32-bit offsets, or an error if the allocation fails.
pub fn randflake_column(ids: &[Randflake]) -> std::result::Result<Column, Fault> {
    let mut offsets = zeroed::<i32>(ids.len() + 1)?;
    let mut text = zeroed::<u8>(ids.len().saturating_mul(Randflake::TEXT_LEN))?;
    randflake::encode_column(ids, &mut offsets, &mut text)?;
    Ok(Column::from_concatenated_texts(ids.len(), offsets, text))
}
