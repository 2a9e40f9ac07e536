//! Several generators as one, past what one may have in a second.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, HotGuid, family::Identities};
use crate::{
    Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, Source, address, calls, pools},
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
        self.members.one(Mode::Wait, shard_key)
    }

    calls!(members: HotGuid, shard_key: u32; core::convert::identity);
}

pools!(Identities);

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
