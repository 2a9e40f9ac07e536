//! A model of the lease protocol. It covers every step that a holder, the store or the network can take, and every crash.
//! The clocks of holders and the store may show any time at any moment, because safety must not depend on a clock, except
//! after a backup has been restored and after an operator has declared a holder dead.

use crate::{
    search::{DuplicateCreated, Model},
    state::{
        Backup, COPIED_GENERATOR, ENDED_GENERATOR, Grant, HOLDERS, Holder, Message, Record, State,
        StoreNames, Wait,
    },
    weakened_variants::WeakenedRule,
};

/// The bounds of a search: how often each kind of event may occur, and what the model includes.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub holders: u8,
    pub numbers: u8,
    pub ticks: u8,
    /// The number of time units in a tick. If it is above 1, grant ends must be rounded.
    pub grain: u8,
    pub claims: u8,
    pub renewals: u8,
    pub crashes: u8,
    pub store_crashes: u8,
    /// How often a process, including its keeper and generator, may be cloned.
    pub clones: u8,
    /// Which copies notice a gap between their wall and monotonic clocks.
    pub gaps: Gaps,
    /// How many times a message may arrive.
    pub deliveries: u8,
    /// The number of times that a holder may confirm a read with a write.
    pub proofs: u8,
    /// How often reads from a primary may return a write that its synchronous replica lacks, because the primary was
    /// restarted or the wait for the replica was canceled. `None` means that the store has no replica.
    pub unreplicated: Option<u8>,
    /// How often the replica may be promoted.
    pub promotions: u8,
    pub operator: Operator,
    pub time: Time,
}

/// Which copies of a process notice a gap between their wall and monotonic clocks after a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// No copy notices a gap, for example if the image of a running virtual machine is restored immediately.
    Unseen,
    /// The original continues without a gap, and its copy notices one.
    InCopy,
    /// The image is restored twice, so both copies notice a gap.
    InBoth,
}

/// How often an operator may make each kind of statement. All statements are true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// How often the operator may state that a backup was restored in place, which does not change the store's name.
    pub restored: u8,
    /// How often the operator may state, at any later time, that the last promotion lost no data.
    pub promoted: u8,
    /// How often the operator may declare a holder dead.
    pub dead: u8,
}

impl Operator {
    pub const NO_ACTIONS: Self = Self { restored: 0, promoted: 0, dead: 0 };
}

/// The times that the store's clock may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The clock may show any time.
    Any,
    /// Time passes, and clock readings are off by at most `error`. Backups may be restored `restores` times. Leases last at
    /// most `longest` ticks.
    Passing { error: u8, longest: u8, slack: u8, restores: u8 },
}

impl Size {
    pub const SMALLEST: Self = Self {
        holders: 2,
        numbers: 1,
        ticks: 2,
        grain: 1,
        claims: 2,
        renewals: 0,
        crashes: 0,
        store_crashes: 0,
        clones: 0,
        gaps: Gaps::Unseen,
        deliveries: 1,
        proofs: 0,
        unreplicated: None,
        promotions: 0,
        operator: Operator::NO_ACTIONS,
        time: Time::Any,
    };

    /// A store that is restored from a backup once.
    pub const RESTORE: Self = Self {
        ticks: 4,
        renewals: 1,
        time: Time::Passing { error: 1, longest: 2, slack: 1, restores: 1 },
        ..Self::SMALLEST
    };

    /// A store with a synchronous replica. The replica is promoted once, and the operator reports the promotion.
    pub const REPLICA: Self = Self {
        ticks: 4,
        proofs: 1,
        unreplicated: Some(1),
        promotions: 1,
        operator: Operator { promoted: 1, ..Operator::NO_ACTIONS },
        time: Time::Passing { error: 1, longest: 2, slack: 1, restores: 0 },
        ..Self::SMALLEST
    };

    /// Holders that are killed and declared dead.
    pub const DEAD_HOLDERS: Self = Self {
        ticks: 4,
        crashes: 1,
        operator: Operator { dead: 1, ..Operator::NO_ACTIONS },
        time: Time::Passing { error: 1, longest: 3, slack: 1, restores: 0 },
        ..Self::SMALLEST
    };

    fn end(&self) -> u8 {
        self.ticks * self.grain
    }
}

/// A protocol, either sound or with one weakened rule.
pub struct Protocol {
    pub size: Size,
    pub weak: WeakenedRule,
}

type StateSink<'n> = &'n mut dyn FnMut(Result<State, DuplicateCreated>);

impl Model for Protocol {
    type State = State;

    fn start(&self) -> State {
        let Size { claims, renewals, crashes, store_crashes, .. } = self.size;
        State {
            records: Default::default(),
            durable: Default::default(),
            holders: [Holder::default(); HOLDERS],
            messages: Default::default(),
            made: Default::default(),
            next_token: 1,
            claims,
            renewals,
            crashes,
            store_crashes,
            losses: 1,
            clock: match self.size.time {
                Time::Any => 0,
                Time::Passing { error, .. } => error,
            },
            incarnation: 0,
            quiet_until: 0,
            restores: match self.size.time {
                Time::Any => 0,
                Time::Passing { restores, .. } => restores,
            },
            backup: None,
            in_place: self.size.operator.restored,
            clones: self.size.clones,
            cloned_until: 0,
            cloned_token: 0,
            next_mark: 1,
            proofs: self.size.proofs,
            replica: Default::default(),
            unreplicated: self.size.unreplicated.unwrap_or(0),
            promotions: self.size.promotions,
            store: StoreNames { now: 1, before: 0, quiet_before: 0 },
            next_name: 2,
            promotion: (0, 0),
            statements: self.size.operator.promoted,
            corpse: 0,
            deaths: self.size.operator.dead,
        }
    }

