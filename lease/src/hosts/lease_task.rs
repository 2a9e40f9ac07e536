//! Maintains a lease in a task. The task runs either on this crate's own threads, with a blocking store, or on an executor.
//!
//! The task is the keeper's host: it reads the clocks, sends requests, carries out actions, and pauses. Three events can
//! interrupt this work, and the loop in `LeaseTask::keep_lease` checks for each of them:
//!
//! - **A fork.** The child's copy of the task neither sends a request nor drops the store, because closing an inherited
//!   connection would notify the server that the parent's connection is ending.
//! - **A restore** of a copied process image. An image may be taken during any request, any pause and any call of the
//!   program's functions, each of which can take any amount of time. Therefore, the task compares the restore count after
//!   each of them. A reply that arrives after a restore is dropped, because another copy receives it as well.
//! - **A store that does not reply.** A frozen server still acknowledges the data that is sent to it, so no TCP timeout
//!   ends the wait. Therefore, the task has its own time limit.

use std::{
    boxed::Box,
    string::String,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use core::{
    future::{Future, pending, poll_fn},
    mem,
    pin::{Pin, pin},
};

use polyflake::fork;

use crate::{
    Error, Options, Result,
    protocol::{Action, AsyncStore, Grantee, Moment, Random, Reply, Request},
    rules::error::no_reply_error,
    rules::watched_keeper::{LeaseStatus, WatchedKeeper, closes_store},
    stores::system::{self, random},
};

/// The state that a task and its owner share.
#[derive(Debug, Default)]
pub(crate) struct SharedState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each stands for itself")]
pub(crate) struct State {
    is_closing: bool,
    is_over: bool,
    /// Whether callers have stopped waiting for the task to end.
    is_left: bool,
    /// The waker of the task, which is set while the task waits for the lease to be closed.
    waker: Option<Waker>,
    /// The store's name as a phrase, for use in messages.
    store_phrase: String,
    /// Whether a call has timed out while waiting for a grant. If so, later calls fail immediately until there is a grant.
    has_waited: bool,
    pub(crate) status: LeaseStatus,
}

impl SharedState {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in another thread must not end the lease, so lock poisoning is ignored.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the task to release the worker ID and end.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closing = true;
        let waker = state.waker.take();
        // The lock is released first, because the waker may poll the task immediately, and the task acquires the lock.
        drop(state);
        self.changed.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Returns `Ready` if the lease is closed. Otherwise, registers the task to be woken when the lease is closed.
    pub(crate) fn poll_closed(&self, context: &Context<'_>) -> Poll<()> {
        // Cloning and dropping a waker runs the executor's code, so the lock is not held at that time.
        let mut waker = Some(context.waker().clone());
        let is_closing = {
            let mut state = self.lock();
            mem::swap(&mut state.waker, &mut waker);
            state.is_closing
        };
        if is_closing { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Records that the task could not be started.
    pub(crate) fn fail(&self, error: Error) {
        let mut state = self.lock();
        (state.is_over, state.status.rejected) = (true, Some(error));
        self.changed.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits for the task to end, unless an earlier wait timed out. Returns `false` if the task did not end in time.
    pub(crate) fn wait_until_over(&self, longest: Duration) -> bool {
        let waits = |state: &mut State| !state.is_over && !state.is_left;
        let waited = self.changed.wait_timeout_while(self.lock(), longest, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Closes the lease, and makes callers stop waiting for the task to end.
    pub(crate) fn stop_keeping(&self) {
        self.lock().is_left = true;
        self.close();
    }

    /// Returns whether the task ended although the lease was not closed, or was never started.
    pub(crate) fn has_failed(&self) -> bool {
        let state = self.lock();
        state.is_over && !state.is_closing
    }

    /// Waits until there is a grant.
    pub(crate) fn ready(&self, longest: Duration) -> Result<()> {
        let began = Instant::now();
        let waits =
            |state: &mut State| state.outcome(longest.saturating_sub(began.elapsed())).is_none();
        let waited = self.changed.wait_timeout_while(self.lock(), longest, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.outcome(Duration::ZERO).unwrap_or_else(|| Err(state.reason()))
    }

    /// Works like [`SharedState::ready`], but once a call in this process has timed out, later calls fail immediately until
    /// there is a grant.
    pub(crate) fn ready_once(&self, longest: Duration) -> Result<()> {
        let has_waited = self.lock().has_waited;
        let ready = self.ready(if has_waited { Duration::ZERO } else { longest });
        self.lock().has_waited = ready.is_err();
        ready
    }

    /// Returns the result of waiting for a grant for up to `left`, or `None` if the wait is not over.
    pub(crate) fn outcome(&self, left: Duration) -> Option<Result<()>> {
        self.lock().outcome(left)
    }

    /// Returns the reason why no ID is available now.
    pub(crate) fn reason(&self) -> Error {
        let state = self.lock();
        state.reason()
    }
}

impl State {
    fn outcome(&self, left: Duration) -> Option<Result<()>> {
        if self.status.grant.is_some() {
            return Some(Ok(()));
        }
        let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let deadline = system::unix_ms().saturating_add(left);
        let is_final = self.status.rejected.as_ref().is_some_and(|it| it.outlasts(deadline));
        (self.is_over || is_final).then(|| Err(self.reason()))
    }

    fn reason(&self) -> Error {
        self.status.reason(&self.store_phrase, self.is_closing, system::unix_ms())
    }
}

/// The maximum time between two checks of the restore count.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The future that maintains a lease. An executor polls this future.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The state of a task, except for its store and its `sleep` function.
pub(crate) struct LeaseTask {
    lease: WatchedKeeper<fn() -> Result<Random>>,
    grantee: Arc<dyn Grantee + Send + Sync>,
    shared: Arc<SharedState>,
    began: Instant,
    process: u32,
    /// The restore count at the beginning of the lease.
    restores: u32,
}

impl LeaseTask {
    pub(crate) fn new(
        options: Options,
        grantee: Arc<dyn Grantee + Send + Sync>,
        shared: Arc<SharedState>,
    ) -> Self {
        shared.lock().store_phrase = options.store_phrase();
        let (process, restores) = (fork::process(), fork::restores());
        let lease = WatchedKeeper::new(options, random as _);
        Self { lease, grantee, shared, began: Instant::now(), process, restores }
    }

    /// Returns the task that maintains the lease. The task calls `open` to open the store initially, and again after each
    /// pause and each failure. `sleep` waits for the given duration.
    pub(crate) fn task<S, F, P>(
        self,
        open: impl Fn() -> F + Send + Sync + 'static,
        sleep: impl Fn(Duration) -> P + Send + Sync + 'static,
    ) -> Task
    where
        S: AsyncStore + Send + 'static,
        F: Future<Output = Result<S>> + Send + 'static,
        P: Future<Output = ()> + Send + 'static,
    {
        // The guard is created here and not inside the task, because an executor may drop a task that never ran.
        let over = EndGuard(self.shared.clone());
        Box::pin(async move {
            let _over = over;
            self.keep_lease(open, sleep).await;
        })
    }

    /// Maintains the lease until it is closed.
    async fn keep_lease<S, F, P>(mut self, open: impl Fn() -> F, sleep: impl Fn(Duration) -> P)
    where
        S: AsyncStore,
        F: Future<Output = Result<S>>,
        P: Future<Output = ()>,
    {
        // `new` has already read the restore count, so `is_restored` also detects a restore that happens during this call
        // to `prepare`.
        self.grantee.prepare();
        let mut store = None;
        loop {
            if self.process != fork::process() {
                // A forked child must not touch its parent's lease or store connection.
                mem::forget(store.take());
                pending::<()>().await;
            }
            if self.is_restored() {
                store = None;
                self.restart();
            }
            if self.shared.lock().is_closing {
                self.lease.close();
            }
            let now = self.current_moment();
            let action = self.lease.poll(now);
            self.publish();
            if self.is_restored() {
                // `publish` has just called the program's callbacks, which may have run for any length of time. The process
                // may have been restored in the meantime.
                continue;
            }
            if closes_store(&action, now) {
                store = None;
            }
            match action {
                Action::Send(request) => {
                    let reply = self.exchange(&mut store, &open, &sleep, &request).await;
                    if self.is_restored() {
                        // Another copy of the process receives the same reply, so this copy discards it.
                        continue;
                    }
                    self.lease.answered(request.number, reply, self.current_moment());
                }
                Action::Begin(grant) => match self.grantee.begin(grant) {
                    Ok(()) => self.lease.on_begun(),
                    Err(error) => self.lease.not_begun(error, now),
                },
                Action::Extend(end) => {
                    self.grantee.extend(end);
                    self.lease.on_extended(end);
                }
                Action::Seal => self.lease.sealed(self.grantee.seal(), now),
                Action::Rejected(_) => {}
                Action::Wait(until) => {
                    let pause = Duration::from_millis(until.saturating_sub(now.elapsed_ms));
                    // The pause is limited so that a restore is noticed within `POLL_INTERVAL`.
                    let pause = pause.min(POLL_INTERVAL);
                    let closing = poll_fn(|context| self.shared.poll_closed(context));
                    first_of(closing, sleep(pause)).await;
                }
                Action::End => break,
            }
        }
    }

    /// Sends a request to the store, and waits for the reply for a limited time. If no reply arrives, closes the store.
    async fn exchange<S, F, P>(
        &self,
        store: &mut Option<S>,
        open: impl Fn() -> F,
        sleep: impl Fn(Duration) -> P,
        request: &Request,
    ) -> Result<Reply>
    where
        S: AsyncStore,
        F: Future<Output = Result<S>>,
        P: Future<Output = ()>,
    {
        let asked = send(store, &open, || self.is_restored(), request);
        let reply_timeout = Duration::from_millis(self.lease.options().reply_timeout());
        let in_time = sleep(reply_timeout);
        let silence = async {
            in_time.await;
            Err(no_reply_error())
        };
        // TCP timeouts are not sufficient: a frozen server still acknowledges the data that it receives, so no TCP timeout
        // ends the wait.
        let reply = first_of(asked, silence).await;
        if reply.is_err() {
            *store = None;
        }
        reply
    }

    /// Returns whether the process has been restored since the lease began. If so, another copy of the process may be
    /// maintaining the lease.
    fn is_restored(&self) -> bool {
        self.restores != fork::restores()
    }

    /// Abandons the lease after a restore, and begins a new one.
    fn restart(&mut self) {
        self.restores = fork::restores();
        self.lease.abandon(random as _);
        // If a grant began at the moment of the restore, this call ends its generator. The generators of earlier grants
        // have already ended on their own.
        let _ = self.grantee.seal();
    }

    /// Publishes the lease's status to its owner, and reports its events.
    fn publish(&mut self) {
        // The lock is held only for this statement, because the program's callbacks, which are called below, may also read
        // the status.
        self.shared.lock().status = self.lease.status().clone();
        self.shared.changed.notify_all();
        while let Some(event) = self.lease.next_event() {
            self.lease.options().report(&event);
        }
    }

    fn current_moment(&self) -> Moment {
        Moment { wall_ms: system::unix_ms(), elapsed_ms: system::elapsed_ms(self.began) }
    }
}

/// A guard that records the end of its task when it is dropped, even if the task panics.
struct EndGuard(Arc<SharedState>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        (state.is_over, state.status.grant) = (true, None);
        self.0.changed.notify_all();
    }
}

async fn send<S: AsyncStore, F: Future<Output = Result<S>>>(
    store: &mut Option<S>,
    open: &impl Fn() -> F,
    is_restored: impl Fn() -> bool,
    request: &Request,
) -> Result<Reply> {
    if store.is_none() {
        *store = Some(open().await?);
    }
    // Opening a store may take seconds. A release sent after a restore would free a worker ID that another copy of the
    // process is using.
    if is_restored() {
        return Err(no_reply_error());
    }
    store.as_mut().expect("just opened").answer(request).await
}

/// Waits until one of two futures is ready, and drops the other future.
async fn first_of<V>(one: impl Future<Output = V>, other: impl Future<Output = V>) -> V {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        ready @ Poll::Ready(_) => ready,
    })
    .await
}
