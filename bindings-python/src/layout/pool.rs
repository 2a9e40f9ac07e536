//! Pools over custom layouts.

use polyflake::layout;
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::generator::Generator;
use crate::generators::pool::{self, Generates, Member, Members};
use crate::{
    errors::{detached, raise},
    generators::clock::PythonClock,
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
    pub(crate) inner: layout::Pool<Member<Generator>>,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(py: Python<'_>, members: Members<Generator>) -> PyResult<Self> {
        Ok(Self { inner: detached(py, || layout::Pool::new(members.0)).map_err(raise)? })
    }

    #[doc = doc!("layout.Pool.members")]
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pool::tuple(py, self.inner.members())
    }

    fn __repr__(&self) -> String {
        format!("<layout.Pool of {} generators>", self.inner.members().len())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        pool::reduce()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        pool::traverse(self.inner.members(), &visit)
    }
}

impl Pool {
    /// The layout of all members.
    pub(crate) fn layout(&self) -> &layout::Layout {
        self.inner.members()[0].layout()
    }
}
