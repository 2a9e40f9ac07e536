//! Explores two processes that continue from the same memory: two copies of a running process, neither of which can detect
//! the other, or a process and its forked child. The search visits all states of each process, and compares the IDs of the
//! two processes. After the split, neither process affects the other.
//!
//! Both processes start with the same state machine and with the streams of random bits that existed before the split, so
//! only the rules of the streams keep their IDs apart. The memory may be copied before any step of a call. The clock may
//! show any millisecond at each call, and either process may report a restore at any step. A call generates a single ID, or
//! the next ID of a handle, which has its own block of slots and its own stream. Slots come from the real state machine.
//!
//! The keys of the random source are all different. Two IDs are therefore equal if they have the same slot, the same key
//! and the same position in the key's stream. The following IDs of copies may be equal:
//!
//! - IDs of a call that was in progress when the copy was made.
//! - IDs of the copied millisecond. The calls that generate these IDs read the same millisecond as the last call before the
//!   copy, and no call since the copy has read a different millisecond.
//!
//! These exceptions do not apply to a call that begins after its process has reported the restore, or to a forked child.

use std::{
    array,
    collections::{BTreeMap, HashSet},
    vec,
    vec::Vec,
};

use crate::sequence::{
    Flip, Machine, Step,
    per_tick::{BehindPolicy, PerTick, Slots},
};

/// The number of different milliseconds that the clock can show.
const MILLISECONDS: u8 = 2;
/// The number of IDs for which a stream buffers random bits.
const BUFFERED_IDS: u8 = 2;
/// The number of slots in a handle's block.
const BLOCK_SIZE: u32 = 2;
const SLOTS: Slots = Slots { first: 0, last: 15 };
const LAST_TICK: u64 = 7;

/// How the second process obtains its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CopyMethod {
    Copy,
    Fork,
}

/// How a search weakens the rules of the streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weakness {
    None,
    /// The generation is checked before the bits are taken, instead of after the slots are reserved.
    ComparesFirst,
    /// The generation check ignores restores.
    IgnoresRestores,
    /// A new stream begins with the remaining buffered bits of the stream that it replaces.
    KeepsBits,
    /// A stream is replaced only if the clock shows a later millisecond.
    KeepsStreamAfterRollback,
    /// A handle keeps the stream of an earlier generation when it begins a block.
    HandleKeepsStream,
}

/// A process generation: the process, and the number of restores that were reported to it.
type Generation = (u8, u8);

/// Random bits, identified by a key and a position in the key's stream.
type Bits = (u8, u8);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Stream {
    key: u8,
    /// The position in the stream of the first bits that are not buffered yet.
    position: u8,
    buffer: [Bits; BUFFERED_IDS as usize],
    taken: u8,
    millisecond: u8,
    generation: Generation,
}

impl Stream {
    fn new(key: u8, millisecond: u8, generation: Generation) -> Self {
        let buffer = [(key, 0); BUFFERED_IDS as usize];
        Self { key, position: 0, buffer, taken: BUFFERED_IDS, millisecond, generation }
    }

    fn next(&mut self) -> Bits {
        if self.taken == BUFFERED_IDS {
            self.buffer = array::from_fn(|k| (self.key, self.position + u8::try_from(k).unwrap()));
            (self.position, self.taken) = (self.position + BUFFERED_IDS, 0);
        }
        self.taken += 1;
        self.buffer[usize::from(self.taken) - 1]
    }
}

/// The owner of the stream that a step uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Owner {
    Thread,
    Handle,
}

