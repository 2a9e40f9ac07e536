//! The protocol of leases as a model: every step that a holder, the store, the network or a crash may take. Holders and the store
//! may read any time at any moment: except for a restored backup, safety must not depend on a clock.

use crate::{
    search::{Broken, Model},
    state::{Backup, GONE, Grant, HOLDERS, Holder, Message, Record, State, Wait},
    weak::Weak,
};

/// The size of a search.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub holders: u8,
    pub numbers: u8,
    pub ticks: u8,
    /// Units of time in a tick; with more than one, borders must be rounded.
    pub grain: u8,
    pub claims: u8,
    pub renewals: u8,
    pub crashes: u8,
    pub store_crashes: u8,
    /// Number of times that a process may be cloned with its keeper and its generator.
    pub clones: u8,
    /// Number of times that a message may arrive.
    pub deliveries: u8,
    pub time: Time,
}

/// The times that the store reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Any time at all.
    Any,
    /// Time that passes, off by `error` at most; backups may be restored so many times. Leases last `longest` ticks.
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
        deliveries: 1,
        time: Time::Any,
    };

    /// A store that is restored from a backup once.
    pub const RESTORE: Self = Self {
        ticks: 4,
        renewals: 1,
        time: Time::Passing { error: 1, longest: 2, slack: 1, restores: 1 },
        ..Self::SMALLEST
    };

    fn end(&self) -> u8 {
        self.ticks * self.grain
    }
}

/// A protocol, sound or weakened in one place.
pub struct Protocol {
    pub size: Size,
    pub weak: Weak,
}

type Next<'n> = &'n mut dyn FnMut(Result<State, Broken>);

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
            clones: self.size.clones,
            cloned_until: 0,
        }
    }

    fn steps(&self, state: &State, next: Next<'_>) {
        for holder in 0..usize::from(self.size.holders) {
            self.make(state, holder, next);
            self.claim(state, holder, next);
            self.renew(state, holder, next);
            self.release(state, holder, next);
            self.hear(state, holder, next);
            self.settle(state, holder, next);
            self.crash(state, holder, next);
            self.clone(state, holder, next);
            self.weakened(state, holder, next);
        }
        self.deliver(state, next);
        self.flush(state, next);
        self.pass(state, next);
    }
}

impl Protocol {
    fn is(&self, weak: Weak) -> bool {
        self.weak == weak
    }

    /// A holder's generator makes an ID. Reserving one for a batch is the same: it may be handed out at any later time.
    fn make(&self, state: &State, holder: usize, next: Next<'_>) {
        let Holder { has, is_sealed, grant, .. } = state.holders[holder];
        if !has || is_sealed {
            return;
        }
        for tick in (0..self.size.ticks).filter(|tick| self.allows(&grant, *tick)) {
            let mut to = *state;
            let own = &mut to.holders[holder];
            own.mark =
                if self.is(Weak::ReleaseToLatest) { tick + 1 } else { own.mark.max(tick + 1) };
            next(self.made(to, holder, grant.number, tick));
            if self.is(Weak::ReleaseBelowBatch) || self.is(Weak::MovedInPlace) {
                let mut to = *state;
                to.holders[holder].flight = tick + 1;
                to.holders[holder].flight_number = grant.number;
                if self.is(Weak::MovedInPlace) {
                    to.holders[holder].mark = state.holders[holder].mark.max(tick + 1);
                }
                next(Ok(to));
            }
        }
    }

    /// Returns whether a window holds a tick.
    fn allows(&self, grant: &Grant, tick: u8) -> bool {
        let (from, to) = (tick * self.size.grain, (tick + 1) * self.size.grain);
        match self.weak {
            Weak::InclusiveEnd => grant.start <= from && from <= grant.end,
            Weak::TtlAsProof => true,
            Weak::MixedRounding => grant.start < to && from < grant.end,
            _ => grant.start <= from && to <= grant.end,
        }
    }

    /// A holder reads a record and sends a claim. A slow read is the same as a slow claim.
    fn claim(&self, state: &State, holder: usize, next: Next<'_>) {
        if state.claims == 0 || state.holders[holder].wait != Wait::Nothing {
            return;
        }
        for number in 0..self.size.numbers {
            let Some(read) = self.read(state, number) else { continue };
            for now in self.nows(state) {
                let Some((start, last)) = self.span(state, &read, now) else { continue };
                for until in (start + 1..=last).filter(|end| self.is_border(*end)) {
                    let put = Record {
                        start,
                        until,
                        token: if self.is(Weak::EqualTokens) { 1 } else { state.next_token },
                        version: read.version + 1,
                        incarnation: state.incarnation,
                        name: u8::try_from(holder).unwrap(),
                    };
                    let mut to = *state;
                    to.claims -= 1;
                    to.next_token += 1;
                    self.ask(to, holder, Wait::Claim, number, (read, put), next);
                }
            }
        }
    }

