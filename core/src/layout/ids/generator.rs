//! The generator: IDs of a layout.

use core::time::Duration;

#[cfg(feature = "std")]
use crate::layout::Builder;
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    format::Ticks,
    generator::{self, Family, Mode, Source},
    layout::{Id, Layout, Snapshot, Stats, Values, ids::family::Template},
    sequence::{Machine, per_tick::State},
};

/// Makes IDs of a custom layout. Threads may share it.
///
/// The calls that all families have are those of [`polyflake::Generator`](crate::Generator): `handle`, `clock` and `extend_window`.
///
/// No other generator may have the same layout and bindables, since both would repeat each other's IDs. For that reason it
/// cannot be cloned:
///
/// ```compile_fail
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
/// let twin = ids.clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// It never goes back in time: after one wild reading it refuses with `clock_behind` until time gets there, at worst in 2262,
/// where readings end. With a window, a reading outside it is refused and changes nothing.
///
/// Bindables are fixed when it is built, or given for each ID; one may be a range of numbers, which makes the generator faster
/// ([`Builder::range`](crate::layout::Builder::range)). All values of those that are given share one sequence:
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

/// A buffer for many IDs: integers, or bytes packed one after the other.
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
    /// IDs of an integer layout.
    Integers(&'b mut [i64]),
    /// A whole number of IDs of a layout of byte IDs.
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
    /// Options for a generator over a layout.
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
    /// The layout of its IDs.
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

    /// The values of an ID, with the fixed bindables set.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("discord", [])?).bind("worker", 3).build()?;
    /// let id = ids.generate_with(ids.values().bind("process", 9)?)?; // the worker is set already
    /// assert_eq!(ids.layout().parse(&id)?.bindable("worker")?, 3.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn values(&self) -> Values<'_> {
        self.engine.family.values()
    }

    /// The half-open window, in Unix milliseconds; none in a layout without a timestamp.
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

    /// Figures of the generator at this moment.
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
        let first = self.layout().slots().map_or(0, |(first, _)| first.into()); // 0 beside a range of numbers
        let is_used = state.tick > 0 || state.next > first;
        let ticks = self.engine.family.ticks().filter(|_| is_used);
        Stats {
            last_ms: ticks.map(|ticks| ticks.ms_of(state.tick)),
            len: state.next - first,
            closed: state.closed,
        }
    }
}

impl<C: Clock> Generator<C> {
    /// Ends the generator, also for calls in flight on other threads, and returns the snapshot to restore from, once.
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
    /// `generator_closed` if it was closed before; `forked` in a child process, since the parent's generator goes on.
    pub fn close(&self) -> Result<Snapshot> {
        self.engine.family.check_process()?;
        let State { mut tick, mut next, .. } = self.engine.machine.close()?;
        if let (Some(begun), Some((_, last))) = (self.engine.begun_after(), self.layout().slots()) {
            (tick, next) = (begun, u128::from(last) + 1);
        }
        let numbers = self.engine.family.numbers;
        let next_sequence = numbers.map_or(next, |numbers| numbers.next_sequence(next));
        Ok(Snapshot { tick, next_sequence })
    }

    /// One new ID, if all bindables are fixed.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let error = ids.generate().unwrap_err(); // for whom?
    /// assert_eq!(error.to_string(), "missing value for field `shard`");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `missing_field` for a bindable that is not fixed; `clock_behind` at once if the clock is behind the last tick;
    /// `sequence_exhausted` after a wait of at most `max_wait`, both with the time to retry; `lease_not_started`, `lease_expired`
    /// outside the window; `time_out_of_range` outside the layout's time; `generator_closed`; `forked` in a child process; any
    /// error of the clock. A refused call changes nothing.
    #[inline]
    pub fn generate(&self) -> Result<Id> {
        self.one(Mode::Wait)
    }

    /// One new ID with these bindables; it ignores a time, a sequence or a number of its own range among the values.
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
    /// First the errors of [`Values::pack`] for the bindables and constants, then those of [`Generator::generate`];
    /// `invalid_layout` for values of another layout.
    #[inline]
    pub fn generate_with(&self, values: &Values<'_>) -> Result<Id> {
        self.one_with(Mode::Wait, values)
    }

