//! Columns of IDs' texts, read strictly: Arrow columns, buffers (`NumPy`'s and others), and any iterables.

use std::{
    borrow::Cow,
    ops::{Range, RangeInclusive},
};

use polyflake::{
    Error, ErrorKind, Result,
    randflake::{self, Randflake},
    sno::{self, Sno},
};
use pyo3::{prelude::*, types::PyString};

use super::{
    buffer::Rows,
    convert::{
        Take, Text, check_length, iterator, mistyped, raise_named, type_name, wrong_kind,
        wrong_type,
    },
    memory::room,
};
use crate::{
    arrow::{import::Pieces, texts::Piece},
    errors::raise,
};

/// The place of a text: 16 bytes, the length of sno's texts; zeros follow shorter texts.
pub(crate) type Chars = [u8; 16];

/// IDs whose texts fit [`Chars`].
pub(crate) trait Textual: Copy + Default + Send + Sync + 'static {
    /// `true` if texts differ in length, so that zeros fill places of a fixed width.
    const PADDED: bool;
    /// Characters of a text.
    const LENGTHS: RangeInclusive<usize>;

    fn parse(text: &str) -> Result<Self>;

    /// The core's `decode_slice` of the family.
    fn decode(texts: &[Chars], ids: &mut [Self]) -> Result<()>;

    /// Reads texts that lie side by side, up to the first bad one, and returns their number. `offsets` has one item more than `ids`.
    fn decode_joined(offsets: &[i32], bytes: &[u8], ids: &mut [Self]) -> usize;
}

impl Textual for Sno {
    const PADDED: bool = false;
    const LENGTHS: RangeInclusive<usize> = Self::TEXT_LEN..=Self::TEXT_LEN;

    fn parse(text: &str) -> Result<Self> {
        Self::parse(text)
    }

    fn decode(texts: &[Chars], ids: &mut [Self]) -> Result<()> {
        sno::decode_slice(texts, ids)
    }

    fn decode_joined(offsets: &[i32], bytes: &[u8], ids: &mut [Self]) -> usize {
        let is_text = |pair: &[i32]| pair[1].wrapping_sub(pair[0]) == 16;
        // Without a branch for each text: mostly all of them are right.
        let all = offsets.windows(2).fold(true, |all, pair| all & is_text(pair));
        let whole = if all {
            ids.len()
        } else {
            offsets.windows(2).take_while(|pair| is_text(pair)).count()
        };
        let start = usize::try_from(offsets[0]).unwrap_or(usize::MAX);
        let bytes = bytes.get(start..).and_then(|bytes| bytes.get(..whole * size_of::<Chars>()));
        decoded(bytes.unwrap_or_default().as_chunks().0, ids)
    }
}

impl Textual for Randflake {
    const PADDED: bool = true;
    const LENGTHS: RangeInclusive<usize> = 1..=Self::TEXT_LEN;

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

/// Reads texts up to the first bad one, and returns their number. `ids` has a place for each.
pub(crate) fn decoded<I: Textual>(texts: &[Chars], ids: &mut [I]) -> usize {
    let read = I::decode(texts, &mut ids[..texts.len()]);
    read.map_or_else(|error| error.item().unwrap_or(0), |()| texts.len())
}

/// A text, padded to its place; `None` if it cannot be an ID's: of another length, or with a zero at its end.
pub(crate) fn placed<I: Textual>(text: &[u8]) -> Option<Chars> {
    if !I::PADDED {
        return text.try_into().ok();
    }
    let mut place = Chars::default();
    let ends_well = text.last() != Some(&0);
    place.get_mut(..text.len()).filter(|_| ends_well)?.copy_from_slice(text);
    Some(place)
}

/// The text in a row of fixed width.
pub(crate) fn text_in<I: Textual>(row: &[u8]) -> &[u8] {
    if I::PADDED { unpadded(row, 0) } else { row }
}

/// The row without the blanks at its end.
pub(super) fn unpadded<T: PartialEq>(row: &[T], blank: T) -> &[T] {
    let length = row.iter().rposition(|item| *item != blank).map_or(0, |last| last + 1);
    &row[..length]
}

/// Texts in memory.
pub(crate) trait Texts<I> {
    fn len(&self) -> usize;

    /// Reads the texts of a range of at most [`BLOCK`] up to the first bad one, and returns their number. `ids` and `room` have a
    /// place for each; texts that are not laid out as the core needs them are copied to `room`.
    fn read(&self, range: Range<usize>, room: &mut [Chars], ids: &mut [I]) -> usize;

