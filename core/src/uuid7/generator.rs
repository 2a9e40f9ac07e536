//! The generator of version 7 UUIDs.

use core::time::Duration;

#[cfg(feature = "std")]
use super::Builder;
use super::{
    SCALE, Uuid7,
    builder::continued_state,
    family::{self, MAX_START, Uuid7Family},
    stream::Entropy,
};
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    generator::{self, Engine, Family, FirstReading, Mode, SlotSource, WaitPolicy, Window},
    sequence::{Machine, per_tick::State},
    sync::Ordering,
};
#[cfg(feature = "std")]
use crate::{UnixTime, clock::SystemClock, entropy, generator::DefaultGenerator};

/// Generates version 7 UUIDs that are sorted across threads. Threads can share a generator.
///
/// [`polyflake::Generator`](crate::Generator) documents the methods that all ID formats share: `handle`, `clock` and
/// `extend_window`.
///
/// ```
/// use polyflake::uuid7::Generator;
///
/// static IDS: Generator = Generator::new();
///
/// let first = IDS.generate()?;
/// let second = std::thread::spawn(|| IDS.generate()).join().unwrap()?;
/// assert!(first < second);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// **Order.** A call that begins after another call of the same generator has returned gets a greater ID, even on a
/// different thread. IDs of different generators are sorted by millisecond only. The same is true of IDs that a program
/// generates before and after a restart, unless [`Builder::resume_after`](super::Builder::resume_after) is set.
///
/// **Uniqueness.** A generator never uses the same sequence number twice in a millisecond. IDs of different generators
/// differ by 56 random bits and by the random start of the sequence. If each generator has a different [worker
/// ID](super::Builder::worker_id), the IDs are guaranteed to differ.
///
/// **Rate.** The sequence starts at a random value in each millisecond, in the lower half of its 18 bits, so at least
/// 131,072 IDs are available per millisecond. After that, calls wait for the next millisecond.
///
/// **Clock rollbacks.** The time in an ID is never later than the latest reading of the clock. If the clock moves
/// backwards, the generator uses up its current millisecond, and calls then wait for the clock or fail with `clock_behind`.
/// If the clock may show a time far in the future by mistake, see
/// [`Builder::follow_rollbacks`](super::Builder::follow_rollbacks).
///
/// **Copies.** Starting with the millisecond after the copy, two copies of a running virtual machine generate different
/// IDs, because the random bits get a new key from the operating system's random source in each millisecond. IDs generated
/// in the millisecond of the copy may be equal.
///
/// Keep the generator in a `static`, or share it by reference. A `const` of this type creates a new generator each time it
/// is used. A generator cannot be cloned, because a generator and its clone would use the same sequences:
///
/// ```compile_fail
/// let ids = polyflake::uuid7::Generator::new();
/// let clone = ids.clone();
/// ```
pub type Generator<C = DefaultClock> = generator::Generator<Uuid7Family, C>;

/// A generator's statistics at one point in time.
///
/// ```
/// use polyflake::uuid7::Generator;
///
/// let ids = Generator::builder().worker_id(42).build()?;
/// assert_eq!((ids.stats().worker_id, ids.stats().last_ms), (Some(42), None));
/// let id = ids.generate()?;
/// assert_eq!(ids.stats().last_ms, Some(id.unix_ms()));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// The worker ID, or `None` if all bits after the sequence are random.
    pub worker_id: Option<u16>,
    /// The last millisecond in which an ID was generated, as a Unix timestamp in milliseconds, or `None` before the first
    /// ID.
    pub last_ms: Option<i64>,
    /// The number of clock rollbacks after which the generator started over. After each of these rollbacks, new IDs sort
    /// before earlier IDs. This number is always 0 without [`Builder::follow_rollbacks`](super::Builder::follow_rollbacks).
    pub rollbacks: u32,
    /// Whether the generator is closed.
    pub closed: bool,
}

#[cfg(feature = "std")]
impl Generator {
    /// Creates a generator that uses the system clock and the operating system's random source.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// static IDS: Generator = Generator::new();
    ///
    /// assert!(IDS.generate()? < IDS.generate()?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new() -> Self {
        Self::with_source(SystemClock, entropy::random_bytes, true)
    }

    /// Returns a builder that configures a generator.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// let ids = Generator::builder().window(1_767_225_600_000, 1_767_312_000_000).build()?; // 2026-01-01
    /// assert_eq!(ids.window(), (1_767_225_600_000, 1_767_312_000_000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn builder() -> Builder<SystemClock> {
        Builder::with_clock(SystemClock, entropy::random_bytes).at_random()
    }
}

#[cfg(feature = "std")]
impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "std")]
static DEFAULT_GENERATOR: DefaultGenerator<Uuid7Family, ()> =
    DefaultGenerator::new(Generator::new());

