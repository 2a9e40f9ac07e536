//! Reads columns of IDs and of ID strings that are passed as arguments. A column is an Arrow column, a buffer (from `NumPy`
//! or another library), or any iterable.
//!
//! Packed forms are tried before iteration. A library's array can often be iterated as well, but iteration creates an
//! object for each item, whereas a buffer is read in place. In every form, a rejected item raises the same exception as an
//! item that is read individually, with the item's index added.

use polyflake::{Error, ErrorKind};
use polyflake_columns::{
    Fault, OutOfMemory,
    arrow::Chunks,
    texts::{self, Textual},
};
use pyo3::{
    prelude::*,
    types::{PyString, PyType},
};

use super::{
    array::Array,
    buffer::BufferedTexts,
    convert::{
        FromArgument, Octets, Text, check_length, class_name, has_buffer, iterator, raise_named,
        type_name, wrong_kind_exception, wrong_type_error, wrong_type_exception,
    },
    fields::FieldColumn,
    integers::get_buffer,
    memory::memory_error,
    target::Item,
};
use crate::{
    arrow::{self, ExpectedColumn},
    errors::raise,
};

/// The name of the parameter for columns of strings.
pub(crate) const NAME: &str = "column";

/// The name of the parameter for IDs.
pub(crate) const IDS: &str = "ids";

pub(super) const TEXTS: ExpectedColumn =
    ExpectedColumn { column: "a column of texts", item: "str" };

const BYTES: ExpectedColumn = ExpectedColumn { column: "a column of bytes", item: "bytes" };

impl ExpectedColumn {
    /// Returns the exception for a rejected column. A rejected item raises the same exception that reading only this item
    /// would raise.
    #[cold]
    pub(crate) fn to_exception(self, fault: Fault, name: &str) -> PyErr {
        match fault {
            Fault::Kind(format) => wrong_kind_exception(
                name,
                self.column,
                &format!("Arrow's type {}", arrow_type_name(&format)),
            ),
            Fault::Null(item) => {
                raise_named(wrong_type_error(name, self.item, "null").in_item(item), name)
            }
            Fault::Rejected(error) => item_exception(error, name),
            Fault::Memory => memory_error(OutOfMemory),
        }
    }
}

/// Returns the name of an Arrow type, as `PyArrow` prints it, for the format string that the C interface uses. Types with
/// parameters, such as timestamps, keep their format string.
fn arrow_type_name(format: &str) -> &str {
    match format {
        "n" => "null",
        "b" => "bool",
        "c" => "int8",
        "C" => "uint8",
        "s" => "int16",
        "S" => "uint16",
        "i" => "int32",
        "I" => "uint32",
        "l" => "int64",
        "L" => "uint64",
        "e" => "float16",
        "f" => "float32",
        "g" => "float64",
        "z" => "binary",
        "Z" => "large_binary",
        "vz" => "binary_view",
        "u" => "string",
        "U" => "large_string",
        "vu" => "string_view",
        "+l" => "list",
        "+s" => "struct",
        other => other,
    }
}

/// Returns the IDs in a column of strings. If an item is rejected, the error contains its index.
pub(crate) fn ids_from_column<I: Textual>(column: &Bound<'_, PyAny>) -> PyResult<Vec<I>> {
    if let Some(ids) = arrow::read_column(column, NAME, TEXTS, Chunks::ids)? {
        Ok(ids)
    } else if let Some(buffered) = BufferedTexts::from_value::<I>(column)? {
        texts::decode_ids(&buffered.rows()).map_err(|fault| TEXTS.to_exception(fault, NAME))
    } else {
        parse_items(column, NAME, TEXTS.column, |item| parse_text_item(item, NAME, TEXTS.item))
    }
}

/// Returns the exception for a rejected item, which is the exception that reading only this item would raise.
#[cold]
fn item_exception(error: Error, name: &str) -> PyErr {
    match error.kind() {
        ErrorKind::InvalidType | ErrorKind::OutOfRange => raise_named(error, name),
        _ => raise(error),
    }
}

/// Parses each item of an iterable with the given function. If an item is rejected, the error contains its index.
pub(crate) fn parse_items<T>(
    items: &Bound<'_, PyAny>,
    name: &str,
    expected: &str,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<polyflake::Result<T>>,
) -> PyResult<Vec<T>> {
    // A string can be iterated, but its characters are not IDs.
    if items.is_instance_of::<PyString>() {
        return Err(wrong_type_exception(name, expected, items));
    }
    let mut ids = vec![];
    for item in iterator(items, expected, name)? {
        let id = read(&item?)?.map_err(|error| item_exception(error.in_item(ids.len()), name))?;
        ids.push(id);
    }
    Ok(ids)
}

/// Reads an item of an iterable as an ID string.
pub(crate) fn parse_text_item<I: Textual>(
    item: &Bound<'_, PyAny>,
    name: &str,
    expected: &str,
) -> PyResult<polyflake::Result<I>> {
    let Ok(text) = item.cast::<PyString>() else {
        return Ok(Err(wrong_type_error(name, expected, &type_name(item))));
    };
    if let Err(too_long) = check_length(text, &I::LENGTHS) {
        return Ok(Err(too_long));
    }
    Ok(I::parse(&Text::from_argument(item.as_borrowed(), name)?))
}

/// Returns whether a value is packed: an Arrow column, or a buffer that does not contain Python objects.
pub(crate) fn is_packed(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !has_buffer(value) {
        return arrow::is_column(value);
    }
    Ok(get_buffer(value)?.is_none_or(|buffer| buffer.format().to_bytes() != b"O"))
}

/// The packed bytes of IDs of equal size.
pub(crate) enum PackedBytes<'py> {
    Given(Octets<'py>),
    Read(Vec<u8>),
}

impl<'py> PackedBytes<'py> {
    /// Returns the bytes in a buffer, or in an Arrow column whose IDs have `size` bytes each. Returns `None` for an object
    /// of any other type. An array of another format is rejected, even if its IDs have the same size.
    pub(crate) fn from_value(
        value: &Bound<'py, PyAny>,
        name: &str,
        size: usize,
        class: &Bound<'py, PyType>,
    ) -> PyResult<Option<Self>> {
        let is_other_array = value.is_instance_of::<Array>()
            && !value.is_instance_of::<FieldColumn>()
            && !value.is_instance(class)?;
        if is_other_array {
            return Err(wrong_type_exception(name, &class_name(class), value));
        }
        if !is_packed(value)? {
            return Ok(None);
        }
        if !has_buffer(value) {
            let read = arrow::read_column(value, name, BYTES, |pieces| pieces.packed(size))?;
            return Ok(read.map(Self::Read));
        }
        let Some(buffer) = get_buffer(value)? else {
            return Err(wrong_type_exception(name, BYTES.column, value));
        };
        Item::Bytes(size).check(&buffer, name).map_err(|error| raise_named(error, name))?;
        Octets::copy_buffer(value).map(|given| Some(Self::Given(given)))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Given(given) => given.as_bytes(),
            Self::Read(bytes) => bytes,
        }
    }
}
