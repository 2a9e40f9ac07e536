//! A simulated world: processes with real keepers and jumping clocks, a store, and a network between them. A seed
//! determines all events.

use std::{
    cell::RefCell,
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    rc::Rc,
};

use fastrand::Rng;
use polyflake_lease::{
    Error, ErrorKind, Memory, Operator, Options, Result, Shape,
    protocol::{Action, Grantee, Keeper, Moment, Operation, Random, Reply, Request, Store},
};

use serde_json::json;

use crate::{
    generator::{self, Family, ProcessGrantee},
    trace,
};

pub const START_MS: u64 = 1_763_650_000_000;

/// The rule that a world breaks on purpose. The simulator must detect the violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeakenedRule {
    Nowhere,
    /// The store accepts every swap without comparing the stored record with the expected one.
    NoCompare,
    /// The generator checks one clock reading but encodes a later reading.
    TtlAsProof,
    /// The release ignores the IDs that were already generated, and the generator keeps generating IDs.
    NoSeal,
    /// The store loses acknowledged writes, either because it crashes or because it is restored from a backup but keeps its
    /// name.
    NotDurable,
    /// An operator reports a promotion after an old backup was restored.
    FalsePromotion,
    /// The monotonic clocks of copied processes show no gap.
    NoGap,
    /// A store that is emptied claims to be durable.
    EmptiedDurable,
}

type SeededRandom = Box<dyn FnMut() -> Result<Random>>;

/// An input to a keeper. Replaying all inputs in another keeper creates a copy of the keeper.
#[derive(Clone)]
enum KeeperInput {
    Polled(Moment),
    Answered(u64, Box<Result<Reply>>, Moment),
    NotBegun(Error, Moment),
    Sealed(Option<u64>, Moment),
    Closed,
}

/// A keeper that records its inputs.
struct KeeperInputs {
    keeper: Keeper<SeededRandom>,
    options: Options,
    /// The process's source of random numbers: its initial state, followed by its current state.
    seed: Rng,
    random: Rc<RefCell<Rng>>,
    inputs: Vec<KeeperInput>,
}

impl KeeperInputs {
    fn new(options: Options, seed: Rng) -> Self {
        let random = Rc::new(RefCell::new(seed.clone()));
        let own = random.clone();
        let draw: SeededRandom = Box::new(move || Ok(Random(own.borrow_mut().u128(1..))));
        let keeper = Keeper::new(options.clone(), draw);
        Self { keeper, options, seed, random, inputs: Vec::new() }
    }

    fn process_input(&mut self, input: KeeperInput) -> Option<Action> {
        self.inputs.push(input.clone());
        match input {
            KeeperInput::Polled(now) => return Some(self.keeper.poll(now)),
            KeeperInput::Answered(number, reply, now) => self.keeper.answered(number, *reply, now),
            KeeperInput::NotBegun(error, now) => self.keeper.not_begun(error, now),
            KeeperInput::Sealed(end, now) => self.keeper.sealed(end, now),
            KeeperInput::Closed => self.keeper.close(),
        }
        None
    }

    /// Creates a keeper in the same state. From now on, the copy uses different random numbers.
    fn copy(&self, random: Rng) -> Self {
        let mut copy = Self::new(self.options.clone(), self.seed.clone());
        self.inputs.iter().for_each(|input| drop(copy.process_input(input.clone())));
        copy.random.replace(random);
        copy
    }
}

/// A process with a keeper and a generator.
struct Process {
    keeper: KeeperInputs,
    place: ProcessGrantee,
    /// The difference between the process's clock and the true time, in milliseconds.
    offset: i64,
    paused_until: u64,
    /// The index of this process among those that have run in this slot. Replies to earlier processes are lost.
    life: u32,
    is_closing: bool,
    wakes: u64,
    /// The number of the last request that the process sent.
    request: u64,
    /// How far the process's monotonic clock lags behind, because the process was restored from earlier images.
    behind: u64,
    /// The process from which this one was copied, together with that process's life and last request at the time of
    /// copying.
    original: Option<(usize, u32, u64)>,
    is_copied: bool,
    /// The latest time that the process's clock has shown.
    latest: u64,
}

