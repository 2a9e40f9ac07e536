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
    errors::raise,
    ids::{
        array::{At, Integers, Packed, iterate, portable},
        convert::{Octets, numbers},
        memory::room_for,
    },
};

numbers! {
    /// Bytes of an ID.
    Size(u32) "size" 1..=1 << 16;
}

/// Bytes of all IDs of one call: what 2^24 of the fixed formats' largest have.
const MOST_BYTES: usize = 1 << 28;

/// Many IDs, packed.
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.layout")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct LayoutArray(Ids);

#[derive(PartialEq, Eq, Hash)]
enum Ids {
    Integers(Packed<i64>),
    Bytes(Packed<u8>),
}

/// What an array is made of: a buffer, and the bytes of an ID.
type Arguments<'py> = (Bound<'py, PyAny>, Option<usize>);

impl LayoutArray {
    fn of_integers(ids: Vec<i64>) -> Self {
        Self(Ids::Integers(Packed::new(ids)))
    }

    fn of_bytes(ids: Vec<u8>, size: usize) -> Self {
        Self(Ids::Bytes(Packed::in_rows(ids, size)))
    }

    /// `n` IDs of a layout, by a function that writes them; other threads run meanwhile.
    pub(crate) fn filled(
        py: Python<'_>,
        layout: &Layout,
        n: u32,
        fill: impl FnOnce(Batch<'_>) -> polyflake::Result<()> + Send,
    ) -> PyResult<Self> {
        if layout.is_integer() {
            let mut ids = room_for(n as usize)?;
            py.detach(|| fill(Batch::Integers(&mut ids))).map_err(raise)?;
            return Ok(Self::of_integers(ids));
        }
        let size = layout.bits() as usize / 8;
        let most = MOST_BYTES / size;
        if n as usize > most {
            return Err(raise(Error::out_of_range("n", n.into(), 0, most as i128)));
        }
        let mut ids = room_for(n as usize * size)?;
        py.detach(|| fill(Batch::Bytes(&mut ids))).map_err(raise)?;
        Ok(Self::of_bytes(ids, size))
    }
}

#[pymethods]
impl LayoutArray {
    #[new]
    #[pyo3(signature = (ids, /, size = None))]
    fn new(ids: &Bound<'_, PyAny>, size: Option<Size>) -> PyResult<Self> {
        let Some(Size(size)) = size else {
            return Ok(Self::of_integers(ids.extract::<Integers>()?.0));
        };
        let (bytes, size) = (ids.extract::<Octets<'_>>()?, size as usize);
        let bytes = bytes.as_bytes();
        match bytes.len() % size {
            0 => Ok(Self::of_bytes(bytes.to_vec(), size)),
            rest => Err(raise(Error::invalid_length(rest, size, size))),
        }
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
                At::Many(positions) => {
                    let rows = positions.into_iter().flat_map(|position| ids.row(position));
                    many(Self::of_bytes(rows.copied().collect(), ids.width()))
                }
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
