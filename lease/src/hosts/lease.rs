//! A lease that is maintained by a thread. Each forked child process has a separate lease.

use std::{
    boxed::Box,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    Error, ErrorKind, Event, Metrics, Options, Result,
    hosts::lease_task::{LeaseTask, SharedState},
    hosts::threads::Threads,
    protocol::{Grantee, Store},
    rules::error::no_reply_error,
    rules::forks::{self, PerProcess},
    stores::system,
};

/// A lease that renews itself, switches to a different worker ID if necessary, and releases its worker ID when it is
/// dropped.
///
/// A lease is created with a function that opens the store, and not with an open store, because a forked process would
/// share an open store. The store is open only while requests are in progress. In a forked child process, the lease is
/// inactive until [`Lease::ready`] is called or a generator generates an ID. It then leases a separate worker ID for the
/// child.
///
/// ```
/// use std::{sync::{Arc, Mutex}, time::Duration};
/// use polyflake_lease::{Lease, Options, Result, Shape, protocol::{Grant, Grantee, open}};
///
/// #[derive(Default)]
/// struct Window(Mutex<Option<Grant>>); // in production, a generator
///
/// impl Grantee for Window {
///     fn begin(&self, grant: Grant) -> Result<()> {
///         *self.0.lock().unwrap() = Some(grant);
///         Ok(())
///     }
///     fn extend(&self, _end: u64) {}
///     fn seal(&self) -> Option<u64> { None }
/// }
///
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let lease = Lease::start(|| open("memory:doc"), options, Arc::new(Window::default()))?;
/// lease.ready(Duration::from_secs(5))?;
/// assert_eq!(lease.worker_id(), Some(0));
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
pub struct Lease {
    /// The lease's state in this process. In a forked child, there is no state until the child leases a worker ID.
    shared: PerProcess<Arc<SharedState>>,
    /// The function that starts maintaining the lease in this process, or `None` if a task on an executor maintains the
    /// lease.
    spawn: Option<Box<SpawnFn>>,
    /// Whether dropping the lease waits until the worker ID is released. This is `false` if waiting could block an
    /// executor's thread.
    pub(crate) waits_in_drop: bool,
    options: Options,
    grantee: Arc<dyn Grantee + Send + Sync>,
}

/// A function that makes the threads of this process maintain a lease.
type SpawnFn = dyn Fn(Arc<SharedState>) -> Result<()> + Send + Sync;

impl Lease {
    /// The maximum time that [`Lease::close`] waits for an unresponsive store. The limit also applies when a lease is
    /// dropped.
    pub const CLOSE_LIMIT: Duration = Duration::from_secs(10);
    /// The same for a lease that never had a grant, which has nothing to release unless a claim is in transit.
    const UNLEASED_CLOSE_LIMIT: Duration = Duration::from_secs(1);

    /// Starts a lease. A single thread maintains all leases in the process. The thread calls `open` to open the store
    /// initially, and again after each pause and each failure.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if the system cannot start a thread or cannot detect forks.
    pub fn start<S, G>(
        open: impl Fn() -> Result<S> + Send + Sync + 'static,
        options: Options,
        grantee: Arc<G>,
    ) -> Result<Self>
    where
        S: Store + 'static,
        G: Grantee + Send + Sync + 'static,
    {
        let lease = Self::prepare(open, options, grantee)?;
        lease.ensure_started()?;
        Ok(lease)
    }

    /// Creates a lease that starts with the first call that waits for a grant, as in a forked child process.
    pub(crate) fn prepare<S, G>(
        open: impl Fn() -> Result<S> + Send + Sync + 'static,
        options: Options,
        grantee: Arc<G>,
    ) -> Result<Self>
    where
        S: Store + 'static,
        G: Grantee + Send + Sync + 'static,
    {
        forks::process_generation()?;
        let (open, of_each, kept) = (Arc::new(open), options.clone(), grantee.clone());
        let spawn: Box<SpawnFn> = Box::new(move |shared| {
            let keeping = LeaseTask::new(of_each.clone(), kept.clone(), shared);
            let open = open.clone();
            Threads::for_current_process().keep_lease(keeping, move || open())
        });
        let spawn = Some(spawn);
        let shared = PerProcess::new();
        Ok(Self { shared, spawn, waits_in_drop: true, options, grantee })
    }

    /// Starts a lease that is maintained by a task on an executor. `spawn` starts the task.
    pub(crate) fn start_in_task(
        options: Options,
        grantee: Arc<dyn Grantee + Send + Sync>,
        spawn: impl FnOnce(LeaseTask),
    ) -> Result<Self> {
        forks::process_generation()?;
        let shared = PerProcess::<Arc<SharedState>>::new();
        let (mine, _) = shared.get_or_init(|_| true, Arc::default);
        spawn(LeaseTask::new(options.clone(), grantee.clone(), mine.clone()));
        Ok(Self { shared, spawn: None, waits_in_drop: false, options, grantee })
    }

    /// Returns this process's lease. Starts a new lease if this is a child process without a lease, or if the lease's task
    /// could not be started.
    fn ensure_started(&self) -> Result<&SharedState> {
        let Some(spawn) = &self.spawn else {
            let kept = self.shared.get().filter(|shared| !shared.has_failed());
            let none =
                || unavailable_error("expected a running task that keeps the lease, found none");
            return kept.map(|shared| &**shared).ok_or_else(none);
        };
        let is_kept = |shared: &Arc<SharedState>| !shared.has_failed();
        let (shared, is_new) = self.shared.get_or_init(is_kept, Arc::default);
        if is_new && let Err(error) = spawn(shared.clone()) {
            shared.fail(error.clone());
            return Err(error);
        }
        Ok(shared)
    }

