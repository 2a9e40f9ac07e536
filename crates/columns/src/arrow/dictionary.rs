//! Dictionaries: columns of keys that select from an array of values.

use std::{borrow::Cow, ops::Range};

use super::{buffers::Buffers, layout::Readable};
use crate::{
    OutOfMemory,
    texts::{Items, Texts, Textual, decode_until_invalid},
    try_with_capacity,
};

/// The keys of a dictionary array, up to the first null. The key of an item is the position of the value that the item
/// selects.
pub(super) struct Keys {
    pub(super) positions: Vec<usize>,
    /// Whether a null follows the last of these keys.
    pub(super) ends_at_null: bool,
}

impl Keys {
    /// Returns the keys of an array. Returns `None` if the format is not an integer type, or if a key selects a value that
    /// does not exist.
    pub(super) fn from_array(
        format: &str,
        keys: &Buffers<'_>,
        values: &Buffers<'_>,
    ) -> Result<Option<Self>, OutOfMemory> {
        match format {
            "c" => Self::read_keys::<i8>(keys, values),
            "C" => Self::read_keys::<u8>(keys, values),
            "s" => Self::read_keys::<i16>(keys, values),
            "S" => Self::read_keys::<u16>(keys, values),
            "i" => Self::read_keys::<i32>(keys, values),
            "I" => Self::read_keys::<u32>(keys, values),
            "l" => Self::read_keys::<i64>(keys, values),
            "L" => Self::read_keys::<u64>(keys, values),
            _ => Ok(None),
        }
    }

    fn read_keys<K: Copy + TryInto<usize>>(
        keys: &Buffers<'_>,
        values: &Buffers<'_>,
    ) -> Result<Option<Self>, OutOfMemory> {
        let length = keys.first_null();
        let Some(given) = keys.slice::<K>(1, keys.offset, length) else { return Ok(None) };
        let mut positions = try_with_capacity(length)?;
        for key in given {
            match (*key).try_into() {
                Ok(key) if key >= values.length => return Ok(None),
                Ok(key) if values.is_null(key) => {
                    return Ok(Some(Self { positions, ends_at_null: true }));
                }
                Ok(key) => positions.push(key),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(Self { positions, ends_at_null: length < keys.length }))
    }
}

/// The strings that a dictionary's keys select.
pub(super) struct SelectedTexts<'a, I: Textual> {
    positions: Vec<usize>,
    values: Box<dyn Readable<I> + 'a>,
    /// The ID of each value in the dictionary. A string that is not an ID is `None`, which is an error only if a key
    /// selects it.
    ids: Vec<Option<I>>,
}

impl<'a, I: Textual> SelectedTexts<'a, I> {
    pub(super) fn new(
        positions: Vec<usize>,
        values: Box<dyn Readable<I> + 'a>,
    ) -> Result<Self, OutOfMemory> {
        let ids = valid_ids(&*values)?;
        Ok(Self { positions, values, ids })
    }
}

/// Returns the ID of each string, or `None` for a string that cannot be decoded.
fn valid_ids<I: Textual>(texts: &(impl Texts<I> + ?Sized)) -> Result<Vec<Option<I>>, OutOfMemory> {
    let mut ids = try_with_capacity(texts.len())?;
    while ids.len() < texts.len() {
        decode_until_invalid(texts, ids.len(), |read| ids.extend(read.iter().copied().map(Some)));
        if ids.len() < texts.len() {
            ids.push(None);
        }
    }
    Ok(ids)
}

impl<I: Textual> Items for SelectedTexts<'_, I> {
    fn len(&self) -> usize {
        self.positions.len()
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        self.values.item(self.positions[index])
    }
}

impl<I: Textual> Texts<I> for SelectedTexts<'_, I> {
    fn read(&self, range: Range<usize>, _: &mut [I::TextBuffer], ids: &mut [I]) -> usize {
        let selected = self.positions[range].iter().map_while(|position| self.ids[*position]);
        let mut count = 0;
        for (place, id) in ids.iter_mut().zip(selected) {
            *place = id;
            count += 1;
        }
        count
    }

    fn text(&self, index: usize) -> Cow<'_, [u8]> {
        self.values.text(self.positions[index])
    }
}
