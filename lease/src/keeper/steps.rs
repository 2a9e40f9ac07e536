//! The steps of a keeper: the consequences of each answer.

use alloc::format;

use super::{Action, At, Grant, Held, Keeper, Moment, Step};
use crate::{
    Ask, Error, ErrorKind, Found, Namespace, Random, Record, Reply, Result,
    error::{damaged, silent},
    json::MOST,
};

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Goes on in states in which only time decides.
    pub(super) fn advance(&mut self, now: Moment) {
        match core::mem::replace(&mut self.at, At::Ended) {
            At::Idle { held, .. } if self.is_closing => self.seal(held),
            At::Idle { held: Some(held), .. } if !held.is_lost => {
                if self.is_due(&held, now) {
                    return self.renew(held, now);
                }
                self.at = At::Idle { until: held.renew_at, held: Some(held) };
            }
            At::Idle { until, held } if now.elapsed_ms >= until => self.open(held, now),
            At::Asking { step, held } if self.is_closing && step.only_reads() => self.seal(held),
            At::Asking { step, held } if now.elapsed_ms >= self.patience => {
                self.request += 1;
                self.failed(step, held, silent(), now);
            }
            At::Paused { held, .. } if self.is_closing => self.seal(held),
            At::Paused { until, step, held } if now.elapsed_ms >= until => {
                let first = match (&step, &held) {
                    (Step::SettleClaim(put), _) => put.first,
                    (_, Some(held)) => held.record.first,
                    _ => return self.open(held, now),
                };
                self.ask(step, Ask::Read { first }, held, now);
            }
            other => self.at = other,
        }
    }

    /// The action while there is nothing to do.
    pub(super) fn rest(&self, now: Moment) -> Action {
        let soon = now.elapsed_ms + 1;
        match &self.at {
            At::Idle { held: Some(held), .. } if !held.is_lost => {
                // The time may come earlier by the generator's clock than by the monotonic one.
                let lead = held.end.saturating_sub(now.wall_ms + self.options.lease_ms / 4 * 3);
                let early = held.soonest.max(now.elapsed_ms.saturating_add(lead));
                Action::Wait(held.renew_at.min(early).max(soon))
            }
            At::Idle { until, .. } | At::Paused { until, .. } => Action::Wait((*until).max(soon)),
            At::Asking { .. } => Action::Wait(self.patience.max(soon)),
            At::Sealing(_) => Action::Wait(u64::MAX),
            At::Ended => Action::End,
        }
    }

    /// Closes the keeper: the generator is sealed before its number is returned.
    fn seal(&mut self, held: Option<Held>) {
        if let Some(held) = held {
            self.actions.push_back(Action::Seal);
            self.at = At::Sealing(held);
        }
    }

    /// Gives up for now, and begins again after a pause.
    pub(super) fn later(&mut self, held: Option<Held>, error: Error, now: Moment) {
        let pause = self.pause();
        // If the end of a cause is known, the keeper does not try more often than needed.
        let known = error.until().map_or(0, |until| until.saturating_sub(self.store_time(now)));
        let longest = self.options.lease_ms / 10;
        self.refuse(error);
        self.at = At::Idle { until: now.elapsed_ms + pause.max(known.min(longest)), held };
    }

    pub(super) fn again(&mut self, held: Option<Held>, now: Moment) {
        self.at = At::Idle { until: now.elapsed_ms, held };
    }

    /// Handles a request that failed or got no answer: a write may have been done or not.
    pub(super) fn failed(&mut self, step: Step, held: Option<Held>, error: Error, now: Moment) {
        match (step, held) {
            (Step::Claim(put), held) => {
                self.refuse(error);
                let first = put.first;
                self.ask(Step::SettleClaim(put), Ask::Read { first }, held, now);
            }
            (Step::SettleClaim(put), held) => {
                self.refuse(error);
                let until = now.elapsed_ms + self.pause();
                self.at = At::Paused { until, step: Step::SettleClaim(put), held };
            }
            (Step::Renew(_) | Step::SettleRenewal, Some(held)) => {
                self.refuse(error);
                let until = now.elapsed_ms + self.pause_of(&held, now);
                self.at = At::Paused { until, step: Step::SettleRenewal, held: Some(held) };
            }
            (Step::Release { .. }, _) => {
                self.refuse(error);
                self.released(now);
            }
            (_, held) => self.later(held, error, now),
        }
    }

    /// Takes an answer.
    pub(super) fn take(&mut self, step: Step, held: Option<Held>, reply: Reply, now: Moment) {
        let namespace = match self.namespace(&reply) {
            Ok(namespace) => namespace,
            Err(error) => return self.failed(step, held, error, now),
        };
        match (step, reply.found) {
            (Step::Open, Found::Nothing) => {
                self.opened(namespace, (reply.now, &reply.store), held, now);
            }
            (Step::Survey, Found::Survey { records, latest_end }) => {
                self.surveyed(namespace, &reply.store, (records, latest_end), held, now);
            }
            (Step::Prepare, Found::Done | Found::Differs(_)) => self.again(held, now),
            (Step::Find, Found::Records(records)) => self.choose(&namespace, &records, held, now),
            (Step::Look, Found::Records(records)) => self.look(&namespace, records, held, now),
            (Step::Claim(put), Found::Done) => self.begin(put, now),
            (Step::Claim(put), Found::Differs(Some(found))) if found.is_grant(&put) => {
                self.begin(found, now);
            }
            // Another claimant was faster.
            (Step::Claim(_), Found::Differs(_)) => {
                let until = now.elapsed_ms + self.pause();
                self.at = At::Idle { until, held };
            }
            (Step::SettleClaim(put), Found::Records(records)) => {
                match records.into_iter().find(|found| found.is_grant(&put)) {
                    Some(found) => self.begin(found, now),
                    None => self.again(held, now),
                }
            }
            (step @ (Step::Renew(_) | Step::SettleRenewal), found) => {
                let is_same = namespace.store == reply.store;
                let incarnation = is_same.then_some(namespace.incarnation);
                self.renewed(step, found, (held, incarnation), now);
            }
            (Step::Release { put, is_last: false }, Found::Differs(Some(found)))
                if found.is_grant(&put) && found.granted_until > put.granted_until =>
            {
                let put = Record { version: found.version + 1, ..put };
                self.release(&found, put, true, now);
            }
            (Step::Release { .. }, _) => self.released(now),
            (step, _) => self.failed(
                step,
                held,
                damaged("expected a reply that fits the request, found one of another kind"),
                now,
            ),
        }
    }

    /// The namespace's record, if it is as the options describe.
    fn namespace(&self, reply: &Reply) -> Result<Namespace> {
        let namespace = reply.namespace.clone();
        let namespace = namespace.ok_or_else(|| damaged("expected the namespace's record"))?;
        namespace.check(&namespace.digest())?;
        if namespace.version == MOST {
            return Err(damaged("expected a version below the largest, found the largest"));
        }
        let shape = self.options.shape.to_json();
        if namespace.shape != shape {
            let reason = format!("expected a namespace of {}, found {shape}", namespace.shape);
            return Err(Error::new(ErrorKind::NamespaceMismatch, reason));
        }
        if namespace.records > self.options.shape.capacity() {
            return Err(damaged("expected no more records than numbers"));
        }
        Ok(namespace)
    }

    pub(super) fn begin(&mut self, record: Record, now: Moment) {
        let end = record.granted_until;
        self.preferred =
            if self.options.insists { self.options.preferred } else { Some(record.first) };
        self.actions.push_back(Action::Begin(Grant::of(&record, end)));
        let held = self.held_now(record, end, now);
        self.at = At::Idle { until: held.renew_at, held: Some(held) };
    }

    fn renew(&mut self, held: Held, now: Moment) {
        self.failures = 0;
        if let Some(error) = self.yet_to_begin(&held, now) {
            return self.lost(held, error, now);
        }
        // By the clock that is behind: one that is far ahead would take the number from everybody for as long.
        let time = self.store_time(now).min(now.wall_ms);
        let granted_until = self.grid.down(time + self.options.lease_ms);
        let old = held.record.clone();
        if granted_until <= old.granted_until {
            // The reply brings the store's time, which may have been wrong in the last one.
            return self.ask(Step::SettleRenewal, Ask::Read { first: old.first }, Some(held), now);
        }
        let new = Record { granted_until, version: old.version + 1, ..old.clone() };
        self.ask(Step::Renew(new.clone()), Ask::Put { old, new }, Some(held), now);
    }

    /// Handles the answer to a renewal, or to the read that settles one.
    fn renewed(
        &mut self,
        step: Step,
        found: Found,
        (held, incarnation): (Option<Held>, Option<Random>),
        now: Moment,
    ) {
        let Some(held) = held else { return self.again(None, now) };
        let is_current = incarnation == Some(held.record.incarnation);
        let (there, is_answer) = match (step, found) {
            (Step::Renew(put), Found::Done) => (Some(put), true),
            (Step::Renew(_), Found::Differs(found)) => (found, false),
            (_, Found::Records(records)) => (records.into_iter().next(), true),
            (step, _) => {
                return self.failed(
                    step,
                    Some(held),
                    damaged("expected a reply that fits the request, found one of another kind"),
                    now,
                );
            }
        };
        let error = match there {
            Some(there) if there.is_grant(&held.record) && (is_answer || is_current) => {
                let end = held.end.max(there.granted_until);
                self.failures = 0;
                if end > held.end {
                    self.actions.push_back(Action::Extend(end));
                }
                if let Some(error) = self.skewed(self.store_now.0, now) {
                    self.refuse(error);
                }
                let held = self.held_now(there, end, now);
                self.at = At::Idle { until: held.renew_at, held: Some(held) };
                return;
            }
            _ if !is_current => {
                let reason = "expected the store that granted before, found a restored one";
                Error::new(ErrorKind::StoreChanged, reason)
            }
            Some(Record { first, .. }) => {
                let reason =
                    format!("expected this holder's grant of number {first}, found another");
                Error::new(ErrorKind::LeaseLost, reason)
            }
            None => damaged("expected a record of the number, found none"),
        };
        self.lost(held, error, now);
    }

    /// Stops renewing a grant: its window runs out, and the keeper looks for another number.
    fn lost(&mut self, held: Held, error: Error, now: Moment) {
        self.is_surveyed = false;
        self.refuse(error);
        self.again(Some(Held { is_lost: true, ..held }), now);
    }

    /// Returns a number whose grant was used up to `end`, a border of the grid.
    pub(super) fn release_to(&mut self, held: &Held, end: u64, now: Moment) {
        let old = &held.record;
        let put = Record { granted_until: end, version: old.version + 1, ..old.clone() };
        self.release(old, put, false, now);
    }

    /// Ends, or begins again if the keeper had to return a number without being closed.
    fn released(&mut self, now: Moment) {
        self.at = if self.is_closing {
            At::Ended
        } else {
            At::Idle { until: now.elapsed_ms + self.pause(), held: None }
        };
    }

    fn release(&mut self, old: &Record, put: Record, is_last: bool, now: Moment) {
        let (old, new) = (old.clone(), put.clone());
        self.ask(Step::Release { put, is_last }, Ask::Put { old, new }, None, now);
    }
}

impl Step {
    /// Returns whether nothing is lost if the answer to the step is never read.
    fn only_reads(&self) -> bool {
        matches!(self, Self::Open | Self::Survey | Self::Prepare | Self::Find | Self::Look)
    }
}
