//! The keeper: the state machine that leases a worker ID, renews the lease, and releases the worker ID.
//!
//! # Why uniqueness needs no clock
//!
//! Most locks with a timeout rely on clocks. The holder must stop before the store grants the lock to the next holder, so
//! the holder and the store must measure the same time. A holder that is paused between its last check and its write may
//! corrupt data. A keeper avoids this problem, because an ID itself contains a time. A **grant** is the right to a
//! rectangle of IDs: all IDs with one worker ID and a *tick* in a certain range.
//!
//! ```text
//! worker ID
//!    ^
//!  8 |  |------ A's grant ------|        |------- C's grant -------
//!  7 |        |------ B's grant, renewed -------------|
//!    +-----------------------------------------------------------> tick in the ID
//! ```
//!
//! The rectangles of a namespace never overlap, and a generator compares the tick that it is about to encode with its own
//! rectangle. Therefore, it does not matter when an ID is generated, or what time any clock shows. If a holder sleeps for
//! an hour and then continues with an old clock reading, the ID that it generates contains an old tick. That tick is within
//! the holder's own rectangle, which belongs to no other holder, and the state machine of the holder's generator uses each
//! slot of it only once. If the holder's clock has advanced, the tick is outside
//! the rectangle, and the call fails. In the picture, C's grant starts at the end of A's grant or later. If C's clock is
//! behind, C does not get A's ticks. Instead, C's calls fail until its clock has reached the start of C's grant.
//!
//! A wrong clock, a lost reply or a network partition can therefore interrupt ID generation, but cannot cause a duplicate.
//! Clocks affect only how soon a worker ID is granted again, and for how long a holder can generate IDs. Three rules of
//! docs/leases.md are exceptions. After a store has been restored from a backup, the quiet time (R7) relies on the clocks,
//! and so does the waiting time of a store that may lose its data (R13). If an operator states that a holder is dead and
//! frees its worker ID early (R5), that holder's clock must not have been far ahead.
//!
//! # The fence
//!
//! Every change of a record is a compare-and-swap, and the next grant of a worker ID starts at the recorded end of the
//! previous one. The record is the fence. Rectangles therefore never overlap as long as no holder assumes a later end than
//! the record. The *window* is the range of ticks that the holder's generator accepts:
//!
//! - **Extending.** The end of the window is raised only up to an end that the store has acknowledged as durable, in reply
//!   to the request that wrote it ([`Action::Extend`]). An end that was only requested may or may not be in the record.
//!   Reading the record is not sufficient, because after a crash a server can show a commit that its replica lacks, and the
//!   replica may later become the server. So the value that was read is written again, and only that acknowledgement
//!   counts.
//! - **Releasing.** The end may be lowered only when no further ID can be generated. [`Action::Seal`] closes the generator
//!   in one atomic step, which also returns the highest tick that any thread, batch or handle has reserved. Then the
//!   release is sent, with that tick's end. From that moment on the grant has ended, regardless of the reply.
//!
//! A virtual machine may be cloned with its keeper, and both copies then generate the same IDs until one of them notices
//! the other. Each renewal increases the record's version by a random amount, which the keeper remembers. If a keeper finds
//! its own token with a version that it never requested, another copy has renewed the grant. The keeper then seals its
//! generator at once, does not release its worker ID, and claims another one. A copy that is restored some time after its
//! image was taken does not wait for its next renewal, because its clocks show a gap (`keeper/gaps.rs`).
//!
//! # A machine without I/O
//!
//! The keeper reads no clock, opens no connection and starts no thread. Its host passes the time and the store's replies,
//! and carries out the [`Action`]s in order. The hosts in Rust, Python and JavaScript share the keeper, and the simulator
//! runs it too. The model and the proof describe the rules separately. The simulator's traces are replayed as steps of the
//! proof, which ties the description to this code.

mod answers;
mod claims;
mod gaps;
mod options;
mod proofs;
mod timing;

use alloc::{boxed::Box, collections::VecDeque, string::String, vec::Vec};
use core::fmt;

