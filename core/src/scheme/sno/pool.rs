//! Several partitions as one, past what one may have in a tick.

use core::ops::Deref;

use super::{
    Generator, Sno, fill,
    generator::{Reserved, fill_from, id},
    identity::Origin,
};
use crate::{
    Result,
    base32::Text,
    clock::Clock,
    scheme::{Member, Members, address, filled_now, refused},
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
        let (_, (partition, run)) = self.members.reserve(1)?;
        Ok(id(partition, run, 0, metabyte))
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
        fill_from(|want| Ok(self.members.reserve(want)?.1), metabyte, fill::bytes_of(ids))
    }

    /// One new ID if any member has one now. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&self, metabyte: u8) -> Result<Sno> {
        let (_, (partition, run)) = self.members.try_reserve(1)?;
        Ok(id(partition, run, 0, metabyte))
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
        let reserve = |want| Ok(self.members.try_reserve(want)?.1);
        filled_now(fill_from(reserve, metabyte, fill::bytes_of(ids)), ids.len())
    }
}

impl<C: Clock> Member for Generator<C> {
    type Slots = Reserved;
    type Claim<'m>
        = usize
    where
        C: 'm;

    const OVERLAP: &'static str = "expected members of different partitions, found the same twice";

    fn reserve(&self, want: u32) -> Result<Reserved> {
        self.reserve(want)
    }

    #[inline]
    fn reserve_now(&self, want: u32) -> Result<Reserved> {
        self.try_reserve(want)
    }

    /// A default partition may be drawn later, and be the given one of another then.
    fn check_kind(&self, other: &Self) -> Result<()> {
        let is_given = |member: &Self| matches!(member.origin, Origin::Given { .. });
        if is_given(self) == is_given(other) {
            return Ok(());
        }
        Err(refused("expected partitions that are all given or all default, found both"))
    }

    fn claim(&self) -> (usize, usize) {
        let only = match self.origin {
            Origin::Given { partition, .. } => partition.into(),
            Origin::Drawn { .. } => address(self),
        };
        (only, only)
    }
}
