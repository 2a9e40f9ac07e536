//! Runs the core crate's generators under the leases of the simulated worlds, and records all generated IDs in a ledger.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use polyflake::{
    clock::Clock,
    hotguid,
    layout::{self, Field, Layout, Tick},
    randflake::{self, Codec},
    sno, uuid7,
};
use polyflake_lease::{
    Error, ErrorKind, Result, Shape,
    protocol::{Grant, Grantee},
};
use serde_json::json;

use crate::trace;

pub const SECRET: [u8; 16] = [7; 16];
/// The maximum size of a batch.
const BATCH_SIZE: usize = 8;
/// A window end that no simulation reaches.
const UNREACHABLE_END_MS: i64 = 1 << 41;

// Each test thread simulates its own world.
thread_local! {
    static LEDGER: RefCell<Ledger> = RefCell::default();
}

/// The generated IDs, the generator that used each tick, and the generators' windows.
#[derive(Default)]
struct Ledger {
    ids: HashMap<i128, IdOrigin>,
    made: HashMap<(u64, i64), IdOrigin>,
    /// The worker ID, start and end of each generator's window.
    windows: Vec<(u64, u64, u64)>,
    /// For each copied generator: the first generator in its group of copies, and the end of the grant that all copies
    /// shared.
    copies: HashMap<usize, (usize, u64)>,
    fault: Option<String>,
}

/// The generator that created an ID, and whether another copy of the generator may have created the same ID. Copies may
/// share IDs created before the image was taken, and IDs created between a gap in the clocks and the next write that the
/// store acknowledged.
#[derive(Clone, Copy)]
struct IdOrigin {
    id: usize,
    may_be_shared: bool,
}

/// Starts a new ledger.
pub fn reset() {
    LEDGER.take();
}

/// Returns the first violated guarantee, and the number of generated IDs.
pub fn first_violation() -> (Option<String>, usize) {
    LEDGER.with_borrow(|ledger| (ledger.fault.clone(), ledger.ids.len()))
}

/// A process's clock. The simulated world sets its time.
#[derive(Clone, Default)]
struct SimulatedClock(Arc<AtomicI64>);

impl Clock for SimulatedClock {
    fn unix_nanos(&self) -> polyflake::Result<i64> {
        Ok(self.0.load(Ordering::Relaxed) * 1_000_000)
    }
    fn sleep(&self, _: u64) -> polyflake::Result<()> {
        unreachable!("calls that never wait")
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}

/// The ID formats. Each world uses one of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    Sno,
    Randflake,
    HotGuid,
    Layout,
    Uuid7,
}

impl Family {
    pub const ALL: [Self; 5] =
        [Self::Sno, Self::Randflake, Self::HotGuid, Self::Layout, Self::Uuid7];

    /// Returns the shape of a namespace for this format, with the worker IDs `0..=last`.
    pub fn shape(self, last: u64) -> Shape {
        let shape = match self {
            Self::Sno => Shape::sno(0..=last),
            Self::Randflake => Shape::randflake(0..=last, &SECRET),
            Self::HotGuid => Shape::hotguid(0..=last),
            Self::Uuid7 => Shape::uuid7(0..=last),
            Self::Layout => {
                polyflake_lease::layout::shape(&layout_for_number(0), &["node"], 0..=last)
            }
        };
        shape.unwrap()
    }
}

/// Returns a layout with 1 ms ticks and a node field that contains the worker ID.
fn layout_for_number(number: u64) -> Layout {
    Layout::integer([
        Field::unused(1),
        Field::timestamp(41, Tick::MILLISECOND, 1_483_228_800_000),
        Field::constant(10, "node", number.cast_signed()),
        Field::sequence(12),
    ])
    .unwrap()
}

/// A function that returns the next grant's window. Its argument is the time span of the highest tick used under the
/// previous grant.
type NextWindowFn<'n> = &'n mut dyn FnMut(Option<Range<i64>>) -> Range<i64>;