    /// One text of any length.
    fn item(&self, index: usize) -> Cow<'_, [u8]>;
}

/// The name of the parameter for columns.
pub(super) const NAME: &str = "column";

pub(super) const COLUMN: &str = "a column of texts";

/// Number of texts that fit into the first-level cache together with their IDs.
pub(crate) const BLOCK: usize = 512;

/// The IDs of a column. An error names the item.
pub(crate) fn ids_of<I: Textual>(column: &Bound<'_, PyAny>) -> PyResult<Vec<I>> {
    if let Some(pieces) = Pieces::of(column, NAME, COLUMN)? {
        of_pieces(column.py(), &pieces)
    } else if let Some(rows) = Rows::of(column)? {
        let mut ids = room(Texts::<I>::len(&rows))?;
        append(&mut ids, &rows).map_err(refused)?;
        Ok(ids)
    } else {
        of_items(column)
    }
}

fn of_pieces<I: Textual>(py: Python<'_>, pieces: &Pieces) -> PyResult<Vec<I>> {
    let other = || wrong_kind(NAME, COLUMN, &format!("Arrow's type {}", pieces.format()));
    let texts = pieces.texts().ok_or_else(other)?;
    let mut ids = room(texts.iter().map(|piece| piece.texts.len()).sum())?;
    let append = |piece: &Piece<'_, I>| append_piece(&mut ids, piece);
    py.detach(|| texts.iter().try_for_each(append)).map_err(refused)?;
    Ok(ids)
}

fn append_piece<I: Textual>(ids: &mut Vec<I>, piece: &Piece<'_, I>) -> Result<()> {
    append(ids, &*piece.texts)?;
    if piece.ends_at_null {
        return Err(mistyped(NAME, "str", "null").in_item(ids.len()));
    }
    Ok(())
}

/// Appends the IDs of texts; `ids` has room for them.
fn append<I: Textual>(ids: &mut Vec<I>, texts: &(impl Texts<I> + ?Sized)) -> Result<()> {
    let (before, all) = (ids.len(), texts.len());
    let (mut room, mut read) = ([Chars::default(); BLOCK], [I::default(); BLOCK]);
    while ids.len() - before < all {
        let done = ids.len() - before;
        let range = done..all.min(done + BLOCK);
        let (count, read) = (range.len(), &mut read[..range.len()]);
        let good = texts.read(range, &mut room[..count], read);
        ids.extend_from_slice(&read[..good]);
        if good < count {
            return Err(refusal::<I>(&texts.item(done + good)).in_item(ids.len()));
        }
    }
    Ok(())
}

/// Copies texts into `room` up to the first that cannot be an ID's, and reads them.
pub(crate) fn gather<I: Textual>(
    range: Range<usize>,
    room: &mut [Chars],
    ids: &mut [I],
    text: impl Fn(usize) -> Option<Chars>,
) -> usize {
    let mut whole = 0;
    for (chars, text) in room.iter_mut().zip(range.map_while(text)) {
        *chars = text;
        whole += 1;
    }
    decoded(&room[..whole], ids)
}

/// The error that a refused text gives when it is read alone.
#[cold]
fn refusal<I: Textual>(text: &[u8]) -> Error {
    let text = String::from_utf8_lossy(text);
    I::parse(&text).map_or_else(|error| error, |_| mistyped(NAME, COLUMN, "a changing one"))
}

/// The exception for an item that is not a text, or for the text of no ID, as if it were read alone.
#[cold]
fn refused(error: Error) -> PyErr {
    if error.kind() == ErrorKind::InvalidType { raise_named(error, NAME) } else { raise(error) }
}

/// The IDs of an iterable.
fn of_items<I: Textual>(column: &Bound<'_, PyAny>) -> PyResult<Vec<I>> {
    if column.is_instance_of::<PyString>() {
        return Err(wrong_type(NAME, COLUMN, column));
    }
    let mut ids = vec![];
    for item in iterator(column, COLUMN, NAME)? {
        let item = item?;
        let in_item = |error: Error| refused(error.in_item(ids.len()));
        let Ok(text) = item.cast::<PyString>() else {
            return Err(in_item(mistyped(NAME, "str", &type_name(&item))));
        };
        check_length(text, &I::LENGTHS).map_err(in_item)?;
        let id = I::parse(&Text::take(item.as_borrowed(), NAME)?).map_err(in_item)?;
        ids.push(id);
    }
    Ok(ids)
}
