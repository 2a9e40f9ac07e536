//! The thread that maintains all leases of a process in blocking stores.
//!
//! Each lease is a task. One thread waits until a task is due, and polls it. A request blocks the thread that sends it, so
//! if there are other leases, a second thread waits for their tasks in the meantime. When the first request is complete,
//! only one of the two threads continues, and the other one exits. Therefore, a process has only one such thread while no
//! request is in progress, no matter how many generators it has. An unresponsive store blocks one thread for each of its
//! requests, but the other leases continue.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    task::{Wake, Waker},
    thread::Builder,
    time::{Duration, Instant},
    vec::Vec,
};

use alloc::{format, sync::Arc};
use core::{
    future::{Future, poll_fn, ready},
    mem,
    task::{Context, Poll},
};

use polyflake::fork;

use crate::{
    Error, ErrorKind, Result,
    hosts::lease_task::{LeaseTask, Task},
    protocol::{AsyncStore, Reply, Request, Store},
    rules::forks::PerProcess,
};

/// The maximum number of concurrent requests. The limit prevents a process with many generators from using all connections
/// of the server. Requests that take longer than `SHORT_WAIT` are not counted.
const MAX_REQUESTS: usize = 4;
const SHORT_WAIT: Duration = Duration::from_millis(100);

/// The maximum time before a thread checks again for due tasks. This limit applies if other threads are polling all tasks,
/// or if all tasks are waiting to be woken.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// The threads that maintain a process's leases.
pub(crate) struct Threads {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    tasks: BTreeMap<u64, TaskEntry>,
    /// The number of tasks that have been started so far.
    begun: u64,
    /// The start times of the requests in progress.
    requests: Vec<Instant>,
    /// Whether a thread is waiting for the next task.
    is_watched: bool,
}

struct TaskEntry {
    /// The task, or `None` while a thread is polling it.
    task: Option<Task>,
    /// The time at which the task is due, or `None` until it is woken.
    due: Option<Instant>,
}

impl State {
    /// Puts a task back after it was polled, or removes it if it is complete.
    fn return_task(&mut self, number: u64, task: Option<Task>) {
        match self.tasks.get_mut(&number) {
            Some(entry) if task.is_some() => entry.task = task,
            _ => drop(self.tasks.remove(&number)),
        }
    }

    /// Returns a task that is due, or the time until the next task is due.
    fn next(&mut self) -> Result<(u64, Task), Duration> {
        let now = Instant::now();
        let brief = self.requests.iter().map(|began| *began + SHORT_WAIT).filter(|end| *end > now);
        let free = brief.clone().min().filter(|_| brief.count() >= MAX_REQUESTS);
        let ready = self.tasks.iter_mut().filter(|(_, entry)| entry.task.is_some());
        let Some((due, number, entry)) = ready
            .filter_map(|(number, entry)| Some((entry.due?, *number, entry)))
            .min_by_key(|(due, ..)| *due)
        else {
            return Err(POLL_INTERVAL);
        };
        let pause = free.unwrap_or(now).max(due).saturating_duration_since(now);
        match entry.task.take_if(|_| pause.is_zero()) {
            Some(task) => {
                entry.due = None;
                Ok((number, task))
            }
            None => Err(pause),
        }
    }
}