    /// The start of a new grant, and the latest end that it may have.
    fn span(&self, state: &State, read: &Record, now: u8) -> Option<(u8, u8)> {
        let (slack, last) = match self.size.time {
            Time::Any => (0, self.size.end()),
            Time::Passing { longest, slack, .. } => (slack, self.size.end().min(now + longest)),
        };
        let is_passing = self.size.time != Time::Any;
        if is_passing && now < read.until && !self.is(Weak::ClaimedBeforeEnd) {
            return None;
        }
        let early = now.saturating_sub(slack);
        let start = match self.weak {
            Weak::NowForStart => early,
            Weak::TtlAsProof => (now >= read.until).then_some(now)?,
            Weak::NoQuietTime => early.max(read.until),
            Weak::SlackIntoQuietTime => {
                (now >= state.quiet_until).then_some(early.max(read.until))?
            }
            _ => early.max(read.until).max(state.quiet_until),
        };
        let grain = self.size.grain;
        Some((
            if self.is(Weak::MixedRounding) { start } else { start.next_multiple_of(grain) },
            last,
        ))
    }

    fn is_border(&self, time: u8) -> bool {
        self.is(Weak::MixedRounding) || time.is_multiple_of(self.size.grain)
    }

    /// The times that the store may read.
    fn nows(&self, state: &State) -> std::ops::Range<u8> {
        match self.size.time {
            Time::Any => 0..self.size.end(),
            Time::Passing { error, .. } => state.clock.saturating_sub(error)..state.clock + 1,
        }
    }

    /// A durable record: reading waits for a write that is not durable yet.
    fn read(&self, state: &State, number: u8) -> Option<Record> {
        let (record, durable) =
            (state.records[usize::from(number)], state.durable[usize::from(number)]);
        (record == durable || self.is(Weak::ReplyBeforeDurable)).then_some(record)
    }

    fn renew(&self, state: &State, holder: usize, next: Next<'_>) {
        let Holder { has, is_sealed, is_known, grant, wait, .. } = state.holders[holder];
        let may = has
            && is_known
            && wait == Wait::Nothing
            && (!is_sealed || self.is(Weak::RenewalAfterSeal));
        if !may || state.renewals == 0 {
            return;
        }
        for now in self.nows(state) {
            let Some(read) = self.renewable(state, &grant, now) else { continue };
            let last = match self.size.time {
                Time::Any => self.size.end(),
                Time::Passing { longest, .. } => self.size.end().min(now + longest),
            };
            for until in (grant.end + 1..=last).filter(|end| self.is_border(*end)) {
                let mut to = *state;
                to.renewals -= 1;
                let mut put = Record { until, version: read.version + 1, ..read };
                if !self.is(Weak::RenewalsInQuietTime) {
                    put.incarnation = state.incarnation;
                }
                if self.size.clones > 0 {
                    // Clones ask for different ends: the name stands for that.
                    put.name = u8::try_from(holder).unwrap();
                }
                if self.is(Weak::RenewalWithFreshToken) {
                    put.token = to.next_token;
                    to.next_token += 1;
                }
                if self.is(Weak::GrownBeforeAnswer) {
                    to.holders[holder].grant.end = until;
                }
                self.ask(to, holder, Wait::Renewal, grant.number, (read, put), next);
            }
        }
    }

    /// The record that a renewal replaces: as the holder knows it, or in a restored store as it is there, if no other holder can have
    /// been granted the number in the history that was lost.
    fn renewable(&self, state: &State, grant: &Grant, now: u8) -> Option<Record> {
        let Time::Passing { error, .. } = self.size.time else { return Some(grant.record) };
        if grant.record.incarnation == state.incarnation || self.is(Weak::RenewalsInQuietTime) {
            return Some(grant.record);
        }
        let found = self.read(state, grant.number)?;
        let is_living = match self.weak {
            Weak::RenewedPastEndFound => true,
            Weak::RenewedWithinClockError => now < found.until,
            _ => now + error < found.until,
        };
        (is_living && found.is_claim(&grant.record)).then_some(found)
    }

