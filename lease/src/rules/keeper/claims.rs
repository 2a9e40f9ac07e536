//! The steps that lead to a grant: opening the namespace, finding a free worker ID, and claiming it.
//!
//! ```text
//! Open <-----------------------------------------------------.
//!  |                                                          |
//!  |  the store is another one, or was not surveyed yet       |
//!  +-----------> Survey --- its incarnation is over ---> Prepare    a new incarnation, with a quiet time
//!  |                |                                         |
//!  | <--- known ----'                                         |
//!  |  `longest_ms` is too short                               |
//!  +---------------------------------------------------> Prepare    the record of the namespace
//!  v                                                          |
//! Find eight free records, or Look at the preferred one       |
//!  |  no record is free                                       |
//!  +---------------------------------------------------> Prepare    more records
//!  v
//! Claim --- acknowledged ---> the grant begins
//!  |  no reply       ^
//!  v                 |  the record shows this claim: write it again, because a read is no proof (R2)
//! SettleClaim -------'
//!  |  the record shows the claim of another holder
//!  v
//! Open, after a pause
//! ```
//!
//! Every step is one request, so the keeper can stop after any step. If a reply is lost, a single place in the code repeats
//! the request or determines whether the request took effect. Each write includes the record that the keeper has read, so a
//! step based on an outdated record fails instead of overwriting a newer record.

use alloc::{format, string::String, vec::Vec};

use super::{Claim, Keeper, Moment, PendingWrites, RequestPurpose};
use crate::{
    Error, ErrorKind, Result,
    protocol::{Namespace, Operation, Random, Record},
    rules::error::{damaged_record, format_unix_ms, out_of_range, reserved_id_error},
    rules::json::MAX_SAFE_INTEGER,
    rules::record::clock_error_ms,
    rules::shape::IDS_PER_RECORD,
    rules::volatile_store::{MAX_VOLATILE_LEASE_MS, is_proposed, is_volatile, waiting_time_end},
};