impl Threads {
    /// Returns this process's threads.
    pub(crate) fn for_current_process() -> &'static Self {
        static PROCESS_THREADS: PerProcess<Threads> = PerProcess::new();
        let new = || Self { state: Mutex::default(), changed: Condvar::new() };
        PROCESS_THREADS.get_or_init(|_| true, new).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task that maintains a lease, and starts a thread if necessary. The task calls `open` to open the store.
    pub(crate) fn keep_lease<S: Store + 'static>(
        &'static self,
        keeping: LeaseTask,
        open: impl Fn() -> Result<S> + Send + Sync + 'static,
    ) -> Result<()> {
        let mut state = self.lock();
        state.begun += 1;
        let number = state.begun;
        let open = move || {
            // Opening a store may block, just like a request.
            let opened = self.run_blocking(&open);
            ready(opened.map(|store| BlockingAdapter { threads: self, store: Some(store) }))
        };
        let task = keeping.task(open, move |pause| self.sleep(number, pause));
        if !state.is_watched {
            self.start(&mut state)?;
        }
        state.tasks.insert(number, TaskEntry { task: Some(task), due: Some(Instant::now()) });
        self.changed.notify_all();
        Ok(())
    }

    /// Starts a thread that waits for the next task.
    fn start(&'static self, state: &mut State) -> Result<()> {
        let thread = Builder::new().name("polyflake-lease".into());
        let started = thread.spawn(|| self.run_tasks());
        started.map_err(|error| {
            let reason = format!("expected a new thread, found: {error}");
            Error::new(ErrorKind::LeaseUnavailable, reason)
        })?;
        state.is_watched = true;
        Ok(())
    }

    /// Polls tasks as they become due, until all tasks have ended or another thread has taken over.
    fn run_tasks(&'static self) {
        let process = fork::process();
        let mut state = self.lock();
        while !state.tasks.is_empty() {
            let (number, mut task) = match state.next() {
                Ok(next) => next,
                Err(pause) => {
                    let waited = self.changed.wait_timeout(state, pause);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    continue;
                }
            };
            // The next call may block for seconds, so another thread must wait for the other tasks in the meantime.
            state.is_watched = false;
            drop(state);
            let is_over = self.poll(number, &mut task);
            if process != fork::process() {
                // This process is a child that was forked while the task was being polled. Dropping the task could
                // deadlock, because another thread of the parent may have held one of its locks.
                return mem::forget(task);
            }
            let left = Some(task).filter(|_| !is_over);
            state = self.lock();
            state.return_task(number, left);
            self.changed.notify_all();
            // Another thread took over while this one was polling. One thread is enough, so this one exits.
            if state.is_watched {
                return;
            }
            state.is_watched = true;
        }
        state.is_watched = false;
    }

    /// Polls a task, and returns `true` if it is complete.
    fn poll(&'static self, number: u64, task: &mut Task) -> bool {
        let waker = Waker::from(Arc::new(TaskWaker { threads: self, number }));
        let poll = || task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        // The panic is caught so that a panic in one store ends only that store's lease.
        catch_unwind(AssertUnwindSafe(poll)).unwrap_or(true)
    }

    /// Returns a future that suspends a task for the given pause.
    fn sleep(&'static self, number: u64, pause: Duration) -> impl Future<Output = ()> + Send {
        let until = Instant::now() + pause;
        poll_fn(move |_| {
            if Instant::now() >= until {
                return Poll::Ready(());
            }
            self.schedule(number, until);
            Poll::Pending
        })
    }

    /// Schedules a task to be polled no later than `at`.
    fn schedule(&self, number: u64, at: Instant) {
        if let Some(entry) = self.lock().tasks.get_mut(&number) {
            entry.due = Some(entry.due.map_or(at, |due| due.min(at)));
            self.changed.notify_all();
        }
    }

    /// Runs a function that may take a long time while another thread waits for the other tasks.
    fn run_blocking<V>(&'static self, work: impl FnOnce() -> V) -> V {
        let mut state = self.lock();
        let request = RequestInProgress { threads: self, began: Instant::now() };
        state.requests.push(request.began);
        if state.tasks.len() > 1 && !state.is_watched {
            // If no thread can be started, the other leases must wait until this request ends.
            let _ = self.start(&mut state);
        }
        drop(state);
        work()
    }
}

/// A request in progress.
struct RequestInProgress {
    threads: &'static Threads,
    began: Instant,
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut state = self.threads.lock();
        // If several requests began at the same instant, their entries are equal, so it does not matter which one is
        // removed.
        let at = state.requests.iter().position(|began| *began == self.began);
        at.map(|at| state.requests.swap_remove(at));
        self.threads.changed.notify_all();
    }
}

struct TaskWaker {
    threads: &'static Threads,
    number: u64,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.threads.schedule(self.number, Instant::now());
    }
}

/// Adapts a blocking store to the asynchronous interface, for tasks that run on [`Threads`].
struct BlockingAdapter<S: Store> {
    threads: &'static Threads,
    /// The store, or `None` while it is being dropped.
    store: Option<S>,
}

impl<S: Store> AsyncStore for BlockingAdapter<S> {
    fn answer(&mut self, request: &Request) -> impl Future<Output = Result<Reply>> + Send {
        let store = self.store.as_mut().expect("a store until it is dropped");
        ready(self.threads.run_blocking(|| store.answer(request)))
    }
}

/// Drops the store through `run_blocking`, because the driver may notify its server when the store is dropped, which can
/// block just like a request.
impl<S: Store> Drop for BlockingAdapter<S> {
    fn drop(&mut self) {
        let store = self.store.take();
        // Closing a connection may block, just like a request.
        self.threads.run_blocking(|| drop(store));
    }
}