    fn steps(&self, state: &State, next: StateSink<'_>) {
        for holder in 0..usize::from(self.size.holders) {
            self.generate(state, holder, next);
            self.claim(state, holder, next);
            self.renew(state, holder, next);
            self.release(state, holder, next);
            self.receive_done_reply(state, holder, next);
            self.read_again(state, holder, next);
            self.give_up(state, holder, next);
            self.crash(state, holder, next);
            self.clone(state, holder, next);
            self.take_weakened_steps(state, holder, next);
        }
        self.deliver(state, next);
        self.flush(state, next);
        self.pass_time(state, next);
        self.promote(state, next);
        self.declare_promoted(state, next);
        self.declare_dead(state, next);
    }
}

impl Protocol {
    fn is_weakened(&self, weak: WeakenedRule) -> bool {
        self.weak == weak
    }

    /// Makes a holder's generator generate an ID. This step also covers reserving an ID for a batch, because the batch may
    /// return the ID at any later time.
    fn generate(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let Holder { has, is_sealed, grant, .. } = state.holders[holder];
        if !has || is_sealed {
            return;
        }
        // A holder's clock may show any time, unless the model includes an operator who declares holders dead. Such a
        // declaration relies on the holder's clock.
        let latest = match self.size.operator.dead {
            0 => u8::MAX,
            _ => state.clock + u8::from(self.is_weakened(WeakenedRule::DeadWithClockAhead)),
        };
        let allowed = |tick: &u8| *tick <= latest && self.contains_tick(&grant, *tick);
        for tick in (0..self.size.ticks).filter(allowed) {
            let mut to = *state;
            let own = &mut to.holders[holder];
            own.mark = if self.is_weakened(WeakenedRule::ReleaseToLatest) {
                tick + 1
            } else {
                own.mark.max(tick + 1)
            };
            next(self.generate_id(to, holder, grant.number, tick));
            if self.is_weakened(WeakenedRule::ReleaseBelowBatch)
                || self.is_weakened(WeakenedRule::MovedInPlace)
            {
                let mut to = *state;
                to.holders[holder].flight = tick + 1;
                to.holders[holder].flight_number = grant.number;
                if self.is_weakened(WeakenedRule::MovedInPlace) {
                    to.holders[holder].mark = state.holders[holder].mark.max(tick + 1);
                }
                next(Ok(to));
            }
        }
    }

    /// Returns whether a generator's window contains a tick.
    fn contains_tick(&self, grant: &Grant, tick: u8) -> bool {
        let (from, to) = (tick * self.size.grain, (tick + 1) * self.size.grain);
        match self.weak {
            WeakenedRule::InclusiveEnd => grant.start <= from && from <= grant.end,
            WeakenedRule::TtlAsProof => true,
            WeakenedRule::MixedRounding => grant.start < to && from < grant.end,
            _ => grant.start <= from && to <= grant.end,
        }
    }

    /// Makes a holder read a record and send a claim. The model has no slow reads, because a slow read has the same effect
    /// as a slow claim.
    fn claim(&self, state: &State, holder: usize, next: StateSink<'_>) {
        if state.claims == 0 || state.holders[holder].wait != Wait::Nothing {
            return;
        }
        for number in 0..self.size.numbers {
            let Some(read) = self.read(state, number) else { continue };
            for now in self.store_times(state) {
                let Some((start, last)) = self.span(state, &read, now) else { continue };
                for until in (start + 1..=last).filter(|end| self.is_tick_boundary(*end)) {
                    let put = Record {
                        start,
                        until,
                        token: if self.is_weakened(WeakenedRule::EqualTokens) {
                            1
                        } else {
                            state.next_token
                        },
                        version: read.version + 1,
                        incarnation: state.incarnation,
                        name: u8::try_from(holder).unwrap(),
                    };
                    let (mut to, mut put) = (*state, put);
                    to.claims -= 1;
                    to.next_token += 1;
                    self.mark_write(&mut to, holder, &mut put);
                    self.send(to, holder, Wait::Claim, number, (read, put), next);
                }
            }
        }
    }

    /// Returns the start and the latest possible end of a new grant.
    fn span(&self, state: &State, read: &Record, now: u8) -> Option<(u8, u8)> {
        let (slack, last) = match self.size.time {
            Time::Any => (0, self.size.end()),
            Time::Passing { longest, slack, .. } => (slack, self.size.end().min(now + longest)),
        };
        let is_passing = self.size.time != Time::Any;
        if is_passing && now < read.until && !self.is_weakened(WeakenedRule::ClaimedBeforeEnd) {
            return None;
        }
        let early = now.saturating_sub(slack);
        let start = match self.weak {
            WeakenedRule::NowForStart => early,
            WeakenedRule::TtlAsProof => (now >= read.until).then_some(now)?,
            WeakenedRule::NoQuietTime => early.max(read.until),
            WeakenedRule::SlackIntoQuietTime => {
                (now >= state.quiet_until).then_some(early.max(read.until))?
            }
            _ => early.max(read.until).max(state.quiet_until),
        };
        let grain = self.size.grain;
        Some((
            if self.is_weakened(WeakenedRule::MixedRounding) {
                start
            } else {
                start.next_multiple_of(grain)
            },
            last,
        ))
    }

