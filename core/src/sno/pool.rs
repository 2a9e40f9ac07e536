//! Several partitions as one, past what one may have in a tick.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, Sno, fill, partition::Partitions};
use crate::{
    Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, Source, address, calls, pools, refused},
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
        self.members.one(Mode::Wait, metabyte)
    }

    calls!(members: Sno, metabyte: u8; fill::bytes_of);
}

pools!(Partitions);

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
