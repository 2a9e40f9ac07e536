//! How each family makes IDs, and which cell of the bitmap an ID is.

use std::{num::NonZeroU32, sync::Arc};

use fastrand::Rng;
use polyflake::{
    Result,
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    randflake::{self, Lease, OnExhausted, Randflake},
    sno::{self, Sno},
};

use crate::chaos::Chaos;

/// Makes IDs on any thread and tells their cells.
pub(crate) trait Maker: Sync {
    /// How many cells there are.
    fn cells(&self) -> u64;
    /// The clock of all its generators.
    fn clock(&self) -> &Chaos;
    /// Makes some IDs, singly, in a batch or by a handle, and notes each one's cell; a refused call notes what was made before.
    fn make(&self, random: &mut Rng, note: &mut dyn FnMut(u64)) -> Result<()>;
}

pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// A maker with room for so many IDs and more.
    pub(crate) build: fn(u64, u64) -> Box<dyn Maker>,
}

pub(crate) const FAMILIES: [Family; 4] = [
    Family { name: "sno", build: Snos::build },
    Family { name: "randflake", build: Randflakes::build },
    Family { name: "hotguid", build: HotGuids::build },
    Family { name: "layout", build: Layouts::build },
];

/// The most IDs of one batch.
const BATCH: usize = 1000;

/// Ticks that hold `ids` at `slots` each several times over: a mad clock skips many slots.
fn ticks(ids: u64, slots: u64) -> i64 {
    (6 * ids.div_ceil(slots) + 1024).cast_signed()
}

fn size(random: &mut Rng) -> NonZeroU32 {
    NonZeroU32::new(random.u32(1..100)).expect("at least 1")
}

/// Calls of one maker: which way it goes, and how many IDs.
enum Way {
    Single,
    Batch(usize),
    Handle(NonZeroU32, usize),
}

fn way(random: &mut Rng) -> Way {
    match random.u32(..8) {
        0..3 => Way::Single,
        3..6 => Way::Batch(random.usize(1..BATCH)),
        _ => Way::Handle(size(random), random.usize(1..BATCH)),
    }
}

/// A batch's length if it went well, what was written before if not.
fn written(outcome: &Result<()>, asked: usize) -> usize {
    outcome.as_ref().map_or_else(|error| error.written().unwrap_or(0), |()| asked)
}

/// Starts after every epoch, and late enough for Randflake's bit 63.
const START_S: i64 = 2_266_870_912;

struct Snos {
    ids: sno::Generator<Arc<Chaos>>,
    ticks: i64,
    clock: Arc<Chaos>,
}

impl Snos {
    fn build(ids: u64, _seed: u64) -> Box<dyn Maker> {
        let ticks = ticks(ids, 1 << 16);
        let clock = Arc::new(Chaos::new(START_S * 1000, 4, ticks));
        let ids = sno::Generator::builder().clock(clock.clone()).partition(7).build();
        Box::new(Self { ids: ids.expect("valid options"), ticks, clock })
    }

    fn cell(id: Sno) -> u64 {
        let tick = (id.unix_ms() - START_S * 1000).cast_unsigned() / 4;
        (tick << 1 | u64::from(id.tick_tock())) << 16 | u64::from(id.sequence())
    }
}

impl Maker for Snos {
    fn clock(&self) -> &Chaos {
        &self.clock
    }

    fn cells(&self) -> u64 {
        self.ticks.cast_unsigned() << 17
    }

    fn make(&self, random: &mut Rng, note: &mut dyn FnMut(u64)) -> Result<()> {
        match way(random) {
            Way::Single => note(Self::cell(self.ids.generate(random.u8(..))?)),
            Way::Batch(count) => {
                let mut batch = vec![Sno::default(); count];
                let outcome = self.ids.fill(random.u8(..), &mut batch);
                batch[..written(&outcome, count)].iter().for_each(|id| note(Self::cell(*id)));
                outcome?;
            }
            Way::Handle(size, count) => {
                let mut handle = self.ids.handle_with(size);
                for _ in 0..count {
                    note(Self::cell(handle.generate(0)?));
                }
            }
        }
        Ok(())
    }
}

struct Randflakes {
    ids: randflake::Generator<Arc<Chaos>>,
    ticks: i64,
    clock: Arc<Chaos>,
}

impl Randflakes {
    fn build(ids: u64, seed: u64) -> Box<dyn Maker> {
        let ticks = ticks(ids, 2 << 17);
        let clock = Arc::new(Chaos::new(START_S * 1000, 1000, ticks));
        let lease = Lease::with_nodes(100..=101, START_S, START_S + ticks).expect("a lease");
        let secret = u128::from(seed).to_le_bytes();
        let builder = randflake::Generator::builder(lease, secret).clock(clock.clone());
        let ids = builder.on_exhausted(OnExhausted::Wait).build();
        Box::new(Self { ids: ids.expect("valid options"), ticks, clock })
    }

