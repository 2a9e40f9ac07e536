//! Generators over custom layouts.

use polyflake::layout::{self, Batch, Builder, Values};
use pyo3::{PyTraverseError, PyVisit, prelude::*};

use super::clock::PythonClock;
use crate::{
    errors::{no_copy, raise},
    ids::{
        convert::{Callable, Count, Exhausted, Flag, MaxWait, Span, UnixMs, invalid_type},
        layout::{Layout, LayoutArray, Named, id_to_object, json},
        target::{Item, Target},
    },
};

type Inner = layout::Generator<PythonClock>;

/// A source of IDs of one layout.
#[pyclass(frozen, module = "polyflake.layout")]
pub(crate) struct Generator {
    pub(super) inner: Inner,
    layout: Py<Layout>,
    /// For the garbage collector: the same references that `inner` holds.
    clock: PythonClock,
}

/// The options of every way to make a generator.
struct Options {
    bindables: Option<Named>,
    sequence_only: Flag,
    window: Option<Span>,
    clock: Option<Callable>,
    on_exhausted: Exhausted,
    max_wait: Option<MaxWait>,
    on_stall: Option<Callable>,
}

impl Options {
    fn make(
        self,
        layout: LayoutArgument,
        build: impl FnOnce(Builder<PythonClock>) -> polyflake::Result<Inner>,
    ) -> PyResult<Generator> {
        let clock = PythonClock::new(self.clock, self.on_stall);
        let mut builder = Builder::with_clock(layout.0.get().0.clone(), clock.clone())
            .sequence_only(self.sequence_only.0)
            .on_exhausted(self.on_exhausted.0);
        for (name, value) in self.bindables.unwrap_or_default().0 {
            builder = builder.bind(name, value);
        }
        if let Some(Span { start, end }) = self.window {
            builder = builder.window(start.0, end.0);
        }
        if let Some(max_wait) = self.max_wait {
            builder = builder.max_wait(max_wait.into());
        }
        Ok(Generator { inner: build(builder).map_err(raise)?, layout: layout.0, clock })
    }
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            layout, *, bindables = None, sequence_only = Flag(false), window = None, clock = None,
            on_exhausted = Exhausted::WAIT, max_wait = None, on_stall = None
        ),
        text_signature = "(layout, *, bindables=None, sequence_only=False, window=None, clock=None, \
                          on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "keywords")]
    fn new(
        layout: LayoutArgument,
        bindables: Option<Named>,
        sequence_only: Flag,
        window: Option<Span>,
        clock: Option<Callable>,
        on_exhausted: Exhausted,
        max_wait: Option<MaxWait>,
        on_stall: Option<Callable>,
    ) -> PyResult<Self> {
        Options { bindables, sequence_only, window, clock, on_exhausted, max_wait, on_stall }
            .make(layout, Builder::build)
    }

    /// A generator that goes on where a closed one of the same layout stopped.
    #[staticmethod]
    #[pyo3(
        signature = (
            layout, snapshot, /, *, bindables = None, sequence_only = Flag(false), window = None, clock = None,
            on_exhausted = Exhausted::WAIT, max_wait = None, on_stall = None
        ),
        text_signature = "(layout, snapshot, /, *, bindables=None, sequence_only=False, window=None, clock=None, \
                          on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "keywords")]
    fn restore(
        layout: LayoutArgument,
        snapshot: SnapshotArgument,
        bindables: Option<Named>,
        sequence_only: Flag,
        window: Option<Span>,
        clock: Option<Callable>,
        on_exhausted: Exhausted,
        max_wait: Option<MaxWait>,
        on_stall: Option<Callable>,
    ) -> PyResult<Self> {
        Options { bindables, sequence_only, window, clock, on_exhausted, max_wait, on_stall }
            .make(layout, |builder| builder.restore(snapshot.0))
    }

    /// One new ID.
    #[pyo3(signature = (bindables = None))]
    fn generate<'py>(
        &self,
        py: Python<'py>,
        bindables: Option<Named>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = match bindables {
            None => self.inner.generate(),
            Some(bindables) => self.inner.generate_with(&self.values(bindables)?),
        };
        id_to_object(py, id.map_err(raise)?)
    }

    /// Many new IDs.
    #[pyo3(signature = (n, /, bindables = None))]
    fn generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        bindables: Option<Named>,
    ) -> PyResult<LayoutArray> {
        let values = self.values(bindables.unwrap_or_default())?;
        LayoutArray::filled(py, self.inner.layout(), n.0, |ids| self.inner.fill_with(&values, ids))
    }

    /// Many new IDs into memory of the caller's.
    #[pyo3(signature = (buffer, /, bindables = None))]
    fn fill(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        bindables: Option<Named>,
    ) -> PyResult<()> {
        let values = self.values(bindables.unwrap_or_default())?;
        fill(py, self.inner.layout(), buffer, |ids| self.inner.fill_with(&values, ids))
    }

    /// The layout of its IDs.
    #[getter]
    fn layout(&self, py: Python<'_>) -> Py<Layout> {
        self.layout.clone_ref(py)
    }

    /// Moves the end of the window later.
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: UnixMs) -> PyResult<()> {
        self.inner.extend_window(end.0).map_err(raise)
    }

    /// Figures of now.
    fn stats(&self) -> Stats {
        self.inner.stats().into()
    }

    /// Ends the generator and gives the snapshot to restore from.
    fn close(&self) -> PyResult<Snapshot> {
        self.inner.close().map(Snapshot).map_err(raise)
    }

    fn __repr__(&self) -> String {
        format!("<layout.Generator of IDs of {} bits>", self.inner.layout().bits())
    }

    /// What copying and pickling call: two generators of one layout and bindables repeat each other's IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        no_copy(
            "expected one generator of a layout and bindables, found a copy: save what close() gives instead",
        )
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.traverse(&visit)
    }
}

