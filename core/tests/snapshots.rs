//! Tests snapshots of generators with every kind of identity against a reference that records every ID. The tests are
//! random walks over a table of four partitions. Half of the walks start in the format's first tick, and some run alongside
//! a child process. For a long run, use `POLYFLAKE_WALKS=1000000 cargo test --release -p polyflake --test snapshots`.

use std::{
    env,
    ops::Range,
    sync::{OnceLock, atomic::Ordering},
    time::Duration,
};

use polyflake::{
    Error,
    clock::ManualClock,
    fork::partitions::{RESERVED, Table},
    sno::{Builder, Generator, Leased, Snapshot, Sno},
};

const EPOCH_MS: i64 = 1_262_304_000_000;
/// The number of ticks in a walk.
const TICKS: i64 = 256;
/// The number of sequence numbers in a tick.
const SEQUENCES: u16 = 4;

#[path = "support/small_table.rs"]
mod small_table;

#[cfg(all(unix, not(miri)))]
#[path = "snapshots/child.rs"]
mod child;
/// On platforms without fork, walks have no child processes.
#[cfg(any(not(unix), miri))]
mod child {
    pub(super) struct Child;

    pub(super) fn shared_table() -> &'static super::SmallTable {
        Box::leak(Box::new(super::SmallTable::new()))
    }

    impl super::RandomWalk<'_> {
        pub(super) fn exchange_with_child(&mut self) {
            assert!(self.child.is_none());
        }

        pub(super) fn stop_child(&mut self) {}
    }
}

use child::Child;

/// A table that manages only partitions 0 to 3.
type SmallTable = small_table::SmallTable<4>;

/// A table that represents the table of partitions in another process.
static SEPARATE_TABLE: SmallTable = SmallTable::new();

fn table() -> &'static SmallTable {
    static SMALL_TABLE: OnceLock<&SmallTable> = OnceLock::new();
    SMALL_TABLE.get_or_init(child::shared_table)
}

fn tick_to_ms(tick: i64) -> i64 {
    EPOCH_MS + 4 * tick
}

type TestGenerator<'c> = Generator<&'c ManualClock>;

/// The live generators, the stored snapshots, and every ID generated so far.
struct RandomWalk<'c> {
    clock: &'c ManualClock,
    random: u64,
    /// The tick around which the clock moves back and forth.
    around: i64,
    living: Vec<TestGenerator<'c>>,
    leased: Leased<&'c ManualClock>,
    /// The time span that leases have used so far.
    used: Range<i64>,
    stored: Vec<String>,
    made: [u64; 256],
    count: u64,
    /// A child process that continues from a copy of this state.
    child: Option<Child>,
    /// `true` in a child process, where all explicit identities belong to the parent.
    is_child: bool,
    /// For each of the table's partitions, whether this walk has configured it explicitly. A second generator with the same
    /// partition would repeat IDs.
    configured: [bool; 4],
}

impl<'c> RandomWalk<'c> {
    /// Creates the initial state with three generators. The first generator has partition 0, which is in the table. The
    /// second generator has partition 7, and the third generator leases partitions 5 and 6.
    fn new(clock: &'c ManualClock, first: i64, seed: u64) -> Self {
        for entry in [table(), &SEPARATE_TABLE].iter().flat_map(|few| &few.entries) {
            entry.store(0, Ordering::Relaxed);
        }
        clock.set_unix_ms(tick_to_ms(first));
        let builder = || builder(clock).sequence_max(SEQUENCES - 1);
        let living = [0, 7].map(|partition| builder().partition(partition).build().unwrap());
        let leased =
            builder().partition(5).window(tick_to_ms(0), tick_to_ms(TICKS)).build().unwrap();
        Self {
            clock,
            random: seed,
            around: first,
            living: living.into(),
            leased: Leased::new(leased).unwrap(),
            used: tick_to_ms(0)..tick_to_ms(0),
            stored: Vec::new(),
            made: [0; 256],
            count: 0,
            child: None,
            is_child: false,
            configured: [true, false, false, false],
        }
    }

