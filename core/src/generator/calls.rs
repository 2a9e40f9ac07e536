//! The calls of generators in all families whose IDs have one type. They only differ in the values that the caller
//! gives for each ID.

/// The calls of a generator whose slots come from `$source`, beside `generate`. `$setup` begins their examples: it makes
/// `ids`.
macro_rules! calls {
    ($source:ident: $id:ty $(, $given:ident: $type:ty = $value:literal)?; $setup:literal) => {
        /// Fills a slice with new IDs.
        ///
        /// ```
        #[doc = $setup]
        #[doc = concat!("let mut batch = [", stringify!($id), "::default(); 100];")]
        #[doc = concat!("ids.fill(", $(stringify!($value), ", ",)? "&mut batch)?;")]
        /// assert_ne!(batch[0], batch[99]);
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        ///
        /// # Errors
        /// As `generate`; [`Error::written`](crate::Error::written) is the number of valid IDs at the front of the slice.
        pub fn fill(&self $(, $given: $type)?, ids: &mut [$id]) -> Result<()> {
            self.$source.fill(Mode::Wait, ($($given)?), ids)
        }

        /// One new ID without waiting, if there is one now.
        ///
        /// ```
        #[doc = $setup]
        #[doc = concat!("match ids.try_generate(", $(stringify!($value),)? ") {")]
        ///     Ok(id) => assert_ne!(id, Default::default()),
        ///     Err(error) => println!("try again at {:?}", error.retry_at()), // in Unix milliseconds
        /// }
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        ///
        /// # Errors
        /// `sequence_exhausted` or `clock_behind`, with the time to retry, instead of a wait; all else as `generate`.
        #[inline]
        pub fn try_generate(&self $(, $given: $type)?) -> Result<$id> {
            self.$source.one(Mode::Try, ($($given)?))
        }

        /// Fills the front of a slice with as many new IDs as are available now, and returns their number. It never waits.
        ///
        /// ```
        #[doc = $setup]
        #[doc = concat!("let mut batch = [", stringify!($id), "::default(); 100];")]
        #[doc = concat!("let made = ids.try_fill(", $(stringify!($value), ", ",)? "&mut batch)?;")]
        /// assert!(batch[made..].iter().all(|unchanged| *unchanged == Default::default()));
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        ///
        /// # Errors
        /// As `fill`, except `sequence_exhausted` and `clock_behind`, which only end the batch.
        pub fn try_fill(&self $(, $given: $type)?, ids: &mut [$id]) -> Result<usize> {
            self.$source.try_fill(($($given)?), ids)
        }

        /// One new ID. It waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread.
        ///
        /// ```
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> polyflake::Result<()> {
        #[doc = $setup]
        #[doc = concat!("let id = ids.generate_async(tokio::time::sleep", $(", ", stringify!($value),)? ").await?;")]
        /// assert_ne!(id, Default::default());
        /// # Ok(())
        /// # }
        /// ```
        ///
        /// # Errors
        /// As `generate`.
        pub async fn generate_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?
        ) -> Result<$id> {
            self.$source.one_async(&sleep, ($($given)?)).await
        }

        /// Fills a slice with new IDs. It waits in `sleep` and does not block the thread. `written` counts the valid IDs at the
        /// front of the slice: all in the end, and as many as there were if the call is dropped before.
        ///
        /// ```
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> polyflake::Result<()> {
        #[doc = $setup]
        #[doc = concat!("let mut batch = [", stringify!($id), "::default(); 100];")]
        /// let mut written = 0;
        #[doc = concat!("let filled = ids.fill_async(tokio::time::sleep, ", $(stringify!($value), ", ",)? "&mut batch, &mut written);")]
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
        /// As `fill`.
        pub fn fill_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?,
            ids: &mut [$id],
            written: &mut usize,
        ) -> impl Future<Output = Result<()>> {
            *written = 0; // a call may be dropped before its first poll
            async move { self.$source.fill_async(&sleep, ($($given)?), ids, written).await }
        }
    };
}

/// The calls of a generator that make a handle. `$setup` begins their examples: it makes `ids`.
macro_rules! handles {
    ($setup:literal $(, $value:literal)?) => {
        /// A handle for one thread; its first block of a tick has 64 IDs.
        ///
        /// ```
        #[doc = $setup]
        /// let mut handle = ids.handle();
        #[doc = concat!("assert_ne!(handle.generate(", $(stringify!($value),)? ")?, handle.generate(", $(stringify!($value),)? ")?);")]
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub const fn handle(&self) -> Handle<&Self> {
            self.handle_with(BLOCK)
        }

        /// A handle that reserves `first` IDs at its first ID of a tick, then twice as many each time, up to 64 times
        /// `first`.
        ///
        /// Not part of the public API: for tests.
        #[doc(hidden)]
        pub const fn handle_with(&self, first: NonZeroU32) -> Handle<&Self> {
            Handle::with_first(self, first)
        }
    };
}

