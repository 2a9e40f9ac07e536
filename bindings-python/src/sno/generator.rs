//! sno generators.

mod snapshot;

use std::{fmt::Debug, ops::Range};

use polyflake::{
    Error, ErrorKind, SharedGenerators,
    sno::{self, Builder, Sno as Id},
};
use pyo3::{PyTraverseError, PyVisit, prelude::*};
pub(crate) use snapshot::{Snapshot, Stats};

use super::ids::{Sno, SnoArray};
use crate::generators::{
    clock::PythonClock,
    default::{self, DefaultGenerator, warn_without_lease},
    direct::{self, direct_calls},
    leased::{LeaseArgument, LeaseOption, Source, mismatch},
    making::{
        self, CallResult, IdMaker, Mode, id_methods, impl_id_maker, module_functions, text_methods,
    },
    options::{FunctionKeywords, Keywords, Options},
};
use crate::{
    errors::{raise, reject_copy, with_python},
    ids::{
        convert::{
            Argument, Count, Metabyte, Partition, SequenceMax, SequenceMin, Span, UnixMs, name,
        },
        object::object,
        target::Item,
    },
};

type CoreGenerator = sno::Generator<PythonClock>;
type LeasedGenerator = sno::Leased<PythonClock>;

pub(crate) static DEFAULT: DefaultGenerator<Generator> = DefaultGenerator::new(|| {
    create_generator(CONSTRUCTOR_KEYWORDS, Metabyte(0), None, None, Builder::build)
});

module_functions! {
    sno Generator (metabyte: Option<Metabyte> = None)
    "(metabyte=None)" "(n, /, metabyte=None)"
}

direct_calls! { Generator None }

#[doc = doc!("sno.Generator")]
#[pyclass(frozen, module = "polyflake.sno")]
pub(crate) struct Generator {
    pub(super) inner: Source<LeasedGenerator>,
    pub(super) metabyte: Metabyte,
}

/// The generators whose partition was passed explicitly.
static GENERATORS: SharedGenerators<CoreGenerator> =
    SharedGenerators::new(CoreGenerator::is_usable);

const CONSTRUCTOR_KEYWORDS: FunctionKeywords =
    ("Generator", &["partition", "sequence_min", "sequence_max", "metabyte", "lease"]);

/// Creates a generator with the options shared by its constructors. If `identity` is the partition and the bounds, returns
/// another handle on the generator that was created with the same options, if it is live.
fn create_generator(
    function: FunctionKeywords,
    metabyte: Metabyte,
    options: Option<Keywords<'_, '_>>,
    identity: Option<(u16, u16, u16)>,
    build: impl FnOnce(Builder<PythonClock>) -> polyflake::Result<CoreGenerator>,
) -> PyResult<Generator> {
    let options = Options::from_keywords(function, options)?;
    let window = options.window;
    let key = identity.and_then(|(partition, first, last)| {
        let bounds: [(_, &dyn Debug); 2] = [("sequence_min", &first), ("sequence_max", &last)];
        options.sharing_key(&partition, &bounds)
    });
    let builder = options.builder(Builder::with_clock);
    let inner = GENERATORS.get_or_build(key, || build(builder));
    let inner = inner.map_err(|error| Span::raise(window, error))?;
    Ok(Generator { inner: Source::Own(inner), metabyte })
}

