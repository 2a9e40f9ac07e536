//! The Hot Guid generator.

use core::time::Duration;

#[cfg(feature = "std")]
use super::Builder;
use super::{HotGuid, LAST_COUNTER, SCALE, family::HotGuidFamily};
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    generator::{self, Engine, FirstReading, Mode, NOT_PICKED, SlotSource, WaitPolicy, Window},
    sequence::{
        Machine,
        per_tick::{BehindPolicy, PerTick, Slots},
    },
};
#[cfg(feature = "std")]
use crate::{clock::SystemClock, entropy, generator::DefaultGenerator};

/// Generates Hot Guids with a randomly assigned machine field. Threads can share a generator.
///
/// [`polyflake::Generator`](crate::Generator) documents the methods that all ID formats share: `handle`, `clock` and
/// `extend_window`.
///
/// ```
/// use polyflake::hotguid::Generator;
///
/// static IDS: Generator = Generator::new();
///
/// let (first, second) = (IDS.generate(1)?, IDS.generate(2)?);
/// assert_eq!((first.shard_key(), second.shard_key()), (1, 2));
/// assert_eq!(first.machine(), second.machine());
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// Each generator picks 5 random bytes when its first ID is generated, and again after a fork. These bytes identify the
/// generator. Among 148,664 generators that are active in the same second, the probability that any two share the same
/// bytes is 1%. Two such generators produce a duplicate ID in a second only if their counters overlap in that second.
///
/// The counter starts at a random value in each second and increases by one with each ID. At least 8,388,608 and at most
/// 16,777,216 IDs are available per second. Within a second, IDs therefore sort in the order in which they were generated.
/// Because the system's random source does not repeat itself in a copied process image, such as a cloned virtual machine,
/// two copies of a generator start the next second at different values.
///
/// If the clock moves backwards, the generator stays in the highest second that it has seen. If a clock reading is ever in
/// the future, the generator therefore stays in the second of that reading until the clock catches up, which can take until
/// 2106, the end of the format's time range. If the generator has a window, a reading outside it is rejected and has no
/// effect.
///
/// Keep the generator in a `static`, or share it by reference. A `const` of this type creates a new generator, with its own
/// random bytes, each time it is used.
///
/// A generator cannot be cloned, because a generator and its clone would generate duplicate IDs:
///
/// ```compile_fail
/// let ids = polyflake::hotguid::Generator::new();
/// let clone = ids.clone();
/// ```
pub type Generator<C = DefaultClock> = generator::Generator<HotGuidFamily, C>;

/// A generator's statistics at one point in time.
///
/// ```
/// use polyflake::hotguid::Generator;
///
/// let ids = Generator::new();
/// assert_eq!((ids.stats().machine, ids.stats().len), (None, 0)); // no random bytes yet
/// let id = ids.generate(3)?;
/// assert_eq!((ids.stats().machine, ids.stats().len), (Some(id.machine()), 1));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// The machine field, which identifies the generator, or `None` before it is assigned.
    pub machine: Option<[u8; 5]>,
    /// The highest second in which an ID was generated, as a Unix timestamp, or `None` before the first ID.
    pub last_second: Option<i64>,
    /// The number of IDs generated during `last_second`.
    pub len: u32,
    /// Whether the generator is closed.
    pub closed: bool,
}

#[cfg(feature = "std")]
impl Generator {
    /// Creates a generator that uses the system clock and a random machine field.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// static IDS: Generator = Generator::new();
    ///
    /// assert!(IDS.generate(3)? < IDS.generate(3)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new() -> Self {
        Self::with_source(SystemClock, entropy::random_bytes, true)
    }

    /// Returns a builder that configures a generator.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
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
static DEFAULT_GENERATOR: DefaultGenerator<HotGuidFamily, u32> =
    DefaultGenerator::new(Generator::new());

