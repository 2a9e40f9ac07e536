//! Generators for custom layouts.

mod snapshot;

use std::sync::Arc;

use polyflake::{
    Error, ErrorKind,
    layout::{self, Batch, Builder, Id, Values},
};
use polyflake_columns::{Packed, Plain};
use polyflake_lease::hosted::layout_of;
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyDict};
use snapshot::SnapshotArgument;
pub(crate) use snapshot::{Snapshot, Stats};

use super::ids::{Layout, LayoutArray, Named, id_to_object};
use crate::generators::{
    awaited::sleep,
    clock::PythonClock,
    leased::{LeaseOption, Source, mismatch},
    making::{self, Fills, Generates, Made, Makes, MakesMany, Mode, Rows, WithRows, makes_ids},
    options::{Function, Keywords, Options},
    twins::{Generators, Identity},
};
use crate::{
    errors::{attached, no_copy, raise},
    ids::{
        array::array,
        convert::{self, Count, Flag, Of, Span, Take, Text, UnixMs, name, numbers, wrong_type},
        target::Item,
    },
};

type Inner = layout::Generator<PythonClock>;
type Leased = layout::Leased<PythonClock>;

type Bindables = Of<Named, name::bindables>;

type NumberRange = Of<Ranged, name::range>;

/// A bindable with the first and the last of its values.
struct Ranged {
    name: String,
    first: u64,
    last: u64,
}

numbers! {
    RangedNumber(u64) "range" 0..=u64::MAX;
}

impl<'a, 'py> Take<'a, 'py> for Ranged {
    fn take(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let expected = "a name, the first and the last number";
        let [bindable, first, last] = convert::items(&value, expected, name)?;
        let number = |given: Bound<'_, PyAny>| given.extract().map(|number: RangedNumber| number.0);
        let name = Text::take(bindable.as_borrowed(), name)?.to_string();
        Ok(Self { name, first: number(first)?, last: number(last)? })
    }
}

#[doc = doc!("layout.Generator")]
#[pyclass(frozen, module = "polyflake.layout")]
pub(crate) struct Generator {
    pub(super) inner: Source<Leased>,
    layout: Py<Layout>,
}

/// The generators of layouts. A generator that needs values for each ID does not conflict with any other.
static GENERATORS: Generators<Inner> = Generators::new(Inner::may_repeat);

const REMEDY: &str = "close it first, or give each its own bindables";

/// The arguments of a layout's generator: its own, and the options that all formats share.
struct Given<'a, 'py> {
    layout: LayoutArgument,
    bindables: Option<Bindables>,
    range: Option<NumberRange>,
    sequence_only: Of<Flag, name::sequence_only>,
    options: Option<Keywords<'a, 'py>>,
}