/// Generates a new ID with the default generator.
///
/// ```
/// use polyflake::uuid7;
///
/// let (first, second) = (uuid7::generate()?, uuid7::generate()?);
/// assert!(first < second);
/// assert_eq!(first.to_string().len(), 36);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`Generator::generate`].
#[cfg(feature = "std")]
#[inline]
pub fn generate() -> Result<Uuid7> {
    DEFAULT_GENERATOR.generate(())
}

/// Makes [`generate`] call a function that generates IDs under a lease. Returns `false` if one is installed already.
///
/// Not part of the public API; used by leases.
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub fn install(generate: &'static (dyn Fn(()) -> Result<Uuid7> + Sync)) -> bool {
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

/// Returns a new ID with an explicit creation time, for a row that exists already. `time` is in Unix milliseconds, or a
/// `SystemTime`, whose millisecond is used.
///
/// No generator takes part in the call: it changes neither the time nor the sequence of any generator, it never waits, and
/// the ID contains no worker ID. The 74 bits after the time are new random bits from the operating system in each call. Two
/// IDs of the same millisecond are equal with a probability of 2<sup>-74</sup>, and they are in no particular order.
///
/// ```
/// use polyflake::uuid7;
///
/// let created_at = 1_767_225_600_000; // 2026-01-01
/// let (first, second) = (uuid7::generate_at(created_at)?, uuid7::generate_at(created_at)?);
/// assert!(first != second);
/// assert_eq!((first.unix_ms(), second.unix_ms()), (created_at, created_at));
/// assert!(uuid7::generate_at(-1).is_err()); // before 1970
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns `time_out_of_range` for a time before 1970 or past [`LAST_MS`](super::LAST_MS), or `entropy_unavailable` if the
/// operating system provides no random bytes.
#[cfg(feature = "std")]
pub fn generate_at(time: impl Into<UnixTime>) -> Result<Uuid7> {
    Uuid7::at_random(time, entropy::random_bytes)
}

impl<C> Generator<C> {
    /// Creates a generator with a custom clock and a custom source of random bytes. See
    /// [`Builder::entropy_from`](super::Builder::entropy_from).
    ///
    /// If the clock is coarser than a millisecond, every call that generates an ID fails with `out_of_range`.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, uuid7::Generator};
    ///
    /// static CLOCK: ManualClock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// static IDS: Generator<&ManualClock> = Generator::with_clock(&CLOCK, || Ok([7; 32]));
    ///
    /// assert_eq!(IDS.generate()?.unix_ms(), 1_763_650_000_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn with_clock(clock: C, draw: fn() -> Result<[u8; 32]>) -> Self {
        Self::with_source(clock, draw, false)
    }

    const fn with_source(clock: C, draw: fn() -> Result<[u8; 32]>, is_system: bool) -> Self {
        let family = Uuid7Family::new(Entropy::new(draw, is_system), None, MAX_START, None);
        let machine = family::new_machine(u64::MAX, None);
        let window = Window::through(SCALE.last);
        let first = FirstReading::new(!is_system);
        let policy = WaitPolicy::for_scale(&SCALE);
        Self { engine: Engine::new(family, machine, window, first, policy, clock) }
    }

    /// Returns the window, a half-open range in Unix milliseconds.
    ///
    /// ```
    /// let builder = polyflake::uuid7::Generator::builder();
    /// let ids = builder.window(1_763_650_000_000, 1_763_653_600_000).build()?;
    /// assert_eq!(ids.window(), (1_763_650_000_000, 1_763_653_600_000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn window(&self) -> (i64, i64) {
        self.engine.window_ms(&SCALE)
    }

    /// Returns the generator's current statistics.
    ///
    /// ```
    /// use polyflake::uuid7::{Generator, Uuid7};
    ///
    /// let ids = Generator::new();
    /// ids.fill(&mut [Uuid7::MIN; 10])?;
    /// assert!(ids.stats().last_ms.is_some() && !ids.stats().closed);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let (state, tails) = (self.engine.machine.state(), &self.engine.family);
        Stats {
            worker_id: tails.worker_id,
            last_ms: last_ms(state),
            rollbacks: tails.rollbacks.load(Ordering::Relaxed),
            closed: state.closed,
        }
    }
}

/// Returns the state's tick as a Unix timestamp in milliseconds, or `None` if no slot of that tick is used.
fn last_ms(state: State) -> Option<i64> {
    (state.next > 0).then(|| SCALE.tick_start_ms(state.tick))
}

