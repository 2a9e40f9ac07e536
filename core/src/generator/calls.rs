//! The calls of generators in all families whose IDs have one type. They only differ in the values that the caller
//! gives for each ID.

/// The calls of a generator whose slots come from `$source`, beside `generate`. `$setup` begins their examples: it makes
/// `ids`.
macro_rules! calls {
    ($source:ident: $id:ty $(, $given:ident: $type:ty = $value:literal)?; $setup:literal) => {
        /// Fills a slice with new IDs.
        ///
        /// ```
        #[doc = $setup]
        #[doc = concat!("let mut batch = [", stringify!($id), "::default(); 100];")]
        #[doc = concat!("ids.fill(", $(stringify!($value), ", ",)? "&mut batch)?;")]
        /// assert_ne!(batch[0], batch[99]);
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        ///
        /// # Errors
        /// As `generate`; [`Error::written`](crate::Error::written) is the number of valid IDs at the front of the slice.
        pub fn fill(&self $(, $given: $type)?, ids: &mut [$id]) -> Result<()> {
            self.$source.fill(Mode::Wait, ($($given)?), ids)
        }

        /// One new ID without waiting, if there is one now.
        ///
        /// ```
        #[doc = $setup]
        #[doc = concat!("match ids.try_generate(", $(stringify!($value),)? ") {")]
        ///     Ok(id) => assert_ne!(id, Default::default()),
        ///     Err(error) => println!("try again at {:?}", error.retry_at()), // in Unix milliseconds
        /// }
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        ///
        /// # Errors
        /// `sequence_exhausted` or `clock_behind`, with the time to retry, instead of a wait; all else as `generate`.
        #[inline]
        pub fn try_generate(&self $(, $given: $type)?) -> Result<$id> {
            self.$source.one(Mode::Try, ($($given)?))
        }

        /// Fills the front of a slice with as many new IDs as are available now, and returns their number. It never waits.
        ///
        /// ```
        #[doc = $setup]
        #[doc = concat!("let mut batch = [", stringify!($id), "::default(); 100];")]
        #[doc = concat!("let made = ids.try_fill(", $(stringify!($value), ", ",)? "&mut batch)?;")]
        /// assert!(batch[made..].iter().all(|unchanged| *unchanged == Default::default()));
        /// # Ok::<(), polyflake::Error>(())
        /// ```
        ///
        /// # Errors
        /// As `fill`, except `sequence_exhausted` and `clock_behind`, which only end the batch.
        pub fn try_fill(&self $(, $given: $type)?, ids: &mut [$id]) -> Result<usize> {
            self.$source.try_fill(($($given)?), ids)
        }

        /// One new ID. It waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread.
        ///
        /// ```
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> polyflake::Result<()> {
        #[doc = $setup]
        #[doc = concat!("let id = ids.generate_async(tokio::time::sleep", $(", ", stringify!($value),)? ").await?;")]
        /// assert_ne!(id, Default::default());
        /// # Ok(())
        /// # }
        /// ```
        ///
        /// # Errors
        /// As `generate`.
        pub async fn generate_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?
        ) -> Result<$id> {
            self.$source.one_async(&sleep, ($($given)?)).await
        }

        /// Fills a slice with new IDs. It waits in `sleep` and does not block the thread. `written` counts the valid IDs at the
        /// front of the slice: all in the end, and as many as there were if the call is dropped before.
        ///
        /// ```
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> polyflake::Result<()> {
        #[doc = $setup]
        #[doc = concat!("let mut batch = [", stringify!($id), "::default(); 100];")]
        /// let mut written = 0;
        #[doc = concat!("let filled = ids.fill_async(tokio::time::sleep, ", $(stringify!($value), ", ",)? "&mut batch, &mut written);")]
        /// match tokio::time::timeout(std::time::Duration::from_secs(1), filled).await {
        ///     Ok(filled) => filled?,
        ///     Err(_) => println!("{written} IDs in time"),
        /// }
        /// assert!(batch[written..].iter().all(|unchanged| *unchanged == Default::default()));
        /// # Ok(())
        /// # }
        /// ```
        ///
        /// # Errors
        /// As `fill`.
        pub fn fill_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?,
            ids: &mut [$id],
            written: &mut usize,
        ) -> impl Future<Output = Result<()>> {
            *written = 0; // a call may be dropped before its first poll
            async move { self.$source.fill_async(&sleep, ($($given)?), ids, written).await }
        }
    };
}

pub(crate) use calls;
