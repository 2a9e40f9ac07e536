//! The builder, which collects a generator's options.

use super::{
    Assignment, Generator, SCALE, Snapshot,
    claims::{Claim, unending_reservation},
    identity::{FIND_DEFAULT_TABLE, Identity, PartitionSource},
    partition::SnoFamily,
};
pub(super) use crate::sequence::tick_tock::Bounds;
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    fork::partitions::{FindTable, Table},
    generator::{self, Engine, FirstReading, Options, ProcessGuard},
    sequence::tick_tock::TickTock,
};

/// The minimum number of sequence numbers in a tick.
const MIN_POOL_SIZE: u16 = 4;

/// Configures a [`Generator`].
///
/// ```
/// use polyflake::sno::Generator;
///
/// let ids = Generator::builder().partition(7).sequence_min(100).sequence_max(200).build()?;
/// assert_eq!(ids.generate(1)?.partition(), 7);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Builder<C> = generator::Builder<Settings, C>;

/// The options that are specific to sno.
#[derive(Clone, Debug)]
#[allow(unnameable_types, reason = "a builder has them")]
pub struct Settings {
    partition: Option<u16>,
    draw: Option<fn() -> Result<Assignment>>,
    /// The table from which default partitions are reserved and in which explicit partitions are claimed.
    table: Option<FindTable>,
    sequence_min: Option<u16>,
    sequence_max: Option<u16>,
}

impl generator::Windowed for Settings {}

impl<C: Clock> Builder<C> {
    /// Creates a builder with a custom clock. Default partitions are not available without `std`, so set an explicit
    /// partition.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Builder};
    ///
    /// let ids = Builder::with_clock(ManualClock::at_unix_ms(1_767_225_600_000)).partition(7).build()?;
    /// assert_eq!(ids.generate(1)?.to_string(), "9d5ve8222622g222"); // the same in every run
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn with_clock(clock: C) -> Self {
        let (partition, draw, sequence_min, sequence_max) = (None, None, None, None);
        let family =
            Settings { partition, draw, table: FIND_DEFAULT_TABLE, sequence_min, sequence_max };
        Self { family, options: Options::new(clock) }
    }

