//! Many IDs of one layout.

use polyflake::{
    Error,
    layout::{Batch, Layout},
};
use polyflake_columns::{Packed, arrow::Column};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyType},
};

use crate::ids::{
    array::{At, Columnar, Memory, at, columnar, content, positions},
    column::PackedBytes,
    convert::numbers,
    integers::Integers,
    memory::{check_bytes, copy_of, no_memory, room_for},
};

numbers! {
    /// Bytes of an ID.
    Size(u32) "size" 1..=1 << 16;
}

/// The constructor's parameter.
const NAME: &str = "ids";

#[doc = doc!("layout.LayoutArray")]
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.layout")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct LayoutArray(pub(super) Ids);

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Ids {
    Integers(Packed<i64>),
    Bytes(Packed<u8>),
}

/// Arguments of an array's constructor: a buffer, and the number of bytes in an ID.
type Arguments<'py> = (Bound<'py, PyAny>, Option<usize>);

impl LayoutArray {
    pub(crate) fn of_integers(ids: Vec<i64>) -> Self {
        Self(Ids::Integers(Packed::new(ids)))
    }

    pub(crate) fn of_bytes(ids: Vec<u8>, size: usize) -> Self {
        Self(Ids::Bytes(Packed::in_rows(ids, size)))
    }

    /// The IDs of packed bytes, or of a column of them, `size` bytes each.
    pub(super) fn of_packed(ids: &Bound<'_, PyAny>, size: usize, name: &str) -> PyResult<Self> {
        let bytes = match PackedBytes::of(ids, name, size)? {
            PackedBytes::Given(bytes) => copy_of(bytes.as_bytes())?,
            PackedBytes::Read(bytes) => bytes,
        };
        Ok(Self::of_bytes(bytes, size))
    }

    /// An array of `n` IDs of a layout, which a function writes.
    pub(super) fn written(
        layout: &Layout,
        n: usize,
        refused: impl FnOnce(Error) -> PyErr,
        write: impl FnOnce(Batch<'_>) -> polyflake::Result<()>,
    ) -> PyResult<Self> {
        if layout.is_integer() {
            let mut ids = room_for(n)?;
            write(Batch::Integers(&mut ids)).map_err(refused)?;
            return Ok(Self::of_integers(ids));
        }
        let size = layout.bits() as usize / 8;
        check_bytes(n, size)?;
        let mut ids = room_for(n * size)?;
        write(Batch::Bytes(&mut ids)).map_err(refused)?;
        Ok(Self::of_bytes(ids, size))
    }
}

#[pymethods]
impl LayoutArray {
    #[new]
    #[pyo3(signature = (ids, /, size = None))]
    fn new(ids: &Bound<'_, PyAny>, size: Option<Size>) -> PyResult<Self> {
        let Some(Size(size)) = size else {
            return Ok(Self::of_integers(Integers::of(ids, NAME, None)?.to_vec()?));
        };
        Self::of_packed(ids, size as usize, NAME)
    }

    fn __len__(&self) -> usize {
        match &self.0 {
            Ids::Integers(ids) => ids.len(),
            Ids::Bytes(ids) => ids.len(),
        }
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        let many = |ids| Ok(Bound::new(py, ids)?.into_any());
        match &self.0 {
            Ids::Integers(ids) => match at(ids.items(), index)? {
                At::One(id) => Ok(id.into_pyobject(py)?.into_any()),
                At::Many(ids) => many(Self::of_integers(ids)),
            },
            Ids::Bytes(ids) => match positions(index, ids.len())? {
                At::One(position) => Ok(PyBytes::new(py, ids.row(position)).into_any()),
                At::Many(chosen) => many(Self(Ids::Bytes(ids.rows(&chosen).map_err(no_memory)?))),
            },
        }
    }

    fn __repr__(&self) -> String {
        format!("<LayoutArray of {} IDs>", self.__len__())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Arguments<'py>)> {
        let size = match &slf.get().0 {
            Ids::Integers(_) => None,
            Ids::Bytes(ids) => Some(ids.width()),
        };
        Ok((slf.get_type(), (content(slf)?, size)))
    }
}

columnar!(LayoutArray);

impl Columnar for LayoutArray {
    fn format(&self) -> String {
        match &self.0 {
            Ids::Integers(ids) => ids.arrow_format(),
            Ids::Bytes(ids) => ids.arrow_format(),
        }
    }

    fn column(&self, _: Python<'_>) -> PyResult<Column> {
        Ok(match &self.0 {
            Ids::Integers(ids) => ids.to_arrow(),
            Ids::Bytes(ids) => ids.to_arrow(),
        })
    }

    fn memory(&self, _: Python<'_>) -> PyResult<Memory<'_>> {
        Ok(match &self.0 {
            Ids::Integers(ids) => ids.into(),
            Ids::Bytes(ids) => ids.into(),
        })
    }
}