/// An event in the world.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Arrive {
        process: usize,
        life: u32,
        request: Request,
    },
    Answer {
        process: usize,
        life: u32,
        number: u64,
        reply: Result<Reply>,
    },
    /// Wakes a process. When a process requests a wake-up, the new request replaces any earlier one from the same process.
    Wake {
        process: usize,
        order: u64,
    },
    Make {
        process: usize,
    },
    Chaos,
}

pub struct World {
    rng: Rng,
    weak: WeakenedRule,
    now: u64,
    lease_ms: u64,
    pub family: Family,
    shape: Shape,
    store: Memory,
    store_offset: i64,
    backup: Option<Memory>,
    /// The names before and after a promotion that no operator has reported yet.
    promotion: Option<(String, String)>,
    /// Killed holders that an operator may declare dead, with their worker IDs and tokens.
    corpses: Vec<(u64, Random, Process)>,
    processes: Vec<Process>,
    queue: BinaryHeap<(Reverse<u64>, Reverse<u64>)>,
    events: HashMap<u64, Event>,
    scheduled: u64,
    /// Whether the store may lose any of its data at any time.
    loses: bool,
    pub lost: usize,
    /// How many process images may still be restored twice.
    pub images: usize,
    pub copied: usize,
    pub claims: usize,
    pub unusable: usize,
    pub operated: usize,
    pub rejected: HashMap<&'static str, usize>,
}

impl World {
    pub fn new(seed: u64, weak: WeakenedRule) -> Self {
        let mut rng = Rng::with_seed(seed);
        let family = Family::ALL[rng.usize(..Family::ALL.len())];
        let shape = family.shape(rng.u64(0..3));
        generator::reset();
        let lease_ms = [2_000, 10_000, 60_000, 3_600_000][rng.usize(0..4)];
        let mut world = Self {
            weak,
            now: START_MS + rng.u64(0..10_000),
            lease_ms,
            family,
            shape,
            store: Memory::new(START_MS),
            store_offset: rng.i64(-1000..1000),
            backup: None,
            promotion: None,
            corpses: Vec::new(),
            processes: Vec::new(),
            queue: BinaryHeap::new(),
            events: HashMap::new(),
            scheduled: 0,
            loses: false,
            lost: 0,
            images: 0,
            copied: 0,
            claims: 0,
            unusable: 0,
            operated: 0,
            rejected: HashMap::new(),
            rng,
        };
        let (numbers, times) = (world.shape.worker_ids(), (lease_ms, world.clock_error()));
        trace::record_start(seed, family, numbers.end() - numbers.start() + 1, times);
        for process in 0..world.rng.usize(2..5) {
            let new = world.create_process(0);
            world.processes.push(new);
            world.schedule_wake(0, process);
            world.schedule(1, Event::Make { process });
        }
        world.schedule(1, Event::Chaos);
        world
    }

    /// Creates a world with a volatile store. Its leases are long, so that only a few events occur during a waiting time.
    pub fn new_volatile(seed: u64, weak: WeakenedRule) -> Self {
        let mut world = Self::new(seed, weak);
        world.lease_ms = [60_000, 300_000, 3_600_000][world.rng.usize(0..3)];
        world.loses = true;
        if weak != WeakenedRule::EmptiedDurable {
            world.store = Memory::volatile(START_MS);
        }
        for process in 0..world.processes.len() {
            world.processes[process] = world.create_process(0);
            world.schedule_wake(0, process);
        }
        world
    }

    /// Simulates up to `events` events, and stops if a guarantee is violated.
    pub fn run(&mut self, events: usize) -> Option<String> {
        for _ in 0..events {
            let (Reverse(at), Reverse(number)) = self.queue.pop()?;
            self.now = self.now.max(at);
            let event = self.events.remove(&number).unwrap();
            self.process_event(event);
            if let (Some(fault), _) = generator::first_violation() {
                return Some(fault);
            }
        }
        None
    }

    fn namespace(&self) -> String {
        Options::new("orders", self.shape.clone()).unwrap().namespace().to_owned()
    }