/// A generator of the core crate that can switch to a new grant.
trait SwitchingGenerator {
    fn move_to(
        &self,
        time: &SimulatedClock,
        number: u64,
        next: NextWindowFn<'_>,
    ) -> polyflake::Result<u32>;
    fn extend(&self, grant: u32, end: i64) -> polyflake::Result<()>;
    fn seal(&self, grant: u32) -> polyflake::Result<Option<Range<i64>>>;
    /// Generates one ID or a batch, and passes the bits, the worker ID and the tick of each ID to `note`.
    fn make_ids(&self, count: usize, note: &mut dyn FnMut(i128, u64, i64));
}

/// Implements [`SwitchingGenerator`] for a format. `$build` is the function that creates its generators, and `$noted`
/// extracts the bits, worker ID and tick from an ID.
macro_rules! impl_switching_generator {
    ($family:ident, $build:ident, $id:expr, $given:expr, $noted:expr) => {
        impl SwitchingGenerator for $family::Leased<SimulatedClock> {
            fn move_to(
                &self,
                time: &SimulatedClock,
                number: u64,
                next: NextWindowFn<'_>,
            ) -> polyflake::Result<u32> {
                self.move_to(|last| $build(time, number, next(last)))
            }
            fn extend(&self, grant: u32, end: i64) -> polyflake::Result<()> {
                self.extend(grant, end)
            }
            fn seal(&self, grant: u32) -> polyflake::Result<Option<Range<i64>>> {
                self.seal(grant)
            }
            fn make_ids(&self, count: usize, note: &mut dyn FnMut(i128, u64, i64)) {
                let mut batch = [$id; BATCH_SIZE];
                let made = match count {
                    1 => self.try_generate($given).map(|id| batch[0] = id).map_or(0, |()| 1),
                    _ => self.try_fill($given, &mut batch[..count]).unwrap_or(0),
                };
                for id in &batch[..made] {
                    let (bits, number, tick) = $noted(*id);
                    note(bits, number, tick);
                }
            }
        }
    };
}

fn build_sno(
    time: &SimulatedClock,
    number: u64,
    window: Range<i64>,
) -> polyflake::Result<sno::Generator<SimulatedClock>> {
    let builder = sno::Builder::with_clock(time.clone());
    let builder = builder.partition(u16::try_from(number).unwrap());
    builder.window(window.start, window.end).build()
}

fn build_randflake(
    time: &SimulatedClock,
    number: u64,
    window: Range<i64>,
) -> polyflake::Result<randflake::Generator<SimulatedClock>> {
    let node = u32::try_from(number).unwrap();
    let grant = randflake::Grant::new(node, window.start / 1000, window.end / 1000)?;
    randflake::Builder::with_clock(grant, SECRET, time.clone()).build()
}

/// Creates a generator with the worker ID in the first three machine bytes. The counter's initial value is also derived
/// from the worker ID.
fn build_hotguid(
    time: &SimulatedClock,
    number: u64,
    window: Range<i64>,
) -> polyflake::Result<hotguid::Generator<SimulatedClock>> {
    let builder = hotguid::Builder::with_clock(time.clone(), || unreachable!("given below"));
    let generator = builder.window(window.start, window.end).build()?;
    let [.., a, b, c] = number.to_be_bytes();
    generator.provide_identity([a, b, c, 0, 0, 0, 0, 0])?;
    Ok(generator)
}

fn build_layout(
    time: &SimulatedClock,
    number: u64,
    window: Range<i64>,
) -> polyflake::Result<layout::Generator<SimulatedClock>> {
    let builder = layout::Builder::with_clock(layout_for_number(number), time.clone());
    builder.window(window.start, window.end).build()
}

/// Creates a generator whose initial sequence and random bits are fixed, so that a fault produces duplicate IDs.
fn build_uuid7(
    time: &SimulatedClock,
    number: u64,
    window: Range<i64>,
) -> polyflake::Result<uuid7::Generator<SimulatedClock>> {
    let builder = uuid7::Builder::with_clock(time.clone(), || Ok([7; 32])).from_sequence_0();
    let builder = builder.worker_id(u16::try_from(number).unwrap());
    builder.window(window.start, window.end).build()
}

