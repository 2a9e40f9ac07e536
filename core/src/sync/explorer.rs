//! Explores every interleaving of threads that run the real code. The search visits each state once.
//!
//! The progress of a call is recorded as a list of the results of its atomic accesses. To advance by one step, the call is
//! run again from the beginning. It receives the recorded results, performs one more access, and is stopped before the next
//! access. The values of the atomics are part of the search state, so the atomics themselves never change. A call can also
//! choose a value, such as a clock reading, and the search explores all choices.
//!
//! Each access observes the last write (sequential consistency), and a weak compare-and-swap fails only if the value
//! differs.

use std::{
    boxed::Box,
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet, HashSet},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    rc::Rc,
    vec,
    vec::Vec,
};

use super::watched_atomics::{Access, Answer, Operation, with_interceptor};

/// The calls that threads perform on shared atomics.
pub(crate) trait Scenario {
    /// The data that the test checks, collected from the results of completed calls.
    type Record: Clone + Default + Hash;

    /// Performs call `number` of thread `thread`. The call may use [`choose`]. It changes the record only after its last
    /// access, and panics if its result contradicts the record. Returns whether the call has ended. If not, the search
    /// starts the call again.
    fn call(&self, thread: usize, number: u8, record: &mut Self::Record) -> bool;

    /// Returns whether each call that `thread` makes runs as a single step. If so, other threads run only between these
    /// calls.
    fn is_uninterruptible(&self, thread: usize) -> bool {
        let _ = thread;
        false
    }

    /// Checks the atomics and the record once all calls have ended.
    fn check_end(&self, record: &Self::Record) {
        let _ = record;
    }
}

/// Returns a number below `end`. The search explores every possible number.
pub(crate) fn choose(end: u8) -> u8 {
    CURRENT_RUN.with_borrow(|run| run.as_ref().expect("a call of a world").choose(end))
}

/// The results of a search.
#[derive(Debug)]
pub(crate) struct SearchResult<R> {
    /// The number of states that the search visited.
    pub(crate) states: usize,
    /// The records of the states in which all calls have ended.
    pub(crate) records: Vec<R>,
}

/// The values of all atomics that have been written, keyed by address.
type Memory = BTreeMap<usize, u128>;

#[derive(Clone, Hash)]
struct Thread {
    /// The number of calls that have ended.
    made: u8,
    /// The results and choices of the call in progress.
    log: Vec<Answer>,
}

#[derive(Clone, Hash)]
struct State<R> {
    memory: Memory,
    threads: Vec<Thread>,
    record: R,
}

/// One step of a thread.
struct Run {
    memory: RefCell<Memory>,
    log: RefCell<Vec<Answer>>,
    /// The number of answers that the call has received from the log.
    repeated: Cell<usize>,
    has_stepped: Cell<bool>,
    /// The choices made in this step, each with its number of options.
    choices: RefCell<Vec<(u8, u8)>>,
    chosen: Cell<usize>,
    /// The addresses of atomics that any call writes. Loading any other atomic is not a step, because its value never
    /// changes.
    written: Rc<RefCell<BTreeSet<usize>>>,
    /// Whether the step ends before its second access, so that other threads can run between two accesses.
    stops: bool,
}

std::thread_local! {
    static CURRENT_RUN: RefCell<Option<Rc<Run>>> = const { RefCell::new(None) };
}

/// The panic payload that stops a call.
struct CallStopped;

impl Run {
    fn next_logged_answer(&self) -> Option<Answer> {
        let answer = self.log.borrow().get(self.repeated.get()).copied();
        self.repeated.update(|repeated| repeated + usize::from(answer.is_some()));
        answer
    }

    fn record_answer(&self, answer: Answer) {
        self.log.borrow_mut().push(answer);
        self.repeated.update(|repeated| repeated + 1);
    }

    fn choose(&self, end: u8) -> u8 {
        if let Some(Answer { before, .. }) = self.next_logged_answer() {
            return u8::try_from(before).unwrap();
        }
        let (mut choices, at) = (self.choices.borrow_mut(), self.chosen.get());
        self.chosen.set(at + 1);
        if at == choices.len() {
            choices.push((0, end));
        }
        let choice = choices[at].0;
        self.record_answer(Answer { before: choice.into(), failed: false });
        choice
    }

