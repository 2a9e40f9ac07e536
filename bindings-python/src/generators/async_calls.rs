//! Exposes the core's asynchronous calls, which wait without blocking the thread, as asyncio coroutines.
//!
//! A coroutine from `polyflake/_waiting.py` resumes the call until it is done. Between two steps, the coroutine sleeps for
//! the time that the call requests. Python itself handles cancellation, timeouts, and the warning about coroutines that
//! were never awaited. If a call is dropped, its IDs are lost.
//!
//! The coroutine sleeps with asyncio's own function, so a call needs neither an executor nor a thread. The call's future
//! never registers a waker: it stores the time to sleep in a thread-local variable, and returns `Pending`.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    mem,
    sync::Mutex,
    task::{Context, Poll, Waker},
    time::Duration,
};

use polyflake::Result;
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::errors::{detach, raise};
use crate::first_value::FirstValue;

thread_local! {
    /// The sleep time requested by the call that this thread polled last.
    static REQUESTED_SLEEP: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The sleep function that the core's calls await.
pub(crate) async fn sleep(time: Duration) {
    let mut is_over = false;
    poll_fn(|_| {
        if mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        REQUESTED_SLEEP.set(time);
        Poll::Pending
    })
    .await;
}

/// Yields to the event loop once.
pub(crate) async fn yield_once() {
    sleep(Duration::ZERO).await;
}

/// Whether other threads run or wait during a call.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum OtherThreads {
    Run,
    Wait,
}

/// Returns the coroutine for a call. `give` converts the call's result to a Python object.
pub(crate) fn coroutine<T: Send + 'static>(
    py: Python<'_>,
    threads: OtherThreads,
    call: impl Future<Output = Result<T>> + Send + 'static,
    give: impl FnOnce(Python<'_>, T) -> PyResult<Bound<'_, PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    static WAIT: FirstValue<Py<PyAny>> = FirstValue::new();
    let (mut call, mut give) = (Box::pin(call), Some(give));
    let step = move |py: Python<'_>| {
        // No waker is needed, because the coroutine polls again after the requested time.
        let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let made = match threads {
            OtherThreads::Run => detach(py, &mut poll),
            OtherThreads::Wait => poll(),
        };
        made.map(|made| {
            let give = give.take().expect("a call ends once");
            Ok(give(py, made.map_err(raise)?)?.unbind())
        })
    };
    let call = Call(Mutex::new(Some(Box::new(step))));
    WAIT.import(py, "polyflake._waiting", "finish")?.call1((call,))
}

/// The function that performs one step of a call.
type Step = dyn FnMut(Python<'_>) -> Poll<PyResult<Py<PyAny>>> + Send;

/// A call in progress. Resuming it returns either the number of seconds to sleep, as a `float`, or the call's result, which
/// is never a `float`.
#[pyclass(frozen, module = "polyflake")]
struct Call(Mutex<Option<Box<Step>>>);

#[pymethods]
impl Call {
    fn __call__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // Do not wait for the lock, because the step that holds it may run Python code that resumes the same call.
        let mut call = self.0.try_lock().ok();
        let Some(step) = call.as_mut().and_then(|call| call.as_mut()) else {
            return Err(PyRuntimeError::new_err(
                "expected a call that still runs, found one that has ended",
            ));
        };
        match step(py) {
            Poll::Ready(result) => {
                // Dropping the call may run Python code, so release the lock first.
                let over = call.as_mut().map(|call| call.take());
                drop(call);
                drop(over);
                result
            }
            Poll::Pending => {
                Ok(REQUESTED_SLEEP.get().as_secs_f64().into_pyobject(py)?.into_any().unbind())
            }
        }
    }
}
