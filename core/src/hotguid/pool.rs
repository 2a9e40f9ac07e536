//! Several generators as one, past what one may have in a second.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, HotGuid, family::Identities, make};
use crate::{
    Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, address},
};

/// Makes IDs of several [`Generator`]s, faster than the 16,777,216 a second (60 ns an ID) that the format grants to each. Threads
/// may share it, and its generators too.
///
/// A call takes from the generator that the last one took from; where that one's second is used up it goes on to the next, and
/// only where all are does it wait as one alone would. All else a generator refuses, the pool refuses too: a closed one, one
/// outside its window. So it is closed, extended and looked at member by member. IDs of different members are in no order.
///
/// ```
/// use polyflake::hotguid::{Generator, Pool};
///
/// static MACHINES: [Generator; 4] = [const { Generator::new() }; 4];
///
/// let ids = Pool::new(&MACHINES)?;
/// assert_eq!(ids.generate(7)?.shard_key(), 7);
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
    /// A pool of generators, given as references, in `Arc`s or the like. What tells them apart are the random bytes that each
    /// draws.
    ///
    /// # Errors
    /// `out_of_range`: with the `item` where one is there twice; where there are none, or more than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID, for a shard of your choice.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self, shard_key: u32) -> Result<HotGuid> {
        make::one(&self.members, Mode::Wait, shard_key)
    }

    /// The text of one new ID, on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate_text(&self, shard_key: u32) -> Result<Text<{ HotGuid::TEXT_LEN }>> {
        Ok(self.generate(shard_key)?.text())
    }

    /// Fills a slice with new IDs, from one member after the other.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill(&self, shard_key: u32, ids: &mut [HotGuid]) -> Result<()> {
        make::many(&self.members, shard_key, ids)
    }

    /// One new ID if any member has one now. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&self, shard_key: u32) -> Result<HotGuid> {
        make::one(&self.members, Mode::Try, shard_key)
    }

    /// The text of [`Pool::try_generate`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_text(&self, shard_key: u32) -> Result<Text<{ HotGuid::TEXT_LEN }>> {
        Ok(self.try_generate(shard_key)?.text())
    }

    /// Fills the front of a slice with as many new IDs as there are now in all members, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_fill`].
    pub fn try_fill(&self, shard_key: u32, ids: &mut [HotGuid]) -> Result<usize> {
        make::try_many(&self.members, shard_key, ids)
    }

    /// One new ID, waiting in `sleep` instead of on the thread: `tokio::time::sleep` for example.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_async(
        &self,
        sleep: impl AsyncFn(Duration),
        shard_key: u32,
    ) -> Result<HotGuid> {
        make::one_async(&self.members, &sleep, shard_key).await
    }

    /// The text of [`Pool::generate_async`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_text_async(
        &self,
        sleep: impl AsyncFn(Duration),
        shard_key: u32,
    ) -> Result<Text<{ HotGuid::TEXT_LEN }>> {
        Ok(self.generate_async(sleep, shard_key).await?.text())
    }

    /// As [`Pool::fill`], waiting in `sleep` instead of on the thread. Dropped before its end, it loses the IDs that it wrote.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub async fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        shard_key: u32,
        ids: &mut [HotGuid],
    ) -> Result<()> {
        make::many_async(&self.members, &sleep, shard_key, ids).await
    }
}

impl<C: Clock> Member for Generator<C> {
    type Family = Identities;
    type Clock = C;

    #[inline]
    fn engine(&self) -> &Engine<Identities, C> {
        &self.engine
    }
}

impl Pooled for Identities {
    type Claim<'m> = usize;

    const OVERLAP: &'static str =
        "expected members of different random bytes, found the same twice";

    fn check_kind(&self, _: &Self) -> Result<()> {
        Ok(())
    }

    /// Each draws its own random bytes.
    fn claim(&self) -> (usize, usize) {
        (address(self), address(self))
    }
}
