//! The generator: IDs of a partition.

use core::time::Duration;

#[cfg(feature = "std")]
use super::Builder;
use super::{
    Drawn, SCALE, Snapshot, Sno, Stats,
    builder::Bounds,
    fill,
    identity::{Draw, Identity, Origin},
    make,
    partition::Partitions,
};
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    format::Text,
    generator::{Engine, Mode, WaitPolicy, Window},
    sequence::tick_tock::{Run, TickTock},
    sync::{AtomicU32, Ordering},
};

/// Makes sno IDs under one partition. Threads may share it.
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
/// Keep it in a `static`, or share it by reference. A `const` of this type is a new generator at each use, and each draws an
/// identity of its own.
///
/// It cannot be cloned, since two generators of one partition repeat each other's IDs:
///
/// ```compile_fail
/// let ids = polyflake::sno::Generator::new();
/// let twin = ids.clone();
/// ```
#[derive(Debug)]
pub struct Generator<C = DefaultClock> {
    pub(super) engine: Engine<Partitions, C>,
    /// Counts the IDs of given times.
    at: AtomicU32,
}

#[cfg(feature = "std")]
impl Generator {
    /// A generator under a default partition, which it is leased at its first ID and for as long as it makes some: no two of a
    /// process and its forks have one for the same time. Idle, it may go on under another. Its sequences begin at a random one in 0..=32767.
    ///
    /// Two versions of this crate in one process lease each from a table of its own, so their default partitions may be the same: give
    /// partitions where a program links both.
    pub const fn new() -> Self {
        Self::drawing(crate::clock::SystemClock, Draw::Leased(crate::fork::partitions::shared))
    }

    /// Options for a generator.
    pub const fn builder() -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(crate::clock::SystemClock)
    }

    /// A generator that goes on where a closed one stopped. Restore each snapshot once.
    ///
    /// # Errors
    /// As [`Builder::restore`].
    pub fn restore(snapshot: Snapshot) -> Result<Self> {
        Self::builder().restore(snapshot)
    }

    /// A generator that goes on from a snapshot of the original, with the original's habits.
    ///
    /// # Errors
    /// As [`Builder::import_original`].
    pub fn import_original(snapshot: Snapshot) -> Result<Self> {
        Self::builder().import_original(snapshot)
    }
}

#[cfg(feature = "std")]
impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

const ALL: Bounds = Bounds { min: 0, max: u16::MAX };

/// One new ID from the process-wide generator, which has a default partition.
///
/// # Errors
/// As [`Generator::generate`].
#[cfg(feature = "std")]
#[inline]
pub fn generate(metabyte: u8) -> Result<Sno> {
    static PROCESS: Generator = Generator::new();
    PROCESS.generate(metabyte)
}

impl<C> Generator<C> {
    /// A generator with a clock and a source of partitions of your own: see [`Builder::draw`](super::Builder::draw).
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     sno::{Drawn, Generator},
    /// };
    ///
    /// static CLOCK: ManualClock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// static IDS: Generator<&ManualClock> =
    ///     Generator::with_clock(&CLOCK, || Ok(Drawn { partition: 7, sequence_min: 0 }));
    ///
    /// assert_eq!(IDS.generate(1)?.partition(), 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn with_clock(clock: C, draw: fn() -> Result<Drawn>) -> Self {
        Self::drawing(clock, Draw::By(draw))
    }

    const fn drawing(clock: C, draw: Draw) -> Self {
        let origin = Origin::Drawn { draw, own_min: false, window_of: None };
        let window = Window::all(SCALE.last);
        let family = Partitions::new(origin, ALL, &window);
        Self::of(Engine::new(family, TickTock::new(), window, WaitPolicy::of(&SCALE), clock))
    }

    pub(super) const fn of(engine: Engine<Partitions, C>) -> Self {
        Self { engine, at: AtomicU32::new(0) }
    }
}

impl<C: Clock> Generator<C> {
    /// One new ID.
    ///
    /// # Errors
    /// `sequence_exhausted` or `clock_behind`, with when to retry, after a wait of at most `max_wait`; `lease_not_started`,
    /// `lease_expired` outside the window; `time_out_of_range` outside 2010..2079; `generator_closed`; `forked` in a child process
    /// if the partition was given; what the clock says. Nothing is changed by a refused call.
    #[inline]
    pub fn generate(&self, metabyte: u8) -> Result<Sno> {
        make::one(&self.engine, Mode::Wait, metabyte)
    }

