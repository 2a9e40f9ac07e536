//! Several grants as one, past what a node may have in a second.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, Randflake, family::Nodes};
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, Source, calls, pools},
};

/// Makes IDs of several [`Generator`]s, faster than the 131,072 a second that the format grants to each node. Threads may share it,
/// and its generators too. For nodes that follow each other one grant of them all does the same.
///
/// A call takes from the generator that the last one took from; where that one's second is used up it goes on to the next, and
/// only where all are does it fail, or wait, as one alone would. All else a generator refuses, the pool refuses too: a closed one,
/// one outside its grant, one of the parent process. So it is closed, extended and looked at member by member.
///
/// ```
/// use polyflake::randflake::{Generator, Grant, Pool, Randflake};
///
/// let node = |node| {
///     let grant = Grant::new(node, 1_730_000_000, 2_803_741_824)?;
///     Generator::builder(grant, *b"sixteen byte key").build().map(Box::new)
/// };
/// let ids = Pool::new([node(7)?, node(42)?])?;
/// let mut batch = vec![Randflake::default(); 200_000]; // more than a second of one
/// ids.fill(&mut batch)?;
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
    /// With the `item`: `out_of_range` where one is there twice or two have a node in common; `invalid_secret` for another secret than the others';
    /// also `out_of_range` where there are none, or more than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self) -> Result<Randflake> {
        self.members.one(Mode::Wait, ())
    }

    calls!(members: Randflake; core::convert::identity);
}

pools!(Nodes);

impl Pooled for Nodes {
    type Claim<'m> = usize;

    const OVERLAP: &'static str = "expected members of different nodes, found the same twice";

    fn check_kind(&self, other: &Self) -> Result<()> {
        if !self.codec.has_secret_of(&other.codec) {
            let reason = "expected one secret of all members, found another";
            return Err(Error::because(ErrorKind::InvalidSecret, reason));
        }
        Ok(())
    }

    fn claim(&self) -> (usize, usize) {
        let (first, last) = self.grant.nodes().into_inner();
        (first as usize, last as usize)
    }
}
