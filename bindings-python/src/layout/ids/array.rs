//! Arrays of a layout's IDs.

use polyflake::{
    Error,
    layout::{Batch, Layout},
};
use polyflake_columns::{OutOfMemory, Packed};
use pyo3::prelude::*;

use crate::ids::{
    array::{Array, ArrayClass, array},
    column::{IDS, PackedBytes, parse_items},
    convert::{FromArgument, Octets, has_buffer, numbers, type_name, wrong_type_error},
    integers::{EXPECTED, Integers, parse_integer_item},
    memory::{check_bytes, try_copy, zeroed},
};

numbers! {
    /// The number of bytes in an ID.
    Size(u32) "size" 1..=128;
}

#[doc = doc!("layout.LayoutArray")]
#[pyclass(frozen, extends = Array, module = "polyflake.layout")]
pub(crate) struct LayoutArray(pub(super) Ids);

/// IDs of a layout, as integers or bytes.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Ids {
    Integers(Packed<i64>),
    Bytes(Packed<u8>),
}

impl ArrayClass<i64> for LayoutArray {
    fn from_packed(ids: Packed<i64>) -> Self {
        Self(Ids::Integers(ids))
    }
}

impl ArrayClass<u8> for LayoutArray {
    fn from_packed(ids: Packed<u8>) -> Self {
        Self(Ids::Bytes(ids))
    }
}

impl Ids {
    /// Reads integer IDs from a buffer, a column or a list.
    pub(super) fn from_integers(ids: &Bound<'_, PyAny>) -> PyResult<Self> {
        let integers = match Integers::try_from_value(ids, IDS, None)? {
            Some(integers) => integers.to_vec()?,
            None => parse_items(ids, IDS, EXPECTED, |id| parse_integer_item(id, IDS, "int"))?,
        };
        Ok(Self::Integers(Packed::new(integers)))
    }

    /// Reads IDs of `size` bytes each from packed bytes, a column or a list of byte strings.
    pub(super) fn from_bytes(ids: &Bound<'_, PyAny>, size: usize) -> PyResult<Self> {
        let bytes =
            match PackedBytes::from_value(ids, IDS, size, &ids.py().get_type::<LayoutArray>())? {
                Some(PackedBytes::Given(bytes)) => try_copy(bytes.as_bytes())?,
                Some(PackedBytes::Read(bytes)) => bytes,
                None => parse_items(ids, IDS, "IDs", |id| read_list_item(id, size))?.concat(),
            };
        Ok(Self::Bytes(Packed::with_row_width(bytes, size)))
    }

    /// Returns `n` IDs of a layout, written by the given function.
    pub(super) fn write_ids(
        layout: &Layout,
        n: usize,
        to_exception: impl FnOnce(Error) -> PyErr,
        write: impl FnOnce(Batch<'_>) -> polyflake::Result<()>,
    ) -> PyResult<Self> {
        if layout.is_integer() {
            let mut ids = zeroed(n)?;
            write(Batch::Integers(&mut ids)).map_err(to_exception)?;
            return Ok(Self::Integers(Packed::new(ids)));
        }
        let size = layout.bits() as usize / 8;
        check_bytes(n, size)?;
        let mut ids = zeroed(n * size)?;
        write(Batch::Bytes(&mut ids)).map_err(to_exception)?;
        Ok(Self::Bytes(Packed::with_row_width(ids, size)))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(ids) => ids.len(),
            Self::Bytes(ids) => ids.len(),
        }
    }

    pub(super) fn select(&self, positions: &[usize]) -> Result<Self, OutOfMemory> {
        Ok(match self {
            Self::Integers(ids) => Self::Integers(ids.rows(positions)?),
            Self::Bytes(ids) => Self::Bytes(ids.rows(positions)?),
        })
    }

    /// Returns the IDs as an array.
    pub(super) fn into_array(self, py: Python<'_>) -> PyResult<Bound<'_, LayoutArray>> {
        match self {
            Self::Integers(ids) => array(py, ids),
            Self::Bytes(ids) => array(py, ids),
        }
    }
}

/// Reads a list item as an ID's bytes.
fn read_list_item(id: &Bound<'_, PyAny>, size: usize) -> PyResult<polyflake::Result<Vec<u8>>> {
    if !has_buffer(id) {
        return Ok(Err(wrong_type_error(IDS, "bytes", &type_name(id))));
    }
    let bytes = Octets::from_argument(id.as_borrowed(), IDS)?.as_bytes().to_vec();
    let found = bytes.len();
    Ok(if found == size { Ok(bytes) } else { Err(Error::invalid_length(found, size, size)) })
}

#[pymethods]
impl LayoutArray {
    #[new]
    #[pyo3(signature = (ids, /, size = None))]
    fn new<'py>(ids: &Bound<'py, PyAny>, size: Option<Size>) -> PyResult<Bound<'py, Self>> {
        let given = match size {
            None => Ids::from_integers(ids)?,
            Some(Size(size)) => Ids::from_bytes(ids, size as usize)?,
        };
        given.into_array(ids.py())
    }
}
