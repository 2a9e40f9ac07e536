//! Options for a generator.

use core::time::Duration;

use super::{Generator, SCALE, family::Identities, generator::counters};
use crate::{
    Result,
    clock::{Clock, OnStall, Stall},
    generator::{Engine, OnExhausted, Options, ProcessGuard},
};

/// Options for a [`Generator`].
///
/// ```
/// use polyflake::hotguid::Generator;
///
/// let ids = Generator::builder().window(0, 4_294_967_296_000).build()?;
/// assert_eq!(ids.generate(7)?.shard_key(), 7);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is built until `build` is called"]
pub struct Builder<C> {
    draw: fn() -> Result<[u8; 8]>,
    options: Options<C>,
}

impl<C: Clock> Builder<C> {
    /// Options for a generator with a clock and a source of random bytes of your own: see [`Builder::draw`].
    pub const fn with_clock(clock: C, draw: fn() -> Result<[u8; 8]>) -> Self {
        Self { draw, options: Options::new(clock) }
    }

    /// Where 8 random bytes come from: 5 for the machine field, 3 for the counter's start. It is called at the first ID, and
    /// again after a fork.
    pub fn draw(mut self, draw: fn() -> Result<[u8; 8]>) -> Self {
        self.draw = draw;
        self
    }

    /// The half-open time span, in Unix milliseconds, in which IDs may be made: those whose second begins in it.
    pub fn window(mut self, start_ms: i64, end_ms: i64) -> Self {
        self.options.window = Some((start_ms, end_ms));
        self
    }

    /// The longest wait for a tick, as time passes by the clock's monotonic side ([`Clock::elapsed_nanos`]); the clock's default
    /// otherwise (1 s for the system's). A batch may wait as long for each of its ticks. Under a clock that stands still a call waits as long and is
    /// refused then.
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.options.max_wait = Some(max_wait);
        self
    }

    /// What to do when a second's counters are used up; to wait by default.
    pub fn on_exhausted(mut self, on_exhausted: OnExhausted) -> Self {
        self.options.on_exhausted = on_exhausted;
        self
    }

    /// Calls `callback` when a call has to wait, before each of its sleeps, on the stalled thread.
    pub fn on_stall<F: Fn(&Stall)>(self, callback: F) -> Builder<OnStall<C, F>> {
        self.map(|options| options.on_stall(callback))
    }

    /// The source of time, one for the generator's life.
    pub fn clock<D: Clock>(self, clock: D) -> Builder<D> {
        self.map(|options| options.clock(clock))
    }

    fn map<D>(self, map: impl FnOnce(Options<C>) -> Options<D>) -> Builder<D> {
        Builder { draw: self.draw, options: map(self.options) }
    }

    /// The generator.
    ///
    /// # Errors
    /// `out_of_range` where the window is empty, or the clock is coarser than a second; `time_out_of_range` where it leaves the format's time.
    pub fn build(self) -> Result<Generator<C>> {
        let window = self.options.window(&SCALE)?;
        let process = self.options.window.map(|_| ProcessGuard::this_process()).transpose()?;
        let family = Identities::new(self.draw, process);
        Ok(Generator { engine: Engine::with_options(self.options, family, counters(), window)? })
    }
}
