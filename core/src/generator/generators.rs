//! The generator for all ID formats: an engine, and the methods shared by all formats.
#![allow(private_bounds, reason = "only the families of this crate have generators")]

use core::{fmt, ops::Range};

use super::{
    Engine, Family, Handle, Mode, Pack, SlotSource, Windowed, engine::Observation,
    fill::FamilyReservation,
};
use crate::{
    Result, UnixTime,
    clock::{Clock, DefaultClock},
};

/// Generates IDs in one ID format. Threads can share a generator.
///
/// The module of each ID format has its own generator, such as [`sno::Generator`](crate::sno::Generator).
///
/// ```
/// use polyflake::sno::Generator;
///
/// let ids = Generator::builder().partition(42).build()?;
/// assert_eq!(ids.generate(7)?.partition(), 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub struct Generator<F: Family, C = DefaultClock> {
    pub(crate) engine: Engine<F, C>,
}

/// Omits the state from the output, because the state would reveal the node, the second and the sequence of the next ID.
impl<F: Family, C> fmt::Debug for Generator<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

impl<F: Family, C> Drop for Generator<F, C> {
    fn drop(&mut self) {
        self.engine.end_registration(None);
        self.engine.family.on_drop(&self.engine.machine);
    }
}

impl<F: Family, C> Generator<F, C> {
    /// Returns the generator's clock.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Generator};
    ///
    /// let builder = Generator::builder().partition(42);
    /// let ids = builder.clock(ManualClock::at_unix_ms(1_763_650_000_000)).build()?;
    /// ids.clock().set_unix_ms(1_763_650_001_000);
    /// assert_eq!(ids.generate(7)?.unix_ms(), 1_763_650_001_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn clock(&self) -> &C {
        &self.engine.clock
    }

    /// Declares that this generator belongs to a lease's grant, as [`Leased::new`](super::Leased::new) does.
    ///
    /// This method is not part of the public API. It exists for bindings, which switch between grants themselves.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    #[must_use]
    pub fn for_grant(mut self) -> Self {
        self.engine.grant();
        self
    }

    /// Closes the generator permanently, as a lease does. Returns the time span, in Unix milliseconds, of the highest tick
    /// that the generator may have used. Slots that batches and handles have reserved count as used, even if no IDs were
    /// generated from them. Returns `None` if no slot was reserved.
    ///
    /// This method is not part of the public API. It exists for leases.
    ///
    /// # Errors
    /// Returns `generator_closed` if the generator is already closed. Returns `forked` in a child of the process to which
    /// the partition, node IDs or window were assigned, because the generator continues in the parent. Returns
    /// `unknown_field`, without closing the generator, if the layout has no timestamp.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn seal(&self) -> Result<Option<Range<i64>>> {
        self.engine.seal()
    }
}

impl<F: Family, C> Generator<F, C> {
    /// Returns whether the generator is open and belongs to this process.
    ///
    /// This method is not part of the public API. It exists for bindings, which share such a generator.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn is_usable(&self) -> bool {
        self.engine.check_open().is_ok() && self.engine.family.check_process().is_ok()
    }
}

impl<F: Pack, C> Generator<F, C> {
    /// Returns whether two generators with explicit worker IDs can generate the same ID. This is possible if both
    /// generators are open and their windows, worker IDs and sequences overlap. A generator whose caller provides values
    /// for each ID is never reported, because the values may differ. If `end` is not `None`, the window of this generator is
    /// taken to end at that time.
    ///
    /// This method is not part of the public API. It exists for WebAssembly, which has no registry of generators.
    ///
    /// # Errors
    /// Returns `time_out_of_range` if `end` is outside the format's time range.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn may_repeat(&self, other: &Self, end: Option<i64>) -> Result<bool> {
        let (one, other) = (&self.engine, &other.engine);
        let (mut ticks, others) = (one.window.ticks(), other.window.ticks());
        if let Some(end) = end {
            let last = crate::format::Ticks::end_tick(one.ticks()?, ticks.start, end.into())?;
            ticks.end = ticks.end.max(last);
        }
        let may_repeat = ticks.start < others.end
            && others.start < ticks.end
            && one.family.may_repeat(&other.family)
            && [one, other].iter().all(|engine| {
                engine.check_open().is_ok() && engine.family.check_complete().is_ok()
            });
        Ok(may_repeat)
    }
}

impl<F: Pack, C: Clock> Generator<F, C> {
    /// Reserves slots for up to `want` IDs after an observation.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as `SlotSource::reserve`, which calls it")]
    pub(super) fn reserve_observed(
        &self,
        observed: Observation<F>,
        want: u32,
        mode: Mode,
    ) -> Result<FamilyReservation<'_, F>> {
        match self.engine.try_shortcut(observed, want) {
            Some(slots) => Ok((&self.engine.family, slots)),
            None => self.reserve_slowly(None, observed, want, mode),
        }
    }

    /// Creates a handle for one thread. The handle's first block in each tick has room for 64 IDs.
    ///
    /// ```
    /// use polyflake::sno::Generator;
    ///
    /// let ids = Generator::new();
    /// let mut handle = ids.handle();
    /// assert_ne!(handle.generate(7)?, handle.generate(7)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn handle(&self) -> Handle<F, &Self> {
        Handle::new(self)
    }
}

impl<F: Family + Windowed, C> Generator<F, C> {
    /// Moves the end of the window to a later time, which is given in Unix milliseconds or as a `SystemTime`. The call has
    /// no effect if the new end is not later. It also has no effect on a generator without an explicit window, because such
    /// a generator can already use the format's entire time range.
    ///
    /// ```
    /// let builder = polyflake::sno::Generator::builder().partition(42);
    /// let ids = builder.window(1_763_650_000_000, 1_763_653_600_000).build()?;
    /// ids.extend_window(1_763_657_200_000)?;
    /// assert_eq!(ids.window().1, 1_763_657_200_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if the end is before the start of the window, `time_out_of_range` if it is past the format's
    /// time range, or `unknown_field` if the layout has no timestamp.
    pub fn extend_window(&self, end: impl Into<UnixTime>) -> Result<()> {
        self.engine.extend_window(end.into())
    }
}
