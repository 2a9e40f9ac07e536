//! The generator: IDs of a grant's nodes.

use core::{fmt, time::Duration};

#[cfg(feature = "std")]
use super::{Builder, Codec};
use super::{Grant, Parts, Randflake, SCALE, family::Nodes};
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    format::Text,
    generator::{Engine, Family, Mode, Source, calls, clock},
    sequence::per_tick::State,
};

/// Makes Randflake IDs under one grant. Threads may share it.
///
/// It never goes back in time: after one wild reading of the clock it refuses with `clock_behind` until time comes there, but the
/// grant bounds how far that can be.
///
/// It cannot be cloned, since a grant serves one generator once:
///
/// ```compile_fail
/// use polyflake::randflake::{Generator, Grant};
///
/// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
/// let twin = Generator::builder(grant, [0; 16]).build()?.clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
pub struct Generator<C = DefaultClock> {
    pub(super) engine: Engine<Nodes, C>,
}

/// Figures of a generator, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stats {
    /// The last second used, in Unix seconds; none before the first ID.
    pub last_second: Option<i64>,
    /// How many IDs of that second are used up.
    pub len: u64,
    /// Whether the generator was closed.
    pub closed: bool,
}

#[cfg(feature = "std")]
impl Generator {
    /// Options for a generator under a grant; the secret is 16 bytes, or a [`Codec`] of them.
    pub fn builder(grant: Grant, secret: impl Into<Codec>) -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(grant, secret, crate::clock::SystemClock)
    }
}

/// Hides what IDs hide: node, second and sequence.
impl<C> fmt::Debug for Generator<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

impl<C> Generator<C> {
    /// The fields of an ID. That they look like some says nothing: every number decrypts to something.
    #[inline]
    pub fn inspect(&self, id: Randflake) -> Parts {
        self.engine.family.codec.inspect(id)
    }

    /// The grant, as far as it was extended.
    pub fn grant(&self) -> Grant {
        self.engine.family.grant.until(self.engine.window().ticks().end)
    }

    /// Extends the grant; one that ends no later changes nothing.
    ///
    /// # Errors
    /// `lease_mismatch` unless both have the same nodes and start.
    pub fn extend_grant(&self, longer: Grant) -> Result<()> {
        self.engine.extend(self.engine.family.grant.extend(longer)?.ticks().end);
        Ok(())
    }

    /// Ends the generator, also for calls in flight on other threads, and tells the last second used, in Unix seconds: what
    /// the grant's next generator must resume after. None if there was none.
    ///
    /// # Errors
    /// `generator_closed` if it was; `forked` in a child process, since the parent's generator goes on.
    pub fn close(&self) -> Result<Option<i64>> {
        self.engine.family.check_process()?;
        Ok(last_second(self.engine.close()?))
    }

    /// Figures of now.
    pub fn stats(&self) -> Stats {
        let state = self.engine.state();
        let len = u64::try_from(state.next).unwrap_or(u64::MAX);
        Stats { last_second: last_second(state), len, closed: state.closed }
    }
}

impl<C: Clock> Generator<C> {
    /// One new ID.
    ///
    /// # Errors
    /// In this order: `lease_not_started`, with when to retry, `lease_expired`; `clock_behind` where the clock is behind the
    /// last second used, `sequence_exhausted`, both with when to retry, at once or after a wait of at most `max_wait`;
    /// further `generator_closed`; `forked` in a child process; what the clock says. Nothing is changed by a refused call.
    #[inline]
    pub fn generate(&self) -> Result<Randflake> {
        self.engine.one(Mode::Wait, ())
    }

    calls!(engine: Randflake; core::convert::identity);

    clock!();
}

/// The second that a state is in; none where nothing was made.
fn last_second(state: State) -> Option<i64> {
    (state.next > 0).then(|| SCALE.ms_of(state.tick) / 1000)
}
