//! Randflake's pools.

use polyflake::randflake::{self, Randflake};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::{Generates, Member, Members};
use crate::{
    errors::{detached, raise},
    generators::{clock::PythonClock, randflake::Generator},
    ids::{
        convert::Count,
        memory::filled,
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

#[doc = doc!("randflake.Pool")]
#[pyclass(frozen, module = "polyflake.randflake")]
pub(crate) struct Pool {
    inner: randflake::Pool<Member<Generator>>,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(py: Python<'_>, members: Members<Generator>) -> PyResult<Self> {
        Ok(Self { inner: detached(py, || randflake::Pool::new(members.0)).map_err(raise)? })
    }

    #[doc = doc!("randflake.Pool.generate")]
    fn generate(&self) -> PyResult<i64> {
        self.inner.generate().map(Randflake::to_i64).map_err(raise)
    }

    #[doc = doc!("randflake.Pool.generate_text")]
    fn generate_text(&self) -> PyResult<Ascii<{ Randflake::TEXT_LEN }>> {
        self.inner.generate_text().map(Ascii).map_err(raise)
    }

    #[doc = doc!("randflake.Pool.generate_many")]
    #[pyo3(signature = (n, /))]
    fn generate_many(&self, py: Python<'_>, n: Count) -> PyResult<RandflakeArray> {
        Ok(filled(py, n, |ids| self.inner.fill(ids))?.into())
    }

    #[doc = doc!("randflake.Pool.fill")]
    #[pyo3(signature = (buffer, /))]
    fn fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        let target = Target::of(buffer, Item::Integer)?;
        target.fill(py, raise, |ids| self.inner.fill(ids)).map(drop)
    }

    #[doc = doc!("randflake.Pool.try_generate")]
    fn try_generate(&self) -> PyResult<i64> {
        self.inner.try_generate().map(Randflake::to_i64).map_err(raise)
    }

    #[doc = doc!("randflake.Pool.try_generate_text")]
    fn try_generate_text(&self) -> PyResult<Ascii<{ Randflake::TEXT_LEN }>> {
        self.inner.try_generate_text().map(Ascii).map_err(raise)
    }

    #[doc = doc!("randflake.Pool.try_generate_many")]
    #[pyo3(signature = (n, /))]
    fn try_generate_many(&self, py: Python<'_>, n: Count) -> PyResult<RandflakeArray> {
        Ok(filled(py, n, |ids| self.inner.try_fill(ids))?.into())
    }

    #[doc = doc!("randflake.Pool.try_fill")]
    #[pyo3(signature = (buffer, /))]
    fn try_fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let target = Target::of(buffer, Item::Integer)?;
        target.fill(py, raise, |ids| self.inner.try_fill(ids))
    }

    #[doc = doc!("randflake.Pool.members")]
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
