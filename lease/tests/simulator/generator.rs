//! Generators of the core under the leases of the worlds, and the ledger of everything that they make.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use polyflake::{
    clock::Clock,
    randflake::{self, Codec},
    sno,
};
use polyflake_lease::{Error, ErrorKind, Grant, Leased, Result, Shape};

pub const SECRET: [u8; 16] = [7; 16];
/// The largest batch.
const BATCH: usize = 8;
/// A window that has no end in a world.
const ENDLESS: i64 = 1 << 41;

// Each thread of the tests has a world of its own.
thread_local! {
    static LEDGER: RefCell<Ledger> = RefCell::default();
}

/// The IDs that were made, the generator of each tick, and the windows of the generators.
#[derive(Default)]
struct Ledger {
    ids: HashSet<i128>,
    made: HashMap<(u64, i64), usize>,
    /// Number, start and end of each generator's window.
    windows: Vec<(u64, u64, u64)>,
    fault: Option<String>,
}

/// Begins a new ledger.
pub fn reset() {
    LEDGER.take();
}

/// The first promise that was broken, and the number of IDs that were made.
pub fn verdict() -> (Option<String>, usize) {
    LEDGER.with_borrow(|ledger| (ledger.fault.clone(), ledger.ids.len()))
}

/// The clock of a process, which the world sets.
#[derive(Clone, Default)]
struct Time(Arc<AtomicI64>);

impl Clock for Time {
    fn unix_nanos(&self) -> polyflake::Result<i64> {
        Ok(self.0.load(Ordering::Relaxed) * 1_000_000)
    }
    fn sleep(&self, _: u64) -> polyflake::Result<()> {
        unreachable!("calls that never wait")
    }
}

enum Family {
    Sno(sno::Leased<Time>),
    Randflake(randflake::Leased<Time>),
}

/// A generator as the core makes it: one grant after the other.
struct Generator {
    family: Family,
    /// Its newest grant, and the same in the ledger.
    grant: Cell<u32>,
    id: Cell<usize>,
}

/// The place of a process's generator.
pub struct Place {
    shape: Shape,
    time: Time,
    /// `true` if windows are looked at before an ID is made, and do not hold for the ID itself.
    looks_first: bool,
    generator: RefCell<Option<Generator>>,
}

impl Place {
    pub fn new(shape: Shape, looks_first: bool) -> Self {
        Self { shape, time: Time::default(), looks_first, generator: RefCell::default() }
    }

    fn is_sno(&self) -> bool {
        self.shape.grid().step() == 4
    }

    fn window(&self, start: u64, end: u64) -> Range<i64> {
        let end = if self.looks_first { ENDLESS } else { end.cast_signed() };
        start.cast_signed()..end
    }

    fn sno(&self, number: u64, window: Range<i64>) -> polyflake::Result<sno::Generator<Time>> {
        let builder = sno::Builder::with_clock(self.time.clone());
        let builder = builder.partition(u16::try_from(number).unwrap());
        builder.window(window.start, window.end).build()
    }

    fn randflake(
        &self,
        number: u64,
        window: Range<i64>,
    ) -> polyflake::Result<randflake::Generator<Time>> {
        let node = u32::try_from(number).unwrap();
        let grant = randflake::Grant::new(node, window.start / 1000, window.end / 1000)?;
        randflake::Builder::with_clock(grant, SECRET, self.time.clone()).build()
    }

    fn first(&self, number: u64, window: Range<i64>) -> polyflake::Result<Family> {
        Ok(if self.is_sno() {
            Family::Sno(sno::Leased::new(self.sno(number, window)?)?)
        } else {
            Family::Randflake(randflake::Leased::new(self.randflake(number, window)?)?)
        })
    }

    /// Makes some IDs at a time, if the generator does.
    pub fn make(&self, ms: u64, count: usize) {
        self.time.0.store(ms.cast_signed(), Ordering::Relaxed);
        if let Some(generator) = &*self.generator.borrow() {
            generator.make(count.min(BATCH));
        }
    }

    /// Returns whether the newest window holds a time.
    pub fn holds(&self, ms: u64) -> bool {
        let generator = self.generator.borrow();
        generator.as_ref().is_some_and(|generator| {
            LEDGER.with_borrow(|ledger| {
                let (_, start, end) = ledger.windows[generator.id.get()];
                (start..end).contains(&ms)
            })
        })
    }
}