    /// Waits until there is a grant. In a forked child process, this call starts leasing a worker ID for the child.
    ///
    /// # Errors
    /// Returns a [permanent](Error::is_permanent) error, such as `namespace_mismatch`, without waiting any longer, and so
    /// does `store_changed` if the quiet time ends later than the wait. If there
    /// is still no grant after `longest`, returns the most recent error, or `lease_unavailable` if there was none.
    pub fn ready(&self, longest: Duration) -> Result<()> {
        self.ensure_started()?.ready(longest)
    }

    /// Works like [`Lease::ready`], except that after a call in this process has timed out, later calls fail immediately
    /// until there is a grant.
    pub(crate) fn ready_once(&self, longest: Duration) -> Result<()> {
        self.ensure_started()?.ready_once(longest)
    }

    /// Works like [`Lease::ready`], but awaits `sleep`, for example `tokio::time::sleep`, instead of blocking the thread.
    /// Dropping the future has no effect on the lease.
    ///
    /// # Errors
    /// Returns the same errors as [`Lease::ready`].
    pub async fn ready_async(
        &self,
        sleep: impl AsyncFn(Duration),
        longest: Duration,
    ) -> Result<()> {
        let (began, shared) = (Instant::now(), self.ensure_started()?);
        loop {
            match shared.outcome(longest.saturating_sub(began.elapsed())) {
                Some(outcome) => return outcome,
                None if began.elapsed() >= longest => return shared.ready(Duration::ZERO),
                None => sleep(POLL_INTERVAL.min(longest)).await,
            }
        }
    }

    /// Starts leasing a worker ID if this is a forked child that has not done so.
    pub(crate) fn start_in_child(&self) -> Result<()> {
        self.ensure_started().map(drop)
    }

    /// Returns the reason why no ID is available, including the last error.
    pub(crate) fn reason(&self) -> Error {
        let none = || unavailable_error("expected a lease of this process, found its parent's");
        self.shared.get().map_or_else(none, |shared| shared.reason())
    }

    /// Returns the leased worker ID, or `None` if there is no lease or the lease has ended.
    pub fn worker_id(&self) -> Option<u64> {
        self.current_grant().map(|(worker_id, _)| worker_id)
    }

    /// Returns the end of the generator's window in Unix milliseconds, or `None` if there is no lease or the lease has
    /// ended.
    pub fn end(&self) -> Option<u64> {
        self.current_grant().map(|(_, end)| end)
    }

    fn current_grant(&self) -> Option<(u64, u64)> {
        self.shared.get()?.lock().status.current_grant(system::unix_ms())
    }

    /// Returns the most recent error since the last grant or renewal, or `None` if there was no error.
    pub fn rejected(&self) -> Option<Error> {
        self.shared.get()?.lock().status.rejected.clone()
    }

    /// Returns the metrics of this process's lease. To receive each event, use [`Options::watch`].
    pub fn metrics(&self) -> Metrics {
        let Some(shared) = self.shared.get() else { return Metrics::default() };
        let status = &shared.lock().status;
        let remaining = Duration::from_millis(status.remaining_ms(system::unix_ms()));
        Metrics { remaining, ..status.counts }
    }

    /// Closes the generator immediately, releases the worker ID, and waits until the release is complete. If a task on an
    /// executor maintains the lease, this call does not wait. In a forked child process, this call has no effect unless the
    /// child has leased a separate worker ID. This method can be called on any thread, for example on a thread that waits
    /// for a signal.
    ///
    /// If the store does not respond within [`Lease::CLOSE_LIMIT`], the lease reports the missing reply as an error, and
    /// the release continues in the background. The worker ID becomes free when the store responds, or when the lease ends.
    pub fn close(&self) {
        let Some(shared) = self.close_generator() else { return };
        let has_held = shared.lock().status.counts.grants > 0;
        shared.close();
        let limit = if has_held { Self::CLOSE_LIMIT } else { Self::UNLEASED_CLOSE_LIMIT };
        if self.spawn.is_some() && !shared.wait_until_over(limit) {
            shared.stop_keeping();
            self.options.report(&Event::Rejected(no_reply_error()));
        }
    }

    /// Closes the generator of this process's lease. Returns the lease, or `None` if this process has no lease.
    fn close_generator(&self) -> Option<&SharedState> {
        let shared = self.shared.get()?;
        self.grantee.close();
        Some(shared)
    }

    /// Works like [`Lease::close`], but awaits `sleep` instead of blocking the thread. If the future is dropped, the worker
    /// ID is still released.
    pub async fn close_async(&self, sleep: impl AsyncFn(Duration)) {
        let Some(shared) = self.close_generator() else { return };
        shared.stop_keeping();
        // The caller's executor is unknown, so this call polls with the caller's `sleep` instead of waiting on a condition
        // variable, which would block the executor's thread.
        let began = Instant::now();
        while !shared.is_over() {
            if began.elapsed() >= Self::CLOSE_LIMIT {
                return self.options.report(&Event::Rejected(no_reply_error()));
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

/// The interval at which an asynchronous call checks whether its condition has been met.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

fn unavailable_error(reason: impl Into<alloc::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, reason)
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.waits_in_drop {
            self.close();
        } else if let Some(shared) = self.close_generator() {
            shared.stop_keeping();
        }
    }
}

impl core::fmt::Debug for Lease {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Lease").field("worker_id", &self.worker_id()).finish_non_exhaustive()
    }
}
