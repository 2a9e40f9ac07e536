//! What an ID format can do, in figures: the same for every family.

use polyflake::layout;
use pyo3::{prelude::*, types::PyTuple};

/// What an ID format can do, in figures.
#[pyclass(frozen, eq, module = "polyflake")]
#[derive(PartialEq, Eq)]
pub(crate) struct Description(layout::Description);

impl From<layout::Description> for Description {
    fn from(figures: layout::Description) -> Self {
        Self(figures)
    }
}

#[pymethods]
impl Description {
    /// How many bits an ID has.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits
    }

    /// The fields, from the top.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.fields.iter().map(FieldDescription::from))
    }

    /// How many IDs one generator can make in a second.
    #[getter]
    fn per_second(&self) -> Option<u128> {
        self.0.per_second
    }

    /// How many IDs all generators together can make in a second.
    #[getter]
    fn per_second_in_all(&self) -> Option<u128> {
        self.0.per_second_in_all
    }

    /// When the first tick begins, in Unix milliseconds.
    #[getter]
    fn first_ms(&self) -> Option<i64> {
        self.0.first_ms
    }

    /// When the last tick begins, in Unix milliseconds.
    #[getter]
    fn last_ms(&self) -> Option<i64> {
        self.0.last_ms
    }

    /// Whether IDs sort by time.
    #[getter]
    fn sorts_by_time(&self) -> bool {
        self.0.sorts_by_time
    }

    /// Whether every ID is below 2^53.
    #[getter]
    fn below_2_53(&self) -> bool {
        self.0.below_2_53
    }

    /// Whether every ID is below 2^63.
    #[getter]
    fn below_2_63(&self) -> bool {
        self.0.below_2_63
    }

    fn __repr__(&self) -> String {
        format!("<Description of {} fields in {} bits>", self.0.fields.len(), self.0.bits)
    }
}

/// One field of a format.
#[pyclass(frozen, eq, hash, get_all, module = "polyflake")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct FieldDescription {
    /// The field's name.
    name: String,
    /// What kind of field it is.
    kind: &'static str,
    /// Bits above it.
    offset: u32,
    /// How many bits wide it is.
    bits: u32,
}

impl From<&layout::FieldDescription> for FieldDescription {
    fn from(field: &layout::FieldDescription) -> Self {
        let layout::FieldDescription { name, kind, offset, bits } = field.clone();
        Self { name, kind, offset, bits }
    }
}

#[pymethods]
impl FieldDescription {
    fn __repr__(&self) -> String {
        let Self { name, kind, offset, bits } = self;
        format!("<FieldDescription: {kind} {name}, {bits} bits at {offset}>")
    }
}