impl Leased for Place {
    fn begin(&self, grant: Grant) -> Result<()> {
        let (number, start, end) = (*grant.numbers().start(), grant.start(), grant.end());
        let step = self.shape.grid().step();
        assert!(
            start.is_multiple_of(step) && end.is_multiple_of(step),
            "expected borders of ticks"
        );
        let window = self.window(start, end);
        let refused =
            |error: polyflake::Error| Error::new(ErrorKind::LeaseUnavailable, error.to_string());
        let mut place = self.generator.borrow_mut();
        let Some(generator) = &*place else {
            let family = self.first(number, window).map_err(refused)?;
            let id = Cell::new(Ledger::begin(number, start, end));
            *place = Some(Generator { family, grant: Cell::new(0), id });
            return Ok(());
        };
        let from = Cell::new(start);
        let next = |last: Option<Range<i64>>| {
            Ledger::end(generator.id.get(), last.as_ref().map(|last| last.end));
            let start = last.map_or(window.start, |last| last.start.max(window.start));
            from.set(start.cast_unsigned());
            start..window.end
        };
        let moved = match &generator.family {
            Family::Sno(ids) => ids.move_to(|last| self.sno(number, next(last))),
            Family::Randflake(ids) => ids.move_to(|last| self.randflake(number, next(last))),
        };
        generator.grant.set(moved.map_err(refused)?);
        generator.id.set(Ledger::begin(number, from.get(), end));
        Ok(())
    }

    fn extend(&self, end: u64) {
        let generator = self.generator.borrow();
        let Some(Generator { family, grant, id }) = &*generator else { return };
        assert!(end.is_multiple_of(self.shape.grid().step()), "expected a border of ticks");
        let moved = match family {
            Family::Sno(ids) => ids.extend(grant.get(), end.cast_signed()),
            Family::Randflake(ids) => ids.extend(grant.get(), end.cast_signed()),
        };
        assert!(self.looks_first || moved.is_ok(), "expected a later end, found {moved:?}");
        LEDGER.with_borrow_mut(|ledger| ledger.widen(id.get(), end));
    }

    fn seal(&self) -> Option<u64> {
        let generator = self.generator.borrow();
        let Generator { family, grant, id } = generator.as_ref()?;
        let last = match family {
            Family::Sno(ids) => ids.seal(grant.get()),
            Family::Randflake(ids) => ids.seal(grant.get()),
        };
        let last = last.unwrap().map(|last| last.end);
        Ledger::end(id.get(), last);
        last.map(i64::cast_unsigned)
    }
}

impl Generator {
    /// Makes one ID, or a batch.
    fn make(&self, count: usize) {
        match &self.family {
            Family::Sno(ids) => {
                let mut batch = [sno::Sno::default(); BATCH];
                let made = match count {
                    1 => ids.try_generate(7).map(|id| batch[0] = id).map_or(0, |()| 1),
                    _ => ids.try_fill(7, &mut batch[..count]).unwrap_or(0),
                };
                for id in &batch[..made] {
                    let bits =
                        id.as_bytes().iter().fold(0, |all, byte| all << 8 | i128::from(*byte));
                    self.note(bits, id.partition().into(), id.unix_ms());
                }
            }
            Family::Randflake(ids) => {
                let mut batch = [randflake::Randflake::default(); BATCH];
                let made = match count {
                    1 => ids.try_generate().map(|id| batch[0] = id).map_or(0, |()| 1),
                    _ => ids.try_fill(&mut batch[..count]).unwrap_or(0),
                };
                for id in &batch[..made] {
                    let parts = Codec::new(SECRET).inspect(*id);
                    self.note(id.to_i64().into(), parts.node.into(), parts.timestamp);
                }
            }
        }
    }

    /// Writes an ID down: no other generator made one of its number and tick, and nobody the same.
    fn note(&self, bits: i128, number: u64, tick: i64) {
        LEDGER.with_borrow_mut(|ledger| {
            let id = self.id.get();
            let maker = *ledger.made.entry((number, tick)).or_insert(id);
            if maker != id {
                let fault =
                    format!("generators {maker} and {id} made number {number}, tick {tick}");
                ledger.fault.get_or_insert(fault);
            }
            if !ledger.ids.insert(bits) {
                ledger.fault.get_or_insert(format!("generator {id} made {bits:x} again"));
            }
        });
    }
}

impl Ledger {
    /// Writes a generator's window down.
    fn begin(number: u64, start: u64, end: u64) -> usize {
        LEDGER.with_borrow_mut(|ledger| {
            let id = ledger.windows.len();
            ledger.windows.push((number, start, start));
            ledger.widen(id, end);
            id
        })
    }

    /// Ends a generator's window with its highest tick: others may have the ticks that it never used.
    fn end(id: usize, last: Option<i64>) {
        LEDGER.with_borrow_mut(|ledger| {
            let window = &mut ledger.windows[id];
            window.2 = last.map_or(window.1, |last| last.cast_unsigned().max(window.1));
        });
    }

    /// Widens a generator's window to `end`; no other window of the number may overlap it.
    fn widen(&mut self, id: usize, end: u64) {
        self.windows[id].2 = end;
        let (number, start, _) = self.windows[id];
        let meets = |(other, &(its, from, to)): (usize, &(u64, u64, u64))| {
            // A window that was sealed before its first tick is empty.
            let is_common = its == number && start.max(from) < end.min(to);
            (other != id && is_common).then_some(other)
        };
        if let Some(other) = self.windows.iter().enumerate().find_map(meets) {
            let fault = format!("generators {other} and {id} have number {number} at once");
            self.fault.get_or_insert(fault);
        }
    }
}
