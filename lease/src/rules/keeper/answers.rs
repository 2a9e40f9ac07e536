//! The keeper's reactions to replies and to the passage of time.

use alloc::{boxed::Box, format};

use super::{
    Action, Grant, HeldGrant, Keeper, KeeperState, Moment, Offset, PendingWrites, RequestPurpose,
};
use crate::{
    Error, ErrorKind, Result, Shape,
    protocol::{Namespace, Operation, Random, Record, Reply, ReplyContent},
    rules::error::{damaged_record, no_reply_error},
    rules::json::MAX_SAFE_INTEGER,
};

/// The maximum time, in milliseconds, for which the keeper retries a failed release. The lease's host waits equally long
/// for the lease to end.
const RELEASE_MS: u64 = 10_000;
/// A renewal increases the version by a random amount between 1 and this number. At four renewals per hour, 2^53 versions
/// last about a quarter of a million years.
pub(super) const VERSION_STEPS: u64 = 1 << 20;

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Performs a state transition that does not depend on a reply, for example after a pause has ended.
    pub(super) fn advance(&mut self, now: Moment) {
        self.detect_gap(now);
        self.schedule_beat(0, now);
        // The state becomes `Ended` unless a branch sets a different one. This is how a keeper without a grant closes,
        // because it has no generator to seal.
        match core::mem::replace(&mut self.at, KeeperState::Ended) {
            KeeperState::Idle { .. } if self.is_closing => self.seal(),
            KeeperState::Idle { .. } if self.is_due(now) => self.renew(now),
            KeeperState::Idle { until } if now.elapsed_ms >= until && !self.is_renewed() => {
                self.open(now);
            }
            KeeperState::Asking(purpose) if self.is_closing && purpose.is_read_only() => {
                self.seal();
            }
            KeeperState::Asking(purpose) if now.elapsed_ms >= self.answer_until => {
                // The request number changes, so that a late reply is not mistaken for the reply to the next request.
                self.request += 1;
                self.on_request_failed(purpose, no_reply_error(), now);
            }
            KeeperState::Paused { until, purpose: purpose @ RequestPurpose::Release { .. } }
                if now.elapsed_ms >= until =>
            {
                self.request_release(purpose, now);
            }
            // This branch must precede the next one: a release already ends the lease, so a call to `close` must not change
            // the state.
            release @ KeeperState::Paused { purpose: RequestPurpose::Release { .. }, .. } => {
                self.at = release;
            }
            KeeperState::Paused { .. } if self.is_closing => self.seal(),
            KeeperState::Paused { until, purpose } if now.elapsed_ms >= until => {
                let first = match (&purpose, &self.held) {
                    (RequestPurpose::SettleClaim(claim), _) => claim.put.first,
                    (_, Some(held)) => held.record.first,
                    _ => return self.open(now),
                };
                self.send(purpose, Operation::Read { first }, now);
            }
            other => self.at = other,
        }
    }

    /// Returns the action for a keeper whose queue of actions is empty.
    pub(super) fn next_action(&self, now: Moment) -> Action {
        let soon = now.elapsed_ms + 1;
        match (&self.at, &self.held) {
            (KeeperState::Idle { .. }, Some(held)) if !held.is_lost => {
                // The generator's wall clock may reach the renewal time before the monotonic clock does.
                let rest = self.options.lease_ms - self.options.interval();
                let lead = held.end.saturating_sub(now.wall_ms + rest);
                let early = held.soonest.max(now.elapsed_ms.saturating_add(lead));
                Action::Wait(held.renew_at.min(early).min(self.next_beat(now)).max(soon))
            }
            (KeeperState::Idle { until } | KeeperState::Paused { until, .. }, _) => {
                Action::Wait((*until).min(self.next_beat(now)).max(soon))
            }
            (KeeperState::Asking(_), _) => Action::Wait(self.answer_until.max(soon)),
            (KeeperState::Sealing, _) => Action::Wait(u64::MAX),
            (KeeperState::Ended, _) => Action::End,
        }
    }

    /// Closes the keeper. The generator is sealed before the keeper releases its worker ID.
    fn seal(&mut self) {
        if self.held.is_some() {
            self.actions.push_back(Action::Seal);
            self.at = KeeperState::Sealing;
        }
    }

    /// Records an error and schedules a retry.
    pub(super) fn retry_later(&mut self, error: Error, now: Moment) {
        // If the error states when its cause ends, the keeper does not retry before that time. However, it never waits
        // longer than the longest pause.
        let known = error.until().map_or(0, |until| until.saturating_sub(self.store_time(now)));
        let longest = self.longest_pause(now);
        self.fail(error);
        self.pause_for(known.min(longest), now);
    }

    /// Schedules a retry. If a grant is still being renewed, the pause depends on how much time remains until the grant
    /// ends. Otherwise, the pause is at least `least` milliseconds.
    pub(super) fn pause_for(&mut self, least: u64, now: Moment) {
        let until = match self.end().filter(|_| self.is_renewed()) {
            Some(end) => now.elapsed_ms + self.renewal_retry_pause(end, now),
            None => now.elapsed_ms + self.pause(now).max(least),
        };
        if let Some(held) = self.held.as_mut().filter(|held| !held.is_lost) {
            (held.renew_at, held.soonest) = (until, until);
        }
        self.at = KeeperState::Idle { until };
    }

    pub(super) fn start_over(&mut self, now: Moment) {
        self.at = KeeperState::Idle { until: now.elapsed_ms };
    }

    /// Handles a request that failed or received no reply. The keeper cannot tell whether the store executed the write.
    pub(super) fn on_request_failed(&mut self, purpose: RequestPurpose, error: Error, now: Moment) {
        match (purpose, self.end()) {
            // Perhaps only the reply was lost, so the keeper retries immediately after the first failure. It pauses before
            // later retries, so that it does not overload a struggling store.
            (RequestPurpose::Claim(claim), _) if claim.asked.is_first_write() => {
                self.fail(error);
                let first = claim.put.first;
                self.send(RequestPurpose::SettleClaim(claim), Operation::Read { first }, now);
            }
            (RequestPurpose::Claim(claim), _) => {
                self.fail(error);
                self.schedule_read_back(RequestPurpose::SettleClaim(claim), now);
            }
            (purpose @ RequestPurpose::SettleClaim(_), _) => {
                self.fail(error);
                self.schedule_read_back(purpose, now);
            }
            (RequestPurpose::Renew(_) | RequestPurpose::SettleRenewal, Some(end)) => {
                self.fail(error);
                let until = now.elapsed_ms + self.renewal_retry_pause(end, now);
                self.at = KeeperState::Paused { until, purpose: RequestPurpose::SettleRenewal };
            }
            (purpose @ RequestPurpose::Release { until, .. }, _) => {
                self.fail(error);
                let again = now.elapsed_ms + self.pause(now);
                if again >= until {
                    return self.on_released(now);
                }
                self.at = KeeperState::Paused { until: again, purpose };
            }
            _ => self.retry_later(error, now),
        }
    }

    /// After a short pause, reads the record to determine the result of a write.
    pub(super) fn schedule_read_back(&mut self, purpose: RequestPurpose, now: Moment) {
        let until = now.elapsed_ms + self.pause(now);
        self.at = KeeperState::Paused { until, purpose };
    }

    /// Processes the reply to a request with the given purpose.
    pub(super) fn process_reply(&mut self, purpose: RequestPurpose, reply: Reply, now: Moment) {
        let namespace = match self.namespace_from_reply(&reply) {
            Ok(namespace) => namespace,
            // The namespace was deleted. The window expires, and the keeper creates the namespace again.
            Err(error) if self.held.is_some() && reply.namespace.is_none() => {
                return self.on_lost(error, now);
            }
            Err(error) => return self.on_request_failed(purpose, error, now),
        };
        self.note_store(&namespace, &reply.store);
        match (purpose, reply.content) {
            (RequestPurpose::Open, ReplyContent::Nothing) => {
                self.on_opened(namespace, (reply.now, &reply.store), now);
            }
            (RequestPurpose::Survey, ReplyContent::Survey { records, latest_end }) => {
                self.on_surveyed(namespace, &reply.store, (records, latest_end), now);
            }
            (RequestPurpose::Prepare, ReplyContent::Done) => self.start_over(now),
            (RequestPurpose::Find, ReplyContent::Records(records)) => {
                self.choose(&namespace, &records, now);
            }
            (RequestPurpose::ReadPreferred, ReplyContent::Records(records)) => {
                // A holder that lost its grant reads the same record again.
                if self.worker_id() == self.preferred {
                    self.note_proof(&namespace, records.first());
                }
                if self.lacks_quiet_time(&namespace) {
                    return self.start_over(now);
                }
                self.choose_record(&namespace, records, now);
            }
            (RequestPurpose::Claim(claim), ReplyContent::Done) => self.begin_grant(claim.put, now),
            // The store may already have executed the claim, for example if the network delivered the message twice.
            (RequestPurpose::Claim(claim), ReplyContent::Differs(Some(found)))
                if claim.asked.contains(&found) =>
            {
                self.schedule_read_back(RequestPurpose::SettleClaim(claim), now);
            }
            // Another holder claimed the record first.
            (RequestPurpose::Prepare | RequestPurpose::Claim(_), ReplyContent::Differs(_)) => {
                self.pause_for(0, now);
            }
            (RequestPurpose::SettleClaim(claim), ReplyContent::Records(records)) => {
                self.rewrite_claim(
                    claim,
                    records.into_iter().next(),
                    (&namespace, &reply.store),
                    now,
                );
            }
            (purpose @ (RequestPurpose::Renew(_) | RequestPurpose::SettleRenewal), found) => {
                self.on_renewal_reply(purpose, found, (&namespace, &reply.store), now);
            }
            // The store executed an earlier renewal before this request. The keeper was no longer waiting for the reply to
            // that renewal.
            (RequestPurpose::Release { held, put, until }, ReplyContent::Differs(Some(found)))
                if found.is_grant(&put) && found != put && held.asked.contains(&found) =>
            {
                let put = Record { version: found.version + 1, ..put };
                let held = Box::new(held.with_record(found));
                self.request_release(RequestPurpose::Release { held, put, until }, now);
            }
            (RequestPurpose::Release { .. }, _) => self.on_released(now),
            (purpose, _) => self.on_request_failed(purpose, unsuitable_record_error(), now),
        }
    }

    /// Returns the namespace's record if it matches the options.
    fn namespace_from_reply(&self, reply: &Reply) -> Result<Namespace> {
        let namespace = reply.namespace.clone();
        let namespace =
            namespace.ok_or_else(|| damaged_record("expected the namespace's record"))?;
        namespace.check(&namespace.digest())?;
        if namespace.version == MAX_SAFE_INTEGER {
            return Err(damaged_record("expected a version below the largest, found the largest"));
        }
        if namespace.shape != self.options.shape.to_json() {
            let theirs = Shape::from_json(&namespace.shape)?;
            let (name, differs) =
                (&namespace.name, theirs.describe_difference(&self.options.shape));
            let reason = format!(
                "the namespace {name} was made for {differs}; a namespace keeps its shape, so take another name or the same range"
            );
            return Err(Error::new(ErrorKind::NamespaceMismatch, reason));
        }
        if namespace.records > self.options.shape.capacity() {
            return Err(damaged_record("expected no more records than worker IDs"));
        }
        Ok(namespace)
    }

    pub(super) fn begin_grant(&mut self, record: Record, now: Moment) {
        let end = record.granted_until;
        self.preferred = if self.options.requires_worker_id {
            self.options.preferred
        } else {
            Some(record.first)
        };
        self.has_held = true;
        self.shown = self.window_end((record.start, end), now);
        self.actions.push_back(Action::Begin(Grant::from_record(&record, self.shown)));
        let acknowledged = (record.clone(), now.elapsed_ms);
        self.schedule_renewal(HeldGrant::new(record, acknowledged, end, self.sent_at), now);
    }

    fn renew(&mut self, now: Moment) {
        let Some(held) = self.held.clone() else { return self.start_over(now) };
        if let Some(error) = self.not_started_error(&held, now) {
            return self.on_lost(error, now);
        }
        let old = held.record.clone();
        let granted_until = self.next_end(now).max(old.granted_until);
        if granted_until == old.granted_until && !held.may_be_shared() {
            // A renewal would not move the end, so the keeper reads the record instead. The reply contains the store's
            // current time, whereas the time in the previous reply may have been wrong.
            return self.send(
                RequestPurpose::SettleRenewal,
                Operation::Read { first: old.first },
                now,
            );
        }
        let new = Record { granted_until, ..old };
        self.request_renewal(held, new, now);
    }

    /// Returns the end to request in a renewal, calculated from the store's time or the wall clock, whichever is earlier.
    /// Otherwise, a clock that is far ahead would block the worker ID for an equally long time.
    fn next_end(&self, now: Moment) -> u64 {
        self.grid.floor(self.store_time(now).min(now.wall_ms) + self.options.lease_ms)
    }

    /// Returns the version for the next write. The increment is random, so that this process and a clone, which may request
    /// the same end of the lease concurrently, are unlikely to choose the same version.
    pub(super) fn next_version(&mut self, old: &Record) -> u64 {
        old.version + 1 + self.random_below(VERSION_STEPS)
    }

    fn request_renewal(&mut self, mut held: HeldGrant, new: Record, now: Moment) {
        let old = held.record.clone();
        let new = Record { version: self.next_version(&old), ..new };
        held.asked.add(&new);
        self.held = Some(held);
        self.send(RequestPurpose::Renew(new.clone()), Operation::Put { old, new }, now);
    }

    /// Processes the reply to a renewal, or to a read that determines whether a renewal was written.
    fn on_renewal_reply(
        &mut self,
        purpose: RequestPurpose,
        found: ReplyContent,
        (namespace, store): (&Namespace, &str),
        now: Moment,
    ) {
        let Some(held) = self.held.clone() else { return self.start_over(now) };
        let is_done = found == ReplyContent::Done;
        let has_differed = matches!(found, ReplyContent::Differs(_));
        let there = match (purpose, found) {
            (RequestPurpose::Renew(put), ReplyContent::Done) => Some(put),
            (RequestPurpose::Renew(_), ReplyContent::Differs(found)) => found,
            (_, ReplyContent::Records(records)) => records.into_iter().next(),
            (purpose, _) => return self.on_request_failed(purpose, unsuitable_record_error(), now),
        };
        let is_current = namespace.incarnation == held.record.incarnation;
        self.note_proof(namespace, there.as_ref());
        let Some(there) = there else {
            let error = damaged_record("expected a record of the worker ID, found none");
            return self.on_lost(if is_current { error } else { other_store_error() }, now);
        };
        let is_known = self.is_known(namespace, store);
        if there.is_claim(&held.record) {
            if held.is_cloned(&there) {
                let reason = "a copy of this process renewed the grant";
                return self.abandon_worker_id(Error::new(ErrorKind::LeaseLost, reason));
            }
            if is_known && there.incarnation == namespace.incarnation {
                if has_differed {
                    // An earlier write by this holder has arrived in the meantime.
                    return self.schedule_read_back(RequestPurpose::SettleRenewal, now);
                }
                return self.on_renewed(held, there, is_done, now);
            }
            if self.is_alive(&held, &there, namespace) {
                if !is_known {
                    return self.send(RequestPurpose::Survey, Operation::Survey, now);
                }
                return self.renew_restored(&held, there, namespace.incarnation, now);
            }
        }
        if !is_known || !is_current {
            return self.on_lost(other_store_error(), now);
        }
        let reason = format!(
            "another holder has worker ID {}, so this grant was ended from outside",
            there.first
        );
        let error = Error::new(ErrorKind::LeaseLost, reason);
        if held.may_be_shared() {
            // Another copy of this process may have released the worker ID, which may then have been granted to another
            // holder.
            return self.abandon_worker_id(error);
        }
        self.on_lost(error, now);
    }

    /// Continues with a grant whose record was acknowledged or read. The window grows only up to the acknowledged end. If a
    /// read returns a later end, the keeper writes that end again (R2).
    fn on_renewed(&mut self, held: HeldGrant, there: Record, is_done: bool, now: Moment) {
        let granted_until = self.next_end(now).max(there.granted_until);
        // After a gap, the record that was read may be the result of a write that was sent before the process was copied.
        // All copies share such a write.
        if !is_done && (granted_until > held.end || held.may_be_shared()) {
            let new = Record { granted_until, ..there.clone() };
            return self.request_renewal(held.with_record(there), new, now);
        }
        let end = if is_done { held.end.max(there.granted_until) } else { held.end };
        if end > held.end {
            self.failures = 0;
            if !self.options.is_strict {
                self.actions.push_back(Action::Extend(end));
            }
        }
        if let Some(error) = self.clock_skew_error(self.store_now.0, now) {
            self.fail(error);
        }
        let held = HeldGrant { record: there, end, ..held };
        if !is_done {
            return self.schedule_renewal(held, now);
        }
        let (asked, offset) = (PendingWrites::default(), self.sent_at);
        let acknowledged = (held.record.clone(), now.elapsed_ms);
        let held = HeldGrant { asked, offset, acknowledged, gap_at: None, ..held };
        self.schedule_renewal(held, now);
    }

    /// Seals the generator, because another copy of this process or a later holder uses the worker ID. The keeper claims a
    /// different worker ID and does not release this one.
    fn abandon_worker_id(&mut self, error: Error) {
        self.fail(error);
        self.held.iter_mut().for_each(|held| held.is_lost = true);
        self.seal();
    }

    /// Returns whether it is certain that the worker ID was not granted to another holder in the part of the history that a
    /// restored store has lost. Other holders' claims wait for the recorded end. Therefore, the recorded end determines the
    /// answer (R7). If the end in the restored store is later than the acknowledged end, only the acknowledged end counts.
    /// The later end may come from a backup of a primary whose replica never received it, and that replica may have been
    /// promoted.
    fn is_alive(&self, held: &HeldGrant, there: &Record, namespace: &Namespace) -> bool {
        let end = there.granted_until.min(held.end);
        self.store_now.0.saturating_add(namespace.clock_error_ms()) < end
    }

    /// Renews a grant in a restored store, and replaces the grant's previous incarnation with the store's new one.
    fn renew_restored(
        &mut self,
        held: &HeldGrant,
        there: Record,
        incarnation: Random,
        now: Moment,
    ) {
        let granted_until = self.next_end(now).max(there.granted_until);
        let new = Record { granted_until, incarnation, ..there.clone() };
        self.request_renewal(held.with_record(there), new, now);
    }

    /// Stops renewing a grant. The grant's window expires, and the keeper claims another worker ID.
    fn on_lost(&mut self, error: Error, now: Moment) {
        // The store may have been restored or replaced, so the keeper counts its records again before the next claim.
        // This is a second line of defence: a store of another name or incarnation is always counted, so the count only
        // reports damage to a store that the keeper still knows.
        self.is_surveyed = false;
        self.fail(error);
        self.held.iter_mut().for_each(|held| held.is_lost = true);
        self.start_over(now);
    }

    /// Releases a worker ID whose grant was used until `end`, which must be on the grid.
    pub(super) fn release_with_end(&mut self, held: HeldGrant, end: u64, now: Moment) {
        let old = &held.record;
        let put = Record { granted_until: end, version: old.version + 1, ..old.clone() };
        let until = now.elapsed_ms + RELEASE_MS;
        self.request_release(RequestPurpose::Release { held: Box::new(held), put, until }, now);
    }

    /// Sends or repeats a release. A release takes effect at most once, even if it is repeated.
    fn request_release(&mut self, purpose: RequestPurpose, now: Moment) {
        let RequestPurpose::Release { held, put, .. } = &purpose else { return };
        let (old, new) = (held.record.clone(), put.clone());
        self.send(purpose, Operation::Put { old, new }, now);
    }

    /// Ends the keeper, or restarts it if it had to release a worker ID without being closed.
    fn on_released(&mut self, now: Moment) {
        self.at = if self.is_closing {
            KeeperState::Ended
        } else {
            KeeperState::Idle { until: now.elapsed_ms + self.pause(now) }
        };
    }
}

