//! Hot Guid generators.

use std::sync::Arc;

use polyflake::hotguid::{self, HotGuid};
use polyflake_lease::hotguid::identity;
use pyo3::{PyTraverseError, PyVisit, prelude::*};

use super::ids::{HotGuidArray, ShardKey, hex, to_uuid};
use crate::generators::{
    clock::PythonClock,
    default::{self, DefaultGenerator},
    direct::{self, direct_calls},
    leased::{LeaseOption, Source},
    making::{
        self, CallResult, IdMaker, Mode, id_methods, impl_id_maker, module_functions, text_methods,
    },
    options::{Keywords, Options},
};
use crate::{
    errors::{raise, reject_copy},
    ids::{
        convert::{Argument, Count, Flag, Span, UnixMs, name},
        record::reduce_by_attributes,
        target::Item,
    },
};

type LeasedGenerator = hotguid::Leased<PythonClock>;

pub(crate) static DEFAULT: DefaultGenerator<Generator> =
    DefaultGenerator::new(|| Generator::new(Argument::new(Flag(false)), None, None));

module_functions! {
    hotguid Generator (shard_key: ShardKey = ShardKey(0))
    "(shard_key=0)" "(n, /, shard_key=0)"
}

direct_calls! { Generator ShardKey(0) }

#[doc = doc!("hotguid.Generator")]
#[pyclass(frozen, module = "polyflake.hotguid")]
pub(crate) struct Generator {
    pub(super) inner: Source<LeasedGenerator>,
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (*, uuid8 = Argument::new(Flag(false)), lease = None, **options),
        text_signature = "(*, uuid8=False, window=None, clock=None, test_clock=None, on_exhausted='wait', max_wait=None, lease=None, on_stall=None)"
    )]
    fn new(
        uuid8: Argument<Flag, name::uuid8>,
        lease: LeaseOption,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        let with_clock = move |clock| hotguid::Generator::builder().uuid8(uuid8.0.0).clock(clock);
        let options = Options::from_keywords(("Generator", &["uuid8", "lease"]), options)?;
        if let Some(lease) = lease {
            let options = options.for_grants()?;
            let inner = Source::with_lease(
                lease.0,
                "hotguid",
                |_| Ok(()),
                move |number, window| {
                    let builder = options().builder(with_clock).window(window.start, window.end);
                    let generator = builder.build()?;
                    generator.provide_identity(identity(number)?)?;
                    Ok(generator)
                },
            )?;
            return Ok(Self { inner });
        }
        let window = options.window;
        let built = options.builder(with_clock).build();
        let inner = built.map_err(|error| Span::raise(window, error))?;
        Ok(Self { inner: Source::Own(Arc::new(inner)) })
    }

    #[doc = doc!("hotguid.Generator.extend_window")]
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: Argument<UnixMs, name::end>) -> PyResult<()> {
        let extended = self.inner.own_generator()?.extend_window(end.0);
        extended.map_err(|error| end.0.raise(error, "end"))
    }

    #[doc = doc!("hotguid.Generator.stats")]
    fn stats(&self) -> PyResult<Stats> {
        Ok(self.inner.own_generator()?.stats().into())
    }

    #[doc = doc!("hotguid.Generator.close")]
    fn close(&self) -> PyResult<()> {
        self.inner.own_generator()?.close().map_err(raise)
    }

    fn __repr__(&self) -> PyResult<String> {
        let machine = match &self.inner {
            Source::Own(generator) => generator.stats().machine.map(hex),
            Source::Leased(leased) => leased.worker_id()?.map(|number| number.to_string()),
        };
        Ok(match machine {
            Some(machine) => format!("<hotguid.Generator of machine {machine}>"),
            None => "<hotguid.Generator without a machine yet>".to_owned(),
        })
    }

    /// Rejects copying and pickling, because two generators with the same random bytes would generate the same IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy("expected one generator for its random bytes, found a copy: make another one")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.inner.traverse(&visit, |own| own.clock().traverse(&visit))
    }
}

impl_id_maker! {
    hotguid Generator HotGuid HotGuidArray Item::Bytes(HotGuid::LEN), to_uuid,
    ShardKey => u32, |_, shard_key| shard_key.0
}
id_methods! {
    hotguid Generator (shard_key: ShardKey = ShardKey(0))
    "($self, shard_key=0)" "($self, n, /, shard_key=0)" "($self, buffer, /, shard_key=0)"
}
text_methods! { hotguid Generator (shard_key: ShardKey = ShardKey(0)) "($self, shard_key=0)" }

#[doc = doc!("hotguid.Stats")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.hotguid")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Stats {
    #[doc = doc!("hotguid.Stats.machine")]
    machine: Option<[u8; 5]>,
    #[doc = doc!("hotguid.Stats.last_second")]
    last_second: Option<i64>,
    #[doc = doc!("hotguid.Stats.len")]
    len: u32,
    #[doc = doc!("hotguid.Stats.closed")]
    closed: bool,
}

impl From<hotguid::Stats> for Stats {
    fn from(found: hotguid::Stats) -> Self {
        Self {
            machine: found.machine,
            last_second: found.last_second,
            len: found.len,
            closed: found.closed,
        }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let open = if self.closed { "closed" } else { "open" };
        match self.last_second {
            Some(second) => format!("<Stats: {open}, {} IDs in second {second}>", self.len),
            None => format!("<Stats: {open}, no IDs>"),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}