use answers::VERSION_STEPS;
pub(crate) use claims::quiet_time;
use gaps::{GapEvents, Offset};
pub use options::Options;
#[cfg(feature = "std")]
pub(crate) use options::default_wait_ms;
use proofs::KnownStores;

use crate::{
    Error, Result,
    protocol::{Grid, Operation, Random, Record, Reply, ReplyContent, Request},
    rules::error::damaged_record,
    rules::json::MAX_SAFE_INTEGER,
    rules::shape::IDS_PER_RECORD,
    rules::volatile_store::is_volatile,
};

/// A point in time, as read by a keeper's host from its two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "hosts make it")]
pub struct Moment {
    /// The time in Unix milliseconds, according to the clock that the generator reads.
    pub wall_ms: u64,
    /// The number of milliseconds since a fixed moment, according to a monotonic clock. On systems that support it, this
    /// clock keeps running while the machine is suspended.
    pub elapsed_ms: u64,
}

/// The right of one generator to use the worker IDs `first ..= last` from `start` (inclusive) to `end` (exclusive). Both
/// times are in Unix milliseconds. A grant can be used only once.
#[derive(Debug, PartialEq, Eq)]
pub struct Grant {
    first: u64,
    last: u64,
    start: u64,
    end: u64,
}

impl Grant {
    fn from_record(record: &Record, end: u64) -> Self {
        let last = record.first + record.count - 1;
        Self { first: record.first, last, start: record.start, end }
    }

    /// Returns the range of granted worker IDs.
    pub fn worker_ids(&self) -> core::ops::RangeInclusive<u64> {
        self.first..=self.last
    }

