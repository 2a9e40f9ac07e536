//! The clock of a Python generator: the system's or a callable. Waiting lets other threads run, and signals in.

use std::sync::Arc;

use polyflake::{
    Error, ErrorKind, Result,
    clock::{Clock, SystemClock},
};
use pyo3::prelude::*;

use crate::{
    errors::{self, Raised},
    ids::convert::{Whole, type_name},
};

pub(crate) enum PythonClock {
    System,
    /// Gives integer Unix nanoseconds. Shared with the generator's class, which shows it to the garbage collector.
    Callable(Arc<Py<PyAny>>),
}

impl Clock for PythonClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        match self {
            Self::System => SystemClock.unix_nanos(),
            Self::Callable(callable) => Python::attach(|py| ask(callable.bind(py))),
        }
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        Python::attach(|py| {
            py.detach(|| SystemClock.sleep(nanos))?;
            py.check_signals().map_err(|raised| {
                errors::keep(Raised::BySignal(raised));
                Error::because(ErrorKind::ClockFailed, "expected to wait, found a signal")
            })
        })
    }
}

/// One reading. The callable may use the generator itself: no lock is held.
fn ask(callable: &Bound<'_, PyAny>) -> Result<i64> {
    let reading = callable.call0().map_err(|raised| {
        let found = format!(
            "expected a time from the clock, found {}",
            type_name(raised.value(callable.py()))
        );
        clock_failed(found, raised)
    })?;
    match Whole::of(&reading) {
        Ok(whole) => nanos(whole),
        Err(raised) => Err(clock_failed(
            format!("expected int from the clock, found {}", type_name(&reading)),
            raised,
        )),
    }
}

fn clock_failed(reason: String, raised: PyErr) -> Error {
    errors::keep(Raised::ByClock(raised));
    Error::because(ErrorKind::ClockFailed, reason)
}

fn nanos(whole: Whole) -> Result<i64> {
    whole.to().ok_or_else(|| {
        let reason = format!("expected a time in 64-bit nanoseconds, found {whole}");
        Error::because(ErrorKind::TimeOutOfRange, reason)
    })
}
