//! Functions that generate each format's IDs and map each ID to its cell in the bitmap.

use std::{num::NonZeroU32, sync::Arc};

use fastrand::Rng;
use polyflake::{
    OnExhausted, Result,
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    randflake::{self, Grant, Randflake},
    sno::{self, Sno},
    uuid7::{self, Uuid7},
};

use crate::chaos::ChaosClock;

/// A generator of test IDs that any thread can use, and that reports the cell of each ID.
pub(crate) struct SoakMaker {
    /// Number of cells.
    pub(crate) cells: u64,
    /// Number of low bits of a cell that identify the ID within its tick. This value is `Some` only if the format
    /// guarantees that IDs are sorted across threads, and that no ID has a time later than the latest clock reading. In
    /// that case, cells sort in the same order as their IDs.
    pub(crate) sorted: Option<u32>,
    /// The clock from which the IDs get their time.
    pub(crate) clock: Arc<ChaosClock>,
    /// A function that generates a single ID, a batch, or several IDs with a handle, and reports each ID's cell. A failed
    /// call reports the cells of the IDs that were generated before the error.
    pub(crate) make: MakeFn,
}

type MakeFn = Box<dyn Fn(&mut Rng, &mut dyn FnMut(u64)) -> Result<()> + Sync>;

pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// A function that creates the maker. Its first parameter is the number of IDs that the bitmap must hold, and its
    /// second parameter is a seed.
    pub(crate) build: fn(u64, u64) -> SoakMaker,
}

pub(crate) const FAMILIES: [Family; 6] = [
    Family { name: "sno", build: sno_maker },
    Family { name: "randflake", build: randflake_maker },
    Family { name: "hotguid", build: hot_guid_maker },
    Family { name: "uuid7", build: uuid_maker },
    Family { name: "layout", build: layout_maker },
    Family { name: "range", build: range_maker },
];

/// The maximum number of IDs per batch.
const MAX_BATCH_SIZE: usize = 1000;

/// Returns the number of ticks that the clock must cover. These ticks provide several times as many slots as `ids`, because
/// the chaotic clock skips many slots.
fn ticks(ids: u64, slots: u64) -> i64 {
    (6 * ids.div_ceil(slots) + 1024).cast_signed()
}

fn random_handle_size(random: &mut Rng) -> NonZeroU32 {
    NonZeroU32::new(random.u32(1..100)).expect("at least 1")
}

/// A call that generates IDs, with its parameters.
enum Call {
    Single,
    Batch(usize),
    Handle(NonZeroU32, usize),
}

fn random_call(random: &mut Rng) -> Call {
    match random.u32(..8) {
        0..3 => Call::Single,
        3..6 => Call::Batch(random.usize(1..MAX_BATCH_SIZE)),
        _ => Call::Handle(random_handle_size(random), random.usize(1..MAX_BATCH_SIZE)),
    }
}

/// Returns the number of IDs that a batch call wrote: all of them if it succeeded, or the number that its error reports.
fn written_count(outcome: &Result<()>, asked: usize) -> usize {
    outcome.as_ref().map_or_else(|error| error.written().unwrap_or(0), |()| asked)
}

/// A generator of one format. It provides three ways to generate IDs, and maps each ID to its cell.
trait Source: Sync {
    type Id: Copy + Default;
    /// Whether the format guarantees the order that [`SoakMaker::sorted`] describes.
    const IS_SORTED: bool = false;
    fn generate_one(&self, random: &mut Rng) -> Result<Self::Id>;
    fn fill(&self, random: &mut Rng, ids: &mut [Self::Id]) -> Result<()>;
    /// Returns a function that generates IDs with a handle.
    fn handle(&self, size: NonZeroU32) -> impl FnMut() -> Result<Self::Id>;
    fn cell(&self, id: Self::Id) -> u64;
}

