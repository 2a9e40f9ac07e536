//! The generator behind a Python object. It is either the object's own generator or a leased generator, whose lease
//! `polyflake/_lease.py` maintains.
//!
//! ```text
//! _lease.py (a thread, the store's client) --commands, answers--> Keeper --grants--> ProcessGenerator <-- calls that generate IDs
//! ```
//!
//! The rules of leases are implemented in `polyflake-lease`, as a state machine that returns commands and has no threads,
//! clocks or clients. Python provides all of these, so `_lease.py` executes each command and passes its answer to
//! [`Keeper::next`]. Calls that generate IDs do not go through Python. They use the newest grant's generator, whose window
//! ends with the grant. The keeper extends the window with each renewal, and the core rejects every later tick.
//!
//! # Waiting for the first grant
//!
//! The lease begins when the first ID is generated and not when the generator is created, because a preloaded gunicorn
//! master must not hold a worker ID that it never uses. Therefore no grant exists yet during the first call. A blocking
//! call waits in Python. An asynchronous call polls, because the keeper's thread cannot wake a task of an unknown event
//! loop. A call that must not wait fails at once.
//!
//! # Forks
//!
//! A child inherits the generator of its parent's grant, but must not use this generator. `_lease.py` calls
//! [`Keeper::leave`] in each child, which clears [`ProcessGenerator::granted_in`], so that the child's first ID begins another
//! lease. In a child where Python's fork hook does not run, the core still rejects the grant, because the process
//! generation has changed. The inherited objects are never freed, because freeing the client would close the parent's
//! connection to the store.