    fn create_process(&mut self, life: u32) -> Process {
        let random = self.rng.fork();
        let mut options = Options::new("orders", self.shape.clone())
            .and_then(|options| options.lease_ms(self.lease_ms))
            .unwrap();
        if self.rng.u8(..) < 40 {
            let number = self.rng.u64(self.shape.worker_ids());
            options = if self.rng.bool() {
                options.preferred_worker_id(number)
            } else {
                options.required_worker_id(number).and_then(|it| it.lease_ms(self.lease_ms))
            }
            .unwrap();
        }
        let offset =
            if self.rng.u8(..) < 245 { self.rng.i64(-200..200) } else { self.random_skew() };
        let place = ProcessGrantee::new(self.family, self.weak == WeakenedRule::TtlAsProof);
        let (paused_until, is_closing) = (0, false);
        Process {
            keeper: KeeperInputs::new(options, random),
            place,
            offset,
            paused_until,
            life,
            is_closing,
            wakes: 0,
            request: 0,
            behind: 0,
            original: None,
            is_copied: false,
            latest: 0,
        }
    }

    /// Returns a random clock error of up to two lease durations.
    fn random_skew(&mut self) -> i64 {
        let most = i64::try_from(self.lease_ms * 2).unwrap();
        self.rng.i64(-most..most)
    }

    fn schedule(&mut self, delay: u64, event: Event) {
        self.scheduled += 1;
        self.queue.push((Reverse(self.now.saturating_add(delay)), Reverse(self.scheduled)));
        self.events.insert(self.scheduled, event);
    }

    fn schedule_wake(&mut self, delay: u64, process: usize) {
        self.processes[process].wakes += 1;
        let order = self.processes[process].wakes;
        self.schedule(delay, Event::Wake { process, order });
    }

    fn moment(&self, process: usize) -> Moment {
        let Process { offset, behind, .. } = self.processes[process];
        let wall_ms = self.now.saturating_add_signed(offset);
        Moment { wall_ms, elapsed_ms: self.now - START_MS - behind }
    }

    fn process_event(&mut self, event: Event) {
        let paused = match &event {
            Event::Answer { process, .. }
            | Event::Wake { process, .. }
            | Event::Make { process } => {
                self.processes[*process].paused_until.saturating_sub(self.now)
            }
            _ => 0,
        };
        if paused > 0 {
            return self.schedule(paused, event);
        }
        match event {
            Event::Arrive { process, life, request } => {
                self.deliver_request(process, life, &request);
            }
            Event::Answer { process, life, number, reply } => {
                if self.processes[process].life == life {
                    let now = self.moment(process);
                    if let Ok(reply) = &reply {
                        let store_time = reply.now;
                        trace::record_event(
                            || json!({"event": "heard", "process": process, "now": store_time}),
                        );
                    }
                    self.processes[process].keeper.process_input(KeeperInput::Answered(
                        number,
                        Box::new(reply),
                        now,
                    ));
                    self.drive_keeper(process);
                }
            }
            Event::Wake { process, order } if self.processes[process].wakes == order => {
                self.drive_keeper(process);
            }
            Event::Wake { .. } => {}
            Event::Make { process } => self.generate(process),
            Event::Chaos => self.inject_random_fault(),
        }
    }

    /// Performs a keeper's actions.
    fn drive_keeper(&mut self, process: usize) {
        loop {
            let now = self.moment(process);
            let own = &mut self.processes[process];
            match own.keeper.process_input(KeeperInput::Polled(now)).unwrap() {
                Action::Send(request) => self.send(process, &request),
                Action::Begin(grant) => {
                    self.claims += 1;
                    let (start, end) = (grant.start(), grant.end());
                    trace::record_event(
                        || json!({"event": "begin", "process": process, "start": start, "end": end}),
                    );
                    if let Err(error) = own.place.begin(grant) {
                        // The grant ends before the previous grant's last tick, so it is unusable.
                        self.unusable += 1;
                        trace::record_event(|| json!({"event": "over", "process": process}));
                        own.keeper.process_input(KeeperInput::NotBegun(error, now));
                    }
                }
                Action::Extend(end) => {
                    own.place.extend(end);
                    trace::record_event(
                        || json!({"event": "extend", "process": process, "end": end}),
                    );
                }
                Action::Seal => {
                    let end =
                        if self.weak == WeakenedRule::NoSeal { None } else { own.place.seal() };
                    trace::record_event(|| json!({"event": "over", "process": process}));
                    own.keeper.process_input(KeeperInput::Sealed(end, now));
                }
                Action::Rejected(error) => *self.rejected.entry(error.code()).or_default() += 1,
                Action::Wait(until) => {
                    let delay = until.saturating_sub(now.elapsed_ms).clamp(1, self.lease_ms);
                    return self.schedule_wake(delay, process);
                }
                Action::End if own.is_closing => return self.restart(process),
                Action::End => return,
            }
        }
    }

