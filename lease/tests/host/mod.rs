//! A host for keepers in tests. It drives a keeper with an in-memory store.

use polyflake_lease::{
    Error, ErrorKind, Memory, Options, Result, Shape,
    protocol::{Action, Grant, Keeper, Moment, Operation, Random, Reply, Request, Store},
};

pub const START_MS: u64 = 1_763_650_000_000;
pub const HOUR_MS: u64 = 3_600_000;

pub type RandomSource = Box<dyn FnMut() -> Result<Random>>;

/// A keeper and the clocks that the test sets for it.
pub struct KeeperHost {
    pub keeper: Keeper<RandomSource>,
    pub now: Moment,
    pub rejected: Vec<Error>,
    pub asked: Vec<Request>,
    pub ended: bool,
}

impl KeeperHost {
    pub fn new(options: Options) -> Self {
        Self::with_seed(options, fastrand::u64(1..))
    }

    /// Creates a keeper whose random numbers are derived from a seed.
    pub fn with_seed(options: Options, seed: u64) -> Self {
        let seed = std::cell::Cell::new(u128::from(seed) << 32);
        Self::with_random_source(
            options,
            Box::new(move || {
                seed.set(seed.get() + 1);
                Ok(Random(seed.get()))
            }),
        )
    }

    /// Creates a keeper with an explicit source of random numbers.
    pub fn with_random_source(options: Options, draw: RandomSource) -> Self {
        let now = Moment { wall_ms: START_MS, elapsed_ms: 0 };
        let (rejected, asked) = (Vec::new(), Vec::new());
        Self { keeper: Keeper::new(options, draw), now, rejected, asked, ended: false }
    }

    pub fn advance(&mut self, ms: u64) {
        self.now.wall_ms += ms;
        self.now.elapsed_ms += ms;
    }

    /// Drives the keeper against a store until the keeper waits or receives a grant.
    pub fn drive_until_idle(&mut self, store: &mut Memory) -> Option<Grant> {
        store.set_now(START_MS + self.now.elapsed_ms);
        self.drive_with(|request| store.answer(request))
    }

    /// Works like [`KeeperHost::drive_until_idle`], but obtains the replies from a function instead of a store.
    pub fn drive_with(
        &mut self,
        mut answer: impl FnMut(&Request) -> Result<Reply>,
    ) -> Option<Grant> {
        for _ in 0..10_000 {
            match self.keeper.poll(self.now) {
                Action::Send(request) => {
                    let (number, reply) = (request.number, answer(&request));
                    self.asked.push(request);
                    self.keeper.answered(number, reply, self.now);
                }
                Action::Begin(grant) => return Some(grant),
                Action::Extend(_) => {}
                Action::Seal => self.keeper.sealed(None, self.now),
                Action::Rejected(error) => self.rejected.push(error),
                Action::Wait(_) => return None,
                Action::End => {
                    self.ended = true;
                    return None;
                }
            }
        }
        panic!("expected a pause");
    }

    /// Closes the keeper, and drives it through its pauses until it finishes.
    pub fn close_and_drive_with(&mut self, mut answer: impl FnMut(&Request) -> Result<Reply>) {
        self.keeper.close();
        while !self.ended {
            self.drive_with(&mut answer);
            if let Action::Wait(until) = self.keeper.poll(self.now) {
                self.advance(until - self.now.elapsed_ms);
            }
        }
    }

    /// Drives the keeper for `ms` milliseconds, and advances the clocks in 100 steps.
    pub fn drive_for(&mut self, store: &mut Memory, ms: u64) -> Option<Grant> {
        for _ in 0..100 {
            if let Some(grant) = self.drive_until_idle(store) {
                return Some(grant);
            }
            self.advance(ms / 100);
        }
        None
    }

    /// Returns the next request without replying to it.
    pub fn next_request(&mut self) -> Request {
        loop {
            match self.keeper.poll(self.now) {
                Action::Send(request) => return request,
                Action::Rejected(error) => self.rejected.push(error),
                other => panic!("expected a request, found {other:?}"),
            }
        }
    }

    /// Returns the first write of a record without replying to it.
    pub fn first_claim(&mut self, store: &mut Memory) -> Request {
        loop {
            let request = self.next_request();
            if matches!(request.operation, Operation::Put { .. }) {
                return request;
            }
            let reply = store.answer(&request);
            self.keeper.answered(request.number, reply, self.now);
        }
    }

    #[track_caller]
    pub fn assert_error(&mut self, kind: ErrorKind) -> Error {
        let error = self.rejected.pop();
        let error = error.unwrap_or_else(|| panic!("expected {kind:?}, found no refusal"));
        assert_eq!(error.kind(), kind, "{error}");
        error
    }
}

pub fn options(numbers: u64) -> Options {
    Options::new("orders", Shape::sno(0..=numbers - 1).unwrap()).unwrap()
}

pub fn holder(store: &mut Memory, options: Options) -> (KeeperHost, Grant) {
    let mut host = KeeperHost::new(options);
    let grant = host.drive_until_idle(store).expect("expected a grant");
    (host, grant)
}
