//! A generator and its lease: calls that a lease refuses for now say why, and in a forked child they lease a number first.

use std::{sync::Arc, time::Duration};

use core::mem;

use polyflake::{Error, ErrorKind, Result};

use crate::{
    Lease,
    ids::granted::{Family, Threaded},
};

/// A generator under a lease, of a family: [`sno`](crate::sno::Generator), [`randflake`](crate::randflake::Generator),
/// [`hotguid`](crate::hotguid::Generator) or [`layout`](crate::layout::Generator). It renews the lease, moves to another number if it
/// must, and returns its number when it is dropped. It has the calls of the core's generators.
///
/// A clone is the same generator under the same lease, as a shared state of axum's needs it. The number is returned when the last
/// clone is dropped, or one of them is closed.
pub struct Generator<F: Family> {
    leased: Arc<F>,
    lease: Arc<Lease>,
    /// The longest wait for the first grant of a process.
    longest: Duration,
}

/// A lease that has begun, and the generator that its first grant will make.
pub(crate) struct Begun<F: Family> {
    pub(crate) granted: Arc<Threaded<F>>,
    pub(crate) lease: Lease,
    pub(crate) longest: Duration,
}

// Not derived: a derive would require `F: Clone`.
impl<F: Family> Clone for Generator<F> {
    fn clone(&self) -> Self {
        Self { leased: self.leased.clone(), lease: self.lease.clone(), longest: self.longest }
    }
}

/// Without the generator, which may hold a secret.
impl<F: Family> core::fmt::Debug for Generator<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.lease.fmt(f)
    }
}

impl<F: Family> Begun<F> {
    /// Waits for the first grant.
    pub(crate) fn ready(self) -> crate::Result<Generator<F>> {
        if !self.lease.waits_in_drop {
            let reason = "expected a call that waits beside a task, as `with_async` does";
            return Err(crate::rules::error::out_of_range(reason));
        }
        self.lease.ready(self.longest)?;
        self.generator()
    }

    /// As [`Begun::ready`], waiting in `sleep`. A drop then waits for nothing, also that of the future.
    pub(crate) async fn ready_async(
        mut self,
        sleep: impl AsyncFn(Duration),
    ) -> crate::Result<Generator<F>> {
        self.lease.waits_in_drop = false;
        self.lease.ready_async(sleep, self.longest).await?;
        self.generator()
    }

    fn generator(self) -> crate::Result<Generator<F>> {
        let leased = self.granted.leased().cloned();
        let leased = leased.ok_or_else(|| none("expected a generator of the grant, found none"))?;
        Ok(Generator { leased, lease: Arc::new(self.lease), longest: self.longest })
    }
}

impl<F: Family> Generator<F> {
    /// The lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Ends the generator, whose calls fail with `generator_closed` from now on, and returns the number. Call it before a process
    /// ends by a signal, since that runs no drop. It waits until the store knows; where a task keeps the lease it does not. A drop
    /// waits too, unless an asynchronous call made the generator: then its thread returns the number while the process goes on. In
    /// the child of a fork it ends only a lease of the child's own.
    pub fn close(&self) {
        self.lease.close();
    }

    /// As [`Generator::close`], but it waits in `sleep` and does not block the thread. If the future is dropped, the number is
    /// returned all the same.
    pub async fn close_async(&self, sleep: impl AsyncFn(Duration)) {
        self.lease.close_async(sleep).await;
    }

    /// Calls the generator; the call may wait.
    ///
    /// The result stays where the call wrote it: to pass it on costs an ID a nanosecond.
    #[inline]
    pub(crate) fn call<V>(&self, mut call: impl FnMut(&F) -> Result<V>) -> Result<V> {
        let mut made = call(&self.leased);
        if is_of_lease(&made) {
            self.call_later(&mut made, call);
        }
        made
    }

    #[cold]
    fn call_later<V>(&self, made: &mut Result<V>, mut call: impl FnMut(&F) -> Result<V>) {
        if matches!(made, Err(refused) if refused.kind() == ErrorKind::Forked) {
            let ready = self.lease.ready(self.longest);
            *made = call(&self.leased);
            if let Err(reason) = ready
                && is_of_lease(made)
            {
                *made = Err(unavailable(reason));
                return;
            }
        }
        self.explain_in(made);
    }

    /// Calls the generator; the call never waits.
    #[inline]
    pub(crate) fn try_call<V>(&self, call: impl FnOnce(&F) -> Result<V>) -> Result<V> {
        let mut made = call(&self.leased);
        if is_of_lease(&made) {
            self.explain_in(&mut made);
        }
        made
    }

    /// Adds the reason to a refusal, if there is one.
    #[cold]
    fn explain_in<V>(&self, made: &mut Result<V>) {
        if let Err(refused) = made {
            let refused = mem::replace(refused, Error::new(ErrorKind::LeaseUnavailable));
            *made = Err(self.explain(refused));
        }
    }

    /// Calls the generator; the call waits in `sleep`.
    pub(crate) async fn call_async<V>(
        &self,
        sleep: &impl AsyncFn(Duration),
        mut call: impl AsyncFnMut(&F) -> Result<V>,
    ) -> Result<V> {
        match call(&self.leased).await {
            Err(refused) if refused.kind() == ErrorKind::Forked => {}
            made => return made.map_err(|refused| self.explain(refused)),
        }
        let ready = self.lease.ready_async(sleep, self.longest).await;
        match (call(&self.leased).await, ready) {
            (made, Err(reason)) if is_of_lease(&made) => Err(unavailable(reason)),
            (made, _) => made.map_err(|refused| self.explain(refused)),
        }
    }

