//! How the keeper reacts to the passing of time and to each reply.

use alloc::{boxed::Box, format};

use super::{Action, Asked, At, Grant, Held, Keeper, Moment, Offset, Purpose};
use crate::{
    Ask, Error, ErrorKind, Found, Namespace, Random, Record, Reply, Result, Shape,
    rules::error::{damaged, silent},
    rules::json::MAX_SAFE_INTEGER,
};

/// The longest time for which a rejected release is repeated. It is the time that the lease's host waits for the end.
const RELEASE_MS: u64 = 10_000;
/// A renewal increases the version by 1 up to this number. Four renewals per hour do not use up 2^53 within a quarter of a
/// million years.
pub(super) const VERSION_STEPS: u64 = 1 << 20;

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Continues in states that depend only on time.
    pub(super) fn advance(&mut self, now: Moment) {
        self.notice_gap(now);
        self.beat(0, now);
        // `Ended` remains if a branch sets no other state. That is the case for a keeper that closes without a grant, because
        // it has no generator to seal.
        match core::mem::replace(&mut self.at, At::Ended) {
            At::Idle { .. } if self.is_closing => self.seal(),
            At::Idle { .. } if self.is_due(now) => self.renew(now),
            At::Idle { until } if now.elapsed_ms >= until && !self.is_kept() => self.open(now),
            At::Asking(purpose) if self.is_closing && purpose.only_reads() => self.seal(),
            At::Asking(purpose) if now.elapsed_ms >= self.answer_until => {
                // A late reply must not be taken for the reply to the next request.
                self.request += 1;
                self.failed(purpose, silent(), now);
            }
            At::Paused { until, purpose: purpose @ Purpose::Release { .. } }
                if now.elapsed_ms >= until =>
            {
                self.ask_to_release(purpose, now);
            }
            // Before the next branch: a release already ends the lease, so a call of `close` changes nothing.
            release @ At::Paused { purpose: Purpose::Release { .. }, .. } => self.at = release,
            At::Paused { .. } if self.is_closing => self.seal(),
            At::Paused { until, purpose } if now.elapsed_ms >= until => {
                let first = match (&purpose, &self.held) {
                    (Purpose::SettleClaim(claim), _) => claim.put.first,
                    (_, Some(held)) => held.record.first,
                    _ => return self.open(now),
                };
                self.ask(purpose, Ask::Read { first }, now);
            }
            other => self.at = other,
        }
    }

    /// The action while there is nothing to do.
    pub(super) fn rest(&self, now: Moment) -> Action {
        let soon = now.elapsed_ms + 1;
        match (&self.at, &self.held) {
            (At::Idle { .. }, Some(held)) if !held.is_lost => {
                // The generator's clock may reach the time earlier than the monotonic clock.
                let rest = self.options.lease_ms - self.options.interval();
                let lead = held.end.saturating_sub(now.wall_ms + rest);
                let early = held.soonest.max(now.elapsed_ms.saturating_add(lead));
                Action::Wait(held.renew_at.min(early).min(self.next_beat(now)).max(soon))
            }
            (At::Idle { until } | At::Paused { until, .. }, _) => {
                Action::Wait((*until).min(self.next_beat(now)).max(soon))
            }
            (At::Asking(_), _) => Action::Wait(self.answer_until.max(soon)),
            (At::Sealing, _) => Action::Wait(u64::MAX),
            (At::Ended, _) => Action::End,
        }
    }

    /// Closes the keeper. The generator is sealed before its worker ID is released.
    fn seal(&mut self) {
        if self.held.is_some() {
            self.actions.push_back(Action::Seal);
            self.at = At::Sealing;
        }
    }

    /// Stops for now, and begins again after a pause.
    pub(super) fn later(&mut self, error: Error, now: Moment) {
        // If it is known when the cause ends, the keeper does not try again before that, up to the longest pause.
        let known = error.until().map_or(0, |until| until.saturating_sub(self.store_time(now)));
        let longest = self.longest_pause(now);
        self.refuse(error);
        self.pause_for(known.min(longest), now);
    }

    /// Begins again after a pause of at least this length. If a grant is still being renewed, the pause is at most as long as
    /// the end of the grant allows.
    pub(super) fn pause_for(&mut self, least: u64, now: Moment) {
        let until = match self.end().filter(|_| self.is_kept()) {
            Some(end) => now.elapsed_ms + self.pause_of(end, now),
            None => now.elapsed_ms + self.pause(now).max(least),
        };
        if let Some(held) = self.held.as_mut().filter(|held| !held.is_lost) {
            (held.renew_at, held.soonest) = (until, until);
        }
        self.at = At::Idle { until };
    }

    pub(super) fn again(&mut self, now: Moment) {
        self.at = At::Idle { until: now.elapsed_ms };
    }

    /// Handles a request that failed or got no reply, so that it is unknown whether its write was done.
    pub(super) fn failed(&mut self, purpose: Purpose, error: Error, now: Moment) {
        match (purpose, self.end()) {
            // Perhaps only the reply was lost, so the first failure is settled at once. Later ones pause, so that a store in
            // trouble is not asked in a tight loop.
            (Purpose::Claim(claim), _) if claim.asked.is_first() => {
                self.refuse(error);
                let first = claim.put.first;
                self.ask(Purpose::SettleClaim(claim), Ask::Read { first }, now);
            }
            (Purpose::Claim(claim), _) => {
                self.refuse(error);
                self.settle_soon(Purpose::SettleClaim(claim), now);
            }
            (purpose @ Purpose::SettleClaim(_), _) => {
                self.refuse(error);
                self.settle_soon(purpose, now);
            }
            (Purpose::Renew(_) | Purpose::SettleRenewal, Some(end)) => {
                self.refuse(error);
                let until = now.elapsed_ms + self.pause_of(end, now);
                self.at = At::Paused { until, purpose: Purpose::SettleRenewal };
            }
            (purpose @ Purpose::Release { until, .. }, _) => {
                self.refuse(error);
                let again = now.elapsed_ms + self.pause(now);
                if again >= until {
                    return self.released(now);
                }
                self.at = At::Paused { until: again, purpose };
            }
            _ => self.later(error, now),
        }
    }

    /// Reads the record after a short pause to find out the result of a write.
    pub(super) fn settle_soon(&mut self, purpose: Purpose, now: Moment) {
        let until = now.elapsed_ms + self.pause(now);
        self.at = At::Paused { until, purpose };
    }

    /// Processes a reply.
    pub(super) fn take(&mut self, purpose: Purpose, reply: Reply, now: Moment) {
        let namespace = match self.namespace(&reply) {
            Ok(namespace) => namespace,
            // The namespace was deleted. The window expires, and the keeper creates the namespace again.
            Err(error) if self.held.is_some() && reply.namespace.is_none() => {
                return self.lost(error, now);
            }
            Err(error) => return self.failed(purpose, error, now),
        };
        self.longest_ms = self.longest_ms.max(namespace.longest_ms);
        match (purpose, reply.found) {
            (Purpose::Open, Found::Nothing) => {
                self.opened(namespace, (reply.now, &reply.store), now);
            }
            (Purpose::Survey, Found::Survey { records, latest_end }) => {
                self.surveyed(namespace, &reply.store, (records, latest_end), now);
            }
            (Purpose::Prepare, Found::Done) => self.again(now),
            (Purpose::Find, Found::Records(records)) => self.choose(&namespace, &records, now),
            (Purpose::Look, Found::Records(records)) => self.look(&namespace, records, now),
            (Purpose::Claim(claim), Found::Done) => self.begin(claim.put, now),
            // The claim may have arrived before, in a message that was sent twice.
            (Purpose::Claim(claim), Found::Differs(Some(found))) if claim.asked.has(&found) => {
                self.settle_soon(Purpose::SettleClaim(claim), now);
            }
            // Another holder was faster.
            (Purpose::Prepare | Purpose::Claim(_), Found::Differs(_)) => self.pause_for(0, now),
            (Purpose::SettleClaim(claim), Found::Records(records)) => {
                self.prove(claim, records.into_iter().next(), (&namespace, &reply.store), now);
            }
            (purpose @ (Purpose::Renew(_) | Purpose::SettleRenewal), found) => {
                self.renewed(purpose, found, (&namespace, &reply.store), now);
            }
            // A renewal that is no longer awaited was written first.
            (Purpose::Release { held, put, until }, Found::Differs(Some(found)))
                if found.is_grant(&put) && found != put && held.asked.has(&found) =>
            {
                let put = Record { version: found.version + 1, ..put };
                let held = Box::new(held.with(found));
                self.ask_to_release(Purpose::Release { held, put, until }, now);
            }
            (Purpose::Release { .. }, _) => self.released(now),
            (purpose, _) => self.failed(purpose, unfit(), now),
        }
    }

    /// Returns the namespace's record if it matches the options.
    fn namespace(&self, reply: &Reply) -> Result<Namespace> {
        let namespace = reply.namespace.clone();
        let namespace = namespace.ok_or_else(|| damaged("expected the namespace's record"))?;
        namespace.check(&namespace.digest())?;
        if namespace.version == MAX_SAFE_INTEGER {
            return Err(damaged("expected a version below the largest, found the largest"));
        }
        if namespace.shape != self.options.shape.to_json() {
            let theirs = Shape::from_json(&namespace.shape)?;
            let (name, differs) = (&namespace.name, theirs.difference(&self.options.shape));
            let reason = format!(
                "the namespace {name} was made for {differs}; a namespace keeps its shape, so take another name or the same range"
            );
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
        self.has_held = true;
        self.shown = self.shown_end((record.start, end), now);
        self.actions.push_back(Action::Begin(Grant::of(&record, self.shown)));
        self.hold(Held::new(record, end, self.sent_at), now);
    }

    fn renew(&mut self, now: Moment) {
        let Some(held) = self.held.clone() else { return self.again(now) };
        if let Some(error) = self.yet_to_begin(&held, now) {
            return self.lost(error, now);
        }
        let old = held.record.clone();
        let granted_until = self.next_end(now).max(old.granted_until);
        if granted_until == old.granted_until && !held.may_be_shared() {
            // The reply contains the store's current time, which may have been wrong in the previous reply.
            return self.ask(Purpose::SettleRenewal, Ask::Read { first: old.first }, now);
        }
        let new = Record { granted_until, ..old };
        self.ask_to_renew(held, new, now);
    }

    /// Returns the end of a renewal, by the clock that is behind. A clock that is far ahead would otherwise block the worker ID
    /// for that long.
    fn next_end(&self, now: Moment) -> u64 {
        self.grid.down(self.store_time(now).min(now.wall_ms) + self.options.lease_ms)
    }

    /// A clone of this process may request the same end at the same time, so the version increases by a random amount.
    pub(super) fn next_version(&mut self, old: &Record) -> u64 {
        old.version + 1 + self.chance(VERSION_STEPS)
    }

    fn ask_to_renew(&mut self, mut held: Held, new: Record, now: Moment) {
        let old = held.record.clone();
        let new = Record { version: self.next_version(&old), ..new };
        held.asked.note(&new);
        self.held = Some(held);
        self.ask(Purpose::Renew(new.clone()), Ask::Put { old, new }, now);
    }

    /// Processes the reply to a renewal, or to the read that settles one.
    fn renewed(
        &mut self,
        purpose: Purpose,
        found: Found,
        (namespace, store): (&Namespace, &str),
        now: Moment,
    ) {
        let Some(held) = self.held.clone() else { return self.again(now) };
        let is_done = found == Found::Done;
        let has_differed = matches!(found, Found::Differs(_));
        let there = match (purpose, found) {
            (Purpose::Renew(put), Found::Done) => Some(put),
            (Purpose::Renew(_), Found::Differs(found)) => found,
            (_, Found::Records(records)) => records.into_iter().next(),
            (purpose, _) => return self.failed(purpose, unfit(), now),
        };
        let is_current = namespace.incarnation == held.record.incarnation;
        let is_behind = |there: &Record| is_current && there.version < held.record.version;
        // A store never goes back below a version that it has acknowledged. So this one was restored although its name is the
        // same.
        if there.as_ref().is_some_and(is_behind) {
            self.outdated = Some(namespace.incarnation);
        }
        let is_known = self.is_known(namespace, store);
        let error = match there {
            None => damaged("expected a record of the number, found none"),
            Some(there) if there.is_claim(&held.record) && held.is_cloned(&there) => {
                let reason = "a copy of this process renewed the grant";
                return self.leave(Error::new(ErrorKind::LeaseLost, reason));
            }
            Some(there)
                if is_known
                    && there.is_claim(&held.record)
                    && there.incarnation == namespace.incarnation =>
            {
                if has_differed {
                    // An earlier write of this holder has arrived in the meantime.
                    return self.settle_soon(Purpose::SettleRenewal, now);
                }
                return self.kept(held, there, is_done, now);
            }
            Some(there)
                if there.is_claim(&held.record) && self.is_living(&held, &there, namespace) =>
            {
                if !is_known {
                    return self.ask(Purpose::Survey, Ask::Survey, now);
                }
                return self.renew_restored(&held, there, namespace.incarnation, now);
            }
            _ if !is_known || !is_current => {
                let reason =
                    "the store is not the one that granted before: it was restored or replaced";
                Error::new(ErrorKind::StoreChanged, reason)
            }
            Some(Record { first, .. }) => {
                let reason = format!(
                    "another holder has worker ID {first}, so this grant was ended from outside"
                );
                let error = Error::new(ErrorKind::LeaseLost, reason);
                if held.may_be_shared() {
                    // Another copy may have released the worker ID before it was granted again.
                    return self.leave(error);
                }
                error
            }
        };
        self.lost(error, now);
    }

    /// Continues with a grant whose record was acknowledged or read. The window grows only to the acknowledged end; a later end
    /// that a read shows is written again (R2).
    fn kept(&mut self, held: Held, there: Record, is_done: bool, now: Moment) {
        let granted_until = self.next_end(now).max(there.granted_until);
        // After a gap the read may show a write that all copies have sent.
        if !is_done && (granted_until > held.end || held.may_be_shared()) {
            let new = Record { granted_until, ..there.clone() };
            return self.ask_to_renew(held.with(there), new, now);
        }
        let end = if is_done { held.end.max(there.granted_until) } else { held.end };
        if end > held.end {
            self.failures = 0;
            if !self.options.is_strict {
                self.actions.push_back(Action::Extend(end));
            }
        }
        if let Some(error) = self.skewed(self.store_now.0, now) {
            self.refuse(error);
        }
        let held = Held { record: there, end, ..held };
        if !is_done {
            return self.hold(held, now);
        }
        let (asked, offset) = (Asked::default(), self.sent_at);
        self.hold(Held { asked, offset, gap_at: None, ..held }, now);
    }

    /// Seals the generator, because another copy of this process, or a later holder, uses the worker ID. It is not released, and
    /// another one is claimed.
    fn leave(&mut self, error: Error) {
        self.refuse(error);
        self.held.iter_mut().for_each(|held| held.is_lost = true);
        self.seal();
    }

    /// Returns whether the worker ID cannot have been granted to another holder in the history that a restored store lost,
    /// because claims wait for the recorded end (R7). An end in the restored store counts only up to the acknowledged one: a
    /// later one may come from a backup of a primary whose replica never had it, and that replica may have been promoted.
    fn is_living(&self, held: &Held, there: &Record, namespace: &Namespace) -> bool {
        let end = there.granted_until.min(held.end);
        self.store_now.0.saturating_add(namespace.clock_error_ms()) < end
    }

    /// Renews a grant in a restored store, and replaces the previous incarnation with the store's new one.
    fn renew_restored(&mut self, held: &Held, there: Record, incarnation: Random, now: Moment) {
        let granted_until = self.next_end(now).max(there.granted_until);
        let new = Record { granted_until, incarnation, ..there.clone() };
        self.ask_to_renew(held.with(there), new, now);
    }

    /// Stops renewing a grant. Its window expires, and the keeper claims another worker ID.
    fn lost(&mut self, error: Error, now: Moment) {
        // The store may have been restored or replaced, so the next claim counts its records again.
        self.is_surveyed = false;
        self.refuse(error);
        self.held.iter_mut().for_each(|held| held.is_lost = true);
        self.again(now);
    }

    /// Releases a worker ID whose grant was used until `end`, which is a time of the grid.
    pub(super) fn release_to(&mut self, held: Held, end: u64, now: Moment) {
        let old = &held.record;
        let put = Record { granted_until: end, version: old.version + 1, ..old.clone() };
        let until = now.elapsed_ms + RELEASE_MS;
        self.ask_to_release(Purpose::Release { held: Box::new(held), put, until }, now);
    }

    /// Sends or repeats a release, which takes effect at most once.
    fn ask_to_release(&mut self, purpose: Purpose, now: Moment) {
        let Purpose::Release { held, put, .. } = &purpose else { return };
        let (old, new) = (held.record.clone(), put.clone());
        self.ask(purpose, Ask::Put { old, new }, now);
    }

    /// Ends, or starts again if the keeper had to release a worker ID without being closed.
    fn released(&mut self, now: Moment) {
        self.at = if self.is_closing {
            At::Ended
        } else {
            At::Idle { until: now.elapsed_ms + self.pause(now) }
        };
    }
}