    fn is_tick_boundary(&self, time: u8) -> bool {
        self.is_weakened(WeakenedRule::MixedRounding) || time.is_multiple_of(self.size.grain)
    }

    /// Returns the times that the store's clock may show.
    fn store_times(&self, state: &State) -> std::ops::Range<u8> {
        match self.size.time {
            Time::Any => 0..self.size.end(),
            Time::Passing { error, .. } => state.clock.saturating_sub(error)..state.clock + 1,
        }
    }

    /// Returns the durable record for a read. Returns `None` while a write is not yet durable, because the read then waits
    /// for the write.
    fn read(&self, state: &State, number: u8) -> Option<Record> {
        let (record, durable) =
            (state.records[usize::from(number)], state.durable[usize::from(number)]);
        let shows_all =
            matches!(self.weak, WeakenedRule::ReplyBeforeDurable | WeakenedRule::ReadBeforeDurable);
        (record == durable || shows_all).then_some(record)
    }

    fn renew(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let Holder { has, is_sealed, is_known, grant, wait, .. } = state.holders[holder];
        let may = has
            && is_known
            && wait == Wait::Nothing
            && (!is_sealed || self.is_weakened(WeakenedRule::RenewalAfterSeal));
        // If a read shows a later end, a write must confirm that end. This write counts as a proof.
        let is_proof = state.renewals == 0 && grant.record.until > grant.end;
        if !may || (state.renewals == 0 && !(is_proof && state.proofs > 0)) {
            return;
        }
        for now in self.store_times(state) {
            let Some(read) = self.find_renewable_record(state, &grant, now) else { continue };
            let last = match self.size.time {
                Time::Any => self.size.end(),
                Time::Passing { longest, .. } => self.size.end().min(now + longest),
            };
            let first = (grant.end + 1).max(grant.record.until);
            for until in (first..=last.max(first)).filter(|end| self.is_tick_boundary(*end)) {
                if until > last && until > grant.record.until {
                    continue;
                }
                let mut to = *state;
                if is_proof {
                    to.proofs -= 1;
                } else {
                    to.renewals -= 1;
                }
                let mut put = Record { until, version: read.version + 1, ..read };
                if !self.is_weakened(WeakenedRule::RenewalsInQuietTime) {
                    put.incarnation = state.incarnation;
                }
                self.mark_write(&mut to, holder, &mut put);
                if self.is_weakened(WeakenedRule::RenewalWithFreshToken) {
                    put.token = to.next_token;
                    to.next_token += 1;
                }
                if self.is_weakened(WeakenedRule::GrownBeforeAnswer) {
                    to.holders[holder].grant.end = until;
                }
                self.send(to, holder, Wait::Renewal, grant.number, (read, put), next);
            }
        }
    }

    /// Marks a write, so that each clone can distinguish its own writes from those of the other clones. The mark models the
    /// random increments by which the real protocol changes record versions.
    fn mark_write(&self, to: &mut State, holder: usize, put: &mut Record) {
        if self.size.clones > 0 {
            put.name = to.next_mark;
            to.holders[holder].marks |= 1 << to.next_mark;
            to.next_mark += 1;
        }
    }

    /// Returns the record that a renewal replaces. This is normally the record that the holder last saw. In a restored
    /// store, it is the record found there, provided that the store cannot have granted the worker ID to another holder in
    /// the lost history.
    fn find_renewable_record(&self, state: &State, grant: &Grant, now: u8) -> Option<Record> {
        let Time::Passing { error, .. } = self.size.time else { return Some(grant.record) };
        if grant.record.incarnation == state.incarnation
            || self.is_weakened(WeakenedRule::RenewalsInQuietTime)
        {
            return Some(grant.record);
        }
        let found = self.read(state, grant.number)?;
        let end = found.until.min(grant.end);
        let is_alive = match self.weak {
            WeakenedRule::RenewedPastEndFound => true,
            WeakenedRule::RenewedWithinClockError => now < end,
            _ => now + error < end,
        };
        (is_alive && found.is_claim(&grant.record)).then_some(found)
    }

    /// Sends a request, and makes the holder wait for the reply.
    fn send(
        &self,
        mut to: State,
        holder: usize,
        wait: Wait,
        number: u8,
        (read, put): (Record, Record),
        next: StateSink<'_>,
    ) {
        let was_answered = to.holders[holder].answered;
        to.stop_waiting(holder);
        let own = &mut to.holders[holder];
        own.answered = was_answered && self.is_weakened(WeakenedRule::OlderAnswer);
        (own.wait, own.asked, own.number) = (wait, put, number);
        let message = Message {
            left: self.size.deliveries,
            holder: u8::try_from(holder).unwrap(),
            awaited: true,
            is_release: false,
            number,
            read,
            put,
        };
        if to.send(message) {
            next(Ok(to.sorted()));
        }
    }