/// The constructors of a handle, with blocks in its field `blocks`; `$rest` is another field. `$setup` begins the example: it
/// makes `ids`.
macro_rules! holds {
    ($setup:literal; $($rest:ident: $value:expr)?) => {
        /// A handle that owns its generator, for example in an `Arc`. As [`Generator::handle`].
        ///
        /// ```
        /// use std::{sync::Arc, thread};
        ///
        #[doc = $setup]
        /// let ids = Arc::new(ids);
        /// let mut handle = Handle::new(ids.clone());
        /// thread::spawn(move || drop(handle)).join().unwrap(); // it borrows nothing
        /// assert_eq!(Arc::strong_count(&ids), 1);
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub const fn new(generator: G) -> Self {
            Self::with_first(generator, BLOCK)
        }

        const fn with_first(generator: G, first: NonZeroU32) -> Self {
            Self { generator, blocks: Blocks::new(first) $(, $rest: $value)? }
        }
    };
}

/// The calls of a generator that moves from grant to grant, in the field `moving`.
macro_rules! leases {
    ($generator:ty) => {
        /// A generator under its first grant, which has the number 0. Its window is the grant.
        ///
        /// # Errors
        /// `unknown_field` for a generator of a layout without a timestamp.
        pub fn new(first: $generator) -> Result<Self> {
            Moving::new(first).map(|moving| Self { moving })
        }

        /// Goes on under another grant, and returns its number, one more than the last. It seals the current generator and gives
        /// `build` the span of the highest tick that this generator may have used, in Unix milliseconds. `build` makes a generator
        /// whose window begins no earlier. Calls meanwhile wait as between two grants.
        ///
        /// In a child process the parent's generator is left alone, and `build` gets no tick.
        ///
        /// # Errors
        /// Any error of `build`; `lease_mismatch` for a window that begins earlier, or if another thread moved meanwhile.
        pub fn move_to(
            &self,
            build: impl FnOnce(Option<Range<i64>>) -> Result<$generator>,
        ) -> Result<u32> {
            self.moving.move_to(build)
        }

        /// Moves the end of a grant later; an earlier or equal end changes nothing.
        ///
        /// # Errors
        /// `lease_mismatch` for a grant that is not the newest; `out_of_range`, `time_out_of_range` as for windows.
        pub fn extend(&self, number: u32, end: impl Into<UnixTime>) -> Result<()> {
            self.moving.extend(number, end.into())
        }

        /// Ends a grant for good, also for calls in flight, and returns the span of the highest tick that it may have used, in Unix
        /// milliseconds; none if it used no tick. Later calls wait as between two grants.
        ///
        /// # Errors
        /// `lease_mismatch` for a grant that is not the newest; `generator_closed` if it was sealed before; `forked` in a child
        /// process.
        pub fn seal(&self, number: u32) -> Result<Option<Range<i64>>> {
            self.moving.of(number)?.seal()
        }

        /// The newest grant's number, and its span in Unix milliseconds.
        pub fn grant(&self) -> (u32, Range<i64>) {
            self.moving.grant()
        }
    };
}

/// The call of a generator that returns its clock. `$setup` begins the example: it makes a `builder`.
macro_rules! clock {
    ($setup:literal) => {
        /// The source of time that the generator was built with.
        ///
        /// ```
        /// use polyflake::clock::{Clock, ManualClock};
        #[doc = $setup]
        /// let ids = builder.clock(ManualClock::at_unix_ms(1_763_650_000_000)).build()?;
        /// ids.clock().set_unix_ms(1_763_650_000_004);
        /// assert_eq!(ids.clock().unix_nanos()?, 1_763_650_000_004_000_000);
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub const fn clock(&self) -> &C {
            self.engine.clock()
        }
    };
}

/// The option of a window, set in a builder's field `options`. `$setup` begins the example: it makes a `builder`.
macro_rules! window_option {
    ($setup:literal $(, $value:literal)?) => {
        /// The half-open time span in which IDs may be made: IDs whose tick begins in it. Each end is Unix milliseconds or a
        /// `SystemTime`.
        ///
        /// ```
        /// use polyflake::clock::ManualClock;
        #[doc = $setup]
        /// let clock = ManualClock::at_unix_ms(1_763_653_600_000);
        /// let ids = builder.window(1_763_650_000_000, 1_763_653_600_000).clock(&clock).build()?;
        #[doc = concat!("assert_eq!(ids.generate(", $(stringify!($value),)? ").unwrap_err().code(), \"lease_expired\");")]
        /// clock.set_unix_ms(1_763_653_599_999);
        #[doc = concat!("ids.generate(", $(stringify!($value),)? ")?;")]
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub fn window(mut self, start: impl Into<UnixTime>, end: impl Into<UnixTime>) -> Self {
            self.options.window = Some((start.into(), end.into()));
            self
        }
    };
}

