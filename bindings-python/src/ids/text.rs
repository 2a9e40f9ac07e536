//! IDs' texts as Python objects.

use std::{ffi::c_int, ptr, sync::Arc};

use polyflake::{
    base32::Text,
    sno::{self, Sno},
};
use pyo3::{
    ffi,
    prelude::*,
    types::{PyCapsule, PyString},
};

use super::{
    array::{At, Packed, iterate},
    column::{BLOCK, Chars},
    memory::room,
};
use crate::{
    arrow::export::{self, Capsules, Column},
    errors::raise,
};

/// The text of an ID. It is ASCII, so it becomes a `str` 4 ns faster than other texts.
pub(crate) struct Ascii<const N: usize>(pub(crate) Text<N>);

impl<'py, const N: usize> IntoPyObject<'py> for Ascii<N> {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    #[inline]
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        ascii(py, self.0.as_bytes())
    }
}

/// The `str` of an ASCII text.
#[allow(unsafe_code)]
#[inline]
fn ascii<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    let (start, length) = (text.as_ptr().cast(), text.len().cast_signed());
    // SAFETY: `start` leads to `length` bytes, which the call copies. It gives a new reference to a `str`, or null with an
    // exception set.
    unsafe {
        let text = ffi::PyUnicode_DecodeASCII(start, length, ptr::null());
        Ok(Bound::from_owned_ptr_or_err(py, text)?.cast_into_unchecked())
    }
}

#[doc = doc!("sno.TextColumn")]
#[pyclass(frozen, sequence, module = "polyflake.sno")]
pub(crate) struct TextColumn(Packed<Chars>);

impl TextColumn {
    pub(crate) fn of(py: Python<'_>, ids: &[Sno]) -> PyResult<Self> {
        let (mut texts, mut block) = (room(ids.len())?, [[0; Sno::TEXT_LEN]; BLOCK]);
        let append = |ids: &[Sno]| {
            let block = &mut block[..ids.len()];
            sno::encode_slice(ids, block)?;
            texts.extend_from_slice(block);
            Ok(())
        };
        py.detach(|| ids.chunks(BLOCK).try_for_each(append)).map_err(raise)?;
        Ok(Self(Packed::new(texts)))
    }

    /// The texts as an Arrow column; `places` has the start of each text and the end of the last.
    fn export<'py, P: Send + Sync + 'static>(
        &self,
        py: Python<'py>,
        format: &str,
        places: impl Iterator<Item = P>,
    ) -> PyResult<Capsules<'py>> {
        let texts = self.0.shared();
        let mut kept = room(texts.len() + 1)?;
        kept.extend(places);
        let column = Column {
            format: format.to_owned(),
            length: texts.len(),
            buffers: vec![kept.as_ptr().cast(), texts.as_ptr().cast()],
            owner: Arc::new((kept, texts)),
        };
        column.export(py)
    }

    /// The end of the last text, if it fits into 32 bits.
    fn end(&self) -> Option<i32> {
        i32::try_from(self.0.len() * Sno::TEXT_LEN).ok()
    }
}

#[pymethods]
impl TextColumn {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match self.0.at(index)? {
            At::One(text) => Ok(ascii(py, &text)?.into_any()),
            At::Many(texts) => Ok(Bound::new(py, Self(Packed::new(texts)))?.into_any()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __repr__(&self) -> String {
        format!("<TextColumn of {} texts>", self.0.len())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let format = if self.end().is_some() { "u" } else { "U" };
        export::capsule(py, export::schema(format.to_owned())?)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema; // is a wish
        match self.end() {
            Some(end) => self.export(py, "u", (0..=end).step_by(Sno::TEXT_LEN)),
            None => self.export(py, "U", (0_i64..).step_by(Sno::TEXT_LEN).take(self.0.len() + 1)),
        }
    }

    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this to have `view` filled; `slf` owns the packed texts.
        unsafe { slf.get().0.export(slf, view, flags) }
    }
}