    /// Makes a holder seal its generator, send the release and finish, whether or not the release arrives.
    fn release(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let own = state.holders[holder];
        let is_free = matches!(own.wait, Wait::Nothing | Wait::Renewal);
        if !own.has
            || !own.is_known
            || !is_free
            || own.has_gap
            || (own.is_sealed && !self.is_weakened(WeakenedRule::RenewalAfterSeal))
        {
            return;
        }
        if self.is_weakened(WeakenedRule::RenewalAfterSeal) && !own.is_sealed {
            let mut to = *state;
            to.holders[holder].is_sealed = true;
            next(Ok(to));
            return;
        }
        let lowest =
            if self.is_weakened(WeakenedRule::ReleaseToZero) { 0 } else { own.grant.start };
        let mark = if self.is_weakened(WeakenedRule::ReleaseToZero) {
            0
        } else {
            own.mark * self.size.grain
        };
        let shared =
            if self.is_weakened(WeakenedRule::ReleasedBelowShared) { 0 } else { own.shared_until };
        let mut put = Record {
            until: lowest.max(mark).max(shared.min(own.grant.end)),
            version: own.grant.record.version + 1,
            ..own.grant.record
        };
        let mut to = *state;
        self.mark_write(&mut to, holder, &mut put);
        if self.is_weakened(WeakenedRule::DeletedRecords) {
            put = Record { version: put.version, ..Record::default() };
        }
        let message = Message {
            left: self.size.deliveries,
            holder: u8::try_from(holder).unwrap(),
            awaited: false,
            is_release: true,
            number: own.grant.number,
            read: own.grant.record,
            put,
        };
        if !to.send(message) {
            return;
        }
        self.end_grant(&mut to, holder);
        next(Ok(to.sorted()));
    }

    /// Ends a holder's grant after the holder has sent its release.
    fn end_grant(&self, to: &mut State, holder: usize) {
        let grant = to.holders[holder].grant;
        let answered = to.holders[holder].answered;
        to.stop_waiting(holder);
        let own = &mut to.holders[holder];
        match self.weak {
            WeakenedRule::LoweredBeforeSealed => own.wait = Wait::Release,
            WeakenedRule::UsedAfterRelease => (own.wait, own.is_sealed) = (Wait::Release, true),
            WeakenedRule::ReopenedByLateAnswer => {
                (own.wait, own.is_sealed, own.answered) = (Wait::Release, true, answered);
            }
            WeakenedRule::RetakenJoined | WeakenedRule::SnapshotBesideGrant => {
                own.old = Some(grant);
                self.drop_generator(to, holder);
            }
            _ => self.drop_generator(to, holder),
        }
    }

    /// Ends a holder's generator. Some weakened variants keep generating IDs with the ended generator. In these variants,
    /// the IDs remain attributed to that generator.
    fn drop_generator(&self, to: &mut State, holder: usize) {
        let made = to.made;
        to.drop_generator(holder);
        if self.keeps_generating() {
            to.made = made;
        }
    }

    fn keeps_generating(&self) -> bool {
        use WeakenedRule::{MovedInPlace, ReleaseBelowBatch, RetakenJoined, SnapshotBesideGrant};
        matches!(self.weak, MovedInPlace | ReleaseBelowBatch | RetakenJoined | SnapshotBesideGrant)
    }

    /// Delivers the reply "done" to the holder.
    fn receive_done_reply(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let own = state.holders[holder];
        // A reply to a write from before the gap may reach another copy, too.
        if !own.answered || (own.is_outdated && !self.is_weakened(WeakenedRule::OutdatedReply)) {
            return;
        }
        let mut to = *state;
        to.holders[holder].has_gap = false;
        match own.wait {
            Wait::Claim => self.acquire(&mut to, holder, own.number, own.asked),
            Wait::Renewal => {
                to.holders[holder].grant.end = own.asked.until;
                to.holders[holder].grant.record = own.asked;
            }
            Wait::Release if self.is_weakened(WeakenedRule::ReopenedByLateAnswer) => {
                to.holders[holder].is_sealed = false;
                to.holders[holder].answered = false;
                return next(Ok(to));
            }
            Wait::Nothing | Wait::Release => return,
        }
        to.stop_waiting(holder);
        next(Ok(to.sorted()));
    }

    /// Assigns a new grant and a new generator to a holder.
    fn acquire(&self, to: &mut State, holder: usize, number: u8, record: Record) {
        let own = to.holders[holder];
        let mut start = record.start;
        if self.is_weakened(WeakenedRule::RetakenJoined) {
            let old = own.old.or(own.has.then_some(own.grant)).filter(|old| old.number == number);
            start = old.map_or(start, |old| old.start.min(start));
        } else {
            self.drop_generator(to, holder);
        }
        let own = &mut to.holders[holder];
        (own.has, own.is_sealed, own.is_known, own.mark) = (true, false, true, 0);
        own.grant = Grant { number, start, end: record.until, record };
    }