    fn access(&self, access: &Access<'_>) -> Answer {
        let is_load = matches!(access.operation, Operation::Load);
        if is_load && !self.written.borrow().contains(&access.address) {
            return Answer { before: (access.load)(), failed: false };
        }
        if !is_load {
            self.written.borrow_mut().insert(access.address);
        }
        if let Some(answer) = self.next_logged_answer() {
            return answer;
        }
        if self.stops && self.has_stepped.replace(true) {
            resume_unwind(Box::new(CallStopped));
        }
        let mut memory = self.memory.borrow_mut();
        let before = memory.get(&access.address).copied().unwrap_or_else(access.load);
        let (after, failed) = access.operation.apply(before);
        if !is_load {
            memory.insert(access.address, after & access.max);
        }
        let answer = Answer { before, failed };
        self.record_answer(answer);
        answer
    }
}

/// Explores all interleavings of several threads. `calls` contains the number of calls that each thread performs.
pub(crate) fn explore<W: Scenario>(scenario: &W, calls: &[u8]) -> SearchResult<W::Record> {
    let written = Rc::default();
    loop {
        if let Some(found) = search(scenario, calls, &written) {
            return found;
        }
    }
}

/// Searches all states. Returns `None` if a call writes an atomic that is not in `written` yet. The search must then be
/// repeated.
fn search<W: Scenario>(
    scenario: &W,
    calls: &[u8],
    written: &Rc<RefCell<BTreeSet<usize>>>,
) -> Option<SearchResult<W::Record>> {
    let before = written.borrow().len();
    let thread = Thread { made: 0, log: Vec::new() };
    let start = State {
        memory: Memory::new(),
        threads: vec![thread; calls.len()],
        record: W::Record::default(),
    };
    let (mut known, mut open, mut records) = (HashSet::new(), vec![start], Vec::new());
    while let Some(state) = open.pop() {
        let mut is_over = true;
        for (thread, &calls) in calls.iter().enumerate() {
            if state.threads[thread].made < calls {
                is_over = false;
                for next in successors(scenario, &state, thread, written) {
                    // States with the same hash are treated as equal. The probability that two of 10 million different
                    // states have the same hash is 3 in a million.
                    if known.insert(BuildHasherDefault::<DefaultHasher>::new().hash_one(&next)) {
                        open.push(next);
                    }
                }
            }
        }
        if is_over {
            let run = new_run(&state, Vec::new(), Vec::new(), written, false);
            with_run(&run, || scenario.check_end(&state.record));
            records.push(state.record);
        }
        if written.borrow().len() > before {
            return None;
        }
    }
    Some(SearchResult { states: known.len(), records })
}

fn new_run<R>(
    state: &State<R>,
    log: Vec<Answer>,
    choices: Vec<(u8, u8)>,
    written: &Rc<RefCell<BTreeSet<usize>>>,
    stops: bool,
) -> Rc<Run> {
    Rc::new(Run {
        memory: RefCell::new(state.memory.clone()),
        log: RefCell::new(log),
        repeated: Cell::new(0),
        has_stepped: Cell::new(false),
        choices: RefCell::new(choices),
        chosen: Cell::new(0),
        written: written.clone(),
        stops,
    })
}

fn with_run<T>(run: &Rc<Run>, work: impl FnOnce() -> T) -> T {
    CURRENT_RUN.set(Some(run.clone()));
    let run = run.clone();
    with_interceptor(Some(Rc::new(move |access: &Access<'_>| run.access(access))), work)
}

/// Returns the states that one step of a thread can lead to, one for each combination of its choices.
fn successors<W: Scenario>(
    scenario: &W,
    state: &State<W::Record>,
    thread: usize,
    written: &Rc<RefCell<BTreeSet<usize>>>,
) -> Vec<State<W::Record>> {
    let (mut choices, mut next_states) = (Vec::new(), Vec::new());
    let Thread { made, log } = &state.threads[thread];
    loop {
        let run =
            new_run(state, log.clone(), choices, written, !scenario.is_uninterruptible(thread));
        let mut record = state.record.clone();
        let call = || with_run(&run, || scenario.call(thread, *made, &mut record));
        let mut next = state.clone();
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(has_ended) => {
                next.threads[thread] = Thread { made: made + u8::from(has_ended), log: Vec::new() };
                next.record = record;
            }
            Err(payload) if payload.is::<CallStopped>() => {
                next.threads[thread].log = run.log.take();
            }
            Err(payload) => {
                std::eprintln!("thread {thread}, calls ended: {:?}", ended_calls(state));
                resume_unwind(payload)
            }
        }
        next.memory = run.memory.take();
        next_states.push(next);
        choices = run.choices.take();
        while choices.pop_if(|(chosen, end)| *chosen + 1 == *end).is_some() {}
        match choices.last_mut() {
            Some((chosen, _)) => *chosen += 1,
            None => return next_states,
        }
    }
}

fn ended_calls<R>(state: &State<R>) -> Vec<u8> {
    state.threads.iter().map(|thread| thread.made).collect()
}
