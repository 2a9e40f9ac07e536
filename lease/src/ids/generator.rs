//! A generator and its lease. If a call fails because there is no lease, the error contains the reason. In a forked child
//! process, the call first leases a worker ID for the child.

use std::{sync::Arc, time::Duration};

use core::mem;

use polyflake::{Error, ErrorKind, Result};

use crate::{
    Lease,
    ids::granted::{Family, SharedGrantee},
};

/// A leased generator for one ID format, for example [`sno::Generator`](crate::sno::Generator). It renews its lease,
/// switches to a different worker ID if necessary, and releases its worker ID when it is dropped. It has the same methods
/// as the core crate's generators.
///
/// A clone refers to the same generator and the same lease, so you can store a generator in an application's shared state,
/// for example in axum. The worker ID is released when the last clone is dropped, or when any clone is closed.
pub struct Generator<F: Family> {
    leased: Arc<F>,
    lease: Arc<Lease>,
    /// The maximum time to wait for a process's first grant.
    longest: Duration,
}

/// A lease that starts with the first call that waits for it, and a generator that has not received its first grant yet.
pub(crate) struct PendingGenerator<F: Family> {
    pub(crate) granted: Arc<SharedGrantee<F>>,
    pub(crate) lease: Lease,
    pub(crate) longest: Duration,
}

// `Clone` is not derived, because the derive would require `F: Clone`.
impl<F: Family> Clone for Generator<F> {
    fn clone(&self) -> Self {
        Self { leased: self.leased.clone(), lease: self.lease.clone(), longest: self.longest }
    }
}

/// Omits the generator, which may contain a secret.
impl<F: Family> core::fmt::Debug for Generator<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.lease.fmt(f)
    }
}

impl<F: Family> PendingGenerator<F> {
    /// Waits for the first grant.
    pub(crate) fn ready(self) -> crate::Result<Generator<F>> {
        if !self.lease.waits_in_drop {
            let reason = "expected an asynchronous call, such as `with_async`, because a task keeps the lease";
            return Err(crate::rules::error::out_of_range(reason));
        }
        self.lease.ready(self.longest)?;
        self.into_generator()
    }

    /// Works like [`PendingGenerator::ready`], but awaits `sleep`. Dropping the returned future or the generator never blocks.
    pub(crate) async fn ready_async(
        mut self,
        sleep: impl AsyncFn(Duration),
    ) -> crate::Result<Generator<F>> {
        self.lease.waits_in_drop = false;
        self.lease.ready_async(sleep, self.longest).await?;
        self.into_generator()
    }

    fn into_generator(self) -> crate::Result<Generator<F>> {
        Generator::of_grant(&self.granted, Arc::new(self.lease), self.longest)
    }
}

impl<F: Family> Generator<F> {
    /// Returns the generator of a lease that has received its first grant.
    pub(crate) fn of_grant(
        granted: &SharedGrantee<F>,
        lease: Arc<Lease>,
        longest: Duration,
    ) -> crate::Result<Self> {
        let leased = granted.leased().cloned();
        let leased = leased
            .ok_or_else(|| no_lease_error("expected a generator of the grant, found none"))?;
        Ok(Self { leased, lease, longest })
    }

    /// Returns the lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Closes the generator and releases the worker ID. Later calls fail with `generator_closed`. If a signal is about to
    /// terminate the process, call this method first, because values are not dropped in that case. This call waits until
    /// the store has acknowledged the release, unless a task maintains the lease. Dropping the generator waits as well,
    /// unless the generator was created by an asynchronous call. In that case, the lease's thread releases the worker ID in
    /// the background. In a forked child process, this call closes only the child's own lease.
    pub fn close(&self) {
        self.lease.close();
    }

    /// Works like [`Generator::close`], but awaits `sleep` instead of blocking the thread. If the future is dropped, the
    /// worker ID is still released.
    pub async fn close_async(&self, sleep: impl AsyncFn(Duration)) {
        self.lease.close_async(sleep).await;
    }

    /// Calls a generator method that may wait.
    ///
    /// The result is not moved after `call` has written it, because a move would cost a nanosecond per ID.
    #[inline]
    pub(crate) fn call<V>(&self, mut call: impl FnMut(&F) -> Result<V>) -> Result<V> {
        // The lease is checked only if calling the generator fails, so an ID costs no more than it would without a lease.
        let mut made = call(&self.leased);
        if is_lease_error(&made) {
            self.retry_with_lease(&mut made, call);
        }
        made
    }

    #[cold]
    fn retry_with_lease<V>(&self, made: &mut Result<V>, mut call: impl FnMut(&F) -> Result<V>) {
        if matches!(made, Err(error) if error.kind() == ErrorKind::Forked) {
            let ready = self.lease.ready_once(self.longest);
            // The generator is called again even if the wait failed, because the lease may have begun just before the wait
            // ended.
            *made = call(&self.leased);
            if let Err(reason) = ready
                && is_lease_error(made)
            {
                *made = Err(unavailable_error(reason));
                return;
            }
        }
        self.explain_result(made);
    }

