//! Randflake: generators are here, IDs in `ids`, the cipher in `sparx64`.

mod ids;
mod sparx64;

use alloc::rc::Rc;
use core::{cell::RefCell, time::Duration};

use polyflake::{
    Error, ErrorKind, Result,
    randflake::{Builder, Generator, Handle, Randflake},
};

use crate::{
    At, Host, Machine,
    generators::seconds,
    handles::Object,
    protocol::{BATCH, slot},
};

/// A generator. With the system clock, it generates single IDs through the core's handle, which encrypts many IDs at once. With
/// a caller's clock it uses no handle, because such a clock may count its readings or call the generator.
#[derive(Debug)]
pub(crate) struct Flakes<C> {
    pub(crate) generator: Rc<Generator<C>>,
    handle: Option<RefCell<Holding<C>>>,
}

/// A handle that owns its generator.
type Holding<C> = Handle<Rc<Generator<C>>>;

impl<C: Host> Flakes<C> {
    fn new(generator: Generator<C>) -> Self {
        let is_system = generator.clock().is_system();
        let generator = Rc::new(generator);
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

    /// Tries the handle first, because it may contain IDs of a second that the generator has used up.
    async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Randflake> {
        match self.try_generate() {
            Err(error) if is_of_now(&error) => self.generator.generate_async(sleep).await,
            made => made,
        }
    }
}

/// Returns whether an error is temporary, so that the same call may succeed later.
fn is_of_now(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockBehind)
}

/// Fills a batch with new IDs, and returns how many it wrote.
type Fill<'f, C> = &'f dyn Fn(&Generator<C>, &mut [Randflake]) -> Result<usize>;

/// Calls on generators. All but the first also take a handle.
impl<C: Host> Machine<C> {
    /// Takes options, and the secret from the bytes. Writes a handle.
    pub fn randflake_build(&self, at: At) -> Result<()> {
        let clock = self.take_clock();
        let secret = at.take_secret("secret");
        let mut builder = Builder::with_clock(at.grant()?, secret?, clock);
        if at.given(slot::RANDFLAKE_OPTIONS_RESUME_AFTER) {
            builder = builder.resume_after(at.time(slot::RANDFLAKE_OPTIONS_RESUME_AFTER));
        }
        let shared = at.shared()?;
        builder = shared.give(builder);
        self.put_object(at, Object::Randflake(Flakes::new(builder.build()?)));
        Ok(())
    }

    /// Generates an ID, and writes it.
    #[inline]
    pub fn randflake_generate(&self, at: At) -> Result<()> {
        let id = self.object(at)?.randflake()?.generate()?;
        at.put_made(id.to_i64());
        Ok(())
    }

    /// Generates an ID without waiting, and writes it.
    pub fn randflake_try_generate(&self, at: At) -> Result<()> {
        let id = self.object(at)?.randflake()?.try_generate()?;
        at.put_made(id.to_i64());
        Ok(())
    }

    /// Generates an ID, and writes its string and the string's length.
    #[inline]
    pub fn randflake_generate_text(&self, at: At) -> Result<()> {
        let id = self.object(at)?.randflake()?.generate()?;
        at.put_randflake_text(id);
        Ok(())
    }

    /// Generates one ID in turns, and writes it packed.
    pub fn randflake_one_async(&self, at: At) -> Result<()> {
        let object = self.object(at)?;
        self.begin(at, async move {
            let id = object.randflake()?.generate_async(|time| at.sleep(time)).await?;
            at.put_randflakes(&[id]);
            Ok(None)
        })
    }

    /// Takes a count of at most [`BATCH`]. Writes packed IDs.
    pub fn randflake_fill(&self, at: At) -> Result<()> {
        self.randflake_fill_by(at, &|flakes, ids| {
            flakes.fill(ids)?;
            Ok(ids.len())
        })
    }

    /// Works like `randflake_fill`, but without waiting. Writes packed IDs and their number.
    pub fn randflake_fill_now(&self, at: At) -> Result<()> {
        self.randflake_fill_by(at, &Generator::try_fill)
    }

    #[inline(never)]
    fn randflake_fill_by(&self, at: At, fill: Fill<'_, C>) -> Result<()> {
        let (object, mut ids) = (self.object(at)?, [Randflake::default(); BATCH]);
        let count = at.count(slot::MANY_COUNT);
        let ids = &mut ids[..count];
        let made = fill(&object.randflake()?.generator, ids)?;
        self.scratch.put_randflakes(ids);
        at.put_length(made);
        Ok(())
    }

    /// Writes the grant.
    pub fn randflake_held_grant(&self, at: At) -> Result<()> {
        let grant = self.object(at)?.randflake()?.generator.grant();
        at.put_grant(grant);
        Ok(())
    }

    /// Takes a longer grant.
    pub fn randflake_extend_grant(&self, at: At) -> Result<()> {
        let (object, longer) = (self.object(at)?, at.grant()?);
        object.randflake()?.generator.extend_grant(longer)
    }

    /// Writes the statistics, with NaN if no second has been used yet.
    #[allow(clippy::cast_precision_loss, reason = "34 bits for all nodes")]
    pub fn randflake_stats(&self, at: At) -> Result<()> {
        let stats = self.object(at)?.randflake()?.generator.stats();
        let numbers = [seconds(stats.last_second), stats.len as f64, stats.closed.into()];
        at.put_numbers(slot::RANDFLAKE_STATS_LAST_SECOND, &numbers);
        Ok(())
    }

    /// Closes the generator, and writes the last second it used, or NaN.
    pub fn randflake_close(&self, at: At) -> Result<()> {
        let last = self.object(at)?.randflake()?.generator.close()?;
        at.put_number(slot::RANDFLAKE_CLOSE_LAST_SECOND, seconds(last));
        Ok(())
    }
}
