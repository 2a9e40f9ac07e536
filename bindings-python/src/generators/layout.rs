//! Generators over custom layouts.

mod snapshot;

use std::sync::Arc;

use polyflake::{
    Error, ErrorKind,
    layout::{self, Batch, Builder, Values},
};
use pyo3::{PyTraverseError, PyVisit, prelude::*};
use snapshot::SnapshotArgument;
pub(crate) use snapshot::{Snapshot, Stats};

use super::{clock::PythonClock, twins::Claim};
use crate::{
    errors::{attached, no_copy, raise},
    ids::{
        convert::{
            ClockArgument, Count, Exhausted, Flag, MaxWait, Of, Span, StallArgument, Take, UnixMs,
            name, raise_about_time, wrong_type,
        },
        layout::{Layout, LayoutArray, Named, Names, id_to_object},
        memory::Written,
        target::{Item, Target},
    },
};

type Inner = layout::Generator<PythonClock>;

type Bindables = Of<Named, name::bindables>;

#[doc = doc!("layout.Generator")]
#[pyclass(frozen, module = "polyflake.layout")]
pub(crate) struct Generator {
    pub(super) inner: Inner,
    layout: Py<Layout>,
    /// Where all bindables are fixed.
    claim: Option<Arc<Claim>>,
}

const TWIN: &str = "another generator of this process has the same layout, bindables and time: they repeat each other's IDs";

/// The options of every way to make a generator.
struct Options {
    bindables: Option<Bindables>,
    sequence_only: Of<Flag, name::sequence_only>,
    window: Option<Span>,
    clock: ClockArgument,
    on_exhausted: Exhausted,
    max_wait: Option<MaxWait>,
    on_stall: StallArgument,
}

