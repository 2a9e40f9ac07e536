//! The kinds of generators whose processes are killed, and the state from which each kind of generator resumes.

use polyflake::{Result, layout, randflake::Grant, sno, uuid7};

use crate::{
    clock::FastClock,
    life::{
        ChildRun, ClosableGenerator, Outcome, WindowedGenerator, generate_and_resume,
        generate_in_windows,
    },
    makers::{
        HotGuidGenerator, IdWriter, LayoutGenerator, RandflakeGenerator, SnoGenerator,
        Uuid7Generator, hotguid_builder, layout_builder, randflake_builder, sno_builder,
        uuid7_builder,
    },
};

pub(crate) struct FormatRun {
    pub(crate) name: &'static str,
    /// The speed of the generator's clock relative to real time. It is chosen so that a process lives for several ticks.
    pub(crate) speed: u32,
    pub(crate) live: fn(ChildRun<'_>) -> Outcome,
    /// The number of bytes in an ID.
    pub(crate) bytes: usize,
    pub(crate) cell: fn(&[u8]) -> u128,
}

impl FormatRun {
    const fn new<M: IdWriter>(
        name: &'static str,
        speed: u32,
        live: fn(ChildRun<'_>) -> Outcome,
    ) -> Self {
        Self { name, speed, live, bytes: M::BYTES, cell: M::cell }
    }
}

pub(crate) const KINDS: [FormatRun; 9] = [
    FormatRun::new::<SnoGenerator>("sno-windows", 8, generate_in_windows::<SnoGenerator>),
    FormatRun::new::<HotGuidGenerator>(
        "hotguid-windows",
        2000,
        generate_in_windows::<HotGuidGenerator>,
    ),
    FormatRun::new::<Uuid7Generator>("uuid7-windows", 2, generate_in_windows::<Uuid7Generator>),
    FormatRun::new::<LayoutGenerator>("layout-windows", 2, generate_in_windows::<LayoutGenerator>),
    FormatRun::new::<RandflakeGenerator>(
        "randflake-leases",
        2000,
        generate_in_windows::<RandflakeGenerator>,
    ),
    FormatRun::new::<SnoGenerator>("sno-snapshots", 8, generate_and_resume::<SnoGenerator>),
    FormatRun::new::<LayoutGenerator>(
        "layout-snapshots",
        2,
        generate_and_resume::<LayoutGenerator>,
    ),
    FormatRun::new::<RandflakeGenerator>(
        "randflake-resumed",
        2000,
        generate_and_resume::<RandflakeGenerator>,
    ),
    FormatRun::new::<Uuid7Generator>("uuid7-resumed", 2, generate_and_resume::<Uuid7Generator>),
];

impl WindowedGenerator for SnoGenerator {
    fn build(clock: FastClock, start_ms: i64, end_ms: i64) -> Result<Self> {
        sno_builder(clock).partition(7).window(start_ms, end_ms).build()
    }
    fn extend(&self, end_ms: i64) -> Result<()> {
        self.extend_window(end_ms)
    }
}

impl WindowedGenerator for HotGuidGenerator {
    fn build(clock: FastClock, start_ms: i64, end_ms: i64) -> Result<Self> {
        hotguid_builder(clock).window(start_ms, end_ms).build()
    }
    fn extend(&self, end_ms: i64) -> Result<()> {
        self.extend_window(end_ms)
    }
}

impl WindowedGenerator for Uuid7Generator {
    fn build(clock: FastClock, start_ms: i64, end_ms: i64) -> Result<Self> {
        uuid7_builder(clock, 7).window(start_ms, end_ms).build()
    }
    fn extend(&self, end_ms: i64) -> Result<()> {
        self.extend_window(end_ms)
    }
}

impl WindowedGenerator for LayoutGenerator {
    fn build(clock: FastClock, start_ms: i64, end_ms: i64) -> Result<Self> {
        layout_builder(clock, 7).window(start_ms, end_ms).build()
    }
    fn extend(&self, end_ms: i64) -> Result<()> {
        self.extend_window(end_ms)
    }
}

/// Uses a lease from the format's start to the window's end. The generator resumes at the window's start, because the
/// earlier part of the lease has been used.
impl WindowedGenerator for RandflakeGenerator {
    fn build(clock: FastClock, start_ms: i64, end_ms: i64) -> Result<Self> {
        let last_used = start_ms.div_euclid(1000) - 1;
        randflake_builder(lease(7, end_ms)?, clock).resume_after(last_used).build()
    }
    fn extend(&self, end_ms: i64) -> Result<()> {
        self.extend_grant(lease(7, end_ms)?)
    }
}

/// Returns a lease from the format's start to `end_ms`, rounded down to a whole second.
fn lease(node: u32, end_ms: i64) -> Result<Grant> {
    Grant::new(node, 1_730_000_000, end_ms.div_euclid(1000))
}

impl ClosableGenerator for SnoGenerator {
    type SavedState = sno::Snapshot;
    fn create(clock: FastClock, number: u32) -> Result<Self> {
        let partition = u16::try_from(number).expect("fewer lives than partitions");
        sno_builder(clock).partition(partition).build()
    }
    fn resume(clock: FastClock, _: u32, left: sno::Snapshot) -> Result<Self> {
        sno_builder(clock).restore(left)
    }
    fn save(&self) -> Result<sno::Snapshot> {
        self.close()
    }
}

impl ClosableGenerator for LayoutGenerator {
    type SavedState = layout::Snapshot;
    fn create(clock: FastClock, number: u32) -> Result<Self> {
        layout_builder(clock, number).build()
    }
    fn resume(clock: FastClock, number: u32, left: layout::Snapshot) -> Result<Self> {
        layout_builder(clock, number).restore(left)
    }
    fn save(&self) -> Result<layout::Snapshot> {
        self.close()
    }
}

/// Uses one lease for all consecutive generators. Each generator stores the last second that it used.
impl ClosableGenerator for RandflakeGenerator {
    type SavedState = Option<i64>;
    fn create(clock: FastClock, number: u32) -> Result<Self> {
        randflake_builder(lease(number, LAST_MS)?, clock).build()
    }
    fn resume(clock: FastClock, number: u32, left: Option<i64>) -> Result<Self> {
        let builder = randflake_builder(lease(number, LAST_MS)?, clock);
        match left {
            Some(last) => builder.resume_after(last).build(),
            None => builder.build(),
        }
    }
    fn save(&self) -> Result<Option<i64>> {
        self.close()
    }
}

/// Uses one worker ID for all consecutive generators. Each generator stores the last millisecond that it used.
impl ClosableGenerator for Uuid7Generator {
    type SavedState = Option<i64>;
    fn create(clock: FastClock, number: u32) -> Result<Self> {
        uuid7_builder(clock, number).build()
    }
    fn resume(clock: FastClock, number: u32, left: Option<i64>) -> Result<Self> {
        let builder = uuid7_builder(clock, number);
        left.into_iter().fold(builder, uuid7::Builder::resume_after).build()
    }
    fn save(&self) -> Result<Option<i64>> {
        self.close()
    }
}

const LAST_MS: i64 = 2_803_741_824_000;
