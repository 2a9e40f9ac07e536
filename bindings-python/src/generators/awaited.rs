//! Exposes the core's asynchronous calls, which wait without blocking the thread, as asyncio coroutines.
//!
//! A coroutine from `polyflake/_waiting.py` resumes the call until it is done, and sleeps in between for the time that the call
//! requests. Python itself handles cancellation, timeouts, and the warning about coroutines that were never awaited. If a call
//! is dropped, its IDs are lost.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    mem,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll, Waker},
    time::Duration,
};

use pyo3::{exceptions::PyRuntimeError, prelude::*, sync::PyOnceLock};

use crate::errors::detached;

thread_local! {
    /// The sleep time that this thread's last polled call requested.
    static ASKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The sleep function that the core's calls await.
pub(crate) async fn sleep(time: Duration) {
    let mut is_over = false;
    poll_fn(|_| {
        if mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        ASKED.set(time);
        Poll::Pending
    })
    .await;
}

/// Gives the event loop one turn.
pub(crate) async fn give_way() {
    sleep(Duration::ZERO).await;
}

/// What other threads do during a call.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Threads {
    Run,
    Wait,
}

/// Returns the coroutine for a call. `give` converts the result to a Python object.
pub(crate) fn coroutine<T: Send + 'static>(
    py: Python<'_>,
    threads: Threads,
    call: impl Future<Output = T> + Send + 'static,
    give: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    static WAIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let running = Running { call: Box::pin(call), give: Some(give), threads };
    let call = Call(Mutex::new(Some(Box::new(running))));
    WAIT.import(py, "polyflake._waiting", "finish")?.call1((call,))
}

/// A call in progress. Resuming it returns the number of seconds to sleep, as a `float`, or else its result, which is never a
/// `float`.
#[pyclass(frozen, module = "polyflake")]
struct Call(Mutex<Option<Box<dyn Steps>>>);

#[pymethods]
impl Call {
    fn __call__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // Do not wait for the lock: the step that holds it may run Python code that resumes this very call.
        let mut call = self.0.try_lock().ok();
        let Some(steps) = call.as_mut().and_then(|call| call.as_mut()) else {
            return Err(PyRuntimeError::new_err(
                "expected a call that still runs, found one that has ended",
            ));
        };
        match steps.step(py) {
            Poll::Ready(result) => {
                // Dropping the call may run Python code, so release the lock first.
                let over = call.as_mut().map(|call| call.take());
                drop(call);
                drop(over);
                result
            }
            Poll::Pending => Ok(ASKED.get().as_secs_f64().into_pyobject(py)?.into_any().unbind()),
        }
    }
}

/// A call of any type.
trait Steps: Send {
    fn step(&mut self, py: Python<'_>) -> Poll<PyResult<Py<PyAny>>>;
}

struct Running<F, G> {
    call: Pin<Box<F>>,
    give: Option<G>,
    threads: Threads,
}

impl<F, G> Steps for Running<F, G>
where
    F: Future<Output: Send> + Send,
    G: FnOnce(Python<'_>, F::Output) -> PyResult<Py<PyAny>> + Send,
{
    fn step(&mut self, py: Python<'_>) -> Poll<PyResult<Py<PyAny>>> {
        let call = self.call.as_mut();
        // No waker is needed, because the coroutine polls again after the requested time.
        let go_on = || call.poll(&mut Context::from_waker(Waker::noop()));
        let made = match self.threads {
            Threads::Run => detached(py, go_on),
            Threads::Wait => go_on(),
        };
        made.map(|made| self.give.take().expect("a call ends once")(py, made))
    }
}
