//! The options of a Hot Guid generator.

use super::{Generator, SCALE, family::HotGuidFamily, generator::counters};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Engine, FirstReading, Options, ProcessGuard},
};

/// Configures a [`Generator`].
///
/// ```
/// use polyflake::hotguid::Generator;
///
/// let ids = Generator::builder().window(0, 4_294_967_296_000).build()?;
/// assert_eq!(ids.generate(7)?.shard_key(), 7);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Builder<C> = generator::Builder<Settings, C>;

/// The options that are specific to Hot Guid.
#[derive(Clone, Debug)]
#[allow(unnameable_types, reason = "a builder has them")]
pub struct Settings {
    draw: fn() -> Result<[u8; 8]>,
    /// Whether the library picks the machine bytes at random, so that no other generator has the same bytes.
    is_random: bool,
    uuid8: bool,
}

impl generator::Windowed for Settings {}

impl<C: Clock> Builder<C> {
    /// Creates a builder with a custom clock and a custom source of random bytes. See [`Builder::identity_from`].
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, hotguid::Builder};
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(&clock, || Ok([0; 8])).build()?;
    /// assert_eq!(ids.generate(3)?.to_string(), "6955b900-0000-0000-0000-000003000000"); // the same in every run
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn with_clock(clock: C, draw: fn() -> Result<[u8; 8]>) -> Self {
        let family = Settings { draw, is_random: false, uuid8: false };
        Self { family, options: Options::new(clock) }
    }

    /// Sets the function that provides 8 random bytes: 5 for the machine field, and 3 for the initial value of the counter.
    /// The function is called when the first ID is generated, and again after a fork or a restore. In a forked child, the
    /// machine field also depends on the process, so that children with the same source differ. After `after_restore`,
    /// calls fail with `forked` if the function returns the same machine field as before. The counter of such a generator
    /// starts at this value in every second and wraps around, so 16,777,216 IDs are available per second.
    ///
    /// A custom function may return bytes that an earlier generator used, for example before the process was restarted.
    /// Therefore the first call waits up to one second, and the first ID belongs to the next second. If the clock was set
    /// back between two runs with the same bytes, duplicate IDs are possible.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// let ids = Generator::builder().identity_from(|| Ok([1, 2, 3, 4, 5, 0, 0, 0])).build()?;
    /// assert_eq!(ids.generate(3)?.machine(), [1, 2, 3, 4, 5]);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn identity_from(mut self, draw: fn() -> Result<[u8; 8]>) -> Self {
        self.family.draw = draw;
        self.family.is_random = false;
        self
    }

    /// Declares that `draw` returns random bytes, so that no earlier generator had the same bytes. The generator then also
    /// calls `draw` in each second, for the counter's start value. This method is not part of the public API. It exists for
    /// bindings, which use the random bytes of their host.
    #[doc(hidden)]
    pub const fn at_random(mut self) -> Self {
        self.family.is_random = true;
        self
    }

    /// Sets whether the generator creates version 8 UUIDs, which strict validators accept, instead of the compatible form.
    /// [`HotGuid::uuid8_parts`](super::HotGuid::uuid8_parts) returns their fields. The version and the variant replace 6 of
    /// the 40 random bits. Among 18,583 generators that are active in the same second, the probability that any two share
    /// the remaining 34 bits is 1%.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// let id = uuid::Uuid::from(Generator::builder().uuid8(true).build()?.generate(3)?);
    /// assert_eq!((id.get_version_num(), id.get_variant()), (8, uuid::Variant::RFC4122));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn uuid8(mut self, uuid8: bool) -> Self {
        self.family.uuid8 = uuid8;
        self
    }

    /// Builds the generator.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// assert!(Generator::builder().build().is_ok());
    /// let empty = Generator::builder().window(1_767_225_600_000, 1_767_225_600_000).build();
    /// assert_eq!(empty.unwrap_err().code(), "out_of_range");
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if the window is empty or if the clock is coarser than a second, or `time_out_of_range` if
    /// the window exceeds the format's time range.
    pub fn build(self) -> Result<Generator<C>> {
        let window = self.options.window(&SCALE)?;
        let process = self.options.window.map(|_| ProcessGuard::this_process()).transpose()?;
        let family =
            HotGuidFamily::new(self.family.draw, self.family.is_random, self.family.uuid8, process);
        let first = FirstReading::new(!self.family.is_random);
        let engine = Engine::with_options(self.options, family, counters(), window, first, None)?;
        Ok(Generator { engine })
    }
}