    /// Calls a generator method that never waits.
    #[inline]
    pub(crate) fn try_call<V>(&self, call: impl FnOnce(&F) -> Result<V>) -> Result<V> {
        let mut made = call(&self.leased);
        if is_lease_error(&made) {
            self.explain_result(&mut made);
        }
        made
    }

    /// Adds the reason why there is no lease, if known, to a generator's error.
    #[cold]
    fn explain_result<V>(&self, made: &mut Result<V>) {
        if let Err(error) = made {
            // `explain_error` consumes the error, so a placeholder takes its place in the meantime.
            let error = mem::replace(error, Error::new(ErrorKind::LeaseUnavailable));
            *made = Err(self.explain_error(error));
        }
    }

    /// Calls a generator method that awaits `sleep` when it has to wait.
    pub(crate) async fn call_async<V>(
        &self,
        sleep: &impl AsyncFn(Duration),
        mut call: impl AsyncFnMut(&F) -> Result<V>,
    ) -> Result<V> {
        match call(&self.leased).await {
            Err(error) if error.kind() == ErrorKind::Forked => {}
            made => return made.map_err(|error| self.explain_error(error)),
        }
        let ready = self.lease.ready_async(sleep, self.longest).await;
        match (call(&self.leased).await, ready) {
            (made, Err(reason)) if is_lease_error(&made) => Err(unavailable_error(reason)),
            (made, _) => made.map_err(|error| self.explain_error(error)),
        }
    }

    /// Adds the reason for a missing lease to the error that it caused. In a forked child process, this function starts a
    /// lease for the child.
    #[cold]
    fn explain_error(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::LeaseUnavailable => error.with_source(self.lease.reason()),
            ErrorKind::Forked => {
                let none = || no_lease_error("expected a lease of this process, found none yet");
                unavailable_error(self.lease.start_in_child().err().unwrap_or_else(none))
            }
            _ => error,
        }
    }
}

#[inline]
fn is_lease_error<V>(made: &Result<V>) -> bool {
    matches!(made, Err(error) if matches!(error.kind(), ErrorKind::LeaseUnavailable | ErrorKind::Forked))
}

fn no_lease_error(reason: &'static str) -> crate::Error {
    crate::Error::new(crate::ErrorKind::LeaseUnavailable, reason)
}

/// Returns the error of a generator that has no lease, with `reason` as the error's source.
#[cold]
pub(crate) fn unavailable_error(reason: crate::Error) -> Error {
    Error::new(ErrorKind::LeaseUnavailable).with_source(reason)
}

/// Implements a generator's constructors. Each format's module defines the functions that the constructors need: `options`,
/// which returns the default options for a `LeaseUrl`, and `prepare`, which creates the generator. `$arg` is an argument of
/// all constructors. `$option` is an argument of the constructors with custom options, and all other constructors use
/// `$default` instead. `$new` and `$with` are sentences for the documentation of the constructors with default options and
/// with custom options.
macro_rules! constructors {
    (
        $new:literal, $with:literal,
        ($($arg:ident: $type:ty),*) $(, $option:ident: $option_type:ty = $default:expr)?
    ) => {
        /// Creates a generator with the default options. `url` specifies the store, as in [`open`](crate::protocol::open). The call
        /// waits up to 10 seconds for the first grant.
        #[doc = $new]
        /// # Errors
        /// Returns the reason why there is no grant, such as `lease_unavailable` or `worker_ids_exhausted`. Returns
        /// `namespace_mismatch` if the namespace was created for a different kind of ID.
        pub fn new(url: &str, namespace: &str $(, $arg: $type)*) -> Result<Self> {
            let lease_url = LeaseUrl::parse(url, Some(namespace))?;
            let options = options(&lease_url $(, $arg)*)?;
            Self::with(lease_url.source(), options $(, $arg)* $(, $default)?, lease_url.max_wait())
        }

        /// Creates a generator from environment variables. `POLYFLAKE_LEASE` contains the store's URL with the namespace,
        /// for example `sqlite:/var/lib/app/ids.db?namespace=orders`. If `POLYFLAKE_WORKER_ID` contains a worker ID, the
        /// generator requires that worker ID. The call waits up to 10 seconds for the first grant, or up to 70 seconds if a
        /// worker ID is required.
        ///
        /// # Errors
        /// Returns `lease_unavailable` if `POLYFLAKE_LEASE` is not set, or the same errors as [`Generator::new`].
        pub fn from_env($($arg: $type),*) -> Result<Self> {
            let lease_url = LeaseUrl::from_env(None)?;
            let options = options(&lease_url $(, $arg)*)?;
            Self::with(lease_url.source(), options $(, $arg)* $(, $default)?, lease_url.max_wait())
        }

        /// Works like [`Generator::new`], but awaits `sleep`, for example `tokio::time::sleep`, instead of blocking the
        /// thread. If the future is dropped, any worker ID leased in the meantime is released.
        ///
        /// # Errors
        /// Returns the same errors as [`Generator::new`].
        pub async fn new_async(
            url: &str,
            namespace: &str,
            $($arg: $type,)*
            sleep: impl AsyncFn(Duration),
        ) -> Result<Self> {
            let lease_url = LeaseUrl::parse(url, Some(namespace))?;
            let options = options(&lease_url $(, $arg)*)?;
            let (source, longest) = (lease_url.source(), lease_url.max_wait());
            Self::with_async(source, options $(, $arg)* $(, $default)?, longest, sleep).await
        }

        /// Creates a generator from any [`Source`] with custom options. The call waits up to `longest` for the first grant.
        #[doc = $with]
        /// # Errors
        /// Returns the same errors as [`Generator::new`], and `out_of_range` if the options are for a different kind of ID.
        pub fn with(
            source: impl Into<Source>,
            options: Options,
            $($arg: $type,)*
            $($option: $option_type,)?
            longest: Duration,
        ) -> Result<Self> {
            prepare(source.into(), options $(, $arg)* $(, $option)?, longest)?.ready()
        }

        /// Works like [`Generator::with`], but awaits `sleep` instead of blocking the thread. If the future is dropped, any
        /// worker ID leased in the meantime is released.
        ///
        /// # Errors
        /// Returns the same errors as [`Generator::with`].
        pub async fn with_async(
            source: impl Into<Source>,
            options: Options,
            $($arg: $type,)*
            $($option: $option_type,)?
            longest: Duration,
            sleep: impl AsyncFn(Duration),
        ) -> Result<Self> {
            prepare(source.into(), options $(, $arg)* $(, $option)?, longest)?.ready_async(sleep).await
        }
    };
}