impl HeldGrant {
    /// Creates the grant for an acknowledged claim that was sent at `offset`.
    fn new(record: Record, acknowledged: (Record, u64), end: u64, offset: Offset) -> Self {
        let (renew_at, soonest, shared_until) = (0, 0, 0);
        let (asked, is_lost, gap_at) = (PendingWrites::default(), false, None);
        let is_reported = false;
        Self {
            record,
            acknowledged,
            asked,
            end,
            renew_at,
            soonest,
            is_lost,
            offset,
            gap_at,
            is_reported,
            shared_until,
        }
    }

    /// Returns the same grant with the values of a record that the keeper has read.
    fn with_record(&self, record: Record) -> Self {
        Self { record, ..self.clone() }
    }

    /// Returns whether a record of this holder's claim contains a renewal that this process never requested, which means
    /// that a clone wrote it.
    fn is_cloned(&self, there: &Record) -> bool {
        there.version > self.record.version && !self.asked.contains(there)
    }
}

impl PendingWrites {
    /// Records a write that is about to be sent.
    pub(super) fn add(&mut self, put: &Record) {
        self.0.push((put.version, put.granted_until));
    }

    /// Returns whether one of the pending writes may have produced the record.
    pub(super) fn contains(&self, found: &Record) -> bool {
        self.0.contains(&(found.version, found.granted_until))
    }

    /// Returns the latest end in the pending writes, or 0 if there are no pending writes.
    pub(super) fn end(&self) -> u64 {
        self.0.iter().map(|(_, end)| *end).max().unwrap_or(0)
    }

    fn is_first_write(&self) -> bool {
        self.0.len() == 1
    }
}

impl RequestPurpose {
    /// Returns whether the keeper may ignore the reply, because it does not contain the result of a claim, a renewal or a
    /// release.
    fn is_read_only(&self) -> bool {
        matches!(self, Self::Open | Self::Survey | Self::Prepare | Self::Find | Self::ReadPreferred)
    }
}

fn other_store_error() -> Error {
    let reason = "the store is not the one that granted before: it was restored or replaced";
    Error::new(ErrorKind::StoreChanged, reason)
}

fn unsuitable_record_error() -> Error {
    damaged_record("expected a reply that fits the request, found one of another kind")
}