impl Held {
    /// Creates the grant of an acknowledged claim, which was sent at `offset`.
    fn new(record: Record, end: u64, offset: Offset) -> Self {
        let (renew_at, soonest, shared_until) = (0, 0, 0);
        let (asked, is_lost, gap_at) = (Asked::default(), false, None);
        let is_told = false;
        Self {
            record,
            asked,
            end,
            renew_at,
            soonest,
            is_lost,
            offset,
            gap_at,
            is_told,
            shared_until,
        }
    }

    /// Returns the same grant with the values of a record that was read.
    fn with(&self, record: Record) -> Self {
        Self { record, asked: self.asked.clone(), ..*self }
    }

    /// Returns whether a record of this holder's claim shows a renewal that the holder never requested.
    fn is_cloned(&self, there: &Record) -> bool {
        there.version > self.record.version && !self.asked.has(there)
    }
}

impl Asked {
    /// Records a write that is about to be sent.
    pub(super) fn note(&mut self, put: &Record) {
        self.0.push((put.version, put.granted_until));
    }

    /// Returns whether a record may be one of these writes.
    pub(super) fn has(&self, found: &Record) -> bool {
        self.0.contains(&(found.version, found.granted_until))
    }

    /// Returns the latest end of these writes, or 0.
    pub(super) fn end(&self) -> u64 {
        self.0.iter().map(|(_, end)| *end).max().unwrap_or(0)
    }

    fn is_first(&self) -> bool {
        self.0.len() == 1
    }
}

impl Purpose {
    /// Returns whether the reply may be ignored without loss.
    fn only_reads(&self) -> bool {
        matches!(self, Self::Open | Self::Survey | Self::Prepare | Self::Find | Self::Look)
    }
}

fn unfit() -> Error {
    damaged("expected a reply that fits the request, found one of another kind")
}