impl SoakMaker {
    /// Creates a maker. `build` creates the generator. A tick lasts `tick_ms` milliseconds and has 2^`bits` cells.
    fn new<S: Source + 'static>(
        (ticks, tick_ms, bits): (i64, i64, u32),
        build: impl FnOnce(Arc<ChaosClock>) -> Result<S>,
    ) -> Self {
        let clock = Arc::new(ChaosClock::new(START_SECONDS * 1000, tick_ms, ticks));
        let ids = build(clock.clone()).expect("valid options");
        let make: MakeFn = Box::new(move |random, note| make_ids(&ids, random, note));
        let sorted = S::IS_SORTED.then_some(bits);
        Self { cells: ticks.cast_unsigned() << bits, sorted, clock, make }
    }
}

fn make_ids<S: Source>(ids: &S, random: &mut Rng, note: &mut dyn FnMut(u64)) -> Result<()> {
    match random_call(random) {
        Call::Single => note(ids.cell(ids.generate_one(random)?)),
        Call::Batch(count) => {
            let mut batch = vec![S::Id::default(); count];
            let outcome = ids.fill(random, &mut batch);
            batch[..written_count(&outcome, count)].iter().for_each(|id| note(ids.cell(*id)));
            outcome?;
        }
        Call::Handle(size, count) => {
            let mut make = ids.handle(size);
            for _ in 0..count {
                note(ids.cell(make()?));
            }
        }
    }
    Ok(())
}

/// A start time after every format's epoch, late enough to set Randflake's bit 63.
const START_SECONDS: i64 = 2_266_870_912;

fn sno_maker(ids: u64, _seed: u64) -> SoakMaker {
    SoakMaker::new((ticks(ids, 1 << 16), 4, 17), |clock| {
        sno::Generator::builder().clock(clock).partition(7).build()
    })
}

impl Source for sno::Generator<Arc<ChaosClock>> {
    type Id = Sno;

    fn generate_one(&self, random: &mut Rng) -> Result<Sno> {
        self.generate(random.u8(..))
    }
    fn fill(&self, random: &mut Rng, ids: &mut [Sno]) -> Result<()> {
        self.fill(random.u8(..), ids)
    }
    fn handle(&self, size: NonZeroU32) -> impl FnMut() -> Result<Sno> {
        let mut handle = sno::Handle::with_first(self, size);
        move || handle.generate(0)
    }
    fn cell(&self, id: Sno) -> u64 {
        let tick = (id.unix_ms() - START_SECONDS * 1000).cast_unsigned() / 4;
        (tick << 1 | u64::from(id.tick_tock())) << 16 | u64::from(id.sequence())
    }
}

fn randflake_maker(ids: u64, seed: u64) -> SoakMaker {
    let ticks = ticks(ids, 2 << 17);
    SoakMaker::new((ticks, 1000, 18), |clock| {
        let lease = Grant::with_nodes(100..=101, START_SECONDS, START_SECONDS + ticks)?;
        let builder = randflake::Generator::builder(lease, u128::from(seed).to_le_bytes());
        builder.clock(clock).on_exhausted(OnExhausted::Wait).build()
    })
}

impl Source for randflake::Generator<Arc<ChaosClock>> {
    type Id = Randflake;

    fn generate_one(&self, _: &mut Rng) -> Result<Randflake> {
        self.generate()
    }
    fn fill(&self, _: &mut Rng, ids: &mut [Randflake]) -> Result<()> {
        self.fill(ids)
    }
    fn handle(&self, size: NonZeroU32) -> impl FnMut() -> Result<Randflake> {
        let mut handle = randflake::Handle::with_first(self, size);
        move || handle.generate()
    }
    fn cell(&self, id: Randflake) -> u64 {
        let parts = self.inspect(id);
        let second = (parts.timestamp - START_SECONDS).cast_unsigned();
        (second << 1 | u64::from(parts.node - 100)) << 17 | u64::from(parts.sequence)
    }
}

/// Creates a maker for Hot Guids. The clock advances long before a second's 2^24 IDs are exhausted.
fn hot_guid_maker(ids: u64, _seed: u64) -> SoakMaker {
    SoakMaker::new((ticks(ids, 1 << 20), 1000, 24), |clock| {
        hotguid::Generator::builder().clock(clock).build()
    })
}