    /// Adds the reason to a refusal for want of a lease. In a forked child the lease of its own begins.
    #[cold]
    fn explain(&self, refused: Error) -> Error {
        match refused.kind() {
            ErrorKind::LeaseUnavailable => refused.with_source(self.lease.reason()),
            ErrorKind::Forked => {
                let none = || none("expected a lease of this process, found none yet");
                unavailable(self.lease.wake().err().unwrap_or_else(none))
            }
            _ => refused,
        }
    }
}

#[inline]
fn is_of_lease<V>(made: &Result<V>) -> bool {
    matches!(made, Err(refused) if matches!(refused.kind(), ErrorKind::LeaseUnavailable | ErrorKind::Forked))
}

fn none(reason: &'static str) -> crate::Error {
    crate::Error::new(crate::ErrorKind::LeaseUnavailable, reason)
}

/// The error of a generator that has no lease.
#[cold]
fn unavailable(reason: crate::Error) -> Error {
    Error::new(ErrorKind::LeaseUnavailable).with_source(reason)
}

/// The calls of a generator in all families whose IDs have one type; `$given` is the value that the caller gives for each ID.
macro_rules! calls {
    ($id:ty $(, $given:ident: $type:ty)?) => {
        /// One new ID. It waits for a lease as for a tick: up to a second. The first ID in a forked child waits as long for a lease of
        /// the child's own as the generator waited for its first.
        ///
        /// # Errors
        /// `lease_unavailable` without a lease; its source says since when, and why. `generator_closed` after `close`. All else as the
        /// core's generator.
        #[inline]
        pub fn generate(&self $(, $given: $type)?) -> polyflake::Result<$id> {
            self.call(|leased| leased.generate(($($given)?)))
        }

        /// Fills a slice with new IDs. A batch across a move to another number goes on under that number.
        ///
        /// # Errors
        /// As [`Generator::generate`]; `written` is the number of valid IDs at the front of the slice.
        pub fn fill(&self $(, $given: $type)?, ids: &mut [$id]) -> polyflake::Result<()> {
            self.call(|leased| leased.fill(($($given)?), ids))
        }

        /// One new ID without waiting, if there is one now. In a forked child the first call begins to lease a number.
        ///
        /// # Errors
        /// `lease_unavailable`, `sequence_exhausted` or `clock_behind` instead of a wait; all else as [`Generator::generate`].
        #[inline]
        pub fn try_generate(&self $(, $given: $type)?) -> polyflake::Result<$id> {
            self.try_call(|leased| leased.try_generate(($($given)?)))
        }

        /// Fills the front of a slice with as many new IDs as are available now, and returns their number. It never waits.
        ///
        /// # Errors
        /// As [`Generator::fill`], except `sequence_exhausted` and `clock_behind`, which only end the batch.
        pub fn try_fill(&self $(, $given: $type)?, ids: &mut [$id]) -> polyflake::Result<usize> {
            self.try_call(|leased| leased.try_fill(($($given)?), ids))
        }

        /// One new ID. It waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread.
        ///
        /// # Errors
        /// As [`Generator::generate`].
        pub async fn generate_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?
        ) -> polyflake::Result<$id> {
            self.call_async(&sleep, async |leased| leased.generate_async(&sleep, ($($given)?)).await).await
        }

        /// Fills a slice with new IDs. It waits in `sleep` and does not block the thread. `written` counts the valid IDs at the front
        /// of the slice: all in the end, and as many as there were if the call is dropped before.
        ///
        /// # Errors
        /// As [`Generator::fill`].
        pub fn fill_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?,
            ids: &mut [$id],
            written: &mut usize,
        ) -> impl Future<Output = polyflake::Result<()>> {
            *written = 0; // a call may be dropped before its first poll
            async move {
                let fill = async |leased: &Leased| {
                    leased.fill_async(&sleep, ($($given)?), &mut *ids, &mut *written).await
                };
                self.call_async(&sleep, fill).await
            }
        }
    };
}

pub(crate) use calls;

/// Implements the core's traits for a family's generators under a lease, by their own calls.
macro_rules! by_own_calls {
    ($id:ty, $param:pat => $type:ty $(, $arg:ident)?) => {
        impl polyflake::Generate<$id> for Generator {
            #[inline]
            fn generate(&self, $param: $type) -> polyflake::Result<$id> {
                self.generate($($arg)?)
            }
            #[inline]
            fn try_generate(&self, $param: $type) -> polyflake::Result<$id> {
                self.try_generate($($arg)?)
            }
            fn fill(&self, $param: $type, ids: <$id as polyflake::Generated>::Batch<'_>) -> polyflake::Result<()> {
                self.fill($($arg,)? ids)
            }
            fn try_fill(&self, $param: $type, ids: <$id as polyflake::Generated>::Batch<'_>) -> polyflake::Result<usize> {
                self.try_fill($($arg,)? ids)
            }
        }

        impl polyflake::GenerateAsync<$id> for Generator {
            fn generate_async(
                &self,
                sleep: impl AsyncFn(Duration),
                $param: $type,
            ) -> impl Future<Output = polyflake::Result<$id>> {
                self.generate_async(sleep $(, $arg)?)
            }
            fn fill_async(
                &self,
                sleep: impl AsyncFn(Duration),
                $param: $type,
                ids: <$id as polyflake::Generated>::Batch<'_>,
                written: &mut usize,
            ) -> impl Future<Output = polyflake::Result<()>> {
                self.fill_async(sleep, $($arg,)? ids, written)
            }
        }
    };
}

pub(crate) use by_own_calls;