impl Generator {
    /// The values of one ID, the fixed ones among them.
    fn values(&self, bindables: Named) -> PyResult<Values<'_>> {
        let mut values = self.inner.values();
        for (name, value) in bindables.0 {
            values.bind(&name, value).map_err(raise)?;
        }
        Ok(values)
    }
}

/// Fills a buffer with IDs of a layout.
pub(super) fn fill(
    py: Python<'_>,
    layout: &layout::Layout,
    buffer: &Bound<'_, PyAny>,
    make: impl Fn(Batch<'_>) -> polyflake::Result<()> + Sync,
) -> PyResult<()> {
    if layout.is_integer() {
        let target = Target::of(buffer, Item::Integer)?;
        return target.fill(py, |ids: &mut [i64]| make(ids.into()));
    }
    let size = layout.bits() as usize / 8;
    let target = Target::of(buffer, Item::Bytes(size))?;
    target.fill(py, |ids: &mut [u8]| make(ids.into()))
}

/// What a closed generator leaves to restore from.
#[pyclass(frozen, eq, hash, module = "polyflake.layout")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Snapshot(layout::Snapshot);

#[pymethods]
impl Snapshot {
    /// The snapshot of a dict, as JSON has it in every language.
    #[staticmethod]
    #[pyo3(signature = (members, /))]
    fn from_dict(members: &Bound<'_, PyAny>) -> PyResult<Self> {
        layout::Snapshot::from_value(json::of_dict(members)?).map(Self).map_err(raise)
    }

    /// A dict, as JSON has it in every language.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_object(py, self.0.to_value())
    }

    /// The last tick used, as the timestamp counts them.
    #[getter]
    fn tick(&self) -> u64 {
        self.0.tick
    }

    /// The sequence that follows in that tick.
    #[getter]
    fn next_sequence(&self) -> u128 {
        self.0.next_sequence
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Snapshot.from_dict({})", self.to_dict(py)?.repr()?))
    }
}

/// Figures of a generator.
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.layout")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Stats {
    /// When the last tick used began, in Unix milliseconds.
    last_ms: Option<i64>,
    /// How many IDs of that tick are used up.
    len: u128,
    /// Whether the generator was closed.
    closed: bool,
}

impl From<layout::Stats> for Stats {
    fn from(layout::Stats { last_ms, len, closed }: layout::Stats) -> Self {
        Self { last_ms, len, closed }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let Self { last_ms, len, closed } = self;
        let open = if *closed { "closed" } else { "open" };
        match last_ms {
            Some(last_ms) => format!("<Stats: {open}, {len} IDs in the tick of {last_ms} ms>"),
            None => format!("<Stats: {open}, {len} IDs>"),
        }
    }
}

/// A layout as an argument.
struct LayoutArgument(Py<Layout>);

impl FromPyObject<'_, '_> for LayoutArgument {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match value.cast::<Layout>() {
            Ok(layout) => Ok(Self(layout.to_owned().unbind())),
            Err(_) => Err(raise(invalid_type("Layout", &value))),
        }
    }
}

/// A snapshot as an argument.
struct SnapshotArgument(layout::Snapshot);

impl FromPyObject<'_, '_> for SnapshotArgument {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match value.cast::<Snapshot>() {
            Ok(snapshot) => Ok(Self(snapshot.get().0)),
            Err(_) => Err(raise(invalid_type("Snapshot", &value))),
        }
    }
}
