//! Hot Guid's pools.

use polyflake::hotguid::{self, HotGuid};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::{Generates, Member, Members};
use crate::{
    errors::{detached, raise},
    generators::{clock::PythonClock, hotguid::Generator},
    ids::{
        convert::Count,
        hotguid::{HotGuidArray, ShardKey, to_uuid},
        memory::filled,
        target::{Item, Target},
        text::Ascii,
    },
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
    inner: hotguid::Pool<Member<Generator>>,
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (members, /))]
    fn new(py: Python<'_>, members: Members<Generator>) -> PyResult<Self> {
        Ok(Self { inner: detached(py, || hotguid::Pool::new(members.0)).map_err(raise)? })
    }

    #[doc = doc!("hotguid.Pool.generate")]
    #[pyo3(signature = (shard_key = ShardKey(0)), text_signature = "($self, shard_key=0)")]
    fn generate<'py>(&self, py: Python<'py>, shard_key: ShardKey) -> PyResult<Bound<'py, PyAny>> {
        to_uuid(py, self.inner.generate(shard_key.0).map_err(raise)?)
    }

    #[doc = doc!("hotguid.Pool.generate_text")]
    #[pyo3(signature = (shard_key = ShardKey(0)), text_signature = "($self, shard_key=0)")]
    fn generate_text(&self, shard_key: ShardKey) -> PyResult<Ascii<{ HotGuid::TEXT_LEN }>> {
        self.inner.generate_text(shard_key.0).map(Ascii).map_err(raise)
    }

    #[doc = doc!("hotguid.Pool.generate_many")]
    #[pyo3(signature = (n, /, shard_key = ShardKey(0)), text_signature = "($self, n, /, shard_key=0)")]
    fn generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        shard_key: ShardKey,
    ) -> PyResult<HotGuidArray> {
        Ok(filled(py, n, |ids| self.inner.fill(shard_key.0, ids))?.into())
    }

    #[doc = doc!("hotguid.Pool.fill")]
    #[pyo3(
        signature = (buffer, /, shard_key = ShardKey(0)),
        text_signature = "($self, buffer, /, shard_key=0)"
    )]
    fn fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>, shard_key: ShardKey) -> PyResult<()> {
        let target = Target::of(buffer, Item::Bytes(HotGuid::LEN))?;
        target.fill(py, raise, |ids| self.inner.fill(shard_key.0, ids)).map(drop)
    }

    #[doc = doc!("hotguid.Pool.try_generate")]
    #[pyo3(signature = (shard_key = ShardKey(0)), text_signature = "($self, shard_key=0)")]
    fn try_generate<'py>(
        &self,
        py: Python<'py>,
        shard_key: ShardKey,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_uuid(py, self.inner.try_generate(shard_key.0).map_err(raise)?)
    }

    #[doc = doc!("hotguid.Pool.try_generate_text")]
    #[pyo3(signature = (shard_key = ShardKey(0)), text_signature = "($self, shard_key=0)")]
    fn try_generate_text(&self, shard_key: ShardKey) -> PyResult<Ascii<{ HotGuid::TEXT_LEN }>> {
        self.inner.try_generate_text(shard_key.0).map(Ascii).map_err(raise)
    }

    #[doc = doc!("hotguid.Pool.try_generate_many")]
    #[pyo3(signature = (n, /, shard_key = ShardKey(0)), text_signature = "($self, n, /, shard_key=0)")]
    fn try_generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        shard_key: ShardKey,
    ) -> PyResult<HotGuidArray> {
        Ok(filled(py, n, |ids| self.inner.try_fill(shard_key.0, ids))?.into())
    }

    #[doc = doc!("hotguid.Pool.try_fill")]
    #[pyo3(signature = (buffer, /, shard_key = ShardKey(0)), text_signature = "($self, buffer, /, shard_key=0)")]
    fn try_fill(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        shard_key: ShardKey,
    ) -> PyResult<usize> {
        let target = Target::of(buffer, Item::Bytes(HotGuid::LEN))?;
        target.fill(py, raise, |ids| self.inner.try_fill(shard_key.0, ids))
    }

    #[doc = doc!("hotguid.Pool.members")]
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        super::tuple(py, self.inner.members())
    }

    fn __repr__(&self) -> String {
        format!("<hotguid.Pool of {} generators>", self.inner.members().len())
    }

    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        super::reduce()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        super::traverse(self.inner.members(), &visit)
    }
}