    fn cell(&self, id: Randflake) -> u64 {
        let parts = self.ids.inspect(id);
        let second = (parts.timestamp - START_S).cast_unsigned();
        (second << 1 | u64::from(parts.node - 100)) << 17 | u64::from(parts.sequence)
    }
}

impl Maker for Randflakes {
    fn clock(&self) -> &Chaos {
        &self.clock
    }

    fn cells(&self) -> u64 {
        self.ticks.cast_unsigned() << 18
    }

    fn make(&self, random: &mut Rng, note: &mut dyn FnMut(u64)) -> Result<()> {
        match way(random) {
            Way::Single => note(self.cell(self.ids.generate()?)),
            Way::Batch(count) => {
                let mut batch = vec![Randflake::default(); count];
                let outcome = self.ids.fill(&mut batch);
                batch[..written(&outcome, count)].iter().for_each(|id| note(self.cell(*id)));
                outcome?;
            }
            Way::Handle(size, count) => {
                let mut handle = self.ids.handle_with(size);
                for _ in 0..count {
                    note(self.cell(handle.generate()?));
                }
            }
        }
        Ok(())
    }
}

struct HotGuids {
    ids: hotguid::Generator<Arc<Chaos>>,
    ticks: i64,
    clock: Arc<Chaos>,
}

impl HotGuids {
    fn build(ids: u64, _seed: u64) -> Box<dyn Maker> {
        // The clock goes on far more often than 2^24 IDs fill a second.
        let ticks = ticks(ids, 1 << 20);
        let clock = Arc::new(Chaos::new(START_S * 1000, 1000, ticks));
        let ids = hotguid::Generator::builder().clock(clock.clone()).build();
        Box::new(Self { ids: ids.expect("valid options"), ticks, clock })
    }

    fn cell(id: HotGuid) -> u64 {
        (id.timestamp() - START_S).cast_unsigned() << 24 | u64::from(id.counter())
    }
}

impl Maker for HotGuids {
    fn clock(&self) -> &Chaos {
        &self.clock
    }

    fn cells(&self) -> u64 {
        self.ticks.cast_unsigned() << 24
    }

    fn make(&self, random: &mut Rng, note: &mut dyn FnMut(u64)) -> Result<()> {
        match way(random) {
            Way::Single => note(Self::cell(self.ids.generate(random.u32(..))?)),
            Way::Batch(count) => {
                let mut batch = vec![HotGuid::default(); count];
                let outcome = self.ids.fill(random.u32(..), &mut batch);
                batch[..written(&outcome, count)].iter().for_each(|id| note(Self::cell(*id)));
                outcome?;
            }
            Way::Handle(size, count) => {
                let mut handle = self.ids.handle_with(size);
                for _ in 0..count {
                    note(Self::cell(handle.generate(0)?));
                }
            }
        }
        Ok(())
    }
}

struct Layouts {
    ids: layout::Generator<Arc<Chaos>>,
    ticks: i64,
    clock: Arc<Chaos>,
}

/// Bits of the sequence, and so of a tick's cells.
const SEQUENCE: u32 = 18;

impl Layouts {
    fn build(ids: u64, _seed: u64) -> Box<dyn Maker> {
        let ticks = ticks(ids, 1 << SEQUENCE);
        let clock = Arc::new(Chaos::new(START_S * 1000, 1, ticks));
        let time = Field::timestamp(46, Tick::MILLISECOND, START_S * 1000);
        let layout = Layout::integer([time, Field::sequence(SEQUENCE)]).expect("64 bits");
        let ids = layout::Generator::builder(layout).clock(clock.clone()).build();
        Box::new(Self { ids: ids.expect("valid options"), ticks, clock })
    }
}

impl Maker for Layouts {
    fn clock(&self) -> &Chaos {
        &self.clock
    }

    fn cells(&self) -> u64 {
        self.ticks.cast_unsigned() << SEQUENCE
    }

    /// An ID is its own cell: the time counts from the clock's start, and nothing stands above it.
    fn make(&self, random: &mut Rng, note: &mut dyn FnMut(u64)) -> Result<()> {
        let cell = |id: layout::Id| match id {
            layout::Id::Integer(id) => id.cast_unsigned(),
            layout::Id::Bytes(_) => unreachable!("an integer layout"),
        };
        match way(random) {
            Way::Single => note(cell(self.ids.generate()?)),
            Way::Batch(count) => {
                let mut batch = vec![0_i64; count];
                let outcome = self.ids.fill(&mut batch[..]);
                batch[..written(&outcome, count)].iter().for_each(|id| note(id.cast_unsigned()));
                outcome?;
            }
            Way::Handle(size, count) => {
                let mut handle = self.ids.handle_with(size);
                for _ in 0..count {
                    note(cell(handle.generate()?));
                }
            }
        }
        Ok(())
    }
}
