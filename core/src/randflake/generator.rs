//! The generator: IDs of a grant's nodes.

use core::{fmt, time::Duration};

#[cfg(feature = "std")]
use super::{Builder, Codec};
use super::{Grant, Parts, Randflake, SCALE, family::Nodes};
use crate::{
    Result,
    clock::{Clock, DefaultClock},
    format::Text,
    generator::{Engine, Family, Mode, Source, calls, clock, seals},
    sequence::per_tick::State,
};

/// Makes Randflake IDs under one grant. Threads may share it.
///
/// It never goes back in time: after one wild reading of the clock it refuses with `clock_behind` until time gets there. The
/// grant bounds how far ahead that can be.
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
    /// Number of IDs of that second that are used up.
    pub len: u64,
    /// `true` if the generator was closed.
    pub closed: bool,
}

#[cfg(feature = "std")]
impl Generator {
    /// Options for a generator under a grant; the secret is 16 bytes, or a [`Codec`].
    pub fn builder(grant: Grant, secret: impl Into<Codec>) -> Builder<crate::clock::SystemClock> {
        Builder::with_clock(grant, secret, crate::clock::SystemClock)
    }
}

/// Hides node, second and sequence, as IDs do.
impl<C> fmt::Debug for Generator<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

impl<C> Generator<C> {
    /// The fields of an ID. Plausible fields prove nothing: every number decrypts to some fields.
    #[inline]
    pub fn inspect(&self, id: Randflake) -> Parts {
        self.engine.family.codec.inspect(id)
    }

    /// The grant, including its extensions.
    pub fn grant(&self) -> Grant {
        self.engine.family.grant.until(self.engine.window().ticks().end)
    }

    /// Extends the grant. A grant that ends no later changes nothing.
    ///
    /// # Errors
    /// `lease_mismatch` unless both have the same nodes and start.
    pub fn extend_grant(&self, longer: Grant) -> Result<()> {
        self.engine.extend(self.engine.family.grant.extend(longer)?.ticks().end);
        Ok(())
    }

    /// Ends the generator, also for calls in flight on other threads, and returns the last second used, in Unix seconds, after
    /// which the grant's next generator must resume. None if no second was used.
    ///
    /// # Errors
    /// `generator_closed` if it was closed before; `forked` in a child process, since the parent's generator goes on.
    pub fn close(&self) -> Result<Option<i64>> {
        self.engine.family.check_process()?;
        Ok(last_second(self.engine.close()?))
    }

    seals!();

    /// Figures of the generator at this moment.
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
    /// In this order: `lease_not_started`, with the time to retry, `lease_expired`; `clock_behind` if the clock is behind the
    /// last second used, `sequence_exhausted`, both with the time to retry, at once or after a wait of at most `max_wait`;
    /// also `generator_closed`; `forked` in a child process; any error of the clock. A refused call changes nothing.
    #[inline]
    pub fn generate(&self) -> Result<Randflake> {
        self.engine.one(Mode::Wait, ())
    }

    calls!(engine: Randflake; core::convert::identity; r#"use polyflake::randflake::{Generator, Grant, Randflake};

let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
let ids = Generator::builder(grant, *b"sixteen byte key").build()?;"#);

    clock!(r#"use polyflake::randflake::{Generator, Grant};

let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
let builder = Generator::builder(grant, *b"sixteen byte key");"#);
}

/// The second of a state; none if no ID was made.
fn last_second(state: State) -> Option<i64> {
    (state.next > 0).then(|| SCALE.ms_of(state.tick) / 1000)
}
