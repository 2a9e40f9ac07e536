//! The calls that the generators of all ID formats support. Each call reads the handle of a generator.
//!
//! The format-specific part of a call is in the format's implementation of [`GeneratorCalls`]. These calls select the
//! format at run time, by the variant of the object. The cost of the selection is negligible for a call that waits or
//! handles many IDs.
//!
//! `generate` is not among these calls, because most programs spend their time in it. Each format has its own `generate`,
//! for two reasons. First, a shared call would have to branch on the format for every ID. Second, the addon's function
//! returns a string or a bigint directly.

use alloc::rc::Rc;

use polyflake::Result;

use crate::{
    Host, Machine, ScratchRef,
    handles::{Object, released_handle_error, with_generator},
    protocol::register,
    scratch::time,
};

/// The format-specific implementations of the calls that all generators support.
pub(crate) trait GeneratorCalls<C: Host> {
    /// Reads a parameter, generates one ID without waiting, and writes it.
    fn put_one(&self, machine: &Machine<C>) -> Result<()>;

    /// Reads a parameter, and begins a call that writes one packed ID. `object` is this generator.
    fn begin_one(&self, machine: &Machine<C>, object: Rc<Object<C>>) -> Result<()>;

    /// Reads a parameter and a count, and writes packed IDs and their number. If `waits` is `true`, writes all requested
    /// IDs. Otherwise, writes only those that are available without waiting.
    fn put_many(&self, machine: &Machine<C>, waits: bool) -> Result<()>;

    /// Writes the statistics.
    fn put_stats(&self, machine: &Machine<C>) -> Result<()>;

    /// Closes the generator, and writes the state from which a new generator can continue.
    fn put_final_state(&self, machine: &Machine<C>) -> Result<()>;

    /// Returns whether an object is a generator of the same format that can generate the same ID as this one, also if this
    /// one's window ended at `end`, in Unix milliseconds.
    fn may_repeat_object(&self, other: &Object<C>, end: Option<i64>) -> Result<bool> {
        let _ = (other, end);
        Ok(false)
    }
}

#[cfg(feature = "generators")]
impl<C: Host> Machine<C> {
    /// Reads a parameter, generates an ID without waiting, and writes it.
    pub fn generator_try_generate(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        with_generator!(object, generator => generator.put_one(self))
    }

    /// Reads a parameter, generates one ID, and writes the packed ID. If the generator has to wait, the call writes a
    /// handle instead, which `turn` uses to continue the call.
    pub fn generator_generate_async(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        with_generator!(object, generator => generator.begin_one(self, object.clone()))
    }

    /// Reads a parameter and a count of at most [`BATCH`](crate::protocol::BATCH). Writes packed IDs.
    pub fn generator_fill(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        with_generator!(object, generator => generator.put_many(self, true))
    }

    /// Works like `generator_fill`, but without waiting. Writes packed IDs and their number.
    pub fn generator_try_fill(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        with_generator!(object, generator => generator.put_many(self, false))
    }

    /// Writes the statistics.
    pub fn generator_stats(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        with_generator!(object, generator => generator.put_stats(self))
    }

    /// Closes the generator. If the format requires a state from which a new generator can continue, writes this state: a
    /// snapshot, or the last second or millisecond in which the generator was used.
    pub fn generator_close(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        with_generator!(object, generator => generator.put_final_state(self))
    }

    /// Reads a time, and extends the generator's window or grant to end at this time.
    pub fn generator_extend(&self, at: ScratchRef) -> Result<()> {
        let (object, end) = (self.object(at)?, at.time(register::VALUE));
        with_generator!(object, generator => generator.extend_window(end))
    }

    /// Writes 1 if the generator is open and belongs to this process, otherwise 0.
    pub fn generator_is_usable(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let is_usable = with_generator!(object, generator => Ok(generator.is_usable()))?;
        at.put_number(register::ANSWER, is_usable.into());
        Ok(())
    }

    /// Reads the handle of another generator of the same format, and the time to which this generator's window is to be
    /// extended, or NaN. Writes 1 if both generators could then generate the same ID, otherwise 0.
    pub fn generator_may_repeat(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let other = self.find_object(at.read_usize(register::VALUE))?;
        let end = at.number(register::VALUE + 1);
        let end = (!end.is_nan()).then(|| time(end));
        let may_repeat =
            with_generator!(object, generator => generator.may_repeat_object(&other, end))?;
        at.put_number(register::ANSWER, may_repeat.into());
        Ok(())
    }

    /// Permanently closes a generator that has a lease. Writes the end of the latest tick that the generator may have used,
    /// in Unix milliseconds, or NaN if it was never used. Sealing a sno generator does not keep its partition. Only
    /// `generator_close` does, because its snapshot needs the partition.
    #[allow(clippy::cast_precision_loss, reason = "milliseconds of a tick")]
    pub fn generator_seal(&self, at: ScratchRef) -> Result<()> {
        let object = self.object(at)?;
        let used = with_generator!(object, generator => generator.seal())?;
        at.put_number(register::ANSWER, used.map_or(f64::NAN, |span| span.end as f64));
        Ok(())
    }

    /// Reports that the process was restored from an image of its memory.
    pub fn after_restore(&self, _at: ScratchRef) -> Result<()> {
        C::after_restore()
    }
}

/// Converts a time in seconds to a number, with NaN for `None`.
#[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
pub(crate) fn seconds(second: Option<i64>) -> f64 {
    second.map_or(f64::NAN, |second| second as f64)
}
