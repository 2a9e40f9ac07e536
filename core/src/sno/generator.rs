//! The sno generator.

use core::time::Duration;

#[cfg(feature = "std")]
use super::Builder;
use super::{
    Assignment, SCALE, Snapshot, Sno, Stats,
    builder::Bounds,
    claims::Claim,
    identity::{FIND_DEFAULT_TABLE, PartitionSource},
    partition::SnoFamily,
};
#[cfg(feature = "std")]
use crate::generator::DefaultGenerator;
use crate::{
    Error, ErrorKind, Result, UnixTime,
    clock::{Clock, DefaultClock},
    fork::{self, partitions::FindTable},
    generator::{
        self, Engine, FirstReading, Mode, NOT_PICKED, Pack, SlotSource, WaitPolicy, Window,
    },
    sequence::{Machine, SlotRange, tick_tock::TickTock},
    sync::Ordering,
};

/// Generates sno IDs, using one partition at a time. Threads can share a generator.
///
/// [`polyflake::Generator`](crate::Generator) documents the methods that all ID formats share: `handle`, `clock` and
/// `extend_window`.
///
/// ```
/// use polyflake::sno::Generator;
///
/// static IDS: Generator = Generator::new();
///
/// let (first, second) = (IDS.generate(1)?, IDS.generate(2)?);
/// assert_eq!((first.metabyte(), second.metabyte()), (1, 2));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// Keep the generator in a `static`, or share it by reference. A `const` of this type creates a new generator, with its own
/// partition, each time it is used.
///
/// A generator cannot be cloned, because two generators with the same partition would generate duplicate IDs:
///
/// ```compile_fail
/// let ids = polyflake::sno::Generator::new();
/// let clone = ids.clone();
/// ```
pub type Generator<C = DefaultClock> = generator::Generator<SnoFamily, C>;

#[cfg(feature = "std")]
impl Generator {
    /// Creates a generator with a default partition, which it reserves when it generates its first ID and keeps for as
    /// long as it generates IDs. No two generators in a process and its forks hold the same default partition at the
    /// same time. After an idle period, the generator may switch to a different partition. The first sequence number in
    /// each tick is a random number in 0..=32767, which is picked together with the partition.
    ///
    /// Two versions of this crate in one process have separate tables of default partitions, so they may use the same
    /// default partition. If a program links both, assign explicit partitions.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// static ORDERS: Generator = Generator::new();
    /// static USERS: Generator = Generator::new();
    ///
    /// let (order, user) = (ORDERS.generate(1)?, USERS.generate(2)?);
    /// assert_ne!(order.partition(), user.partition());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new() -> Self {
        let find: FindTable = fork::partitions::shared_table;
        Self::with_source(crate::clock::SystemClock, PartitionSource::Table(find), Some(find))
    }

    /// Returns a builder that configures a generator.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// let ids = Generator::builder().partition(42).build()?; // a worker ID that you assign
    /// assert_eq!(ids.generate(7)?.partition(), 42);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn builder() -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(crate::clock::SystemClock)
    }
}

#[cfg(feature = "std")]
impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

const FULL_BOUNDS: Bounds = Bounds { min: 0, max: u16::MAX };

#[cfg(feature = "std")]
static DEFAULT_GENERATOR: DefaultGenerator<SnoFamily, u8> = DefaultGenerator::new(Generator::new());

/// Generates a new ID with the default generator, which uses a default partition.
///
/// ```
/// let id = polyflake::sno::generate(7)?;
/// assert_eq!((id.metabyte(), id.to_string().len()), (7, 16));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`Generator::generate`].
#[cfg(feature = "std")]
#[inline]
pub fn generate(metabyte: u8) -> Result<Sno> {
    DEFAULT_GENERATOR.generate(metabyte)
}

/// Makes [`generate`] call a function that generates IDs under a lease. Returns `false` if one is installed already.
///
/// Not part of the public API; used by leases.
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub fn install(generate: &'static (dyn Fn(u8) -> Result<Sno> + Sync)) -> bool {
    DEFAULT_GENERATOR.install(generate)
}

/// Makes [`generate`] try a leased generator before it calls the installed function.
///
/// Not part of the public API; used by leases.
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub fn set_granted(leased: &'static Leased) {
    DEFAULT_GENERATOR.set_granted(leased);
}