/// The maximum time, in milliseconds, by which a grant may start before the store's current time.
const SLACK_MS: u64 = 5_000;
/// The maximum number of free records from which a claim chooses.
const MAX_CANDIDATES: u32 = 8;

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    pub(super) fn open(&mut self, now: Moment) {
        // If this keeper had a grant but the namespace no longer exists, the store's data was deleted. In that case, the
        // new namespace starts with a quiet time, because other holders may still be generating IDs, and their leases may
        // be longer than this keeper's lease.
        match (self.random)() {
            Ok(incarnation) => {
                let mut namespace = Namespace {
                    name: self.options.namespace.clone(),
                    shape: self.options.shape.to_json(),
                    incarnation,
                    store: String::new(),
                    records: 0,
                    longest_ms: self.longest_lease_ms(),
                    quiet_until: 0,
                    previous_store: String::new(),
                    previous_quiet_until: 0,
                    version: 1,
                };
                if self.has_held {
                    let longest = namespace.longest_ms + namespace.clock_error_ms();
                    namespace.quiet_until = self.store_time(now) + longest;
                }
                self.send(RequestPurpose::Open, Operation::Open(namespace), now);
            }
            Err(error) => self.retry_later(error, now),
        }
    }

    pub(super) fn on_opened(
        &mut self,
        namespace: Namespace,
        (time, store): (u64, &str),
        now: Moment,
    ) {
        if let Some(error) = self.coarse_tick_error(store) {
            return self.retry_later(error, now);
        }
        if let Some(error) = self.clock_skew_error(time, now) {
            return self.retry_later(error, now);
        }
        let is_known = self.is_known(&namespace, store) && !self.lacks_quiet_time(&namespace);
        if !is_known || !self.is_surveyed {
            return self.send(RequestPurpose::Survey, Operation::Survey, now);
        }
        self.claim_in(namespace, now);
    }

    /// Returns whether the namespace's incarnation belongs to this store.
    pub(super) fn is_known(&self, namespace: &Namespace, store: &str) -> bool {
        namespace.store == store
            && self.outdated != Some(namespace.incarnation)
            && !is_proposed(namespace, store)
    }

    /// Returns an error if the ticks are so long that the longest lease of a volatile store contains no whole tick.
    fn coarse_tick_error(&self, store: &str) -> Option<Error> {
        let is_coarse = is_volatile(store) && 2 * self.grid.interval() > MAX_VOLATILE_LEASE_MS;
        let reason = "a volatile store grants at most 5 minutes, which is less than two ticks";
        is_coarse.then(|| out_of_range(reason))
    }

    /// Selects a worker ID in a namespace whose records the keeper has counted.
    fn claim_in(&mut self, namespace: Namespace, now: Moment) {
        let time = self.store_now.0;
        if let Some(error) = self.stores.conflict_error() {
            return self.retry_later(error, now);
        }
        if namespace.longest_ms < self.options.lease_ms {
            let new = Namespace { longest_ms: self.options.lease_ms, ..namespace.clone() };
            return self.prepare_namespace(namespace, new, now);
        }
        if let Some(error) = quiet_period_error(&namespace, time) {
            return self.retry_later(error, now);
        }
        let index = self.preferred.and_then(|worker_id| self.options.shape.index_of(worker_id));
        match index {
            Some(index) if index < namespace.records => {
                let first = self.options.shape.first_id_at(index);
                self.send(RequestPurpose::ReadPreferred, Operation::Read { first }, now);
            }
            Some(index) => self.grow(namespace, index + 1, now),
            None if namespace.records == 0 => self.grow(namespace, 1, now),
            None => self.send(RequestPurpose::Find, Operation::Find { limit: MAX_CANDIDATES }, now),
        }
    }

    fn grow(&mut self, namespace: Namespace, records: u64, now: Moment) {
        let new = Namespace { records, ..namespace.clone() };
        self.prepare_namespace(namespace, new, now);
    }

    /// Writes the namespace's record, and then starts the claim over.
    fn prepare_namespace(&mut self, old: Namespace, new: Namespace, now: Moment) {
        let new = Namespace { version: old.version + 1, ..new };
        let (first, count) = (self.options.shape.first_id_at(old.records), IDS_PER_RECORD);
        self.send(RequestPurpose::Prepare, Operation::PutNamespace { old, new, first, count }, now);
    }

    pub(super) fn on_surveyed(
        &mut self,
        namespace: Namespace,
        store: &str,
        (records, latest_end): (u64, u64),
        now: Moment,
    ) {
        if records < namespace.records {
            let reason = format!(
                "expected {} records, found {records}; restore a backup, and run 'polyflake lease restored'",
                namespace.records
            );
            return self.retry_later(damaged_record(reason), now);
        }
        if self.is_known(&namespace, store) && !self.lacks_quiet_time(&namespace) {
            self.is_surveyed = true;
            if self.is_renewed() {
                // Another keeper noticed the restore first.
                return self.start_over(now);
            }
            return self.claim_in(namespace, now);
        }
        let incarnation = match (self.random)() {
            Ok(incarnation) => incarnation,
            Err(error) => return self.retry_later(error, now),
        };
        let longest = self.longest_lease_ms();
        let quiet_until =
            match quiet_time(&namespace, store, (self.store_now.0, latest_end), longest) {
                Ok(quiet_until) => quiet_until.max(self.older_grants_until),
                Err(error) => return self.retry_later(error, now),
            };
        let mut new = namespace.with_incarnation(store, incarnation, quiet_until);
        if self.lacks_quiet_time(&namespace) {
            // If the record named the earlier store, an operator's report of a promotion could end this quiet time.
            new.previous_store = store.into();
        }
        self.prepare_namespace(namespace, new, now);
    }

    pub(super) fn choose_record(
        &mut self,
        namespace: &Namespace,
        records: Vec<Record>,
        now: Moment,
    ) {
        let Some(record) = records.into_iter().next() else {
            return self.retry_later(
                damaged_record("expected a record of the worker ID, found none"),
                now,
            );
        };
        if record.granted_until <= self.store_now.0 {
            return self.claim(namespace, record, now);
        }
        if self.options.requires_worker_id {
            let error = match record.granted_until {
                Record::RESERVED => reserved_id_error(&format!("worker ID {} is", record.first)),
                end => worker_ids_exhausted_error(1, end),
            };
            return self.retry_later(error, now);
        }
        self.preferred = None;
        self.send(RequestPurpose::Find, Operation::Find { limit: MAX_CANDIDATES }, now);
    }

    pub(super) fn choose(&mut self, namespace: &Namespace, records: &[Record], now: Moment) {
        let time = self.store_now.0;
        let free: Vec<_> = records.iter().filter(|it| it.granted_until <= time).collect();
        // The choice is random, so that holders that start together rarely compete for the same record.
        let chosen = self.random_below(free.len() as u64);
        if let Some(record) = usize::try_from(chosen).ok().and_then(|chosen| free.get(chosen)) {
            return self.claim(namespace, (*record).clone(), now);
        }
        let capacity = self.options.shape.capacity();
        if namespace.records < capacity {
            // The number of records doubles, but grows by at most 1,024 at a time. A small fleet in a large namespace then
            // needs few records, and a growing fleet rarely stops to create more.
            let records = (namespace.records + namespace.records.clamp(1, 1024)).min(capacity);
            return self.grow(namespace.clone(), records, now);
        }
        let error = match records.first().map_or(0, |record| record.granted_until) {
            Record::RESERVED => reserved_id_error(&format!("all {capacity} worker IDs are")),
            soonest => worker_ids_exhausted_error(capacity, soonest),
        };
        self.retry_later(error, now);
    }

    fn claim(&mut self, namespace: &Namespace, old: Record, now: Moment) {
        let time = self.store_now.0;
        if let Some(error) =
            quiet_period_error(namespace, time).or_else(|| self.clock_skew_error(time, now))
        {
            return self.retry_later(error, now);
        }
        // The grant begins slightly in the past, so that a generator whose clock is behind the store's clock can use the
        // grant immediately. This is safe, because the grant never begins before the recorded end of the previous grant.
        let early = time.saturating_sub(SLACK_MS);
        let start = self.grid.ceil(early.max(old.granted_until).max(namespace.quiet_until));
        // Both ends are rounded inward: a generator counts in ticks, and a partially granted tick could be granted twice.
        let granted_until = self.grid.floor(time + self.options.lease_ms);
        let token = match (self.random)() {
            Ok(token) if granted_until > start => token,
            Ok(_) => {
                return self.retry_later(
                    damaged_record(
                        "expected a record whose grant has ended, found one that has not",
                    ),
                    now,
                );
            }
            Err(error) => return self.retry_later(error, now),
        };
        let put = Record {
            start,
            granted_until,
            token,
            version: old.version + 1,
            incarnation: namespace.incarnation,
            holder: self.options.holder.clone(),
            ..old.clone()
        };
        self.request_claim(Claim { put, asked: PendingWrites::default() }, old, now);
    }

    fn request_claim(&mut self, mut claim: Claim, old: Record, now: Moment) {
        let new = claim.put.clone();
        claim.asked.add(&new);
        self.send(RequestPurpose::Claim(claim), Operation::Put { old, new }, now);
    }

    /// Writes a claim again after a read has returned it. The read alone proves nothing: an unacknowledged commit may be
    /// visible here, but missing on the replica that is promoted next (R2).
    pub(super) fn rewrite_claim(
        &mut self,
        claim: Claim,
        found: Option<Record>,
        (namespace, store): (&Namespace, &str),
        now: Moment,
    ) {
        let is_current =
            self.is_known(namespace, store) && namespace.incarnation == claim.put.incarnation;
        let is_own = |found: &Record| found.is_grant(&claim.put) && claim.asked.contains(found);
        match found.filter(|found| is_current && is_own(found)) {
            Some(old) => {
                let put = Record { version: self.next_version(&old), ..old.clone() };
                self.request_claim(Claim { put, ..claim }, old, now);
            }
            // Another holder claimed the worker ID first, or a clone of this process confirmed the claim first.
            None => self.pause_for(0, now),
        }
    }
}