/// Generates a new ID with the default generator.
///
/// ```
/// let id = polyflake::hotguid::generate(3)?;
/// assert_eq!((id.shard_key(), id.to_string().len()), (3, 36));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`Generator::generate`].
#[cfg(feature = "std")]
#[inline]
pub fn generate(shard_key: u32) -> Result<HotGuid> {
    DEFAULT_GENERATOR.generate(shard_key)
}

/// Makes [`generate`] call a function that generates IDs under a lease. Returns `false` if one is installed already.
///
/// Not part of the public API; used by leases.
#[cfg(all(feature = "std", feature = "internals"))]
#[doc(hidden)]
pub fn install(generate: &'static (dyn Fn(u32) -> Result<HotGuid> + Sync)) -> bool {
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
    /// Creates a generator with a custom clock and a custom source of random bytes. See
    /// [`Builder::identity_from`](super::Builder::identity_from).
    ///
    /// If the clock is coarser than a second, every call that generates an ID fails with `out_of_range`.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, hotguid::Generator};
    ///
    /// static CLOCK: ManualClock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// static IDS: Generator<&ManualClock> = Generator::with_clock(&CLOCK, || Ok([7; 8]));
    ///
    /// assert_eq!(IDS.generate(1)?.timestamp(), 1_763_650_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn with_clock(clock: C, draw: fn() -> Result<[u8; 8]>) -> Self {
        Self::with_source(clock, draw, false)
    }

    const fn with_source(clock: C, draw: fn() -> Result<[u8; 8]>, is_random: bool) -> Self {
        let family = HotGuidFamily::new(draw, is_random, false, None);
        let window = Window::through(SCALE.last);
        let policy = WaitPolicy::for_scale(&SCALE);
        let first = FirstReading::new(!is_random);
        Self { engine: Engine::new(family, counters(), window, first, policy, clock) }
    }

    /// Returns the window, a half-open range in Unix milliseconds.
    ///
    /// ```
    /// let builder = polyflake::hotguid::Generator::builder();
    /// let ids = builder.window(1_763_650_000_000, 1_763_653_600_000).build()?;
    /// assert_eq!(ids.window(), (1_763_650_000_000, 1_763_653_600_000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn window(&self) -> (i64, i64) {
        self.engine.window_ms(&SCALE)
    }

    /// Closes the generator and ends calls in progress on other threads. There is no state to save, because the next
    /// generator picks new random bytes.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// let ids = Generator::new();
    /// ids.close()?;
    /// assert_eq!(ids.generate(3).unwrap_err().code(), "generator_closed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `generator_closed` if the generator is already closed.
    pub fn close(&self) -> Result<()> {
        self.engine.machine.close().map(drop)
    }

    /// Returns the generator's current statistics.
    ///
    /// ```
    /// use polyflake::hotguid::{Generator, HotGuid};
    ///
    /// let ids = Generator::new();
    /// ids.fill(3, &mut [HotGuid::default(); 10])?;
    /// assert!(ids.stats().last_second.is_some() && !ids.stats().closed);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let family = &self.engine.family;
        let (state, (epoch, word)) = (self.engine.machine.state(), family.drawn.last_picked());
        Stats {
            machine: (epoch != NOT_PICKED).then(|| family.unpack_identity(word).machine.to_bytes()),
            last_second: (state.next > 0).then(|| SCALE.tick_start_ms(state.tick) / 1000),
            len: family.used_count(&state),
            closed: state.closed,
        }
    }
}