    /// Makes a holder read the record again after a rejection or a missing reply.
    fn read_again(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let own = state.holders[holder];
        if !matches!(own.wait, Wait::Claim | Wait::Renewal) {
            return;
        }
        let Some(found) = self.read(state, own.number) else { return };
        let is_own = match self.weak {
            WeakenedRule::SettledByName => found.token != 0 && usize::from(found.name) == holder,
            WeakenedRule::NoStart => found.token == own.asked.token,
            _ => found.is_grant(&own.asked),
        };
        let mut to = *state;
        let is_claim = own.wait == Wait::Claim;
        let answered = own.answered;
        to.stop_waiting(holder);
        if self.is_weakened(WeakenedRule::ReopenedByLateAnswer) && !is_claim {
            to.holders[holder].answered = answered;
        }
        if is_claim && is_own && self.is_weakened(WeakenedRule::NoStart) {
            // The record does not state when the grant started, so the claimant may assume any start.
            for start in 0..found.until {
                let mut to = to;
                self.acquire(&mut to, holder, own.number, found);
                to.holders[holder].grant.start = start;
                next(Ok(to.sorted()));
            }
            return;
        }
        match (is_claim, is_own && self.is_written_by(&own, &found)) {
            (true, true) if self.is_weakened(WeakenedRule::ClaimSettledByRead) => {
                self.acquire(&mut to, holder, own.number, found);
            }
            (true, true) => return self.rewrite_claim(to, holder, (own.number, found), next),
            (true, false) => {}
            (false, true) => {
                // Only the next renewal extends the window, because that renewal writes to the store.
                let grant = &mut to.holders[holder].grant;
                grant.record = found;
                if self.is_weakened(WeakenedRule::RenewalSettledByRead) {
                    grant.end = grant.end.max(found.until);
                }
                to.holders[holder].has_gap &= !self.is_weakened(WeakenedRule::GapSettledByRead);
            }
            // Another copy renewed or released the grant.
            (false, false) if self.must_seal(&own, is_own) => self.drop_generator(&mut to, holder),
            // The record is from a restored store, and the holder may or may not be able to renew it.
            (false, false)
                if found.is_claim(&own.asked) && found.incarnation != state.incarnation => {}
            // The window does not change, and the holder never renews the grant.
            (false, false) => {
                (to.holders[holder].is_known, to.holders[holder].has_gap) = (false, false);
            }
        }
        next(Ok(to.sorted()));
    }

    /// Returns whether a holder seals its generator immediately because another copy holds the grant.
    fn must_seal(&self, own: &Holder, is_own: bool) -> bool {
        if is_own {
            !self.is_weakened(WeakenedRule::CopyGoesOn)
        } else {
            own.has_gap && !self.is_weakened(WeakenedRule::CopyOutlivesRelease)
        }
    }

    /// Makes a claimant write its claim again after finding that claim in the store. Only acknowledged writes are
    /// guaranteed to be on the replica, and the claim was not acknowledged.
    fn rewrite_claim(
        &self,
        mut to: State,
        holder: usize,
        (number, found): (u8, Record),
        next: StateSink<'_>,
    ) {
        if to.proofs == 0 {
            // Instead of writing the claim again, the claimant may give up.
            return next(Ok(to.sorted()));
        }
        to.proofs -= 1;
        let mut put = Record { version: found.version + 1, ..found };
        if !self.is_weakened(WeakenedRule::ProvedByNextVersion) {
            self.mark_write(&mut to, holder, &mut put);
        }
        self.send(to, holder, Wait::Claim, number, (found, put), next);
    }

    /// Returns whether this holder, and not a clone of its process, wrote a record.
    fn is_written_by(&self, own: &Holder, found: &Record) -> bool {
        self.size.clones == 0
            || self.is_weakened(WeakenedRule::CloneTakenForItself)
            || own.marks & (1 << found.name) != 0
    }

    /// Makes a holder stop waiting for a reply. The holder reads the record again in a later step.
    fn give_up(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let mut to = *state;
        to.discard_replies(holder);
        let may = self.size.clones > 0 && self.size.proofs > 0;
        if may && state.holders[holder].wait == Wait::Claim && to != *state {
            next(Ok(to.sorted()));
        }
    }

    /// Clones a machine and its process. Both processes continue, and may repeat each other's IDs until the end of the
    /// cloned grant. If both of them may still receive the reply to a request with a later end, they may repeat each
    /// other's IDs until that later end.
    fn clone(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let (own, twin) = (state.holders[holder], usize::from(self.size.holders) - 1);
        let is_claiming = own.wait == Wait::Claim && self.size.proofs > 0;
        let may =
            (own.has || is_claiming) && holder != twin && state.holders[twin] == Holder::default();
        if state.clones == 0 || !may {
            return;
        }
        let mut to = *state;
        to.clones -= 1;
        // If the holder was waiting for the reply to a request, both clones may still receive the reply. Otherwise, only a
        // new write by one of the clones can confirm the request.
        let is_awaited = own.answered
            || state.messages.iter().any(|it| it.awaited && usize::from(it.holder) == holder);
        to.cloned_until = own.grant.end.max(if is_awaited { own.asked.until } else { 0 });
        to.cloned_token = if own.has { own.grant.record.token } else { own.asked.token };
        to.holders[twin] = Holder { answered: false, answer_is_held: false, ..own };
        let with_gaps = match self.size.gaps {
            Gaps::Unseen => &[][..],
            Gaps::InCopy => &[twin],
            Gaps::InBoth => &[holder, twin],
        };
        if self.size.gaps != Gaps::Unseen {
            // Both copies may repeat the IDs that were generated before the process was cloned.
            let before = u8::try_from(holder + 1).unwrap();
            let made = to.made.as_flattened_mut().iter_mut();
            made.filter(|maker| **maker == before).for_each(|maker| *maker = COPIED_GENERATOR);
        }
        for copy in with_gaps {
            let is_outdated = own.wait != Wait::Nothing;
            let copy = &mut to.holders[*copy];
            (copy.is_outdated, copy.answered) = (is_outdated, own.answered);
            copy.has_gap = !self.is_weakened(WeakenedRule::GapForgotten);
            copy.shared_until = to.cloned_until;
        }
        next(Ok(to));
    }