impl<C> Generator<C> {
    /// Creates a generator with a custom clock and a custom source of partitions. See
    /// [`Builder::identity_from`](super::Builder::identity_from).
    ///
    /// If the clock is coarser than 4 ms, every call that generates an ID fails with `out_of_range`.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     sno::{Assignment, Generator},
    /// };
    ///
    /// static CLOCK: ManualClock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// static IDS: Generator<&ManualClock> =
    ///     Generator::with_clock(&CLOCK, || Ok(Assignment { partition: 7, sequence_min: 0 }));
    ///
    /// assert_eq!(IDS.generate(1)?.partition(), 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn with_clock(clock: C, draw: fn() -> Result<Assignment>) -> Self {
        Self::with_source(clock, PartitionSource::By(draw), FIND_DEFAULT_TABLE)
    }

    const fn with_source(clock: C, draw: PartitionSource, table: Option<FindTable>) -> Self {
        let window = Window::through(SCALE.last);
        let first = Claim::without_partition(FULL_BOUNDS.min, window.start());
        let family = SnoFamily::new(first, Some(draw), table, FULL_BOUNDS, true, None);
        let policy = WaitPolicy::for_scale(&SCALE);
        let reading = FirstReading::new(matches!(draw, PartitionSource::By(_)));
        Self { engine: Engine::new(family, TickTock::new(), window, reading, policy, clock) }
    }
}

impl<C: Clock> Generator<C> {
    /// Generates a new ID.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// let ids = Generator::builder().partition(42).build()?;
    /// assert!(ids.generate(7)? < ids.generate(7)?); // IDs of one tick sort by metabyte, then by sequence
    /// ids.close()?;
    /// assert_eq!(ids.generate(7).unwrap_err().code(), "generator_closed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `sequence_exhausted` or `clock_behind` if no ID became available within `max_wait`. Both errors report when
    /// to retry. Also returns `lease_not_started` or `lease_expired` outside the window; `time_out_of_range` outside the
    /// years 2010 to 2079; `generator_closed` if the generator is closed; `forked` in a child process if the partition is
    /// explicit; or any error that the clock returns. A failed call has no effect.
    #[inline]
    pub fn generate(&self, metabyte: u8) -> Result<Sno> {
        SlotSource::generate_in(self, Mode::Wait, metabyte)
    }

    /// Fills a slice with new IDs.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Sno};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [Sno::default(); 100];
    /// ids.fill(7, &mut batch)?;
    /// assert_ne!(batch[0], batch[99]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `generate`. [`Error::written`](crate::Error::written) is the number of valid IDs at the
    /// front of the slice.
    pub fn fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<()> {
        SlotSource::fill(self, Mode::Wait, metabyte, ids)
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Sno};
    ///
    /// let ids = Generator::new();
    /// match ids.try_generate(7) {
    ///     Ok(id) => assert_ne!(id, Default::default()),
    ///     Err(error) => println!("try again at {:?}", error.retry_at()), // in Unix milliseconds
    /// }
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `sequence_exhausted` or `clock_behind` instead of waiting. Both errors report when to retry. All other
    /// errors are the same as for `generate`.
    #[inline]
    pub fn try_generate(&self, metabyte: u8) -> Result<Sno> {
        SlotSource::generate_in(self, Mode::Try, metabyte)
    }

    /// Writes as many new IDs to the front of a slice as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Sno};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [Sno::default(); 100];
    /// let made = ids.try_fill(7, &mut batch)?;
    /// assert!(batch[made..].iter().all(|unchanged| *unchanged == Default::default()));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `fill`, except `sequence_exhausted` and `clock_behind`. Instead of these two errors, the
    /// method returns the number of IDs written so far.
    pub fn try_fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<usize> {
        SlotSource::try_fill(self, metabyte, ids)
    }

