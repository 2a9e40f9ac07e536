//! Several partitions as one, past what one may have in a tick.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, Sno, fill, make, partition::Partitions};
use crate::{
    Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, address, refused},
};

/// Makes IDs of several [`Generator`]s, faster than the 65,536 in 4 ms (61 ns an ID) that the format grants to each. Threads may
/// share it, and its generators too.
///
/// A call takes from the generator that the last one took from; where that one's tick is used up it goes on to the next, and only
/// where all are does it wait as one alone would. All else a generator refuses, the pool refuses too: a closed one, one outside
/// its window, one of the parent process. So it is closed, extended and looked at member by member. IDs of different members are in no order.
///
/// Threads that share a pool meet at the same generator. Each may have a pool of its own over the same generators, beginning
/// with another.
///
/// ```
/// use polyflake::sno::{Generator, Pool, Sno};
///
/// static PARTITIONS: [Generator; 4] = [const { Generator::new() }; 4];
///
/// let ids = Pool::new(&PARTITIONS)?;
/// let mut batch = vec![Sno::default(); 100_000]; // more than a tick of one
/// ids.fill(7, &mut batch)?;
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Debug)]
pub struct Pool<G> {
    members: Members<G>,
}

impl<G> Pool<G> {
    /// Its generators.
    pub fn members(&self) -> &[G] {
        self.members.all()
    }
}

impl<C: Clock> Pool<Box<Generator<C>>> {
    /// A pool that owns its generators.
    ///
    /// # Errors
    /// As [`Pool::new`].
    pub fn owning(members: impl IntoIterator<Item = Generator<C>>) -> Result<Self> {
        Self::new(members.into_iter().map(Box::new))
    }
}

impl<C: Clock, G: Deref<Target = Generator<C>>> Pool<G> {
    /// A pool of generators, given as references, in `Arc`s or the like.
    ///
    /// # Errors
    /// `out_of_range`, with the `item`: where one is there twice, two have the same given partition, or given partitions and default ones,
    /// which might meet, are mixed; where there are none, or more than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self, metabyte: u8) -> Result<Sno> {
        make::one(&self.members, Mode::Wait, metabyte)
    }

    /// The text of one new ID, on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate_text(&self, metabyte: u8) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.generate(metabyte)?.text())
    }

    /// Fills a slice with new IDs, from one member after the other.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<()> {
        make::many(&self.members, metabyte, fill::bytes_of(ids))
    }

    /// One new ID if any member has one now. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&self, metabyte: u8) -> Result<Sno> {
        make::one(&self.members, Mode::Try, metabyte)
    }

    /// The text of [`Pool::try_generate`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_text(&self, metabyte: u8) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.try_generate(metabyte)?.text())
    }

    /// Fills the front of a slice with as many new IDs as there are now in all members, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_fill`].
    pub fn try_fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<usize> {
        make::try_many(&self.members, metabyte, fill::bytes_of(ids))
    }

    /// One new ID, waiting in `sleep` instead of on the thread: `tokio::time::sleep` for example.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration), metabyte: u8) -> Result<Sno> {
        make::one_async(&self.members, &sleep, metabyte).await
    }

    /// The text of [`Pool::generate_async`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_text_async(
        &self,
        sleep: impl AsyncFn(Duration),
        metabyte: u8,
    ) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.generate_async(sleep, metabyte).await?.text())
    }

    /// As [`Pool::fill`], waiting in `sleep` instead of on the thread. Dropped before its end, it loses the IDs that it wrote.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub async fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        metabyte: u8,
        ids: &mut [Sno],
    ) -> Result<()> {
        make::many_async(&self.members, &sleep, metabyte, fill::bytes_of(ids)).await
    }
}

impl<C: Clock> Member for Generator<C> {
    type Family = Partitions;
    type Clock = C;

    #[inline]
    fn engine(&self) -> &Engine<Partitions, C> {
        &self.engine
    }
}

impl Pooled for Partitions {
    type Claim<'m> = usize;

    const OVERLAP: &'static str = "expected members of different partitions, found the same twice";

    /// A default partition may be drawn later, and be the given one of another then.
    fn check_kind(&self, other: &Self) -> Result<()> {
        if self.given().is_some() == other.given().is_some() {
            return Ok(());
        }
        Err(refused("expected partitions that are all given or all default, found both"))
    }

    fn claim(&self) -> (usize, usize) {
        let only = self.given().map_or_else(|| address(self), usize::from);
        (only, only)
    }
}
