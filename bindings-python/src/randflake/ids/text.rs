//! Randflake's texts as columns.

use std::{
    ffi::c_int,
    sync::{Arc, OnceLock},
};

use polyflake::randflake::{self, Randflake};
use pyo3::{ffi, prelude::*, types::PyCapsule};

use crate::{
    arrow::export::{self, Capsules, Column},
    errors::raise,
    ids::{
        array::{At, Packed, at, iterate},
        column::Chars,
        memory::{Kept, room_for},
        text::Ascii,
    },
};

#[doc = doc!("randflake.TextColumn")]
#[pyclass(frozen, sequence, module = "polyflake.randflake")]
pub(crate) struct TextColumn {
    ids: Arc<Kept<Randflake>>,
    /// The texts in places of one width, made on demand. For Arrow they lie side by side.
    slots: OnceLock<Packed<Chars>>,
}

impl TextColumn {
    pub(super) fn of(ids: Arc<Kept<Randflake>>) -> Self {
        Self { ids, slots: OnceLock::new() }
    }

    fn slots(&self, py: Python<'_>) -> PyResult<&Packed<Chars>> {
        if self.slots.get().is_none() {
            let mut slots = room_for(self.ids.len())?;
            py.detach(|| randflake::encode_slice(&self.ids, &mut slots)).map_err(raise)?;
            let _ = self.slots.set(Packed::new(slots));
        }
        Ok(self.slots.get().expect("was just set"))
    }
}

#[pymethods]
impl TextColumn {
    fn __len__(&self) -> usize {
        self.ids.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match at(&self.ids, index)? {
            At::One(id) => Ok(Ascii(id.text()).into_pyobject(py)?.into_any()),
            At::Many(ids) => Ok(Bound::new(py, Self::of(Arc::new(ids.into())))?.into_any()),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf)
    }

    fn __repr__(&self) -> String {
        format!("<TextColumn of {} texts>", self.ids.len())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::capsule(py, export::schema("u".to_owned())?)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema; // is a wish
        let mut offsets = room_for::<i32>(self.ids.len() + 1)?;
        let mut text = room_for::<u8>(self.ids.len() * Randflake::TEXT_LEN)?;
        py.detach(|| randflake::encode_column(&self.ids, &mut offsets, &mut text))
            .map_err(raise)?;
        let column = Column {
            format: "u".to_owned(),
            length: self.ids.len(),
            buffers: vec![offsets.as_ptr().cast(), text.as_ptr().cast()],
            owner: Arc::new((Kept::from(offsets), Kept::from(text))),
        };
        column.export(py)
    }

    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this to have `view` filled; `slf` owns the slots, and sets them once.
        unsafe { slf.get().slots(slf.py())?.export(slf, view, flags) }
    }
}
