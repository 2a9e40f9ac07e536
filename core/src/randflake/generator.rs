//! The Randflake generator.

use core::time::Duration;

#[cfg(feature = "std")]
use super::{Builder, Codec};
use super::{
    Grant, GrantInfo, Parts, Randflake, SCALE, builder::continued_state, family::RandflakeFamily,
};
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    generator::{self, Family, Mode, SlotSource},
    sequence::{Machine, per_tick::State},
};

/// Generates Randflake IDs under one grant. Threads can share a generator.
///
/// [`polyflake::Generator`](crate::Generator) documents the methods that all ID formats share: `handle` and `clock`.
///
/// The generator never returns to an earlier second. If a clock reading is ever in the future, later calls fail with
/// `clock_behind` until the clock catches up. The end of the grant limits how far ahead such a reading can be.
///
/// A generator cannot be cloned, because a grant can be used only once, by one generator:
///
/// ```compile_fail
/// use polyflake::randflake::{Generator, Grant};
///
/// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
/// let clone = Generator::builder(grant, [0; 16]).build()?.clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Generator<C = DefaultClock> = generator::Generator<RandflakeFamily, C>;

/// A generator's statistics at one point in time.
///
/// ```
/// use polyflake::randflake::{Generator, Grant, Randflake};
///
/// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
/// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
/// assert_eq!((ids.stats().last_second, ids.stats().len), (None, 0));
/// ids.fill(&mut [Randflake::default(); 10])?;
/// assert!(ids.stats().last_second.is_some());
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// The last second used, as a Unix timestamp, or `None` before the first ID.
    pub last_second: Option<i64>,
    /// The number of sequence slots already used in `last_second`.
    pub len: u64,
    /// Whether the generator is closed.
    pub closed: bool,
}

#[cfg(feature = "std")]
impl Generator {
    /// Returns a builder that configures a generator for the given grant. The secret is either 16 bytes or a [`Codec`].
    ///
    /// ```
    /// use polyflake::randflake::{Codec, Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?; // node ID, start and end in Unix seconds
    /// let ids = Generator::builder(grant, Codec::from_slice(b"sixteen byte key")?).build()?;
    /// assert_eq!(ids.grant().nodes(), 42..=42);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn builder(grant: Grant, secret: impl Into<Codec>) -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(grant, secret, crate::clock::SystemClock)
    }
}

impl<C> Generator<C> {
    /// Decrypts an ID into its fields. Every integer decrypts to plausible fields, so plausible fields do not prove that
    /// the ID is genuine.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// assert_eq!(ids.inspect(ids.generate()?).node, 42);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[inline]
    pub fn inspect(&self, id: Randflake) -> Parts {
        self.engine.family.codec.inspect(id)
    }

    /// Returns the current terms of the grant, including any extensions.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::with_nodes(40..=49, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// assert_eq!(ids.grant().nodes(), 40..=49);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn grant(&self) -> GrantInfo {
        self.engine.family.grant.with_end(self.engine.window.ticks().end)
    }

    /// Extends the grant. The call has no effect if the new grant does not end later.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 1_767_225_600)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// ids.extend_grant(Grant::new(42, 1_730_000_000, 1_767_312_000)?)?;
    /// assert_eq!(ids.grant().end(), 1_767_312_000);
    /// let other = ids.extend_grant(Grant::new(43, 1_730_000_000, 1_767_312_000)?);
    /// assert_eq!(other.unwrap_err().code(), "lease_mismatch");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `lease_mismatch` unless both grants have the same node IDs and the same start. Returns `worker_id_in_use` if
    /// another generator of this process uses a node ID in the added time.
    pub fn extend_grant(&self, longer: Grant) -> Result<()> {
        let longer = self.engine.family.grant.with_later_end(longer.into_info())?;
        self.engine.extend_to_tick(longer.ticks().end)
    }

    /// Returns the generator's current statistics.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// ids.generate()?;
    /// assert_eq!((ids.stats().len, ids.stats().closed), (1, false));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let state = self.engine.machine.state();
        let len = u64::try_from(state.next).unwrap_or(u64::MAX);
        Stats { last_second: last_second(state), len, closed: state.closed }
    }
}

