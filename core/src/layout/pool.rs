//! Several generators of one layout as one, past what its sequence may hold in a tick.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Batch, Draft, Generator, Id, family::Template};
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    generator::{Engine, Member, Members, Mode, Pooled, Source, pools},
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
        self.members.one(Mode::Wait, None)
    }

    /// Fills a slice with new IDs, from one member after the other: `&mut [i64]` in an integer layout, or packed bytes.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<()> {
        self.members.fill(Mode::Wait, None, ids.into())
    }

    /// One new ID if any member has one now. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&self) -> Result<Id> {
        self.members.one(Mode::Try, None)
    }

    /// Fills the front of a slice with as many new IDs as there are now in all members, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::try_fill`].
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<usize> {
        self.members.try_fill(None, ids.into())
    }

    /// One new ID, waiting in `sleep` instead of on the thread: `tokio::time::sleep` for example.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Id> {
        self.members.one_async(&sleep, None).await
    }

    /// As [`Pool::fill`], waiting in `sleep` instead of on the thread. Dropped before its end, it loses the IDs that it wrote.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub async fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
    ) -> Result<()> {
        self.members.fill_async(&sleep, None, ids.into()).await
    }
}

pools!(Template);

impl Pooled for Template {
    type Claim<'m> = &'m Draft;

    const OVERLAP: &'static str = "expected members of different bindables, found the same twice";

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
