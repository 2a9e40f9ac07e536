//! The core's calls that wait without holding the thread, as coroutines of asyncio.
//!
//! A coroutine of `polyflake/_waiting.py` resumes the call until it is done, and sleeps in between as the call asks.
//! Cancelling, timeouts and the warning about coroutines never awaited are Python's own. A dropped call loses its IDs.

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
    /// The sleep that this thread's last polled call asked for.
    static ASKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The sleep function for the core's calls.
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

/// Lets the event loop do a turn.
pub(crate) async fn give_way() {
    sleep(Duration::ZERO).await;
}

/// Other threads during a call.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Threads {
    Run,
    Wait,
}

/// Returns the coroutine of a call. `give` converts the result to a Python object.
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

/// A call under way: resuming it returns the seconds to sleep, as a `float`, or its result, which is never a `float`.
#[pyclass(frozen, module = "polyflake")]
struct Call(Mutex<Option<Box<dyn Steps>>>);

#[pymethods]
impl Call {
    fn __call__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // The lock is not waited for: the step that holds it may run Python code that resumes this very call.
        let mut call = self.0.try_lock().ok();
        let Some(steps) = call.as_mut().and_then(|call| call.as_mut()) else {
            return Err(PyRuntimeError::new_err(
                "expected a call that still runs, found one that has ended",
            ));
        };
        match steps.step(py) {
            Poll::Ready(result) => {
                // Dropping the call may run Python code, so it comes after the lock is released.
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
        // No waker is needed, because the coroutine polls again after the time that the call asked for.
        let go_on = || call.poll(&mut Context::from_waker(Waker::noop()));
        let made = match self.threads {
            Threads::Run => detached(py, go_on),
            Threads::Wait => go_on(),
        };
        made.map(|made| self.give.take().expect("a call ends once")(py, made))
    }
}
