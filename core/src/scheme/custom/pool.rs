//! Several generators of one layout as one, past what its sequence may hold in a tick.

use core::ops::Deref;

use super::{Batch, Generator, generator::fill_from};
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    layout::{Draft, Id},
    scheme::{Member, Members, filled_now},
    sequence::per_tick::Run,
};

/// Makes IDs of several [`Generator`]s of one layout, faster than its sequence allows to each. Threads may share it, and its
/// generators too.
///
/// A call takes from the generator that the last one took from; where that one's tick is used up it goes on to the next, and only
/// where all are does it wait as one alone would. All else a generator refuses, the pool refuses too: a closed one, one outside
/// its window, one of the parent process. So it is closed, extended and looked at member by member. IDs of different members are in no order.
///
/// ```
/// use polyflake::layout::{Generator, Pool, preset};
///
/// let sonyflake = preset("sonyflake", [])?; // 256 in 10 ms
/// let machine = |id: i64| {
///     Generator::builder(sonyflake.clone()).bind("machine", id).build().map(Box::new)
/// };
/// let ids = Pool::new([machine(7)?, machine(8)?])?;
/// ids.fill(&mut [0_i64; 500][..])?;
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
    /// A pool of generators whose bindables are all fixed, given as references, in `Arc`s or the like.
    ///
    /// # Errors
    /// With the `item`: `missing_field` for a bindable that is not fixed; `out_of_range` where one is there twice or two have the same
    /// bindables; `invalid_layout` for another layout than the others'. Also `out_of_range` where there are none, or more than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self) -> Result<Id> {
        let (generator, run) = self.members.reserve(1)?;
        Ok(generator.id_at(&generator.base, run.tick, run.first))
    }

    /// Fills a slice with new IDs, from one member after the other: `&mut [i64]` in an integer layout, or packed bytes.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<()> {
        let kind = &self.members.all()[0].base;
        let reserve = |want| {
            let (generator, run) = self.members.reserve(want)?;
            Ok((generator, &generator.base, run))
        };
        fill_from(&reserve, kind, ids.into())
    }

    /// One new ID if any member has one now. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&self) -> Result<Id> {
        let (generator, run) = self.members.try_reserve(1)?;
        Ok(generator.id_at(&generator.base, run.tick, run.first))
    }

    /// Fills the front of a slice with as many new IDs as there are now in all members, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_fill`].
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<usize> {
        let (kind, ids) = (&self.members.all()[0].base, ids.into());
        let reserve = |want| {
            let (generator, run) = self.members.try_reserve(want)?;
            Ok((generator, &generator.base, run))
        };
        let count = ids.count(kind);
        filled_now(fill_from(&reserve, kind, ids), count)
    }
}

impl<C: Clock> Member for Generator<C> {
    type Slots = Run;
    type Claim<'m>
        = &'m Draft
    where
        C: 'm;

    const OVERLAP: &'static str = "expected members of different bindables, found the same twice";

    fn reserve(&self, want: u32) -> Result<Run> {
        self.reserve(want)
    }

    #[inline]
    fn reserve_now(&self, want: u32) -> Result<Run> {
        self.try_reserve(want)
    }

    fn check(&self) -> Result<()> {
        self.complete().map(drop)
    }

    fn check_kind(&self, other: &Self) -> Result<()> {
        if self.layout != other.layout {
            let reason = "expected one layout of all members, found another";
            return Err(Error::because(ErrorKind::InvalidLayout, reason));
        }
        Ok(())
    }

    fn claim(&self) -> (&Draft, &Draft) {
        (&self.base, &self.base)
    }
}
