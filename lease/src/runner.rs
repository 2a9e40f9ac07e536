//! A lease that a thread keeps, and one of its own in each forked child.
#![allow(
    unsafe_code,
    reason = "a lock could be held by another thread at a fork, so runs are read without one"
)]

use std::{
    boxed::Box,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicPtr, Ordering},
    },
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

use alloc::format;
use core::ptr;

use polyflake::fork;

use crate::{
    Error, ErrorKind, Figures, Leased, Options, Result, Store, clock,
    driver::{Driver, Shared, keep},
    error::silent,
    watch::Events,
};

/// A lease that renews itself, moves to another number if it must, and returns its number when it is dropped.
///
/// It takes a function that opens the store and not an open store, which a forked process would share. The store is open only
/// while the lease has something to ask. In a forked child it does nothing by itself; [`Lease::ready`] leases a number of the
/// child's own there, and so does the first ID of a generator.
///
/// ```
/// use std::{sync::{Arc, Mutex}, time::Duration};
/// use polyflake_lease::{Grant, Lease, Leased, Options, Result, Shape, open};
///
/// #[derive(Default)]
/// struct Window(Mutex<Option<Grant>>); // in production: a generator
///
/// impl Leased for Window {
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
/// assert_eq!(lease.number(), Some(0));
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
pub struct Lease {
    /// The run of this process or of the last ancestor that had one; never null.
    newest: AtomicPtr<Run>,
    /// None if a task keeps the lease.
    spawn: Option<Box<Spawn>>,
    /// `true` if a drop waits until the number is returned; `false` if it may hold an executor's thread.
    pub(crate) waits_in_drop: bool,
    /// For the thread that closes the lease.
    events: Events,
}

/// Starts a thread that keeps a lease.
type Spawn = dyn Fn(Arc<Shared>) -> Result<JoinHandle<()>> + Send + Sync;

