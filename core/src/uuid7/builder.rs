//! The options of a generator.

use super::{
    Generator, SCALE,
    family::{self, LAST_READING_MS, MAX_START, Uuid7Family},
    stream::Entropy,
};
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    generator::{self, Engine, FirstReading, Options, ProcessGuard},
};

/// The longest clock rollback, in milliseconds, after which the IDs of a generator with `follow_rollbacks` stay sorted.
/// After a longer rollback, the generator starts over.
const MAX_HELD_ROLLBACK_MS: u64 = 10_000;

/// Configures a [`Generator`].
///
/// ```
/// use polyflake::uuid7::{Generator, worker_id};
///
/// let ids = Generator::builder().worker_id(42).build()?;
/// assert_eq!(worker_id(ids.generate()?), 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Builder<C> = generator::Builder<Settings, C>;

/// The options that are specific to version 7 UUIDs.
#[derive(Clone, Debug)]
#[allow(unnameable_types, reason = "a builder has them")]
pub struct Settings {
    draw: fn() -> Result<[u8; 32]>,
    is_system: bool,
    worker_id: Option<u16>,
    follows_rollbacks: bool,
    resume_after: Option<i64>,
    last_start: u64,
}

impl generator::Windowed for Settings {}

impl<C: Clock> Builder<C> {
    /// Creates a builder with a custom clock and a custom source of random bytes. See [`Builder::entropy_from`].
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, uuid7::Builder};
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(&clock, || Ok([0; 32])).build()?;
    /// assert_eq!(ids.generate()?.unix_ms(), 1_767_225_600_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn with_clock(clock: C, draw: fn() -> Result<[u8; 32]>) -> Self {
        Self { family: Settings::new(draw, false), options: Options::new(clock) }
    }

    /// Sets the function that provides random bytes, for platforms without an operating system and for tests. For each
    /// thread, the function is called in every millisecond in which the thread generates IDs. It must return different
    /// bytes each time, because the bytes are the key from which the random bits of the IDs are derived. If the function
    /// repeats its bytes, IDs are easy to guess. In addition, two generators or two runs of a program then generate the
    /// same IDs in the same millisecond, unless they have different worker IDs.
    ///
    /// A custom function may return bytes that an earlier generator used, so the first ID belongs to the millisecond after
    /// the first call.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, uuid7::{Builder, Generator}};
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let same = || Generator::builder().entropy_from(|| Ok([7; 32])).clock(&clock).build();
    /// assert_eq!(same()?.generate()?, same()?.generate()?); // for a test
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn entropy_from(mut self, draw: fn() -> Result<[u8; 32]>) -> Self {
        (self.family.draw, self.family.is_system) = (draw, false);
        self
    }

    /// Declares that the source of random bytes never repeats itself, so that all generators on a thread can share their
    /// streams of random bits. Not part of the public API; used by bindings, which use the random bytes of their host.
    #[doc(hidden)]
    pub const fn at_random(mut self) -> Self {
        self.family.is_system = true;
        self
    }

    /// Starts each millisecond at sequence 0. Not part of the public API; used by tests that must know an ID's position
    /// within its millisecond.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub const fn from_sequence_0(mut self) -> Self {
        self.family.last_start = 0;
        self
    }

    /// Sets the worker ID, which replaces 16 of the 56 random bits. Generators with different worker IDs never generate the
    /// same ID, even if their random bits are equal. [`worker_id`](super::worker_id()) extracts the worker ID from an ID.
    ///
    /// An earlier run of the process may have generated IDs in the current millisecond, so the first ID belongs to the next
    /// millisecond, unless [`Builder::resume_after`] is set. In a forked child, calls fail with `forked`.
    ///
    /// ```
    /// use polyflake::uuid7::{Generator, worker_id};
    ///
    /// let ids = Generator::builder().worker_id(0xc0de).build()?;
    /// let id = ids.generate()?.to_string(); // 019b76da-a800-7abc-8dc0-de92f0a5c1b3, for example
    /// assert_eq!((&id[21..23], &id[24..26]), ("c0", "de"));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn worker_id(mut self, worker_id: u16) -> Self {
        self.family.worker_id = Some(worker_id);
        self
    }

    /// Sets the last millisecond in which an earlier generator generated IDs, as a Unix timestamp in milliseconds.
    /// [`Generator::close`] returns this timestamp. All IDs of the new generator sort after the IDs of the earlier
    /// generator, unless the earlier generator started over after a clock rollback. The maximum is 2^44 - 1, in the year
    /// 2527, because a generator stores its millisecond in 44 bits.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// let ids = Generator::new();
    /// let last = ids.generate()?;
    /// let unix_ms = ids.close()?.unwrap(); // store this value
    ///
    /// let ids = Generator::builder().resume_after(unix_ms).build()?; // after the restart
    /// assert!(ids.generate()? > last);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn resume_after(mut self, unix_ms: i64) -> Self {
        self.family.resume_after = Some(unix_ms);
        self
    }

    /// Sets whether the generator starts over in the clock's millisecond after the clock moved backwards by more than 10
    /// seconds. By default, the generator never starts over. It uses up the last millisecond, and calls then fail with
    /// `clock_behind` until the clock has caught up. With this option, a single wrong reading far in the future does not
    /// stop a service.
    ///
    /// IDs that are generated after such a rollback sort before earlier IDs. [`Stats::rollbacks`](super::Stats::rollbacks)
    /// counts the rollbacks after which the generator started over. IDs stay unique, because the new IDs have new random
    /// bits. This option cannot be combined with a worker ID.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, uuid7::Generator};
    ///
    /// let clock = ManualClock::at_unix_ms(4_102_444_800_000); // the clock is wrong: 2100
    /// let ids = Generator::builder().follow_rollbacks(true).clock(&clock).build()?;
    /// ids.generate()?;
    /// clock.set_unix_ms(1_767_225_600_000);
    /// assert_eq!(ids.generate()?.unix_ms(), 1_767_225_600_000);
    /// assert_eq!(ids.stats().rollbacks, 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn follow_rollbacks(mut self, follows: bool) -> Self {
        self.family.follows_rollbacks = follows;
        self
    }

    /// Builds the generator.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// assert!(Generator::builder().build().is_ok());
    /// let empty = Generator::builder().window(1_767_225_600_000, 1_767_225_600_000).build();
    /// assert_eq!(empty.unwrap_err().code(), "out_of_range");
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if the window is empty, if `resume_after` is out of range, if the clock is coarser than a
    /// millisecond, or if a generator with a worker ID follows rollbacks. Returns `time_out_of_range` if the window exceeds
    /// the format's time range.
    pub fn build(self) -> Result<Generator<C>> {
        let Settings { draw, is_system, worker_id, last_start, .. } = self.family;
        let window = self.options.window(&SCALE)?;
        let machine =
            family::new_machine(self.family.max_held_rollback()?, self.family.last_tick()?);
        let is_bound = worker_id.is_some() || self.options.window.is_some();
        let process = is_bound.then(ProcessGuard::this_process).transpose()?;
        let may_repeat = worker_id.is_some() || !is_system;
        let first = FirstReading::new(may_repeat && self.family.resume_after.is_none());
        let entropy = Entropy::new(draw, is_system);
        let tails = Uuid7Family::new(entropy, worker_id, last_start, process);
        let continued = self.family.resume_after.map(continued_state);
        let engine = Engine::with_options(self.options, tails, machine, window, first, continued)?;
        Ok(Generator { engine })
    }
}

