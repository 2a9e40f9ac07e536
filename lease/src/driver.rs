//! The thread that keeps a lease: it drives a keeper over a store with blocking calls.

use std::{
    boxed::Box,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use alloc::format;

use crate::{
    Action, Error, ErrorKind, Grant, Keeper, Leased, Moment, Random, Result, Store, clock,
    watch::Events,
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

    /// Asks the thread to return the number and to end.
    pub(crate) fn close(&self) {
        self.lock().is_closing = true;
        self.changed.notify_all();
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

pub(crate) type Draw = Box<dyn FnMut() -> Result<Random> + Send>;

/// The state that the thread owns.
pub(crate) struct Driver<'o, O, S, L> {
    pub(crate) open: &'o O,
    pub(crate) store: Option<S>,
    pub(crate) place: Arc<L>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) began: Instant,
    pub(crate) events: Events,
}

/// A pause of this length in milliseconds closes the store: a fork meanwhile copies no connection in use, and a server keeps none
/// for holders that ask once in a quarter of an hour.
const IDLE_MS: u64 = 100;

impl<S: Store, L: Leased, O: Fn() -> Result<S>> Driver<'_, O, S, L> {
    pub(crate) fn run(mut self, mut keeper: Keeper<Draw>) {
        let _over = Over(self.shared.clone());
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
                    keeper.answered(request.number, reply, self.moment());
                }
                Action::Begin(grant) => {
                    self.store = None;
                    self.begin(&mut keeper, grant, now);
                }
                Action::Extend(end) => {
                    self.place.extend(end);
                    self.note(&keeper, |state| state.renewals += 1);
                    self.events.renewed(end);
                }
                Action::Seal => {
                    let used_until = self.place.seal();
                    keeper.sealed(used_until, now);
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
                    self.wait(until.saturating_sub(now.elapsed_ms).min(ends_in));
                }
                Action::End => break,
            }
        }
    }

    fn begin(&mut self, keeper: &mut Keeper<Draw>, grant: Grant, now: Moment) {
        let (number, span) = (*grant.numbers().start(), (grant.start(), grant.end()));
        // The end of a grant that was not renewed comes before the next one.
        self.events.look(now.wall_ms);
        match self.place.begin(grant) {
            Ok(()) => {
                self.note(keeper, |state| state.grants += 1);
                self.events.begun(number, span);
            }
            Err(error) => {
                keeper.not_begun(error, now);
                self.note(keeper, |_| {});
            }
        }
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
    fn wait(&mut self, ms: u64) {
        if ms >= IDLE_MS {
            self.store = None;
        }
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

/// Notes the end of a thread, also if it panics.
struct Over(Arc<Shared>);

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
