//! Wraps the generators of all formats in a common trait, for tests that apply to every format.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::{num::NonZeroU32, ops::Range, sync::Arc, time::Duration};

use polyflake::{
    Builder, OnExhausted, Result,
    clock::Clock,
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    randflake::{self, Grant, Randflake},
    sno::{self, Sno},
    uuid7::{self, Uuid7},
};

/// The start of a tick in every format, in Unix milliseconds.
pub const START_MS: i64 = 1_763_650_000_000;

/// An ID of any format, represented by the start of its tick, its position in the tick, and its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyId {
    pub unix_ms: i64,
    pub place: u64,
    pub bits: u128,
}

/// A function that wraps a handle and generates one ID per call.
pub type IdMaker<'g> = Box<dyn FnMut() -> Result<AnyId> + 'g>;

/// A generator of any format.
pub trait AnyGenerator: Send + Sync {
    fn generate(&self) -> Result<AnyId>;
    fn try_generate(&self) -> Result<AnyId>;
    /// Fills a batch. Returns the IDs that were written, including those before an error.
    fn fill(&self, count: usize) -> (Vec<AnyId>, Result<()>);
    fn try_fill(&self, count: usize) -> Result<Vec<AnyId>>;
    /// Creates a handle whose first block has `first` IDs.
    fn handle(&self, first: u32) -> IdMaker<'_>;
    fn non_waiting_handle(&self) -> IdMaker<'_>;
    fn close(&self) -> Result<()>;
    fn seal(&self) -> Result<Option<Range<i64>>>;
    /// Returns the statistics, formatted with `Debug`.
    fn stats(&self) -> String;
    fn window(&self) -> (i64, i64);
    fn extend_window(&self, end: i64) -> Result<()>;
}

/// Converts a generator's IDs to [`AnyId`].
trait ToAnyId<I> {
    fn to_any_id(&self, id: I) -> AnyId;
}

/// Implements the methods of [`AnyGenerator`] for a generator. If the format's methods take an argument, every call
/// passes `$given`.
macro_rules! impl_generator_methods {
    ($family:ident, $id:ty $(, $given:literal)?) => {
        fn generate(&self) -> Result<AnyId> {
            self.generate($($given)?).map(|id| self.to_any_id(id))
        }
        fn try_generate(&self) -> Result<AnyId> {
            self.try_generate($($given)?).map(|id| self.to_any_id(id))
        }
        fn fill(&self, count: usize) -> (Vec<AnyId>, Result<()>) {
            let mut ids = vec![<$id>::default(); count];
            let filled = self.fill($($given,)? &mut ids[..]);
            let written = filled.as_ref().map_or_else(|error| error.written().unwrap(), |()| count);
            // If the process forks in the middle of a batch, the rest of the batch contains the parent's IDs.
            let is_forked = filled.as_ref().is_err_and(|error| error.code() == "forked");
            assert!(is_forked || ids[written..].iter().all(|id| *id == <$id>::default()));
            (ids[..written].iter().map(|id| self.to_any_id(*id)).collect(), filled)
        }
        fn try_fill(&self, count: usize) -> Result<Vec<AnyId>> {
            let mut ids = vec![<$id>::default(); count];
            let written = self.try_fill($($given,)? &mut ids[..])?;
            Ok(ids[..written].iter().map(|id| self.to_any_id(*id)).collect())
        }
        fn handle(&self, first: u32) -> IdMaker<'_> {
            let mut handle = $family::Handle::with_first(self, NonZeroU32::new(first).unwrap());
            Box::new(move || handle.generate($($given)?).map(|id| self.to_any_id(id)))
        }
        fn non_waiting_handle(&self) -> IdMaker<'_> {
            let mut handle = self.handle();
            Box::new(move || handle.try_generate($($given)?).map(|id| self.to_any_id(id)))
        }
        fn close(&self) -> Result<()> {
            self.close().map(drop)
        }
        fn seal(&self) -> Result<Option<Range<i64>>> {
            self.seal()
        }
        fn stats(&self) -> String {
            format!("{:?}", self.stats())
        }
    };
}