    /// The text of one new ID, on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate_text(&self, metabyte: u8) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.generate(metabyte)?.text())
    }

    /// Fills a slice with new IDs, in the order of time.
    ///
    /// # Errors
    /// As [`Generator::generate`]; [`Error::written`] tells how many IDs at the front of the slice are there to use.
    pub fn fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<()> {
        self.fill_bytes(metabyte, fill::bytes_of(ids))
    }

    /// As [`Generator::fill`], into packed bytes, 10 an ID.
    ///
    /// # Errors
    /// As [`Generator::fill`], and `invalid_length` where the bytes are no whole number of IDs.
    pub fn fill_bytes(&self, metabyte: u8, bytes: &mut [u8]) -> Result<()> {
        make::many(&self.engine, metabyte, bytes)
    }

    /// An ID of a given time, in Unix milliseconds. It has a sequence of its own that rolls over silently, so
    /// uniqueness is not promised: for IDs of things that have their own time, few at once.
    /// The window does not matter to it.
    ///
    /// # Errors
    /// `time_out_of_range`; `generator_closed`; `forked`; `entropy_unavailable`.
    pub fn generate_at(&self, unix_ms: i64, metabyte: u8) -> Result<Sno> {
        let tick = SCALE.tick_of_ms(unix_ms)?;
        self.engine.check_open()?;
        let identity = self.identity()?;
        let Bounds { min, max } = self.engine.family.bounds_of(identity);
        let pool = u32::from(max - min) + 1;
        let count = self.at.fetch_add(1, Ordering::Relaxed) % pool;
        let run = Run { tick, tick_tock: false, first: min, len: pool };
        Ok(make::id(identity, run, count, metabyte))
    }

    /// Who this generator is in this process, for what has no tick of its own.
    fn identity(&self) -> Result<Identity> {
        self.engine.family.identity(self.engine.window(), || self.engine.tick_now(&SCALE))
    }

    /// The partition, once the generator has one: a default one is drawn at the first ID, and may be another after a fork, or when
    /// the generator was idle.
    pub fn partition(&self) -> Option<u16> {
        self.engine.family.current()
    }

    /// The window, in Unix milliseconds: half-open.
    pub fn window(&self) -> (i64, i64) {
        self.engine.window_ms(&SCALE)
    }

    /// Moves the end of the window later, to `end_ms` in Unix milliseconds; an earlier or equal end changes nothing, nor
    /// does any where no window was given, since that is all of the format's time already.
    ///
    /// # Errors
    /// `out_of_range` for an end before the window's start; `time_out_of_range` past the format's time.
    pub fn extend_window(&self, end_ms: i64) -> Result<()> {
        self.engine.extend_window(&SCALE, end_ms)
    }

    /// Ends the generator, also for calls in flight on other threads, and gives the snapshot to restore from, once. A default partition
    /// then belongs to the snapshot: no generator of this process and its forks is leased it again.
    ///
    /// # Errors
    /// `generator_closed` if it was; `forked`, since the parent's generator goes on; where a default partition must first be
    /// drawn, that error.
    pub fn close(&self) -> Result<Snapshot> {
        self.engine.check_open()?;
        let (family, window) = (&self.engine.family, self.engine.window());
        let identity = family.keep(window, || self.engine.tick_now(&SCALE))?;
        let state = self.engine.close()?;
        Ok(Snapshot::of(identity.partition, family.bounds_of(identity), state))
    }

    /// Figures of now. Nothing can be restored from them.
    ///
    /// # Errors
    /// What the clock says, and `time_out_of_range`.
    pub fn stats(&self) -> Result<Stats> {
        let (state, now) = (self.engine.state(), self.engine.tick_now(&SCALE)?);
        Ok(Stats::of(self.partition(), self.engine.family.bounds(), state, now))
    }

    /// One new ID if there is one now. It never waits.
    ///
    /// # Errors
    /// `sequence_exhausted` or `clock_behind`, with when to retry, instead of a wait; all else as [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self, metabyte: u8) -> Result<Sno> {
        make::one(&self.engine, Mode::Try, metabyte)
    }

    /// The text of [`Generator::try_generate`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_text(&self, metabyte: u8) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.try_generate(metabyte)?.text())
    }

    /// Fills the front of a slice with as many new IDs as there are now, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::fill`], but for `sequence_exhausted` and `clock_behind`, which end the batch.
    pub fn try_fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<usize> {
        self.try_fill_bytes(metabyte, fill::bytes_of(ids))
    }

    /// As [`Generator::try_fill`], into packed bytes, 10 an ID.
    ///
    /// # Errors
    /// As [`Generator::try_fill`], and `invalid_length` where the bytes are no whole number of IDs.
    pub fn try_fill_bytes(&self, metabyte: u8, bytes: &mut [u8]) -> Result<usize> {
        make::try_many(&self.engine, metabyte, bytes)
    }

    /// One new ID, waiting in `sleep` instead of on the thread: `tokio::time::sleep` for example.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration), metabyte: u8) -> Result<Sno> {
        make::one_async(&self.engine, &sleep, metabyte).await
    }

    /// The text of [`Generator::generate_async`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_text_async(
        &self,
        sleep: impl AsyncFn(Duration),
        metabyte: u8,
    ) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.generate_async(sleep, metabyte).await?.text())
    }

    /// As [`Generator::fill`], waiting in `sleep` instead of on the thread. Dropped before its end, it loses the IDs that it wrote.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub async fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        metabyte: u8,
        ids: &mut [Sno],
    ) -> Result<()> {
        make::many_async(&self.engine, &sleep, metabyte, fill::bytes_of(ids)).await
    }

    /// The source of time that it was built with.
    pub const fn clock(&self) -> &C {
        self.engine.clock()
    }
}

/// Gives a default partition back, for the ticks after the last one used.
#[cfg(feature = "alloc")]
impl<C> Drop for Generator<C> {
    fn drop(&mut self) {
        let state = || self.engine.state();
        self.engine.family.give_back(|| state().tick.max(state().safe) + 1);
    }
}