    /// Sends a request through the network, which may delay, duplicate or lose it.
    fn send(&mut self, process: usize, request: &Request) {
        let life = self.processes[process].life;
        self.processes[process].request = request.number;
        trace::record_write(process, life, request);
        let copies = match self.rng.u8(..100) {
            0..3 => 0,
            3..9 => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let delay = self.random_delay();
            self.schedule(delay, Event::Arrive { process, life, request: request.clone() });
        }
    }

    fn random_delay(&mut self) -> u64 {
        match self.rng.u8(..100) {
            0..93 => self.rng.u64(1..20),
            93..98 => self.rng.u64(20..self.lease_ms / 4),
            _ => self.rng.u64(1..self.lease_ms * 2),
        }
    }

    fn deliver_request(&mut self, process: usize, life: u32, request: &Request) {
        self.store.set_now(self.now.saturating_add_signed(self.store_offset));
        let away = || Err(Error::new(ErrorKind::LeaseUnavailable, "the store is away"));
        let chance = self.rng.u8(..100);
        if chance < 2 {
            return self.reply(1, (process, life), request.number, &away());
        }
        let mut asked = request.clone();
        if let (WeakenedRule::NoCompare, Operation::Put { old, new }) =
            (self.weak, &mut asked.operation)
        {
            let there =
                self.store.records(&request.namespace).into_iter().find(|it| it.first == new.first);
            *old = there.unwrap_or(old.clone());
        }
        let reply = self.store.answer(&asked);
        if let Ok(reply) = &reply {
            trace::record_reply(
                process,
                life,
                request,
                reply,
                &self.store.records(&request.namespace),
            );
        }
        let reply = if chance < 4 { away() } else { reply };
        if chance >= 7 {
            let delay = self.random_delay();
            self.reply(delay, (process, life), request.number, &reply);
        }
    }

    /// Sends a reply to a process, and to those of its copies that wait for the same reply.
    fn reply(
        &mut self,
        delay: u64,
        (process, life): (usize, u32),
        number: u64,
        reply: &Result<Reply>,
    ) {
        let waits = |copy: &Process| {
            copy.original.is_some_and(|(original, its_life, request)| {
                (original, its_life) == (process, life) && number <= request
            })
        };
        let copies = self.processes.iter().enumerate().filter(|(_, copy)| waits(copy));
        let copies: Vec<_> = copies.map(|(copy, own)| (copy, own.life)).collect();
        for (process, life) in [(process, life)].into_iter().chain(copies) {
            let reply = reply.clone();
            self.schedule(delay, Event::Answer { process, life, number, reply });
        }
    }

    /// Restores the image of a process twice, some time after the image was taken. One copy replaces the original process.
    fn copy(&mut self, process: usize) {
        let pause = 1_100 + self.rng.u64(0..self.lease_ms);
        let random = self.rng.fork();
        let own = &mut self.processes[process];
        let keeper = own.keeper.copy(random);
        let place = own.place.copy();
        own.behind += if self.weak == WeakenedRule::NoGap { 0 } else { pause };
        (own.paused_until, own.is_copied) = (self.now + pause, true);
        let Process { offset, behind, paused_until, life, is_closing, request, latest, .. } = *own;
        let original = Some((process, life, request));
        let (wakes, is_copied, copy) = (0, true, self.processes.len());
        self.processes.push(Process {
            keeper,
            place,
            offset,
            paused_until,
            life,
            is_closing,
            wakes,
            request,
            behind,
            original,
            is_copied,
            latest,
        });
        let is_reply = |event: &&Event| matches!(event, Event::Answer { process: to, life: own, .. } if (*to, *own) == (process, life));
        let mut replies: Vec<_> = self.events.values().filter(is_reply).cloned().collect();
        replies.sort_by_key(|event| format!("{event:?}"));
        for mut event in replies {
            if let Event::Answer { process: to, .. } = &mut event {
                *to = copy;
            }
            self.schedule(pause, event);
        }
        self.schedule_wake(pause, copy);
        self.schedule_wake(pause, process);
        self.schedule(pause + 1, Event::Make { process: copy });
        self.copied += 1;
    }