    /// Kills a process. Another process may start in its place.
    fn crash(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let own = state.holders[holder];
        if state.crashes == 0 || (!own.has && own.wait == Wait::Nothing) {
            return;
        }
        let mut to = *state;
        to.crashes -= 1;
        self.drop_generator(&mut to, holder);
        to.stop_waiting(holder);
        to.holders[holder] = Holder::default();
        to.corpse = if own.has { own.grant.record.token } else { own.asked.token };
        if self.is_weakened(WeakenedRule::TokenKept) && own.has {
            let number = own.grant.number;
            (to.holders[holder].wait, to.holders[holder].number) = (Wait::Claim, number);
            to.holders[holder].asked = own.grant.record;
        }
        next(Ok(to.sorted()));
    }

    /// Delivers a message to the store.
    fn deliver(&self, state: &State, next: StateSink<'_>) {
        for (index, message) in state.messages.iter().enumerate().filter(|(_, sent)| sent.left > 0)
        {
            let mut to = *state;
            to.messages[index].left -= 1;
            let number = usize::from(message.number);
            let is_swapped = self.is_write_accepted(state, message);
            if is_swapped {
                let found = to.records[number];
                let version = found.version.max(message.put.version - 1) + 1;
                to.records[number] = Record { version, ..message.put };
                if !self.is_held() {
                    to.durable[number] = to.records[number];
                    to.replica[number] = to.records[number];
                }
            }
            let holder = &mut to.holders[usize::from(message.holder)];
            let is_heard = message.awaited
                || (!message.is_release
                    && (self.is_weakened(WeakenedRule::OlderAnswer)
                        || self.is_weakened(WeakenedRule::ReopenedByLateAnswer)));
            if is_swapped && is_heard {
                let is_held = self.is_held() && !self.is_weakened(WeakenedRule::ReplyBeforeDurable);
                holder.answered |= !is_held;
                holder.answer_is_held |= is_held;
                // Other copies that wait for the reply may receive it as well.
                let same = |it: &&mut Holder| it.is_outdated && it.asked == message.put;
                to.holders.iter_mut().filter(same).for_each(|copy| copy.answered |= !is_held);
            }
            next(Ok(to.sorted()));
        }
    }

    /// Returns whether the store accepts a write.
    fn is_write_accepted(&self, state: &State, message: &Message) -> bool {
        let (found, read) = (state.records[usize::from(message.number)], message.read);
        let is_current = message.put.incarnation == state.incarnation;
        match self.weak {
            WeakenedRule::ReadThenWrite => true,
            WeakenedRule::NoVersion => {
                (found.token, found.incarnation) == (read.token, read.incarnation)
            }
            WeakenedRule::StaleRelease if message.is_release => true,
            WeakenedRule::ReleaseByToken if message.is_release => found.token == read.token,
            WeakenedRule::VersionAlone => found.version == read.version,
            WeakenedRule::DeletedRecords => found == read,
            WeakenedRule::RenewalsInQuietTime => {
                let is_renewal = message.put.is_grant(&read) && !message.is_release;
                found == read && (is_current || is_renewal)
            }
            _ => found == read && is_current,
        }
    }

    /// Returns whether a write takes effect in two steps. It first becomes visible, and later becomes durable or
    /// replicated.
    fn is_held(&self) -> bool {
        self.size.store_crashes > 0 || self.size.unreplicated.is_some()
    }

    /// Makes the store's writes durable, including on its replica, and sends the replies. Alternatively, the store crashes
    /// before it does so.
    fn flush(&self, state: &State, next: StateSink<'_>) {
        if state.records == state.durable && state.records == state.replica {
            return;
        }
        let mut to = *state;
        (to.durable, to.replica) = (to.records, to.records);
        for holder in &mut to.holders {
            holder.answered |= std::mem::take(&mut holder.answer_is_held);
        }
        next(Ok(to));
        if state.store_crashes > 0 {
            let mut to = *state;
            to.store_crashes -= 1;
            to.records = to.durable;
            to.holders.iter_mut().for_each(|holder| holder.answer_is_held = false);
            next(Ok(to));
        }
        if state.unreplicated > 0 && state.records != state.durable {
            // From now on, reads show the write. The reply to the write is lost or is replaced by a warning.
            let mut to = *state;
            to.unreplicated -= 1;
            to.durable = to.records;
            for holder in &mut to.holders {
                let is_held = std::mem::take(&mut holder.answer_is_held);
                holder.answered |= is_held && self.is_weakened(WeakenedRule::WarningTakenForAnswer);
            }
            next(Ok(to));
        }
    }

