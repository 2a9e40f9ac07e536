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
};

/// The format-specific implementations of the calls that all generators support.
pub(crate) trait GeneratorCalls<C> {
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

    /// Returns whether an object is a generator of the same format that can generate the same ID as this one.
    fn may_repeat_object(&self, _: &Object<C>) -> bool {
        false
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

    /// Reads the handle of another generator of the same format. Writes 1 if both generators can generate the same ID,
    /// otherwise 0.
    pub fn generator_may_repeat(&self, at: ScratchRef) -> Result<()> {
        // The comparison never calls back into JavaScript, so the list of handles can stay borrowed.
        let handles = self.handles.borrow();
        let object = |register| handles.get(at.read_usize(register)).and_then(Option::as_deref);
        let may_repeat = match (object(register::HANDLE), object(register::VALUE)) {
            (Some(one), Some(other)) => {
                with_generator!(one, generator => Ok(generator.may_repeat_object(other)))
                    .unwrap_or(false)
            }
            _ => false,
        };
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