impl ToAnyId<Sno> for sno::Generator<AnyClock> {
    fn to_any_id(&self, id: Sno) -> AnyId {
        let bits = id.to_bytes().into_iter().fold(0, |bits, byte| bits << 8 | u128::from(byte));
        AnyId { unix_ms: id.unix_ms(), place: id.sequence().into(), bits }
    }
}

impl AnyGenerator for sno::Generator<AnyClock> {
    impl_generator_methods!(sno, Sno, 7);
    fn window(&self) -> (i64, i64) {
        self.window()
    }
    fn extend_window(&self, end: i64) -> Result<()> {
        self.extend_window(end)
    }
}

impl ToAnyId<Randflake> for randflake::Generator<AnyClock> {
    fn to_any_id(&self, id: Randflake) -> AnyId {
        let randflake::Parts { timestamp, node, sequence } = self.inspect(id);
        let place = u64::from(node - WORKER_ID) << 17 | u64::from(sequence);
        AnyId { unix_ms: timestamp * 1000, place, bits: id.to_u64().into() }
    }
}

impl AnyGenerator for randflake::Generator<AnyClock> {
    impl_generator_methods!(randflake, Randflake);
    fn window(&self) -> (i64, i64) {
        (self.grant().start() * 1000, self.grant().end() * 1000)
    }
    fn extend_window(&self, end: i64) -> Result<()> {
        self.extend_grant(Grant::with_nodes(
            self.grant().nodes(),
            self.grant().start(),
            end / 1000,
        )?)
    }
}

/// Returns the same bytes for every Hot Guid generator. With these bytes, the generator's counter starts close to its
/// maximum.
#[allow(clippy::unnecessary_wraps, reason = "the type of a source of random bytes")]
fn fixed_bytes() -> Result<[u8; 8]> {
    Ok([0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0xff, 0xfe])
}

impl ToAnyId<HotGuid> for hotguid::Generator<AnyClock> {
    fn to_any_id(&self, id: HotGuid) -> AnyId {
        let place = id.counter().wrapping_sub(0xff_fffe) & 0xff_ffff;
        let bits = u128::from_be_bytes(id.to_bytes());
        AnyId { unix_ms: id.timestamp() * 1000, place: place.into(), bits }
    }
}

impl AnyGenerator for hotguid::Generator<AnyClock> {
    impl_generator_methods!(hotguid, HotGuid, 7);
    fn window(&self) -> (i64, i64) {
        self.window()
    }
    fn extend_window(&self, end: i64) -> Result<()> {
        self.extend_window(end)
    }
}

impl ToAnyId<Uuid7> for uuid7::Generator<AnyClock> {
    fn to_any_id(&self, id: Uuid7) -> AnyId {
        // With a worker ID, the random bits are excluded from the comparison, so that reused slots appear as duplicates.
        let bits = if self.stats().worker_id.is_some() { id.to_u128() >> 56 } else { id.to_u128() };
        AnyId { unix_ms: id.unix_ms(), place: id.sequence().into(), bits }
    }
}

impl AnyGenerator for uuid7::Generator<AnyClock> {
    impl_generator_methods!(uuid7, Uuid7);
    fn window(&self) -> (i64, i64) {
        self.window()
    }
    fn extend_window(&self, end: i64) -> Result<()> {
        self.extend_window(end)
    }
}

/// A layout without a timestamp has neither a time nor a window.
impl<I: Into<layout::Id>> ToAnyId<I> for layout::Generator<AnyClock> {
    fn to_any_id(&self, id: I) -> AnyId {
        let layout::Id::Integer(id) = id.into() else { unreachable!("an integer layout") };
        let parsed = self.layout().parse_integer(id).unwrap();
        let worker = parsed.integer(self.layout().bindable("worker").unwrap()).unwrap();
        let place = (worker - i128::from(WORKER_ID)) << 12 | parsed.sequence().unwrap();
        let place = place.try_into().unwrap();
        let unix_ms = parsed.unix_ms().unwrap_or_default();
        AnyId { unix_ms, place, bits: id.cast_unsigned().into() }
    }
}

impl AnyGenerator for layout::Generator<AnyClock> {
    impl_generator_methods!(layout, i64);
    fn window(&self) -> (i64, i64) {
        self.window().unwrap_or_default()
    }
    fn extend_window(&self, end: i64) -> Result<()> {
        self.extend_window(end)
    }
}

