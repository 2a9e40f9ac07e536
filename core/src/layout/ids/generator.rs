//! The generator for custom layouts.

use core::time::Duration;

#[cfg(feature = "std")]
use crate::layout::Builder;
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    format::Ticks,
    generator::{self, Family, Mode, SlotSource},
    layout::{Id, Layout, Snapshot, Stats, Values, ids::family::Template},
    sequence::{Machine, per_tick::State},
};

/// Generates IDs with a custom layout. Threads can share a generator.
///
/// [`polyflake::Generator`](crate::Generator) documents the methods that all ID formats share: `handle`, `clock` and
/// `extend_window`.
///
/// No other generator may use the same layout and the same values for the bindable fields, because the two generators would
/// generate duplicate IDs. For this reason, a generator cannot be cloned:
///
/// ```compile_fail
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
/// let clone = ids.clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// The generator never returns to an earlier tick. If a clock reading is ever in the future, later calls fail with
/// `clock_behind` until the clock catches up. In the worst case, this takes until 2262, the last year that a clock reading
/// can represent. If the generator has a window, a reading outside the window is rejected and has no effect.
///
/// Bindable fields are either fixed when the generator is built or set for each ID. One bindable field can have a range of
/// worker IDs, which makes the generator faster ([`Builder::range`](crate::layout::Builder::range)). IDs with different
/// values for the other bindable fields share one sequence:
///
/// ```
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("instagram", [])?).build()?;
/// let id = ids.generate_with(ids.values().bind("shard", 7)?)?;
/// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Generator<C = DefaultClock> = generator::Generator<Template, C>;

/// A buffer for many IDs, either as integers or as concatenated bytes.
///
/// ```
/// use polyflake::layout::{Field, Generator, Layout, preset};
///
/// let posts = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
/// let mut integers = [0_i64; 100];
/// posts.fill(&mut integers[..])?;
///
/// let layout = Layout::bytes(2, [Field::sequence(16)])?;
/// let numbers = Generator::builder(layout).sequence_only(true).build()?;
/// let mut packed = [0_u8; 6];
/// numbers.fill(&mut packed[..])?;
/// assert_eq!(packed, [0, 0, 0, 1, 0, 2]);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Batch<'b> {
    /// IDs with an integer layout.
    Integers(&'b mut [i64]),
    /// Concatenated IDs with a byte layout. The length must be a multiple of the length of an ID.
    Bytes(&'b mut [u8]),
}

impl<'b> From<&'b mut [i64]> for Batch<'b> {
    fn from(ids: &'b mut [i64]) -> Self {
        Self::Integers(ids)
    }
}

impl<'b> From<&'b mut [u8]> for Batch<'b> {
    fn from(ids: &'b mut [u8]) -> Self {
        Self::Bytes(ids)
    }
}

#[cfg(feature = "std")]
impl Generator {
    /// Returns a builder that configures a generator for the given layout.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// assert!(ids.generate()?.as_integer().is_some());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn builder(layout: Layout) -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(layout, crate::clock::SystemClock)
    }
}

impl<C> Generator<C> {
    /// Returns the layout of the generator's IDs.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// assert_eq!(ids.layout().bindable_names().collect::<Vec<_>>(), ["shard"]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn layout(&self) -> &Layout {
        &self.engine.family.layout
    }

    /// Returns a buffer for the field values of one ID. The fixed bindable fields are already set.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("discord", [])?).bind("worker", 3).build()?;
    /// let id = ids.generate_with(ids.values().bind("process", 9)?)?; // the worker is already set
    /// assert_eq!(ids.layout().parse(&id)?.bindable("worker")?, 3.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn values(&self) -> Values<'_> {
        self.engine.family.values()
    }

    /// Returns the window, a half-open range in Unix milliseconds, or `None` if the layout has no timestamp.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let builder = Generator::builder(preset("sonyflake", [])?).bind("machine", 7);
    /// let ids = builder.window(1_767_225_600_000, 1_767_312_000_000).build()?;
    /// assert_eq!(ids.window(), Some((1_767_225_600_000, 1_767_312_000_000)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn window(&self) -> Option<(i64, i64)> {
        self.engine.family.ticks().map(|ticks| self.engine.window_ms(ticks))
    }

    /// Returns the generator's current statistics.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
    /// let id = ids.generate()?;
    /// assert_eq!(ids.stats().last_ms, ids.layout().parse(&id)?.unix_ms());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let state = self.engine.machine.state();
        let first = self.layout().slot_range().map_or(0, |(first, _)| first.into()); // `first` is 0 for a range of worker IDs
        let is_used = state.tick > 0 || state.next > first;
        let ticks = self.engine.family.ticks().filter(|_| is_used);
        Stats {
            last_ms: ticks.map(|ticks| ticks.tick_start_ms(state.tick)),
            len: state.next - first,
            closed: state.closed,
        }
    }
}

