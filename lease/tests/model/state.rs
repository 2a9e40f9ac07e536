//! The state of the model: the store, the messages in transit, and each holder's view.

/// The maximum numbers of holders, worker IDs, ticks and messages.
pub const HOLDERS: usize = 3;
pub const NUMBERS: usize = 2;
pub const TICKS: usize = 8;
pub const MESSAGES: usize = 7;

/// The creator recorded for an ID whose generator has ended.
pub const ENDED_GENERATOR: u8 = u8::MAX;
/// The creator recorded for an ID that a copy of a process generated before the store could distinguish the copies.
pub const COPIED_GENERATOR: u8 = u8::MAX - 1;

/// The store's record of a worker ID. A tick consists of [`Size::grain`](crate::protocol::Size) time units.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Record {
    pub start: u8,
    pub until: u8,
    pub token: u8,
    pub version: u8,
    pub incarnation: u8,
    pub name: u8,
}

/// Methods that compare records of the same worker ID. Together with the worker ID, a record's token, start and incarnation
/// identify its grant.
impl Record {
    pub fn is_grant(&self, other: &Self) -> bool {
        self.is_claim(other) && self.incarnation == other.incarnation
    }

    /// Returns whether both records belong to the same claim, regardless of the store's incarnation.
    pub fn is_claim(&self, other: &Self) -> bool {
        (self.token, self.start) == (other.token, other.start)
    }
}

/// A write in transit to the store. It may arrive late, twice or never, and may outlive its sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Message {
    /// The number of times that the message may still arrive, or 0 if there is no message.
    pub left: u8,
    pub holder: u8,
    /// `true` if the holder is still waiting for the reply.
    pub awaited: bool,
    pub is_release: bool,
    pub number: u8,
    /// The record that the write replaces, and the new record.
    pub read: Record,
    pub put: Record,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Wait {
    #[default]
    Nothing,
    Claim,
    Renewal,
    /// The holder has sent a release, and ignores the reply. Occurs only in weakened variants.
    Release,
}

/// A grant as its holder sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Grant {
    pub number: u8,
    /// The end that the store acknowledged.
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
    /// `answered` is `true` if the reply "done" has arrived. `answer_is_held` is `true` if the reply is held back until the
    /// write is durable.
    pub answered: bool,
    pub answer_is_held: bool,
    /// The record that the holder asked the store to write, and the record's worker ID.
    pub asked: Record,
    pub number: u8,
    /// `true` if the holder has a generator. `grant` is the generator's grant.
    pub has: bool,
    pub is_sealed: bool,
    /// `true` if the record in the store may still belong to this holder.
    pub is_known: bool,
    pub grant: Grant,
    /// The writes that the holder recognizes: its own writes, and those that its clones made before they diverged.
    pub marks: u32,
    /// `has_gap` is `true` if the clocks showed a gap since the last acknowledged write was sent. `is_outdated` is `true`
    /// if the write that the holder waits for was sent before the gap.
    pub has_gap: bool,
    pub is_outdated: bool,
    /// The latest grant end that another copy may have had when the gap occurred.
    pub shared_until: u8,
    /// One past the highest reserved tick, or the value that a weakened variant uses in its place.
    pub mark: u8,
    /// `flight` is one past a tick that is reserved but not yet used for an ID, and `flight_number` is the worker ID for
    /// that tick. Both are used only in weakened variants.
    pub flight: u8,
    pub flight_number: u8,
    /// The grant of a generator that has ended. Used only in weakened variants.
    pub old: Option<Grant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The records that reads return, and the records that would survive a crash.
    pub records: [Record; NUMBERS],
    pub durable: [Record; NUMBERS],
    pub holders: [Holder; HOLDERS],
    pub messages: [Message; MESSAGES],
    /// The creator of the ID for each (worker ID, tick): 0 for none, one more than the holder's index, or
    /// [`ENDED_GENERATOR`].
    pub made: [[u8; TICKS]; NUMBERS],
    pub next_token: u8,
    pub claims: u8,
    pub renewals: u8,
    pub crashes: u8,
    pub store_crashes: u8,
    pub losses: u8,
    /// The true time, the store's incarnation, the time before which no grant starts, the number of remaining restores, and
    /// the backup, if there is one. Used only in models with restored backups.
    pub clock: u8,
    pub incarnation: u8,
    pub quiet_until: u8,
    pub restores: u8,
    pub backup: Option<Backup>,
    /// How many more times a backup may be restored in place and reported by the operator.
    pub in_place: u8,
    /// How many more times a process may be cloned, and the time up to which clones may repeat each other's IDs.
    pub clones: u8,
    pub cloned_until: u8,
    /// The token of the grant that was cloned.
    pub cloned_token: u8,
    /// The mark of the next write. Marks distinguish the writes of clones.
    pub next_mark: u8,
    /// The number of times that a holder may confirm a read with a write.
    pub proofs: u8,
    /// The replica's records. The next two fields count how often a write may still miss the replica, and how often the
    /// replica may still be promoted.
    pub replica: [Record; NUMBERS],
    pub unreplicated: u8,
    pub promotions: u8,
    /// The store's name, as stated in the namespace's record.
    pub store: StoreNames,
    pub next_name: u8,
    /// The store's names before and after the last promotion, and how often the operator may still report that promotion.
    pub promotion: (u8, u8),
    pub statements: u8,
    /// The token of a killed holder, and how often the operator may still declare a holder dead.
    pub corpse: u8,
    pub deaths: u8,
}

