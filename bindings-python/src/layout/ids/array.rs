//! Many IDs of one layout.

use std::ffi::c_int;

use polyflake::{
    Error,
    layout::{Batch, Layout},
};
use pyo3::{
    ffi,
    prelude::*,
    types::{PyBytes, PyCapsule, PyType},
};

use crate::{
    arrow::export::Capsules,
    ids::{
        array::{At, Packed, iterate, portable},
        convert::{Octets, Take, no_multiple, numbers},
        integers::Integers,
        memory::{check_bytes, copy_of, room_for},
    },
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

    /// The IDs of packed bytes, `size` bytes each.
    pub(super) fn of_packed(bytes: &Octets<'_>, size: usize, name: &str) -> PyResult<Self> {
        let bytes = bytes.as_bytes();
        match bytes.len() % size {
            0 => Ok(Self::of_bytes(copy_of(bytes)?, size)),
            _ => Err(no_multiple(name, size, bytes.len())),
        }
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
        Self::of_packed(&Octets::take(ids.as_borrowed(), NAME)?, size as usize, NAME)
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
            Ids::Integers(ids) => match ids.at(index)? {
                At::One(id) => Ok(id.into_pyobject(py)?.into_any()),
                At::Many(ids) => many(Self::of_integers(ids)),
            },
            Ids::Bytes(ids) => match ids.positions(index)? {
                At::One(position) => Ok(PyBytes::new(py, ids.row(position)).into_any()),
                At::Many(positions) => many(Self(Ids::Bytes(ids.rows(&positions)?))),
            },
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __repr__(&self) -> String {
        format!("<LayoutArray of {} IDs>", self.__len__())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Arguments<'py>)> {
        let arguments = match &slf.get().0 {
            Ids::Integers(_) => (portable(slf)?, None),
            Ids::Bytes(ids) => (PyBytes::new(slf.py(), ids.ids()).into_any(), Some(ids.width())),
        };
        Ok((slf.get_type(), arguments))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        match &self.0 {
            Ids::Integers(ids) => ids.arrow_schema(py),
            Ids::Bytes(ids) => ids.arrow_schema(py),
        }
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema; // is a wish
        match &self.0 {
            Ids::Integers(ids) => ids.arrow_array(py),
            Ids::Bytes(ids) => ids.arrow_array(py),
        }
    }

    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this to have `view` filled; `slf` owns the packed IDs.
        unsafe {
            match &slf.get().0 {
                Ids::Integers(ids) => ids.export(slf, view, flags),
                Ids::Bytes(ids) => ids.export(slf, view, flags),
            }
        }
    }
}
