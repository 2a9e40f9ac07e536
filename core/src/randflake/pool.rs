//! Several grants as one, for more IDs a second than one node has.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Generator, Randflake, family::Nodes};
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    format::Text,
    generator::{Engine, Member, Members, Mode, Pooled, Source, calls, pools},
};

/// Makes IDs of several [`Generator`]s, faster than the 131,072 IDs a second that the format allows for each node. Threads may
/// share it, and its generators too. For consecutive nodes, one grant of all of them does the same.
///
/// A call takes IDs from the same generator as the last call. If that generator's second is used up, it goes on to the next
/// one; if all are used up, it fails or waits as a single generator would. Any other error of a member is an error of the pool,
/// for example of a closed member, one outside its grant or one of the parent process: close, extend and inspect members one by
/// one.
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
    /// ```
    /// use polyflake::randflake::{Generator, Grant, Pool};
    ///
    /// let node = |node, secret| {
    ///     let grant = Grant::new(node, 1_730_000_000, 2_803_741_824)?;
    ///     Generator::builder(grant, secret).build()
    /// };
    /// let (first, second) = (node(7, *b"sixteen byte key")?, node(42, *b"another 16 bytes")?);
    /// let error = Pool::new([&first, &second]).unwrap_err();
    /// assert_eq!((error.code(), error.item()), ("invalid_secret", Some(1)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// With the `item`: `out_of_range` if a generator is listed twice or two have a node in common; `invalid_secret` if a secret
    /// differs from the others'. Also `out_of_range` if there are none, or more than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant, Pool};
    ///
    /// let node = |node| {
    ///     let grant = Grant::new(node, 1_730_000_000, 2_803_741_824)?;
    ///     Generator::builder(grant, *b"sixteen byte key").build()
    /// };
    /// let ids = Pool::owning([node(7)?, node(42)?])?;
    /// assert!([7, 42].contains(&ids.members()[0].inspect(ids.generate()?).node));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self) -> Result<Randflake> {
        self.members.one(Mode::Wait, ())
    }

    calls!(members: Randflake; core::convert::identity;
        "use polyflake::randflake::{Generator, Grant, Pool, Randflake};\n\n\
         let grant = |node| Grant::new(node, 1_730_000_000, 2_803_741_824);\n\
         let node = |node| Generator::builder(grant(node)?, *b\"sixteen byte key\").build();\n\
         let ids = Pool::owning([node(7)?, node(42)?])?;");
}

pools!(Nodes;
    "use polyflake::randflake::{Generator, Grant, Pool};\n\n\
     let grant = |node| Grant::new(node, 1_730_000_000, 2_803_741_824);\n\
     let node = |node| Generator::builder(grant(node)?, *b\"sixteen byte key\").build();\n\
     let (first, second) = (node(7)?, node(42)?);");

impl Pooled for Nodes {
    type Claim<'m> = usize;

    const OVERLAP: &'static str = "expected members of different nodes, found the same twice";

    fn check_kind(&self, other: &Self) -> Result<()> {
        if !self.codec.has_secret_of(&other.codec) {
            let reason = "expected the same secret in all members, found another";
            return Err(Error::because(ErrorKind::InvalidSecret, reason));
        }
        Ok(())
    }

    fn claim(&self) -> (usize, usize) {
        let (first, last) = self.grant.nodes().into_inner();
        (first as usize, last as usize)
    }
}
