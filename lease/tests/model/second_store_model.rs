//! A model of a holder that finds a second store under the address of the first one (R7): a separate store, or a copy
//! whose name and incarnation are those of the first. The first store grants nothing once the second one replies. Holders
//! share one worker ID. Time passes, and readings of a store's clock are behind by a bounded error.
//!
//! No rule can protect the processes that claim from the second store before a holder proves that it lacks grants. From
//! then on, no grant may overlap a grant of the first store. In addition, no proof may extend the wait needlessly.
//!
//! Requests are atomic here, because the larger model covers late and repeated messages.

use crate::search::{DuplicateCreated, Model};

const HOLDERS: usize = 2;
const GRANTS: usize = 3;

/// The weakened rule, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeakenedRule {
    Nowhere,
    NoProof,
    WaitByRecord,
    WaitFromOwnReply,
    WithoutEnd,
    Repeated,
    EqualVersionIsEviction,
    NameOfFirstStore,
}

/// The name, weakened rule and size of each variant, followed by the number of steps after which the search finds the
/// fault.
pub const VARIANTS: &[(&str, WeakenedRule, Size, usize)] = &[
    ("a holder that claims from a second store at once", WeakenedRule::NoProof, FRESH, 5),
    ("a wait for the second store's own longest lease", WeakenedRule::WaitByRecord, FRESH, 8),
    (
        "a wait that counts from the holder's own last reply",
        WeakenedRule::WaitFromOwnReply,
        FRESH,
        8,
    ),
    ("a proof by a grant that ended long ago", WeakenedRule::WithoutEnd, EXACT, 7),
    ("a proof that each holder repeats", WeakenedRule::Repeated, EXACT, 8),
    (
        "an equal version with another token that passes as an eviction",
        WeakenedRule::EqualVersionIsEviction,
        COPY,
        5,
    ),
    (
        "a proof that records the first store's name as the previous one",
        WeakenedRule::NameOfFirstStore,
        FRESH,
        6,
    ),
];

/// The size of a search.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub ticks: u8,
    /// The longest lease of the first store. The second store's longest lease is one tick.
    pub longest: u8,
    /// The maximum lag of a reading of a store's clock.
    pub error: u8,
    /// Whether the second store is a copy with the first one's name and incarnation.
    pub is_copy: bool,
}

/// A second store with a separate incarnation.
pub const FRESH: Size = Size { ticks: 7, longest: 2, error: 1, is_copy: false };
/// A copy of the first store, in which another process has claimed the worker ID meanwhile.
pub const COPY: Size = Size { is_copy: true, ..FRESH };
/// The same as [`FRESH`], with exact clocks.
pub const EXACT: Size = Size { error: 0, ticks: 6, ..FRESH };