    /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
    /// blocking the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::sno::{Generator, Sno};
    ///
    /// let ids = Generator::new();
    /// let id = ids.generate_async(tokio::time::sleep, 7).await?;
    /// assert_ne!(id, Default::default());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `generate`.
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration), metabyte: u8) -> Result<Sno> {
        SlotSource::generate_in_async(self, &sleep, metabyte).await
    }

    /// Fills a slice with new IDs. If the call has to wait, it awaits `sleep` instead of blocking the thread. `written`
    /// counts the valid IDs at the front of the slice, so it remains correct if the future is dropped early.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::sno::{Generator, Sno};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [Sno::default(); 100];
    /// let mut written = 0;
    /// let filled = ids.fill_async(tokio::time::sleep, 7, &mut batch, &mut written);
    /// match tokio::time::timeout(std::time::Duration::from_secs(1), filled).await {
    ///     Ok(filled) => filled?,
    ///     Err(_) => println!("{written} IDs in time"),
    /// }
    /// assert!(batch[written..].iter().all(|unchanged| *unchanged == Default::default()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `fill`.
    pub fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        metabyte: u8,
        ids: &mut [Sno],
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        SlotSource::fill_async(self, sleep, Ok(metabyte), ids, written)
    }

    /// Generates an ID for a given time, in Unix milliseconds or as a `SystemTime`. This is meant for small numbers of
    /// objects that already have a time, such as imported records. These IDs use a separate sequence that wraps around
    /// silently, so duplicates are possible. The window is ignored.
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// use polyflake::sno::Generator;
    ///
    /// let ids = Generator::new();
    /// assert_eq!(ids.generate_at(1_767_225_600_000, 7)?.unix_ms(), 1_767_225_600_000); // imported from elsewhere
    /// assert!(ids.generate_at(SystemTime::UNIX_EPOCH, 7).is_err()); // before 2010
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `time_out_of_range` if the format cannot represent the time, `generator_closed` if the generator is closed,
    /// `forked` in a child process, or `entropy_unavailable` if the operating system provides no random bytes.
    pub fn generate_at(&self, time: impl Into<UnixTime>, metabyte: u8) -> Result<Sno> {
        let tick = SCALE.tick_of(time.into())?;
        self.engine.check_open()?;
        let identity = self.engine.identity()?;
        let Bounds { min, max } = self.engine.family.identity_bounds(identity);
        let pool = u32::from(max - min) + 1;
        let count = self.engine.family.made_at_times.fetch_add(1, Ordering::Relaxed) % pool;
        let range = SlotRange { tick, tick_tock: false, first: min.into(), len: pool };
        Ok(self.engine.family.id((identity, range), count, metabyte))
    }

    /// Returns the partition, or `None` if none is assigned yet. A default partition is assigned when the first ID is
    /// generated, and may change after a fork or an idle period.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// let ids = Generator::new();
    /// assert_eq!(ids.partition(), None); // assigned at the first ID
    /// let id = ids.generate(7)?;
    /// assert_eq!(ids.partition(), Some(id.partition()));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn partition(&self) -> Option<u16> {
        self.engine.family.current_partition()
    }

    /// Returns the window, a half-open range in Unix milliseconds.
    ///
    /// ```
    /// let builder = polyflake::sno::Generator::builder().partition(42);
    /// let ids = builder.window(1_763_650_000_000, 1_763_653_600_000).build()?;
    /// assert_eq!(ids.window(), (1_763_650_000_000, 1_763_653_600_000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn window(&self) -> (i64, i64) {
        self.engine.window_ms(&SCALE)
    }

    /// Closes the generator, ends calls in progress on other threads, and returns the generator's snapshot. Only the
    /// first call returns the snapshot. A default partition then belongs to the snapshot, so no other generator in this
    /// process or its forks reserves it.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// let ids = Generator::builder().partition(42).build()?;
    /// ids.generate(7)?;
    /// let snapshot = ids.close()?;
    /// assert_eq!(snapshot.partition, [0, 42]);
    /// assert_eq!(ids.close().unwrap_err().code(), "generator_closed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `generator_closed` if the generator is already closed or another thread is closing it. Returns `forked` in a
    /// child process, because the generator continues in the parent. Also returns `forked` if the process was restored from
    /// an image in the meantime, because the generator may continue in another copy of the process. If the generator has no
    /// partition yet, returns any error that occurs when a default partition is assigned.
    pub fn close(&self) -> Result<Snapshot> {
        self.engine.check_open()?;
        let here = fork::ensure_generation();
        // Without this check, two threads could each reserve a partition permanently, although there is only one snapshot.
        if self.engine.family.closing.swap(here, Ordering::AcqRel) == here {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        let closed = self.close_exclusively();
        if closed.is_err() {
            self.engine.family.closing.store(NOT_PICKED, Ordering::Release);
        }
        closed
    }

    fn close_exclusively(&self) -> Result<Snapshot> {
        // The partition is reserved permanently before the state machine is closed. If the reservation fails, the generator
        // remains open, and the caller can try again.
        let (family, identity) = (&self.engine.family, self.engine.reserve_permanently()?);
        let state = self.engine.machine.close()?;
        let begun = self.engine.last_tick_before_first_id().map_or(0, |tick| tick + 1);
        let start = family.first_tick().max(begun);
        // If the process was restored from an image in the meantime, another copy of the process has the same partition.
        if identity.generation != fork::generation() {
            return Err(fork::foreign_error(identity.generation));
        }
        let bounds = family.identity_bounds(identity);
        let snapshot = Snapshot::from_state(identity.partition, bounds, state, start);
        self.engine.end_registration(Some(snapshot.state_number()));
        Ok(snapshot)
    }

    /// Returns the generator's current statistics. They cannot be used to restore a generator.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Builder};
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(&clock).partition(42).build()?;
    /// (ids.generate(7)?, ids.generate(7)?);
    /// clock.set_unix_ms(1_767_225_599_000);
    /// ids.generate(7)?;
    /// let stats = ids.stats()?;
    /// assert_eq!((stats.len, stats.drifts), (1, 1)); // one ID in this tick, one clock rollback
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error that the clock returns, or `time_out_of_range` if the format cannot represent the clock's time.
    pub fn stats(&self) -> Result<Stats> {
        let (state, now) = (self.engine.machine.state(), self.engine.tick_now(&SCALE)?);
        Ok(Stats::from_state(self.partition(), self.engine.family.bounds(), state, now))
    }
}

/// A generator that generates IDs under successive grants, each of which is a time-limited right to a partition.
///
/// Not part of the public API; used by leases.
#[doc(hidden)]
pub type Leased<C = DefaultClock> = generator::Leased<SnoFamily, C>;
