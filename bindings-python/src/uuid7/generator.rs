//! Generators of version 7 UUIDs.

use std::{fmt::Debug, ops::Range};

use polyflake::{
    Error, ErrorKind, SharedGenerators,
    uuid7::{self, Builder, Uuid7},
};
use pyo3::{PyTraverseError, PyVisit, prelude::*};

use super::ids::{Uuid7Array, to_uuid};
use crate::generators::{
    clock::PythonClock,
    default::{self, DefaultGenerator},
    leased::{LeaseArgument, LeaseOption, Source, mismatch},
    making::{self, CallResult, Mode, id_methods, impl_id_maker, module_functions, text_methods},
    options::{Keywords, Options},
};
use crate::{
    errors::{raise, reject_copy},
    ids::{
        convert::{Argument, Count, Flag, Span, UnixMs, name, numbers},
        record::reduce_by_attributes,
        target::Item,
    },
};

type CoreGenerator = uuid7::Generator<PythonClock>;
type LeasedGenerator = uuid7::Leased<PythonClock>;

pub(crate) static DEFAULT: DefaultGenerator<Generator> =
    DefaultGenerator::new(|| Generator::new(None, None, Argument::new(Flag(false)), None, None));

module_functions! { uuid7 Generator () "()" "(n, /)" }

numbers! {
    WorkerId(u16) "worker_id" 0..=u16::MAX;
    /// The last millisecond used by an earlier generator. The core checks the range of this value after it has checked the
    /// window.
    ResumeAfter(i64) "resume_after" i64::MIN..=i64::MAX;
}

#[doc = doc!("uuid7.Generator")]
#[pyclass(frozen, module = "polyflake.uuid7")]
pub(crate) struct Generator {
    pub(super) inner: Source<LeasedGenerator>,
}

/// The generators that were created with an explicit worker ID.
static GENERATORS: SharedGenerators<CoreGenerator> =
    SharedGenerators::new(CoreGenerator::is_usable);

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            worker_id = None, *, resume_after = None, follow_rollbacks = Argument::new(Flag(false)), lease = None, **options
        ),
        text_signature = "(worker_id=None, *, resume_after=None, follow_rollbacks=False, window=None, clock=None, test_clock=None, \
                          on_exhausted='wait', max_wait=None, lease=None, on_stall=None)"
    )]
    fn new(
        worker_id: Option<WorkerId>,
        resume_after: Option<ResumeAfter>,
        follow_rollbacks: Argument<Flag, name::follow_rollbacks>,
        lease: LeaseOption,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        const OWN_KEYWORDS: [&str; 4] = ["worker_id", "resume_after", "follow_rollbacks", "lease"];
        let options = Options::from_keywords(("Generator", &OWN_KEYWORDS), options)?;
        let follows = follow_rollbacks.0.0;
        if let Some(lease) = lease {
            if worker_id.is_some() || resume_after.is_some() || follows {
                return Err(mismatch(
                    "expected no worker ID, `resume_after` or `follow_rollbacks` beside a lease, found one",
                ));
            }
            return Ok(Self { inner: leased_source(lease.0, options)? });
        }
        let window = options.window;
        let resumed = resume_after.as_ref().map(|last| last.0);
        let own: [(_, &dyn Debug); 2] =
            [("resume_after", &resumed), ("follow_rollbacks", &follows)];
        let key = worker_id.as_ref().and_then(|it| options.sharing_key(&it.0, &own));
        let mut builder = options.builder(with_clock).follow_rollbacks(follows);
        if let Some(worker_id) = worker_id {
            builder = builder.worker_id(worker_id.0);
        }
        if let Some(last) = resume_after {
            builder = builder.resume_after(last.0);
        }
        let inner = GENERATORS.get_or_build(key, || builder.build());
        let inner = inner.map_err(|error| Span::raise(window, error))?;
        Ok(Self { inner: Source::Own(inner) })
    }

    #[doc = doc!("uuid7.Generator.extend_window")]
    #[pyo3(signature = (end, /))]
    fn extend_window(&self, end: Argument<UnixMs, name::end>) -> PyResult<()> {
        let extended = self.inner.own_generator()?.extend_window(end.0);
        extended.map_err(|error| end.0.raise(error, "end"))
    }

    #[doc = doc!("uuid7.Generator.stats")]
    fn stats(&self) -> PyResult<Stats> {
        Ok(self.inner.own_generator()?.stats().into())
    }

    #[doc = doc!("uuid7.Generator.close")]
    fn close(&self) -> PyResult<Option<i64>> {
        self.inner.own_generator()?.close().map_err(raise)
    }

    fn __repr__(&self) -> PyResult<String> {
        let worker_id = match &self.inner {
            Source::Own(generator) => generator.stats().worker_id.map(u64::from),
            Source::Leased(leased) => leased.worker_id()?,
        };
        Ok(match worker_id {
            Some(worker_id) => format!("<uuid7.Generator of worker ID {worker_id}>"),
            None => "<uuid7.Generator without a worker ID>".to_owned(),
        })
    }

    /// Rejects copying and pickling, because two generators with the same worker ID would use the same milliseconds, and
    /// could then generate the same IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy("expected one generator, found a copy: make another one, with `resume_after`")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.inner.traverse(&visit, |own| own.clock().traverse(&visit))
    }
}

fn with_clock(clock: PythonClock) -> Builder<PythonClock> {
    uuid7::Generator::builder().clock(clock)
}

/// Creates a generator that gets its worker IDs from a lease.
fn leased_source(lease: LeaseArgument, options: Options) -> PyResult<Source<LeasedGenerator>> {
    let options = options.for_grants()?;
    let build = move |number, window: Range<i64>| {
        let worker_id = u16::try_from(number).map_err(|_| Error::new(ErrorKind::OutOfRange))?;
        let builder = options().builder(with_clock).worker_id(worker_id);
        // The previous grant may have used the first millisecond of this grant under a different worker ID.
        builder.resume_after(window.start).window(window.start, window.end).build()
    };
    Source::with_lease(lease, "uuid7", |_| Ok(()), build)
}

impl_id_maker! {
    uuid7 Generator Uuid7 Uuid7Array Item::Bytes(Uuid7::LEN), to_uuid,
    () => (), |_, ()| ()
}
id_methods! { uuid7 Generator () "($self)" "($self, n, /)" "($self, buffer, /)" }
text_methods! { uuid7 Generator () "($self)" }

#[doc = doc!("uuid7.Stats")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.uuid7")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Stats {
    #[doc = doc!("uuid7.Stats.worker_id")]
    worker_id: Option<u16>,
    #[doc = doc!("uuid7.Stats.last_ms")]
    last_ms: Option<i64>,
    #[doc = doc!("uuid7.Stats.rollbacks")]
    rollbacks: u32,
    #[doc = doc!("uuid7.Stats.closed")]
    closed: bool,
}

impl From<uuid7::Stats> for Stats {
    fn from(found: uuid7::Stats) -> Self {
        let uuid7::Stats { worker_id, last_ms, rollbacks, closed, .. } = found;
        Self { worker_id, last_ms, rollbacks, closed }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let open = if self.closed { "closed" } else { "open" };
        match self.last_ms {
            Some(ms) => {
                format!("<Stats: {open}, last ID at {ms} ms, {} rollbacks>", self.rollbacks)
            }
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