#[cfg(feature = "internals")]
impl<C> Generator<C> {
    /// Returns an ID with the given values but without the time and the sequence number.
    ///
    /// This method is not part of the public API. It exists for bindings.
    ///
    /// # Errors
    /// Returns `invalid_layout` for values of a different layout, or `missing_field` if a bindable field has no value.
    #[doc(hidden)]
    pub fn base_of(&self, values: &Values<'_>) -> Result<Id> {
        self.engine.family.base_of(values).cloned()
    }

    /// Rejects calls without values if a bindable field is not fixed.
    ///
    /// This method is not part of the public API. It exists for bindings.
    ///
    /// # Errors
    /// Returns `missing_field`.
    #[doc(hidden)]
    pub fn check_complete(&self) -> Result<()> {
        self.engine.family.base_id().map(drop)
    }
}

impl<C: Clock> Generator<C> {
    /// Closes the generator, ends calls in progress on other threads, and returns the generator's snapshot. Only the first
    /// call returns the snapshot.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
    /// ids.generate()?;
    /// assert_eq!(ids.close()?.next_sequence, 1);
    /// assert_eq!(ids.generate().unwrap_err().code(), "generator_closed");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `generator_closed` if the generator is already closed, or `forked` in a child process, because the generator
    /// continues in the parent.
    pub fn close(&self) -> Result<Snapshot> {
        self.engine.family.check_process()?;
        let State { mut tick, mut next, .. } = self.engine.machine.close()?;
        if let (Some(begun), Some((_, last))) =
            (self.engine.last_tick_before_first_id(), self.layout().slot_range())
        {
            // The generator was called but generated no ID. Its floor contains the ticks that an earlier generator may have
            // used. A generator that is restored from the snapshot has no floor, so the snapshot treats the last tick of
            // the floor as exhausted.
            (tick, next) = (tick.max(begun), u128::from(last) + 1);
        }
        let numbers = self.engine.family.numbers;
        let next_sequence = numbers.map_or(next, |numbers| numbers.next_sequence(next));
        let snapshot = Snapshot { tick, next_sequence };
        self.engine.end_registration(Some(snapshot.state_number()));
        Ok(snapshot)
    }

    /// Generates a new ID. All bindable fields must be fixed.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let error = ids.generate().unwrap_err(); // the bindable has no value
    /// assert_eq!(error.to_string(), "missing value for field `shard`");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `clock_behind`, without waiting, if the clock is behind the last tick, or `sequence_exhausted` if no ID
    /// became available within `max_wait`. Both errors report when to retry. Also returns `missing_field` for a bindable
    /// field that is not fixed; `lease_not_started` or `lease_expired` outside the window; `time_out_of_range` outside the
    /// layout's time range; `generator_closed` if the generator is closed; `forked` in a child process; or any error that
    /// the clock returns. A failed call has no effect.
    #[inline]
    pub fn generate(&self) -> Result<Id> {
        self.generate_in(Mode::Wait)
    }

    /// Generates a new ID with the given values for the bindable fields. A time or a sequence number in `values` is
    /// ignored. If the generator has a range of worker IDs, a value for that range's field is ignored as well.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let id = ids.generate_with(ids.values().bind("shard", 7)?)?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error that [`Values::pack`] returns for the bindable and constant fields or, if they are valid, any
    /// error that [`Generator::generate`] returns. Also returns `invalid_layout` if the values belong to a different
    /// layout.
    #[inline]
    pub fn generate_with(&self, values: &Values<'_>) -> Result<Id> {
        self.generate_with_mode(Mode::Wait, values)
    }

    /// Fills a slice with new IDs. The slice is `&mut [i64]` for an integer layout, or packed bytes for a byte layout. All
    /// bindable fields must be fixed.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// let mut batch = [0_i64; 100];
    /// ids.fill(&mut batch[..])?;
    /// assert!(batch.is_sorted());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`]. [`Error::written`](crate::Error::written) is the number of valid
    /// IDs at the front of the slice. Also returns `invalid_type` if the slice has the wrong type, or `invalid_length` if
    /// the bytes are not a whole number of IDs.
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<()> {
        self.engine.family.base_id()?;
        SlotSource::fill(self, Mode::Wait, None, ids.into())
    }