use std::{
    array, mem,
    ops::Range,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use polyflake::{Call, Error, ErrorKind, Mode, Progress, Result, SlotSource, WrittenCount, fork};
use polyflake_lease::protocol::{
    Moment, Random,
    hosted::{Family, Granted, Hosted, LeaseUrl, RANDOMS},
    steps::{Access, absolute_path, open_file},
};
use pyo3::{
    Borrowed, PyTraverseError, PyVisit,
    prelude::*,
    types::{PyDict, PyType},
};

use super::{
    clock::PythonClock,
    making::{Batch, Id, Param},
};
use crate::{
    errors::{RaisedError, raise, raise_as, with_python},
    first_value::{FirstValue, intern},
    ids::convert::{Argument, FromArgument, name, wrong_type_exception},
};

/// The generator behind a Python object.
pub(crate) enum Source<F: Family> {
    /// A generator with the object's own options. Objects that were created with the same worker ID share it.
    Own(Arc<F::Generator>),
    Leased(Box<LeasedSource<F>>),
}

/// A generator with a lease.
pub(crate) struct LeasedSource<F: Family> {
    granted: Arc<ProcessGenerator<F>>,
    /// The Python object that maintains the lease.
    lease: Py<PyAny>,
}

/// A function that builds a grant's generator from the grant's worker ID and its time span in Unix milliseconds.
type GeneratorFactory<G> = dyn Fn(u64, Range<i64>) -> Result<G> + Send + Sync;

/// The generator of the current grant, and whether it belongs to this process.
struct ProcessGenerator<F: Family> {
    granted: Granted<F, Box<GeneratorFactory<F::Generator>>>,
    /// The restore count at which this process received its grant, or `NO_GRANT`. A grant of the parent does not count, and
    /// neither does a grant from before a restore.
    granted_in: AtomicU64,
}

const NO_GRANT: u64 = u64::MAX;

impl<F: Family<Generator: Send> + Send + Sync> Source<F> {
    /// Creates a generator that gets its worker IDs from a lease. `set` adds the format-specific settings that the lease
    /// rules need. `build` creates the generator for a grant.
    pub(crate) fn with_lease(
        lease: LeaseArgument,
        family: &str,
        set: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
        build: impl Fn(u64, Range<i64>) -> Result<F::Generator> + Send + Sync + 'static,
    ) -> PyResult<Self> {
        let (granted, granted_in) = (Granted::new(Box::new(build) as _), AtomicU64::new(NO_GRANT));
        let granted = Arc::new(ProcessGenerator { granted, granted_in });
        let keeper = Keeper { granted: granted.clone(), hosted: Mutex::new(None) };
        let lease = lease.0;
        with_python(|py| {
            let settings = PyDict::new(py);
            settings.set_item("family", family)?;
            set(&settings)?;
            lease.call_method1(py, intern!(py, "_bind"), (keeper, settings))
        })?;
        Ok(Self::Leased(Box::new(LeasedSource { granted, lease })))
    }

    /// Returns the object's own generator, for calls that are not supported under a lease.
    ///
    /// # Errors
    ///
    /// `lease_mismatch` if the generator has a lease.
    pub(crate) fn own_generator(&self) -> PyResult<&F::Generator> {
        match self {
            Self::Own(generator) => Ok(generator),
            Self::Leased(_) => Err(mismatch(
                "expected a generator without a lease, found one with a lease: use `lease.status()` and `lease.close()`",
            )),
        }
    }

    /// Returns whether generating one ID without waiting may run Python code: a caller's clock, or the start of a lease.
    #[inline]
    pub(crate) fn may_run_python<'s>(
        &'s self,
        clock: impl FnOnce(&'s F::Generator) -> &'s PythonClock,
    ) -> bool {
        match self {
            Self::Own(own) => clock(own).is_callable(),
            // A generator with a lease reads the system clock.
            Self::Leased(leased) => leased.granted.leased().is_none(),
        }
    }

    /// Passes the lease, or the Python objects that the generator refers to, to the garbage collector.
    pub(crate) fn traverse(
        &self,
        visit: &PyVisit<'_>,
        own: impl FnOnce(&F::Generator) -> std::result::Result<(), PyTraverseError>,
    ) -> std::result::Result<(), PyTraverseError> {
        match self {
            // Each Python object of a shared generator would report the same references, which would confuse the collector.
            Self::Own(generator) if Arc::strong_count(generator) > 1 => Ok(()),
            Self::Own(generator) => own(generator),
            Self::Leased(leased) => visit.call(&leased.lease),
        }
    }
}

/// Returns the `lease_mismatch` exception for something that cannot be combined with a lease.
#[cold]
pub(crate) fn mismatch(reason: &'static str) -> PyErr {
    raise(Error::with_reason(ErrorKind::LeaseMismatch, reason))
}

impl<F: Family> ProcessGenerator<F> {
    /// Returns the generator if this process has received a grant, and has not been restored since.
    fn leased(&self) -> Option<&F> {
        (self.granted_in.load(Ordering::Acquire) == u64::from(fork::restores()))
            .then(|| self.granted.leased())
            .flatten()
            .map(|leased| &**leased)
    }
}

impl<F: Family> LeasedSource<F> {
    /// Returns the worker ID that the lease currently holds.
    pub(crate) fn worker_id(&self) -> PyResult<Option<u64>> {
        with_python(|py| self.lease.getattr(py, intern!(py, "worker_id"))?.extract(py))
    }

    /// Calls the generator. If the process has no grant yet, waits for the first grant.
    fn call<'s, V>(&'s self, mode: Mode, call: impl FnOnce(&'s F) -> Result<V>) -> Result<V> {
        let leased = self.granted.leased().map_or_else(|| self.wait(mode), Ok)?;
        self.explain_error(call(leased))
    }

    #[cold]
    fn wait(&self, mode: Mode) -> Result<&F> {
        // A call that must not wait reports an infinite waiting time. As a result, the lease begins, but raises an
        // exception at once.
        self.begin_or_report(if mode == Mode::Wait { None } else { Some(f64::INFINITY) })?;
        self.granted.leased().ok_or_else(|| Error::new(ErrorKind::LeaseUnavailable))
    }

    /// Works like [`LeasedSource::call`], for one step of an asynchronous call. Instead of waiting, the step returns how
    /// long to sleep.
    fn step<'s, V>(
        &'s self,
        waiting: &mut WaitingCall<'s>,
        step: impl FnOnce(&'s F, &mut Call<'s>) -> Result<Progress<V>>,
    ) -> Result<Progress<V>> {
        if let Some(leased) = self.granted.leased() {
            return self.explain_error(step(leased, &mut waiting.call));
        }
        let begun = waiting.begun.get_or_insert_with(Instant::now);
        self.begin_or_report(Some(begun.elapsed().as_secs_f64()))?;
        Ok(Progress::Sleep(POLL_NANOS))
    }

    /// Begins the lease and waits for its first grant, or reports how many seconds a call has waited. The lease raises an
    /// exception if the call has waited too long.
    fn begin_or_report(&self, waited: Option<f64>) -> Result<()> {
        let wait = |py: Python<'_>| {
            let waited = self.lease.call_method1(py, intern!(py, "_wait"), (waited,));
            waited.map(drop).map_err(|raised| {
                Error::new(ErrorKind::LeaseUnavailable).with_source(RaisedError::InWait(raised))
            })
        };
        Python::try_attach(wait).unwrap_or_else(|| Err(Error::new(ErrorKind::LeaseUnavailable)))
    }

    /// Adds the reason why there is no grant to the error of a call that needs one.
    fn explain_error<V>(&self, made: Result<V>) -> Result<V> {
        made.map_err(|error| match error.kind() {
            ErrorKind::LeaseUnavailable => {
                let reason = |py: Python<'_>| {
                    let reason = self.lease.call_method0(py, intern!(py, "_reason")).ok()?;
                    reason.extract::<(String, Option<u64>)>(py).ok()
                };
                match Python::try_attach(reason).flatten() {
                    Some((reason, _)) => error.with_source(RaisedError::Reason(reason)),
                    None => error,
                }
            }
            _ => error,
        })
    }
}

