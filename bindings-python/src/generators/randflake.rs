//! Randflake's generators.

use polyflake::randflake::{self, Builder};
use pyo3::{PyTraverseError, PyVisit, prelude::*};

use super::clock::PythonClock;
use crate::{
    errors::{no_copy, raise},
    ids::{
        convert::{Callable, Count, Exhausted, MaxWait, invalid_type},
        memory::room_for,
        randflake::{Id, Lease, Parts, RandflakeArray, ResumeAfter},
        secret::Secret,
        target::{Item, Target},
        text::Ascii,
    },
};

/// A source of IDs under one lease.
#[pyclass(frozen, module = "polyflake.randflake")]
pub(crate) struct Generator {
    pub(super) inner: randflake::Generator<PythonClock>,
    /// For the garbage collector: the same references that `inner` holds.
    clock: PythonClock,
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            lease, secret, *, clock = None, on_exhausted = Exhausted::WAIT, max_wait = None, resume_after = None,
            on_stall = None
        ),
        text_signature = "(lease, secret, *, clock=None, on_exhausted='wait', max_wait=None, resume_after=None, \
                          on_stall=None)"
    )]
    fn new(
        lease: LeaseArgument,
        secret: Secret,
        clock: Option<Callable>,
        on_exhausted: Exhausted,
        max_wait: Option<MaxWait>,
        resume_after: Option<ResumeAfter>,
        on_stall: Option<Callable>,
    ) -> PyResult<Self> {
        let clock = PythonClock::new(clock, on_stall);
        let mut builder =
            Builder::with_clock(lease.0, *secret.0, clock.clone()).on_exhausted(on_exhausted.0);
        if let Some(max_wait) = max_wait {
            builder = builder.max_wait(max_wait.into());
        }
        if let Some(second) = resume_after {
            builder = builder.resume_after(second.0);
        }
        Ok(Self { inner: builder.build().map_err(raise)?, clock })
    }

    /// One new ID.
    fn generate(&self) -> PyResult<i64> {
        self.inner.generate().map(randflake::Randflake::to_i64).map_err(raise)
    }

    /// The text of one new ID.
    fn generate_text(&self) -> PyResult<Ascii<{ randflake::Randflake::TEXT_LEN }>> {
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

    /// The fields of an ID.
    #[pyo3(signature = (id, /))]
    fn inspect(&self, id: Id) -> Parts {
        self.inner.inspect(id.into()).into()
    }

    /// The lease, as far as it was extended.
    #[getter]
    fn lease(&self) -> Lease {
        Lease(self.inner.lease())
    }

    /// Extends the lease.
    #[pyo3(signature = (lease, /))]
    fn extend_lease(&self, lease: LeaseArgument) -> PyResult<()> {
        self.inner.extend_lease(lease.0).map_err(raise)
    }

    /// Figures of now.
    fn stats(&self) -> Stats {
        self.inner.stats().into()
    }

    /// Ends the generator and tells the last second used.
    fn close(&self) -> PyResult<Option<i64>> {
        self.inner.close().map_err(raise)
    }

    fn __repr__(&self) -> String {
        let lease = self.inner.lease();
        let (first, last) = lease.nodes().into_inner();
        format!("<randflake.Generator of nodes {first} to {last} until {}>", lease.end())
    }

    /// What copying and pickling call: two generators under one lease repeat each other's IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        no_copy("expected one generator of a lease, found a copy")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.traverse(&visit)
    }
}

/// Figures of a generator.
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Stats {
    /// The last second used, in Unix seconds.
    last_second: Option<i64>,
    /// How many IDs of that second are used up.
    len: u64,
    /// Whether the generator was closed.
    closed: bool,
}

impl From<randflake::Stats> for Stats {
    fn from(randflake::Stats { last_second, len, closed }: randflake::Stats) -> Self {
        Self { last_second, len, closed }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let Self { last_second, len, closed } = self;
        let open = if *closed { "closed" } else { "open" };
        match last_second {
            Some(second) => format!("<Stats: {open}, {len} IDs in second {second}>"),
            None => format!("<Stats: {open}, no IDs>"),
        }
    }
}

/// A lease as an argument.
struct LeaseArgument(randflake::Lease);

impl FromPyObject<'_, '_> for LeaseArgument {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match value.cast::<Lease>() {
            Ok(lease) => Ok(Self(lease.get().0)),
            Err(_) => Err(raise(invalid_type("Lease", &value))),
        }
    }
}