/// The options that all builders share, set in their field `options`. `$setup` begins the examples: it makes a `builder`; `$next`
/// is the start of the tick after 1763650000000, in Unix milliseconds.
macro_rules! options {
    ($setup:literal, $next:literal $(, $value:literal)?) => {
        /// The longest wait for a tick, measured by the clock's monotonic time ([`Clock::elapsed_nanos`]). The default is the
        /// clock's (1 s for the system's). A batch may wait this long for each of its ticks. Under a clock that stands still a call
        /// waits this long and is then refused.
        ///
        /// ```
        /// use std::time::Duration;
        ///
        /// use polyflake::clock::ManualClock;
        #[doc = $setup]
        /// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
        /// let ids = builder.clock(&clock).max_wait(Duration::from_millis(1)).build()?;
        /// // Once all IDs of the tick are used:
        #[doc = concat!("# ids.handle_with(std::num::NonZeroU32::MAX).generate(", $(stringify!($value),)? ")?;")]
        #[doc = concat!("let error = ids.generate(", $(stringify!($value),)? ").unwrap_err();")]
        /// assert_eq!(error.code(), "sequence_exhausted");
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub fn max_wait(mut self, max_wait: Duration) -> Self {
            self.options.max_wait = Some(max_wait);
            self
        }

        /// The reaction to a tick whose IDs are used up, or a clock that is behind: by default a wait. Layouts refuse at once if
        /// the clock is behind.
        ///
        /// ```
        /// use polyflake::{OnExhausted, clock::ManualClock};
        #[doc = $setup]
        /// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
        /// let ids = builder.clock(&clock).on_exhausted(OnExhausted::Error).build()?;
        /// // Once all IDs of the tick are used:
        #[doc = concat!("# ids.handle_with(std::num::NonZeroU32::MAX).generate(", $(stringify!($value),)? ")?;")]
        #[doc = concat!("let error = ids.generate(", $(stringify!($value),)? ").unwrap_err();")]
        /// assert_eq!(error.code(), "sequence_exhausted");
        #[doc = concat!("assert_eq!(error.retry_at(), Some(", stringify!($next), "));")]
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub fn on_exhausted(mut self, on_exhausted: OnExhausted) -> Self {
            self.options.on_exhausted = on_exhausted;
            self
        }

        /// Calls `callback` when a call has to wait, before each of its sleeps, on the stalled thread.
        ///
        /// ```
        /// use std::cell::Cell;
        ///
        /// use polyflake::clock::ManualClock;
        #[doc = $setup]
        /// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
        /// let stalls = Cell::new(0);
        /// let ids = builder
        ///     .clock(&clock)
        ///     .on_stall(|stall| {
        ///         stalls.set(stalls.get() + 1);
        ///         clock.set_unix_ms(stall.unix_ms + 1000); // time goes on
        ///     })
        ///     .build()?;
        /// // Once all IDs of the tick are used:
        #[doc = concat!("# ids.handle_with(std::num::NonZeroU32::MAX).generate(", $(stringify!($value),)? ")?;")]
        #[doc = concat!("ids.generate(", $(stringify!($value),)? ")?;")]
        /// assert_eq!(stalls.get(), 1);
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub fn on_stall<F: Fn(&Stall)>(self, callback: F) -> Builder<OnStall<C, F>> {
            self.map(|options| options.on_stall(callback))
        }

        /// The source of time, for the generator's whole life.
        ///
        /// ```
        /// use polyflake::clock::ManualClock;
        #[doc = $setup]
        /// let ids = builder.clock(ManualClock::at_unix_ms(1_763_650_000_000)).build()?;
        #[doc = concat!("let first = ids.generate(", $(stringify!($value),)? ")?;")]
        /// ids.clock().set_unix_ms(1_763_650_001_000);
        #[doc = concat!("assert_ne!(ids.generate(", $(stringify!($value),)? ")?, first);")]
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        pub fn clock<D: Clock>(self, clock: D) -> Builder<D> {
            self.map(|options| options.clock(clock))
        }
    };
}

pub(crate) use {calls, clock, handles, holds, leases, options, window_option};