pub type AnyClock = Arc<dyn Clock + Send + Sync>;

/// The generator options that differ between tests.
#[derive(Clone, Copy, Default)]
pub struct GeneratorOptions {
    /// The window, or `None` for the format's whole time range.
    pub window: Option<(i64, i64)>,
    pub on_exhausted: Option<OnExhausted>,
    pub max_wait: Option<Duration>,
}

impl GeneratorOptions {
    /// Applies the options. Tests that run at the same time use the same worker IDs.
    fn apply<F>(self, builder: Builder<F, AnyClock>) -> Builder<F, AnyClock> {
        let mut builder = builder.unregistered();
        if let Some(max_wait) = self.max_wait {
            builder = builder.max_wait(max_wait);
        }
        match self.on_exhausted {
            Some(on_exhausted) => builder.on_exhausted(on_exhausted),
            None => builder,
        }
    }
}

/// An ID format, and how its generators get their worker IDs.
#[derive(Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    /// The module of the format.
    pub module: &'static str,
    /// Whether the worker ID or the window is explicit, so that a child must not use it.
    pub is_explicit: bool,
    /// The duration of a tick, in milliseconds.
    pub tick: i64,
    /// The number of IDs in a tick.
    pub per_tick: u32,
    /// The format's time range, in Unix milliseconds: its start (inclusive) and its end (exclusive).
    pub span: (i64, i64),
    build: fn(GeneratorOptions, AnyClock) -> Result<Arc<dyn AnyGenerator>>,
}

impl Family {
    pub fn build(
        &self,
        clock: impl Clock + Send + Sync + 'static,
        options: GeneratorOptions,
    ) -> Result<Arc<dyn AnyGenerator>> {
        (self.build)(options, Arc::new(clock))
    }

    /// Creates a generator with the default settings.
    pub fn generator(&self, clock: impl Clock + Send + Sync + 'static) -> Arc<dyn AnyGenerator> {
        self.build(clock, GeneratorOptions::default()).unwrap()
    }
}

/// The worker ID of every generator. If the generator has a range of three worker IDs, this is the first worker ID of the
/// range.
const WORKER_ID: u32 = 7;

fn sno_generator(options: GeneratorOptions, clock: AnyClock) -> Result<Arc<dyn AnyGenerator>> {
    let mut builder = options.apply(sno::Builder::with_clock(clock)).partition(7);
    if let Some((start, end)) = options.window {
        builder = builder.window(start, end);
    }
    Ok(Arc::new(builder.build()?))
}

fn randflake_generator(
    last: u32,
    options: GeneratorOptions,
    clock: AnyClock,
) -> Result<Arc<dyn AnyGenerator>> {
    let (start, end) = options.window.unwrap_or((1_730_000_000_000, 2_803_741_824_000));
    let grant = Grant::with_nodes(WORKER_ID..=last, start / 1000, end / 1000)?;
    let builder = options.apply(randflake::Builder::with_clock(grant, [7; 16], clock));
    Ok(Arc::new(builder.build()?))
}

/// Creates a Hot Guid generator. It always has a window, because a window binds the generator's random bytes to its
/// process.
fn hot_guid_generator(options: GeneratorOptions, clock: AnyClock) -> Result<Arc<dyn AnyGenerator>> {
    let (start, end) = options.window.unwrap_or((0, 4_294_967_296_000));
    let builder = options.apply(hotguid::Builder::with_clock(clock, fixed_bytes));
    Ok(Arc::new(builder.window(start, end).build()?))
}

fn uuid7_generator(options: GeneratorOptions, clock: AnyClock) -> Result<Arc<dyn AnyGenerator>> {
    let builder = options.apply(uuid7::Builder::with_clock(clock, || Ok([7; 32])));
    let mut builder = builder.worker_id(7).from_sequence_0();
    if let Some((start, end)) = options.window {
        builder = builder.window(start, end);
    }
    Ok(Arc::new(builder.build()?))
}

/// The layout's epoch, in Unix milliseconds.
const EPOCH_MS: i64 = 1_483_228_800_000;

