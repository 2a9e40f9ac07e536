//! Calls for version 7 UUIDs: this file contains the calls on generators, and `ids` contains the calls on strings and
//! bytes.

mod ids;

use alloc::{rc::Rc, vec::Vec};

use polyflake::{
    Result,
    uuid7::{Builder, Generator, Uuid7},
};

use crate::{
    Host, Machine, ScratchRef,
    generators::GeneratorCalls,
    handles::Object,
    options::optional_word,
    protocol::{BATCH, register},
    scratch::time,
};

/// Operations on generators. All operations except the first also read a handle.
impl<C: Host> Machine<C> {
    /// Reads the shared options, the worker ID, the last millisecond that an earlier generator used (NaN if omitted), and a
    /// number that states whether the generator follows clock rollbacks: 1 if it does, otherwise
    /// 0. Writes the generator's handle.
    pub fn uuid7_build(&self, at: ScratchRef) -> Result<()> {
        let (clock, key) = self.take_clock();
        let mut builder = Builder::with_clock(clock, C::key).at_random();
        let shared = at.shared_options()?;
        let [worker_id, resume_after, follows_rollbacks] = at.values(register::OWN);
        if let Some(worker_id) = optional_word(worker_id, "worker_id")? {
            builder = builder.worker_id(worker_id);
        }
        if !resume_after.is_nan() {
            builder = builder.resume_after(time(resume_after));
        }
        builder = builder.follow_rollbacks(follows_rollbacks > 0.0);
        builder = shared.apply_all(builder);
        let built = C::get_or_build(key, Generator::is_usable, || builder.build());
        self.put_object(at, Object::Uuid7(built.map_err(|error| shared.with_option_name(error))?));
        Ok(())
    }

    /// Generates an ID, and writes its string.
    #[inline]
    pub fn uuid7_generate(&self, at: ScratchRef) -> Result<()> {
        let id = self.object(at)?.uuid7()?.generate()?;
        at.put_text::<{ Uuid7::TEXT_LEN }>(id.text().as_bytes());
        Ok(())
    }
}

/// A packed ID consists of the ID's bytes.
impl<C: Host> GeneratorCalls<C> for Generator<C> {
    fn put_one(&self, machine: &Machine<C>) -> Result<()> {
        machine.scratch.put_uuid7(0, self.try_generate()?);
        Ok(())
    }

    fn begin_one(&self, machine: &Machine<C>, object: Rc<Object<C>>) -> Result<()> {
        let at = machine.scratch;
        machine.begin(at, async move {
            let id = object.uuid7()?.generate_async(|time| at.sleep(time)).await?;
            at.put_bytes(0, &id.to_bytes());
            Ok(Vec::new())
        })
    }

    #[inline(never)]
    fn put_many(&self, machine: &Machine<C>, waits: bool) -> Result<()> {
        let (at, mut ids) = (machine.scratch, [Uuid7::MIN; BATCH]);
        let ids = &mut ids[..at.count()];
        let made = if waits {
            self.fill(ids)?;
            ids.len()
        } else {
            self.try_fill(ids)?
        };
        for (index, id) in ids.iter().enumerate() {
            at.put_bytes(index * Uuid7::LEN, &id.to_bytes());
        }
        at.put_length(made);
        Ok(())
    }

    /// Writes the worker ID, the last millisecond, the number of clock rollbacks, and whether the generator is closed. The
    /// worker ID and the last millisecond may be NaN.
    fn put_stats(&self, machine: &Machine<C>) -> Result<()> {
        let stats = self.stats();
        let worker_id = stats.worker_id.map_or(f64::NAN, f64::from);
        let (rollbacks, closed) = (stats.rollbacks.into(), stats.closed.into());
        machine.scratch.put_results(&[worker_id, unix_ms(stats.last_ms), rollbacks, closed]);
        Ok(())
    }

    /// Writes the last millisecond, or NaN if the generator was never used.
    fn put_final_state(&self, machine: &Machine<C>) -> Result<()> {
        machine.scratch.put_results(&[unix_ms(self.close()?)]);
        Ok(())
    }

    fn may_repeat_object(&self, other: &Object<C>, end: Option<i64>) -> Result<bool> {
        let Object::Uuid7(other) = other else { return Ok(false) };
        self.may_repeat(other, end)
    }
}

/// Converts an ID's time to a number, with NaN for `None`.
#[allow(clippy::cast_precision_loss, reason = "an ID's time has 48 bits")]
fn unix_ms(time: Option<i64>) -> f64 {
    time.map_or(f64::NAN, |time| time as f64)
}