    /// Returns the start of the grant in Unix milliseconds.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the exclusive end of the grant in Unix milliseconds.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// The next action that a keeper's host must perform.
#[derive(Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "few are made, and each is taken apart at once")]
pub enum Action {
    /// Send the request to the store, and pass the store's reply to the keeper.
    Send(Request),
    /// Create a new generator for this grant, and close the previous generator. The window of the new generator starts no
    /// earlier than the last tick of the previous generator.
    Begin(Grant),
    /// Move the end of the generator's window to this time, in Unix milliseconds.
    Extend(u64),
    /// Seal the generator, and call [`Keeper::sealed`].
    Seal,
    /// The keeper encountered an error and continues. Log the error, and report it to callers that need an ID while there
    /// is no grant.
    Rejected(Error),
    /// Wait until this time, according to [`Moment::elapsed_ms`], or until a reply arrives.
    Wait(u64),
    /// The keeper is closed.
    End,
}

/// A state machine that leases a worker ID from a namespace, renews the lease, and releases the worker ID. It reads no
/// clock, opens no connection and starts no thread.
///
/// ```
/// use polyflake_lease::{Memory, Options, Shape, protocol::{Action, Keeper, Moment, Random, Store}};
///
/// let now = Moment { wall_ms: 1_763_650_000_000, elapsed_ms: 0 };
/// let (mut store, mut seed) = (Memory::new(now.wall_ms), 0);
/// let random = move || { seed += 1; Ok(Random(seed)) }; // in production, use random bits of the operating system
/// let mut keeper = Keeper::new(Options::new("orders", Shape::sno(0..=1023)?)?, random);
/// let grant = loop {
///     match keeper.poll(now) {
///         Action::Send(request) => keeper.answered(request.number, store.answer(&request), now),
///         Action::Begin(grant) => break grant,
///         other => panic!("{other:?}"),
///     }
/// };
/// assert_eq!(grant.worker_ids(), 0..=0);
/// assert_eq!(grant.end() - now.wall_ms, 3_600_000);
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
pub struct Keeper<R> {
    options: Options,
    grid: Grid,
    random: R,
    at: KeeperState,
    held: Option<HeldGrant>,
    actions: VecDeque<Action>,
    /// The number of the last request. The keeper waits for the reply to that request until the monotonic clock reaches
    /// `answer_until`.
    request: u64,
    answer_until: u64,
    /// The monotonic time at which the last request was sent, and the difference between the wall clock and the monotonic
    /// clock at that moment.
    asked_at: u64,
    sent_at: Offset,
    /// The gap events that have occurred since the host last retrieved them.
    #[cfg_attr(not(feature = "hosted"), allow(dead_code, reason = "for the events of hosts"))]
    notes: GapEvents,
    /// The end of the generator's window, as last reported to the host. Without [`Options::strict`], this is the end of the
    /// grant.
    shown: u64,
    /// The preferred worker ID, which the process held before or the program requested.
    preferred: Option<u64>,
    /// The store's time in the last reply, and the monotonic time at which the reply arrived.
    store_now: (u64, u64),
    /// The number of consecutive failures.
    failures: u32,
    /// The longest lease duration that this keeper has found in a namespace's record.
    longest_ms: u64,
    /// The time, on the store's clock, that a quiet time must reach before this keeper claims, because the store lacks
    /// grants of another store or of its own past. It is 0 if the keeper has no proof of that.
    older_grants_until: u64,
    /// The stores that this keeper has left or uses.
    stores: KnownStores,
    /// Whether the keeper has counted the namespace's records.
    is_surveyed: bool,
    /// An incarnation in which a record reverted to an older version. This shows that the store was restored, even though
    /// its name did not change.
    outdated: Option<Random>,
    /// Whether the keeper has ever had a grant.
    has_held: bool,
    /// The time of the first poll, according to the monotonic clock.
    began: Option<u64>,
    is_closing: bool,
}

/// A grant that the keeper holds, and the end that the store has acknowledged.
#[derive(Clone, Debug)]
struct HeldGrant {
    /// The record as the store last returned or acknowledged it.
    record: Record,
    /// The record that the store last acknowledged, and the monotonic time at which its reply arrived.
    acknowledged: (Record, u64),
    /// The writes that the keeper has requested since the last acknowledgment.
    asked: PendingWrites,
    end: u64,
    /// The time of the next renewal, according to the monotonic clock. If the generator's clock is ahead, the keeper may
    /// renew earlier, but not before `soonest`.
    renew_at: u64,
    soonest: u64,
    /// Whether the store has permanently rejected renewals, so that the window will expire.
    is_lost: bool,
    /// The difference between the wall clock and the monotonic clock at the later of two moments: when the last
    /// acknowledged write was sent, and when the keeper noticed the last gap.
    offset: Offset,
    /// The time at which the keeper noticed a gap, according to the monotonic clock, or `None` if the store has
    /// acknowledged a write since then.
    gap_at: Option<u64>,
    /// Whether the keeper has reported that the generator continues although the store has not acknowledged a write since
    /// the gap.
    is_reported: bool,
    /// The latest time at which the grant of another copy of the process may end, as of the last gap. It is 0 if no gap has
    /// occurred.
    shared_until: u64,
}

/// The version and the end of each write that was sent but not acknowledged. If a record has any other version, a clone of
/// this process wrote it.
#[derive(Clone, Debug, Default)]
struct PendingWrites(Vec<(u64, u64)>);

/// A claim that the store has not acknowledged yet. `put` is the most recently sent record.
#[derive(Clone, Debug)]
struct Claim {
    put: Record,
    asked: PendingWrites,
}

/// The keeper's state, including the purpose of its last request.
#[derive(Clone, Debug)]
enum KeeperState {
    /// The keeper sends no request until the monotonic clock reaches `until`.
    Idle {
        until: u64,
    },
    Asking(RequestPurpose),
    /// The keeper pauses after a request that received no reply. When the monotonic clock reaches `until`, the keeper
    /// repeats the request or determines whether the request took effect.
    Paused {
        until: u64,
        purpose: RequestPurpose,
    },
    /// The keeper waits for the host to seal the generator.
    Sealing,
    Ended,
}

/// The purpose of a request in progress.
#[derive(Clone, Debug)]
enum RequestPurpose {
    Open,
    Survey,
    /// Updates the namespace's record, to begin a new incarnation, to allow a longer lease, or to add records of worker
    /// IDs.
    Prepare,
    Find,
    /// Reads the record of the preferred worker ID.
    ReadPreferred,
    /// Writes a record that claims a worker ID.
    Claim(Claim),
    SettleClaim(Claim),
    Renew(Record),
    SettleRenewal,
    /// Releases the worker ID. The keeper retries until the monotonic clock reaches `until`.
    Release {
        held: Box<HeldGrant>,
        put: Record,
        until: u64,
    },
}

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Creates a keeper without a grant. `random` returns 128 random bits from the operating system. The keeper calls this
    /// function for each claim. The function may return an error, for example if the process was forked.
    pub fn new(options: Options, random: R) -> Self {
        let (grid, preferred) = (options.shape.grid(), options.preferred);
        Self {
            options,
            grid,
            random,
            at: KeeperState::Idle { until: 0 },
            held: None,
            actions: VecDeque::new(),
            request: 0,
            answer_until: 0,
            asked_at: 0,
            sent_at: Offset::from_moment(Moment { wall_ms: 0, elapsed_ms: 0 }),
            notes: GapEvents::default(),
            shown: 0,
            preferred,
            store_now: (0, 0),
            failures: 0,
            longest_ms: 0,
            older_grants_until: 0,
            stores: KnownStores::default(),
            is_surveyed: false,
            outdated: None,
            has_held: false,
            began: None,
            is_closing: false,
        }
    }

