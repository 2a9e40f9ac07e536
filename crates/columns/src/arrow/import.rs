//! Reads columns from other libraries, chunk by chunk, as strings, bytes or integers.
//!
//! A column may consist of several chunks, each of which has its own offset, nulls and dictionary. An error identifies an
//! item by its index in the whole column. A null is an error, because an array of IDs cannot contain nulls, and a caller
//! who wants to leave them out can do so explicitly. A chunk is read up to its first null, so that the error always
//! concerns the first rejected item.

use std::{
    borrow::Cow,
    ffi::{CStr, c_int},
    ptr,
};

use polyflake::{Error, sno::Sno};

use super::{
    Array, CDataStruct, Schema, Stream,
    buffers::Buffers,
    dictionary::{Keys, SelectedTexts},
    layout::{FixedWidthItems, Layout, Readable, items},
};
use crate::{
    Fault, OutOfMemory,
    texts::{Textual, append_ids},
    try_with_capacity,
};

/// A column, stored as a list of chunks.
#[derive(Debug)]
pub struct Chunks {
    schema: Schema,
    arrays: Vec<Array>,
}

/// The error that is returned if a stream fails to deliver its column. It contains the stream's error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError(pub String);

/// The items of a chunk up to its first null.
struct Chunk<T> {
    items: T,
    /// Whether a null follows these items.
    ends_at_null: bool,
}

/// The type of a column: the type of its items and, for a dictionary, the type of its keys.
struct ColumnType<'a> {
    keys: Option<Cow<'a, str>>,
    items: Cow<'a, str>,
}

/// The items of a chunk, or `None` if the chunk violates the rules of Arrow's C data interface.
type ChunkResult<T> = Result<Option<Chunk<T>>, OutOfMemory>;

impl Chunks {
    /// Creates a column from a single array.
    pub fn import_array(schema: Schema, array: Array) -> Self {
        Self { schema, arrays: vec![array] }
    }