    /// Fills a slice with new IDs, if all bindables are fixed: `&mut [i64]` in an integer layout, else packed bytes.
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
    /// As [`Generator::generate`]; [`Error::written`](crate::Error::written) is the number of valid IDs at the front of the slice.
    /// `invalid_type` for a slice of the other kind; `invalid_length` for bytes that are no whole number of IDs.
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<()> {
        self.engine.family.complete()?;
        self.engine.fill(Mode::Wait, None, ids.into())
    }

    /// Fills a slice with new IDs with these bindables.
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
    /// As [`Generator::fill`] and [`Generator::generate_with`].
    pub fn fill_with<'b>(&self, values: &Values<'_>, ids: impl Into<Batch<'b>>) -> Result<()> {
        let base = self.engine.family.base_of(values)?;
        self.engine.fill(Mode::Wait, Some(base), ids.into())
    }

    /// One new ID without waiting, if all bindables are fixed.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("sonyflake", [])?, &clock).bind("machine", 7).build()?;
    /// ids.fill(&mut [0_i64; 256][..])?; // a tick's IDs
    /// assert_eq!(ids.try_generate().unwrap_err().retry_at(), Some(1_767_225_600_010));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `sequence_exhausted` or `clock_behind`, with the time to retry, instead of a wait; all else as [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self) -> Result<Id> {
        self.one(Mode::Try)
    }

    /// One new ID with these bindables, without waiting.
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
    /// As [`Generator::generate_with`], and [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_with(&self, values: &Values<'_>) -> Result<Id> {
        self.one_with(Mode::Try, values)
    }

    /// Fills the front of a slice with as many new IDs as are available now, and returns their number. It never waits.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(preset("sonyflake", [])?, &clock).bind("machine", 7).build()?;
    /// assert_eq!(ids.try_fill(&mut [0_i64; 1000][..])?, 256); // the tick has no more
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::fill`], except `sequence_exhausted` and `clock_behind`, which only end the batch.
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<usize> {
        self.engine.family.complete()?;
        self.engine.try_fill(None, ids.into())
    }

    /// As [`Generator::try_fill`], with these bindables.
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
    /// As [`Generator::try_fill`] and [`Generator::generate_with`].
    pub fn try_fill_with<'b>(
        &self,
        values: &Values<'_>,
        ids: impl Into<Batch<'b>>,
    ) -> Result<usize> {
        let base = self.engine.family.base_of(values)?;
        self.engine.try_fill(Some(base), ids.into())
    }

    /// One new ID, if all bindables are fixed. It waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread.
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
    /// As [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Id> {
        self.engine.family.complete()?;
        self.engine.one_async(&sleep, None).await
    }

    /// One new ID with these bindables. It waits in `sleep` and does not block the thread.
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
    /// As [`Generator::generate_with`].
    pub async fn generate_with_async(
        &self,
        sleep: impl AsyncFn(Duration),
        values: &Values<'_>,
    ) -> Result<Id> {
        let base = self.engine.family.base_of(values)?;
        self.engine.one_async(&sleep, Some(base)).await
    }

    /// As [`Generator::fill`], but it waits in `sleep` and does not block the thread. `written` counts the
    /// valid IDs at the front: all in the end, and as many as there were if the call is dropped before.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
    /// let mut batch = [0_i64; 500]; // more than a tick of 10 ms has
    /// let mut written = 0;
    /// ids.fill_async(tokio::time::sleep, &mut batch[..], &mut written).await?;
    /// assert!(batch.is_sorted() && written == 500);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        self.engine.fill_async(sleep, self.engine.family.complete().map(Some), ids.into(), written)
    }

    /// As [`Generator::fill_async`], with these bindables.
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
    /// As [`Generator::fill_with`].
    pub fn fill_with_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        values: &Values<'_>,
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        let base = self.engine.family.base_of(values);
        self.engine.fill_async(sleep, base.map(Some), ids.into(), written)
    }

    #[inline]
    fn one(&self, mode: Mode) -> Result<Id> {
        self.engine.family.complete()?;
        self.engine.one(mode, None)
    }

    #[inline]
    fn one_with(&self, mode: Mode, values: &Values<'_>) -> Result<Id> {
        self.engine.one(mode, Some(self.engine.family.base_of(values)?))
    }
}

/// A generator that moves from grant to grant.
///
/// Not part of the public API: for leases.
#[doc(hidden)]
pub type Leased<C = DefaultClock> = generator::Leased<Template, C>;
