//! Several generators as one, for more IDs a second than one generator can make.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, HotGuid, family::Identities};
use crate::{
    Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, Source, address, calls, pools},
};

/// Makes IDs of several [`Generator`]s, faster than the 16,777,216 IDs a second (60 ns an ID) that the format allows for each.
/// Threads may share it, and its generators too.
///
/// A call takes IDs from the same generator as the last call. If that generator's second is used up, it goes on to the next
/// one; if all are used up, it waits as a single generator would. Any other error of a member is an error of the pool, for
/// example of a closed member or one outside its window: close, extend and inspect members one by one. IDs of different
/// members are in no order.
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
    /// A pool of generators, given as references, in `Arc`s or the like. The random bytes that each draws tell them apart.
    ///
    /// ```
    /// use polyflake::hotguid::{Generator, Pool};
    ///
    /// let (first, second) = (Generator::new(), Generator::new());
    /// assert_eq!(Pool::new([&first, &second])?.members().len(), 2);
    /// assert_eq!(Pool::new([&first, &first]).unwrap_err().item(), Some(1));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `out_of_range`: with the `item`, if a generator is listed twice; if there are none, or more than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID, for a shard of your choice.
    ///
    /// ```
    /// use polyflake::hotguid::{Generator, Pool};
    ///
    /// let ids = Pool::owning([Generator::new(), Generator::new()])?;
    /// assert_eq!(ids.generate(3)?.shard_key(), 3);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self, shard_key: u32) -> Result<HotGuid> {
        self.members.one(Mode::Wait, shard_key)
    }

    calls!(members: HotGuid, shard_key: u32 = 7; core::convert::identity;
        "use polyflake::hotguid::{Generator, HotGuid, Pool};\n\n\
         let ids = Pool::owning([Generator::new(), Generator::new()])?;");
}

pools!(Identities;
    "use polyflake::hotguid::{Generator, Pool};\n\n\
     let (first, second) = (Generator::new(), Generator::new());");

impl Pooled for Identities {
    type Claim<'m> = usize;

    const OVERLAP: &'static str =
        "expected members of different random bytes, found the same twice";

    fn check_kind(&self, _: &Self) -> Result<()> {
        Ok(())
    }

    /// A claim of the generator's own address: each generator draws its own random bytes.
    fn claim(&self) -> (usize, usize) {
        (address(self), address(self))
    }
}
