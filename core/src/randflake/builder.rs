//! The builder, which collects a generator's options.

use super::{
    Codec, EPOCH, Generator, Grant, LAST_SECOND, SCALE, family::RandflakeFamily,
    pack::SLOTS_PER_NODE,
};
use crate::{
    Error, Result,
    clock::Clock,
    generator::{self, Engine, FirstReading, Options, Window},
    sequence::per_tick::{BehindPolicy, PerTick, Slots},
};

/// Configures a [`Generator`].
///
/// ```
/// use polyflake::randflake::{Generator, Grant};
///
/// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
/// let ids = Generator::builder(grant, *b"sixteen byte key").resume_after(1_763_650_000).build()?;
/// assert_eq!(ids.inspect(ids.generate()?).node, 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Builder<C> = generator::Builder<Settings, C>;

/// The options that are specific to Randflake.
#[derive(Debug)]
#[allow(unnameable_types, reason = "a builder has them")]
pub struct Settings {
    grant: Grant,
    codec: Codec,
    resume_after: Option<i64>,
}

impl<C: Clock> Builder<C> {
    /// Creates a builder with a custom clock.
    ///
    /// An earlier run of the program may have generated IDs with the grant's node IDs in the current second. Therefore,
    /// without [`Builder::resume_after`], the first call waits up to one second, and the first ID belongs to the next
    /// second. If the clock was set back between two runs, duplicate IDs are possible.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     randflake::{Builder, Grant},
    /// };
    ///
    /// let grant = Grant::new(7, 1_730_000_000, 2_803_741_824)?;
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(grant, *b"sixteen byte key", &clock).build()?;
    /// assert_eq!(&*ids.generate()?.text(), "amb6fiq6d10u2"); // the same in every run
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn with_clock(grant: Grant, secret: impl Into<Codec>, clock: C) -> Self {
        let family = Settings { grant, codec: secret.into(), resume_after: None };
        Self { family, options: Options::new(clock) }
    }

    /// Sets the last second in which this grant was used, as a Unix timestamp. [`Generator::close`] returns this timestamp.
    /// All IDs from the new generator belong to later seconds. Always set this option if another generator has already used
    /// the grant, because otherwise duplicate IDs are possible.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = || Grant::new(42, 1_730_000_000, 2_803_741_824);
    /// let ids = Generator::builder(grant()?, *b"sixteen byte key").build()?;
    /// let last = ids.inspect(ids.generate()?);
    /// let second = ids.close()?.unwrap(); // store this value
    ///
    /// let ids = Generator::builder(grant()?, *b"sixteen byte key").resume_after(second);
    /// let ids = ids.max_wait(std::time::Duration::from_secs(2)).build()?; // after the restart
    /// assert!(ids.inspect(ids.generate()?).timestamp > last.timestamp);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn resume_after(mut self, unix_seconds: i64) -> Self {
        self.family.resume_after = Some(unix_seconds);
        self
    }

    /// Builds the generator.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let early = Generator::builder(grant, *b"sixteen byte key").resume_after(0).build(); // 1970
    /// assert_eq!(early.unwrap_err().field(), Some("resume_after"));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if `resume_after` is outside the format's time range, or if the clock is coarser than a
    /// second.
    pub fn build(self) -> Result<Generator<C>> {
        let (machine, window) =
            (self.initial_machine()?, Window::new(self.family.grant.info().ticks()));
        let family = RandflakeFamily::new(self.family.codec, self.family.grant.into_info())?;
        let first = FirstReading::new(self.family.resume_after.is_none());
        Ok(Generator {
            engine: Engine::with_options(
                self.options,
                family,
                machine,
                window,
                first,
                self.family.resume_after.map(continued_state),
            )?,
        })
    }

    /// Creates the state machine, in which all ticks up to `resume_after` are already exhausted.
    fn initial_machine(&self) -> Result<PerTick> {
        let nodes = self.family.grant.nodes();
        let last = u64::from(nodes.end() - nodes.start() + 1) * SLOTS_PER_NODE - 1;
        let (tick, next) = match self.family.resume_after {
            None => (0, 0),
            Some(second) if (EPOCH..=LAST_SECOND).contains(&second) => {
                ((second - EPOCH).cast_unsigned(), last + 1)
            }
            Some(second) => {
                let (least, most) = (EPOCH.into(), LAST_SECOND.into());
                return Err(
                    Error::out_of_range("resume_after", second.into(), least, most).in_unit("s")
                );
            }
        };
        let slots = Slots { first: 0, last };
        let machine =
            PerTick::restore(slots, BehindPolicy::Rejected, SCALE.last, tick, next.into());
        Ok(machine.expect("at most 35 bits of slots and 30 of seconds"))
    }
}

/// Returns the number of the state of a generator whose last second was `unix_seconds`.
pub(super) fn continued_state(unix_seconds: i64) -> u128 {
    u128::from(unix_seconds.cast_unsigned())
}