    /// Advances time, makes a backup, or restores the backup.
    fn pass_time(&self, state: &State, next: StateSink<'_>) {
        let Time::Passing { error, longest, .. } = self.size.time else { return };
        if state.clock + 1 < self.size.end() {
            next(Ok(State { clock: state.clock + 1, ..*state }));
        }
        if state.restores + state.in_place == 0
            && !self.is_weakened(WeakenedRule::PromotedAfterLoss)
        {
            return;
        }
        let now = Backup {
            records: state.durable,
            quiet_until: state.quiet_until,
            store: state.store.now,
        };
        if state.backup.is_none() || (state.incarnation > 0 && state.backup != Some(now)) {
            next(Ok(State { backup: Some(now), ..*state }));
        }
        let Some(backup) = state.backup else { return };
        if state.restores > 0 {
            let mut to = State { restores: state.restores - 1, ..*state };
            if !self.is_weakened(WeakenedRule::RestoredInPlace) {
                self.change_store_name(&mut to);
            }
            self.restore(&mut to, backup, (error, longest));
            next(Ok(to));
        }
        if state.in_place > 0 {
            let mut to = State { in_place: state.in_place - 1, ..*state };
            self.restore(&mut to, backup, (error, longest));
            if !self.is_weakened(WeakenedRule::RestoredKeepsNameBefore) {
                to.store.before = 0;
            } else if state.store.now == backup.store {
                to.store.before = state.store.before;
            }
            next(Ok(to));
        }
    }

    fn change_store_name(&self, to: &mut State) {
        to.store.now = to.next_name;
        to.next_name += 1;
    }

    /// Restores a store from a backup. The result is a new incarnation with a quiet time.
    fn restore(&self, to: &mut State, backup: Backup, times: (u8, u8)) {
        (to.records, to.durable, to.replica) = (backup.records, backup.records, backup.records);
        to.holders.iter_mut().for_each(|holder| holder.answer_is_held = false);
        let left = to.restores + to.in_place;
        to.backup =
            to.backup.filter(|_| left > 0 || self.is_weakened(WeakenedRule::PromotedAfterLoss));
        if !self.is_weakened(WeakenedRule::RestoredInPlace) {
            self.begin_incarnation(to, (backup.store, backup.quiet_until), times);
        }
    }

    /// Begins a new incarnation of the store, based on its records and on the name and quiet time in the namespace's
    /// record.
    fn begin_incarnation(
        &self,
        to: &mut State,
        (before, quiet_before): (u8, u8),
        (error, longest): (u8, u8),
    ) {
        let ends = to.records.iter().map(|record| record.until);
        let (latest, now) = (ends.max().unwrap_or(0), to.clock.saturating_sub(error));
        to.incarnation += 1;
        let last =
            if self.is_weakened(WeakenedRule::QuietByEndsAlone) { latest } else { latest.max(now) };
        let error = if self.is_weakened(WeakenedRule::QuietWithoutClockError) { 0 } else { error };
        to.quiet_until = quiet_before.max(last + longest + error);
        (to.store.before, to.store.quiet_before) = (before, quiet_before);
    }

    /// Shuts the primary down permanently and promotes its replica, which has all acknowledged writes. A keeper notices the
    /// promotion.
    fn promote(&self, state: &State, next: StateSink<'_>) {
        let Time::Passing { error, longest, .. } = self.size.time else { return };
        if state.promotions == 0 {
            return;
        }
        let mut to = *state;
        to.promotions -= 1;
        to.records = to.replica;
        if self.is_weakened(WeakenedRule::PromotedAfterLoss) {
            let Some(backup) = to.backup else { return };
            to.records = backup.records;
        }
        (to.durable, to.replica) = (to.records, to.records);
        to.holders.iter_mut().for_each(|holder| holder.answer_is_held = false);
        let before = to.store.now;
        self.change_store_name(&mut to);
        to.promotion = (before, to.store.now);
        let quiet_before = to.quiet_until;
        self.begin_incarnation(&mut to, (before, quiet_before), (error, longest));
        next(Ok(to));
    }

    /// Lets an operator state that the last promotion lost no data. Many steps may have happened since the promotion.
    fn declare_promoted(&self, state: &State, next: StateSink<'_>) {
        if state.statements == 0 || state.promotion == (0, 0) {
            return;
        }
        let mut to = *state;
        to.statements -= 1;
        let Time::Passing { error, .. } = self.size.time else { return };
        let is_so = (state.store.before, state.store.now) == state.promotion;
        if self.is_weakened(WeakenedRule::PromotedEndsQuietTime) {
            to.quiet_until = to.quiet_until.min(state.clock.saturating_sub(error));
        } else if is_so || self.is_weakened(WeakenedRule::PromotedUnchecked) {
            to.quiet_until = state.store.quiet_before;
        }
        if to.quiet_until != state.quiet_until {
            next(Ok(to));
        }
    }