impl_switching_generator!(sno, build_sno, sno::Sno::default(), 7, |id: sno::Sno| {
    let bits = id.as_bytes().iter().fold(0, |all, byte| all << 8 | i128::from(*byte));
    (bits, u64::from(id.partition()), id.unix_ms())
});
impl_switching_generator!(
    randflake,
    build_randflake,
    randflake::Randflake::default(),
    (),
    |id: randflake::Randflake| {
        let parts = Codec::new(SECRET).inspect(id);
        (id.to_i64().into(), u64::from(parts.node), parts.timestamp)
    }
);
impl_switching_generator!(
    hotguid,
    build_hotguid,
    hotguid::HotGuid::default(),
    7,
    |id: hotguid::HotGuid| {
        let [a, b, c, ..] = id.machine();
        let bits = i128::from_be_bytes(id.to_bytes());
        (bits, u64::from_be_bytes([0, 0, 0, 0, 0, a, b, c]), id.timestamp())
    }
);
impl_switching_generator!(uuid7, build_uuid7, uuid7::Uuid7::default(), (), |id: uuid7::Uuid7| {
    // Drops the 40 random bits, because the worker ID alone must make the remaining bits unique.
    let bits = (id.to_u128() >> 40).cast_signed();
    (bits, u64::from(uuid7::worker_id(id)), id.unix_ms())
});

impl SwitchingGenerator for layout::Leased<SimulatedClock> {
    fn move_to(
        &self,
        time: &SimulatedClock,
        number: u64,
        next: NextWindowFn<'_>,
    ) -> polyflake::Result<u32> {
        self.move_to(|last| build_layout(time, number, next(last)))
    }
    fn extend(&self, grant: u32, end: i64) -> polyflake::Result<()> {
        self.extend(grant, end)
    }
    fn seal(&self, grant: u32) -> polyflake::Result<Option<Range<i64>>> {
        self.seal(grant)
    }
    fn make_ids(&self, count: usize, note: &mut dyn FnMut(i128, u64, i64)) {
        let mut batch = [0; BATCH_SIZE];
        let made = self.try_fill(None, (&mut batch[..count]).into()).unwrap_or(0);
        for id in &batch[..made] {
            note((*id).into(), u64::try_from(*id >> 12 & 1023).unwrap(), *id >> 22);
        }
    }
}

/// A generator of the core crate. The generator has one grant at a time.
struct Generator {
    maker: Box<dyn SwitchingGenerator>,
    /// The newest grant, and the index of its window in the ledger.
    grant: Cell<u32>,
    id: Cell<usize>,
}

/// The grantee of a process. It receives the grants of the process's lease.
pub struct ProcessGrantee {
    family: Family,
    step: u64,
    time: SimulatedClock,
    /// `true` if the generator compares the clock with its window only before it generates an ID. The time in the ID may
    /// then be outside the window.
    checks_first: bool,
    /// Whether another copy of the process may currently generate the same IDs.
    pub may_be_shared: Cell<bool>,
    generator: RefCell<Option<Generator>>,
}

impl ProcessGrantee {
    pub fn new(family: Family, checks_first: bool) -> Self {
        let step = family.shape(0).grid().interval();
        let (time, may_be_shared, generator) =
            (SimulatedClock::default(), Cell::default(), RefCell::default());
        Self { family, step, time, checks_first, may_be_shared, generator }
    }

    /// Creates the grantee of a copy of this process, with a generator for the same grant.
    pub fn copy(&self) -> Self {
        let copy = Self::new(self.family, self.checks_first);
        let generator = self.generator.borrow();
        let Some(Generator { id, .. }) = generator.as_ref() else { return copy };
        let (number, start, end) = LEDGER.with_borrow(|ledger| ledger.windows[id.get()]);
        if start < end {
            let maker = copy.create_maker(number, self.window(start, end)).unwrap();
            let id = Cell::new(Ledger::copy(id.get()));
            *copy.generator.borrow_mut() = Some(Generator { maker, grant: Cell::new(0), id });
        }
        copy
    }

    fn window(&self, start: u64, end: u64) -> Range<i64> {
        let end = if self.checks_first { UNREACHABLE_END_MS } else { end.cast_signed() };
        start.cast_signed()..end
    }

