//! The options shared by all builders.

use core::time::Duration;

use super::{OnExhausted, WaitPolicy, Window};
use crate::{
    Result,
    clock::{Clock, OnStall, Stall},
    format::{Ticks, UnixTime},
};

/// Configures a generator: the options for its ID format, its clock, and its behavior when it has to wait.
///
/// The module of each ID format has its own builder, such as [`sno::Builder`](crate::sno::Builder).
///
/// ```
/// use std::time::Duration;
///
/// use polyflake::sno::Generator;
///
/// let ids = Generator::builder().partition(42).max_wait(Duration::from_millis(50)).build()?;
/// assert_eq!(ids.generate(7)?.partition(), 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
pub struct Builder<F, C> {
    /// The options that are specific to the format.
    pub(crate) family: F,
    pub(crate) options: Options<C>,
}

/// Marks ID formats whose generators do not require a window.
pub trait Windowed {}

impl<F, C: Clock> Builder<F, C> {
    /// Sets the maximum time that a call waits for a tick, as measured by [`Clock::monotonic`]. The default depends on the
    /// clock; it is 1 s for the system clock. A batch may wait this long for each tick that it needs. If the clock stops, a
    /// call fails after this time.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use polyflake::{clock::ManualClock, hotguid::Generator};
    ///
    /// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// let ids = Generator::builder().clock(&clock).max_wait(Duration::from_millis(1)).build()?;
    /// // When all IDs of the tick are used:
    /// # polyflake::hotguid::Handle::with_first(&ids, std::num::NonZeroU32::MAX).generate(7)?;
    /// assert_eq!(ids.generate(7).unwrap_err().code(), "sequence_exhausted");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.options.max_wait = Some(max_wait);
        self
    }

    /// Sets what the generator does when the current tick has no IDs left or the clock is behind. By default, it waits.
    /// Layout generators always fail immediately if the clock is behind.
    ///
    /// ```
    /// use polyflake::{OnExhausted, clock::ManualClock, hotguid::Generator};
    ///
    /// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// let ids = Generator::builder().clock(&clock).on_exhausted(OnExhausted::Error).build()?;
    /// // When all IDs of the tick are used:
    /// # polyflake::hotguid::Handle::with_first(&ids, std::num::NonZeroU32::MAX).generate(7)?;
    /// let error = ids.generate(7).unwrap_err();
    /// assert_eq!(error.code(), "sequence_exhausted");
    /// assert_eq!(error.retry_at(), Some(1_763_650_001_000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn on_exhausted(mut self, on_exhausted: OnExhausted) -> Self {
        self.options.on_exhausted = on_exhausted;
        self
    }

    /// Declares that no earlier generator with the same worker ID has generated IDs in the ticks that this generator may
    /// use. This is the case under a lease, because each grant starts after the previous one. The generator can therefore
    /// use the tick of its first call. This method is not part of the public API. It exists for leases and bindings.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn granted(mut self) -> Self {
        self.options.is_granted = true;
        self
    }

    /// Allows other generators of this process to have the same worker ID. Leases use this, because they assign each worker
    /// ID themselves, and a grant's generator may still exist when the next one is built. This method is not part of the
    /// public API. It exists for leases and bindings.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn unregistered(mut self) -> Self {
        self.options.is_unregistered = true;
        self
    }

    /// Sets a callback for calls that have to wait. It runs on the waiting thread before each sleep.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// use polyflake::{clock::ManualClock, hotguid::Generator};
    ///
    /// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// let stalls = Cell::new(0);
    /// let ids = Generator::builder()
    ///     .clock(&clock)
    ///     .on_stall(|stall| {
    ///         stalls.set(stalls.get() + 1);
    ///         clock.set_unix_ms(stall.unix_ms + 1000); // time passes
    ///     })
    ///     .build()?;
    /// // When all IDs of the tick are used:
    /// # polyflake::hotguid::Handle::with_first(&ids, std::num::NonZeroU32::MAX).generate(7)?;
    /// ids.generate(7)?;
    /// assert_eq!(stalls.get(), 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn on_stall<S: Fn(&Stall)>(self, callback: S) -> Builder<F, OnStall<C, S>> {
        self.map_clock(|clock| OnStall::new(clock, callback))
    }

    /// Sets the clock that the generator reads.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Generator};
    ///
    /// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
    /// let ids = Generator::builder().partition(42).clock(&clock).build()?;
    /// let first = ids.generate(7)?;
    /// clock.set_unix_ms(1_763_650_001_000);
    /// assert_eq!(ids.generate(7)?.unix_ms() - first.unix_ms(), 1000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> Builder<F, D> {
        self.map_clock(|_| clock)
    }

    fn map_clock<D>(self, map: impl FnOnce(C) -> D) -> Builder<F, D> {
        // The options are destructured, because Rust's struct update syntax cannot change the type of the clock.
        let Options { clock, window, on_exhausted, max_wait, is_granted, is_unregistered } =
            self.options;
        let clock = map(clock);
        let options =
            Options { clock, window, on_exhausted, max_wait, is_granted, is_unregistered };
        Builder { family: self.family, options }
    }
}

impl<F: Windowed, C: Clock> Builder<F, C> {
    /// Sets the half-open window `start .. end`. The generator creates an ID only if the ID's tick starts within the
    /// window. `start` and `end` are Unix milliseconds or `SystemTime`s. For Randflake, the grant defines the window.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Generator};
    ///
    /// let clock = ManualClock::at_unix_ms(1_763_653_600_000);
    /// let builder = Generator::builder().partition(42).clock(&clock);
    /// let ids = builder.window(1_763_650_000_000, 1_763_653_600_000).build()?;
    /// assert_eq!(ids.generate(7).unwrap_err().code(), "lease_expired");
    /// clock.set_unix_ms(1_763_653_599_999);
    /// ids.generate(7)?;
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn window(mut self, start: impl Into<UnixTime>, end: impl Into<UnixTime>) -> Self {
        self.options.window = Some((start.into(), end.into()));
        self
    }
}

/// The clock, the window and the wait options.
#[derive(Clone, Debug)]
pub(crate) struct Options<C> {
    pub(crate) clock: C,
    /// The generator's window, as a half-open time span.
    pub(crate) window: Option<(UnixTime, UnixTime)>,
    pub(crate) on_exhausted: OnExhausted,
    pub(crate) max_wait: Option<Duration>,
    /// `true` if no earlier generator has generated IDs in the ticks of this generator.
    pub(crate) is_granted: bool,
    /// `true` if other generators of this process may have the same worker ID.
    pub(crate) is_unregistered: bool,
}

impl<C> Options<C> {
    pub(crate) const fn new(clock: C) -> Self {
        let on_exhausted = OnExhausted::Wait;
        let (is_granted, is_unregistered) = (false, false);
        Self { clock, window: None, on_exhausted, max_wait: None, is_granted, is_unregistered }
    }

    /// Returns the window in ticks. If no window was configured, the result contains all ticks.
    pub(crate) fn window(&self, ticks: &impl Ticks) -> Result<Window> {
        Ok(match self.window {
            None => Window::through(ticks.last_tick()),
            Some((start, end)) => Window::new(ticks.ticks_in_range(start, end)?),
        })
    }

    /// Returns the wait policy of a generator with ticks of this length.
    pub(crate) fn policy(&self, tick_nanos: u64) -> WaitPolicy {
        WaitPolicy::new(self.on_exhausted, self.max_wait, tick_nanos)
    }
}
