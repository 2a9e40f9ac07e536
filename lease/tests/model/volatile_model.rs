//! A model of a volatile store, which may lose any of its data at any time. It may be emptied; it may crash and load an old
//! snapshot; or it may become a replica, copy another server's data, and be promoted again. Two processes share one worker
//! ID. Time passes on the store's clock, and readings of that clock are off by a bounded error. Every message may be late,
//! lost or duplicated.
//!
//! The model omits some features that the larger model covers: releases, clones, operators, and reads that determine
//! whether a write took effect.

use crate::search::{DuplicateCreated, Model};

const HOLDERS: usize = 2;
const MESSAGES: usize = 5;

/// The weakened rule, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeakenedRule {
    Nowhere,
    EmptyIsKnown,
    NameWithoutRun,
    NameWithoutReplication,
    RenewedPastEndFound,
    RenewedWithinClockError,
    LateBegin,
    WaitByOwnLease,
    WaitWithoutClockError,
    SlackIntoWait,
}

/// The name, weakened rule and size of each variant, followed by the number of steps after which the search finds a
/// duplicate.
pub const VARIANTS: &[(&str, WeakenedRule, Size, usize)] = &[
    (
        "a volatile store that is emptied and grants immediately",
        WeakenedRule::EmptyIsKnown,
        FLUSH,
        9,
    ),
    ("a name that a crash with a lost second keeps", WeakenedRule::NameWithoutRun, LAST_SECOND, 8),
    (
        "a name that a crash with a lost snapshot interval keeps",
        WeakenedRule::NameWithoutRun,
        CRASH,
        8,
    ),
    (
        "a name that a demotion and a promotion keep",
        WeakenedRule::NameWithoutReplication,
        DEMOTION,
        8,
    ),
    (
        "in a volatile store, a renewal beyond the end found there",
        WeakenedRule::RenewedPastEndFound,
        RENEWAL,
        13,
    ),
    (
        "the same, within the clock error before that end, in a volatile store",
        WeakenedRule::RenewedWithinClockError,
        RENEWAL,
        13,
    ),
    ("a waiting time that is written late", WeakenedRule::LateBegin, REPEATED_FLUSH, 15),
    ("a waiting time of the claimant's own lease", WeakenedRule::WaitByOwnLease, FLUSH, 12),
    ("a waiting time without the clock error", WeakenedRule::WaitWithoutClockError, CRASH, 11),
    ("clock slack that extends into the waiting time", WeakenedRule::SlackIntoWait, FLUSH, 13),
];

/// The size of a search.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub ticks: u8,
    /// `longest` is the duration of the longest lease. `error` is the maximum lag of a reading of the store's clock behind
    /// the true time. `slack` is the maximum time by which the start of a grant may precede the clock reading.
    pub longest: u8,
    pub error: u8,
    pub slack: u8,
    pub claims: u8,
    pub renewals: u8,
    /// How many writes to the namespace's record may be sent.
    pub namespaces: u8,
    /// How many times a message may arrive.
    pub deliveries: u8,
    pub flushes: u8,
    pub crashes: u8,
    pub demotions: u8,
    /// The maximum age of the data that the store loads after a crash or a demotion.
    pub oldest: u8,
    /// Whether the store is initially empty. If it is not empty, its waiting time has already passed.
    pub is_empty: bool,
}

/// A store that is emptied once.
pub const FLUSH: Size = Size {
    ticks: 7,
    longest: 2,
    error: 1,
    slack: 1,
    claims: 2,
    renewals: 0,
    namespaces: 2,
    deliveries: 1,
    flushes: 1,
    crashes: 0,
    demotions: 0,
    oldest: u8::MAX,
    is_empty: false,
};
/// A store that crashes once, and then loads a snapshot that may be arbitrarily old.
pub const CRASH: Size = Size { namespaces: 1, flushes: 0, crashes: 1, ..FLUSH };
/// A store that crashes and loses the writes made since the last tick.
const LAST_SECOND: Size = Size { oldest: 0, ..CRASH };
/// A store whose data is replaced when it becomes a replica, and which is then promoted.
pub const DEMOTION: Size = Size { crashes: 0, demotions: 1, ..CRASH };
/// A store that crashes once, and a holder that renews its grant once.
pub const RENEWAL: Size = Size { renewals: 1, ..CRASH };
/// An initially empty store that is emptied again, with messages that may arrive twice.
pub const REPEATED_FLUSH: Size =
    Size { flushes: 1, deliveries: 2, is_empty: true, ticks: 9, ..FLUSH };