/// The pause, in nanoseconds, before a step checks again for the first grant. A step must poll, because the keeper runs on
/// its own thread and cannot wake a task in an unknown event loop.
const POLL_NANOS: u64 = 5_000_000;

/// The state of an asynchronous call between its steps.
pub(crate) struct WaitingCall<'s> {
    call: Call<'s>,
    /// The time at which the call started to wait for the first grant.
    begun: Option<Instant>,
}

impl Default for WaitingCall<'_> {
    fn default() -> Self {
        Self { call: Call::asynchronous(), begun: None }
    }
}

/// Of all code that generates IDs, only this implementation distinguishes generators with a lease from other generators.
impl<F: Family> Source<F> {
    #[inline]
    pub(crate) fn generate_one(&self, mode: Mode, param: Param<'_, F>) -> Result<Id<F>> {
        match self {
            Self::Own(own) => own.generate_in(mode, param),
            Self::Leased(leased) => leased.call(mode, |leased| leased.generate_in(mode, param)),
        }
    }

    /// Fills a batch with IDs. Returns the number of IDs written, or `None` if the batch was filled completely.
    pub(crate) fn fill<'b>(
        &self,
        mode: Mode,
        param: Param<'b, F>,
        ids: Batch<'b, F>,
    ) -> Result<Option<usize>> {
        match self {
            Self::Own(own) => fill(&**own, mode, param, ids),
            Self::Leased(leased) => leased.call(mode, |leased| fill(leased, mode, param, ids)),
        }
    }

    pub(crate) fn generate_step<'s>(
        &'s self,
        waiting: &mut WaitingCall<'s>,
        param: Param<'_, F>,
    ) -> Result<Progress<Id<F>>> {
        match self {
            Self::Own(own) => own.generate_step(&mut waiting.call, param),
            Self::Leased(leased) => {
                leased.step(waiting, |leased, call| leased.generate_step(call, param))
            }
        }
    }

    pub(crate) fn fill_step<'s, 'b>(
        &'s self,
        waiting: &mut WaitingCall<'s>,
        param: Param<'b, F>,
        ids: Batch<'b, F>,
        filled: &mut WrittenCount,
    ) -> Result<Progress<()>> {
        match self {
            Self::Own(own) => own.fill_step(&mut waiting.call, param, ids, filled),
            Self::Leased(leased) => {
                leased.step(waiting, |leased, call| leased.fill_step(call, param, ids, filled))
            }
        }
    }
}

fn fill<'b, G: SlotSource>(
    generator: &G,
    mode: Mode,
    param: Param<'b, G>,
    ids: Batch<'b, G>,
) -> Result<Option<usize>> {
    match mode {
        Mode::Wait => generator.fill(mode, param, ids).map(|()| None),
        Mode::Try => generator.try_fill(param, ids).map(Some),
    }
}

/// The operations that a lease performs on its generator, independent of the format.
trait GrantTarget: Send + Sync {
    fn prepare(&self);
    fn begin(&self, worker_id: u64, span: Range<u64>) -> Result<()>;
    fn extend(&self, end: u64);
    fn seal(&self) -> Option<u64>;
    fn close(&self);
    fn leave(&self);
}

impl<F: Family + Send + Sync> GrantTarget for ProcessGenerator<F> {
    fn prepare(&self) {
        self.granted.prepare();
    }

    fn begin(&self, worker_id: u64, span: Range<u64>) -> Result<()> {
        let restores = fork::restores();
        self.granted.begin(worker_id, span)?;
        // Store the count only after the grant has begun, so that a thread that sees the count also sees the generator of
        // the grant.
        self.granted_in.store(restores.into(), Ordering::Release);
        Ok(())
    }

