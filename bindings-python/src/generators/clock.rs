//! The clock of a Python generator: the system clock or a callable. While the clock waits, other threads and signal
//! handlers can run.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use polyflake::{
    Error, ErrorKind, Result,
    clock::{Clock, ClockInfo, SystemClock},
};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyTuple};

use super::callable::call;
use crate::{
    errors::RaisedError,
    ids::{
        convert::{AnyInteger, ClockArgument, StallArgument, TestClockArgument, type_name},
        record::reduce_by_attributes,
    },
};

pub(crate) struct PythonClock {
    /// A callable that returns integer Unix nanoseconds, or `None` for the system clock.
    time: Option<Py<PyAny>>,
    /// Whether the callable is for tests, so that generators with an explicit worker ID use the tick of their first call.
    is_for_tests: bool,
    /// A callable that is invoked when a call must wait.
    on_stall: Option<Py<PyAny>>,
}

impl PythonClock {
    pub(crate) fn new(
        time: ClockArgument,
        test_time: TestClockArgument,
        on_stall: StallArgument,
    ) -> Self {
        let is_for_tests = test_time.is_some();
        let time = time.map(|time| time.0.0).or(test_time.map(|time| time.0.0));
        Self { time, is_for_tests, on_stall: on_stall.map(|callback| callback.0.0) }
    }

    /// Returns whether the time comes from a callable.
    #[inline]
    pub(crate) const fn is_callable(&self) -> bool {
        self.time.is_some()
    }

    /// Passes the callables to the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        [&self.time, &self.on_stall]
            .into_iter()
            .flatten()
            .try_for_each(|callable| visit.call(callable))
    }
}

impl Clock for PythonClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        match &self.time {
            None => SystemClock.unix_nanos(),
            Some(callable) => {
                let _level = CallDepth::enter()?;
                Python::try_attach(|py| read_callable(callable.bind(py)))
                    .unwrap_or_else(fail_at_shutdown)
            }
        }
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        let wait = |py: Python<'_>| {
            // The core sleeps for at most 10 ms at a time, so a signal is handled soon even though it does not interrupt
            // the sleep itself.
            py.detach(|| SystemClock.sleep(nanos))?;
            check_signals(py)
        };
        Python::try_attach(wait).unwrap_or_else(|| SystemClock.sleep(nanos))
    }

    #[inline]
    fn info(&self) -> ClockInfo {
        match self.time {
            None => SystemClock.info(),
            Some(_) => ClockInfo::new().for_tests(self.is_for_tests),
        }
    }

    fn monotonic(&self) -> Option<Duration> {
        SystemClock.monotonic()
    }

    fn stalled(&self, stall: &polyflake::clock::Stall) -> Result<()> {
        let Some(callable) = &self.on_stall else { return Ok(()) };
        let _level = CallDepth::enter()?;
        let report = |py: Python<'_>| {
            let reported = PyTuple::new(py, [Stall::from(stall)])
                .and_then(|arguments| call(callable.bind(py), &arguments));
            reported.map(drop).map_err(|raised| wait_error(raised, "an exception"))
        };
        Python::try_attach(report).unwrap_or_else(fail_at_shutdown)
    }
}

/// Returns the error for calls made during interpreter shutdown, when threads may no longer attach to the interpreter.
#[cold]
fn fail_at_shutdown<T>() -> Result<T> {
    const REASON: &str = "expected a running interpreter, found one that is shutting down";
    Err(Error::with_reason(ErrorKind::ClockFailed, REASON))
}

/// The maximum nesting depth of callables (clocks and stall callbacks) in one thread. Without a limit, a callable that
/// calls its own generator in infinite recursion would overflow the stack and crash the process. Each level takes 2 KB (9
/// KB in a debug build), and Python's own recursion limit does not depend on the stack size.
const MAX_DEPTH: u32 = 64;

/// A guard that counts one running callable until the guard is dropped.
struct CallDepth;

impl CallDepth {
    fn enter() -> Result<Self> {
        let above = LEVELS.get();
        if above >= MAX_DEPTH {
            let reason =
                format!("expected at most {MAX_DEPTH} callables nested in each other, found more");
            return Err(Error::with_reason(ErrorKind::ClockFailed, reason));
        }
        LEVELS.set(above + 1);
        Ok(Self)
    }
}

