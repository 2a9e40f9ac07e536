//! A generator as far as leases need it, and the ledger of everything that generators make.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use polyflake_lease::{Grant, Leased, Result};

// Each thread of the tests has a world of its own.
thread_local! {
    /// Milliseconds of a tick in the world.
    static TICK: Cell<u64> = const { Cell::new(1) };
    static LEDGER: RefCell<Ledger> = RefCell::default();
}

/// The IDs that were made, each with its generator; and the windows of the generators.
#[derive(Default)]
struct Ledger {
    made: HashMap<(u64, u64), usize>,
    /// Number, start and end of each generator's window.
    windows: Vec<(u64, u64, u64)>,
    fault: Option<String>,
}

/// Begins a new ledger.
pub fn reset(tick: u64) {
    TICK.set(tick);
    LEDGER.take();
}

/// The first promise that was broken, and the number of IDs that were made.
pub fn verdict() -> (Option<String>, usize) {
    LEDGER.with_borrow(|ledger| (ledger.fault.clone(), ledger.made.len()))
}

struct Generator {
    id: usize,
    number: u64,
    start: u64,
    end: Cell<u64>,
    /// One past the highest tick reserved, in milliseconds.
    mark: Cell<Option<u64>>,
    is_sealed: Cell<bool>,
}

/// A process's newest generator.
#[derive(Default)]
pub struct Place(RefCell<Option<Generator>>);

impl Leased for Place {
    fn begin(&self, grant: Grant) -> Result<()> {
        let after = self.seal();
        self.0.replace(Some(Generator::new(&grant, after)));
        Ok(())
    }

    fn extend(&self, end: u64) {
        self.0.borrow().as_ref().unwrap().extend(end);
    }

    fn seal(&self) -> Option<u64> {
        self.0.borrow().as_ref().and_then(Generator::seal)
    }
}

impl Place {
    /// Makes an ID at a time, whatever the window says.
    pub fn make(&self, ms: u64) {
        self.0.borrow().iter().for_each(|generator| generator.make(ms));
    }

    /// Returns whether the window holds a time.
    pub fn holds(&self, ms: u64) -> bool {
        self.0.borrow().as_ref().is_some_and(|generator| generator.holds(ms))
    }
}

impl Generator {
    fn new(grant: &Grant, after: Option<u64>) -> Self {
        let number = *grant.numbers().start();
        assert_eq!(grant.start() % TICK.get(), 0, "expected a start on a border of ticks");
        assert_eq!(grant.end() % TICK.get(), 0, "expected an end on a border of ticks");
        let start = grant.start().max(after.unwrap_or(0));
        LEDGER.with_borrow_mut(|ledger| {
            let id = ledger.windows.len();
            ledger.windows.push((number, start, start));
            ledger.widen(id, grant.end());
            let (end, mark) = (Cell::new(grant.end()), Cell::default());
            Self { id, number, start, end, mark, is_sealed: Cell::default() }
        })
    }

    fn extend(&self, end: u64) {
        assert!(end > self.end.get() && end.is_multiple_of(TICK.get()), "expected a later border");
        self.end.set(end);
        if !self.is_sealed.get() {
            LEDGER.with_borrow_mut(|ledger| ledger.widen(self.id, end));
        }
    }

    fn seal(&self) -> Option<u64> {
        self.is_sealed.set(true);
        let mark = self.mark.get();
        // Other generators may have the ticks that it never used.
        LEDGER.with_borrow_mut(|ledger| {
            let window = &mut ledger.windows[self.id];
            window.2 = mark.map_or(window.1, |mark| mark.max(window.1));
        });
        mark
    }

    /// Returns whether the window holds a time.
    fn holds(&self, ms: u64) -> bool {
        !self.is_sealed.get() && (self.start..self.end.get()).contains(&(ms - ms % TICK.get()))
    }

    /// Makes an ID at a time, whatever the window says.
    fn make(&self, ms: u64) {
        let tick = ms - ms % TICK.get();
        self.mark.set(self.mark.get().max(Some(tick + TICK.get())));
        LEDGER.with_borrow_mut(|ledger| {
            let maker = *ledger.made.entry((self.number, tick)).or_insert(self.id);
            if maker != self.id {
                let Self { id, number, .. } = self;
                ledger.fault(format!(
                    "generators {maker} and {id} made number {number}, tick {tick}"
                ));
            }
        });
    }
}

impl Ledger {
    fn fault(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
    }

    /// Widens a generator's window to `end`; no other window of the number may overlap it.
    fn widen(&mut self, id: usize, end: u64) {
        self.windows[id].2 = end;
        let (number, start, _) = self.windows[id];
        let meets = |(other, window): (usize, &(u64, u64, u64))| {
            (other != id && window.0 == number && window.1 < end && start < window.2)
                .then_some(other)
        };
        if let Some(other) = self.windows.iter().enumerate().find_map(meets) {
            self.fault(format!("generators {other} and {id} have number {number} at once"));
        }
    }
}