impl Options {
    fn make(
        self,
        layout: LayoutArgument,
        build: impl FnOnce(Builder<PythonClock>) -> polyflake::Result<Inner>,
    ) -> PyResult<Generator> {
        let clock = PythonClock::new(self.clock, self.on_stall);
        let mut builder = Builder::with_clock(layout.0.get().0.clone(), clock)
            .sequence_only(self.sequence_only.0.0)
            .on_exhausted(self.on_exhausted.0);
        let bindables = self.bindables.map(|given| given.0).unwrap_or_default();
        let names = bindables.names();
        let mut fixed: Vec<_> = bindables.0.iter().map(|named| format!("{named:?}")).collect();
        fixed.sort_unstable();
        let time = self.window.as_ref().map_or(i64::MIN..i64::MAX, |span| span.start.0..span.end.0);
        for (name, value) in bindables.0 {
            builder = builder.bind(name, value);
        }
        if let Some(Span { start, end }) = self.window {
            builder = builder.window(start.0, end.0);
        }
        if let Some(max_wait) = self.max_wait {
            builder = builder.max_wait(max_wait.into());
        }
        let inner = build(builder).map_err(|error| match error.kind() {
            ErrorKind::InvalidType => names.raise_typed(error),
            _ => raise_about_time(error, Span::NAME),
        })?;
        let what = || format!("{} {fixed:?}", inner.layout().to_json());
        let claim = layout::Pool::new([&inner]).ok();
        let claim = claim.map(|_| attached(|py| Claim::on(py, what(), time, TWIN))).transpose()?;
        Ok(Generator { inner, layout: layout.0, claim })
    }
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            layout, *, bindables = None, sequence_only = Of::new(Flag(false)), window = None, clock = None,
            on_exhausted = Exhausted::WAIT, max_wait = None, on_stall = None
        ),
        text_signature = "(layout, *, bindables=None, sequence_only=False, window=None, clock=None, \
                          on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "keywords")]
    fn new(
        layout: Of<LayoutArgument, name::layout>,
        bindables: Option<Bindables>,
        sequence_only: Of<Flag, name::sequence_only>,
        window: Option<Span>,
        clock: ClockArgument,
        on_exhausted: Exhausted,
        max_wait: Option<MaxWait>,
        on_stall: StallArgument,
    ) -> PyResult<Self> {
        Options { bindables, sequence_only, window, clock, on_exhausted, max_wait, on_stall }
            .make(layout.0, Builder::build)
    }

    #[doc = doc!("layout.Generator.restore")]
    #[staticmethod]
    #[pyo3(
        signature = (
            layout, snapshot, /, *, bindables = None, sequence_only = Of::new(Flag(false)), window = None, clock = None,
            on_exhausted = Exhausted::WAIT, max_wait = None, on_stall = None
        ),
        text_signature = "(layout, snapshot, /, *, bindables=None, sequence_only=False, window=None, clock=None, \
                          on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "keywords")]
    fn restore(
        layout: Of<LayoutArgument, name::layout>,
        snapshot: Of<SnapshotArgument, name::snapshot>,
        bindables: Option<Bindables>,
        sequence_only: Of<Flag, name::sequence_only>,
        window: Option<Span>,
        clock: ClockArgument,
        on_exhausted: Exhausted,
        max_wait: Option<MaxWait>,
        on_stall: StallArgument,
    ) -> PyResult<Self> {
        Options { bindables, sequence_only, window, clock, on_exhausted, max_wait, on_stall }
            .make(layout.0, |builder| builder.restore(snapshot.0.0))
    }

    #[doc = doc!("layout.Generator.generate")]
    #[pyo3(signature = (bindables = None))]
    fn generate<'py>(
        &self,
        py: Python<'py>,
        bindables: Option<Bindables>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = if bindables.is_none() {
            self.inner.generate().map_err(raise)
        } else {
            let (values, names) = self.values(bindables)?;
            self.inner.generate_with(&values).map_err(|error| names.raise_typed(error))
        };
        id_to_object(py, id?)
    }

    #[doc = doc!("layout.Generator.generate_many")]
    #[pyo3(signature = (n, /, bindables = None))]
    fn generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        bindables: Option<Bindables>,
    ) -> PyResult<LayoutArray> {
        let (values, names) = self.values(bindables)?;
        let refused = |error| names.raise_typed(error);
        LayoutArray::filled(py, self.inner.layout(), n.0, refused, |ids| {
            self.inner.fill_with(&values, ids)
        })
    }

    #[doc = doc!("layout.Generator.fill")]
    #[pyo3(signature = (buffer, /, bindables = None))]
    fn fill(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        bindables: Option<Bindables>,
    ) -> PyResult<()> {
        let (values, names) = self.values(bindables)?;
        let refused = |error| names.raise_typed(error);
        let make = |ids: Batch<'_>| self.inner.fill_with(&values, ids);
        fill(py, self.inner.layout(), buffer, refused, make).map(drop)
    }

    #[doc = doc!("layout.Generator.try_generate")]
    #[pyo3(signature = (bindables = None))]
    fn try_generate<'py>(
        &self,
        py: Python<'py>,
        bindables: Option<Bindables>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (values, names) = self.values(bindables)?;
        let id = self.inner.try_generate_with(&values).map_err(|error| names.raise_typed(error));
        id_to_object(py, id?)
    }

    #[doc = doc!("layout.Generator.try_generate_many")]
    #[pyo3(signature = (n, /, bindables = None))]
    fn try_generate_many(
        &self,
        py: Python<'_>,
        n: Count,
        bindables: Option<Bindables>,
    ) -> PyResult<LayoutArray> {
        let (values, names) = self.values(bindables)?;
        let refused = |error| names.raise_typed(error);
        LayoutArray::filled(py, self.inner.layout(), n.0, refused, |ids| {
            self.inner.try_fill_with(&values, ids)
        })
    }

    #[doc = doc!("layout.Generator.try_fill")]
    #[pyo3(signature = (buffer, /, bindables = None))]
    fn try_fill(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        bindables: Option<Bindables>,
    ) -> PyResult<usize> {
        let (values, names) = self.values(bindables)?;
        let refused = |error| names.raise_typed(error);
        let make = |ids: Batch<'_>| self.inner.try_fill_with(&values, ids);
        fill(py, self.inner.layout(), buffer, refused, make)
    }

    #[doc = doc!("layout.Generator.layout")]
    #[getter]
    fn layout(&self, py: Python<'_>) -> Py<Layout> {
        self.layout.clone_ref(py)
    }

    #[doc = doc!("layout.Generator.extend_window")]
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: Of<UnixMs, name::end>) -> PyResult<()> {
        let extended = self.inner.extend_window(end.0.0);
        extended.map_err(|error| raise_about_time(error, "end"))?;
        if let Some(claim) = &self.claim {
            claim.extend(end.0.0);
        }
        Ok(())
    }

    #[doc = doc!("layout.Generator.stats")]
    fn stats(&self) -> Stats {
        self.inner.stats().into()
    }

    #[doc = doc!("layout.Generator.close")]
    fn close(&self) -> PyResult<Snapshot> {
        let snapshot = self.inner.close().map_err(raise)?;
        if let Some(claim) = &self.claim {
            claim.end();
        }
        Ok(Snapshot(snapshot))
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
        self.inner.clock().traverse(&visit)
    }
}

impl Generator {
    /// The values of one ID, the fixed ones among them, and the names of those given.
    fn values(&self, bindables: Option<Bindables>) -> PyResult<(Values<'_>, Names)> {
        let bindables = bindables.map(|given| given.0).unwrap_or_default();
        let (mut values, names) = (self.inner.values(), bindables.names());
        for (name, value) in bindables.0 {
            values.bind(&name, value).map_err(|error| names.raise_typed(error))?;
        }
        Ok((values, names))
    }
}

/// Fills a buffer with IDs of a layout, and returns how many were written.
pub(super) fn fill<W: Written>(
    py: Python<'_>,
    layout: &layout::Layout,
    buffer: &Bound<'_, PyAny>,
    refused: impl FnOnce(Error) -> PyErr,
    make: impl Fn(Batch<'_>) -> polyflake::Result<W> + Sync,
) -> PyResult<usize> {
    if layout.is_integer() {
        let target = Target::of(buffer, Item::Integer)?;
        return target.fill(py, refused, |ids: &mut [i64]| make(ids.into()));
    }
    let size = layout.bits() as usize / 8;
    let target = Target::of(buffer, Item::Bytes(size))?;
    target.fill(py, refused, |ids: &mut [u8]| make(ids.into()))
}

/// A layout as an argument.
struct LayoutArgument(Py<Layout>);

impl<'a, 'py> Take<'a, 'py> for LayoutArgument {
    fn take(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        match value.cast::<Layout>() {
            Ok(layout) => Ok(Self(layout.to_owned().unbind())),
            Err(_) => Err(wrong_type(name, "Layout", &value)),
        }
    }
}