impl Given<'_, '_> {
    fn make(
        self,
        function: Function,
        build: impl FnOnce(Builder<PythonClock>) -> polyflake::Result<Inner>,
    ) -> PyResult<Generator> {
        let (options, layout) = (Options::of(function, self.options)?, self.layout);
        let window = options.window;
        let with_clock = |clock| Builder::with_clock(layout.0.get().0.clone(), clock);
        let mut builder = options.builder(with_clock).sequence_only(self.sequence_only.0.0);
        let bindables = self.bindables.map(|given| given.0).unwrap_or_default();
        let mut names = bindables.names();
        let mut fixed: Vec<_> = bindables.0.iter().map(|named| format!("{named:?}")).collect();
        fixed.sort_unstable();
        for (name, value) in bindables.0 {
            builder = builder.bind(name, value);
        }
        let range = self.range.map(|range| range.0);
        if let Some(Ranged { name, first, last }) = &range {
            builder = builder.range(&**name, *first..=*last);
            names.add(name);
        }
        let inner = Arc::new(build(builder).map_err(|error| match error.kind() {
            ErrorKind::InvalidType => names.raise_typed(error),
            _ => Span::raise(window, error),
        })?);
        let (ranged, some) = range.map_or((None, String::new()), |range| {
            let Ranged { name, first, last } = range;
            let some = format!(", some of `{name}` {first} to {last}");
            (Some(name), some)
        });
        let group = inner.layout().to_json();
        let identity = Identity { key: format!("{fixed:?} {ranged:?} {group}"), group };
        let same = || format!("layout, bindables [{}]{some} and time", fixed.join(", "));
        attached(|py| GENERATORS.add(py, &inner, identity, same, REMEDY))?;
        Ok(Generator { inner: Source::Own(inner), layout: layout.0 })
    }
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            layout, *, bindables = None, range = None, sequence_only = Of::new(Flag(false)), lease = None,
            fields = None, **options
        ),
        text_signature = "(layout, *, bindables=None, range=None, sequence_only=False, window=None, clock=None, \
                          on_exhausted='wait', max_wait=None, lease=None, fields=None, on_stall=None)"
    )]
    fn new(
        layout: Of<LayoutArgument, name::layout>,
        bindables: Option<Bindables>,
        range: Option<NumberRange>,
        sequence_only: Of<Flag, name::sequence_only>,
        lease: LeaseOption,
        fields: Option<Of<FieldNames, name::fields>>,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        const NEW: Function =
            ("Generator", &["layout", "bindables", "range", "sequence_only", "lease", "fields"]);
        let layout = layout.0;
        let (lease, fields) = match (lease, fields) {
            (None, None) => {
                return Given { layout, bindables, range, sequence_only, options }
                    .make(NEW, Builder::build);
            }
            (Some(lease), Some(fields)) => (lease.0, fields.0.0),
            _ => {
                return Err(mismatch(
                    "expected a lease and the fields of its number, found one of both",
                ));
            }
        };
        if bindables.is_some() || range.is_some() || sequence_only.0.0 {
            return Err(mismatch("expected no bindables and no range beside a lease, found one"));
        }
        let options = Options::of(NEW, options)?.of_grants()?;
        let layout = layout.0;
        let core = layout.get().0.clone();
        let told = (core.to_json(), fields.clone());
        let set = |settings: &Bound<'_, PyDict>| {
            settings.set_item("layout", told.0)?;
            settings.set_item("fields", told.1)
        };
        let inner = Source::leased(lease, "layout", set, move |number, window| {
            let fields: Vec<_> = fields.iter().map(|field| &**field).collect();
            let layout = layout_of(&core, &fields, number)
                .map_err(|error| Error::with_reason(ErrorKind::InvalidLayout, error.to_string()))?;
            let with_clock = |clock| Builder::with_clock(layout, clock);
            options().builder(with_clock).window(window.start, window.end).build()
        })?;
        Ok(Self { inner, layout })
    }

    #[doc = doc!("layout.Generator.restore")]
    #[staticmethod]
    #[pyo3(
        signature = (
            layout, snapshot, /, *, bindables = None, range = None, sequence_only = Of::new(Flag(false)),
            **options
        ),
        text_signature = "(layout, snapshot, /, *, bindables=None, range=None, sequence_only=False, window=None, clock=None, \
                          on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    fn restore(
        layout: Of<LayoutArgument, name::layout>,
        snapshot: Of<SnapshotArgument, name::snapshot>,
        bindables: Option<Bindables>,
        range: Option<NumberRange>,
        sequence_only: Of<Flag, name::sequence_only>,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        let (layout, snapshot) = (layout.0, snapshot.0.0);
        Given { layout, bindables, range, sequence_only, options }
            .make(("Generator.restore", &["bindables", "range", "sequence_only"]), |builder| {
                builder.restore(snapshot)
            })
    }

    #[doc = doc!("layout.Generator.layout")]
    #[getter]
    fn layout(&self, py: Python<'_>) -> Py<Layout> {
        self.layout.clone_ref(py)
    }

    #[doc = doc!("layout.Generator.extend_window")]
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: Of<UnixMs, name::end>) -> PyResult<()> {
        let extended = self.inner.own()?.extend_window(end.0);
        extended.map_err(|error| end.0.raise(error, "end"))?;
        Ok(())
    }

    #[doc = doc!("layout.Generator.stats")]
    fn stats(&self) -> PyResult<Stats> {
        Ok(self.inner.own()?.stats().into())
    }

    #[doc = doc!("layout.Generator.close")]
    fn close(&self) -> PyResult<Snapshot> {
        let snapshot = self.inner.own()?.close().map_err(raise)?;
        Ok(Snapshot(snapshot))
    }

    fn __repr__(&self) -> String {
        format!("<layout.Generator of IDs of {} bits>", self.layout.get().0.bits())
    }

    /// Rejects copying and pickling, because two generators with the same layout and bindables would generate the same IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        no_copy(
            "expected one generator for a layout and bindables, found a copy: store the snapshot that close() returns",
        )
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.inner.traverse(&visit, |own| own.clock().traverse(&visit))
    }
}

/// Returns the values for one ID, including the fixed ones.
fn values<'g>(generator: &'g Inner, bindables: Option<&Named>) -> polyflake::Result<Values<'g>> {
    let mut values = generator.values();
    for (name, value) in bindables.into_iter().flat_map(|named| &named.0) {
        values.bind(name, value.clone())?;
    }
    Ok(values)
}

impl Makes for Generator {
    type Param = Option<Bindables>;
    type Source = Source<Leased>;

    fn source(&self) -> &Source<Leased> {
        &self.inner
    }

    fn key(&self, param: Option<Bindables>) -> Option<Named> {
        param.map(|given| given.0)
    }

    fn object(py: Python<'_>, id: Id) -> PyResult<Bound<'_, PyAny>> {
        id_to_object(py, id)
    }

    fn refused(key: &Option<Named>, error: Error) -> PyErr {
        key.as_ref().map(Named::names).unwrap_or_default().raise_typed(error)
    }
}

impl Generates for Inner {
    type Key = Option<Named>;
    type Id = Id;