    /// Sends a request, which the holder waits for.
    fn ask(
        &self,
        mut to: State,
        holder: usize,
        wait: Wait,
        number: u8,
        (read, put): (Record, Record),
        next: Next<'_>,
    ) {
        let was_answered = to.holders[holder].answered;
        to.stop_waiting(holder);
        let own = &mut to.holders[holder];
        own.answered = was_answered && self.is(Weak::OlderAnswer);
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

    /// A holder seals its generator, sends the release and is done, whatever happens to the release.
    fn release(&self, state: &State, holder: usize, next: Next<'_>) {
        let own = state.holders[holder];
        let is_free = matches!(own.wait, Wait::Nothing | Wait::Renewal);
        if !own.has
            || !own.is_known
            || !is_free
            || (own.is_sealed && !self.is(Weak::RenewalAfterSeal))
        {
            return;
        }
        if self.is(Weak::RenewalAfterSeal) && !own.is_sealed {
            let mut to = *state;
            to.holders[holder].is_sealed = true;
            next(Ok(to));
            return;
        }
        let lowest = if self.is(Weak::ReleaseToZero) { 0 } else { own.grant.start };
        let mark = if self.is(Weak::ReleaseToZero) { 0 } else { own.mark * self.size.grain };
        let mut put = Record {
            until: lowest.max(mark),
            version: own.grant.record.version + 1,
            ..own.grant.record
        };
        if self.is(Weak::DeletedRecords) {
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
        let mut to = *state;
        if !to.send(message) {
            return;
        }
        self.end_grant(&mut to, holder);
        next(Ok(to.sorted()));
    }

    /// Ends a holder's grant once its release was sent.
    fn end_grant(&self, to: &mut State, holder: usize) {
        let grant = to.holders[holder].grant;
        let answered = to.holders[holder].answered;
        to.stop_waiting(holder);
        let own = &mut to.holders[holder];
        match self.weak {
            Weak::LoweredBeforeSealed => own.wait = Wait::Release,
            Weak::UsedAfterRelease => (own.wait, own.is_sealed) = (Wait::Release, true),
            Weak::ReopenedByLateAnswer => {
                (own.wait, own.is_sealed, own.answered) = (Wait::Release, true, answered);
            }
            Weak::RetakenJoined | Weak::SnapshotBesideGrant => {
                own.old = Some(grant);
                self.drop_generator(to, holder);
            }
            _ => self.drop_generator(to, holder),
        }
    }

    /// A generator is gone. If a variant lets it go on in another way, it keeps the IDs that it made.
    fn drop_generator(&self, to: &mut State, holder: usize) {
        let made = to.made;
        to.drop_generator(holder);
        if self.goes_on() {
            to.made = made;
        }
    }

    fn goes_on(&self) -> bool {
        use Weak::{MovedInPlace, ReleaseBelowBatch, RetakenJoined, SnapshotBesideGrant};
        matches!(self.weak, MovedInPlace | ReleaseBelowBatch | RetakenJoined | SnapshotBesideGrant)
    }

    /// The answer "done" reaches the holder.
    fn hear(&self, state: &State, holder: usize, next: Next<'_>) {
        let own = state.holders[holder];
        if !own.answered {
            return;
        }
        let mut to = *state;
        match own.wait {
            Wait::Claim => self.acquire(&mut to, holder, own.number, own.asked),
            Wait::Renewal => {
                to.holders[holder].grant.end = own.asked.until;
                to.holders[holder].grant.record = own.asked;
            }
            Wait::Release if self.is(Weak::ReopenedByLateAnswer) => {
                to.holders[holder].is_sealed = false;
                to.holders[holder].answered = false;
                return next(Ok(to));
            }
            Wait::Nothing | Wait::Release => return,
        }
        to.stop_waiting(holder);
        next(Ok(to.sorted()));
    }

    /// A holder has a new grant, and with it a new generator.
    fn acquire(&self, to: &mut State, holder: usize, number: u8, record: Record) {
        let own = to.holders[holder];
        let mut start = record.start;
        if self.is(Weak::RetakenJoined) {
            let old = own.old.or(own.has.then_some(own.grant)).filter(|old| old.number == number);
            start = old.map_or(start, |old| old.start.min(start));
        } else {
            self.drop_generator(to, holder);
        }
        let own = &mut to.holders[holder];
        (own.has, own.is_sealed, own.is_known, own.mark) = (true, false, true, 0);
        own.grant = Grant { number, start, end: record.until, record };
    }

    /// A holder got no answer, or a refusal, and reads the record again.
    fn settle(&self, state: &State, holder: usize, next: Next<'_>) {
        let own = state.holders[holder];
        if !matches!(own.wait, Wait::Claim | Wait::Renewal) {
            return;
        }
        let Some(found) = self.read(state, own.number) else { return };
        let is_own = match self.weak {
            Weak::SettledByName => found.token != 0 && usize::from(found.name) == holder,
            Weak::NoStart => found.token == own.asked.token,
            _ => found.is_grant(&own.asked),
        };
        let mut to = *state;
        let is_claim = own.wait == Wait::Claim;
        let answered = own.answered;
        to.stop_waiting(holder);
        if self.is(Weak::ReopenedByLateAnswer) && !is_claim {
            to.holders[holder].answered = answered;
        }
        if is_claim && is_own && self.is(Weak::NoStart) {
            // The record does not tell the start of the grant: the claimant takes the current time.
            for start in 0..found.until {
                let mut to = to;
                self.acquire(&mut to, holder, own.number, found);
                to.holders[holder].grant.start = start;
                next(Ok(to.sorted()));
            }
            return;
        }
        match (is_claim, is_own) {
            (true, true) if self.is_written_by(&own, &found) => {
                self.acquire(&mut to, holder, own.number, found);
            }
            (true, _) => {}
            (false, true) if self.is_written_by(&own, &found) => {
                let grant = &mut to.holders[holder].grant;
                (grant.end, grant.record) = (grant.end.max(found.until), found);
            }
            // The record of a restored store, which may be renewed or not.
            (false, false)
                if found.is_claim(&own.asked) && found.incarnation != state.incarnation => {}
            // The window stays as it is, and is never renewed.
            (false, _) => to.holders[holder].is_known = false,
        }
        next(Ok(to.sorted()));
    }

    /// Returns whether a holder put a record: else a clone of its process did.
    fn is_written_by(&self, own: &Holder, found: &Record) -> bool {
        self.size.clones == 0
            || self.is(Weak::CloneTakenForItself)
            || *found == own.asked
            || *found == own.grant.record
    }

    /// A machine is cloned with a process: both go on, and repeat each other's IDs until the window ends that both have or asked for.
    fn clone(&self, state: &State, holder: usize, next: Next<'_>) {
        let (own, twin) = (state.holders[holder], usize::from(self.size.holders) - 1);
        let may = own.has && holder != twin && state.holders[twin] == Holder::default();
        if state.clones == 0 || !may {
            return;
        }
        let mut to = *state;
        to.clones -= 1;
        to.cloned_until = own.grant.end.max(own.asked.until);
        to.holders[twin] = Holder { answered: false, answer_is_held: false, ..own };
        next(Ok(to));
    }

    /// A process is killed; another one may start in its place.
    fn crash(&self, state: &State, holder: usize, next: Next<'_>) {
        let own = state.holders[holder];
        if state.crashes == 0 || (!own.has && own.wait == Wait::Nothing) {
            return;
        }
        let mut to = *state;
        to.crashes -= 1;
        self.drop_generator(&mut to, holder);
        to.stop_waiting(holder);
        to.holders[holder] = Holder::default();
        if self.is(Weak::TokenKept) && own.has {
            let number = own.grant.number;
            (to.holders[holder].wait, to.holders[holder].number) = (Wait::Claim, number);
            to.holders[holder].asked = own.grant.record;
        }
        next(Ok(to.sorted()));
    }

    /// A message reaches the store.
    fn deliver(&self, state: &State, next: Next<'_>) {
        for (index, message) in state.messages.iter().enumerate().filter(|(_, sent)| sent.left > 0)
        {
            let mut to = *state;
            to.messages[index].left -= 1;
            let number = usize::from(message.number);
            let is_swapped = self.swaps(state, message);
            if is_swapped {
                let found = to.records[number];
                let version = found.version.max(message.put.version - 1) + 1;
                to.records[number] = Record { version, ..message.put };
                if self.size.store_crashes == 0 {
                    to.durable[number] = to.records[number];
                }
            }
            let holder = &mut to.holders[usize::from(message.holder)];
            let is_heard = message.awaited
                || (!message.is_release
                    && (self.is(Weak::OlderAnswer) || self.is(Weak::ReopenedByLateAnswer)));
            if is_swapped && is_heard {
                let is_held = self.size.store_crashes > 0 && !self.is(Weak::ReplyBeforeDurable);
                holder.answered |= !is_held;
                holder.answer_is_held |= is_held;
            }
            next(Ok(to.sorted()));
        }
    }

    /// Returns whether the store accepts a write.
    fn swaps(&self, state: &State, message: &Message) -> bool {
        let (found, read) = (state.records[usize::from(message.number)], message.read);
        let is_current = message.put.incarnation == state.incarnation;
        match self.weak {
            Weak::ReadThenWrite => true,
            Weak::NoVersion => (found.token, found.incarnation) == (read.token, read.incarnation),
            Weak::StaleRelease if message.is_release => true,
            Weak::ReleaseByToken if message.is_release => found.token == read.token,
            Weak::VersionAlone => found.version == read.version,
            Weak::DeletedRecords => found == read,
            Weak::RenewalsInQuietTime => {
                let is_renewal = message.put.is_grant(&read) && !message.is_release;
                found == read && (is_current || is_renewal)
            }
            _ => found == read && is_current,
        }
    }

    /// A store makes its writes durable and sends its answers, or crashes before that.
    fn flush(&self, state: &State, next: Next<'_>) {
        if state.records == state.durable {
            return;
        }
        let mut to = *state;
        to.durable = to.records;
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
    }

    /// Time passes; a backup is made, and restored once.
    fn pass(&self, state: &State, next: Next<'_>) {
        let Time::Passing { error, longest, .. } = self.size.time else { return };
        if state.clock + 1 < self.size.end() {
            next(Ok(State { clock: state.clock + 1, ..*state }));
        }
        if state.restores == 0 {
            return;
        }
        let now = Backup { records: state.records, quiet_until: state.quiet_until };
        if state.backup.is_none() || (state.incarnation > 0 && state.backup != Some(now)) {
            next(Ok(State { backup: Some(now), ..*state }));
        }
        if let Some(backup) = state.backup {
            next(Ok(self.restored(state, backup, (error, longest))));
        }
    }

    /// A store after a backup was restored: another incarnation, which is quiet for a while.
    fn restored(&self, state: &State, backup: Backup, (error, longest): (u8, u8)) -> State {
        let ends = backup.records.iter().map(|record| record.until);
        let (latest, now) = (ends.max().unwrap_or(0), state.clock.saturating_sub(error));
        let mut to = *state;
        (to.records, to.durable) = (backup.records, backup.records);
        to.restores -= 1;
        to.backup = to.backup.filter(|_| to.restores > 0);
        if self.is(Weak::RestoredInPlace) {
            return to;
        }
        to.incarnation += 1;
        let last = if self.is(Weak::QuietByEndsAlone) { latest } else { latest.max(now) };
        let error = if self.is(Weak::QuietWithoutClockError) { 0 } else { error };
        to.quiet_until = backup.quiet_until.max(last + longest + error);
        to
    }

    /// Steps that only weakened variants have.
    fn weakened(&self, state: &State, holder: usize, next: Next<'_>) {
        let own = state.holders[holder];
        let mut to = *state;
        match self.weak {
            Weak::ReleaseBelowBatch | Weak::MovedInPlace if own.flight > 0 => {
                let number = match self.weak {
                    Weak::MovedInPlace if own.has => own.grant.number,
                    _ => own.flight_number,
                };
                to.holders[holder].flight = 0;
                next(self.made(to, holder, number, own.flight - 1));
            }
            Weak::LoweredBeforeSealed if own.wait == Wait::Release => {
                self.drop_generator(&mut to, holder);
                to.stop_waiting(holder);
                next(Ok(to.sorted()));
            }
            Weak::UsedAfterRelease if own.wait == Wait::Release => {
                to.stop_waiting(holder);
                to.holders[holder].is_sealed = false;
                to.holders[holder].is_known = false;
                next(Ok(to.sorted()));
            }
            Weak::SnapshotBesideGrant if own.old.is_some() && !own.has => {
                to.holders[holder].old = None;
                to.holders[holder].grant = own.old.unwrap();
                to.holders[holder].has = true;
                next(Ok(to));
            }
            Weak::KeeperInChild if own.wait == Wait::Claim => {
                let child = usize::from(self.size.holders) - 1;
                if holder != child && state.holders[child] == Holder::default() {
                    to.holders[child] = Holder { answered: false, ..own };
                    next(Ok(to));
                }
            }
            Weak::LostRecords | Weak::DeletedStore if holder == 0 && state.losses > 0 => {
                to.losses = 0;
                (to.records, to.durable) = Default::default();
                to.incarnation += u8::from(self.is(Weak::DeletedStore));
                next(Ok(to));
            }
            _ => {}
        }
    }

    /// The state after `holder` made an ID; broken if another generator made one of the same number and tick.
    fn made(&self, mut to: State, holder: usize, number: u8, tick: u8) -> Result<State, Broken> {
        let own = u8::try_from(holder + 1).unwrap();
        let maker = &mut to.made[usize::from(number)][usize::from(tick)];
        let is_of_clones = (tick + 1) * self.size.grain <= to.cloned_until;
        if *maker != 0 && *maker != own && !is_of_clones {
            return Err(Broken);
        }
        *maker = if to.holders[holder].has || self.goes_on() { own } else { GONE };
        Ok(to)
    }
}