    /// Returns the column's type as an Arrow format string.
    pub fn format(&self) -> Cow<'_, str> {
        format_of(&self.schema).unwrap_or(Cow::Borrowed("nothing"))
    }

    /// Decodes a column of strings into IDs. A value in a dictionary is checked only if an item refers to it.
    ///
    /// # Errors
    /// Returns a [`Fault`] for the first invalid item, with its index in the column.
    pub fn ids<I: Textual>(&self) -> Result<Vec<I>, Fault> {
        if self.is_untyped()? {
            return Ok(vec![]);
        }
        let kind = self.column_type().ok_or_else(|| self.type_fault())?;
        let layout = Layout::from_text_format(&kind.items).ok_or_else(|| self.type_fault())?;
        let pieces = self.read_chunks(|array| texts::<I>(array, &kind, layout))?;
        let mut ids =
            try_with_capacity(total_length(pieces.iter().map(|piece| piece.items.len())))?;
        for piece in &pieces {
            append_ids(&mut ids, &*piece.items)?;
            piece.check_end(ids.len())?;
        }
        Ok(ids)
    }

    /// Returns the packed bytes of a column whose IDs have `size` bytes each.
    ///
    /// # Errors
    /// Returns the same errors as [`Chunks::ids`], or `invalid_length` if an item has the wrong length.
    pub fn packed(&self, size: usize) -> Result<Vec<u8>, Fault> {
        if self.is_untyped()? {
            return Ok(vec![]);
        }
        let kind = self.column_type().ok_or_else(|| self.type_fault())?;
        let layout = Layout::from_bytes_format(&kind.items).ok_or_else(|| self.type_fault())?;
        if let Layout::Fixed(width) = layout
            && width != size
        {
            return Err(Error::invalid_length(width, size, size).into());
        }
        if kind.keys.is_none()
            && let Layout::Fixed(width) = layout
        {
            return self.fixed_width_bytes(width);
        }
        // The type parameter does not matter, because the values are not decoded.
        let pieces = self.read_chunks(|array| values::<Sno>(array, &kind, layout))?;
        let count = total_length(pieces.iter().map(|piece| piece.items.len()));
        let mut bytes = try_with_capacity(count.saturating_mul(size))?;
        for piece in &pieces {
            for index in 0..piece.items.len() {
                let item = piece.items.item(index);
                if item.len() != size {
                    let error = Error::invalid_length(item.len(), size, size);
                    return Err(error.in_item(bytes.len() / size).into());
                }
                bytes.extend_from_slice(&item);
            }
            piece.check_end(bytes.len() / size)?;
        }
        Ok(bytes)
    }

    /// Returns the integers in a column of signed 64-bit integers.
    ///
    /// # Errors
    /// Returns the same errors as [`Chunks::ids`].
    pub fn integers(&self) -> Result<Vec<i64>, Fault> {
        if self.is_untyped()? {
            return Ok(vec![]);
        }
        let kind =
            self.column_type().filter(|kind| kind.items == "l").ok_or_else(|| self.type_fault())?;
        let pieces = self.read_chunks(|array| integers(array, &kind))?;
        let mut all =
            try_with_capacity(total_length(pieces.iter().map(|piece| piece.items.len())))?;
        for piece in &pieces {
            all.extend_from_slice(&piece.items);
            piece.check_end(all.len())?;
        }
        Ok(all)
    }

    /// Returns the concatenated items of a fixed-width column without nulls.
    fn fixed_width_bytes(&self, width: usize) -> Result<Vec<u8>, Fault> {
        let pieces = self.read_chunks(|array| {
            Ok(read_items(array, |buffers, length| FixedWidthItems::new(buffers, width, length)))
        })?;
        let mut bytes =
            try_with_capacity(total_length(pieces.iter().map(|piece| piece.items.bytes.len())))?;
        for piece in &pieces {
            bytes.extend_from_slice(piece.items.bytes);
            piece.check_end(bytes.len().checked_div(width).unwrap_or(0))?;
        }
        Ok(bytes)
    }

    /// Returns whether this is an empty column without a type. Libraries create such columns, because they cannot infer the
    /// type of an empty list.
    ///
    /// # Errors
    /// Returns [`Fault::Null`] if the column has items, because all items of such a column are nulls.
    fn is_untyped(&self) -> Result<bool, Fault> {
        let is_untyped = self.column_type().is_some_and(|kind| kind.items == "n");
        if is_untyped && self.arrays.iter().any(|array| array.length != 0) {
            return Err(Fault::Null(0));
        }
        Ok(is_untyped)
    }

    fn column_type(&self) -> Option<ColumnType<'_>> {
        if self.schema.dictionary.is_null() {
            return Some(ColumnType { keys: None, items: format_of(&self.schema)? });
        }
        // SAFETY: the interface guarantees that this is a null pointer, or points to a schema that lives as long as its
        // owner.
        let values = unsafe { &*self.schema.dictionary };
        if !values.dictionary.is_null() {
            return None;
        }
        Some(ColumnType { keys: Some(format_of(&self.schema)?), items: format_of(values)? })
    }

    /// Reads each array of the column.
    fn read_chunks<'a, T>(
        &'a self,
        mut read: impl FnMut(&'a Array) -> ChunkResult<T>,
    ) -> Result<Vec<Chunk<T>>, Fault> {
        let one = |array| read(array)?.ok_or_else(|| self.type_fault());
        self.arrays.iter().map(one).collect()
    }

    fn type_fault(&self) -> Fault {
        Fault::Kind(self.format().into_owned())
    }
}

impl<T> Chunk<T> {
    /// Returns an error if a null follows the first `count` items of the column.
    fn check_end(&self, count: usize) -> Result<(), Fault> {
        if self.ends_at_null { Err(Fault::Null(count)) } else { Ok(()) }
    }
}

fn total_length(mut lengths: impl Iterator<Item = usize>) -> usize {
    lengths.try_fold(0, usize::checked_add).unwrap_or(usize::MAX)
}

/// Returns the format of a schema, or `None` if the schema has no format or has been released.
fn format_of(schema: &Schema) -> Option<Cow<'_, str>> {
    if schema.format.is_null() || schema.release.is_none() {
        return None;
    }
    // SAFETY: the interface guarantees that the format is a C string that lives as long as the schema.
    Some(unsafe { CStr::from_ptr(schema.format) }.to_string_lossy())
}

/// Returns the items of an array that is not a dictionary, up to its first null.
fn read_items<'a, T>(
    array: &'a Array,
    items: impl FnOnce(&Buffers<'a>, usize) -> Option<T>,
) -> Option<Chunk<T>> {
    let buffers = Buffers::from_array(array)?;
    let length = buffers.first_null();
    Some(Chunk { items: items(&buffers, length)?, ends_at_null: length < buffers.length })
}

/// The items of an array, either in their original order or in the order in which keys select them.
struct Values<'a, I: Textual> {
    positions: Option<Vec<usize>>,
    all: Box<dyn Readable<I> + 'a>,
}

impl<I: Textual> Values<'_, I> {
    fn len(&self) -> usize {
        self.positions.as_ref().map_or_else(|| self.all.len(), Vec::len)
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        self.all.item(self.positions.as_ref().map_or(index, |positions| positions[index]))
    }
}