    /// Makes a generator generate IDs, either immediately, or after a pause between reading the clock and generating.
    fn generate(&mut self, process: usize) {
        if self.processes[process].is_copied {
            // Hosts compare the two clocks at least once a second, so the keeper runs before the IDs are generated.
            self.drive_keeper(process);
        }
        let ms = self.moment(process).wall_ms;
        let stale = ms.saturating_sub(self.rng.u64(0..self.lease_ms));
        let count = self.rng.usize(1..6);
        let own = &mut self.processes[process];
        own.latest = own.latest.max(ms);
        trace::record_event(|| json!({"event": "makes", "process": process}));
        let place = &own.place;
        place.may_be_shared.set(own.keeper.keeper.has_gap());
        if self.weak != WeakenedRule::TtlAsProof {
            place.make_ids(ms, count);
            place.make_ids(stale, 1);
        } else if place.contains_time(stale) {
            place.make_ids(ms, 1);
        }
        let delay = self.rng.u64(1..self.lease_ms / 8);
        self.schedule(delay, Event::Make { process });
    }

    fn restart(&mut self, process: usize) {
        let life = self.processes[process].life + 1;
        trace::record_event(|| json!({"event": "over", "process": process}));
        let new = self.create_process(life);
        let old = std::mem::replace(&mut self.processes[process], new);
        if self.weak == WeakenedRule::NoSeal {
            // In this variant, the old process's generator is not sealed, and keeps generating IDs.
            self.processes[process].place = old.place;
        } else if let Some(number) = old.keeper.keeper.worker_id().filter(|_| !old.is_copied) {
            let records = self.store.records(&self.namespace());
            let held = records.into_iter().find(|it| it.first == number);
            // The record still belongs to the killed holder if it contains the end that the holder's keeper last received.
            let held = held.filter(|it| Some(it.granted_until) == old.keeper.keeper.end());
            self.corpses.extend(held.map(|it| (number, it.token, old)));
        }
        let delay = self.rng.u64(0..self.lease_ms / 4);
        self.schedule_wake(delay, process);
    }

    fn inject_random_fault(&mut self) {
        let process = self.rng.usize(0..self.processes.len());
        match self.rng.u8(..13) {
            0 | 1 => self.restart(process),
            2 | 3 => {
                let until = self.now + self.rng.u64(0..self.lease_ms * 2);
                let paused_until = &mut self.processes[process].paused_until;
                *paused_until = until.max(*paused_until);
            }
            4 | 5 => {
                self.processes[process].is_closing = true;
                self.processes[process].keeper.process_input(KeeperInput::Closed);
                self.schedule_wake(0, process);
            }
            6 if self.rng.u8(..) < 60 => self.processes[process].offset = self.random_skew(),
            6 | 7 => self.processes[process].offset = self.rng.i64(-100..100),
            // Limits the offset of the store's clock, so that the clock never jumps by more than the clock error that the
            // namespace tolerates.
            8 => {
                let most = self.clock_error().cast_signed() / 2;
                self.store_offset = self.rng.i64(-most..most);
            }
            // An empty store is not backed up, because it could not be distinguished from a new store.
            9 if self.images > 0 && self.processes[process].paused_until <= self.now => {
                self.images -= 1;
                self.copy(process);
            }
            9 if !self.store.records(&self.namespace()).is_empty() => {
                self.backup = Some(self.store.clone());
            }
            10 if self.rng.u8(..) < 60 => self.restore(),
            11 => self.perform_operator_action(),
            // The replica has all writes that the store has acknowledged.
            12 if self.rng.u8(..) < 60 => {
                trace::record_event(|| json!({"event": "promotes"}));
                self.promotion = Some(self.replace_store(self.store.clone()));
            }
            _ => {}
        }
        if self.loses && self.rng.u8(..) < 30 {
            self.lose_data();
        }
        let delay = self.rng.u64(1..self.lease_ms / 2);
        self.schedule(delay, Event::Chaos);
    }

