//! Handles, which reserve blocks of a generator's sequence slots for one thread so that generation scales with threads.

use core::ops::Deref;

use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
    layout::{Generator, Id, Values, ids::family::Template},
};

/// Generates IDs for one thread from a shared [`Generator`]. See [`Handle`](crate::Handle).
///
/// ```
/// use polyflake::layout::{Generator, Handle, preset};
///
/// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
/// let mut handle: Handle<&Generator> = ids.handle();
/// assert!(handle.generate()? < handle.generate()?);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Handle<G> = generator::Handle<Template, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// Generates a new ID. All bindable fields must be fixed.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// let mut handle = ids.handle();
    /// assert!(handle.generate()? < handle.generate()?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self) -> Result<Id> {
        self.generate_with_mode(Mode::Wait, None)
    }

    /// Generates a new ID with the given values for the bindable fields.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let mut values = ids.values();
    /// let id = ids.handle().generate_with(values.bind("shard", 7)?)?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate_with`].
    #[inline]
    pub fn generate_with(&mut self, values: &Values<'_>) -> Result<Id> {
        self.generate_with_mode(Mode::Wait, Some(values))
    }

    /// Generates a new ID if one is available without waiting. All bindable fields must be fixed.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// ids.generate()?; // waits for the first tick
    /// assert!(ids.handle().try_generate()?.as_integer().is_some());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self) -> Result<Id> {
        self.generate_with_mode(Mode::Try, None)
    }

    /// Generates a new ID with the given values for the bindable fields if one is available without waiting.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let mut values = ids.values();
    /// ids.generate_with(values.bind("shard", 7)?)?; // waits for the first tick
    /// let id = ids.handle().try_generate_with(values.bind("shard", 7)?)?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_generate_with`].
    #[inline]
    pub fn try_generate_with(&mut self, values: &Values<'_>) -> Result<Id> {
        self.generate_with_mode(Mode::Try, Some(values))
    }

    #[inline]
    fn generate_with_mode(&mut self, mode: Mode, values: Option<&Values<'_>>) -> Result<Id> {
        let template = &self.engine().family;
        let base = match values {
            None => template.base_id().map(|_| None)?,
            Some(values) => Some(template.base_of(values)?),
        };
        self.generate_in(mode, base)
    }
}

generator::impl_generate!(Id, super::generator::Batch<'b>, () => ());