impl Settings {
    pub(super) const fn new(draw: fn() -> Result<[u8; 32]>, is_system: bool) -> Self {
        Self {
            draw,
            is_system,
            worker_id: None,
            follows_rollbacks: false,
            resume_after: None,
            last_start: MAX_START,
        }
    }

    /// Returns the longest rollback, in milliseconds, that does not make the generator start over.
    fn max_held_rollback(&self) -> Result<u64> {
        match (self.follows_rollbacks, self.worker_id) {
            (false, _) => Ok(u64::MAX),
            (true, None) => Ok(MAX_HELD_ROLLBACK_MS),
            (true, Some(_)) => {
                let reason = "expected either `worker_id` or `follow_rollbacks`, found both";
                Err(Error::with_reason(ErrorKind::OutOfRange, reason))
            }
        }
    }

    /// Returns the tick that the state machine treats as used up.
    fn last_tick(&self) -> Result<Option<u64>> {
        let checked = |unix_ms: i64| {
            let tick = u64::try_from(unix_ms).ok().filter(|_| unix_ms <= LAST_READING_MS);
            tick.ok_or_else(|| {
                let most = LAST_READING_MS.into();
                Error::out_of_range("resume_after", unix_ms.into(), 0, most).in_unit("ms")
            })
        };
        self.resume_after.map(checked).transpose()
    }
}

/// Returns the number of the state of a generator whose last millisecond was `unix_ms`.
pub(super) fn continued_state(unix_ms: i64) -> u128 {
    u128::from(unix_ms.cast_unsigned())
}