    /// Makes the store lose data: empties it under the same name, or restarts it with an old snapshot or without any data.
    fn lose_data(&mut self) {
        self.lost += 1;
        match self.rng.u8(..3) {
            0 => self.store.clear(),
            1 => self.restore(),
            _ => drop(self.replace_store(Memory::volatile(self.now))),
        }
    }

    /// Performs an operator's action: evicting a holder, declaring a holder dead, reserving or freeing a worker ID, or
    /// reporting a promotion or a restored backup. Each of these actions may be rejected.
    fn perform_operator_action(&mut self) {
        self.store.set_now(self.now.saturating_add_signed(self.store_offset));
        let (number, what) = (self.rng.u64(self.shape.worker_ids()), self.rng.u8(..28));
        let used_until = self.now + self.rng.u64(0..self.lease_ms);
        let (corpse, promotion) = (self.take_dead_holder(), self.promotion.clone());
        let done = self.operator(|operator| match what {
            0 => operator.restored(None).is_ok(),
            10..14 => corpse.is_some_and(|(number, token, dead)| {
                let is_done = operator.dead(number, token).is_ok();
                if is_done {
                    // The holder is dead, so no process uses the remainder of its window.
                    dead.place.seal();
                }
                is_done
            }),
            1..10 => operator.evict(number).is_ok(),
            14..18 => promotion.is_some_and(|(from, to)| operator.promoted(&from, &to).is_ok()),
            _ => {
                let reserved = operator.reserve(number, "a reason");
                reserved.is_ok_and(|_| operator.free(number, used_until).is_ok())
            }
        });
        self.operated += usize::from(done);
        self.record_operator_action();
    }

    /// Records the store's contents after an operator's command.
    fn record_operator_action(&mut self) {
        let request =
            Request { number: 1, namespace: self.namespace(), operation: Operation::List };
        let Ok(reply) = self.store.answer(&request) else { return };
        trace::record_reply(
            usize::MAX,
            0,
            &request,
            &reply,
            &self.store.records(&request.namespace),
        );
    }

    fn operator(
        &mut self,
        act: impl FnOnce(&mut Operator<&mut Memory, SeededRandom>) -> bool,
    ) -> bool {
        let mut random = self.rng.fork();
        let draw: SeededRandom = Box::new(move || Ok(Random(random.u128(1..))));
        let namespace = self.namespace();
        act(&mut Operator::new(&mut self.store, &namespace, draw).unwrap())
    }

    /// Returns a dead holder with its worker ID and token. A holder whose clock was ahead of the store's clock by more than
    /// the clock error is discarded, because an operator must not declare such a holder dead.
    fn take_dead_holder(&mut self) -> Option<(u64, Random, Process)> {
        let store_time = self.now.saturating_add_signed(self.store_offset);
        let latest = store_time + self.clock_error();
        self.corpses.pop().filter(|(_, _, dead)| dead.latest <= latest)
    }

    /// Returns the clock error that the namespace tolerates.
    fn clock_error(&self) -> u64 {
        (self.lease_ms / 3).clamp(5_000, 60_000)
    }

    /// Restores a backup. If the store is not durable, this models a crash that loses all writes after the backup.
    fn restore(&mut self) {
        let Some(backup) = self.backup.take() else { return };
        if self.weak == WeakenedRule::NotDurable {
            self.store = backup;
            return;
        }
        let (from, to) = self.replace_store(backup);
        if self.weak == WeakenedRule::FalsePromotion {
            self.operator(|operator| operator.promoted(&from, &to).is_ok());
        }
    }

    /// Replaces the store with a different one that contains `content`, and returns the old and new names.
    fn replace_store(&mut self, content: Memory) -> (String, String) {
        let before = self.read_store_name();
        self.store.restore(content);
        let after = self.read_store_name();
        trace::record_event(|| json!({"event": "another", "from": before, "to": after}));
        (before, after)
    }

    fn read_store_name(&mut self) -> String {
        let request =
            Request { number: 1, namespace: self.namespace(), operation: Operation::List };
        self.store.answer(&request).unwrap().store
    }
}