    fn extend(&self, end: u64) {
        self.granted.extend(end);
    }

    fn seal(&self) -> Option<u64> {
        self.granted.seal()
    }

    fn close(&self) {
        // A child process must not close its parent's generator.
        if let Some(leased) = self.leased() {
            leased.close();
        }
    }

    fn leave(&self) {
        self.granted_in.store(NO_GRANT, Ordering::Release);
    }
}

/// A placeholder for the generator during a check, because a check does not create a generator.
struct NoGenerator;

impl GrantTarget for NoGenerator {
    fn prepare(&self) {}
    fn begin(&self, _: u64, _: Range<u64>) -> Result<()> {
        Ok(())
    }
    fn extend(&self, _: u64) {}
    fn seal(&self) -> Option<u64> {
        None
    }
    fn close(&self) {}
    fn leave(&self) {}
}

/// The generator and the rules of a lease, for use by `polyflake/_lease.py`. Strings contain JSON, as in
/// [`polyflake_lease::protocol::hosted`].
#[pyclass(frozen, module = "polyflake._polyflake")]
pub(crate) struct Keeper {
    granted: Arc<dyn GrantTarget>,
    hosted: Mutex<Option<Hosted>>,
}

impl Keeper {
    /// Calls a function with the lease rules. The lock is always free when a call from Python starts, because no call
    /// detaches from the interpreter while it holds the lock.
    fn with_hosted<R>(&self, work: impl FnOnce(&mut Hosted) -> R) -> PyResult<R> {
        let mut hosted = self.hosted.lock().unwrap_or_else(PoisonError::into_inner);
        let hosted = hosted.as_mut();
        hosted.map(work).ok_or_else(|| mismatch("expected a lease that was started"))
    }
}

#[pymethods]
impl Keeper {
    /// Starts the lease rules, initially without a worker ID. Returns how long a caller waits for a worker ID, in
    /// milliseconds.
    #[pyo3(signature = (settings, /))]
    fn start(&self, settings: &str) -> PyResult<u64> {
        let hosted = Hosted::new(settings).map_err(to_exception)?;
        // `prepare` reads the restore count. Call it after `Hosted::new` has read the count, so that the lease rules detect
        // a restore that happens between the two reads.
        self.granted.prepare();
        let wait_ms = hosted.wait_ms();
        *self.hosted.lock().unwrap_or_else(PoisonError::into_inner) = Some(hosted);
        Ok(wait_ms)
    }

    /// Reads the answer to the last command, and returns the next command.
    #[pyo3(signature = (wall_ms, elapsed_ms, random, answer, /))]
    fn next(
        &self,
        wall_ms: u64,
        elapsed_ms: u64,
        random: [u8; 16 * RANDOMS],
        answer: &str,
    ) -> PyResult<String> {
        let (drawn, _) = random.as_chunks();
        let random = array::from_fn(|at| Random(u128::from_be_bytes(drawn[at])));
        self.with_hosted(|hosted| hosted.next(Moment { wall_ms, elapsed_ms }, random, answer))
    }

    /// Begins a grant, or returns the reason why it cannot begin. Times are Unix milliseconds.
    #[pyo3(signature = (worker_id, start, end, /))]
    fn begin(&self, worker_id: u64, start: u64, end: u64) -> Option<String> {
        self.granted.begin(worker_id, start..end).err().map(|error| error.to_string())
    }

    /// Moves the end of the grant to a later time.
    #[pyo3(signature = (end, /))]
    fn extend(&self, end: u64) {
        self.granted.extend(end);
    }

    /// Ends the grant. Returns the end of the last tick in which the grant was used, or `None` if it was not used.
    fn seal(&self) -> Option<u64> {
        // An unknown end is represented by a time that is later than the end of any grant. The number is limited to the
        // largest integer that JSON can represent exactly.
        self.granted.seal().map(|used| used.min((1 << 53) - 1))
    }