/// Returns the strings or bytes of an array.
fn values<'a, I: Textual>(
    array: &'a Array,
    kind: &ColumnType<'_>,
    layout: Layout,
) -> ChunkResult<Values<'a, I>> {
    let Some(format) = &kind.keys else {
        let read = |buffers: &Buffers<'a>, length| {
            Some(Values { positions: None, all: items(buffers, layout, length)? })
        };
        return Ok(read_items(array, read));
    };
    let Some((Keys { positions, ends_at_null }, values)) = dictionary(array, format)? else {
        return Ok(None);
    };
    let all = items(&values, layout, values.length);
    Ok(all.map(|all| Chunk { items: Values { positions: Some(positions), all }, ends_at_null }))
}

/// Returns the strings of an array.
fn texts<'a, I: Textual>(
    array: &'a Array,
    kind: &ColumnType<'_>,
    layout: Layout,
) -> ChunkResult<Box<dyn Readable<I> + 'a>> {
    let Some(Chunk { items: Values { positions, all }, ends_at_null }) =
        values(array, kind, layout)?
    else {
        return Ok(None);
    };
    let items = match positions {
        Some(positions) => Box::new(SelectedTexts::new(positions, all)?),
        None => all,
    };
    Ok(Some(Chunk { items, ends_at_null }))
}

/// Returns the integers of an array.
fn integers<'a>(array: &'a Array, kind: &ColumnType<'_>) -> ChunkResult<Cow<'a, [i64]>> {
    let Some(format) = &kind.keys else {
        let slice = |buffers: &Buffers<'a>, length| buffers.slice(1, buffers.offset, length);
        return Ok(read_items(array, |buffers, length| slice(buffers, length).map(Cow::Borrowed)));
    };
    let Some((keys, values)) = dictionary(array, format)? else { return Ok(None) };
    let values = values.slice::<i64>(1, values.offset, values.length);
    let Some(values) = values else { return Ok(None) };
    let mut items = try_with_capacity(keys.positions.len())?;
    items.extend(keys.positions.iter().map(|position| values[*position]));
    Ok(Some(Chunk { items: Cow::Owned(items), ends_at_null: keys.ends_at_null }))
}

/// Returns the keys of a dictionary array, and the buffers of its values.
fn dictionary<'a>(
    array: &'a Array,
    format: &str,
) -> Result<Option<(Keys, Buffers<'a>)>, OutOfMemory> {
    // SAFETY: the interface guarantees that this is a null pointer, or points to an array that lives as long as its owner.
    let values = unsafe { array.dictionary.as_ref() }.and_then(Buffers::from_array);
    let (Some(keys), Some(values)) = (Buffers::from_array(array), values) else { return Ok(None) };
    Ok(Keys::from_array(format, &keys, &values)?.map(|keys| (keys, values)))
}

impl Stream {
    /// Collects all chunks of the stream.
    ///
    /// # Errors
    /// Returns [`StreamError`] if the stream has already been released, or if the stream reports an error.
    pub fn collect(mut self) -> Result<Chunks, StreamError> {
        let mut schema = Schema::RELEASED;
        let get_schema = self.get_schema.filter(|_| self.release.is_some());
        // SAFETY: the stream has not been released, and the schema is writable.
        let failed = unsafe {
            get_schema.ok_or_else(released_stream_error)?(&raw mut self, &raw mut schema)
        };
        self.check_status(failed)?;
        let mut arrays = vec![];
        while let Some(array) = self.next()? {
            arrays.push(array);
        }
        Ok(Chunks { schema, arrays })
    }

    /// Returns the next chunk, or `None` at the end of the stream.
    fn next(&mut self) -> Result<Option<Array>, StreamError> {
        let mut array = Array::RELEASED;
        let get_next = self.get_next.ok_or_else(released_stream_error)?;
        // SAFETY: the stream has not been released, and the array is writable.
        let failed = unsafe { get_next(self, &raw mut array) };
        self.check_status(failed)?;
        Ok(array.release.is_some().then_some(array))
    }

    /// Returns an error with the stream's error message if the call failed.
    fn check_status(&mut self, failed: c_int) -> Result<(), StreamError> {
        if failed == 0 {
            return Ok(());
        }
        // SAFETY: the stream is not released. Its `get_last_error` function returns a null pointer, or a C string that
        // stays valid until the next call on the stream.
        let message = unsafe {
            let message = self.get_last_error.map_or(ptr::null(), |get| get(self));
            if message.is_null() { c"no reason given" } else { CStr::from_ptr(message) }
        };
        Err(StreamError(message.to_string_lossy().into_owned()))
    }
}

fn released_stream_error() -> StreamError {
    StreamError("expected a stream, found a released one".to_owned())
}