/// Creates the source for a generator with a lease. The source builds a new generator for each grant.
fn leased_source(
    lease: LeaseArgument,
    options: Option<Keywords<'_, '_>>,
) -> PyResult<Source<LeasedGenerator>> {
    let options = Options::from_keywords(CONSTRUCTOR_KEYWORDS, options)?.for_grants()?;
    let build = move |number, window: Range<i64>| {
        let partition = u16::try_from(number).map_err(|_| Error::new(ErrorKind::OutOfRange))?;
        let builder = options().builder(Builder::with_clock).partition(partition);
        builder.window(window.start, window.end).build()
    };
    Source::with_lease(lease, "sno", |_| Ok(()), build)
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            partition = None, *, sequence_min = None, sequence_max = None, metabyte = Metabyte(0), lease = None, **options
        ),
        text_signature = "(partition=None, *, sequence_min=None, sequence_max=None, metabyte=0, window=None, \
                          clock=None, test_clock=None, on_exhausted='wait', max_wait=None, lease=None, on_stall=None)"
    )]
    fn new(
        partition: Option<Partition>,
        sequence_min: Option<SequenceMin>,
        sequence_max: Option<SequenceMax>,
        metabyte: Metabyte,
        lease: LeaseOption,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        if let Some(lease) = lease {
            if partition.is_some() || sequence_min.is_some() || sequence_max.is_some() {
                return Err(mismatch(
                    "expected no partition and no bounds of sequences beside a lease, found one",
                ));
            }
            return Ok(Self { inner: leased_source(lease.0, options)?, metabyte });
        }
        if partition.is_none() {
            with_python(warn_without_lease)?;
        }
        let first = sequence_min.as_ref().map_or(0, |least| least.0);
        let last = sequence_max.as_ref().map_or(u16::MAX, |most| most.0);
        let identity = partition.as_ref().map(|partition| (partition.0, first, last));
        create_generator(CONSTRUCTOR_KEYWORDS, metabyte, options, identity, |mut builder| {
            if let Some(partition) = partition {
                builder = builder.partition(partition.0);
            }
            if let Some(least) = sequence_min {
                builder = builder.sequence_min(least.0);
            }
            if let Some(most) = sequence_max {
                builder = builder.sequence_max(most.0);
            }
            builder.build()
        })
    }

    #[doc = doc!("sno.Generator.restore")]
    #[staticmethod]
    #[pyo3(
        signature = (snapshot, /, *, metabyte = Metabyte(0), **options),
        text_signature = "(snapshot, /, *, metabyte=0, window=None, clock=None, test_clock=None, on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    fn restore(
        snapshot: Argument<snapshot::SnapshotArgument, name::snapshot>,
        metabyte: Metabyte,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        create_generator(("Generator.restore", &["metabyte"]), metabyte, options, None, |builder| {
            builder.restore(snapshot.0.0)
        })
    }

    #[doc = doc!("sno.Generator.import_original")]
    #[staticmethod]
    #[pyo3(
        signature = (snapshot, /, *, metabyte = Metabyte(0), **options),
        text_signature = "(snapshot, /, *, metabyte=0, window=None, clock=None, test_clock=None, on_exhausted='wait', max_wait=None, on_stall=None)"
    )]
    fn import_original(
        snapshot: Argument<snapshot::SnapshotArgument, name::snapshot>,
        metabyte: Metabyte,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        create_generator(
            ("Generator.import_original", &["metabyte"]),
            metabyte,
            options,
            None,
            |builder| builder.import_original(snapshot.0.0),
        )
    }

    #[doc = doc!("sno.Generator.generate_at")]
    #[pyo3(signature = (time, /, metabyte = None))]
    fn generate_at(
        &self,
        time: Argument<UnixMs, name::time>,
        metabyte: Option<Metabyte>,
    ) -> PyResult<Sno> {
        let id =
            self.inner.own_generator()?.generate_at(time.0.0, self.metabyte(metabyte)).map(Sno);
        id.map_err(|error| time.0.raise(error, "time"))
    }

    #[doc = doc!("sno.Generator.partition")]
    #[getter]
    fn partition(&self) -> PyResult<Option<u64>> {
        match &self.inner {
            Source::Own(generator) => Ok(generator.partition().map(u64::from)),
            Source::Leased(leased) => leased.worker_id(),
        }
    }

    #[doc = doc!("sno.Generator.extend_window")]
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: Argument<UnixMs, name::end>) -> PyResult<()> {
        let extended = self.inner.own_generator()?.extend_window(end.0);
        extended.map_err(|error| end.0.raise(error, "end"))?;
        Ok(())
    }

    #[doc = doc!("sno.Generator.stats")]
    fn stats(&self) -> PyResult<Stats> {
        self.inner.own_generator()?.stats().map(Stats::from).map_err(raise)
    }

    #[doc = doc!("sno.Generator.close")]
    fn close(&self) -> PyResult<Snapshot> {
        let snapshot = self.inner.own_generator()?.close().map(Snapshot).map_err(raise)?;
        Ok(snapshot)
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(match self.partition()? {
            Some(partition) => format!("<sno.Generator of partition {partition}>"),
            None => "<sno.Generator without a partition yet>".to_owned(),
        })
    }

    /// Rejects copying and pickling, because two generators with the same partition would generate the same IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy(
            "expected one generator for a partition, found a copy: store the snapshot that close() returns",
        )
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.inner.traverse(&visit, |own| own.clock().traverse(&visit))
    }
}

impl Generator {
    #[inline]
    fn metabyte(&self, given: Option<Metabyte>) -> u8 {
        given.unwrap_or(self.metabyte).0
    }
}

impl_id_maker! {
    sno Generator Id SnoArray Item::Bytes(Id::LEN), |py, id| object(py, Sno(id)),
    Option<Metabyte> => u8, |this, metabyte| this.metabyte(metabyte)
}
id_methods! {
    sno Generator (metabyte: Option<Metabyte> = None)
    "($self, metabyte=None)" "($self, n, /, metabyte=None)" "($self, buffer, /, metabyte=None)"
}
text_methods! { sno Generator (metabyte: Option<Metabyte> = None) "($self, metabyte=None)" }
