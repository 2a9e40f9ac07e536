//! Randflake's texts as columns.

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, OnceLock},
};

use polyflake::randflake::Randflake;
use polyflake_columns::{
    Packed,
    arrow::Column,
    texts::{self, Chars},
};
use pyo3::prelude::*;

use super::RandflakeArray;
use crate::ids::{
    array::{At, Columnar, Memory, at, columnar},
    memory::fault,
    record::{Reduced, reduced},
    text::Ascii,
};

#[doc = doc!("randflake.TextColumn")]
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.randflake")]
pub(crate) struct TextColumn {
    ids: Arc<Vec<Randflake>>,
    /// The texts in places of one width, made on demand. For Arrow they lie side by side.
    slots: OnceLock<Packed<Chars>>,
}

impl TextColumn {
    pub(super) fn of(ids: Arc<Vec<Randflake>>) -> Self {
        Self { ids, slots: OnceLock::new() }
    }
}

impl PartialEq for TextColumn {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids
    }
}

impl Hash for TextColumn {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ids.hash(state);
    }
}

columnar!(TextColumn);

impl Columnar for TextColumn {
    fn format(&self) -> String {
        "u".to_owned()
    }

    fn column(&self, py: Python<'_>) -> PyResult<Column> {
        py.detach(|| texts::randflake_column(&self.ids)).map_err(fault)
    }

    fn memory(&self, py: Python<'_>) -> PyResult<Memory<'_>> {
        if self.slots.get().is_none() {
            let slots = py.detach(|| texts::of_randflakes(&self.ids)).map_err(fault)?;
            let _ = self.slots.set(Packed::new(slots));
        }
        Ok(self.slots.get().expect("was just set").into())
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
            At::Many(ids) => Ok(Bound::new(py, Self::of(Arc::new(ids)))?.into_any()),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (RandflakeArray,)>> {
        reduced(slf, (slf.get().ids.to_vec().into(),))
    }

    #[staticmethod]
    fn _restore(ids: &Bound<'_, RandflakeArray>) -> Self {
        ids.get().text_column()
    }

    fn __repr__(&self) -> String {
        format!("<TextColumn of {} texts>", self.ids.len())
    }
}