fn layout_generator(
    last: u32,
    options: GeneratorOptions,
    clock: AnyClock,
) -> Result<Arc<dyn AnyGenerator>> {
    let fields = [
        Field::unused(1),
        Field::timestamp(41, Tick::MILLISECOND, EPOCH_MS),
        Field::bindable(10, "worker"),
        Field::sequence(12),
    ];
    let mut builder = options.apply(layout::Builder::with_clock(Layout::integer(fields)?, clock));
    if let Some((start, end)) = options.window {
        builder = builder.window(start, end);
    }
    let builder = match last {
        WORKER_ID => builder.bind("worker", WORKER_ID),
        _ => builder.range("worker", WORKER_ID.into()..=last.into()),
    };
    Ok(Arc::new(builder.build()?))
}

const SNO: Family = Family {
    name: "sno",
    module: "sno",
    is_explicit: true,
    tick: 4,
    per_tick: 1 << 16,
    span: (1_262_304_000_000, 3_461_327_255_552),
    build: sno_generator,
};

const RANDFLAKE: Family = Family {
    name: "Randflake",
    module: "randflake",
    is_explicit: true,
    tick: 1000,
    per_tick: 1 << 17,
    span: (1_730_000_000_000, 2_803_741_824_000),
    build: |options, clock| randflake_generator(WORKER_ID, options, clock),
};

const HOT_GUID: Family = Family {
    name: "Hot Guid",
    module: "hotguid",
    is_explicit: true,
    tick: 1000,
    per_tick: 1 << 24,
    span: (0, 4_294_967_296_000),
    build: hot_guid_generator,
};

const UUID7: Family = Family {
    name: "UUID v7",
    module: "uuid7",
    is_explicit: true,
    tick: 1,
    per_tick: 1 << 18,
    span: (0, 1 << 48),
    build: uuid7_generator,
};

const LAYOUT: Family = Family {
    name: "layout",
    module: "layout",
    is_explicit: true,
    tick: 1,
    per_tick: 1 << 12,
    span: (EPOCH_MS, EPOCH_MS + (1 << 41)),
    build: |options, clock| layout_generator(WORKER_ID, options, clock),
};

/// All formats, with explicit worker IDs. A format that supports ranges of worker IDs is listed a second time, with a range.
pub const FAMILIES: [Family; 7] = [
    SNO,
    RANDFLAKE,
    Family {
        name: "Randflake, three nodes",
        per_tick: 3 << 17,
        build: |options, clock| randflake_generator(WORKER_ID + 2, options, clock),
        ..RANDFLAKE
    },
    HOT_GUID,
    UUID7,
    LAYOUT,
    Family {
        name: "layout, a range of numbers",
        per_tick: 3 << 12,
        build: |options, clock| layout_generator(WORKER_ID + 2, options, clock),
        ..LAYOUT
    },
];

/// The formats whose generators need no worker ID. Such a generator continues in a child, and in a copy of the process.
pub const DEFAULTS: [Family; 3] = [
    Family {
        name: "sno, default partition",
        is_explicit: false,
        build: |options, clock| {
            Ok(Arc::new(options.apply(sno::Generator::builder().clock(clock)).build()?))
        },
        ..SNO
    },
    Family {
        name: "Hot Guid, random",
        is_explicit: false,
        build: |options, clock| {
            Ok(Arc::new(options.apply(hotguid::Generator::builder().clock(clock)).build()?))
        },
        ..HOT_GUID
    },
    Family {
        name: "UUID v7, random",
        is_explicit: false,
        build: |options, clock| {
            Ok(Arc::new(options.apply(uuid7::Generator::builder().clock(clock)).build()?))
        },
        ..UUID7
    },
];

/// Returns every kind of generator. Tests of a generator's surroundings, such as forks and signals, run over all of them.
pub fn all_kinds() -> impl Iterator<Item = Family> {
    FAMILIES.into_iter().chain(DEFAULTS)
}

/// Generates an ID, a batch and a handle's ID.
pub fn generate_in_each_way(ids: &dyn AnyGenerator) -> Result<Vec<AnyId>> {
    let (mut made, filled) = ids.fill(3);
    filled?;
    made.extend([ids.generate()?, ids.handle(64)()?]);
    Ok(made)
}

/// Reserves all but `left` IDs of an unused tick.
pub fn exhaust_tick(ids: &dyn AnyGenerator, family: &Family, left: u32) {
    ids.handle(family.per_tick - left)().unwrap();
}
