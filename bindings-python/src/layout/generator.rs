//! Generators for custom layouts.

mod snapshot;

use std::{fmt::Debug, ops::Range};

use polyflake::{
    Error, ErrorKind, SharedGenerators,
    layout::{self, Batch, Builder, Id},
};
use polyflake_columns::Packed;
use polyflake_lease::protocol::hosted::layout_of;
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyDict};
use snapshot::SnapshotArgument;
pub(crate) use snapshot::{Snapshot, Stats};

use super::ids::{Layout, LayoutArray, NamedValues, id_to_object};
use crate::generators::{
    clock::PythonClock,
    leased::{LeaseArgument, LeaseOption, Source, mismatch},
    making::{self, CallResult, IdMaker, Items, Mode, Rows, id_methods},
    options::{FunctionKeywords, Keywords, Options},
};
use crate::{
    errors::{raise, reject_copy},
    ids::{
        array::array,
        convert::{
            self, Argument, Count, Flag, FromArgument, Span, Text, UnixMs, name, numbers,
            wrong_type_exception,
        },
        target::Item,
    },
};

type CoreGenerator = layout::Generator<PythonClock>;
type LeasedGenerator = layout::Leased<PythonClock>;

type Bindables = Argument<NamedValues, name::bindables>;

type NumberRange = Argument<RangeArgument, name::range>;

/// The name of a bindable, and its first and last value.
struct RangeArgument {
    name: String,
    first: u64,
    last: u64,
}

numbers! {
    RangedNumber(u64) "range" 0..=u64::MAX;
}

impl<'a, 'py> FromArgument<'a, 'py> for RangeArgument {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let expected = "a name, the first and the last number";
        let [bindable, first, last] = convert::items(&value, expected, name)?;
        let number = |given: Bound<'_, PyAny>| given.extract().map(|number: RangedNumber| number.0);
        let name = Text::from_argument(bindable.as_borrowed(), name)?.to_string();
        Ok(Self { name, first: number(first)?, last: number(last)? })
    }
}

#[doc = doc!("layout.Generator")]
#[pyclass(frozen, module = "polyflake.layout")]
pub(crate) struct Generator {
    pub(super) inner: Source<LeasedGenerator>,
    layout: Py<Layout>,
}

/// The generators for layouts.
static GENERATORS: SharedGenerators<CoreGenerator> =
    SharedGenerators::new(CoreGenerator::is_usable);

/// The arguments for creating a layout's generator: the arguments specific to layouts, and the options shared by all
/// formats.
struct GeneratorArguments<'a, 'py> {
    layout: LayoutArgument,
    bindables: Option<Bindables>,
    range: Option<NumberRange>,
    sequence_only: Argument<Flag, name::sequence_only>,
    options: Option<Keywords<'a, 'py>>,
}

impl GeneratorArguments<'_, '_> {
    fn create_generator(
        self,
        function: FunctionKeywords,
        is_shared: bool,
        build: impl FnOnce(Builder<PythonClock>) -> polyflake::Result<CoreGenerator>,
    ) -> PyResult<Generator> {
        let (options, layout) = (Options::from_keywords(function, self.options)?, self.layout);
        let window = options.window;
        let bindables = self.bindables.map(|given| given.0).unwrap_or_default();
        let mut names = bindables.names();
        let mut fixed: Vec<_> = bindables.0.iter().map(|named| format!("{named:?}")).collect();
        fixed.sort_unstable();
        let range = self.range.map(|range| range.0);
        let ranged = range.as_ref().map(|range| (&range.name, range.first, range.last));
        let worker = (layout.0.get().0.to_json(), fixed, ranged);
        let own: [(_, &dyn Debug); 1] = [("sequence_only", &self.sequence_only.0.0)];
        let key = is_shared.then(|| options.sharing_key(&worker, &own)).flatten();
        let with_clock = |clock| Builder::with_clock(layout.0.get().0.clone(), clock);
        let mut builder = options.builder(with_clock).sequence_only(self.sequence_only.0.0);
        for (name, value) in bindables.0 {
            builder = builder.bind(name, value);
        }
        if let Some(RangeArgument { name, first, last }) = &range {
            builder = builder.range(&**name, *first..=*last);
            names.add(name);
        }
        let inner = GENERATORS.get_or_build(key, || build(builder)).map_err(|error| match error
            .kind()
        {
            ErrorKind::InvalidType => names.raise_typed(error),
            _ => Span::raise(window, error),
        })?;
        Ok(Generator { inner: Source::Own(inner), layout: layout.0 })
    }
}

