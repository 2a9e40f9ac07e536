//! A keeper that also records information for its host: events, metrics, and the reason why no IDs are available.

use alloc::{collections::VecDeque, format};
use core::{fmt, mem};

use crate::rules::error::format_unix_ms;
use crate::{
    Error, ErrorKind, Event, Metrics, Options, Result,
    protocol::{Action, Keeper, Moment, Random, Reply},
};

/// The minimum length of a pause, in milliseconds, during which the host closes the store. During shorter pauses, the store
/// remains open.
const IDLE_MS: u64 = 100;
/// The longest pause, in milliseconds. The limit is necessary because a sleep may not count the time during which the
/// machine is suspended, so the host must read the clocks and the restore count from time to time.
const MAX_PAUSE_MS: u64 = 10_000;

/// The state of a lease as shown to its owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeaseStatus {
    /// The worker ID of the generator's grant, and the grant's end in Unix milliseconds.
    pub(crate) grant: Option<(u64, u64)>,
    /// The most recent error since the last grant or renewal.
    pub(crate) rejected: Option<Error>,
    /// All metrics except the remaining time.
    pub(crate) counts: Metrics,
}

impl LeaseStatus {
    /// Returns the worker ID and the end of the generator's grant, unless the grant has ended.
    pub(crate) fn current_grant(&self, wall_ms: u64) -> Option<(u64, u64)> {
        self.grant.filter(|(_, end)| wall_ms < *end)
    }

    /// Returns the time until the end of the grant in milliseconds, or 0 if there is no current grant.
    pub(crate) fn remaining_ms(&self, wall_ms: u64) -> u64 {
        self.current_grant(wall_ms).map_or(0, |(_, end)| end - wall_ms)
    }

    /// Returns the reason why no ID is currently available. `phrase` names the store, like [`Options::store_phrase`].
    pub(crate) fn reason(&self, phrase: &str, is_closed: bool, wall_ms: u64) -> Error {
        let lead = match self.grant {
            _ if is_closed => {
                return unavailable_error("expected a lease, found a closed one".into());
            }
            None => format!("cannot lease a worker ID {phrase}"),
            Some((worker_id, end)) if end <= wall_ms => {
                let end = format_unix_ms(end);
                format!(
                    "the lease of worker ID {worker_id} {phrase} ended at {end} without a renewal"
                )
            }
            Some((worker_id, _)) => {
                format!("the lease of worker ID {worker_id} {phrase} does not cover this time")
            }
        };
        match (&self.rejected, self.grant) {
            (Some(reason), _) => reason.clone().with_prefix(&lead),
            (None, None) => unavailable_error(format!("{lead}: the store has not answered yet")),
            (None, Some(_)) => unavailable_error(lead),
        }
    }
}

/// A keeper, the actions that its host has performed, and the events that its host has not yet reported.
///
/// The host calls [`WatchedKeeper::on_begun`], [`WatchedKeeper::on_extended`] or [`WatchedKeeper::sealed`] once its
/// generator has performed the corresponding action.
pub(crate) struct WatchedKeeper<R> {
    keeper: Keeper<R>,
    status: LeaseStatus,
    /// The worker ID, start and end of the grant that the host is about to pass to its generator.
    passed_grant: Option<(u64, u64, u64)>,
    /// Whether the end of the generator's grant has been reported.
    has_ended: bool,
    events: VecDeque<Event>,
}

impl<R: FnMut() -> Result<Random>> WatchedKeeper<R> {
    pub(crate) fn new(options: Options, random: R) -> Self {
        Self {
            keeper: Keeper::new(options, random),
            status: LeaseStatus::default(),
            passed_grant: None,
            has_ended: false,
            events: VecDeque::new(),
        }
    }

    /// Abandons the lease without releasing it, and begins a new one. This process was restored from an image of its
    /// memory, so another copy may still be using the abandoned lease. The caller must not pass on any reply to a request
    /// of the abandoned lease.
    pub(crate) fn abandon(&mut self, random: R) {
        let counts = mem::take(&mut self.status.counts);
        *self = Self::new(self.options().clone(), random);
        self.status.counts = counts;
    }

    pub(crate) fn options(&self) -> &Options {
        self.keeper.options()
    }

    pub(crate) fn status(&self) -> &LeaseStatus {
        &self.status
    }