    /// Lets an operator declare the holder of a worker ID dead. The operator identifies the holder by the token of its
    /// claim.
    fn declare_dead(&self, state: &State, next: StateSink<'_>) {
        let Time::Passing { error, .. } = self.size.time else { return };
        if state.deaths == 0 || (state.corpse == 0 && !self.is_weakened(WeakenedRule::DeadYetAlive))
        {
            return;
        }
        for number in 0..self.size.numbers {
            let Some(found) = self.read(state, number) else { continue };
            let is_meant = found.token == state.corpse
                || self.is_weakened(WeakenedRule::DeadByNumber)
                || self.is_weakened(WeakenedRule::DeadYetAlive);
            if found.token == 0 || !is_meant {
                continue;
            }
            for now in self.store_times(state) {
                let mut to = *state;
                to.deaths -= 1;
                let error =
                    if self.is_weakened(WeakenedRule::DeadWithoutClockError) { 0 } else { error };
                let end = (now + error + 1).next_multiple_of(self.size.grain);
                let put = Record {
                    until: found.until.min(end.max(found.start)),
                    token: to.next_token,
                    version: found.version + 1,
                    incarnation: state.incarnation,
                    ..found
                };
                to.next_token += 1;
                let number = usize::from(number);
                (to.records[number], to.durable[number], to.replica[number]) = (put, put, put);
                next(Ok(to));
            }
        }
    }

    /// Performs the steps that are possible only in weakened variants.
    fn take_weakened_steps(&self, state: &State, holder: usize, next: StateSink<'_>) {
        let own = state.holders[holder];
        let mut to = *state;
        match self.weak {
            WeakenedRule::ReleaseBelowBatch | WeakenedRule::MovedInPlace if own.flight > 0 => {
                let number = match self.weak {
                    WeakenedRule::MovedInPlace if own.has => own.grant.number,
                    _ => own.flight_number,
                };
                to.holders[holder].flight = 0;
                next(self.generate_id(to, holder, number, own.flight - 1));
            }
            WeakenedRule::LoweredBeforeSealed if own.wait == Wait::Release => {
                self.drop_generator(&mut to, holder);
                to.stop_waiting(holder);
                next(Ok(to.sorted()));
            }
            WeakenedRule::UsedAfterRelease if own.wait == Wait::Release => {
                to.stop_waiting(holder);
                to.holders[holder].is_sealed = false;
                to.holders[holder].is_known = false;
                next(Ok(to.sorted()));
            }
            WeakenedRule::SnapshotBesideGrant if own.old.is_some() && !own.has => {
                to.holders[holder].old = None;
                to.holders[holder].grant = own.old.unwrap();
                to.holders[holder].has = true;
                next(Ok(to));
            }
            WeakenedRule::KeeperInChild if own.wait == Wait::Claim => {
                let child = usize::from(self.size.holders) - 1;
                if holder != child && state.holders[child] == Holder::default() {
                    to.holders[child] = Holder { answered: false, ..own };
                    next(Ok(to));
                }
            }
            WeakenedRule::LostRecords | WeakenedRule::DeletedStore
                if holder == 0 && state.losses > 0 =>
            {
                to.losses = 0;
                (to.records, to.durable) = Default::default();
                to.incarnation += u8::from(self.is_weakened(WeakenedRule::DeletedStore));
                next(Ok(to));
            }
            _ => {}
        }
    }

    /// Returns the state after `holder` generated an ID, or [`DuplicateCreated`] if a different generator has already used
    /// the same worker ID and tick.
    fn generate_id(
        &self,
        mut to: State,
        holder: usize,
        number: u8,
        tick: u8,
    ) -> Result<State, DuplicateCreated> {
        let own = u8::try_from(holder + 1).unwrap();
        let maker = to.made[usize::from(number)][usize::from(tick)];
        if to.holders[holder].has_gap {
            let maker = if maker == 0 { COPIED_GENERATOR } else { maker };
            to.made[usize::from(number)][usize::from(tick)] = maker;
            return Ok(to);
        }
        if ![0, own, COPIED_GENERATOR].contains(&maker)
            && !self.is_shared_by_copies(&to, (holder, maker), tick)
        {
            return Err(DuplicateCreated);
        }
        let maker = &mut to.made[usize::from(number)][usize::from(tick)];
        *maker =
            if to.holders[holder].has || self.keeps_generating() { own } else { ENDED_GENERATOR };
        Ok(to)
    }

    /// Returns whether two copies may both use a tick. Until one copy detects the other, both may use any tick before the
    /// latest grant end that they may share. If both copies noticed a gap in their clocks, each of them detects the other
    /// independently.
    fn is_shared_by_copies(&self, to: &State, (holder, maker): (usize, u8), tick: u8) -> bool {
        let is_shared = (tick + 1) * self.size.grain <= to.cloned_until;
        let token = to.holders[holder].grant.record.token;
        let maker = to.holders.get(usize::from(maker) - 1);
        let is_copy = |token: u8| token == to.cloned_token;
        is_shared
            && match self.size.gaps {
                Gaps::Unseen => true,
                Gaps::InCopy => {
                    is_copy(token) && maker.is_none_or(|it| is_copy(it.grant.record.token))
                }
                Gaps::InBoth => false,
            }
    }
}
