//! Several generators of one layout as one, for more IDs in a tick than its sequence holds.

use alloc::boxed::Box;
use core::{ops::Deref, time::Duration};

use super::{Batch, Draft, Generator, Id, family::Template};
use crate::{
    Error, ErrorKind, Result,
    clock::Clock,
    generator::{Engine, Member, Members, Mode, Pooled, Source, pools},
};

/// Makes IDs of several [`Generator`]s of one layout, faster than its sequence allows for each. Threads may share it, and its
/// generators too.
///
/// A call takes IDs from the same generator as the last call. If that generator's tick is used up, it goes on to the next one;
/// if all are used up, it waits as a single generator would. Any other error of a member is an error of the pool, for example
/// of a closed member, one outside its window or one of the parent process: close, extend and inspect members one by one. IDs
/// of different members are in no order.
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
    /// ```
    /// use polyflake::layout::{Generator, Pool, preset};
    ///
    /// let machine = |id: i64| Generator::builder(preset("sonyflake", [])?).bind("machine", id).build();
    /// let (first, twin) = (machine(7)?, machine(7)?);
    /// let error = Pool::new([&first, &twin]).unwrap_err();
    /// assert_eq!((error.code(), error.item()), ("out_of_range", Some(1)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// With the `item`: `missing_field` for a bindable that is not fixed; `out_of_range` if a generator is listed twice or two have
    /// the same bindables; `invalid_layout` if a layout differs from the others'. Also `out_of_range` if there are none, or more
    /// than 65,536.
    pub fn new(members: impl IntoIterator<Item = G>) -> Result<Self> {
        Members::new(members).map(|members| Self { members })
    }

    /// One new ID.
    ///
    /// ```
    /// use polyflake::layout::{Generator, Pool, preset};
    ///
    /// let machine = |id: i64| Generator::builder(preset("sonyflake", [])?).bind("machine", id).build();
    /// let ids = Pool::owning([machine(7)?, machine(8)?])?;
    /// assert_ne!(ids.generate()?, ids.generate()?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&self) -> Result<Id> {
        self.members.one(Mode::Wait, None)
    }

    /// Fills a slice with new IDs, from one member after the other: `&mut [i64]` in an integer layout, else packed bytes.
    ///
    /// ```
    /// use polyflake::layout::{Generator, Pool, preset};
    ///
    /// let machine = |id: i64| Generator::builder(preset("sonyflake", [])?).bind("machine", id).build();
    /// let ids = Pool::owning([machine(7)?, machine(8)?])?;
    /// let mut batch = [0_i64; 500];
    /// ids.fill(&mut batch[..])?; // 256 of each in 10 ms
    /// assert!(batch.iter().all(|id| *id > 0));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<()> {
        self.members.fill(Mode::Wait, None, ids.into())
    }

    /// One new ID without waiting, if any member has one now.
    ///
    /// ```
    /// use polyflake::layout::{Generator, Pool, preset};
    ///
    /// let machine = |id: i64| Generator::builder(preset("sonyflake", [])?).bind("machine", id).build();
    /// assert!(Pool::owning([machine(7)?, machine(8)?])?.try_generate()?.as_integer().is_some());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&self) -> Result<Id> {
        self.members.one(Mode::Try, None)
    }

    /// Fills the front of a slice with as many new IDs as all members have now, and returns their number. It never waits.
    ///
    /// ```
    /// use polyflake::{
    ///     clock::ManualClock,
    ///     layout::{Builder, Pool, preset},
    /// };
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let machine = |id: i64| {
    ///     Builder::with_clock(preset("sonyflake", [])?, &clock).bind("machine", id).build()
    /// };
    /// let ids = Pool::owning([machine(7)?, machine(8)?])?;
    /// assert_eq!(ids.try_fill(&mut [0_i64; 1000][..])?, 512); // 256 of each
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::try_fill`].
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<usize> {
        self.members.try_fill(None, ids.into())
    }

    /// One new ID. It waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::layout::{Generator, Pool, preset};
    ///
    /// let machine = |id: i64| Generator::builder(preset("sonyflake", [])?).bind("machine", id).build();
    /// let ids = Pool::owning([machine(7)?, machine(8)?])?;
    /// assert!(ids.generate_async(tokio::time::sleep).await?.as_integer().is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Id> {
        self.members.one_async(&sleep, None).await
    }

    /// As [`Pool::fill`], but it waits in `sleep` and does not block the thread. `written` counts the valid
    /// IDs at the front: all in the end, and as many as there were if the call is dropped before.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> polyflake::Result<()> {
    /// use polyflake::layout::{Generator, Pool, preset};
    ///
    /// let machine = |id: i64| Generator::builder(preset("sonyflake", [])?).bind("machine", id).build();
    /// let ids = Pool::owning([machine(7)?, machine(8)?])?;
    /// let mut batch = [0_i64; 600]; // more than both have in 10 ms
    /// ids.fill_async(tokio::time::sleep, &mut batch[..], &mut 0).await?;
    /// assert!(batch.iter().all(|id| *id > 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        *written = 0; // a call may be dropped before its first poll
        async move { self.members.fill_async(&sleep, None, ids.into(), written).await }
    }
}

pools!(Template;
    "use polyflake::layout::{Generator, Pool, preset};\n\n\
     let machine = |id: i64| Generator::builder(preset(\"sonyflake\", [])?).bind(\"machine\", id).build();\n\
     let (first, second) = (machine(7)?, machine(8)?);");

impl Pooled for Template {
    type Claim<'m> = &'m Draft;

    const OVERLAP: &'static str = "expected members of different bindables, found the same twice";

    fn check(&self) -> Result<()> {
        self.complete().map(drop)
    }

    fn check_kind(&self, other: &Self) -> Result<()> {
        if self.layout != other.layout {
            let reason = "expected the same layout in all members, found another";
            return Err(Error::because(ErrorKind::InvalidLayout, reason));
        }
        Ok(())
    }

    fn claim(&self) -> (&Draft, &Draft) {
        (&self.base, &self.base)
    }
}
