//! A model of a service that leases a block of worker IDs and grants parts of it to processes without writing to the store.
//! Two instances share one block with a single worker ID, and two processes send requests to them. Clocks may show any
//! time, and every message may be late or lost.

use crate::search::{DuplicateCreated, Model};

const INSTANCES: usize = 2;
const SUBPROCESSES: usize = 2;
const TICKS: usize = END as usize;

/// The weakened rule, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeakenedRule {
    Nowhere,
    PastEnd,
    ByPendingEnd,
    AfterLoss,
    DuringStop,
    BelowSubGrant,
    KeptOverRestart,
    ReturnedUnsealed,
}

/// The name and the weakened rule of each variant, and the number of steps after which the search finds a duplicate.
pub const VARIANTS: &[(&str, WeakenedRule, usize)] = &[
    ("a sub-grant beyond the end of the block", WeakenedRule::PastEnd, 12),
    ("a sub-grant based on an end that is not acknowledged", WeakenedRule::ByPendingEnd, 13),
    ("a sub-grant after the block was lost", WeakenedRule::AfterLoss, 15),
    ("a sub-grant while the service stops", WeakenedRule::DuringStop, 14),
    ("a block that is lowered below a sub-grant in use", WeakenedRule::BelowSubGrant, 14),
    ("a block that is kept across a restart of the service", WeakenedRule::KeptOverRestart, 10),
    (
        "a sub-grant that is returned before its generator is sealed",
        WeakenedRule::ReturnedUnsealed,
        11,
    ),
];