    /// Returns the next action for the host. Call this method again after performing each action, after each reply, and at
    /// the time specified by an [`Action::Wait`].
    pub fn poll(&mut self, now: Moment) -> Action {
        self.began.get_or_insert(now.elapsed_ms);
        if let Some(action) = self.actions.pop_front() {
            return action;
        }
        self.advance(now);
        self.actions.pop_front().unwrap_or_else(|| self.next_action(now))
    }

    /// Processes the reply to a request. Has no effect if the keeper no longer waits for this reply.
    pub fn answered(&mut self, request: u64, reply: Result<Reply>, now: Moment) {
        if request != self.request || !matches!(self.at, KeeperState::Asking(_)) {
            return;
        }
        let KeeperState::Asking(purpose) = core::mem::replace(&mut self.at, KeeperState::Ended)
        else {
            return;
        };
        // If the same reply arrives again, for example because the network duplicated a message, it must not match the
        // current request.
        self.request += 1;
        if let (Ok(_), Some(purpose)) = (&reply, self.settle_after_gap(&purpose, now)) {
            return self.schedule_read_back(purpose, now);
        }
        match reply.and_then(|reply| self.check(reply)) {
            Ok(reply) => {
                if is_volatile(&reply.store) {
                    self.options.limit_lease();
                }
                self.store_now = (reply.now, now.elapsed_ms);
                self.process_reply(purpose, reply, now);
            }
            Err(error) => self.on_request_failed(purpose, error, now),
        }
    }

    /// Starts releasing the worker ID, or stops trying to lease a worker ID. Once the keeper has finished, [`Keeper::poll`]
    /// returns [`Action::End`].
    pub fn close(&mut self) {
        self.is_closing = true;
    }

    /// Reports that the host could not create the generator for the last [`Action::Begin`]. The keeper releases the worker
    /// ID, and claims a worker ID again after a pause that grows with each failure. In any other state, this call has no
    /// effect.
    pub fn not_begun(&mut self, error: Error, now: Moment) {
        let is_idle = matches!(self.at, KeeperState::Idle { .. }) && self.is_renewed();
        if let Some(held) = self.held.take_if(|_| is_idle) {
            self.fail(error);
            let start = held.record.start;
            self.release_with_end(held, start, now);
        }
    }