/// A store's name: the identity of the server's run, and the identity of its replication history.
type StoreName = (u8, u8);

/// The namespace's record. Version 0 stands for a missing record, and only `Begin` writes a version above 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Namespace {
    version: u8,
    incarnation: u8,
    store: StoreName,
    quiet_until: u8,
}

/// The record of the worker ID. Version 0 stands for a missing record, and token 0 for a worker ID that was never granted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Record {
    version: u8,
    incarnation: u8,
    token: u8,
    start: u8,
    until: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Content {
    namespace: Namespace,
    record: Record,
}

/// A write in transit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Write {
    Open { incarnation: u8 },
    Begin { old: Namespace, new: Namespace },
    Put { holder: u8, old: Record, new: Record },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Message {
    left: u8,
    write: Write,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Holder {
    /// The record of the holder's grant. The record also defines the window of the holder's generator.
    grant: Option<Record>,
    /// The record in the holder's pending request, or `None` if the holder is not waiting for a reply.
    asked: Option<Record>,
    is_answered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    content: Content,
    /// Previously saved content, and the time at which it was saved.
    saved: (Content, u8),
    name: StoreName,
    clock: u8,
    holders: [Holder; HOLDERS],
    messages: [Option<Message>; MESSAGES],
    /// The incarnation and the token to assign next.
    next: (u8, u8),
    claims: u8,
    renewals: u8,
    namespaces: u8,
    flushes: u8,
    crashes: u8,
    demotions: u8,
}

/// A volatile store, either sound or with one weakened rule.
pub struct VolatileModel {
    pub weak: WeakenedRule,
    pub size: Size,
}

type StateSink<'n> = &'n mut dyn FnMut(Result<State, DuplicateCreated>);

impl Model for VolatileModel {
    type State = State;

    fn start(&self) -> State {
        let Size { error, claims, renewals, namespaces, flushes, crashes, demotions, .. } =
            self.size;
        let name = (1, 1);
        let namespace = Namespace { version: 2, incarnation: 1, store: name, quiet_until: 0 };
        let record = Record { version: 1, incarnation: 1, ..Record::default() };
        let begun = Content { namespace, record };
        State {
            content: if self.size.is_empty { Content::default() } else { begun },
            saved: (Content::default(), error),
            name,
            clock: error,
            holders: Default::default(),
            messages: [None; MESSAGES],
            next: (2, 1),
            claims,
            renewals,
            namespaces,
            flushes,
            crashes,
            demotions,
        }
    }

    fn steps(&self, state: &State, next: StateSink<'_>) {
        for holder in 0..HOLDERS {
            self.claim(state, holder, next);
            self.renew(state, holder, next);
            self.settle(state, holder, next);
        }
        self.open(state, next);
        self.begin(state, next);
        self.deliver(state, next);
        self.lose_content(state, next);
        self.pass_time(state, next);
    }
}

impl VolatileModel {
    fn is_weakened(&self, weak: WeakenedRule) -> bool {
        self.weak == weak
    }

    /// Returns the times that the store's clock may show.
    fn store_times(&self, state: &State) -> std::ops::RangeInclusive<u8> {
        state.clock.saturating_sub(self.size.error)..=state.clock
    }

    /// Returns whether a keeper considers the namespace's incarnation to belong to this store.
    fn is_known(&self, state: &State) -> bool {
        let Namespace { version, store, .. } = state.content.namespace;
        version > u8::from(!self.is_weakened(WeakenedRule::EmptyIsKnown)) && store == state.name
    }

    /// Proposes a new namespace, as a keeper does if it finds no namespace.
    fn open(&self, state: &State, next: StateSink<'_>) {
        if state.content.namespace.version == 0 && state.namespaces > 0 {
            let (mut to, incarnation) = (*state, state.next.0);
            (to.next.0, to.namespaces) = (incarnation + 1, state.namespaces - 1);
            self.send(to, Write::Open { incarnation }, next);
        }
    }

    /// Begins an incarnation with a waiting time, as a keeper does if it finds a namespace that was written for another
    /// store.
    fn begin(&self, state: &State, next: StateSink<'_>) {
        let old = state.content.namespace;
        if old.version == 0 || state.namespaces == 0 || self.is_known(state) {
            return;
        }
        let wait = match self.weak {
            WeakenedRule::WaitByOwnLease => 1 + self.size.error,
            WeakenedRule::WaitWithoutClockError => self.size.longest,
            _ => self.wait_ticks(),
        };
        for now in self.store_times(state) {
            let mut to = *state;
            (to.next.0, to.namespaces) = (state.next.0 + 1, state.namespaces - 1);
            let new = Namespace {
                version: old.version + 1,
                incarnation: state.next.0,
                store: state.name,
                quiet_until: old.quiet_until.max(now + wait),
            };
            self.send(to, Write::Begin { old, new }, next);
        }
    }

    /// Returns the waiting time: the longest lease plus the clock error.
    fn wait_ticks(&self) -> u8 {
        self.size.longest + self.size.error
    }

    /// Makes a holder without a grant read the record and send a claim.
    fn claim(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let Holder { grant: None, asked: None, .. } = state.holders[holder] else { return };
        let Content { namespace, record } = state.content;
        // The holders are interchangeable, so the model explores only the order in which the first holder claims first.
        let is_turn = holder == 0 || state.holders[0] != Holder::default();
        if state.claims == 0 || record.version == 0 || !is_turn || !self.is_known(state) {
            return;
        }
        for now in self.store_times(state) {
            if now < namespace.quiet_until.max(record.until) {
                continue;
            }
            let early = now.saturating_sub(self.size.slack).max(record.until);
            let is_early = self.is_weakened(WeakenedRule::SlackIntoWait);
            let start = if is_early { early } else { early.max(namespace.quiet_until) };
            for until in start + 1..=self.latest_end(now) {
                let (mut to, (incarnation, token)) =
                    (*state, (namespace.incarnation, state.next.1));
                (to.claims, to.next.1) = (state.claims - 1, token + 1);
                let version = record.version + 1;
                let new = Record { version, incarnation, token, start, until };
                self.put(to, holder, (record, new), next);
            }
        }
    }

    fn latest_end(&self, now: u8) -> u8 {
        self.size.ticks.min(now + self.size.longest)
    }

    /// Makes a holder renew its grant. In another incarnation, the holder renews the record found there, provided that the
    /// store cannot have granted the worker ID to another holder in the meantime.
    fn renew(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let Holder { grant: Some(grant), asked: None, .. } = state.holders[holder] else { return };
        let Content { namespace, record: found } = state.content;
        if state.renewals == 0 || !self.is_known(state) {
            return;
        }
        let is_same = grant.incarnation == namespace.incarnation;
        let is_claim = (found.token, found.start) == (grant.token, grant.start);
        for now in self.store_times(state) {
            let end = found.until.min(grant.until);
            let is_alive = match self.weak {
                WeakenedRule::RenewedPastEndFound => true,
                WeakenedRule::RenewedWithinClockError => now < end,
                _ => now + self.size.error < end,
            };
            let old = if is_same { grant } else { found };
            let may_renew = is_same || (is_alive && is_claim);
            if !may_renew {
                continue;
            }
            for until in (grant.until + 1).max(old.until)..=self.latest_end(now) {
                let (mut to, incarnation) = (*state, namespace.incarnation);
                to.renewals -= 1;
                let new = Record { version: old.version + 1, incarnation, until, ..old };
                self.put(to, holder, (old, new), next);
            }
        }
    }

    fn put(&self, mut to: State, holder: usize, (old, new): (Record, Record), next: StateSink<'_>) {
        to.holders[holder].asked = Some(new);
        let holder = u8::try_from(holder).unwrap();
        self.send(to, Write::Put { holder, old, new }, next);
    }

    /// Sends a write, unless too many are in transit.
    fn send(&self, mut to: State, write: Write, next: StateSink<'_>) {
        if let Some(place) = to.messages.iter_mut().find(|message| message.is_none()) {
            *place = Some(Message { left: self.size.deliveries, write });
            next(Ok(to.sorted()));
        }
    }

    /// Delivers a reply to its holder. The reply may be too late to have an effect.
    fn settle(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let Holder { asked, is_answered: true, .. } = state.holders[holder] else { return };
        let mut to = *state;
        to.holders[holder] = Holder { grant: asked, ..Holder::default() };
        next(if to.has_overlap() { Err(DuplicateCreated) } else { Ok(to) });
    }

    /// Delivers a write to the store.
    fn deliver(&self, state: &State, next: StateSink<'_>) {
        for (index, message) in state.messages.iter().enumerate() {
            let Some(Message { left, write }) = *message else { continue };
            let mut to = *state;
            to.messages[index] = (left > 1).then_some(Message { left: left - 1, write });
            let is_named = state.content.namespace.store == state.name;
            match write {
                Write::Open { incarnation } if state.content.namespace.version == 0 => {
                    let (store, quiet_until) = (state.name, 0);
                    to.content.namespace =
                        Namespace { version: 1, incarnation, store, quiet_until };
                    if self.is_weakened(WeakenedRule::EmptyIsKnown) {
                        to.content.create_record();
                    }
                }
                Write::Begin { old, new } if self.accepts(state, &old, &new) => {
                    to.content.namespace = new;
                    to.content.create_record();
                }
                Write::Put { holder, old, new }
                    if is_named
                        && state.content.record == old
                        && state.content.namespace.incarnation == new.incarnation =>
                {
                    to.content.record = new;
                    let holder = &mut to.holders[usize::from(holder)];
                    holder.is_answered |= holder.asked == Some(new);
                }
                _ => {}
            }
            next(Ok(to.sorted()));
        }
    }

    /// Returns whether the store accepts a new incarnation. The store rejects an incarnation whose waiting time began
    /// before the write arrived.
    fn accepts(&self, state: &State, old: &Namespace, new: &Namespace) -> bool {
        let Namespace { version, incarnation, .. } = state.content.namespace;
        let is_late = new.quiet_until < *self.store_times(state).start() + self.wait_ticks();
        let accepts_any = matches!(
            self.weak,
            WeakenedRule::LateBegin
                | WeakenedRule::WaitByOwnLease
                | WeakenedRule::WaitWithoutClockError
        );
        (version, incarnation) == (old.version, old.incarnation)
            && new.store == state.name
            && (!is_late || accepts_any)
    }

    /// Produces the states in which the store has saved its content, or has lost it and continues with older content or
    /// without content.
    fn lose_content(&self, state: &State, next: StateSink<'_>) {
        if state.crashes + state.demotions > 0 {
            next(Ok(State { saved: (state.content, state.clock), ..*state }));
        }
        if state.flushes > 0 {
            let content = Content::default();
            next(Ok(State { content, flushes: state.flushes - 1, ..*state }));
        }
        let (content, at) = state.saved;
        if state.clock - at > self.size.oldest {
            return;
        }
        if state.crashes > 0 {
            let run = state.name.0 + u8::from(!self.is_weakened(WeakenedRule::NameWithoutRun));
            let name = (run, state.name.1);
            next(Ok(State { content, name, crashes: state.crashes - 1, ..*state }));
        }
        if state.demotions > 0 {
            let kept = self.is_weakened(WeakenedRule::NameWithoutReplication);
            let name = (state.name.0, state.name.1 + u8::from(!kept));
            next(Ok(State { content, name, demotions: state.demotions - 1, ..*state }));
        }
    }

    fn pass_time(&self, state: &State, next: StateSink<'_>) {
        if state.clock + 1 < self.size.ticks {
            next(Ok(State { clock: state.clock + 1, ..*state }));
        }
    }
}

impl Content {
    /// Creates the record of the worker ID, if it is missing.
    fn create_record(&mut self) {
        if self.record.version == 0 {
            let incarnation = self.namespace.incarnation;
            self.record = Record { version: 1, incarnation, ..Record::default() };
        }
    }
}

impl State {
    /// Returns whether there is a tick in which both holders may generate an ID. The holders' clocks may show any time.
    fn has_overlap(&self) -> bool {
        let [Some(one), Some(other)] = self.holders.map(|holder| holder.grant) else {
            return false;
        };
        one.start.max(other.start) < one.until.min(other.until)
    }

    /// Returns the same state with its messages sorted, because their order has no meaning.
    fn sorted(mut self) -> Self {
        self.messages.sort_unstable();
        self
    }
}