/// The block's record. Its token is the number of the claim that created it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Block {
    start: u8,
    until: u8,
    token: u8,
    version: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum InstanceState {
    #[default]
    Idle,
    Claiming,
    Serving,
    Renewing,
    Stopping,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Instance {
    at: InstanceState,
    /// The block that the store acknowledged, and the block that the instance requested.
    block: Block,
    asked: Block,
    /// The end of the last sub-grant that was not released.
    sub_end: u8,
    /// The store's reply in transit: 0 for no reply, 1 for done, 2 for rejected.
    answer: u8,
}

/// A write in transit, which replaces the block that the instance read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Write {
    is_sent: bool,
    is_awaited: bool,
    read: Block,
    put: Block,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Subprocess {
    /// The window of the process's generator, which is empty if there is no generator.
    start: u8,
    end: u8,
    mark: u8,
    from: u8,
    /// A sub-grant in transit to the process, and a release in transit back. A sub-grant consists of its start, its end and
    /// the token of the instance's block. A release consists of the sub-grant's end, the earlier end that replaces it, and
    /// the same token.
    offer: Option<(u8, u8, u8)>,
    back: Option<(u8, u8, u8)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    record: Block,
    instances: [Instance; INSTANCES],
    writes: [Write; INSTANCES],
    subs: [Subprocess; SUBPROCESSES],
    /// The process whose generator created an ID in each tick: 1 or 2, or 3 if that generator has ended.
    made: [u8; TICKS],
    claims: u8,
    renewals: u8,
    grants: u8,
    crashes: u8,
}

/// The service, either sound or with one weakened rule.
pub struct ServiceModel {
    pub weak: WeakenedRule,
    pub claims: u8,
    pub renewals: u8,
    pub grants: u8,
    pub crashes: u8,
}

const END: u8 = 3;

type StateSink<'n> = &'n mut dyn FnMut(Result<State, DuplicateCreated>);

impl Model for ServiceModel {
    type State = State;

    fn start(&self) -> State {
        State {
            record: Block::default(),
            instances: Default::default(),
            writes: Default::default(),
            subs: Default::default(),
            made: Default::default(),
            claims: self.claims,
            renewals: self.renewals,
            grants: self.grants,
            crashes: self.crashes,
        }
    }

    fn steps(&self, state: &State, next: StateSink<'_>) {
        for index in 0..INSTANCES {
            self.send(state, index, next);
            self.deliver(state, index, next);
            self.receive(state, index, next);
            self.stop(state, index, next);
            self.crash(state, index, next);
            for sub in 0..SUBPROCESSES {
                self.grant(state, index, sub, next);
            }
        }
        for sub in 0..SUBPROCESSES {
            self.use_grant(state, sub, next);
        }
    }
}

impl ServiceModel {
    fn is_weakened(&self, weak: WeakenedRule) -> bool {
        self.weak == weak
    }

    /// Makes an instance claim or renew the block.
    fn send(&self, state: &State, index: usize, next: StateSink<'_>) {
        let own = state.instances[index];
        let mut to = *state;
        let (read, at) = match own.at {
            InstanceState::Idle if state.claims > 0 => {
                to.claims -= 1;
                (state.record, InstanceState::Claiming)
            }
            InstanceState::Serving if state.renewals > 0 => {
                to.renewals -= 1;
                (own.block, InstanceState::Renewing)
            }
            _ => return,
        };
        // It is sufficient to try the earliest start, because a later start leaves fewer ticks.
        let (start, token) = match at {
            InstanceState::Claiming => (read.until, self.claims - to.claims),
            _ => (read.start, read.token),
        };
        for until in read.until + 1..=END {
            let put = Block { start, until, token, version: read.version + 1 };
            let mut to = to;
            to.instances[index] = Instance { at, asked: put, answer: 0, ..own };
            to.writes[index] = Write { is_sent: true, is_awaited: true, read, put };
            next(Ok(to));
        }
    }

    fn deliver(&self, state: &State, index: usize, next: StateSink<'_>) {
        let write = state.writes[index];
        if !write.is_sent {
            return;
        }
        let mut to = *state;
        to.writes[index] = Write::default();
        let is_swapped = state.record == write.read;
        if is_swapped {
            to.record = write.put;
        }
        if write.is_awaited {
            to.instances[index].answer = if is_swapped { 1 } else { 2 };
        }
        next(Ok(to));
    }

    fn receive(&self, state: &State, index: usize, next: StateSink<'_>) {
        let own = state.instances[index];
        let mut to = *state;
        let new = &mut to.instances[index];
        new.answer = 0;
        match (own.at, own.answer) {
            (InstanceState::Claiming, 1) => {
                (new.at, new.block, new.sub_end) =
                    (InstanceState::Serving, own.asked, own.asked.start);
            }
            (InstanceState::Renewing, 1) => {
                (new.at, new.block) = (InstanceState::Serving, own.asked);
            }
            (InstanceState::Claiming, 2) => new.at = InstanceState::Idle,
            (InstanceState::Renewing, 2) if self.is_weakened(WeakenedRule::AfterLoss) => {
                (new.at, new.block) = (InstanceState::Serving, own.asked);
            }
            (InstanceState::Renewing, 2) => {
                (new.at, new.block) = (InstanceState::Idle, Block::default());
            }
            _ => return,
        }
        next(Ok(to));
    }

    /// Stops an instance. The instance accepts no more requests, and shrinks its block so that it ends with the last
    /// sub-grant that was not released.
    fn stop(&self, state: &State, index: usize, next: StateSink<'_>) {
        let own = state.instances[index];
        if !matches!(own.at, InstanceState::Serving | InstanceState::Renewing)
            || state.writes[index].is_sent
        {
            return;
        }
        let lowered = if self.is_weakened(WeakenedRule::BelowSubGrant) {
            own.block.start
        } else {
            own.sub_end
        };
        let put = Block {
            until: lowered.max(own.block.start),
            version: own.block.version + 1,
            ..own.block
        };
        let mut to = *state;
        to.instances[index] = Instance { at: InstanceState::Stopping, answer: 0, ..own };
        to.writes[index] = Write { is_sent: true, is_awaited: false, read: own.block, put };
        next(Ok(to));
    }

    /// Crashes an instance, and replaces it with a new one. The crashed instance's grants remain valid.
    fn crash(&self, state: &State, index: usize, next: StateSink<'_>) {
        let own = state.instances[index];
        if own.at == InstanceState::Idle
            || (state.crashes == 0 && own.at != InstanceState::Stopping)
        {
            return;
        }
        let mut to = *state;
        to.crashes -= u8::from(own.at != InstanceState::Stopping);
        to.writes[index].is_awaited = false;
        to.instances[index] = Instance::default();
        if self.is_weakened(WeakenedRule::KeptOverRestart) && own.at == InstanceState::Serving {
            let (block, sub_end) = (own.block, own.block.start);
            to.instances[index] = Instance { at: InstanceState::Serving, block, sub_end, ..own };
        }
        next(Ok(to));
    }

    /// Makes an instance grant part of its block to a process.
    fn grant(&self, state: &State, index: usize, sub: usize, next: StateSink<'_>) {
        let own = state.instances[index];
        let serves = matches!(own.at, InstanceState::Serving | InstanceState::Renewing)
            || (self.is_weakened(WeakenedRule::DuringStop) && own.at == InstanceState::Stopping);
        if !serves || state.grants == 0 || state.subs[sub].offer.is_some() {
            return;
        }
        let last = match self.weak {
            WeakenedRule::PastEnd => END,
            WeakenedRule::ByPendingEnd if own.at == InstanceState::Renewing => own.asked.until,
            _ => own.block.until,
        };
        for end in own.sub_end + 1..=last {
            let mut to = *state;
            to.grants -= 1;
            to.instances[index].sub_end = end;
            to.subs[sub].offer = Some((own.sub_end, end, own.block.token));
            next(Ok(to));
        }
    }

    /// Performs the steps of a sub-grant: a process receives it, generates IDs and releases it, and the release reaches the
    /// instance.
    fn use_grant(&self, state: &State, sub: usize, next: StateSink<'_>) {
        let own = state.subs[sub];
        if let Some((start, end, from)) = own.offer {
            let mut to = *state;
            seal(&mut to, sub);
            to.subs[sub] = Subprocess { start, end, from, mark: 0, offer: None, back: own.back };
            next(Ok(to));
        }
        for tick in own.start..own.end {
            let (mut to, maker) = (*state, u8::try_from(sub + 1).unwrap());
            let made = &mut to.made[usize::from(tick)];
            if *made != 0 && *made != maker {
                return next(Err(DuplicateCreated));
            }
            *made = maker;
            to.subs[sub].mark = own.mark.max(tick + 1);
            next(Ok(to));
        }
        if own.start < own.end && own.back.is_none() {
            let mut to = *state;
            if !self.is_weakened(WeakenedRule::ReturnedUnsealed) {
                seal(&mut to, sub);
                (to.subs[sub].start, to.subs[sub].end, to.subs[sub].mark) = (0, 0, 0);
            }
            to.subs[sub].back = Some((own.end, own.mark.max(own.start), own.from));
            next(Ok(to));
        }
        if let Some((end, freed, from)) = own.back {
            let mut to = *state;
            to.subs[sub].back = None;
            let mut granted = to.instances.iter_mut().filter(|it| it.block.token == from);
            if let Some(instance) = granted.find(|it| it.sub_end == end && from != 0) {
                instance.sub_end = freed;
            }
            next(Ok(to));
        }
    }
}

/// Ends a process's generator. The IDs that it generated remain recorded.
fn seal(to: &mut State, sub: usize) {
    let own = u8::try_from(sub + 1).unwrap();
    to.made.iter_mut().filter(|maker| **maker == own).for_each(|maker| *maker = 3);
}