impl<C: Clock> Generator<C> {
    /// Closes the generator, ends calls in progress on other threads, and returns the last second used, as a Unix
    /// timestamp. The next generator for this grant must resume after that second. If calls were made but no ID was
    /// generated, the result is the last second that the generator skipped because an earlier generator may have used it.
    /// If no calls were made, the result is `None`.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// let id = ids.generate()?;
    /// assert_eq!(ids.close()?, Some(ids.inspect(id).timestamp)); // for `Builder::resume_after`
    /// assert_eq!(ids.generate().unwrap_err().code(), "generator_closed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `generator_closed` if the generator is already closed, or `forked` in a child process, because the generator
    /// continues in the parent.
    pub fn close(&self) -> Result<Option<i64>> {
        self.engine.family.check_process()?;
        let used = last_second(self.engine.machine.close()?);
        let begun = self.engine.last_tick_before_first_id();
        let last = used.max(begun.map(|tick| SCALE.tick_start_ms(tick) / 1000));
        self.engine.end_registration(last.map(continued_state));
        Ok(last)
    }

    /// Generates a new ID.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let past = Grant::new(42, 1_730_000_000, 1_730_000_060)?; // one minute in 2024
    /// let ids = Generator::builder(past, *b"sixteen byte key").build()?;
    /// assert_eq!(ids.generate().unwrap_err().code(), "lease_expired");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the time range of the grant has not begun, returns `lease_not_started`, which reports when to retry. If the time
    /// range has ended, returns `lease_expired`. Otherwise, returns `clock_behind` if the clock is behind the last second
    /// used, or `sequence_exhausted` if that second has no IDs left. These two errors report when to retry, and are
    /// returned after a wait of up to `max_wait` unless the generator is configured to fail immediately. Also returns
    /// `generator_closed` if the generator is closed, `forked` in a child process, or any error that the clock returns. A
    /// failed call has no effect.
    #[inline]
    pub fn generate(&self) -> Result<Randflake> {
        SlotSource::generate_in(self, Mode::Wait, ())
    }

    /// Fills a slice with new IDs.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant, Randflake};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// let mut batch = [Randflake::default(); 100];
    /// ids.fill(&mut batch)?;
    /// assert_ne!(batch[0], batch[99]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `generate`. [`Error::written`](crate::Error::written) is the number of valid IDs at the
    /// front of the slice.
    pub fn fill(&self, ids: &mut [Randflake]) -> Result<()> {
        SlotSource::fill(self, Mode::Wait, (), ids)
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant, Randflake};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// match ids.try_generate() {
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
    pub fn try_generate(&self) -> Result<Randflake> {
        SlotSource::generate_in(self, Mode::Try, ())
    }

    /// Writes as many new IDs to the front of a slice as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant, Randflake};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// let mut batch = [Randflake::default(); 100];
    /// let made = ids.try_fill(&mut batch)?;
    /// assert!(batch[made..].iter().all(|unchanged| *unchanged == Default::default()));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `fill`, except `sequence_exhausted` and `clock_behind`. Instead of these two errors, the
    /// method returns the number of IDs written so far.
    pub fn try_fill(&self, ids: &mut [Randflake]) -> Result<usize> {
        SlotSource::try_fill(self, (), ids)
    }

    /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
    /// blocking the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::randflake::{Generator, Grant, Randflake};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// let id = ids.generate_async(tokio::time::sleep).await?;
    /// assert_ne!(id, Default::default());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as `generate`.
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Randflake> {
        SlotSource::generate_in_async(self, &sleep, ()).await
    }

    /// Fills a slice with new IDs. If the call has to wait, it awaits `sleep` instead of blocking the thread. `written`
    /// counts the valid IDs at the front of the slice, so it remains correct if the future is dropped early.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::randflake::{Generator, Grant, Randflake};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// let mut batch = [Randflake::default(); 100];
    /// let mut written = 0;
    /// let filled = ids.fill_async(tokio::time::sleep, &mut batch, &mut written);
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
        ids: &mut [Randflake],
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        SlotSource::fill_async(self, sleep, Ok(()), ids, written)
    }
}

/// Returns the Unix second of the last generated ID, or `None` if no ID was generated.
fn last_second(state: State) -> Option<i64> {
    (state.next > 0).then(|| SCALE.tick_start_ms(state.tick) / 1000)
}

/// A generator that creates IDs under successive grants, each of which is a time-limited right to one or more node IDs.
///
/// This type is not part of the public API. It exists for leases.
#[doc(hidden)]
pub type Leased<C = DefaultClock> = generator::Leased<RandflakeFamily, C>;
