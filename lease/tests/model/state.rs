//! The state of a model: the store, the messages under way, and the belief of each holder.

/// The largest numbers of holders, numbers and so on.
pub const HOLDERS: usize = 3;
pub const NUMBERS: usize = 2;
pub const TICKS: usize = 8;
pub const MESSAGES: usize = 7;

/// Stands for the maker of an ID whose generator is gone.
pub const GONE: u8 = u8::MAX;

/// The store's record of a number. A tick has [`Size::grain`](crate::protocol::Size) units of time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Record {
    pub start: u8,
    pub until: u8,
    pub token: u8,
    pub version: u8,
    pub incarnation: u8,
    pub name: u8,
}

/// Four values identify a grant.
impl Record {
    pub fn is_grant(&self, other: &Self) -> bool {
        self.is_claim(other) && self.incarnation == other.incarnation
    }

    /// Returns whether a record is of the same claim, in whatever incarnation of the store.
    pub fn is_claim(&self, other: &Self) -> bool {
        (self.token, self.start) == (other.token, other.start)
    }
}

/// A write on its way to the store. It may arrive late, twice or never, and outlive its sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Message {
    /// Number of times that it may still arrive; 0 if there is no message.
    pub left: u8,
    pub holder: u8,
    /// `true` if the holder still waits for the answer.
    pub awaited: bool,
    pub is_release: bool,
    pub number: u8,
    /// The record that it replaces, and the record that it puts.
    pub read: Record,
    pub put: Record,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Wait {
    #[default]
    Nothing,
    Claim,
    Renewal,
    /// In weakened variants only: a release is sent and its answer is ignored.
    Release,
}

/// A grant as its holder knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Grant {
    pub number: u8,
    /// The acknowledged end.
    pub end: u8,
    /// The start of the generator's window: the record's start, except in weakened variants.
    pub start: u8,
    pub record: Record,
}

/// A process with its keeper and its generator.
#[allow(clippy::struct_excessive_bools, reason = "each may hold or not beside any other")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Holder {
    pub wait: Wait,
    /// `true` if the answer "done" has come, or waits until the write is durable.
    pub answered: bool,
    pub answer_is_held: bool,
    /// The record that it asked the store to put, and its number.
    pub asked: Record,
    pub number: u8,
    /// `true` if it has a generator, which `grant` belongs to.
    pub has: bool,
    pub is_sealed: bool,
    /// `true` if the store may still show the grant as this holder's.
    pub is_known: bool,
    pub grant: Grant,
    /// The writes that it asked for, which are its own and its clones' so far.
    pub marks: u32,
    /// One past the highest tick reserved, or the value that a weakened variant takes for it.
    pub mark: u8,
    /// In weakened variants: one past a tick that is reserved and not yet handed out, and its number.
    pub flight: u8,
    pub flight_number: u8,
    /// In weakened variants: the grant of a generator that is gone.
    pub old: Option<Grant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The records that the store answers from, and the records that it would have after a crash.
    pub records: [Record; NUMBERS],
    pub durable: [Record; NUMBERS],
    pub holders: [Holder; HOLDERS],
    pub messages: [Message; MESSAGES],
    /// The maker of an ID of (number, tick): 0 for none, else one more than the holder, or [`GONE`].
    pub made: [[u8; TICKS]; NUMBERS],
    pub next_token: u8,
    pub claims: u8,
    pub renewals: u8,
    pub crashes: u8,
    pub store_crashes: u8,
    pub losses: u8,
    /// Only with a restored backup: true time, the store's incarnation and the time from which grants may begin, each as it is now and
    /// in the backup, if there is one.
    pub clock: u8,
    pub incarnation: u8,
    pub quiet_until: u8,
    pub restores: u8,
    pub backup: Option<Backup>,
    /// Number of times that a backup may be restored in place, which the operator tells of.
    pub in_place: u8,
    /// Number of times that a process may be cloned, and the time up to which clones may repeat what the other one makes.
    pub clones: u8,
    pub cloned_until: u8,
    /// Tells the writes of clones apart.
    pub next_mark: u8,
    /// Number of times that a holder may prove by a write what a read shows it.
    pub proofs: u8,
    /// The records that the replica has, and what may happen to it.
    pub replica: [Record; NUMBERS],
    pub unreplicated: u8,
    pub promotions: u8,
    /// What the namespace's record says of the store.
    pub store: Name,
    pub next_name: u8,
    /// The names of the store before and after the last promotion, and how often the operator may still tell of it.
    pub promotion: (u8, u8),
    pub statements: u8,
    /// The token of a holder that was killed, and how often the operator may still tell of one.
    pub corpse: u8,
    pub deaths: u8,
}

/// The name of a store, the one that it had before, and the quiet time that stood before the name changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Name {
    pub now: u8,
    /// 0 if an operator told of a backup since.
    pub before: u8,
    pub quiet_before: u8,
}

/// The records of a store at an earlier time, and its quiet time and name then.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Backup {
    pub records: [Record; NUMBERS],
    pub quiet_until: u8,
    pub store: u8,
}

impl State {
    /// The generator of `holder` is gone: the IDs that it made stay.
    pub fn drop_generator(&mut self, holder: usize) {
        self.holders[holder].has = false;
        self.holders[holder].is_sealed = false;
        self.holders[holder].is_known = false;
        self.holders[holder].grant = Grant::default();
        self.holders[holder].mark = 0;
        let (own, made) = (u8::try_from(holder + 1).unwrap(), self.made.as_flattened_mut());
        made.iter_mut().filter(|maker| **maker == own).for_each(|maker| *maker = GONE);
    }

    /// Stops waiting for the answers to this holder's messages.
    pub fn stop_waiting(&mut self, holder: usize) {
        self.holders[holder].wait = Wait::Nothing;
        self.holders[holder].asked = Record::default();
        self.holders[holder].number = 0;
        self.stop_hearing(holder);
    }

    /// No answer to this holder's messages reaches it any more.
    pub fn stop_hearing(&mut self, holder: usize) {
        self.holders[holder].answered = false;
        self.holders[holder].answer_is_held = false;
        let sent = self.messages.iter_mut().filter(|message| usize::from(message.holder) == holder);
        sent.for_each(|message| message.awaited = false);
    }

    /// Sends a message. Returns `false` if too many are under way.
    #[must_use]
    pub fn send(&mut self, message: Message) -> bool {
        let Some(place) = self.messages.iter_mut().find(|message| message.left == 0) else {
            return false;
        };
        *place = message;
        true
    }

    /// The same state with its messages sorted, since their order has no meaning.
    pub fn sorted(mut self) -> Self {
        for message in self.messages.iter_mut().filter(|message| message.left == 0) {
            *message = Message::default();
        }
        self.messages.sort_unstable();
        self
    }
}