    /// Closes the generator immediately, and makes the next command release the lease's worker ID.
    fn close(&self) {
        // Close the generator first, so that no ID is generated after the worker ID is released.
        self.granted.close();
        let mut hosted = self.hosted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hosted) = hosted.as_mut() {
            hosted.close();
        }
    }

    /// Returns the lease's status.
    #[pyo3(signature = (wall_ms, /))]
    fn status(&self, wall_ms: u64) -> PyResult<String> {
        self.with_hosted(|hosted| hosted.status(wall_ms))
    }

    /// Returns whether this process has been restored since the last command.
    fn is_restored(&self) -> PyResult<bool> {
        self.with_hosted(|hosted| hosted.is_restored())
    }

    /// Returns the reason why no ID is available now.
    #[pyo3(signature = (wall_ms, /))]
    fn reason(&self, wall_ms: u64) -> PyResult<String> {
        self.with_hosted(|hosted| hosted.reason(wall_ms))
    }

    /// Returns a separate keeper for the generator in a forked child. The child never frees the inherited objects.
    #[pyo3(signature = (inherited, /))]
    fn leave(&self, inherited: Py<PyAny>) -> Self {
        self.granted.leave();
        // Freeing the inherited objects would close the parent's connection.
        mem::forget(inherited);
        Self { granted: self.granted.clone(), hosted: Mutex::new(None) }
    }
}

/// Returns the exception for an error that the lease rules return.
#[cold]
fn to_exception(error: polyflake_lease::Error) -> PyErr {
    with_python(|py| raise_as(py, error.code(), error.to_string(), error.until()))
}

/// Returns how many times this process has been restored.
#[pyfunction]
pub(crate) fn restores() -> u32 {
    fork::restores()
}

/// Wakes the threads of all leases after a restore. Without this call, the next ID would wake only its own lease.
pub(crate) fn wake_leases(py: Python<'_>) -> PyResult<()> {
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    // The module is missing in a program without leases, and incomplete while it is imported.
    let lease = modules.get_item(intern!(py, "polyflake._lease"));
    if let Ok(wake) = lease.and_then(|lease| lease.getattr(intern!(py, "_wake_all"))) {
        wake.call0()?;
    }
    Ok(())
}

/// Determines where leases are stored, from a store's URL and a namespace, or from the environment variables if the URL is
/// missing.
#[pyfunction]
#[pyo3(signature = (url, namespace, /))]
pub(crate) fn parse_lease_url(url: Option<&str>, namespace: Option<&str>) -> PyResult<String> {
    let lease_url = match url {
        Some(url) => LeaseUrl::parse(url, namespace),
        None => LeaseUrl::from_env(namespace),
    };
    lease_url.and_then(|lease_url| lease_url.to_json()).map_err(to_exception)
}

/// Returns a keeper whose commands check whether a lease could be acquired. The commands do not lease a worker ID.
#[pyfunction]
#[pyo3(signature = (settings, /))]
pub(crate) fn begin_check(settings: &str) -> PyResult<Keeper> {
    let keeper = Keeper { granted: Arc::new(NoGenerator), hosted: Mutex::new(None) };
    keeper.start(settings)?;
    Ok(keeper)
}

/// Checks the path of a store's file, and returns whether the file exists.
#[pyfunction]
#[pyo3(signature = (path, allows_overlayfs, /))]
pub(crate) fn check_file(path: PathBuf, allows_overlayfs: bool) -> PyResult<bool> {
    let access = Access { allows_overlayfs, ..Access::default() };
    let exists = absolute_path(&path)
        .and_then(|path| polyflake_lease::protocol::steps::check_file(&path, access));
    exists.map_err(to_exception)
}

/// Opens a store's file by calling `connect`. Returns the result of `connect` and the name that identifies the file.
#[pyfunction]
#[pyo3(signature = (path, allows_overlayfs, connect, /))]
pub(crate) fn name_file<'py>(
    path: PathBuf,
    allows_overlayfs: bool,
    connect: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let path = absolute_path(&path).map_err(to_exception)?;
    let mut raised = None;
    let access = Access { allows_overlayfs, ..Access::default() };
    let opened = open_file(&path, access, |path| {
        connect.call1((path,)).map_err(|error| {
            let reason = error.to_string();
            raised = Some(error);
            polyflake_lease::Error::new(polyflake_lease::ErrorKind::LeaseUnavailable, reason)
        })
    });
    opened.map_err(|error| raised.unwrap_or_else(|| to_exception(error)))
}

/// A lease passed as an argument.
pub(crate) struct LeaseArgument(Py<PyAny>);

impl<'a, 'py> FromArgument<'a, 'py> for LeaseArgument {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        static CLASS: FirstValue<Py<PyType>> = FirstValue::new();
        if value.is_instance(CLASS.import(value.py(), "polyflake._lease", "Lease")?)? {
            return Ok(Self(value.to_owned().unbind()));
        }
        Err(wrong_type_exception(name, "Lease", &value))
    }
}

/// The optional `lease` parameter of the constructors.
pub(crate) type LeaseOption = Option<Argument<LeaseArgument, name::lease>>;