    /// Fills a slice with new IDs that have the given values for the bindable fields.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let mut batch = [0_i64; 100];
    /// ids.fill_with(ids.values().bind("shard", 7)?, &mut batch[..])?;
    /// assert_eq!(ids.layout().parse_integer(batch[99])?.bindable("shard")?, 7.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill`] and [`Generator::generate_with`].
    pub fn fill_with<'b>(&self, values: &Values<'_>, ids: impl Into<Batch<'b>>) -> Result<()> {
        let base = self.engine.family.base_of(values)?;
        SlotSource::fill(self, Mode::Wait, Some(base), ids.into())
    }

    /// Generates a new ID if one is available without waiting. All bindable fields must be fixed.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("sonyflake", [])?, &clock).bind("machine", 7).build()?;
    /// ids.fill(&mut [0_i64; 256][..])?; // all IDs of a tick
    /// assert_eq!(ids.try_generate().unwrap_err().retry_at(), Some(1_767_225_600_010));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `sequence_exhausted` or `clock_behind` instead of waiting. Both errors report when to retry. All other
    /// errors are the same as for [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self) -> Result<Id> {
        self.generate_in(Mode::Try)
    }

    /// Generates a new ID with the given values for the bindable fields if one is available without waiting.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// ids.generate_with(ids.values().bind("shard", 7)?)?; // waits for the first tick
    /// let id = ids.try_generate_with(ids.values().bind("shard", 7)?)?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate_with`] and [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_with(&self, values: &Values<'_>) -> Result<Id> {
        self.generate_with_mode(Mode::Try, values)
    }

    /// Writes as many new IDs to the front of a slice as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("sonyflake", [])?, &clock).bind("machine", 7).build()?;
    /// assert_eq!(ids.try_fill(&mut [0_i64; 1000][..])?, 256); // the tick is exhausted
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill`], except `sequence_exhausted` and `clock_behind`. Instead of these two
    /// errors, the method returns the number of IDs written so far.
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<usize> {
        self.engine.family.base_id()?;
        SlotSource::try_fill(self, None, ids.into())
    }

    /// Works like [`Generator::try_fill`], but with the given values for the bindable fields.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("sonyflake", [])?, &clock).build()?;
    /// assert_eq!(ids.try_fill_with(ids.values().bind("machine", 7)?, &mut [0_i64; 1000][..])?, 256);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_fill`] and [`Generator::generate_with`].
    pub fn try_fill_with<'b>(
        &self,
        values: &Values<'_>,
        ids: impl Into<Batch<'b>>,
    ) -> Result<usize> {
        let base = self.engine.family.base_of(values)?;
        SlotSource::try_fill(self, Some(base), ids.into())
    }

    /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
    /// blocking the thread. All bindable fields must be fixed.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// let id = ids.generate_async(tokio::time::sleep).await?;
    /// assert!(id < ids.generate_async(tokio::time::sleep).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Id> {
        self.engine.family.base_id()?;
        SlotSource::generate_in_async(self, &sleep, None).await
    }

    /// Generates a new ID with the given values for the bindable fields. If the call has to wait, it awaits `sleep` instead
    /// of blocking the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let id = ids.generate_with_async(tokio::time::sleep, ids.values().bind("shard", 7)?).await?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate_with`].
    pub async fn generate_with_async(
        &self,
        sleep: impl AsyncFn(Duration),
        values: &Values<'_>,
    ) -> Result<Id> {
        let base = self.engine.family.base_of(values)?;
        SlotSource::generate_in_async(self, &sleep, Some(base)).await
    }

    /// Works like [`Generator::fill`], but awaits `sleep` instead of blocking the thread. `written` counts the valid IDs at
    /// the front of the slice, so it remains correct if the future is dropped early.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
    /// let mut batch = [0_i64; 500]; // more than one tick of 10 ms provides
    /// let mut written = 0;
    /// ids.fill_async(tokio::time::sleep, &mut batch[..], &mut written).await?;
    /// assert!(batch.is_sorted() && written == 500);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        SlotSource::fill_async(
            self,
            sleep,
            self.engine.family.base_id().map(Some),
            ids.into(),
            written,
        )
    }

    /// Works like [`Generator::fill_async`], but with the given values for the bindable fields.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let mut batch = [0_i64; 100];
    /// let mut values = ids.values();
    /// ids.fill_with_async(tokio::time::sleep, values.bind("shard", 7)?, &mut batch[..], &mut 0).await?;
    /// assert!(batch.is_sorted());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill_with`].
    pub fn fill_with_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        values: &Values<'_>,
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        let base = self.engine.family.base_of(values);
        SlotSource::fill_async(self, sleep, base.map(Some), ids.into(), written)
    }

    #[inline]
    fn generate_in(&self, mode: Mode) -> Result<Id> {
        self.engine.family.base_id()?;
        SlotSource::generate_in(self, mode, None)
    }

    #[inline]
    fn generate_with_mode(&self, mode: Mode, values: &Values<'_>) -> Result<Id> {
        SlotSource::generate_in(self, mode, Some(self.engine.family.base_of(values)?))
    }
}

/// A generator that creates IDs under successive grants, each of which is a time-limited right to one or more worker IDs.
///
/// This type is not part of the public API. It exists for leases.
#[doc(hidden)]
pub type Leased<C = DefaultClock> = generator::Leased<Template, C>;
