//! Hot Guid's generators.

use polyflake::hotguid::{self, HotGuid};
use pyo3::{PyTraverseError, PyVisit, prelude::*, sync::PyOnceLock};

use super::clock::PythonClock;
use crate::{
    errors::{no_copy, raise},
    ids::{
        convert::{Callable, Count, Exhausted, MaxWait, Span, UnixMs},
        hotguid::{HotGuidArray, ShardKey, hex, to_uuid},
        memory::room_for,
        target::{Item, Target},
        text::Ascii,
    },
};

type Inner = hotguid::Generator<PythonClock>;

/// The process-wide generator.
pub(crate) fn default_generator(py: Python<'_>) -> PyResult<&'static Inner> {
    static DEFAULT: PyOnceLock<Inner> = PyOnceLock::new();
    DEFAULT.get_or_try_init(py, || {
        hotguid::Generator::builder().clock(PythonClock::SYSTEM).build().map_err(raise)
    })
}

/// One new ID from the process-wide generator.
#[pyfunction]
#[pyo3(signature = (shard_key = ShardKey(0)), text_signature = "(shard_key=0)")]
pub(crate) fn generate(py: Python<'_>, shard_key: ShardKey) -> PyResult<Bound<'_, PyAny>> {
    to_uuid(py, default_generator(py)?.generate(shard_key.0).map_err(raise)?)
}

/// A source of IDs under random bytes of its own.
#[pyclass(frozen, module = "polyflake.hotguid")]
pub(crate) struct Generator {
    pub(super) inner: Inner,
    /// For the garbage collector: the same references that `inner` holds.
    clock: PythonClock,
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (*, window = None, clock = None, on_exhausted = Exhausted::WAIT, max_wait = None, on_stall = None),
        text_signature = "(*, window=None, clock=None, on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    fn new(
        window: Option<Span>,
        clock: Option<Callable>,
        on_exhausted: Exhausted,
        max_wait: Option<MaxWait>,
        on_stall: Option<Callable>,
    ) -> PyResult<Self> {
        let clock = PythonClock::new(clock, on_stall);
        let mut builder =
            hotguid::Generator::builder().clock(clock.clone()).on_exhausted(on_exhausted.0);
        if let Some(Span { start, end }) = window {
            builder = builder.window(start.0, end.0);
        }
        if let Some(max_wait) = max_wait {
            builder = builder.max_wait(max_wait.into());
        }
        Ok(Self { inner: builder.build().map_err(raise)?, clock })
    }

    /// One new ID.
    #[pyo3(signature = (shard_key = ShardKey(0)), text_signature = "($self, shard_key=0)")]
    fn generate<'py>(&self, py: Python<'py>, shard_key: ShardKey) -> PyResult<Bound<'py, PyAny>> {
        to_uuid(py, self.inner.generate(shard_key.0).map_err(raise)?)
    }

    /// The text of one new ID.
    #[pyo3(signature = (shard_key = ShardKey(0)), text_signature = "($self, shard_key=0)")]
    fn generate_text(&self, shard_key: ShardKey) -> PyResult<Ascii<{ HotGuid::TEXT_LEN }>> {
        self.inner.generate_text(shard_key.0).map(Ascii).map_err(raise)
    }

    /// Many new IDs.
    #[pyo3(signature = (n, /, shard_key = ShardKey(0)), text_signature = "($self, n, /, shard_key=0)")]
    fn generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        shard_key: ShardKey,
    ) -> PyResult<HotGuidArray> {
        let mut ids = room_for(n.0 as usize)?;
        py.detach(|| self.inner.fill(shard_key.0, &mut ids)).map_err(raise)?;
        Ok(ids.into())
    }

    /// Many new IDs into memory of the caller's.
    #[pyo3(
        signature = (buffer, /, shard_key = ShardKey(0)),
        text_signature = "($self, buffer, /, shard_key=0)"
    )]
    fn fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>, shard_key: ShardKey) -> PyResult<()> {
        let target = Target::of(buffer, Item::Bytes(HotGuid::LEN))?;
        target.fill(py, |ids| self.inner.fill(shard_key.0, ids))
    }

    /// Moves the end of the window later.
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: UnixMs) -> PyResult<()> {
        self.inner.extend_window(end.0).map_err(raise)
    }

    /// Figures of now.
    fn stats(&self) -> Stats {
        Stats(self.inner.stats())
    }

    /// Ends the generator.
    fn close(&self) -> PyResult<()> {
        self.inner.close().map_err(raise)
    }

    fn __repr__(&self) -> String {
        match self.inner.stats().machine {
            Some(machine) => format!("<hotguid.Generator of machine {}>", hex(machine)),
            None => "<hotguid.Generator without a machine yet>".to_owned(),
        }
    }

    /// What copying and pickling call: two generators of the same random bytes repeat each other's IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        no_copy("expected one generator of its random bytes, found a copy: make another one")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.traverse(&visit)
    }
}

/// Figures of a generator.
#[pyclass(frozen, eq, hash, module = "polyflake.hotguid")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Stats(hotguid::Stats);

#[pymethods]
impl Stats {
    /// The 5 random bytes, once they are drawn.
    #[getter]
    fn machine(&self) -> Option<[u8; 5]> {
        self.0.machine
    }

    /// The highest second that an ID was made in, in Unix seconds.
    #[getter]
    fn last_second(&self) -> Option<i64> {
        self.0.last_second
    }

    /// How many IDs were made in that second.
    #[getter]
    fn len(&self) -> u32 {
        self.0.len
    }

    /// Whether the generator was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.0.closed
    }

    fn __repr__(&self) -> String {
        let open = if self.0.closed { "closed" } else { "open" };
        match self.0.last_second {
            Some(second) => format!("<Stats: {open}, {} IDs in second {second}>", self.0.len),
            None => format!("<Stats: {open}, no IDs>"),
        }
    }
}