impl Source for hotguid::Generator<Arc<ChaosClock>> {
    type Id = HotGuid;

    fn generate_one(&self, random: &mut Rng) -> Result<HotGuid> {
        self.generate(random.u32(..))
    }
    fn fill(&self, random: &mut Rng, ids: &mut [HotGuid]) -> Result<()> {
        self.fill(random.u32(..), ids)
    }
    fn handle(&self, size: NonZeroU32) -> impl FnMut() -> Result<HotGuid> {
        let mut handle = hotguid::Handle::with_first(self, size);
        move || handle.generate(0)
    }
    fn cell(&self, id: HotGuid) -> u64 {
        (id.timestamp() - START_SECONDS).cast_unsigned() << 24 | u64::from(id.counter())
    }
}

/// Creates a maker for version 7 UUIDs. At least half of the sequence values are available in each millisecond.
fn uuid_maker(ids: u64, _seed: u64) -> SoakMaker {
    SoakMaker::new((ticks(ids, 1 << 17), 1, 18), |clock| {
        uuid7::Generator::builder().clock(clock).build()
    })
}

impl Source for uuid7::Generator<Arc<ChaosClock>> {
    type Id = Uuid7;
    const IS_SORTED: bool = true;

    fn generate_one(&self, _: &mut Rng) -> Result<Uuid7> {
        self.generate()
    }
    fn fill(&self, _: &mut Rng, ids: &mut [Uuid7]) -> Result<()> {
        self.fill(ids)
    }
    fn handle(&self, size: NonZeroU32) -> impl FnMut() -> Result<Uuid7> {
        let mut handle = uuid7::Handle::with_first(self, size);
        move || handle.generate()
    }
    fn cell(&self, id: Uuid7) -> u64 {
        (id.unix_ms() - START_SECONDS * 1000).cast_unsigned() << 18 | u64::from(id.sequence())
    }
}

/// Number of bits in a layout's sequence, which determines the number of cells per tick.
const SEQUENCE_BITS: u32 = 18;

fn layout_maker(ids: u64, _seed: u64) -> SoakMaker {
    SoakMaker::new((ticks(ids, 1 << SEQUENCE_BITS), 1, SEQUENCE_BITS), |clock| {
        let layout = Layout::integer([time_field(), Field::sequence(SEQUENCE_BITS)])?;
        layout::Generator::builder(layout).clock(clock).build()
    })
}

/// Creates a maker whose generator uses 64 worker IDs. Together, these worker IDs have as many cells per tick as the
/// generator in `layout_maker`.
fn range_maker(ids: u64, _seed: u64) -> SoakMaker {
    SoakMaker::new((ticks(ids, 1 << SEQUENCE_BITS), 1, SEQUENCE_BITS), |clock| {
        let numbers = [Field::bindable(6, "node"), Field::sequence(SEQUENCE_BITS - 6)];
        let layout = Layout::integer([time_field()].into_iter().chain(numbers))?;
        layout::Generator::builder(layout).range("node", 0..=63).clock(clock).build()
    })
}

fn time_field() -> Field {
    Field::timestamp(46, Tick::MILLISECOND, START_SECONDS * 1000)
}

impl Source for layout::Generator<Arc<ChaosClock>> {
    type Id = i64;

    fn generate_one(&self, _: &mut Rng) -> Result<i64> {
        self.generate().map(|id| id_to_i64(&id))
    }
    fn fill(&self, _: &mut Rng, ids: &mut [i64]) -> Result<()> {
        self.fill(ids)
    }
    fn handle(&self, size: NonZeroU32) -> impl FnMut() -> Result<i64> {
        let mut handle = layout::Handle::with_first(self, size);
        move || handle.generate().map(|id| id_to_i64(&id))
    }
    /// Returns the ID itself as its cell, because the ID's topmost field is the time since the clock's start.
    fn cell(&self, id: i64) -> u64 {
        id.cast_unsigned()
    }
}

fn id_to_i64(id: &layout::Id) -> i64 {
    id.as_integer().expect("an integer layout")
}
