//! Snapshots of closed layout generators, and generator statistics.

use polyflake::layout;
use pyo3::prelude::*;

use super::super::ids::json;
use crate::{
    errors::raise,
    ids::{
        convert::{FromArgument, wrong_type_exception},
        record::{PickleParts, reduce_by_attributes, reduce_record},
    },
};

#[doc = doc!("layout.Snapshot")]
#[pyclass(frozen, eq, hash, module = "polyflake.layout")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Snapshot(pub(super) layout::Snapshot);

#[pymethods]
impl Snapshot {
    #[doc = doc!("layout.Snapshot.from_dict")]
    #[staticmethod]
    #[pyo3(signature = (members, /))]
    fn from_dict(members: &Bound<'_, PyAny>) -> PyResult<Self> {
        layout::Snapshot::from_value(json::json_from_dict(members, "members")?)
            .map(Self)
            .map_err(raise)
    }

    #[doc = doc!("layout.Snapshot.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_object(py, self.0.to_value())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py, (Bound<'py, PyAny>,)>> {
        reduce_record(slf, (slf.get().to_dict(slf.py())?,))
    }

    #[staticmethod]
    fn _restore(members: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::from_dict(members)
    }

    #[doc = doc!("layout.Snapshot.tick")]
    #[getter]
    fn tick(&self) -> u64 {
        self.0.tick
    }

    #[doc = doc!("layout.Snapshot.next_sequence")]
    #[getter]
    fn next_sequence(&self) -> u128 {
        self.0.next_sequence
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Snapshot.from_dict({})", self.to_dict(py)?.repr()?))
    }
}

#[doc = doc!("layout.Stats")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.layout")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Stats {
    #[doc = doc!("layout.Stats.last_ms")]
    last_ms: Option<i64>,
    #[doc = doc!("layout.Stats.len")]
    len: u128,
    #[doc = doc!("layout.Stats.closed")]
    closed: bool,
}

impl From<layout::Stats> for Stats {
    fn from(layout::Stats { last_ms, len, closed, .. }: layout::Stats) -> Self {
        Self { last_ms, len, closed }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let Self { last_ms, len, closed } = self;
        let open = if *closed { "closed" } else { "open" };
        match last_ms {
            Some(last_ms) => format!("<Stats: {open}, {len} IDs in the tick of {last_ms} ms>"),
            None => format!("<Stats: {open}, {len} IDs>"),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}

/// A snapshot passed as an argument.
pub(super) struct SnapshotArgument(pub(super) layout::Snapshot);

impl<'a, 'py> FromArgument<'a, 'py> for SnapshotArgument {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        match value.cast::<Snapshot>() {
            Ok(snapshot) => Ok(Self(snapshot.get().0)),
            Err(_) => Err(wrong_type_exception(name, "layout.Snapshot", &value)),
        }
    }
}