impl<C: Clock> Generator<C> {
    /// Generates a new ID with the given shard key.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// let ids = Generator::new();
    /// let (first, second) = (ids.generate(3)?, ids.generate(4)?); // one for shard 3, one for shard 4
    /// assert_eq!((first.shard_key(), second.shard_key()), (3, 4));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `sequence_exhausted`, with the time to retry, if the counter reached its last value in a second and no ID
    /// became available within `max_wait`. Returns `lease_not_started` or `lease_expired` if the time is outside the
    /// window, or `time_out_of_range` if the time is outside the years 1970 to 2106. Returns `generator_closed` if the
    /// generator is closed. Returns `forked` in a child process if the generator has a window. Returns
    /// `entropy_unavailable` if the operating system provides no random bytes. Also returns any error that the clock
    /// returns. A failed call has no effect.
    #[inline]
    pub fn generate(&self, shard_key: u32) -> Result<HotGuid> {
        SlotSource::generate_in(self, Mode::Wait, shard_key)
    }

    /// Fills a slice with new IDs.
    ///
    /// ```
    /// use polyflake::hotguid::{Generator, HotGuid};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [HotGuid::default(); 100];
    /// ids.fill(7, &mut batch)?;
    /// assert_ne!(batch[0], batch[99]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `generate`. [`Error::written`](crate::Error::written) is the number of valid IDs at the
    /// front of the slice.
    pub fn fill(&self, shard_key: u32, ids: &mut [HotGuid]) -> Result<()> {
        SlotSource::fill(self, Mode::Wait, shard_key, ids)
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// use polyflake::hotguid::{Generator, HotGuid};
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
    /// Returns `sequence_exhausted` or `clock_behind`, with the time to retry, instead of waiting. All other errors are the
    /// same as for `generate`.
    #[inline]
    pub fn try_generate(&self, shard_key: u32) -> Result<HotGuid> {
        SlotSource::generate_in(self, Mode::Try, shard_key)
    }

    /// Writes as many new IDs to the front of a slice as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// ```
    /// use polyflake::hotguid::{Generator, HotGuid};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [HotGuid::default(); 100];
    /// let made = ids.try_fill(7, &mut batch)?;
    /// assert!(batch[made..].iter().all(|unchanged| *unchanged == Default::default()));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `fill`, except `sequence_exhausted` and `clock_behind`, which only end the batch.
    pub fn try_fill(&self, shard_key: u32, ids: &mut [HotGuid]) -> Result<usize> {
        SlotSource::try_fill(self, shard_key, ids)
    }

    /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
    /// blocking the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::hotguid::{Generator, HotGuid};
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
    pub async fn generate_async(
        &self,
        sleep: impl AsyncFn(Duration),
        shard_key: u32,
    ) -> Result<HotGuid> {
        SlotSource::generate_in_async(self, &sleep, shard_key).await
    }

    /// Fills a slice with new IDs. If the call has to wait, it awaits `sleep` instead of blocking the thread. `written`
    /// counts the valid IDs at the front of the slice, so it remains correct if the future is dropped early.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::hotguid::{Generator, HotGuid};
    ///
    /// let ids = Generator::new();
    /// let mut batch = [HotGuid::default(); 100];
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
        shard_key: u32,
        ids: &mut [HotGuid],
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        SlotSource::fill_async(self, sleep, Ok(shard_key), ids, written)
    }

    /// Provides random bytes from an external source, unless the generator already has bytes in this process. Returns
    /// whether the generator uses the new bytes. This method is not part of the public API. It exists for bindings, which
    /// obtain random bytes from their host.
    ///
    /// # Errors
    /// Returns `forked` under the same conditions as [`crate::fork::prepare`].
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn provide_identity(&self, drawn: [u8; 8]) -> Result<bool> {
        self.engine.family.provide(drawn)
    }
}

/// Returns a state machine that has not assigned any slots yet.
pub(super) const fn counters() -> PerTick {
    let counters = Slots { first: 0, last: LAST_COUNTER as u64 };
    PerTick::new(counters, BehindPolicy::Held, SCALE.last)
        .expect("25 bits of slots and 32 of seconds")
}

/// A generator that generates IDs under successive grants of a lease.
///
/// This type is not part of the public API. It exists for leases.
#[doc(hidden)]
pub type Leased<C = DefaultClock> = generator::Leased<HotGuidFamily, C>;
