//! Columns of IDs and of their texts as arguments: Arrow columns, buffers (`NumPy`'s and others), and any iterables.

use polyflake::{Error, ErrorKind};
use polyflake_columns::{
    Fault, OutOfMemory,
    arrow::Pieces,
    texts::{self, Textual},
};
use pyo3::{prelude::*, types::PyString};

use super::{
    buffer::Buffered,
    convert::{
        Octets, Take, Text, check_length, has_buffer, iterator, mistyped, multiple, raise_named,
        type_name, wrong_kind, wrong_type,
    },
    memory::no_memory,
};
use crate::{
    arrow::{self, Expected},
    errors::raise,
};

/// The name of the parameter for columns of texts.
pub(super) const NAME: &str = "column";

pub(super) const TEXTS: Expected = Expected { column: "a column of texts", item: "str" };

const BYTES: Expected = Expected { column: "a column of bytes", item: "bytes" };

impl Expected {
    /// The exception for a column that is refused, or for one of its items as if it were read alone.
    #[cold]
    pub(crate) fn refused(self, fault: Fault, name: &str) -> PyErr {
        match fault {
            Fault::Kind(format) => wrong_kind(name, self.column, &format!("Arrow's type {format}")),
            Fault::Null(item) => raise_named(mistyped(name, self.item, "null").in_item(item), name),
            Fault::Refused(error) => refused(error, name),
            Fault::Memory => no_memory(OutOfMemory),
        }
    }
}

/// The IDs of a column of texts. An error names the item.
pub(crate) fn ids_of<I: Textual>(column: &Bound<'_, PyAny>) -> PyResult<Vec<I>> {
    if let Some(ids) = arrow::read(column, NAME, TEXTS, Pieces::ids)? {
        Ok(ids)
    } else if let Some(buffered) = Buffered::of::<I>(column)? {
        texts::ids_of(&buffered.rows()).map_err(|fault| TEXTS.refused(fault, NAME))
    } else {
        of_items(column)
    }
}

/// The exception for an item that is not a text, or for the text of no ID, as if it were read alone.
#[cold]
fn refused(error: Error, name: &str) -> PyErr {
    if error.kind() == ErrorKind::InvalidType { raise_named(error, name) } else { raise(error) }
}

/// The IDs of an iterable.
fn of_items<I: Textual>(column: &Bound<'_, PyAny>) -> PyResult<Vec<I>> {
    if column.is_instance_of::<PyString>() {
        return Err(wrong_type(NAME, TEXTS.column, column));
    }
    let mut ids = vec![];
    for item in iterator(column, TEXTS.column, NAME)? {
        let item = item?;
        let in_item = |error: Error| refused(error.in_item(ids.len()), NAME);
        let Ok(text) = item.cast::<PyString>() else {
            return Err(in_item(mistyped(NAME, "str", &type_name(&item))));
        };
        check_length(text, &I::LENGTHS).map_err(in_item)?;
        let id = I::parse(&Text::take(item.as_borrowed(), NAME)?).map_err(in_item)?;
        ids.push(id);
    }
    Ok(ids)
}

/// The packed bytes of IDs of one size.
pub(crate) enum PackedBytes<'py> {
    Given(Octets<'py>),
    Read(Vec<u8>),
}

impl<'py> PackedBytes<'py> {
    /// The bytes of a buffer, or of an Arrow column of IDs of `size` bytes each.
    pub(crate) fn of(value: &Bound<'py, PyAny>, name: &str, size: usize) -> PyResult<Self> {
        if !has_buffer(value)
            && let Some(bytes) = arrow::read(value, name, BYTES, |pieces| pieces.packed(size))?
        {
            return Ok(Self::Read(bytes));
        }
        let given = Octets::take(value.as_borrowed(), name)?;
        let length = given.as_bytes().len();
        if length % size != 0 {
            return Err(raise_named(multiple(name, size, length), name));
        }
        Ok(Self::Given(given))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Given(given) => given.as_bytes(),
            Self::Read(bytes) => bytes,
        }
    }
}
