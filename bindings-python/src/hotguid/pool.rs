//! Hot Guid's pools.

use polyflake::hotguid;
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::generator::Generator;
use crate::generators::pool::{self, Generates, Member, Members};
use crate::{
    errors::{detached, raise},
    generators::clock::PythonClock,
};

impl Generates for Generator {
    type Inner = hotguid::Generator<PythonClock>;

    fn inner(&self) -> &Self::Inner {
        &self.inner
    }
}

#[doc = doc!("hotguid.Pool")]
#[pyclass(frozen, module = "polyflake.hotguid")]
pub(crate) struct Pool {
    pub(crate) inner: hotguid::Pool<Member<Generator>>,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(py: Python<'_>, members: Members<Generator>) -> PyResult<Self> {
        Ok(Self { inner: detached(py, || hotguid::Pool::new(members.0)).map_err(raise)? })
    }

    #[doc = doc!("hotguid.Pool.members")]
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pool::tuple(py, self.inner.members())
    }

    fn __repr__(&self) -> String {
        format!("<hotguid.Pool of {} generators>", self.inner.members().len())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        pool::reduce()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        pool::traverse(self.inner.members(), &visit)
    }
}
