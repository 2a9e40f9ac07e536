//! Randflake's pools.

use polyflake::randflake::{self, Randflake};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::{Generates, Member, Members};
use crate::{
    errors::raise,
    generators::{clock::PythonClock, randflake::Generator},
    ids::{
        convert::Count,
        memory::room_for,
        randflake::RandflakeArray,
        target::{Item, Target},
        text::Ascii,
    },
};

impl Generates for Generator {
    type Inner = randflake::Generator<PythonClock>;

    fn inner(&self) -> &Self::Inner {
        &self.inner
    }
}

/// Generators of several leases as one, which makes more IDs in a second than each may.
#[pyclass(frozen, module = "polyflake.randflake")]
pub(crate) struct Pool {
    inner: randflake::Pool<Member<Generator>>,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(members: Members<Generator>) -> PyResult<Self> {
        Ok(Self { inner: randflake::Pool::new(members.0).map_err(raise)? })
    }

    /// One new ID.
    fn generate(&self) -> PyResult<i64> {
        self.inner.generate().map(Randflake::to_i64).map_err(raise)
    }

    /// The text of one new ID.
    fn generate_text(&self) -> PyResult<Ascii<{ Randflake::TEXT_LEN }>> {
        self.inner.generate_text().map(Ascii).map_err(raise)
    }

    /// Many new IDs.
    #[pyo3(signature = (n, /))]
    fn generate_many(&self, py: Python<'_>, n: Count) -> PyResult<RandflakeArray> {
        let mut ids = room_for(n.0 as usize)?;
        py.detach(|| self.inner.fill(&mut ids)).map_err(raise)?;
        Ok(ids.into())
    }

    /// Many new IDs into memory of the caller's.
    #[pyo3(signature = (buffer, /))]
    fn fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        let target = Target::of(buffer, Item::Integer)?;
        target.fill(py, |ids| self.inner.fill(ids))
    }

    /// Its generators.
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        super::tuple(py, self.inner.members())
    }

    fn __repr__(&self) -> String {
        format!("<randflake.Pool of {} generators>", self.inner.members().len())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        super::reduce()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        super::traverse(self.inner.members(), &visit)
    }
}
