//! The size, fields, rate and time span of an ID format, as classes shared by all formats.

use pyo3::{prelude::*, types::PyTuple};

use super::record::{PickleParts, reduce_record};

#[doc = doc!("_polyflake.Description")]
#[pyclass(frozen, eq, module = "polyflake")]
#[derive(PartialEq, Eq)]
pub(crate) struct Description {
    #[doc = doc!("_polyflake.Description.bits")]
    #[pyo3(get)]
    bits: u32,
    fields: Vec<FieldDescription>,
    #[doc = doc!("_polyflake.Description.per_second")]
    #[pyo3(get)]
    per_second: Option<u128>,
    #[doc = doc!("_polyflake.Description.per_second_in_all")]
    #[pyo3(get)]
    per_second_in_all: Option<u128>,
    #[doc = doc!("_polyflake.Description.first_ms")]
    #[pyo3(get)]
    first_ms: Option<i64>,
    #[doc = doc!("_polyflake.Description.last_ms")]
    #[pyo3(get)]
    last_ms: Option<i64>,
    #[doc = doc!("_polyflake.Description.sorts_by_time")]
    #[pyo3(get)]
    sorts_by_time: bool,
    #[doc = doc!("_polyflake.Description.below_2_53")]
    #[pyo3(get)]
    below_2_53: bool,
    #[doc = doc!("_polyflake.Description.below_2_63")]
    #[pyo3(get)]
    below_2_63: bool,
}

impl From<polyflake::Description> for Description {
    fn from(figures: polyflake::Description) -> Self {
        Self {
            bits: figures.bits,
            fields: figures.fields().iter().map(FieldDescription::from).collect(),
            per_second: figures.per_second,
            per_second_in_all: figures.per_second_in_all,
            first_ms: figures.first_ms,
            last_ms: figures.last_ms,
            sorts_by_time: figures.sorts_by_time,
            below_2_53: figures.below_2_53,
            below_2_63: figures.below_2_63,
        }
    }
}

/// The pickled content of a description: bits, fields, capacities, the first and the last millisecond, and three flags.
type PickledDescription<'py> = (
    u32,
    Bound<'py, PyTuple>,
    (Option<u128>, Option<u128>),
    (Option<i64>, Option<i64>),
    (bool, bool, bool),
);

#[pymethods]
impl Description {
    #[doc = doc!("_polyflake.Description.fields")]
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.fields.iter().cloned())
    }

    fn __repr__(&self) -> String {
        format!("<Description of {} fields in {} bits>", self.fields.len(), self.bits)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<PickleParts<'py, PickledDescription<'py>>> {
        let found = slf.get();
        let capacities = (found.per_second, found.per_second_in_all);
        let ticks = (found.first_ms, found.last_ms);
        let all = (found.sorts_by_time, found.below_2_53, found.below_2_63);
        reduce_record(slf, (found.bits, found.fields(slf.py())?, capacities, ticks, all))
    }

    #[staticmethod]
    fn _restore(
        bits: u32,
        fields: Vec<Bound<'_, FieldDescription>>,
        capacities: (Option<u128>, Option<u128>),
        ticks: (Option<i64>, Option<i64>),
        all: (bool, bool, bool),
    ) -> Self {
        let (per_second, per_second_in_all) = capacities;
        let ((first_ms, last_ms), (sorts_by_time, below_2_53, below_2_63)) = (ticks, all);
        Self {
            bits,
            fields: fields.iter().map(|field| field.get().clone()).collect(),
            per_second,
            per_second_in_all,
            first_ms,
            last_ms,
            sorts_by_time,
            below_2_53,
            below_2_63,
        }
    }
}

#[doc = doc!("_polyflake.FieldDescription")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct FieldDescription {
    #[doc = doc!("_polyflake.FieldDescription.name")]
    name: String,
    #[doc = doc!("_polyflake.FieldDescription.kind")]
    kind: String,
    #[doc = doc!("_polyflake.FieldDescription.offset")]
    offset: u32,
    #[doc = doc!("_polyflake.FieldDescription.bits")]
    bits: u32,
}

impl From<&polyflake::FieldDescription> for FieldDescription {
    fn from(field: &polyflake::FieldDescription) -> Self {
        let (name, kind) = (field.name().to_owned(), field.kind.to_owned());
        Self { name, kind, offset: field.offset, bits: field.bits }
    }
}

#[pymethods]
impl FieldDescription {
    fn __repr__(&self) -> String {
        let Self { name, kind, offset, bits } = self;
        format!("<FieldDescription: {kind} {name}, {bits} bits at {offset}>")
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<PickleParts<'py, (String, String, u32, u32)>> {
        let Self { name, kind, offset, bits } = slf.get().clone();
        reduce_record(slf, (name, kind, offset, bits))
    }

    #[staticmethod]
    fn _restore(name: String, kind: String, offset: u32, bits: u32) -> Self {
        Self { name, kind, offset, bits }
    }
}
