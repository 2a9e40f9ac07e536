//! The state of a model: what the store holds, what is under way, and what each holder believes.

/// At most so many of each.
pub const HOLDERS: usize = 3;
pub const NUMBERS: usize = 2;
pub const TICKS: usize = 8;
pub const MESSAGES: usize = 7;

/// A tick that was made by a generator that is gone.
pub const GONE: u8 = u8::MAX;

/// What the store keeps of a number. Times are in units of [`Size::grain`](crate::protocol::Size) to a tick.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Record {
    pub start: u8,
    pub until: u8,
    pub token: u8,
    pub version: u8,
    pub incarnation: u8,
    pub name: u8,
}

/// The four values by which a grant is known.
impl Record {
    pub fn is_grant(&self, other: &Self) -> bool {
        (self.incarnation, self.token, self.start) == (other.incarnation, other.token, other.start)
    }
}

/// A write on its way to the store. It may arrive late, twice or never, and outlive whoever sent it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Message {
    /// How often it may still arrive; 0 where there is no message.
    pub left: u8,
    pub holder: u8,
    /// Whether the holder still waits for its answer.
    pub awaited: bool,
    pub is_release: bool,
    pub number: u8,
    /// The record that it replaces, and the one that it puts there.
    pub read: Record,
    pub put: Record,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Wait {
    #[default]
    Nothing,
    Claim,
    Renewal,
    /// In weakened variants alone: a release is sent and never looked after.
    Release,
}

/// A grant as its holder knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Grant {
    pub number: u8,
    /// The end that was acknowledged.
    pub end: u8,
    /// The start of the generator's window: the record's, but for weakened variants.
    pub start: u8,
    pub record: Record,
}

/// A process with its keeper and its generator.
#[allow(clippy::struct_excessive_bools, reason = "each may hold or not beside any other")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Holder {
    pub wait: Wait,
    /// The answer "done" has come, or waits until the write is durable.
    pub answered: bool,
    pub answer_is_held: bool,
    /// What it asked the store to put, and where.
    pub asked: Record,
    pub number: u8,
    /// Whether it has a generator, whose grant this is.
    pub has: bool,
    pub is_sealed: bool,
    /// Whether the store may still show the grant as its own.
    pub is_known: bool,
    pub grant: Grant,
    /// One past the highest tick reserved; in weakened variants what they take for it.
    pub mark: u8,
    /// In weakened variants: one past a tick that is reserved and not yet handed out, and its number.
    pub flight: u8,
    pub flight_number: u8,
    /// In weakened variants: the grant of a generator that is gone.
    pub old: Option<Grant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// What the store answers from, and what it would have after a crash.
    pub records: [Record; NUMBERS],
    pub durable: [Record; NUMBERS],
    pub holders: [Holder; HOLDERS],
    pub messages: [Message; MESSAGES],
    /// Whose generator made an ID of (number, tick): 0 nobody's, else one more than the holder, or [`GONE`].
    pub made: [[u8; TICKS]; NUMBERS],
    pub next_token: u8,
    pub claims: u8,
    pub renewals: u8,
    pub crashes: u8,
    pub store_crashes: u8,
    pub losses: u8,
    /// Only where a backup is restored: true time, the store's incarnation, when grants may begin, the backup.
    pub clock: u8,
    pub incarnation: u8,
    pub quiet_until: u8,
    pub backups: u8,
    pub backup: [Record; NUMBERS],
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

    /// Nobody waits for the answers to this holder's messages any more.
    pub fn stop_waiting(&mut self, holder: usize) {
        self.holders[holder].wait = Wait::Nothing;
        self.holders[holder].answered = false;
        self.holders[holder].answer_is_held = false;
        self.holders[holder].asked = Record::default();
        self.holders[holder].number = 0;
        let sent = self.messages.iter_mut().filter(|message| usize::from(message.holder) == holder);
        sent.for_each(|message| message.awaited = false);
    }

    /// Sends a message, or does not where too many are under way.
    #[must_use]
    pub fn send(&mut self, message: Message) -> bool {
        let Some(place) = self.messages.iter_mut().find(|message| message.left == 0) else {
            return false;
        };
        *place = message;
        true
    }

    /// The same state with its messages in one order, since none of them comes first.
    pub fn sorted(mut self) -> Self {
        for message in self.messages.iter_mut().filter(|message| message.left == 0) {
            *message = Message::default();
        }
        self.messages.sort_unstable();
        self
    }
}