/// A store's name, its previous name, and the quiet time that applied before the name changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StoreNames {
    pub now: u8,
    /// The previous name, or 0 if an operator has reported a restored backup since the name changed.
    pub before: u8,
    pub quiet_before: u8,
}

/// A store's records at the time of the backup, together with its quiet time and name at that time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Backup {
    pub records: [Record; NUMBERS],
    pub quiet_until: u8,
    pub store: u8,
}

impl State {
    /// Ends the generator of `holder`. The IDs that it generated remain recorded.
    pub fn drop_generator(&mut self, holder: usize) {
        self.holders[holder].has = false;
        self.holders[holder].is_sealed = false;
        self.holders[holder].is_known = false;
        self.holders[holder].grant = Grant::default();
        self.holders[holder].mark = 0;
        self.holders[holder].has_gap = false;
        self.holders[holder].shared_until = 0;
        let (own, made) = (u8::try_from(holder + 1).unwrap(), self.made.as_flattened_mut());
        made.iter_mut().filter(|maker| **maker == own).for_each(|maker| *maker = ENDED_GENERATOR);
    }

    /// Makes a holder stop waiting for replies to its messages.
    pub fn stop_waiting(&mut self, holder: usize) {
        self.holders[holder].wait = Wait::Nothing;
        self.holders[holder].asked = Record::default();
        self.holders[holder].number = 0;
        self.holders[holder].is_outdated = false;
        self.discard_replies(holder);
    }

    /// Prevents further replies to this holder's messages from reaching it.
    pub fn discard_replies(&mut self, holder: usize) {
        self.holders[holder].answered = false;
        self.holders[holder].answer_is_held = false;
        let sent = self.messages.iter_mut().filter(|message| usize::from(message.holder) == holder);
        sent.for_each(|message| message.awaited = false);
    }

    /// Sends a message. Returns `false` if too many messages are in transit.
    #[must_use]
    pub fn send(&mut self, message: Message) -> bool {
        let Some(place) = self.messages.iter_mut().find(|message| message.left == 0) else {
            return false;
        };
        *place = message;
        true
    }

    /// Returns the same state with its messages sorted, because their order has no meaning.
    pub fn sorted(mut self) -> Self {
        for message in self.messages.iter_mut().filter(|message| message.left == 0) {
            *message = Message::default();
        }
        self.messages.sort_unstable();
        self
    }
}
