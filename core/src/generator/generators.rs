//! The generator of all families: an engine, and the calls that are alike in all of them.
#![allow(private_bounds, reason = "only the families of this crate have generators")]

use core::{fmt, ops::Range};

use super::{Engine, Family, Handle, Pack, Windowed};
use crate::{
    Result, UnixTime,
    clock::{Clock, DefaultClock},
};

/// Makes IDs of a family. Threads may share it.
///
/// Each family has its own: [`sno::Generator`](crate::sno::Generator), [`randflake::Generator`](crate::randflake::Generator),
/// [`hotguid::Generator`](crate::hotguid::Generator), [`layout::Generator`](crate::layout::Generator).
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

/// Hides the state, which would tell node, second and sequence of the next ID.
impl<F: Family, C> fmt::Debug for Generator<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

impl<F: Family, C> Drop for Generator<F, C> {
    fn drop(&mut self) {
        self.engine.family.dropped(&self.engine.machine);
    }
}

impl<F: Family, C> Generator<F, C> {
    /// The source of time that the generator was built with.
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

    /// Ends the generator for good, as a lease does, and returns the span of the highest tick that it may have used, in Unix
    /// milliseconds. Slots of batches and handles count, used or not; none if no slot was reserved.
    ///
    /// Not part of the public API: for leases.
    ///
    /// # Errors
    /// `generator_closed` if it was closed before; `forked` in a child of the process to which partition, nodes or window were given,
    /// since the parent's generator goes on; `unknown_field` in a layout without a timestamp, whose generator goes on.
    #[doc(hidden)]
    pub fn seal(&self) -> Result<Option<Range<i64>>> {
        self.engine.seal()
    }
}

impl<F: Pack, C: Clock> Generator<F, C> {
    /// A handle for one thread; its first block of a tick has 64 IDs.
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
    /// Moves the end of the window later: Unix milliseconds, or a `SystemTime`. An earlier or equal end changes nothing.
    /// Without a given window no end changes anything, since the window is already all of the format's time.
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
    /// `out_of_range` for an end before the window's start; `time_out_of_range` past the format's time; `unknown_field` in a layout
    /// without a timestamp.
    pub fn extend_window(&self, end: impl Into<UnixTime>) -> Result<()> {
        self.engine.extend_window(end.into())
    }
}
