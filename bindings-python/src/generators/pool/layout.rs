//! Pools over custom layouts.

use polyflake::layout::{self, Batch};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::{Generates, Member, Members};
use crate::{
    errors::{detached, raise},
    generators::{
        clock::PythonClock,
        layout::{Generator, fill},
    },
    ids::{
        convert::Count,
        layout::{LayoutArray, id_to_object},
    },
};

impl Generates for Generator {
    type Inner = layout::Generator<PythonClock>;

    fn inner(&self) -> &Self::Inner {
        &self.inner
    }
}

#[doc = doc!("layout.Pool")]
#[pyclass(frozen, module = "polyflake.layout")]
pub(crate) struct Pool {
    inner: layout::Pool<Member<Generator>>,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(py: Python<'_>, members: Members<Generator>) -> PyResult<Self> {
        Ok(Self { inner: detached(py, || layout::Pool::new(members.0)).map_err(raise)? })
    }

    #[doc = doc!("layout.Pool.generate")]
    fn generate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        id_to_object(py, self.inner.generate().map_err(raise)?)
    }

    #[doc = doc!("layout.Pool.generate_many")]
    #[pyo3(signature = (n, /))]
    fn generate_many(&self, py: Python<'_>, n: Count) -> PyResult<LayoutArray> {
        LayoutArray::filled(py, self.layout(), n.0, raise, |ids| self.inner.fill(ids))
    }

    #[doc = doc!("layout.Pool.fill")]
    #[pyo3(signature = (buffer, /))]
    fn fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        let make = |ids: Batch<'_>| self.inner.fill(ids);
        fill(py, self.layout(), buffer, raise, make).map(drop)
    }

    #[doc = doc!("layout.Pool.try_generate")]
    fn try_generate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        id_to_object(py, self.inner.try_generate().map_err(raise)?)
    }

    #[doc = doc!("layout.Pool.try_generate_many")]
    #[pyo3(signature = (n, /))]
    fn try_generate_many(&self, py: Python<'_>, n: Count) -> PyResult<LayoutArray> {
        LayoutArray::filled(py, self.layout(), n.0, raise, |ids| self.inner.try_fill(ids))
    }

    #[doc = doc!("layout.Pool.try_fill")]
    #[pyo3(signature = (buffer, /))]
    fn try_fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        fill(py, self.layout(), buffer, raise, |ids: Batch<'_>| self.inner.try_fill(ids))
    }

    #[doc = doc!("layout.Pool.members")]
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        super::tuple(py, self.inner.members())
    }

    fn __repr__(&self) -> String {
        format!("<layout.Pool of {} generators>", self.inner.members().len())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        super::reduce()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        super::traverse(self.inner.members(), &visit)
    }
}

impl Pool {
    /// That of all members.
    fn layout(&self) -> &layout::Layout {
        self.inner.members()[0].layout()
    }
}