    /// Sets an explicit partition, which is sno's term for the worker ID. Two generators with the same partition can
    /// generate duplicate IDs if their sequence ranges overlap.
    ///
    /// While this generator exists, no default generator in this process or its forks reserves the same partition. If a
    /// default generator already holds a reservation on the partition, calls wait until that reservation ends, which
    /// takes at most a minute, or fail with `sequence_exhausted`, which reports when to retry. After the generator is
    /// closed, the partition remains reserved for its snapshot.
    ///
    /// An earlier run of the process may have generated IDs in the current tick, so the first call waits up to 4 ms, and
    /// the first ID belongs to the next tick. If the clock was set back between two runs, duplicate IDs are possible unless
    /// the new generator continues from a snapshot, uses a lease, or has a window that starts after the last ID of the
    /// earlier run.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// let node = Generator::builder().partition(300).build()?;
    /// assert_eq!(node.generate(7)?.partition(), 300);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn partition(mut self, partition: u16) -> Self {
        self.family.partition = Some(partition);
        self
    }

    /// Sets the function that provides the partition if no explicit one is configured. The function is called when the
    /// first ID is generated, and again after a fork or a restore. The generator keeps the partition for the lifetime of
    /// the process.
    ///
    /// The function must return a different partition in each process that runs at the same time. Calls fail with `forked`
    /// if it returns in a child what this generator had in an ancestor, or after `after_restore` what it had before.
    ///
    /// ```
    /// use std::env;
    ///
    /// use polyflake::sno::{Assignment, Generator};
    ///
    /// /// Returns the partition of a worker. The supervisor passes each worker its index.
    /// fn of_this_worker() -> polyflake::Result<Assignment> {
    ///     let index: u16 = env::var("WORKER_INDEX").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    ///     Ok(Assignment { partition: 100 + index, sequence_min: 0 })
    /// }
    ///
    /// let ids = Generator::builder().identity_from(of_this_worker).build()?;
    /// assert_eq!(ids.generate(7)?.partition(), 100);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn identity_from(mut self, draw: fn() -> Result<Assignment>) -> Self {
        self.family.draw = Some(draw);
        self
    }

    /// Sets the table of partitions, for bindings that share a table with their host. Not part of the public API.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn partitions_from(mut self, find: FindTable) -> Self {
        self.family.table = Some(find);
        self
    }

    /// Sets the first sequence number in each tick. The default is 0, or a random number in 0..=32767 if the generator has
    /// a default partition.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// // Two generators share one partition, and each uses half of its sequences.
    /// let low = Generator::builder().partition(42).sequence_max(32_767).build()?;
    /// let high = Generator::builder().partition(42).sequence_min(32_768).build()?;
    /// assert!(low.generate(7)?.sequence() < high.generate(7)?.sequence());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence_min(mut self, sequence: u16) -> Self {
        self.family.sequence_min = Some(sequence);
        self
    }

    /// Sets the last sequence number in each tick. The default is 65535.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// assert!(Generator::builder().partition(42).sequence_max(999).build()?.generate(7)?.sequence() <= 999);
    /// let few = Generator::builder().partition(42).sequence_min(10).sequence_max(12).build();
    /// assert_eq!(few.unwrap_err().field(), Some("sequence_max")); // fewer than four sequences per tick
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn sequence_max(mut self, sequence: u16) -> Self {
        self.family.sequence_max = Some(sequence);
        self
    }

    /// Builds the generator.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Builder};
    ///
    /// let ids = Builder::with_clock(ManualClock::new(0)).partition(42).build()?; // does not read the clock yet
    /// assert_eq!(ids.generate(7).unwrap_err().code(), "time_out_of_range"); // the format starts in 2010
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if a tick has fewer than 4 sequence numbers, if the window is empty, or if the clock is
    /// coarser than 4 ms; `time_out_of_range` if the window exceeds the format's time range; or `missing_field` if neither
    /// a partition nor a source of partitions is configured.
    pub fn build(self) -> Result<Generator<C>> {
        let bounds = bounds(
            self.family.sequence_min.unwrap_or(0),
            self.family.sequence_max.unwrap_or(u16::MAX),
        )?;
        let given = self.family.partition;
        self.assemble(given, <dyn Table>::claim, bounds, TickTock::new(), None)
    }

    /// Builds a generator that continues from the snapshot of a closed generator. The new generator uses the same partition
    /// and the same bounds for sequence numbers.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Builder};
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(&clock).partition(42).build()?;
    /// let last = ids.generate(7)?;
    /// let snapshot = ids.close()?;
    /// clock.set_unix_ms(1_767_225_590_000); // a restart after a clock rollback
    /// let ids = Builder::with_clock(&clock).restore(snapshot)?;
    /// assert!(ids.generate(7)?.tick_tock() && !last.tick_tock());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Builder::build`], and `out_of_range` if no generator could have produced the snapshot.
    pub fn restore(self, snapshot: Snapshot) -> Result<Generator<C>> {
        let bounds = bounds(snapshot.sequence_min, snapshot.sequence_max)?;
        let next = snapshot.next_sequence(bounds)?;
        self.resume(snapshot, bounds, next)
    }

    /// Builds a generator from a snapshot that was created by the Go library, and reproduces that library's quirks: bounds
    /// in the wrong order are swapped, an upper bound of 0 means 65535, and a blank snapshot is treated as the snapshot of
    /// a generator that has generated no IDs.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Snapshot};
    ///
    /// let swapped = Snapshot::new([0, 42], 999, 500); // the Go library swaps bounds in the wrong order
    /// let ids = Generator::builder().import_original(swapped)?;
    /// assert_eq!(ids.generate(7)?.sequence(), 500);
    /// assert!(Generator::builder().restore(swapped).is_err());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Builder::restore`].
    pub fn import_original(self, snapshot: Snapshot) -> Result<Generator<C>> {
        let (low, high) = match (snapshot.sequence_min, snapshot.sequence_max) {
            (low, 0) if low != u16::MAX => (low, u16::MAX),
            (a, b) => (a.min(b), a.max(b)),
        };
        let bounds = bounds(low, high)?;
        let next = snapshot.next_sequence(bounds)?;
        self.resume(snapshot, bounds, if snapshot.is_blank() { low.into() } else { next })
    }

    fn resume(self, snapshot: Snapshot, bounds: Bounds, next: u32) -> Result<Generator<C>> {
        for (name, tick) in [
            ("now", snapshot.now),
            ("wall_hi", snapshot.wall_hi),
            ("wall_safe", snapshot.wall_safe),
        ] {
            Error::check_range(name, tick, 0..=SCALE.last)?;
        }
        let state = TickTock::restore(snapshot.wall_hi, next, snapshot.wall_safe, snapshot.drifts);
        let is_used = snapshot.wall_hi > 0 || snapshot.wall_safe > 0;
        let continued = is_used.then(|| snapshot.state_number());
        // The claim is permanent, because another process may restore the same snapshot later.
        let partition = u16::from_be_bytes(snapshot.partition);
        self.assemble(Some(partition), <dyn Table>::claim_permanently, bounds, state, continued)
    }

    /// Builds the generator. `continued` identifies the state of an earlier generator, if `state` accounts for all ticks in
    /// which that generator generated IDs.
    fn assemble(
        self,
        given: Option<u16>,
        claim: fn(&'static dyn Table, u16) -> u64,
        bounds: Bounds,
        state: TickTock,
        continued: Option<u128>,
    ) -> Result<Generator<C>> {
        let Settings { draw, table, sequence_min, sequence_max, .. } = self.family;
        let window = self.options.window(&SCALE)?;
        // The clock is checked before the partition is claimed: once claimed, the partition is released only when a
        // generator is dropped.
        self.options.policy(SCALE.tick_nanos()).check_clock(&self.options.clock)?;
        let is_default = given.is_none() && draw.is_none();
        let reading = FirstReading::new(!is_default && continued.is_none());
        let draw = match (draw, table) {
            (Some(by), _) => Some(PartitionSource::By(by)),
            (None, table) => table.map(PartitionSource::Table),
        };
        let family = match (given, draw) {
            (Some(partition), _) => {
                let process = ProcessGuard::this_process()?;
                // Without a table, default partitions are unavailable too, so no other generator can be assigned this
                // partition by default.
                let found = table.and_then(|find| Some((find, find().ok()?)));
                let start = found.map_or(0, |(_, table)| claim(table, partition));
                let first =
                    Identity { generation: process.generation(), partition, min: bounds.min };
                let first =
                    Claim::new(first, window.start(), unending_reservation(partition, start));
                let table = found.map(|(find, _)| find);
                SnoFamily::new(first, None, table, bounds, false, Some(process))
            }
            (None, Some(draw)) => {
                let draws_min = sequence_min.is_none() && sequence_max.is_none();
                let process = self.options.window.map(|_| ProcessGuard::this_process());
                let first = Claim::without_partition(bounds.min, window.start());
                SnoFamily::new(first, Some(draw), table, bounds, draws_min, process.transpose()?)
            }
            (None, None) => return Err(Error::field_error(ErrorKind::MissingField, "partition")),
        };
        let engine = Engine::with_options(self.options, family, state, window, reading, continued)?;
        Ok(Generator { engine })
    }
}

/// Checks that the bounds are in order and that there are enough sequence numbers between them, then returns the bounds.
fn bounds(min: u16, max: u16) -> Result<Bounds> {
    const MAX_SEQUENCE_MIN: u16 = u16::MAX - (MIN_POOL_SIZE - 1);
    Error::check_range("sequence_min", min, 0..=MAX_SEQUENCE_MIN)?;
    Error::check_range("sequence_max", max, min + (MIN_POOL_SIZE - 1)..=u16::MAX)?;
    Ok(Bounds { min, max })
}
