//! sno's pools.

use polyflake::{Error, ErrorKind, sno};
use pyo3::{
    PyTraverseError, PyVisit,
    prelude::*,
    types::{PyString, PyTuple},
};

use super::{Generates, Member, Members};
use crate::{
    errors::{detached, raise, raise_about},
    generators::{clock::PythonClock, sno::Generator},
    ids::{
        convert::{Count, Metabyte},
        memory::filled,
        sno::{Sno, SnoArray},
        target::{Item, Target},
        text::Ascii,
    },
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
    inner: sno::Pool<Member<Generator>>,
    /// That of all members.
    metabyte: Metabyte,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(py: Python<'_>, members: Members<Generator>) -> PyResult<Self> {
        let inner = detached(py, || sno::Pool::new(members.0)).map_err(raise)?;
        Ok(Self { metabyte: metabyte_of(inner.members())?, inner })
    }

    #[doc = doc!("sno.Pool.generate")]
    #[pyo3(signature = (metabyte = None))]
    fn generate(&self, metabyte: Option<Metabyte>) -> PyResult<Sno> {
        self.inner.generate(self.metabyte(metabyte)).map(Sno).map_err(raise)
    }

    #[doc = doc!("sno.Pool.generate_text")]
    #[pyo3(signature = (metabyte = None))]
    fn generate_text<'py>(
        &self,
        py: Python<'py>,
        metabyte: Option<Metabyte>,
    ) -> PyResult<Bound<'py, PyString>> {
        Ascii(self.inner.generate_text(self.metabyte(metabyte)).map_err(raise)?).into_pyobject(py)
    }

    #[doc = doc!("sno.Pool.generate_many")]
    #[pyo3(signature = (n, /, metabyte = None))]
    fn generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        metabyte: Option<Metabyte>,
    ) -> PyResult<SnoArray> {
        Ok(filled(py, n, |ids| self.inner.fill(self.metabyte(metabyte), ids))?.into())
    }

    #[doc = doc!("sno.Pool.fill")]
    #[pyo3(signature = (buffer, /, metabyte = None))]
    fn fill(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        metabyte: Option<Metabyte>,
    ) -> PyResult<()> {
        let metabyte = self.metabyte(metabyte);
        let target = Target::of(buffer, Item::Bytes(sno::Sno::LEN))?;
        target.fill(py, raise, |ids| self.inner.fill(metabyte, ids)).map(drop)
    }

    #[doc = doc!("sno.Pool.try_generate")]
    #[pyo3(signature = (metabyte = None))]
    fn try_generate(&self, metabyte: Option<Metabyte>) -> PyResult<Sno> {
        self.inner.try_generate(self.metabyte(metabyte)).map(Sno).map_err(raise)
    }

    #[doc = doc!("sno.Pool.try_generate_text")]
    #[pyo3(signature = (metabyte = None))]
    fn try_generate_text(
        &self,
        metabyte: Option<Metabyte>,
    ) -> PyResult<Ascii<{ sno::Sno::TEXT_LEN }>> {
        self.inner.try_generate_text(self.metabyte(metabyte)).map(Ascii).map_err(raise)
    }

    #[doc = doc!("sno.Pool.try_generate_many")]
    #[pyo3(signature = (n, /, metabyte = None))]
    fn try_generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        metabyte: Option<Metabyte>,
    ) -> PyResult<SnoArray> {
        Ok(filled(py, n, |ids| self.inner.try_fill(self.metabyte(metabyte), ids))?.into())
    }

    #[doc = doc!("sno.Pool.try_fill")]
    #[pyo3(signature = (buffer, /, metabyte = None))]
    fn try_fill(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        metabyte: Option<Metabyte>,
    ) -> PyResult<usize> {
        let target = Target::of(buffer, Item::Bytes(sno::Sno::LEN))?;
        target.fill(py, raise, |ids| self.inner.try_fill(self.metabyte(metabyte), ids))
    }

    #[doc = doc!("sno.Pool.members")]
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        super::tuple(py, self.inner.members())
    }

    fn __repr__(&self) -> String {
        format!("<sno.Pool of {} generators>", self.inner.members().len())
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
    fn metabyte(&self, given: Option<Metabyte>) -> u8 {
        given.unwrap_or(self.metabyte).0
    }
}

/// The metabyte that all members have for IDs made without saying one.
fn metabyte_of(members: &[Member<Generator>]) -> PyResult<Metabyte> {
    let [first, others @ ..] = members else { return Ok(Metabyte(0)) };
    let all = first.0.get().metabyte;
    let Some(place) = others.iter().position(|member| member.0.get().metabyte.0 != all.0) else {
        return Ok(all);
    };
    let found = others[place].0.get().metabyte.0;
    let reason = format!("expected one metabyte of all members, found {} and {found}", all.0);
    let error = Error::because(ErrorKind::OutOfRange, reason).in_item(place + 1);
    Python::attach(|py| Err(raise_about(py, &error, Some("metabyte"))))
}