    /// Returns the next event to report.
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Works like [`Keeper::poll`], but also records errors, and shortens pauses so that events are reported in time.
    pub(crate) fn poll(&mut self, now: Moment) -> Action {
        let action = self.keeper.poll(now);
        self.report_gap();
        match &action {
            Action::Begin(grant) => {
                // If the previous grant ended without a renewal, its end is reported before the new grant.
                self.report_end(now);
                // Initially, a strict generator's window covers only part of the grant.
                let end = self.keeper.end().unwrap_or(grant.end());
                self.passed_grant = Some((*grant.worker_ids().start(), grant.start(), end));
            }
            Action::Rejected(error) => {
                self.status.counts.failures += 1;
                // An error that repeats the previous one is not reported again.
                let last = self.status.rejected.replace(error.clone());
                if last.as_ref() != Some(error) {
                    let phrase = self.options().store_phrase();
                    let lead = match self.status.grant {
                        Some((worker_id, _)) => {
                            format!("cannot renew worker ID {worker_id} {phrase}")
                        }
                        None => format!("cannot lease a worker ID {phrase}"),
                    };
                    self.events.push_back(Event::Rejected(error.clone().with_prefix(&lead)));
                }
            }
            Action::Wait(until) => {
                // The pause ends when the grant ends, so that the host reports the expiry in time.
                let longest =
                    self.report_end(now).map_or(MAX_PAUSE_MS, |left| left.min(MAX_PAUSE_MS));
                return Action::Wait((*until).min(now.elapsed_ms.saturating_add(longest)));
            }
            _ => {}
        }
        action
    }

    pub(crate) fn answered(&mut self, request: u64, reply: Result<Reply>, now: Moment) {
        self.keeper.answered(request, reply, now);
    }

    pub(crate) fn close(&mut self) {
        self.keeper.close();
    }

    /// Records that the generator now uses the grant.
    pub(crate) fn on_begun(&mut self) {
        let Some((worker_id, start, end)) = self.passed_grant.take() else { return };
        let last = self.status.grant.replace((worker_id, end));
        self.events.push_back(match last.filter(|_| !self.has_ended) {
            Some((previous_worker_id, _)) => {
                Event::Switched { previous_worker_id, worker_id, start, end }
            }
            None => Event::Acquired { worker_id, start, end },
        });
        self.has_ended = false;
        self.status.counts.grants += 1;
        self.status.rejected = None;
    }

    pub(crate) fn not_begun(&mut self, error: Error, now: Moment) {
        self.keeper.not_begun(error, now);
    }

    /// Records that the generator's window has been extended.
    pub(crate) fn on_extended(&mut self, to: u64) {
        let to = self.keeper.end().unwrap_or(to);
        let Some((worker_id, end)) = self.status.grant.as_mut().filter(|(_, end)| *end < to) else {
            // A strict generator's window was extended, but the end of the grant did not change.
            return;
        };
        *end = to;
        self.events.push_back(Event::Renewed { worker_id: *worker_id, end: to });
        self.has_ended = false;
        self.status.counts.renewals += 1;
        self.status.rejected = None;
    }

    pub(crate) fn sealed(&mut self, used_until: Option<u64>, now: Moment) {
        self.keeper.sealed(used_until, now);
        if let Some((worker_id, end)) = self.status.grant.take() {
            let used_until = used_until.map(|used| used.min(end));
            self.events.push_back(Event::Sealed { worker_id, used_until });
        }
    }

    /// Reports two events if they have occurred: a new gap between the clocks, and a generator that continues after a gap
    /// without the store's confirmation.
    fn report_gap(&mut self) {
        let (notes, grant) = (self.keeper.take_gap_events(), self.status.grant);
        let Some((worker_id, _)) = grant else { return };
        if let Some(milliseconds) = notes.moved_ms {
            self.status.counts.gaps += 1;
            self.events.push_back(Event::Gap { worker_id, milliseconds });
        }
        if notes.is_unconfirmed {
            self.events.push_back(Event::Unconfirmed { worker_id });
        }
    }

    /// Reports the grant's expiry once its end has been reached. If the end is still in the future and has not been
    /// reported, returns the time until then in milliseconds.
    fn report_end(&mut self, now: Moment) -> Option<u64> {
        let (worker_id, end) = self.status.grant.filter(|_| !self.has_ended)?;
        if now.wall_ms < end {
            return Some(end - now.wall_ms);
        }
        self.has_ended = true;
        self.events.push_back(Event::Expired { worker_id, end });
        None
    }
}

/// Returns whether a host closes its store before an action. If the process forks during a pause, or while a generator is
/// being created, the child then inherits no open connection. In addition, servers do not have to keep connections open for
/// holders that send only one request every quarter of an hour.
pub(crate) fn closes_store(action: &Action, now: Moment) -> bool {
    match action {
        Action::Begin(_) | Action::End => true,
        Action::Wait(until) => until.saturating_sub(now.elapsed_ms) >= IDLE_MS,
        _ => false,
    }
}

fn unavailable_error(reason: alloc::string::String) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, reason)
}

impl<R> fmt::Debug for WatchedKeeper<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.keeper.fmt(f)
    }
}
