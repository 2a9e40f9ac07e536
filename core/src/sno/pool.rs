//! Several partitions as one, for more IDs in a tick than one partition has.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, Sno, fill, partition::Partitions};
use crate::{
    Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, Source, address, calls, pools, refused},
};

/// Makes IDs of several [`Generator`]s, faster than the 65,536 IDs in 4 ms (61 ns an ID) that the format allows for each.
/// Threads may share it, and its generators too.
///
/// A call takes IDs from the same generator as the thread's last call. If that generator's tick is used up, it goes on to the next one;
/// if all are used up, it waits as a single generator would. Any other error of a member is an error of the pool, for example
/// of a closed member, one outside its window or one of the parent process: close, extend and inspect members one by one. IDs
/// of different members are in no order.
///
/// Threads that share a pool begin with different generators where there are enough of them, so they rarely contend. Without
/// `std` all threads begin with the same generator.
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

impl<C: Clock, G: Deref<Target = Generator<C>>> Pool<G> {
    /// A pool of generators, given as references, in `Arc`s or the like.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Pool};
    ///
    /// let node = |partition| Generator::builder().partition(partition).build();
    /// let (first, second) = (node(42)?, node(43)?);
    /// assert_eq!(Pool::new([&first, &second])?.members().len(), 2);
    /// assert_eq!(Pool::new([&first, &second, &first]).unwrap_err().item(), Some(2));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `out_of_range`: with the `item`, if a generator is listed twice, if two have the same given partition, or if given partitions
    /// and default ones, which might be equal, are mixed; if there are none, or more than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID.
    ///
    /// ```
    /// use polyflake::sno::{Generator, Pool};
    ///
    /// let node = |partition| Generator::builder().partition(partition).build();
    /// let ids = Pool::owning([node(42)?, node(43)?])?;
    /// assert!([42, 43].contains(&ids.generate(7)?.partition()));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self, metabyte: u8) -> Result<Sno> {
        self.members.one(Mode::Wait, metabyte)
    }

    calls!(members: Sno, metabyte: u8 = 7; fill::bytes_of;
        "use polyflake::sno::{Generator, Pool, Sno};\n\n\
         let ids = Pool::owning([Generator::new(), Generator::new()])?;");
}

pools!(Partitions;
    "use polyflake::sno::{Generator, Pool};\n\n\
     let (first, second) = (Generator::new(), Generator::new());");

impl Pooled for Partitions {
    type Claim<'m> = usize;

    const OVERLAP: &'static str = "expected members of different partitions, found the same twice";

    /// Refuses to mix given and default partitions: a default one may be drawn later, and then equal a given one.
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
