//! The calls that the generators of all ID formats have. Each of them takes the handle of a generator.
//!
//! The format's own part of a call is in its implementation of [`Make`]. These calls choose the format at run time, by the
//! variant of the object, which a call that waits or handles many IDs does not notice. `generate` is not among them. Each
//! format has its own, because most programs spend their time in it: a branch on the format would be in the path of every
//! ID, and the addon's function returns a string or a bigint itself.

use alloc::rc::Rc;

use polyflake::Result;

use crate::{
    At, Host, Machine,
    handles::{Object, of_generator, released_handle},
    protocol::register,
};

/// The answers that a generator writes to the calls of all formats.
pub(crate) trait Make<C> {
    /// Takes a parameter, and writes one ID that is available without waiting.
    fn put_one(&self, machine: &Machine<C>) -> Result<()>;

    /// Takes a parameter, and begins a call that writes one packed ID. `object` is this generator.
    fn begin_one(&self, machine: &Machine<C>, object: Rc<Object<C>>) -> Result<()>;

    /// Takes a parameter and a count, and writes packed IDs and their number: all of them, or those that are available
    /// without waiting.
    fn put_many(&self, machine: &Machine<C>, waits: bool) -> Result<()>;

    /// Writes the statistics.
    fn put_stats(&self, machine: &Machine<C>) -> Result<()>;

    /// Closes the generator, and writes what a new one continues from.
    fn put_end(&self, machine: &Machine<C>) -> Result<()>;

    /// Returns whether an object is a generator of the same format, and both can generate the same ID.
    fn may_repeat_object(&self, _: &Object<C>) -> bool {
        false
    }
}

#[cfg(feature = "generators")]
impl<C: Host> Machine<C> {
    /// Takes a parameter. Generates an ID without waiting, and writes it.
    pub fn generator_try_generate(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        of_generator!(object, generator => generator.put_one(self))
    }

    /// Takes a parameter. Generates one ID in turns, and writes it packed.
    pub fn generator_generate_async(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        of_generator!(object, generator => generator.begin_one(self, object.clone()))
    }

    /// Takes a parameter, and a count of at most [`BATCH`](crate::protocol::BATCH). Writes packed IDs.
    pub fn generator_fill(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        of_generator!(object, generator => generator.put_many(self, true))
    }

    /// Works like `generator_fill`, but without waiting. Writes packed IDs and their number.
    pub fn generator_try_fill(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        of_generator!(object, generator => generator.put_many(self, false))
    }

    /// Writes the statistics.
    pub fn generator_stats(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        of_generator!(object, generator => generator.put_stats(self))
    }

    /// Closes the generator. Writes a snapshot or the last second that was used, if the format has one.
    pub fn generator_close(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        of_generator!(object, generator => generator.put_end(self))
    }

    /// Takes the new end of the window or the grant.
    pub fn generator_extend(&self, at: At) -> Result<()> {
        let (object, end) = (self.object(at)?, at.time(register::VALUE));
        of_generator!(object, generator => generator.extend_window(end))
    }

    /// Takes the handle of another generator of the same format. Writes 1 if both can generate the same ID, otherwise 0.
    pub fn generator_may_repeat(&self, at: At) -> Result<()> {
        // The comparison never calls back into JavaScript, so the list of handles can stay borrowed.
        let handles = self.handles.borrow();
        let object = |register| handles.get(at.read_usize(register)).and_then(Option::as_deref);
        let may_repeat = match (object(register::HANDLE), object(register::VALUE)) {
            (Some(one), Some(other)) => {
                of_generator!(one, generator => Ok(generator.may_repeat_object(other)))
                    .unwrap_or(false)
            }
            _ => false,
        };
        at.put_number(register::ANSWER, may_repeat.into());
        Ok(())
    }

    /// Ends a generator with a lease. Writes the end of the latest tick that it may have used, in Unix milliseconds, or NaN if
    /// the generator was never used. A sno generator keeps its partition only if it is closed, because its snapshot needs the
    /// partition.
    #[allow(clippy::cast_precision_loss, reason = "milliseconds of a tick")]
    pub fn generator_seal(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        let used = of_generator!(object, generator => generator.seal())?;
        at.put_number(register::ANSWER, used.map_or(f64::NAN, |span| span.end as f64));
        Ok(())
    }

    /// Reports that the process was restored from an image of its memory.
    pub fn after_restore(&self, _at: At) -> Result<()> {
        C::after_restore()
    }
}

/// Converts a time in seconds to a number, with NaN for `None`.
#[allow(clippy::cast_precision_loss, reason = "a time in seconds has 32 bits")]
pub(crate) fn seconds(second: Option<i64>) -> f64 {
    second.map_or(f64::NAN, |second| second as f64)
}
