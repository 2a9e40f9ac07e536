//! The work of keeping a lease, by a thread over a store with blocking calls, or by a task.

use std::{
    boxed::Box,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use alloc::format;
use core::mem;

use polyflake::fork;

use crate::{
    Action, Error, ErrorKind, Grant, Keeper, Leased, Moment, Options, Random, Reply, Request,
    Result, Store, clock, watch::Events,
};

/// The state that a thread and its owner share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    is_closing: bool,
    is_over: bool,
    /// Wakes the task that waits to be closed.
    waker: Option<Waker>,
    pub(crate) number: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) refused: Option<Error>,
    pub(crate) grants: u64,
    pub(crate) renewals: u64,
    pub(crate) failures: u64,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the thread or the task to return the number and to end.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closing = true;
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Waits for a while, or until the lease is closed.
    fn wait(&self, ms: u64) {
        let state = self.lock();
        if !state.is_closing {
            // The caller looks again, whether it was woken or not.
            let pause = Duration::from_millis(ms);
            let _ = self.changed.wait_timeout_while(state, pause, |state| !state.is_closing);
        }
    }

    /// Returns whether the lease is closed, and wakes the task when it is.
    pub(crate) fn closing(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.is_closing {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Notes that there is no thread.
    pub(crate) fn fail(&self, error: Error) {
        let mut state = self.lock();
        (state.is_over, state.refused) = (true, Some(error));
        self.changed.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits for the end of the thread, and returns whether it came.
    pub(crate) fn is_over_within(&self, longest: Duration) -> bool {
        let waits = |state: &mut State| !state.is_over;
        let waited = self.changed.wait_timeout_while(self.lock(), longest, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    /// Returns whether the thread ended or never began without being asked to.
    pub(crate) fn has_failed(&self) -> bool {
        let state = self.lock();
        state.is_over && !state.is_closing
    }

    /// Waits until there is a grant.
    pub(crate) fn ready(&self, longest: Duration) -> Result<()> {
        let waits = |state: &mut State| state.outcome().is_none();
        let waited = self.changed.wait_timeout_while(self.lock(), longest, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.outcome().unwrap_or_else(|| Err(state.refusal()))
    }

    /// The end of a wait for a grant, if it has ended.
    pub(crate) fn outcome(&self) -> Option<Result<()>> {
        self.lock().outcome()
    }

    /// The reason why there is no ID now.
    pub(crate) fn reason(&self) -> Error {
        let state = self.lock();
        let found = match state.end {
            _ if state.is_closing => "a closed one".into(),
            None => "none yet".into(),
            Some(end) if end <= clock::unix_ms() => {
                format!("none since {end} (Unix milliseconds)")
            }
            Some(_) => "one for another time".into(),
        };
        let refused = state.refused.as_ref();
        let cause =
            refused.map_or_else(Default::default, |error| format!("; last refusal: {error}"));
        let kind = refused.map_or(ErrorKind::LeaseUnavailable, Error::kind);
        let error = Error::new(kind, format!("expected a lease, found {found}{cause}"));
        refused.and_then(Error::until).map_or(error.clone(), |until| error.with_until(until))
    }
}

impl State {
    fn outcome(&self) -> Option<Result<()>> {
        if self.number.is_some() {
            return Some(Ok(()));
        }
        self.is_over.then(|| Err(self.refusal()))
    }

    fn refusal(&self) -> Error {
        let none = || Error::new(ErrorKind::LeaseUnavailable, "expected a grant, found none yet");
        self.refused.clone().unwrap_or_else(none)
    }
}

type Draw = Box<dyn FnMut() -> Result<Random> + Send>;

/// A keeper and its generator: all of a thread's or a task's work, but for the store and the pauses.
pub(crate) struct Driver<L: ?Sized> {
    keeper: Keeper<Draw>,
    place: Arc<L>,
    pub(crate) shared: Arc<Shared>,
    began: Instant,
    events: Events,
    process: u32,
}

/// The next task of the one that keeps a lease.
#[allow(clippy::large_enum_variant, reason = "few are made, and each is taken apart at once")]
pub(crate) enum Step {
    /// Ask the store, and hand over the reply.
    Ask(Request),
    /// Close the store, so that a fork copies no connection in use, and begin with a grant.
    Begin(Grant),
    /// Wait for so many milliseconds, or until the lease is closed.
    Wait(u64),
    End,
    /// Do nothing any more, and leave the store as it is: this is a child of the process that began.
    Leave,
}

/// A pause of this length in milliseconds closes the store: a fork meanwhile copies no connection in use, and a server keeps none
/// for holders that ask once in a quarter of an hour.
pub(crate) const IDLE_MS: u64 = 100;

/// Keeps a lease over a store with blocking calls.
pub(crate) fn keep<S: Store, L: Leased>(mut driver: Driver<L>, open: &impl Fn() -> Result<S>) {
    let _over = Over(driver.shared.clone());
    let mut store = None;
    loop {
        match driver.step() {
            Step::Ask(request) => {
                let reply = opened(&mut store, open).and_then(|store| store.answer(&request));
                if reply.is_err() {
                    store = None;
                }
                driver.answered(request.number, reply);
            }
            Step::Begin(grant) => {
                store = None;
                driver.begin(grant);
            }
            Step::Wait(ms) => {
                if ms >= IDLE_MS {
                    store = None;
                }
                driver.shared.wait(ms);
            }
            Step::End => break,
            Step::Leave => return mem::forget(store),
        }
    }
}

fn opened<'s, S>(store: &'s mut Option<S>, open: &impl Fn() -> Result<S>) -> Result<&'s mut S> {
    if store.is_none() {
        *store = Some(open()?);
    }
    Ok(store.as_mut().expect("just opened"))
}

impl<L: Leased + ?Sized> Driver<L> {
    pub(crate) fn new(options: Options, place: Arc<L>, shared: Arc<Shared>) -> Self {
        let (began, events) = (Instant::now(), options.events());
        let keeper = Keeper::new(options, Box::new(random) as Draw);
        Self { keeper, place, shared, began, events, process: fork::process() }
    }

    /// Goes on to the next task that needs the store or takes time.
    pub(crate) fn step(&mut self) -> Step {
        if self.process != fork::process() {
            return Step::Leave;
        }
        loop {
            if self.shared.lock().is_closing {
                self.keeper.close();
            }
            let now = self.moment();
            match self.keeper.poll(now) {
                Action::Ask(request) => return Step::Ask(request),
                Action::Begin(grant) => return Step::Begin(grant),
                Action::Extend(end) => {
                    self.place.extend(end);
                    self.note(|state| state.renewals += 1);
                    self.events.renewed(end);
                }
                Action::Seal => {
                    let used_until = self.place.seal();
                    self.keeper.sealed(used_until, now);
                    self.events.sealed(used_until);
                }
                Action::Refused(error) => {
                    let mut state = self.shared.lock();
                    state.failures += 1;
                    state.refused = Some(error.clone());
                    drop(state);
                    self.events.refused(error);
                }
                Action::Wait(until) => {
                    let ends_in = self.events.look(now.wall_ms).unwrap_or(u64::MAX);
                    // Woken now and then to look at the clocks, since sleeps may not count suspension.
                    let pause = until.saturating_sub(now.elapsed_ms).min(ends_in);
                    return Step::Wait(pause.min(10_000));
                }
                Action::End => return Step::End,
            }
        }
    }

    pub(crate) fn answered(&mut self, number: u64, reply: Result<Reply>) {
        let now = self.moment();
        self.keeper.answered(number, reply, now);
    }

    pub(crate) fn begin(&mut self, grant: Grant) {
        let now = self.moment();
        let (number, span) = (*grant.numbers().start(), (grant.start(), grant.end()));
        // The end of a grant that was not renewed comes before the next one.
        self.events.look(now.wall_ms);
        match self.place.begin(grant) {
            Ok(()) => {
                self.note(|state| state.grants += 1);
                self.events.begun(number, span);
            }
            Err(error) => {
                self.keeper.not_begun(error, now);
                self.note(|_| {});
            }
        }
    }

    fn note(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.shared.lock();
        let (number, end) = (self.keeper.number(), self.keeper.end());
        (state.number, state.end, state.refused) = (number, end, None);
        change(&mut state);
        self.shared.changed.notify_all();
    }

    fn moment(&self) -> Moment {
        Moment { wall_ms: clock::unix_ms(), elapsed_ms: clock::elapsed_ms(self.began) }
    }
}

/// Notes the end of a thread or a task, also if it panics.
pub(crate) struct Over(pub(crate) Arc<Shared>);

impl Drop for Over {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        (state.is_over, state.number, state.end) = (true, None, None);
        self.0.changed.notify_all();
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