    /// Returns a random number below `end` (`SplitMix64`).
    fn draw(&mut self, end: u8) -> u8 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        u8::try_from((mixed >> 33) % u64::from(end)).unwrap()
    }

    /// Returns a random index into a list of the given length.
    fn random_index(&mut self, len: usize) -> usize {
        self.draw(u8::try_from(len).unwrap()).into()
    }

    fn step(&mut self) {
        match self.draw(19) {
            0..=3 => self.change_clock(),
            4..=9 => self.make_ids(),
            10 if self.living.len() < 6 => {
                self.living.push(builder(self.clock).sequence_max(SEQUENCES - 1).build().unwrap());
            }
            11 => drop(self.remove_random_generator()),
            12 | 13 => self.close(),
            14 => self.restore(),
            15 => self.change_lease(),
            16 | 17 => self.exchange_with_child(),
            18 => self.add_configured_generator(),
            _ => {}
        }
    }

    fn change_clock(&mut self) {
        self.around = (self.around + i64::from(self.draw(4))).min(TICKS - 10);
        let tick = self.around + i64::from(self.draw(16)) - 8;
        self.clock.set_unix_ms(tick_to_ms(tick.max(0)));
    }

    fn make_ids(&mut self) {
        let (index, calls) = (self.random_index(self.living.len() + 1), 1 + self.draw(6));
        for _ in 0..calls {
            let made = match self.living.get(index) {
                Some(ids) => ids.generate(0),
                None => self.leased.generate(0),
            };
            match made {
                Ok(id) => self.record_id(id),
                Err(error) => return self.assert_expected_error(&error),
            }
        }
    }

    #[track_caller]
    fn record_id(&mut self, id: Sno) {
        let cell = u16::from(id.tick_tock()) << 5 | id.partition() << 2 | id.sequence();
        let tick = usize::try_from(id.tick()).unwrap();
        assert!(cell < 64 && self.made[tick] & 1 << cell == 0, "made twice: {:?}", id.parts());
        self.made[tick] |= 1 << cell;
        self.count += 1;
    }

    #[track_caller]
    fn assert_expected_error(&self, error: &Error) {
        let reasons =
            ["partitions_exhausted", "sequence_exhausted", "clock_behind", "lease_unavailable"];
        let is_foreign = self.is_child && error.code() == "forked";
        assert!(is_foreign || reasons.contains(&error.code()), "{error}");
    }

    /// Removes a random live generator.
    fn remove_random_generator(&mut self) -> Option<TestGenerator<'c>> {
        let index = self.random_index(self.living.len() + 1);
        (index < self.living.len()).then(|| self.living.swap_remove(index))
    }

    fn close(&mut self) {
        let Some(ids) = self.remove_random_generator() else { return };
        match ids.close() {
            Ok(snapshot) => self.stored.push(serde_json::to_string(&snapshot).unwrap()),
            Err(error) => self.assert_expected_error(&error),
        }
    }

    /// Creates a generator with a partition from the table, unless a snapshot reserves that partition.
    fn add_configured_generator(&mut self) {
        let partition = self.draw(4);
        let configured = &mut self.configured[usize::from(partition)];
        if !*configured && !self.is_child && table().entry(partition.into()) < RESERVED {
            *configured = true;
            let builder = builder(self.clock).sequence_max(SEQUENCES - 1);
            self.living.push(builder.partition(partition.into()).build().unwrap());
        }
    }

    /// Restores a snapshot. Half of the time, the snapshot is restored with a separate table, which simulates a different
    /// process.
    fn restore(&mut self) {
        if self.stored.is_empty() {
            return;
        }
        let index = self.random_index(self.stored.len());
        let snapshot: Snapshot = serde_json::from_str(&self.stored.swap_remove(index)).unwrap();
        let here = builder(self.clock);
        let builder =
            if self.draw(2) == 0 { here.partitions_from(|| Ok(&SEPARATE_TABLE)) } else { here };
        self.living.push(builder.restore(snapshot).unwrap());
    }

    fn change_lease(&mut self) {
        if self.is_child {
            return;
        }
        let (partition, is_late) = (5 + u16::from(self.draw(2)), self.draw(2) == 1);
        let next = builder(self.clock).sequence_max(SEQUENCES - 1).partition(partition);
        let used = &mut self.used;
        let moved = self.leased.move_to(|highest| {
            *used = highest.unwrap_or(used.clone());
            next.window(if is_late { used.end } else { used.start }, tick_to_ms(TICKS)).build()
        });
        assert!(moved.is_ok() || !is_late, "a later lease is taken");
    }
}

fn builder(clock: &ManualClock) -> Builder<&ManualClock> {
    let builder = Generator::builder().clock(clock).max_wait(Duration::ZERO);
    builder.partitions_from(|| Ok(table()))
}

#[test]
fn random_walks_never_repeat_an_id() {
    let given = env::var("POLYFLAKE_WALKS").ok();
    let walks: u64 = given.map_or(if cfg!(miri) { 6 } else { 3000 }, |text| text.parse().unwrap());
    let mut count = 0;
    for seed in 0..walks {
        let clock = ManualClock::new(0);
        let first = if seed % 2 == 0 { 0 } else { 10 };
        let mut walk = RandomWalk::new(&clock, first, seed << 20);
        for _ in 0..80 {
            walk.step();
        }
        walk.stop_child();
        count += walk.count;
    }
    println!("{walks} walks, {count} IDs");
    assert!(count > 20 * walks, "{count} IDs");
}
