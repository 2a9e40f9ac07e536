//! Traits for types that generate IDs, so that a service can use a lease in production and a generator with a manual clock
//! in tests.

use core::{
    cell::{RefCell, RefMut},
    time::Duration,
};

use crate::{Error, ErrorKind, Result};

/// A type of ID that a generator can create, for example [`Sno`](crate::sno::Sno) or [`layout::Id`](crate::layout::Id).
///
/// ```
/// use polyflake::{Generate, Generated, Result, clock::ManualClock, sno::{Builder, Sno}};
///
/// fn twice<I: Generated>(ids: &impl Generate<I>, params: [I::Param; 2]) -> Result<[I; 2]> {
///     let [first, second] = params;
///     Ok([ids.generate(first)?, ids.generate(second)?])
/// }
///
/// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
/// let ids = Builder::with_clock(&clock).partition(42).build()?;
/// assert_eq!(twice::<Sno>(&ids, [1, 2])?.map(|id| id.metabyte()), [1, 2]);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub trait Generated: Sized {
    /// The value that the caller chooses for each ID, such as a sno's metabyte, or `()`.
    type Param;
    /// The type of buffer that is filled with many IDs.
    type Batch<'b>;
}

/// Generates IDs. Generators, leased generators, and handles in a [`RefCell`] implement this trait.
///
/// Generators have inherent methods with the same names, so the trait is needed only for functions and services that accept
/// any of these types. The trait is dyn-compatible: `dyn Generate<Sno>`.
///
/// ```
/// use polyflake::{Generate, Result, clock::ManualClock, sno::{Builder, Sno}};
///
/// struct Orders<G> {
///     ids: G,
/// }
///
/// impl<G: Generate<Sno>> Orders<G> {
///     fn place(&self) -> Result<Sno> {
///         self.ids.generate(7)
///     }
/// }
///
/// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
/// let orders = Orders { ids: Builder::with_clock(&clock).partition(42).build()? }; // a lease in production
/// assert_eq!(orders.place()?.unix_ms(), 1_767_225_600_000);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub trait Generate<I: Generated> {
    /// Generates a new ID. The call may wait, like the generator's method of the same name.
    ///
    /// # Errors
    /// Returns the same errors as the generator's method.
    fn generate(&self, param: I::Param) -> Result<I>;

    /// Generates a new ID if one is available without waiting.
    ///
    /// # Errors
    /// Returns the same errors as the generator's method.
    fn try_generate(&self, param: I::Param) -> Result<I>;

    /// Fills a buffer with new IDs.
    ///
    /// # Errors
    /// Returns the same errors as the generator's method. [`Error::written`] is the number of valid IDs at the front of the
    /// buffer.
    fn fill(&self, param: I::Param, ids: I::Batch<'_>) -> Result<()>;

    /// Writes as many new IDs to the front of a buffer as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// # Errors
    /// Returns the same errors as the generator's method.
    fn try_fill(&self, param: I::Param, ids: I::Batch<'_>) -> Result<usize>;
}

/// Generates IDs without blocking the thread. Generators and leased generators implement this trait.
///
/// ```
/// use std::{pin::pin, task::{Context, Poll, Waker}, time::Duration};
///
/// use polyflake::{GenerateAsync, Result, clock::ManualClock, sno::{Builder, Sno}};
///
/// async fn order(ids: &impl GenerateAsync<Sno>, sleep: impl AsyncFn(Duration)) -> Result<Sno> {
///     ids.generate_async(sleep, 7).await
/// }
///
/// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
/// let ids = Builder::with_clock(&clock).partition(42).build()?;
/// let order = pin!(order(&ids, async |_| unreachable!("an ID is available")));
/// let Poll::Ready(id) = order.poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
/// assert_eq!(id?.metabyte(), 7);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub trait GenerateAsync<I: Generated>: Generate<I> {
    /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
    /// blocking the thread.
    ///
    /// # Errors
    /// Returns the same errors as the generator's method.
    fn generate_async(
        &self,
        sleep: impl AsyncFn(Duration),
        param: I::Param,
    ) -> impl Future<Output = Result<I>>;

    /// Fills a buffer with new IDs. If the call has to wait, it awaits `sleep` instead of blocking the thread. `written`
    /// counts the valid IDs at the front of the buffer, so it remains correct if the future is dropped early.
    ///
    /// # Errors
    /// Returns the same errors as the generator's method.
    fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        param: I::Param,
        ids: I::Batch<'_>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>>;
}