pub(crate) use constructors;

/// Implements the generator methods for every format that has a single ID type. `$given` is the value that the caller
/// provides for each ID.
macro_rules! generate_methods {
    ($id:ty $(, $given:ident: $type:ty)?) => {
        /// Generates a new ID. The call waits up to a second for a lease or for an available tick. The first call in a
        /// forked child process waits for the child's own lease. The time limit of this wait is the same as for the
        /// generator's first grant.
        ///
        /// # Errors
        /// Returns `lease_unavailable` if the generator currently has no worker ID. The error's source states the reason
        /// and, if a lease has ended, the time at which it ended. Returns `generator_closed` after `close`. All other
        /// errors are the same as for the core crate's generator.
        #[inline]
        pub fn generate(&self $(, $given: $type)?) -> polyflake::Result<$id> {
            self.call(|leased| leased.generate(($($given)?)))
        }

        /// Fills a slice with new IDs. If the lease switches to a different worker ID during the batch, the remaining IDs
        /// use that worker ID.
        ///
        /// # Errors
        /// Returns the same errors as [`Generator::generate`]. `written` is the number of valid IDs at the front of the
        /// slice.
        pub fn fill(&self $(, $given: $type)?, ids: &mut [$id]) -> polyflake::Result<()> {
            self.call(|leased| leased.fill(($($given)?), ids))
        }

        /// Generates a new ID if one is available without waiting. In a forked child process, the first call starts leasing
        /// a worker ID.
        ///
        /// # Errors
        /// Returns `lease_unavailable`, `sequence_exhausted` or `clock_behind` instead of waiting. All other errors are the
        /// same as for [`Generator::generate`].
        #[inline]
        pub fn try_generate(&self $(, $given: $type)?) -> polyflake::Result<$id> {
            self.try_call(|leased| leased.try_generate(($($given)?)))
        }

        /// Fills the front of a slice with as many new IDs as are available without waiting, and returns the number of IDs
        /// written.
        ///
        /// # Errors
        /// Returns the same errors as [`Generator::fill`], except `sequence_exhausted` and `clock_behind`, which only end
        /// the batch.
        pub fn try_fill(&self $(, $given: $type)?, ids: &mut [$id]) -> polyflake::Result<usize> {
            self.try_call(|leased| leased.try_fill(($($given)?), ids))
        }

        /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
        /// blocking the thread.
        ///
        /// # Errors
        /// Returns the same errors as [`Generator::generate`].
        pub async fn generate_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?
        ) -> polyflake::Result<$id> {
            self.call_async(&sleep, async |leased| leased.generate_async(&sleep, ($($given)?)).await).await
        }

        /// Fills a slice with new IDs. If the call has to wait, it awaits `sleep` instead of blocking the thread. `written`
        /// counts the valid IDs at the front of the slice, and remains correct if the future is dropped early.
        ///
        /// # Errors
        /// Returns the same errors as [`Generator::fill`].
        pub fn fill_async(
            &self,
            sleep: impl AsyncFn(Duration)
            $(, $given: $type)?,
            ids: &mut [$id],
            written: &mut usize,
        ) -> impl Future<Output = polyflake::Result<()>> {
            *written = 0; // the future may be dropped before its first poll
            async move {
                let fill = async |leased: &Leased| {
                    leased.fill_async(&sleep, ($($given)?), &mut *ids, &mut *written).await
                };
                self.call_async(&sleep, fill).await
            }
        }
    };
}

pub(crate) use generate_methods;

/// Implements the core crate's traits for a format's leased generator by forwarding to its inherent methods.
macro_rules! impl_generate_by_delegation {
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

pub(crate) use impl_generate_by_delegation;