/// The incarnation of the first store, and of the second store unless it is a copy.
const INCARNATIONS: [u8; 2] = [1, 2];
/// A token that no holder of the model has.
const FOREIGN_TOKEN: u8 = u8::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Store {
    incarnation: u8,
    quiet_until: u8,
    /// Whether a holder has begun the current incarnation because of a proof.
    is_proven: bool,
    token: u8,
    version: u8,
    until: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Grant {
    holder: u8,
    start: u8,
    until: u8,
    store: u8,
    /// `false` if the second store granted before any holder knew that it lacks grants.
    is_protected: bool,
}

/// The record that the first store acknowledged, and the time of its reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Acknowledged {
    incarnation: u8,
    token: u8,
    version: u8,
    until: u8,
    at: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Holder {
    acknowledged: Option<Acknowledged>,
    /// The time, on the second store's clock, that its quiet time must reach before the holder claims.
    older_grants_until: u8,
    has_proof: bool,
    has_begun: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    clock: u8,
    stores: [Store; 2],
    /// The time at which the first store stopped replying.
    ended_at: Option<u8>,
    holders: [Holder; HOLDERS],
    grants: [Option<Grant>; GRANTS],
    promotions: u8,
}

pub struct SecondStoreModel {
    pub weak: WeakenedRule,
    pub size: Size,
}

type StateSink<'n> = &'n mut dyn FnMut(Result<State, DuplicateCreated>);

impl Model for SecondStoreModel {
    type State = State;

    fn start(&self) -> State {
        let [first, second] = INCARNATIONS.map(|incarnation| Store {
            incarnation,
            quiet_until: 0,
            is_proven: false,
            token: 0,
            version: 1,
            until: 0,
        });
        let copy =
            Store { incarnation: first.incarnation, token: FOREIGN_TOKEN, version: 2, ..second };
        State {
            clock: self.size.error,
            stores: [first, if self.size.is_copy { copy } else { second }],
            ended_at: None,
            holders: Default::default(),
            grants: [None; GRANTS],
            promotions: 1,
        }
    }

    fn steps(&self, state: &State, next: StateSink<'_>) {
        for now in state.clock - self.size.error..=state.clock {
            for holder in 0..HOLDERS {
                self.claim(state, (holder, now), next);
                self.find_second_store(state, (holder, now), next);
                self.begin_incarnation(state, (holder, now), next);
            }
        }
        self.report_promotion(state, next);
        if state.clock + 1 < self.size.ticks {
            next(Ok(State { clock: state.clock + 1, ..*state }));
        }
        if state.ended_at.is_none() {
            next(Ok(State { ended_at: Some(state.clock), ..*state }));
        }
    }
}

impl SecondStoreModel {
    fn is_weakened(&self, weak: WeakenedRule) -> bool {
        self.weak == weak
    }

    /// Makes a holder without a grant claim the worker ID from the store that replies.
    fn claim(&self, state: &State, (holder, now): (usize, u8), next: StateSink<'_>) {
        let own = state.holders[holder];
        let index = usize::from(state.ended_at.is_some());
        let store = state.stores[index];
        let place = state.grants.iter().position(Option::is_none);
        let may = own.acknowledged.is_none() && now >= store.quiet_until.max(store.until);
        let Some(place) = place.filter(|_| may && !self.must_wait(&own, &store)) else {
            return;
        };
        let is_protected = index == 0 || own.has_proof || store.is_proven;
        for until in now + 1..=self.size.ticks.min(now + self.size.longest) {
            let mut to = *state;
            let (token, version) = (u8::try_from(place + 1).unwrap(), store.version + 1);
            to.stores[index] = Store { token, version, until, ..store };
            to.grants[place] = Some(Grant {
                holder: u8::try_from(holder).unwrap(),
                start: now,
                until,
                store: u8::try_from(index).unwrap(),
                is_protected,
            });
            if index == 0 {
                let (incarnation, at) = (store.incarnation, state.clock);
                to.holders[holder].acknowledged =
                    Some(Acknowledged { incarnation, token, version, until, at });
            }
            next(if to.has_overlap() { Err(DuplicateCreated) } else { Ok(to) });
        }
    }

    /// Returns whether a holder must begin an incarnation before it claims.
    fn must_wait(&self, own: &Holder, store: &Store) -> bool {
        let is_repeated = self.is_weakened(WeakenedRule::Repeated) && own.has_proof;
        store.quiet_until < own.older_grants_until || (is_repeated && !own.has_begun)
    }

    /// Makes a holder read its record in the second store. The holder's grant is lost, and the record may be a proof.
    fn find_second_store(&self, state: &State, (holder, now): (usize, u8), next: StateSink<'_>) {
        let (own, store) = (state.holders[holder], state.stores[1]);
        let (Some(known), Some(ended_at)) = (own.acknowledged, state.ended_at) else { return };
        let Size { longest, error, .. } = self.size;
        let is_other = store.incarnation != known.incarnation;
        let has_other_token = store.token != known.token;
        let is_equal = store.version == known.version && has_other_token;
        let is_recent = now < known.until + longest + error;
        let has_proof = (is_recent || self.is_weakened(WeakenedRule::WithoutEnd))
            && (store.version < known.version || is_equal || (is_other && has_other_token));
        let is_ignored = match self.weak {
            WeakenedRule::NoProof => true,
            WeakenedRule::EqualVersionIsEviction => is_equal && !is_other,
            _ => !has_proof,
        };
        let older = (now + longest + error).saturating_sub(state.clock - known.at);
        let older_grants_until = if is_ignored { 0 } else { older };
        let mut to = *state;
        to.holders[holder] =
            Holder { acknowledged: None, older_grants_until, has_proof, has_begun: false };
        let is_needless = has_proof && state.clock >= ended_at + 2 * (longest + error);
        next(if is_needless { Err(DuplicateCreated) } else { Ok(to) });
    }

    /// Begins an incarnation of the second store whose quiet time covers all grants of the first one.
    fn begin_incarnation(&self, state: &State, (holder, now): (usize, u8), next: StateSink<'_>) {
        let (own, store) = (state.holders[holder], state.stores[1]);
        if !self.must_wait(&own, &store) {
            return;
        }
        let Size { longest, error, .. } = self.size;
        let is_needless = error == 0 && store.is_proven;
        let (last, floor) = (now.max(store.until), own.older_grants_until.max(store.quiet_until));
        let end = match self.weak {
            WeakenedRule::WaitByRecord => last + 1 + error,
            WeakenedRule::WaitFromOwnReply => 0,
            _ => last + longest + error,
        };
        let mut to = *state;
        to.stores[1] = Store {
            incarnation: store.incarnation + 2,
            // The clock may show an earlier time than when the holder read its record.
            quiet_until: end.max(floor),
            is_proven: true,
            ..store
        };
        to.holders[holder].has_begun = true;
        next(if is_needless { Err(DuplicateCreated) } else { Ok(to) });
    }

    /// Makes an operator report that the first store became the second one, which ends a wait whose record has the first
    /// store's name as the previous one.
    fn report_promotion(&self, state: &State, next: StateSink<'_>) {
        let is_named = self.is_weakened(WeakenedRule::NameOfFirstStore);
        if is_named && state.promotions > 0 && state.stores[1].is_proven {
            let mut to = State { promotions: 0, ..*state };
            to.stores[1].quiet_until = 0;
            // The holders that proved the loss may have exited since then.
            to.holders = Default::default();
            next(Ok(to));
        }
    }
}

impl State {
    /// Returns whether two holders may use the same tick, unless nothing protects one of the grants from a grant of the
    /// other store.
    fn has_overlap(&self) -> bool {
        let grants = self.grants.iter().flatten();
        grants.clone().any(|one| {
            grants.clone().any(|other| {
                let is_excused =
                    one.store != other.store && !(one.is_protected && other.is_protected);
                one.holder != other.holder
                    && !is_excused
                    && one.start.max(other.start) < one.until.min(other.until)
            })
        })
    }
}