    fn one(&self, mode: Mode, key: &Option<Named>) -> polyflake::Result<Id> {
        match (mode, key) {
            (Mode::Wait, None) => self.generate(),
            (Mode::Try, None) => self.try_generate(),
            (Mode::Wait, key) => self.generate_with(&values(self, key.as_ref())?),
            (Mode::Try, key) => self.try_generate_with(&values(self, key.as_ref())?),
        }
    }

    async fn one_async(&self, key: &Option<Named>) -> polyflake::Result<Id> {
        match key {
            None => self.generate_async(sleep).await,
            key => self.generate_with_async(sleep, &values(self, key.as_ref())?).await,
        }
    }
}

impl<T: Plain + Send + Sync> Fills<T> for Inner
where
    for<'b> Batch<'b>: From<&'b mut [T]>,
{
    fn write(
        &self,
        mode: Mode,
        key: &Option<Named>,
        ids: &mut [T],
    ) -> polyflake::Result<Option<usize>> {
        let values = values(self, key.as_ref())?;
        match mode {
            Mode::Wait => self.fill_with(&values, ids).map(|()| None),
            Mode::Try => self.try_fill_with(&values, ids).map(Some),
        }
    }

    async fn write_async(&self, key: &Option<Named>, ids: &mut [T]) -> polyflake::Result<()> {
        let values = values(self, key.as_ref())?;
        self.fill_with_async(sleep, &values, ids, &mut 0).await
    }
}

/// Rejects bindables for one ID with a lease, which does not accept values for them.
fn check_none(key: Option<&Named>) -> polyflake::Result<()> {
    let is_none = key.is_none_or(|named| named.0.is_empty());
    let reason = "expected no bindables for an ID under a lease, found some";
    is_none.then_some(()).ok_or_else(|| Error::with_reason(ErrorKind::LeaseMismatch, reason))
}

impl Generates for Leased {
    type Key = Option<Named>;
    type Id = Id;

    fn one(&self, mode: Mode, key: &Option<Named>) -> polyflake::Result<Id> {
        check_none(key.as_ref())?;
        if mode == Mode::Wait { self.generate(None) } else { self.try_generate(None) }
    }

    async fn one_async(&self, key: &Option<Named>) -> polyflake::Result<Id> {
        check_none(key.as_ref())?;
        self.generate_async(sleep, None).await
    }
}

impl<T: Plain + Send + Sync> Fills<T> for Leased
where
    for<'b> Batch<'b>: From<&'b mut [T]>,
{
    fn write(
        &self,
        mode: Mode,
        key: &Option<Named>,
        ids: &mut [T],
    ) -> polyflake::Result<Option<usize>> {
        check_none(key.as_ref())?;
        match mode {
            Mode::Wait => self.fill(None, ids.into()).map(|()| None),
            Mode::Try => self.try_fill(None, ids.into()).map(Some),
        }
    }

    async fn write_async(&self, key: &Option<Named>, ids: &mut [T]) -> polyflake::Result<()> {
        check_none(key.as_ref())?;
        self.fill_async(sleep, None, ids.into(), &mut 0).await
    }
}

/// Runs a function with memory for a layout's IDs.
fn with_rows<M, W>(layout: &layout::Layout, work: W) -> PyResult<W::Made>
where
    M: Makes<Source: Fills<i64> + Fills<u8>>,
    W: WithRows<M>,
{
    if layout.is_integer() {
        return work.with(Rows::<i64> {
            item: Item::Integer,
            items: 1,
            array: |py, ids, _| Ok(array::<LayoutArray, _>(py, Packed::new(ids))?.into_any()),
        });
    }
    let size = layout.bits() as usize / 8;
    work.with(Rows::<u8> {
        item: Item::Bytes(size),
        items: size,
        array: |py, ids, size| {
            Ok(array::<LayoutArray, _>(py, Packed::in_rows(ids, size))?.into_any())
        },
    })
}

impl MakesMany for Generator {
    fn with_rows<W: WithRows<Self>>(&self, work: W) -> PyResult<W::Made> {
        with_rows(&self.layout.get().0, work)
    }
}

makes_ids! {
    layout Generator (bindables: Option<Bindables> = None)
    "($self, bindables=None)" "($self, n, /, bindables=None)" "($self, buffer, /, bindables=None)"
}

/// The names of a layout's fields, starting with the most significant field.
struct FieldNames(Vec<String>);

impl<'a, 'py> Take<'a, 'py> for FieldNames {
    fn take(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let names = convert::iterator(&value, "names of fields", name)?;
        let names = names.map(|field| Ok(Text::take(field?.as_borrowed(), name)?.to_string()));
        names.collect::<PyResult<_>>().map(Self)
    }
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
