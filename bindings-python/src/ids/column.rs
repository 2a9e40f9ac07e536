//! sno's texts by the column, read strictly: Arrow's columns, `NumPy`'s and other buffers, and whatever can be iterated.

use std::{borrow::Cow, ops::Range};

use polyflake::{
    Error,
    sno::{self, Sno},
};
use pyo3::{prelude::*, types::PyString};

use super::{
    buffer::Rows,
    convert::{Text, invalid_type},
    memory::room,
};
use crate::{
    arrow::{import::Pieces, texts::Piece},
    errors::{raise, raise_from},
};

/// The characters of a text.
pub(crate) type Chars = [u8; Sno::TEXT_LEN];

/// Texts in memory.
pub(crate) trait Texts {
    fn len(&self) -> usize;

    /// The texts of a range, up to the first that is not 16 bytes long: where they lie, or in `room`, which has as many places.
    fn block<'a>(&'a self, range: Range<usize>, room: &'a mut [Chars]) -> &'a [Chars];

    /// One text of any length.
    fn item(&self, index: usize) -> Cow<'_, [u8]>;
}

pub(super) const COLUMN: &str = "a column of texts";

/// So many texts and their IDs fit the processor's nearest memory.
pub(super) const BLOCK: usize = 512;

/// The IDs of a column. An error says which item it is about.
pub(crate) fn ids_of(column: &Bound<'_, PyAny>) -> PyResult<Vec<Sno>> {
    let refused = |raised| raise_from(column.py(), &invalid_type(COLUMN, column), raised);
    if let Some(pieces) = Pieces::of(column).map_err(refused)? {
        of_pieces(column.py(), &pieces)
    } else if let Some(rows) = Rows::of(column)? {
        let mut ids = room(rows.len())?;
        append(&mut ids, &rows).map_err(raise)?;
        Ok(ids)
    } else {
        of_items(column)
    }
}

fn of_pieces(py: Python<'_>, pieces: &Pieces) -> PyResult<Vec<Sno>> {
    let refused = || Error::invalid_type(COLUMN, format!("Arrow's type {}", pieces.format()));
    let texts = pieces.texts().ok_or_else(refused).map_err(raise)?;
    let mut ids = room(texts.iter().map(|piece| piece.texts.len()).sum())?;
    let append = |piece: &Piece<'_>| append_piece(&mut ids, piece);
    py.detach(|| texts.iter().try_for_each(append)).map_err(raise)?;
    Ok(ids)
}

fn append_piece(ids: &mut Vec<Sno>, piece: &Piece<'_>) -> polyflake::Result<()> {
    append(ids, &*piece.texts)?;
    if piece.ends_at_null {
        return Err(Error::invalid_type("str", "null").in_item(ids.len()));
    }
    Ok(())
}

/// Appends the IDs of texts to others, which there is room for.
fn append(ids: &mut Vec<Sno>, texts: &(impl Texts + ?Sized)) -> polyflake::Result<()> {
    let (before, all) = (ids.len(), texts.len());
    let (mut copied, mut read) = ([[0; Sno::TEXT_LEN]; BLOCK], [Sno::default(); BLOCK]);
    while ids.len() - before < all {
        let done = ids.len() - before;
        let range = done..all.min(done + BLOCK);
        let block = texts.block(range.clone(), &mut copied);
        let read = &mut read[..block.len()];
        let bad = sno::decode_slice(block, read).err().and_then(|error| error.item());
        let missing = (block.len() < range.len()).then_some(block.len());
        if let Some(bad) = bad.or(missing) {
            return Err(refusal(&texts.item(done + bad)).in_item(ids.len() + bad));
        }
        ids.extend_from_slice(read);
    }
    Ok(())
}

/// Copies texts into `room` up to the first that is not 16 characters long.
pub(crate) fn gather(
    range: Range<usize>,
    room: &mut [Chars],
    text: impl Fn(usize) -> Option<Chars>,
) -> &[Chars] {
    let mut whole = 0;
    for (chars, text) in room.iter_mut().zip(range.map_while(text)) {
        *chars = text;
        whole += 1;
    }
    &room[..whole]
}

/// What a text that was refused is refused for when it is read alone.
#[cold]
fn refusal(text: &[u8]) -> Error {
    let text = String::from_utf8_lossy(text);
    Sno::parse(&text).map_or_else(|error| error, |_| Error::invalid_type(COLUMN, "a changing one"))
}

/// The IDs of what can be iterated.
fn of_items(column: &Bound<'_, PyAny>) -> PyResult<Vec<Sno>> {
    let refused = |raised| raise_from(column.py(), &invalid_type(COLUMN, column), raised);
    if column.is_instance_of::<PyString>() {
        return Err(raise(invalid_type(COLUMN, column)));
    }
    let mut ids = vec![];
    for item in column.try_iter().map_err(refused)? {
        let item = item.map_err(refused)?;
        if !item.is_instance_of::<PyString>() {
            return Err(raise(invalid_type("str", &item).in_item(ids.len())));
        }
        let id = Sno::parse(&item.extract::<Text<'_>>()?);
        ids.push(id.map_err(|error| raise(error.in_item(ids.len())))?);
    }
    Ok(ids)
}