/// Returns the end of a restored store's quiet time, calculated from the store's time and the latest end in its records
/// (R7). In a volatile store, the end does not depend on the records, because the latest records may be lost (R13).
pub(crate) fn quiet_time(
    namespace: &Namespace,
    store: &str,
    (now, latest_end): (u64, u64),
    lease_ms: u64,
) -> Result<u64> {
    let last = now.max(latest_end);
    let longest_ms = namespace.longest_ms.max(lease_ms);
    let quiet_until = if is_volatile(store) {
        // A durable store may have granted longer leases before, under the same address.
        Some(waiting_time_end(now).max(now + lease_ms + clock_error_ms(lease_ms)))
    } else {
        last.checked_add(longest_ms + clock_error_ms(longest_ms))
    };
    let is_time = |end: &u64| *end < MAX_SAFE_INTEGER;
    let quiet_until = quiet_until.map(|end| end.max(namespace.quiet_until));
    quiet_until.filter(is_time).ok_or_else(|| damaged_record("expected ends below 2^53 - 1 ms"))
}

/// Returns an error if the namespace's quiet time has not ended yet.
fn quiet_period_error(namespace: &Namespace, time: u64) -> Option<Error> {
    let reason = if is_volatile(&namespace.store) {
        "the store may have lost grants, and grants nothing new for six minutes after it was started, emptied or first used"
    } else if namespace.previous_store == namespace.store {
        "a holder found that the store lacks grants, and it grants nothing until they have ended"
    } else {
        "the store was restored or replaced, and grants nothing until all older grants have ended"
    };
    let error = || Error::new(ErrorKind::StoreChanged, reason).with_until(namespace.quiet_until);
    (time < namespace.quiet_until).then(error)
}

fn worker_ids_exhausted_error(worker_ids: u64, until: u64) -> Error {
    let reason = match worker_ids {
        1 => "the worker ID is leased to another process".into(),
        _ => format!("all {worker_ids} worker IDs are leased to other processes"),
    };
    let reason = if until > 0 {
        format!("{reason}, the first until {}", format_unix_ms(until))
    } else {
        reason
    };
    Error::new(ErrorKind::WorkerIdsExhausted, reason).with_until(until)
}
