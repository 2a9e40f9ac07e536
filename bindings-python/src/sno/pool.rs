//! sno's pools.

use polyflake::{Error, ErrorKind, sno};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::generator::Generator;
use crate::generators::pool::{self, Generates, Member, Members};
use crate::{
    errors::{detached, raise, raise_about},
    generators::clock::PythonClock,
    ids::convert::Metabyte,
};

impl Generates for Generator {
    type Inner = sno::Generator<PythonClock>;

    fn inner(&self) -> &Self::Inner {
        &self.inner
    }
}

#[doc = doc!("sno.Pool")]
#[pyclass(frozen, module = "polyflake.sno")]
pub(crate) struct Pool {
    pub(crate) inner: sno::Pool<Member<Generator>>,
    /// The default metabyte, the same for all members.
    pub(crate) metabyte: Metabyte,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(py: Python<'_>, members: Members<Generator>) -> PyResult<Self> {
        let inner = detached(py, || sno::Pool::new(members.0)).map_err(raise)?;
        Ok(Self { metabyte: metabyte_of(inner.members())?, inner })
    }

    #[doc = doc!("sno.Pool.members")]
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pool::tuple(py, self.inner.members())
    }

    fn __repr__(&self) -> String {
        format!("<sno.Pool of {} generators>", self.inner.members().len())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        pool::reduce()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        pool::traverse(self.inner.members(), &visit)
    }
}

/// The default metabyte, which must be the same for all members.
fn metabyte_of(members: &[Member<Generator>]) -> PyResult<Metabyte> {
    let [first, others @ ..] = members else { return Ok(Metabyte(0)) };
    let all = first.0.get().metabyte;
    let Some(place) = others.iter().position(|member| member.0.get().metabyte.0 != all.0) else {
        return Ok(all);
    };
    let found = others[place].0.get().metabyte.0;
    let reason = format!("expected the same metabyte in all members, found {} and {found}", all.0);
    let error = Error::because(ErrorKind::OutOfRange, reason).in_item(place + 1);
    Python::attach(|py| Err(raise_about(py, &error, Some("metabyte"))))
}