/// Creates the source of a generator with a lease. The source builds a new generator for each grant. `fields` are the
/// fields that contain the worker ID.
fn leased_source(
    lease: LeaseArgument,
    core: layout::Layout,
    fields: Vec<String>,
    options: Options,
) -> PyResult<Source<LeasedGenerator>> {
    let options = options.for_grants()?;
    let terms = (core.to_json(), fields.clone());
    let set = |settings: &Bound<'_, PyDict>| {
        settings.set_item("layout", terms.0)?;
        settings.set_item("fields", terms.1)
    };
    Source::with_lease(lease, "layout", set, move |number, window| {
        let fields: Vec<_> = fields.iter().map(|field| &**field).collect();
        let layout = layout_of(&core, &fields, number)
            .map_err(|error| Error::with_reason(ErrorKind::InvalidLayout, error.to_string()))?;
        let with_clock = |clock| Builder::with_clock(layout, clock);
        options().builder(with_clock).window(window.start, window.end).build()
    })
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            layout, *, bindables = None, range = None, sequence_only = Argument::new(Flag(false)), lease = None,
            fields = None, **options
        ),
        text_signature = "(layout, *, bindables=None, range=None, sequence_only=False, window=None, clock=None, test_clock=None, \
                          on_exhausted='wait', max_wait=None, lease=None, fields=None, on_stall=None)"
    )]
    fn new(
        layout: Argument<LayoutArgument, name::layout>,
        bindables: Option<Bindables>,
        range: Option<NumberRange>,
        sequence_only: Argument<Flag, name::sequence_only>,
        lease: LeaseOption,
        fields: Option<Argument<FieldNames, name::fields>>,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        const CONSTRUCTOR_KEYWORDS: FunctionKeywords =
            ("Generator", &["layout", "bindables", "range", "sequence_only", "lease", "fields"]);
        let layout = layout.0;
        let (lease, fields) = match (lease, fields) {
            (None, None) => {
                return GeneratorArguments { layout, bindables, range, sequence_only, options }
                    .create_generator(CONSTRUCTOR_KEYWORDS, true, Builder::build);
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
        let options = Options::from_keywords(CONSTRUCTOR_KEYWORDS, options)?;
        let layout = layout.0;
        let inner = leased_source(lease, layout.get().0.clone(), fields, options)?;
        Ok(Self { inner, layout })
    }

    #[doc = doc!("layout.Generator.restore")]
    #[staticmethod]
    #[pyo3(
        signature = (
            layout, snapshot, /, *, bindables = None, range = None, sequence_only = Argument::new(Flag(false)),
            **options
        ),
        text_signature = "(layout, snapshot, /, *, bindables=None, range=None, sequence_only=False, window=None, clock=None, test_clock=None, \
                          on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    fn restore(
        layout: Argument<LayoutArgument, name::layout>,
        snapshot: Argument<SnapshotArgument, name::snapshot>,
        bindables: Option<Bindables>,
        range: Option<NumberRange>,
        sequence_only: Argument<Flag, name::sequence_only>,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        let (layout, snapshot) = (layout.0, snapshot.0.0);
        GeneratorArguments { layout, bindables, range, sequence_only, options }.create_generator(
            ("Generator.restore", &["bindables", "range", "sequence_only"]),
            false,
            |builder| builder.restore(snapshot),
        )
    }

    #[doc = doc!("layout.Generator.layout")]
    #[getter]
    fn layout(&self, py: Python<'_>) -> Py<Layout> {
        self.layout.clone_ref(py)
    }

    #[doc = doc!("layout.Generator.extend_window")]
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: Argument<UnixMs, name::end>) -> PyResult<()> {
        let extended = self.inner.own_generator()?.extend_window(end.0);
        extended.map_err(|error| end.0.raise(error, "end"))?;
        Ok(())
    }

    #[doc = doc!("layout.Generator.stats")]
    fn stats(&self) -> PyResult<Stats> {
        Ok(self.inner.own_generator()?.stats().into())
    }

    #[doc = doc!("layout.Generator.close")]
    fn close(&self) -> PyResult<Snapshot> {
        let snapshot = self.inner.own_generator()?.close().map_err(raise)?;
        Ok(Snapshot(snapshot))
    }

    fn __repr__(&self) -> String {
        format!("<layout.Generator of IDs of {} bits>", self.layout.get().0.bits())
    }

    /// Rejects copying and pickling, because two generators with the same layout and bindables would generate the same IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy(
            "expected one generator for a layout and bindables, found a copy: store the snapshot that close() returns",
        )
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.inner.traverse(&visit, |own| own.clock().traverse(&visit))
    }
}

