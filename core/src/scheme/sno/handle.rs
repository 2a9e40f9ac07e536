//! A thread's own way into a generator: it reserves blocks, so that threads scale.

use core::num::NonZeroU32;

use super::{
    Generator, SCALE, Sno,
    generator::{Reserved, id},
};
use crate::{Error, ErrorKind, Result, clock::Clock, scheme::Block};

/// Makes IDs of a shared [`Generator`] for one thread. What it has reserved in a tick and not used by its end is lost, so
/// a block is small against a tick's 65,536 sequences.
///
/// Its IDs are in order; those of different handles mix.
///
/// ```
/// use polyflake::sno::Generator;
///
/// static IDS: Generator = Generator::new();
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             let mut ids = IDS.handle();
///             let (first, second) = (ids.generate(1).unwrap(), ids.generate(1).unwrap());
///             assert!(first < second);
///         });
///     }
/// });
/// ```
#[derive(Debug)]
pub struct Handle<'g, C> {
    generator: &'g Generator<C>,
    block: Option<Block<Reserved>>,
    size: NonZeroU32,
}

/// IDs in a block if nothing is said: enough to make the shared step cheap, few enough to lose.
const BLOCK: NonZeroU32 = NonZeroU32::new(64).unwrap();

impl<C: Clock> Generator<C> {
    /// A handle for one thread, which reserves 64 IDs at a time.
    pub fn handle(&self) -> Handle<'_, C> {
        self.handle_with(BLOCK)
    }

    /// A handle that reserves `size` IDs at a time.
    pub fn handle_with(&self, size: NonZeroU32) -> Handle<'_, C> {
        Handle { generator: self, block: None, size }
    }
}

impl<C: Clock> Handle<'_, C> {
    /// One new ID.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self, metabyte: u8) -> Result<Sno> {
        let tick = SCALE.tick_of_nanos(self.generator.now()?)?;
        if self.generator.is_closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        match self.block.as_mut().and_then(|block| block.take(tick)) {
            Some(((partition, run), k)) => Ok(id(partition, run, k, metabyte)),
            None => self.refill(metabyte),
        }
    }

    /// Reserves a block and takes its first slot.
    #[cold]
    fn refill(&mut self, metabyte: u8) -> Result<Sno> {
        self.block = None;
        let (partition, run) = self.generator.reserve(self.size.get())?;
        let mut block = Block::new((partition, run), run.tick, run.len);
        block.take(run.tick);
        self.block = Some(block);
        Ok(id(partition, run, 0, metabyte))
    }
}