/// Implements the traits for pointers by forwarding every call to the value behind the pointer.
macro_rules! impl_generate_for_pointers {
    ($($(#[$when:meta])? $pointer:ty),*) => {$(
        $(#[$when])?
        impl<I: Generated, G: Generate<I> + ?Sized> Generate<I> for $pointer {
            #[inline]
            fn generate(&self, param: I::Param) -> Result<I> {
                (**self).generate(param)
            }
            #[inline]
            fn try_generate(&self, param: I::Param) -> Result<I> {
                (**self).try_generate(param)
            }
            fn fill(&self, param: I::Param, ids: I::Batch<'_>) -> Result<()> {
                (**self).fill(param, ids)
            }
            fn try_fill(&self, param: I::Param, ids: I::Batch<'_>) -> Result<usize> {
                (**self).try_fill(param, ids)
            }
        }

        $(#[$when])?
        impl<I: Generated, G: GenerateAsync<I>> GenerateAsync<I> for $pointer {
            fn generate_async(
                &self,
                sleep: impl AsyncFn(Duration),
                param: I::Param,
            ) -> impl Future<Output = Result<I>> {
                (**self).generate_async(sleep, param)
            }
            fn fill_async(
                &self,
                sleep: impl AsyncFn(Duration),
                param: I::Param,
                ids: I::Batch<'_>,
                written: &mut usize,
            ) -> impl Future<Output = Result<()>> {
                (**self).fill_async(sleep, param, ids, written)
            }
        }
    )*};
}

impl_generate_for_pointers!(
    &G,
    alloc::boxed::Box<G>,
    #[cfg(target_has_atomic = "ptr")]
    alloc::sync::Arc<G>
);

/// Implements the traits for a format's `Generator` and `Handle` by calling their methods of the same names. Both types
/// must be in scope.
macro_rules! impl_generate {
    ($id:ty, $batch:ty, $param:pat => $type:ty $(, $arg:ident)?) => {
        impl $crate::Generated for $id {
            type Param = $type;
            type Batch<'b> = $batch;
        }

        impl<C: $crate::clock::Clock> $crate::Generate<$id> for Generator<C> {
            #[inline]
            fn generate(&self, $param: $type) -> $crate::Result<$id> {
                self.generate($($arg)?)
            }
            #[inline]
            fn try_generate(&self, $param: $type) -> $crate::Result<$id> {
                self.try_generate($($arg)?)
            }
            fn fill(
                &self,
                $param: $type,
                ids: <$id as $crate::Generated>::Batch<'_>,
            ) -> $crate::Result<()> {
                self.fill($($arg,)? ids)
            }
            fn try_fill(
                &self,
                $param: $type,
                ids: <$id as $crate::Generated>::Batch<'_>,
            ) -> $crate::Result<usize> {
                self.try_fill($($arg,)? ids)
            }
        }

        impl<C: $crate::clock::Clock> $crate::GenerateAsync<$id> for Generator<C> {
            fn generate_async(
                &self,
                sleep: impl AsyncFn(core::time::Duration),
                $param: $type,
            ) -> impl Future<Output = $crate::Result<$id>> {
                self.generate_async(sleep $(, $arg)?)
            }
            fn fill_async(
                &self,
                sleep: impl AsyncFn(core::time::Duration),
                $param: $type,
                ids: <$id as $crate::Generated>::Batch<'_>,
                written: &mut usize,
            ) -> impl Future<Output = $crate::Result<()>> {
                self.fill_async(sleep, $($arg,)? ids, written)
            }
        }

        /// Forwards each call to the handle in the cell. Before a batch is filled, the rest of the handle's block is
        /// discarded, so that the handle's IDs stay in order.
        impl<C: $crate::clock::Clock, G: core::ops::Deref<Target = Generator<C>>>
            $crate::Generate<$id> for core::cell::RefCell<Handle<G>>
        {
            #[inline]
            fn generate(&self, $param: $type) -> $crate::Result<$id> {
                $crate::generator::borrow_handle(self)?.generate($($arg)?)
            }
            #[inline]
            fn try_generate(&self, $param: $type) -> $crate::Result<$id> {
                $crate::generator::borrow_handle(self)?.try_generate($($arg)?)
            }
            fn fill(
                &self,
                $param: $type,
                ids: <$id as $crate::Generated>::Batch<'_>,
            ) -> $crate::Result<()> {
                $crate::generator::borrow_handle(self)?.generator_without_block().fill($($arg,)? ids)
            }
            fn try_fill(
                &self,
                $param: $type,
                ids: <$id as $crate::Generated>::Batch<'_>,
            ) -> $crate::Result<usize> {
                $crate::generator::borrow_handle(self)?.generator_without_block().try_fill($($arg,)? ids)
            }
        }
    };
}

pub(crate) use impl_generate;

/// Borrows the handle in a cell. Fails if the handle is already in use. In this case, either the caller has borrowed the
/// handle, or a clock or callback uses the handle during another call.
#[inline]
pub(crate) fn borrow_handle<H>(cell: &RefCell<H>) -> Result<RefMut<'_, H>> {
    cell.try_borrow_mut().map_err(|_| handle_in_use_error())
}

#[cold]
fn handle_in_use_error() -> Error {
    let reason =
        &"expected a handle that no caller, clock or callback has borrowed, found one in use";
    Error::with_static_reason(ErrorKind::ClockFailed, reason)
}