    fn create_maker(
        &self,
        number: u64,
        window: Range<i64>,
    ) -> polyflake::Result<Box<dyn SwitchingGenerator>> {
        let time = &self.time;
        Ok(match self.family {
            Family::Sno => Box::new(sno::Leased::new(build_sno(time, number, window)?)?),
            Family::Randflake => {
                Box::new(randflake::Leased::new(build_randflake(time, number, window)?)?)
            }
            Family::HotGuid => {
                Box::new(hotguid::Leased::new(build_hotguid(time, number, window)?)?)
            }
            Family::Uuid7 => Box::new(uuid7::Leased::new(build_uuid7(time, number, window)?)?),
            Family::Layout => Box::new(layout::Leased::new(build_layout(time, number, window)?)?),
        })
    }

    /// Generates IDs at a given time, if there is a generator.
    pub fn make_ids(&self, ms: u64, count: usize) {
        self.time.0.store(ms.cast_signed(), Ordering::Relaxed);
        if let Some(generator) = &*self.generator.borrow() {
            generator.make_ids(count.min(BATCH_SIZE), self.may_be_shared.get());
        }
    }

    /// Returns whether the newest window contains a time.
    pub fn contains_time(&self, ms: u64) -> bool {
        let generator = self.generator.borrow();
        generator.as_ref().is_some_and(|generator| {
            LEDGER.with_borrow(|ledger| {
                let (_, start, end) = ledger.windows[generator.id.get()];
                (start..end).contains(&ms)
            })
        })
    }
}

impl Grantee for ProcessGrantee {
    fn begin(&self, grant: Grant) -> Result<()> {
        let (number, start, end) = (*grant.worker_ids().start(), grant.start(), grant.end());
        let is_border = [start, end].map(|time| time.is_multiple_of(self.step));
        assert_eq!(is_border, [true; 2], "expected borders of ticks");
        let window = self.window(start, end);
        let rejected =
            |error: polyflake::Error| Error::new(ErrorKind::LeaseUnavailable, error.to_string());
        let mut place = self.generator.borrow_mut();
        let Some(generator) = &*place else {
            let maker = self.create_maker(number, window).map_err(rejected)?;
            let id = Cell::new(Ledger::begin_window(number, start, end));
            *place = Some(Generator { maker, grant: Cell::new(0), id });
            return Ok(());
        };
        let from = Cell::new(start);
        let mut next = |last: Option<Range<i64>>| {
            Ledger::end_window(generator.id.get(), last.as_ref().map(|last| last.end));
            let start = last.map_or(window.start, |last| last.start.max(window.start));
            from.set(start.cast_unsigned());
            start..window.end
        };
        let moved = generator.maker.move_to(&self.time, number, &mut next);
        generator.grant.set(moved.map_err(rejected)?);
        generator.id.set(Ledger::begin_window(number, from.get(), end));
        Ok(())
    }

    fn extend(&self, end: u64) {
        let generator = self.generator.borrow();
        let Some(Generator { maker, grant, id }) = &*generator else { return };
        assert!(end.is_multiple_of(self.step), "expected a border of ticks");
        let moved = maker.extend(grant.get(), end.cast_signed());
        assert!(self.checks_first || moved.is_ok(), "expected a later end, found {moved:?}");
        LEDGER.with_borrow_mut(|ledger| ledger.extend_window(id.get(), end));
    }

    fn seal(&self) -> Option<u64> {
        let generator = self.generator.borrow();
        let Generator { maker, grant, id } = generator.as_ref()?;
        let last = maker.seal(grant.get());
        let last = last.unwrap().map(|last| last.end);
        Ledger::end_window(id.get(), last);
        last.map(i64::cast_unsigned)
    }
}

impl Generator {
    /// Generates one ID or a batch.
    fn make_ids(&self, count: usize, may_be_shared: bool) {
        let own = IdOrigin { id: self.id.get(), may_be_shared };
        self.maker.make_ids(count, &mut |bits, number, tick| own.record_id(bits, number, tick));
    }
}

