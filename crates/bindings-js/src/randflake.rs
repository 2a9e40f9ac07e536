//! Calls for Randflake: this file contains the calls on generators, `ids` contains the calls on IDs, and `sparx64` contains
//! the cipher.

mod ids;
mod sparx64;

use alloc::{rc::Rc, vec::Vec};
use core::{cell::RefCell, ops::Range, time::Duration};

use polyflake::{
    Error, ErrorKind, Result,
    randflake::{Builder, Generator, Grant, Handle, Randflake},
};

use crate::{
    Host, Machine, ScratchRef,
    generators::{GeneratorCalls, seconds},
    handles::Object,
    protocol::{BATCH, register},
    scratch::time,
};

/// A generator. With the system clock, it generates single IDs through the core's handle, which encrypts many IDs at once.
/// With a caller's clock, it uses no handle, because such a clock may count how often it is read, or may itself call the
/// generator.
pub(crate) struct RandflakeGenerator<C: Host> {
    pub(crate) generator: C::Shared<Generator<C>>,
    handle: Option<RefCell<GeneratorHandle<C>>>,
}

/// A handle that owns its generator.
type GeneratorHandle<C> = Handle<<C as Host>::Shared<Generator<C>>>;

impl<C: Host> RandflakeGenerator<C> {
    fn new(generator: C::Shared<Generator<C>>) -> Self {
        let is_system = generator.clock().is_system();
        let handle = is_system.then(|| RefCell::new(Handle::new(generator.clone())));
        Self { generator, handle }
    }

    #[inline]
    fn generate(&self) -> Result<Randflake> {
        match self.handle.as_ref().map(RefCell::try_borrow_mut) {
            Some(Ok(mut handle)) => handle.generate(),
            _ => self.generator.generate(),
        }
    }

    fn try_generate(&self) -> Result<Randflake> {
        match self.handle.as_ref().map(RefCell::try_borrow_mut) {
            Some(Ok(mut handle)) => handle.try_generate(),
            _ => self.generator.try_generate(),
        }
    }

    /// Tries the handle first, because the handle may still contain unused IDs of a second after the generator has run out
    /// of IDs for that second.
    async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Randflake> {
        match self.try_generate() {
            Err(error) if is_temporary(&error) => self.generator.generate_async(sleep).await,
            made => made,
        }
    }
}

impl<C: Host> RandflakeGenerator<C> {
    /// Extends the grant to the last full second at or before `end`, which is in Unix milliseconds.
    pub(crate) fn extend_window(&self, end: i64) -> Result<()> {
        let grant = self.generator.grant();
        let end = end.div_euclid(1000);
        self.generator.extend_grant(Grant::with_nodes(grant.nodes(), grant.start(), end)?)
    }

    pub(crate) fn seal(&self) -> Result<Option<Range<i64>>> {
        self.generator.seal()
    }

    pub(crate) fn is_usable(&self) -> bool {
        self.generator.is_usable()
    }
}

/// Returns whether an error is temporary, so that the same call may succeed later.
fn is_temporary(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockBehind)
}

/// Operations on generators. All operations except the first also read a handle.
impl<C: Host> Machine<C> {
    /// Reads the shared options, a grant, and the last second that an earlier generator used, or NaN. Reads the secret from
    /// the scratch area's bytes. Writes the generator's handle.
    pub fn randflake_build(&self, at: ScratchRef) -> Result<()> {
        let ((clock, key), secret) = (self.take_clock(), at.take_secret("secret"));
        let mut builder = Builder::with_clock(at.grant(register::OWN)?, secret?, clock);
        let resume_after = at.number(register::OWN + 4);
        if !resume_after.is_nan() {
            builder = builder.resume_after(time(resume_after));
        }
        builder = at.shared_options()?.apply_to_builder(builder);
        let built = C::get_or_build(key, Generator::is_usable, || builder.build())?;
        self.put_object(at, Object::Randflake(RandflakeGenerator::new(built)));
        Ok(())
    }

    /// Generates an ID, and writes it.
    #[inline]
    pub fn randflake_generate(&self, at: ScratchRef) -> Result<()> {
        let id = self.object(at)?.randflake()?.generate()?;
        at.put_integer_id(id.to_i64());
        Ok(())
    }

    /// Generates an ID, and writes its string and the string's length.
    #[inline]
    pub fn randflake_generate_text(&self, at: ScratchRef) -> Result<()> {
        let id = self.object(at)?.randflake()?.generate()?;
        at.put_randflake_text(id);
        Ok(())
    }

    /// Writes the grant.
    pub fn randflake_held_grant(&self, at: ScratchRef) -> Result<()> {
        let grant = self.object(at)?.randflake()?.generator.grant();
        at.put_grant(grant);
        Ok(())
    }

    /// Reads a longer grant, and extends the current one.
    pub fn randflake_extend_grant(&self, at: ScratchRef) -> Result<()> {
        let (object, longer) = (self.object(at)?, at.grant(register::VALUE)?);
        object.randflake()?.generator.extend_grant(longer)
    }
}

/// IDs are packed as 64-bit integers.
impl<C: Host> GeneratorCalls<C> for RandflakeGenerator<C> {
    fn put_one(&self, machine: &Machine<C>) -> Result<()> {
        machine.scratch.put_integer_id(self.try_generate()?.to_i64());
        Ok(())
    }

    fn begin_one(&self, machine: &Machine<C>, object: Rc<Object<C>>) -> Result<()> {
        let at = machine.scratch;
        machine.begin(at, async move {
            let id = object.randflake()?.generate_async(|time| at.sleep(time)).await?;
            at.put_randflakes(&[id]);
            Ok(Vec::new())
        })
    }

    #[inline(never)]
    fn put_many(&self, machine: &Machine<C>, waits: bool) -> Result<()> {
        let (at, mut ids) = (machine.scratch, [Randflake::default(); BATCH]);
        let ids = &mut ids[..at.count()];
        let made = if waits {
            self.generator.fill(ids)?;
            ids.len()
        } else {
            self.generator.try_fill(ids)?
        };
        at.put_randflakes(ids);
        at.put_length(made);
        Ok(())
    }

    /// Writes the statistics. The last used second is NaN if the generator has not used a second yet.
    #[allow(clippy::cast_precision_loss, reason = "34 bits for all nodes")]
    fn put_stats(&self, machine: &Machine<C>) -> Result<()> {
        let stats = self.generator.stats();
        let (last_second, len) = (seconds(stats.last_second), stats.len as f64);
        machine.scratch.put_results(&[last_second, len, stats.closed.into()]);
        Ok(())
    }

    /// Writes the last second in which the generator was used, or NaN if it was never used.
    fn put_final_state(&self, machine: &Machine<C>) -> Result<()> {
        machine.scratch.put_results(&[seconds(self.generator.close()?)]);
        Ok(())
    }

    fn may_repeat_object(&self, other: &Object<C>, end: Option<i64>) -> Result<bool> {
        let Object::Randflake(other) = other else { return Ok(false) };
        self.generator.may_repeat(&other.generator, end)
    }
}