/// The next step of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NextAction {
    /// Takes bits from a stream. A repeated attempt also checks the stream's generation.
    Take {
        of: Owner,
        is_repeated: bool,
    },
    /// Takes bits from a new stream, whose key and generation have been read.
    TakeFromNew {
        of: Owner,
        key: u8,
        generation: Generation,
    },
    /// Uses the next slot of the handle's block, if the block belongs to this generation and tick.
    UseBlock,
    Reserve,
    /// Checks that the generation is still current. If it is, the ID is complete.
    Compare {
        generation: Generation,
        tick: u64,
        slot: u64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Call {
    by: Owner,
    now: u8,
    next: NextAction,
    /// The most recently taken bits, and the generation of their stream.
    bits: (Bits, Generation),
    /// The process generation in which the handle began its new block.
    of_block: Generation,
    /// Whether another copy may generate the same ID.
    may_repeat: bool,
    began_after_report: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Block {
    generation: Generation,
    tick: u64,
    slot: u64,
    left: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Process {
    generation: Generation,
    /// The tick and the next slot of the state machine.
    machine: (u64, u64),
    keys: u8,
    /// The streams of the thread and of the handle.
    streams: [Option<Stream>; 2],
    /// For each stream owner, the clock reading of the owner's last call before the copy was made, in milliseconds. The
    /// element is `None` once a call of the owner has read a different millisecond.
    copied: [Option<u8>; 2],
    read: [Option<u8>; 2],
    block: Option<Block>,
    call: Option<Call>,
    calls: u8,
    has_reported: bool,
    made: Vec<Id>,
}

/// The slot and the random bits of an ID.
type Id = (u64, u64, Bits);

/// An ID, and whether another copy may also generate it.
type GeneratedId = (Id, bool);

struct Explorer {
    split: CopyMethod,
    behind: BehindPolicy,
    weakness: Weakness,
    calls: u8,
}

#[derive(Debug, Default)]
struct SearchResult {
    states: usize,
    repeated: bool,
    /// Whether both processes can generate the same ID.
    shared: bool,
}

impl Process {
    fn stream_of(&mut self, of: Owner) -> &mut Option<Stream> {
        &mut self.streams[of as usize]
    }

    /// Records a clock reading, and returns whether it is in the copied millisecond.
    fn record_reading(&mut self, of: Owner, now: u8) -> bool {
        self.read[of as usize] = Some(now);
        self.copied[of as usize].take_if(|copied| *copied != now);
        self.copied[of as usize].is_some()
    }
}

impl Explorer {
    fn new(split: CopyMethod, weakness: Weakness) -> Self {
        Self { split, behind: BehindPolicy::HeldWithin(u64::MAX), weakness, calls: 3 }
    }

    fn search(&self) -> SearchResult {
        let process = Process {
            generation: (0, 0),
            machine: (0, 0),
            keys: 0,
            streams: [None; 2],
            copied: [None; 2],
            read: [None; 2],
            block: None,
            call: None,
            calls: self.calls,
            // Only restores that are reported after the split matter. The process therefore initially counts as having
            // reported a restore.
            has_reported: true,
            made: Vec::new(),
        };
        let mut found = SearchResult::default();
        let (before, _) = self.explore_from(process, &mut found);
        for process in before {
            let [ours, theirs] =
                self.split(process).map(|process| self.explore_from(process, &mut found).1);
            for (id, may_repeat) in ours {
                let other = theirs.get(&id);
                found.repeated |= other.is_some_and(|other| !(may_repeat && *other));
                found.shared |= other.is_some();
            }
        }
        found
    }

    /// Explores all states of a process, and returns them with the IDs that the process can generate. An ID maps to `true`
    /// if another copy may also generate it, regardless of how this process generates the ID.
    fn explore_from(
        &self,
        first: Process,
        found: &mut SearchResult,
    ) -> (HashSet<Process>, BTreeMap<Id, bool>) {
        let (mut known, mut open) = (HashSet::from([first.clone()]), vec![first]);
        let mut all = BTreeMap::new();
        while let Some(process) = open.pop() {
            for (mut next, made) in self.successors(&process) {
                if let Some((id, may_repeat)) = made {
                    found.repeated |= next.made.contains(&id);
                    next.made.push(id);
                    *all.entry(id).or_insert(true) &= may_repeat;
                }
                if known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        found.states += known.len();
        (known, all)
    }

    fn successors(&self, process: &Process) -> Vec<(Process, Option<GeneratedId>)> {
        let mut all = self.advance(process);
        if !process.has_reported {
            let mut next = process.clone();
            (next.generation.1, next.has_reported) = (next.generation.1 + 1, true);
            all.push((next, None));
        }
        all
    }

    /// Returns the two processes that exist after the split.
    fn split(&self, mut process: Process) -> [Process; 2] {
        process.has_reported = false;
        if self.split == CopyMethod::Copy {
            process.copied = process.read;
        }
        if let Some(call) = &mut process.call {
            call.began_after_report = false;
            call.may_repeat = self.split == CopyMethod::Copy;
        }
        let mut other = process.clone();
        other.generation.0 += u8::from(self.split == CopyMethod::Fork);
        // After the split, the two processes use different keys.
        other.keys += 100;
        [process, other]
    }

    /// Returns the process after each possible next step, paired with the ID that the step completes, if any.
    fn advance(&self, process: &Process) -> Vec<(Process, Option<GeneratedId>)> {
        let Some(call) = process.call else { return Self::begin(process) };
        let mut next = process.clone();
        let made = match call.next {
            NextAction::Take { of, is_repeated } => {
                self.take_bits(&mut next, call, of, is_repeated);
                None
            }
            NextAction::TakeFromNew { of, key, generation } => {
                self.take_from_new_stream(&mut next, call, of, key, generation);
                None
            }
            NextAction::UseBlock => self.use_block(&mut next, call),
            NextAction::Reserve => {
                self.reserve(&mut next, call);
                None
            }
            NextAction::Compare { generation, tick, slot } => {
                self.compare(&mut next, call, generation, (tick, slot))
            }
        };
        vec![(next, made)]
    }

    fn begin(process: &Process) -> Vec<(Process, Option<GeneratedId>)> {
        if process.calls == 0 {
            return vec![];
        }
        let choices =
            (0..MILLISECONDS).flat_map(|now| [(Owner::Thread, now), (Owner::Handle, now)]);
        let begun = choices.map(|(by, now)| {
            let mut next = process.clone();
            next.calls -= 1;
            next.call = Some(Call {
                by,
                now,
                next: NextAction::Take { of: by, is_repeated: false },
                bits: ((0, 0), (0, 0)),
                of_block: (0, 0),
                may_repeat: false,
                began_after_report: process.has_reported,
            });
            (next, None)
        });
        begun.collect()
    }

    fn serves(&self, process: &Process, stream: &Stream, now: u8, is_repeated: bool) -> bool {
        let is_in_time = match self.weakness {
            Weakness::KeepsStreamAfterRollback => now <= stream.millisecond,
            _ => now == stream.millisecond,
        };
        let compares = is_repeated || self.weakness == Weakness::ComparesFirst;
        is_in_time && (!compares || self.is_current(process, stream.generation))
    }

    fn is_current(&self, process: &Process, generation: Generation) -> bool {
        match self.weakness {
            Weakness::IgnoresRestores => generation.0 == process.generation.0,
            _ => generation == process.generation,
        }
    }

    fn take_bits(&self, process: &mut Process, mut call: Call, of: Owner, is_repeated: bool) {
        call.may_repeat |= process.record_reading(of, call.now);
        let found = process
            .stream_of(of)
            .filter(|stream| self.serves(process, stream, call.now, is_repeated));
        if let Some(mut stream) = found {
            Self::take_from_stream(process, call, of, &mut stream);
            return;
        }
        process.keys += 1;
        let (key, generation) = (process.keys, process.generation);
        call.next = NextAction::TakeFromNew { of, key, generation };
        process.call = Some(call);
    }

    fn take_from_new_stream(
        &self,
        process: &mut Process,
        call: Call,
        of: Owner,
        key: u8,
        generation: Generation,
    ) {
        let mut stream = Stream::new(key, call.now, generation);
        if self.weakness == Weakness::KeepsBits
            && let Some(last) = process.stream_of(of)
        {
            (stream.buffer, stream.taken) = (last.buffer, last.taken);
        }
        Self::take_from_stream(process, call, of, &mut stream);
    }

    fn take_from_stream(process: &mut Process, mut call: Call, of: Owner, stream: &mut Stream) {
        call.bits = (stream.next(), stream.generation);
        call.next = if of == Owner::Handle { NextAction::UseBlock } else { NextAction::Reserve };
        *process.stream_of(of) = Some(*stream);
        process.call = Some(call);
    }

    fn use_block(&self, process: &mut Process, mut call: Call) -> Option<GeneratedId> {
        let tick =
            self.machine(process).tick_for(self.machine(process).observe(), tick_of(call.now));
        let is_current = |block: &Block| self.is_current(process, block.generation);
        let usable =
            process.block.filter(|block| block.left > 0 && block.tick == tick && is_current(block));
        let Some(mut block) = usable else {
            process.block = None;
            call.of_block = process.generation;
            call.next = NextAction::Take { of: Owner::Thread, is_repeated: false };
            process.call = Some(call);
            return None;
        };
        let id = (block.tick, block.slot, call.bits.0);
        (block.slot, block.left) = (block.slot + 1, block.left - 1);
        process.block = Some(block);
        process.call = None;
        Some((id, call.may_repeat && !call.began_after_report))
    }

    fn machine(&self, process: &Process) -> PerTick {
        let (tick, next) = process.machine;
        PerTick::restore(SLOTS, self.behind, LAST_TICK, tick, next.into()).unwrap()
    }

    fn reserve(&self, process: &mut Process, mut call: Call) {
        let machine = self.machine(process);
        let want = if call.by == Owner::Handle { BLOCK_SIZE } else { 1 };
        let step = machine.step(machine.observe(), tick_of(call.now), want, 0, Flip::Allowed);
        let Step::Reserved(range) = step else { unreachable!("more slots than calls") };
        let state = machine.state();
        process.machine = (state.tick, u64::try_from(state.next).unwrap());
        if call.by == Owner::Handle {
            let (tick, slot, left) = (range.tick, range.first + 1, range.len - 1);
            process.block = Some(Block { generation: call.of_block, tick, slot, left });
        }
        let generation = call.bits.1;
        call.next = NextAction::Compare { generation, tick: range.tick, slot: range.first };
        process.call = Some(call);
    }

    fn compare(
        &self,
        process: &mut Process,
        mut call: Call,
        generation: Generation,
        (tick, slot): (u64, u64),
    ) -> Option<GeneratedId> {
        let compares = self.weakness != Weakness::ComparesFirst;
        if compares && !self.is_current(process, generation) {
            call.next = NextAction::Take { of: Owner::Thread, is_repeated: true };
            process.call = Some(call);
            return None;
        }
        if call.by == Owner::Handle && self.weakness != Weakness::HandleKeepsStream {
            let current = process.generation;
            process.stream_of(Owner::Handle).take_if(|stream| stream.generation != current);
        }
        process.call = None;
        Some(((tick, slot, call.bits.0), call.may_repeat && !call.began_after_report))
    }
}

/// Returns the tick of a clock reading. Tick 0 is skipped, because a new state machine starts in that tick.
fn tick_of(now: u8) -> u64 {
    u64::from(now) + 1
}

/// The two possible behaviors after a long rollback: the generator either continues in its millisecond or starts over in
/// the clock's millisecond.
const BEHIND_POLICIES: [BehindPolicy; 2] =
    [BehindPolicy::HeldWithin(u64::MAX), BehindPolicy::HeldWithin(0)];

#[test]
fn copies_repeat_ids_of_the_copied_millisecond_only() {
    for behind in BEHIND_POLICIES {
        let found = Explorer { behind, ..Explorer::new(CopyMethod::Copy, Weakness::None) }.search();
        std::println!("{found:?}");
        assert!(!found.repeated && found.shared && found.states > 10_000, "{found:?}");
    }
}

#[test]
fn a_forked_child_repeats_no_id() {
    for behind in BEHIND_POLICIES {
        let found = Explorer { behind, ..Explorer::new(CopyMethod::Fork, Weakness::None) }.search();
        std::println!("{found:?}");
        assert!(!found.repeated && !found.shared && found.states > 10_000, "{found:?}");
    }
}

#[test]
fn each_weakened_rule_repeats_ids() {
    for (split, weakness) in [
        (CopyMethod::Fork, Weakness::ComparesFirst),
        (CopyMethod::Copy, Weakness::IgnoresRestores),
        (CopyMethod::Copy, Weakness::KeepsBits),
        (CopyMethod::Fork, Weakness::KeepsBits),
        (CopyMethod::Copy, Weakness::KeepsStreamAfterRollback),
        (CopyMethod::Fork, Weakness::HandleKeepsStream),
    ] {
        assert!(Explorer::new(split, weakness).search().repeated, "{weakness:?} after a {split:?}");
    }
}