/// A thread that keeps the lease in one process. Runs of ancestors are left alone: other threads may have held their locks at the
/// fork.
struct Run {
    process: u32,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Run {
    fn new() -> Self {
        let (shared, thread) = (Arc::default(), Mutex::default());
        Self { process: fork::process(), shared, thread }
    }

    fn has_thread(&self) -> bool {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the thread, for which nobody waits then.
    fn let_go(&self) {
        drop(self.thread.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.shared.close();
    }

    fn start(&self, spawn: &Spawn) -> Result<()> {
        match spawn(self.shared.clone()) {
            Ok(thread) => {
                *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
                Ok(())
            }
            Err(error) => {
                self.shared.fail(error.clone());
                Err(error)
            }
        }
    }
}

impl Lease {
    /// The longest wait of [`Lease::close`] and of a drop for a store that does not answer.
    pub const CLOSE_LIMIT: Duration = Duration::from_secs(10);

    /// Starts the thread. `open` opens the store, again after each pause and each failure.
    ///
    /// # Errors
    /// `lease_unavailable` if the system cannot start a thread, or has no way to notice forks.
    pub fn start<S, L>(
        open: impl Fn() -> Result<S> + Send + Sync + 'static,
        options: Options,
        place: Arc<L>,
    ) -> Result<Self>
    where
        S: Store + 'static,
        L: Leased + Send + Sync + 'static,
    {
        fork::prepare().map_err(|error| unavailable(format!("{error}")))?;
        let (open, events) = (Arc::new(open), options.events());
        let spawn: Box<Spawn> = Box::new(move |shared| {
            let (open, place, options) = (open.clone(), place.clone(), options.clone());
            // The store is opened in the thread, and never leaves it.
            let run = move || {
                keep(Driver::new(options, place, shared), &*open);
            };
            Builder::new()
                .name("polyflake-lease".into())
                .spawn(run)
                .map_err(|error| unavailable(format!("expected a new thread, found: {error}")))
        });
        let run = Run::new();
        run.start(&*spawn)?;
        Ok(Self {
            newest: AtomicPtr::new(Box::into_raw(Box::new(run))),
            spawn: Some(spawn),
            waits_in_drop: true,
            events,
        })
    }

    /// A lease that a task keeps, which `spawn` makes of a driver.
    pub(crate) fn in_task<L: Leased + ?Sized>(
        options: Options,
        place: Arc<L>,
        spawn: impl FnOnce(Driver<L>),
    ) -> Result<Self> {
        fork::prepare().map_err(|error| unavailable(format!("{error}")))?;
        let (run, events) = (Run::new(), options.events());
        spawn(Driver::new(options, place, run.shared.clone()));
        let newest = AtomicPtr::new(Box::into_raw(Box::new(run)));
        Ok(Self { newest, spawn: None, waits_in_drop: false, events })
    }

    /// The newest run.
    fn newest(&self) -> &Run {
        // SAFETY: never null; a box that `start` or `here` leaked, and only `drop` frees.
        unsafe { &*self.newest.load(Ordering::Acquire) }
    }

    /// This process's run, if it has one.
    fn own(&self) -> Option<&Run> {
        Some(self.newest()).filter(|run| run.process == fork::process())
    }

    /// This process's run, started if this is a child that has none, or if its thread could not be started.
    fn here(&self) -> Result<&Run> {
        loop {
            let found = self.newest();
            if found.process == fork::process() && !found.shared.has_failed() {
                return Ok(found);
            }
            let Some(spawn) = &self.spawn else {
                return Err(unavailable("expected a task that keeps the lease, found none"));
            };
            let mine = Box::into_raw(Box::new(Run::new()));
            let old = ptr::from_ref(found).cast_mut();
            let put = self.newest.compare_exchange(old, mine, Ordering::AcqRel, Ordering::Acquire);
            if put.is_ok() {
                // SAFETY: just leaked, and only `drop` frees it.
                let run = unsafe { &*mine };
                run.start(&**spawn)?;
                return Ok(run);
            }
            // SAFETY: just leaked, and no other thread has seen it.
            drop(unsafe { Box::from_raw(mine) });
        }
    }

    /// Waits until there is a grant. In a forked child it begins to lease a number for the child.
    ///
    /// # Errors
    /// The last refusal, else `lease_unavailable`, if there is no grant after `longest`.
    pub fn ready(&self, longest: Duration) -> Result<()> {
        self.here()?.shared.ready(longest)
    }

    /// As [`Lease::ready`], but it waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread. Nothing is lost
    /// if the future is dropped.
    ///
    /// # Errors
    /// As [`Lease::ready`].
    pub async fn ready_async(
        &self,
        sleep: impl AsyncFn(Duration),
        longest: Duration,
    ) -> Result<()> {
        let (began, run) = (Instant::now(), self.here()?);
        loop {
            match run.shared.outcome() {
                Some(outcome) => return outcome,
                None if began.elapsed() >= longest => return run.shared.ready(Duration::ZERO),
                None => sleep(LOOK_AGAIN.min(longest)).await,
            }
        }
    }

    /// Begins to lease a number, if this is a forked child that has not done so.
    pub(crate) fn wake(&self) -> Result<()> {
        self.here().map(drop)
    }

    /// The reason why there is no ID, with the last refusal.
    pub(crate) fn reason(&self) -> Error {
        self.own().map_or_else(
            || unavailable("expected a lease of this process, found its parent's"),
            |run| run.shared.reason(),
        )
    }

    /// The number that the generator has, if there is one.
    pub fn number(&self) -> Option<u64> {
        self.own()?.shared.lock().number
    }

    /// The end of the generator's window, in Unix milliseconds.
    pub fn end(&self) -> Option<u64> {
        self.own()?.shared.lock().end
    }

    /// The last refusal since the last grant or renewal.
    pub fn refused(&self) -> Option<Error> {
        self.own()?.shared.lock().refused.clone()
    }

    /// Figures of this process's lease, for metrics. [`Options::watch`] tells of each event.
    pub fn figures(&self) -> Figures {
        let Some(run) = self.own() else { return Figures::default() };
        let state = run.shared.lock();
        let (grants, renewals, failures) = (state.grants, state.renewals, state.failures);
        let left = state.end.map_or(0, |end| end.saturating_sub(clock::unix_ms()));
        Figures { remaining: Duration::from_millis(left), grants, renewals, failures }
    }

    /// Seals the generator, returns the number and waits until that is done. It does not wait for a task. In the child of a fork it
    /// does nothing, unless the child has leased a number. Any thread may call it, as one that waits for a signal.
    ///
    /// If the store does not answer within [`Lease::CLOSE_LIMIT`], the lease is `refused` once more, and the thread is left to itself:
    /// the number is free when the store answers, or when the lease ends.
    pub fn close(&self) {
        let Some(run) = self.own() else { return };
        run.shared.close();
        if run.has_thread() && !run.shared.is_over_within(Self::CLOSE_LIMIT) {
            run.let_go();
            self.events.refused(silent());
        }
    }

    /// As [`Lease::close`], but it waits in `sleep`, and does not block the thread. If the future is dropped, the thread goes on to
    /// return the number.
    pub async fn close_async(&self, sleep: impl AsyncFn(Duration)) {
        let Some(run) = self.own() else { return };
        run.let_go();
        let began = Instant::now();
        while !run.shared.is_over() {
            if began.elapsed() >= Self::CLOSE_LIMIT {
                return self.events.refused(silent());
            }
            sleep(LOOK_AGAIN).await;
        }
    }
}

/// The pause before an asynchronous call looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

fn unavailable(reason: impl Into<alloc::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, reason)
}

impl Drop for Lease {
    fn drop(&mut self) {
        let is_here = self.own().is_some();
        if !is_here {
            // The thread belongs to an ancestor.
            return;
        }
        if self.waits_in_drop {
            self.close();
        } else {
            self.own().into_iter().for_each(Run::let_go);
        }
        // SAFETY: `start` or `here` leaked it once, and nothing can read it any more.
        let run = unsafe { Box::from_raw(*self.newest.get_mut()) };
        // A thread that panicked returned nothing: its number is free when its lease ends.
        drop(run.thread.into_inner().unwrap_or_else(PoisonError::into_inner).map(JoinHandle::join));
    }
}

impl core::fmt::Debug for Lease {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Lease").field("number", &self.number()).finish_non_exhaustive()
    }
}