impl IdOrigin {
    /// Returns whether two generators that created the same ID violate the uniqueness guarantee. Copies that may share IDs
    /// do not violate this guarantee.
    fn conflicts_with(self, other: Self, ledger: &Ledger) -> bool {
        let is_copy = ledger
            .first_copy_of(self.id)
            .is_some_and(|copy| ledger.first_copy_of(other.id) == Some(copy));
        !(is_copy && (self.may_be_shared || other.may_be_shared))
    }

    /// Records an ID. Reports a violation if another generator has used the same worker ID and tick, or if the ID already
    /// exists.
    fn record_id(self, bits: i128, number: u64, tick: i64) {
        trace::record_event(|| json!({"event": "made", "first": number, "tick": tick}));
        LEDGER.with_borrow_mut(|ledger| {
            let id = self.id;
            let maker = *ledger.made.entry((number, tick)).or_insert(self);
            if maker.id != id && self.conflicts_with(maker, ledger) {
                let maker = maker.id;
                let fault =
                    format!("generators {maker} and {id} made number {number}, tick {tick}");
                ledger.fault.get_or_insert(fault);
            }
            if let Some(maker) = ledger.ids.insert(bits, self)
                && self.conflicts_with(maker, ledger)
            {
                ledger.fault.get_or_insert(format!("generator {id} made {bits:x} again"));
            }
            if !self.may_be_shared {
                ledger.made.insert((number, tick), self);
            }
        });
    }
}

impl Ledger {
    /// Returns the first generator in the group of copies that contains `id`, or `None` if `id` was not copied.
    fn first_copy_of(&self, id: usize) -> Option<usize> {
        self.copies.get(&id).map(|(first, _)| *first)
    }

    /// Records that a generator was copied, and returns the copy's index. From now on, the generator and its copy may
    /// repeat IDs that were generated before the copy was made.
    fn copy(id: usize) -> usize {
        LEDGER.with_borrow_mut(|ledger| {
            let copy = ledger.windows.len();
            let window = ledger.windows[id];
            ledger.windows.push(window);
            let first = ledger.first_copy_of(id).unwrap_or(id);
            let copied = (first, window.2);
            ledger.copies.extend([(id, copied), (copy, copied)]);
            let copies = ledger.copies.clone();
            let is_copy =
                |maker: &&mut IdOrigin| copies.get(&maker.id).is_some_and(|it| it.0 == first);
            for maker in ledger.made.values_mut().chain(ledger.ids.values_mut()).filter(is_copy) {
                maker.may_be_shared = true;
            }
            copy
        })
    }

    /// Records a generator's window.
    fn begin_window(number: u64, start: u64, end: u64) -> usize {
        LEDGER.with_borrow_mut(|ledger| {
            let id = ledger.windows.len();
            ledger.windows.push((number, start, start));
            ledger.extend_window(id, end);
            id
        })
    }

    /// Ends a generator's window after the last tick that the generator used, because later generators may use the
    /// remaining ticks.
    fn end_window(id: usize, last: Option<i64>) {
        LEDGER.with_borrow_mut(|ledger| {
            let window = &mut ledger.windows[id];
            window.2 = last.map_or(window.1, |last| last.cast_unsigned().max(window.1));
        });
    }

    /// Extends a generator's window to `end`. No other window for the same worker ID may overlap it.
    fn extend_window(&mut self, id: usize, end: u64) {
        self.windows[id].2 = end;
        let (number, start, _) = self.windows[id];
        let meets = |(other, &(its, from, to)): (usize, &(u64, u64, u64))| {
            // A window that was sealed before its first tick is empty.
            let is_common = its == number && start.max(from) < end.min(to);
            // Copies share a window until their common grant ends, and only one copy receives a later end.
            let copied =
                self.copies.get(&id).filter(|copy| self.first_copy_of(other) == Some(copy.0));
            let is_of_copies = copied.is_some_and(|(_, shared)| end.min(to) <= *shared);
            (other != id && is_common && !is_of_copies).then_some(other)
        };
        if let Some(other) = self.windows.iter().enumerate().find_map(meets) {
            let fault = format!("generators {other} and {id} have number {number} at once");
            self.fault.get_or_insert(fault);
        }
    }
}
