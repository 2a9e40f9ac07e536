//! A thread that drives a keeper over a store with blocking calls.

use std::{
    boxed::Box,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

use alloc::format;

use crate::{
    Action, Error, ErrorKind, Keeper, Leased, Moment, Options, Random, Result, Store, clock,
};

/// A lease that renews itself, moves to another number if it must, and returns its number when it is dropped.
///
/// It takes a function that opens the store and not an open store, which a forked process would share. In a forked child it
/// does nothing at all; the child starts its own lease.
///
/// ```
/// use std::{sync::{Arc, Mutex}, time::Duration};
/// use polyflake_lease::{Grant, Lease, Leased, Options, Result, Shape, open};
///
/// #[derive(Default)]
/// struct Window(Mutex<Option<Grant>>); // in earnest: a generator
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
#[derive(Debug)]
pub struct Lease {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

/// The state that the thread and its owner share.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_closing: bool,
    is_over: bool,
    number: Option<u64>,
    end: Option<u64>,
    refused: Option<Error>,
    renewals: u64,
    failures: u64,
}

impl Lease {
    /// Starts the thread. `open` opens the store, again after each failure.
    ///
    /// # Errors
    /// `lease_unavailable` if the system cannot start a thread.
    pub fn start<S, L>(
        open: impl FnMut() -> Result<S> + Send + 'static,
        options: Options,
        place: Arc<L>,
    ) -> Result<Self>
    where
        S: Store + 'static,
        L: Leased + Send + Sync + 'static,
    {
        let shared = Arc::<Shared>::default();
        let (for_thread, began) = (shared.clone(), Instant::now());
        // The store is opened in the thread, and never leaves it.
        let run = move || {
            let driver = Driver { open, store: None, place, shared: for_thread, began };
            driver.run(Keeper::new(options, Box::new(random)));
        };
        let process = std::process::id();
        let thread = Builder::new().name("polyflake-lease".into()).spawn(run).map_err(|error| {
            let reason = format!("expected a thread, found: {error}");
            Error::new(ErrorKind::LeaseUnavailable, reason)
        })?;
        Ok(Self { shared, thread: Some(thread), process })
    }

    /// Waits until there is a grant.
    ///
    /// # Errors
    /// The last refusal, else `lease_unavailable`, if there is no grant after `longest`.
    pub fn ready(&self, longest: Duration) -> Result<()> {
        let waits = |state: &mut State| state.number.is_none() && !state.is_over;
        let state = self.shared.lock();
        let waited = self.shared.changed.wait_timeout_while(state, longest, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.number.is_some() {
            return Ok(());
        }
        let none = || Error::new(ErrorKind::LeaseUnavailable, "expected a grant, found none yet");
        Err(state.refused.clone().unwrap_or_else(none))
    }

    /// The number that the generator has, if there is one.
    pub fn number(&self) -> Option<u64> {
        self.shared.lock().number
    }

    /// The end of the generator's window, in Unix milliseconds.
    pub fn end(&self) -> Option<u64> {
        self.shared.lock().end
    }

    /// The last refusal since the last grant or renewal.
    pub fn refused(&self) -> Option<Error> {
        self.shared.lock().refused.clone()
    }

    /// Number of acknowledged renewals, and number of requests that were refused or failed.
    pub fn counts(&self) -> (u64, u64) {
        let state = self.shared.lock();
        (state.renewals, state.failures)
    }

    /// Seals the generator, returns the number and waits until that is done.
    pub fn close(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.process != std::process::id() {
            // The thread belongs to the parent.
            core::mem::forget(thread);
            return;
        }
        self.shared.lock().is_closing = true;
        self.shared.changed.notify_all();
        // A thread that panicked returned nothing: its number is free when its lease ends.
        let _ = thread.join();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Draw = Box<dyn FnMut() -> Result<Random> + Send>;

/// The state that the thread owns.
struct Driver<O, S, L> {
    open: O,
    store: Option<S>,
    place: Arc<L>,
    shared: Arc<Shared>,
    began: Instant,
}

impl<S: Store, L: Leased, O: FnMut() -> Result<S>> Driver<O, S, L> {
    fn run(mut self, mut keeper: Keeper<Draw>) {
        loop {
            if self.shared.lock().is_closing {
                keeper.close();
            }
            let now = self.moment();
            match keeper.poll(now) {
                Action::Ask(request) => {
                    let reply = self.store().and_then(|store| store.answer(&request));
                    if reply.is_err() {
                        self.store = None;
                    }
                    let now = self.moment();
                    keeper.answered(request.number, reply, now);
                }
                Action::Begin(grant) => {
                    if let Err(error) = self.place.begin(grant) {
                        keeper.not_begun(error, now);
                    }
                    self.note(&keeper, |_| {});
                }
                Action::Extend(end) => {
                    self.place.extend(end);
                    self.note(&keeper, |state| state.renewals += 1);
                }
                Action::Seal => keeper.sealed(self.place.seal(), now),
                Action::Refused(error) => {
                    let mut state = self.shared.lock();
                    state.failures += 1;
                    state.refused = Some(error);
                }
                Action::Wait(until) => self.wait(until.saturating_sub(now.elapsed_ms)),
                Action::End => break,
            }
        }
        let mut state = self.shared.lock();
        (state.is_over, state.number, state.end) = (true, None, None);
        self.shared.changed.notify_all();
    }

    fn store(&mut self) -> Result<&mut S> {
        if self.store.is_none() {
            self.store = Some((self.open)()?);
        }
        Ok(self.store.as_mut().expect("just opened"))
    }

    fn note(&self, keeper: &Keeper<Draw>, change: impl FnOnce(&mut State)) {
        let mut state = self.shared.lock();
        (state.number, state.end, state.refused) = (keeper.number(), keeper.end(), None);
        change(&mut state);
        self.shared.changed.notify_all();
    }

    /// Sleeps, unless the lease is closed. It wakes now and then to look at the clocks, since sleeps may not count suspension.
    fn wait(&self, ms: u64) {
        let pause = Duration::from_millis(ms.min(10_000));
        let state = self.shared.lock();
        if !state.is_closing {
            // The loop looks again, whether it was woken or not.
            let _ = self.shared.changed.wait_timeout_while(state, pause, |state| !state.is_closing);
        }
    }

    fn moment(&self) -> Moment {
        Moment { wall_ms: clock::unix_ms(), elapsed_ms: clock::elapsed_ms(self.began) }
    }
}

/// 128 bits from the operating system.
pub(crate) fn random() -> Result<Random> {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(Random(u128::from_le_bytes(bytes))),
        Err(error) => {
            let reason = format!("expected random bytes of the system, found: {error}");
            Err(Error::new(ErrorKind::LeaseUnavailable, reason))
        }
    }
}
