//! Columns of Randflake strings.

use std::{
    any::Any,
    collections::hash_map::DefaultHasher,
    hash::Hash,
    sync::{Arc, OnceLock},
};

use polyflake::randflake::Randflake;
use polyflake_columns::{
    Packed,
    arrow::Column,
    texts::{self, Chars},
};
use pyo3::prelude::*;

use crate::ids::{
    array::{Array, Memory, Values, with_content},
    column::ids_from_column,
    memory::{fault_exception, try_with_capacity},
    text::Ascii,
};

#[doc = doc!("randflake.TextColumn")]
#[pyclass(frozen, extends = Array, module = "polyflake.randflake")]
pub(crate) struct TextColumn;

impl TextColumn {
    pub(super) fn new(py: Python<'_>, ids: Arc<Vec<Randflake>>) -> PyResult<Bound<'_, Self>> {
        with_content(py, Texts { ids, slots: OnceLock::new() }, Self)
    }
}

#[pymethods]
impl TextColumn {
    #[staticmethod]
    fn _restore<'py>(content: &Bound<'py, PyAny>, _width: usize) -> PyResult<Bound<'py, Self>> {
        Self::new(content.py(), Arc::new(ids_from_column(content)?))
    }
}

/// Strings of varying length.
struct Texts {
    ids: Arc<Vec<Randflake>>,
    /// The strings, stored in slots of equal width. The slots are created on demand. Arrow columns do not use them, because
    /// Arrow requires strings without gaps.
    slots: OnceLock<Packed<Chars>>,
}

impl Values for Texts {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn item<'py>(&self, py: Python<'py>, position: usize) -> PyResult<Bound<'py, PyAny>> {
        Ok(Ascii(self.ids[position].text()).into_pyobject(py)?.into_any())
    }

    fn select<'py>(&self, py: Python<'py>, positions: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        let mut ids = try_with_capacity(positions.len())?;
        ids.extend(positions.iter().map(|position| self.ids[*position]));
        Ok(TextColumn::new(py, Arc::new(ids))?.into_any())
    }

    fn format(&self) -> String {
        "u".to_owned()
    }

    fn column(&self, py: Python<'_>) -> PyResult<Column> {
        py.detach(|| texts::randflake_column(&self.ids)).map_err(fault_exception)
    }

    fn memory(&self, py: Python<'_>) -> PyResult<Memory<'_>> {
        if self.slots.get().is_none() {
            let slots =
                py.detach(|| texts::encode_randflakes(&self.ids)).map_err(fault_exception)?;
            let _ = self.slots.set(Packed::new(slots));
        }
        Ok(self.slots.get().expect("was just set").into())
    }

    fn width(&self) -> Option<usize> {
        Some(size_of::<Chars>())
    }

    fn noun(&self) -> &'static str {
        "texts"
    }

    fn is_record(&self) -> bool {
        true
    }

    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| self.ids == other.ids)
    }

    fn hash(&self, state: &mut DefaultHasher) {
        self.ids.hash(state);
    }
}