impl IdMaker for Generator {
    type LeasedGenerator = LeasedGenerator;
    type Argument = Option<Bindables>;
    /// An ID that contains the values of the call's bindables, or `None` if the generator's fixed values are used.
    type Key = Option<Id>;
    type Memory = LayoutMemory;

    fn source(&self) -> &Source<LeasedGenerator> {
        &self.inner
    }

    fn key(&self, bindables: Option<Bindables>) -> PyResult<Option<Id>> {
        let named = bindables.map(|given| given.0);
        let to_exception =
            |error| named.as_ref().map(NamedValues::names).unwrap_or_default().raise_typed(error);
        match &self.inner {
            Source::Own(own) => base_id(own, named.as_ref()),
            Source::Leased(_) => reject_bindables(named.as_ref()).map(|()| None),
        }
        .map_err(to_exception)
    }

    fn param(key: &Option<Id>) -> Option<&Id> {
        key.as_ref()
    }

    fn object(py: Python<'_>, id: Id) -> CallResult<'_> {
        id_to_object(py, id)
    }

    fn memory(&self) -> LayoutMemory {
        let layout = &self.layout.get().0;
        if layout.is_integer() {
            LayoutMemory::Integers(Items::new(Item::Integer))
        } else {
            LayoutMemory::Bytes(Items::new(Item::Bytes(layout.bits() as usize / 8)))
        }
    }

    fn rows(memory: &mut LayoutMemory) -> &mut dyn Rows {
        match memory {
            LayoutMemory::Integers(ids) => ids,
            LayoutMemory::Bytes(ids) => ids,
        }
    }

    fn batch(memory: &mut LayoutMemory, places: Range<usize>) -> Batch<'_> {
        match memory {
            LayoutMemory::Integers(ids) => ids.items_at(places).into(),
            LayoutMemory::Bytes(ids) => ids.items_at(places).into(),
        }
    }

    fn array(py: Python<'_>, memory: LayoutMemory) -> CallResult<'_> {
        let array = match memory {
            LayoutMemory::Integers(Items { ids, .. }) => {
                array::<LayoutArray, _>(py, Packed::new(ids))
            }
            LayoutMemory::Bytes(Items { ids, width, .. }) => {
                array::<LayoutArray, _>(py, Packed::with_row_width(ids, width))
            }
        };
        Ok(array?.into_any())
    }
}

/// Memory for a layout's IDs.
pub(crate) enum LayoutMemory {
    Integers(Items<i64>),
    Bytes(Items<u8>),
}

/// Returns an ID that contains the bindables passed for one ID and the generator's fixed values, or `None` if the caller
/// passed no bindables.
fn base_id(
    generator: &CoreGenerator,
    bindables: Option<&NamedValues>,
) -> polyflake::Result<Option<Id>> {
    let Some(bindables) = bindables else { return generator.check_complete().map(|()| None) };
    let mut values = generator.values();
    for (name, value) in bindables.iter() {
        values.bind(name, value)?;
    }
    generator.base_of(&values).map(Some)
}

/// Rejects bindables for one ID, because a generator with a lease does not accept them.
fn reject_bindables(bindables: Option<&NamedValues>) -> polyflake::Result<()> {
    let is_none = bindables.is_none_or(|named| named.0.is_empty());
    let reason = "expected no bindables for an ID under a lease, found some";
    is_none.then_some(()).ok_or_else(|| Error::with_reason(ErrorKind::LeaseMismatch, reason))
}

id_methods! {
    layout Generator (bindables: Option<Bindables> = None)
    "($self, bindables=None)" "($self, n, /, bindables=None)" "($self, buffer, /, bindables=None)"
}

/// The names of a layout's fields, starting with the most significant field.
struct FieldNames(Vec<String>);

impl<'a, 'py> FromArgument<'a, 'py> for FieldNames {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let names = convert::iterator(&value, "names of fields", name)?;
        let names =
            names.map(|field| Ok(Text::from_argument(field?.as_borrowed(), name)?.to_string()));
        names.collect::<PyResult<_>>().map(Self)
    }
}

/// A layout passed as an argument.
struct LayoutArgument(Py<Layout>);

impl<'a, 'py> FromArgument<'a, 'py> for LayoutArgument {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        match value.cast::<Layout>() {
            Ok(layout) => Ok(Self(layout.to_owned().unbind())),
            Err(_) => Err(wrong_type_exception(name, "Layout", &value)),
        }
    }
}