    /// Reports the end of the highest tick that the sealed generator reserved, in Unix milliseconds, or `None` if it never
    /// reserved a tick. An end that is not on the grid is rounded up to the next grid time. This call has no effect unless
    /// an [`Action::Seal`] preceded it.
    pub fn sealed(&mut self, end: Option<u64>, now: Moment) {
        if !matches!(self.at, KeeperState::Sealing) {
            return;
        }
        // The process may have been copied after the seal was requested. In that case, the other copy generates IDs until
        // it has sealed its own generator.
        self.detect_gap(now);
        self.at = KeeperState::Ended;
        let Some(held) = self.held.take() else { return };
        let lowest = held.record.start;
        let end = end.map_or(lowest, |end| self.grid.ceil(end)).clamp(lowest, held.end);
        // A lost grant is not released, because its record may belong to another holder, to another copy of this process,
        // or to another incarnation of the store. A grant that several copies may share is not released either.
        if held.is_lost || held.may_be_shared() {
            if !self.is_closing {
                self.start_over(now);
            }
            return;
        }
        // Another copy of the process may use the grant until this time, unless that copy notices earlier that this copy
        // has renewed the grant.
        let end = end.max(held.shared_until.min(held.end));
        self.release_with_end(held, end, now);
    }

    #[cfg(feature = "hosted")]
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the worker ID of the generator's grant, or `None` if there is no grant.
    pub fn worker_id(&self) -> Option<u64> {
        self.held.as_ref().map(|held| held.record.first)
    }

    /// Returns the end of the generator's window in Unix milliseconds, if there is a grant.
    pub fn end(&self) -> Option<u64> {
        self.held.as_ref().map(|held| held.end)
    }

    /// Returns whether this process's clocks have shown a gap since the last write that the store acknowledged. After a
    /// gap, another copy of the process may be using the same worker ID.
    pub fn has_gap(&self) -> bool {
        self.held.as_ref().is_some_and(HeldGrant::may_be_shared)
    }

    /// Returns whether the keeper has a grant that it is still renewing.
    fn is_renewed(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.is_lost)
    }

    /// Rejects a reply that is impossible for a store that uses format 1.
    fn check(&self, reply: Reply) -> Result<Reply> {
        let records: &[Record] = match &reply.content {
            ReplyContent::Records(records) => records,
            ReplyContent::Differs(Some(record)) => core::slice::from_ref(record),
            _ => &[],
        };
        let shape = &self.options.shape;
        for record in records {
            record.check()?;
            let is_ours = shape.index_of(record.first).is_some();
            // A renewal increases the version by up to `VERSION_STEPS`, and versions must stay below 2^53, because
            // JavaScript hosts read them as numbers.
            let is_last = record.version >= MAX_SAFE_INTEGER - VERSION_STEPS;
            if !is_ours || record.count != IDS_PER_RECORD || is_last {
                return Err(damaged_record(
                    "expected the record of one worker ID of the namespace",
                ));
            }
        }
        if reply.now >= MAX_SAFE_INTEGER - self.options.lease_ms {
            return Err(damaged_record("expected a time below 2^53 - 1 ms"));
        }
        Ok(reply)
    }

    /// Sends a request to the store and records its purpose.
    fn send(&mut self, purpose: RequestPurpose, operation: Operation, now: Moment) {
        self.request += 1;
        // Hosts do not poll the keeper while they wait for a reply, so the window must cover that time.
        self.schedule_beat(self.options.reply_timeout(), now);
        self.answer_until = now.elapsed_ms + self.options.reply_timeout();
        (self.asked_at, self.sent_at) = (now.elapsed_ms, Offset::from_moment(now));
        let namespace: String = self.options.namespace.clone();
        self.actions.push_back(Action::Send(Request {
            number: self.request,
            namespace,
            operation,
        }));
        self.at = KeeperState::Asking(purpose);
    }

    fn fail(&mut self, error: Error) {
        self.actions.push_back(Action::Rejected(error));
    }
}

impl<R> fmt::Debug for Keeper<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { options, at, held, request, .. } = self;
        f.debug_struct("Keeper")
            .field("options", options)
            .field("at", at)
            .field("held", held)
            .field("request", request)
            .finish_non_exhaustive()
    }
}