impl<C: Clock> Generator<C> {
    /// Closes the generator and ends calls in progress on other threads. Returns the last millisecond in which the
    /// generator generated an ID, for use with [`Builder::resume_after`](super::Builder::resume_after), or `None` if the
    /// generator was not used.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// let ids = Generator::new();
    /// let id = ids.generate()?;
    /// assert_eq!(ids.close()?, Some(id.unix_ms()));
    /// assert_eq!(ids.generate().unwrap_err().code(), "generator_closed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `generator_closed` if the generator is already closed, or `forked` in a child process if the generator has a
    /// worker ID or a window, because the generator continues in the parent.
    pub fn close(&self) -> Result<Option<i64>> {
        self.engine.family.check_process()?;
        let used = last_ms(self.engine.machine.close()?);
        // If this generator was called but generated no ID, an earlier generator may have used the millisecond of that
        // call.
        let begun = self.engine.last_tick_before_first_id();
        let last = used.max(begun.map(|tick| SCALE.tick_start_ms(tick)));
        self.engine.end_registration(last.map(continued_state));
        Ok(last)
    }

    /// Generates a new ID.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// let ids = Generator::new();
    /// assert!(ids.generate()? < ids.generate()?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `sequence_exhausted` if all IDs of a millisecond are used up and no ID became available within `max_wait`.
    /// If the clock is also behind that millisecond, returns `clock_behind` instead. Both errors report when to retry. Also
    /// returns `lease_not_started` or `lease_expired` outside the window; `time_out_of_range` before 1970;
    /// `generator_closed` if the generator is closed; `forked` in a child process if the generator has a worker ID or a
    /// window; `entropy_unavailable` if the operating system provides no random bytes; or any error that the clock returns.
    /// A failed call has no effect.
    #[inline]
    pub fn generate(&self) -> Result<Uuid7> {
        SlotSource::generate_in(self, Mode::Wait, ())
    }

    /// Fills a slice with new IDs, which are sorted.
    ///
    /// ```
    /// use polyflake::uuid7::{Generator, Uuid7};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [Uuid7::MIN; 100];
    /// ids.fill(&mut batch)?;
    /// assert!(batch.is_sorted() && ids.generate()? > batch[99]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `generate`. [`Error::written`](crate::Error::written) is the number of valid IDs at the
    /// front of the slice.
    pub fn fill(&self, ids: &mut [Uuid7]) -> Result<()> {
        SlotSource::fill(self, Mode::Wait, (), ids)
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// use polyflake::uuid7::Generator;
    ///
    /// let ids = Generator::new();
    /// match ids.try_generate() {
    ///     Ok(id) => assert!(id.unix_ms() > 0),
    ///     Err(error) => println!("try again at {:?}", error.retry_at()), // in Unix milliseconds
    /// }
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `sequence_exhausted` or `clock_behind` instead of waiting. Both errors report when to retry. All other
    /// errors are the same as for `generate`.
    #[inline]
    pub fn try_generate(&self) -> Result<Uuid7> {
        SlotSource::generate_in(self, Mode::Try, ())
    }

    /// Writes as many new IDs to the front of a slice as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// ```
    /// use polyflake::uuid7::{Generator, Uuid7};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [Uuid7::MIN; 100];
    /// let made = ids.try_fill(&mut batch)?;
    /// assert!(batch[made..].iter().all(|unchanged| *unchanged == Uuid7::MIN));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `fill`, except `sequence_exhausted` and `clock_behind`. Instead of these two errors, the
    /// method returns the number of IDs written so far.
    pub fn try_fill(&self, ids: &mut [Uuid7]) -> Result<usize> {
        SlotSource::try_fill(self, (), ids)
    }

    /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
    /// blocking the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::uuid7::Generator;
    ///
    /// let ids = Generator::new();
    /// let first = ids.generate_async(tokio::time::sleep).await?;
    /// assert!(ids.generate_async(tokio::time::sleep).await? > first);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `generate`.
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Uuid7> {
        SlotSource::generate_in_async(self, &sleep, ()).await
    }

    /// Fills a slice with new IDs. If the call has to wait, it awaits `sleep` instead of blocking the thread. `written`
    /// counts the valid IDs at the front of the slice, so it remains correct if the future is dropped early.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::uuid7::{Generator, Uuid7};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [Uuid7::MIN; 100];
    /// let mut written = 0;
    /// let filled = ids.fill_async(tokio::time::sleep, &mut batch, &mut written);
    /// match tokio::time::timeout(std::time::Duration::from_secs(1), filled).await {
    ///     Ok(filled) => filled?,
    ///     Err(_) => println!("{written} IDs in time"),
    /// }
    /// assert!(batch[written..].iter().all(|unchanged| *unchanged == Uuid7::MIN));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `fill`.
    pub fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: &mut [Uuid7],
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        SlotSource::fill_async(self, sleep, Ok(()), ids, written)
    }
}

/// A generator that generates IDs under successive grants, each of which is a time-limited right to a worker ID.
///
/// Not part of the public API; used by leases.
#[doc(hidden)]
pub type Leased<C = DefaultClock> = generator::Leased<Uuid7Family, C>;