impl Drop for CallDepth {
    fn drop(&mut self) {
        LEVELS.set(LEVELS.get() - 1);
    }
}

thread_local! {
    static LEVELS: Cell<u32> = const { Cell::new(0) };
}

/// A checker that lets signal handlers run during a call that generates many IDs without waiting.
#[derive(Default)]
pub(crate) struct SignalChecker {
    /// The time of the last check, or `None` before the first one.
    last_check: Option<Instant>,
}

impl SignalChecker {
    /// Runs the handlers of pending signals, at most once every 10 ms. If other threads keep the interpreter busy,
    /// attaching to it takes up to the interpreter's switch interval.
    pub(crate) fn run_handlers(&mut self) -> Result<()> {
        const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(10);
        let now = Instant::now();
        let since = now.duration_since(*self.last_check.get_or_insert(now));
        if since < SIGNAL_CHECK_INTERVAL {
            return Ok(());
        }
        let checked = Python::try_attach(check_signals).unwrap_or(Ok(()));
        // Read the clock again: running signal handlers and waiting for the interpreter may have taken a while.
        self.last_check = Some(Instant::now());
        checked
    }
}

/// Runs the handlers of pending signals.
fn check_signals(py: Python<'_>) -> Result<()> {
    py.check_signals().map_err(|raised| wait_error(raised, "a signal"))
}

/// Returns the error that ends a wait. The error carries the exception raised during the wait.
fn wait_error(raised: PyErr, found: &str) -> Error {
    Error::with_reason(ErrorKind::ClockFailed, format!("expected a wait that ends, found {found}"))
        .with_source(RaisedError::InWait(raised))
}

#[doc = doc!("_polyflake.clock_source")]
#[pyfunction]
pub(crate) fn clock_source() -> &'static str {
    SystemClock::source().name()
}

#[doc = doc!("_polyflake.Stall")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Stall {
    #[doc = doc!("_polyflake.Stall.reason")]
    reason: String,
    #[doc = doc!("_polyflake.Stall.unix_ms")]
    unix_ms: i64,
    #[doc = doc!("_polyflake.Stall.stalled")]
    stalled: u32,
    #[doc = doc!("_polyflake.Stall.slept_ms")]
    slept_ms: u32,
}

impl From<&polyflake::clock::Stall> for Stall {
    fn from(stall: &polyflake::clock::Stall) -> Self {
        let polyflake::clock::Stall { reason, unix_ms, stalled, slept_ms, .. } = *stall;
        Self { reason: reason.code().to_owned(), unix_ms, stalled, slept_ms }
    }
}

#[pymethods]
impl Stall {
    fn __repr__(&self) -> String {
        let Self { reason, unix_ms, stalled, slept_ms } = self;
        format!("<Stall: {reason} at {unix_ms} ms, {stalled} stalled, slept {slept_ms} ms>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}

/// Returns one clock reading. No lock is held, because the callable may use the generator itself.
fn read_callable(callable: &Bound<'_, PyAny>) -> Result<i64> {
    let arguments = PyTuple::empty(callable.py());
    let reading = call(callable, &arguments).map_err(|raised| {
        let found = format!(
            "expected a time from the clock, found {}",
            type_name(raised.value(callable.py()))
        );
        clock_error(found, raised)
    })?;
    match AnyInteger::from_value(&reading, "clock") {
        Ok(whole) => nanos(whole),
        Err(raised) => Err(clock_error(
            format!("expected int from the clock, found {}", type_name(&reading)),
            raised,
        )),
    }
}

fn clock_error(reason: String, raised: PyErr) -> Error {
    Error::with_reason(ErrorKind::ClockFailed, reason).with_source(RaisedError::ByClock(raised))
}

fn nanos(whole: AnyInteger) -> Result<i64> {
    whole.try_to().ok_or_else(|| {
        let reason = format!("expected a time in 64-bit nanoseconds, found {whole}");
        Error::with_reason(ErrorKind::TimeOutOfRange, reason)
    })
}
