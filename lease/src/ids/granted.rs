//! Leased versions of the core crate's generators, for any ID format. A leased generator switches from one grant to the
//! next.

use core::ops::Range;
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicU32, Ordering},
};
#[cfg(feature = "std")]
use std::{string::ToString, time::Duration};

use polyflake::{SlotSource, clock::Clock, fork};

#[cfg(feature = "std")]
use crate::{
    Error, ErrorKind, Options, Result, Source,
    ids::generator::PendingGenerator,
    protocol::{Grant, Grantee},
};

/// A type of leased generator in the core crate. Each ID format has one.
pub trait Family: SlotSource + Sized + 'static {
    /// The generator for a single grant.
    type Generator: SlotSource<Family = <Self as SlotSource>::Family>;

    /// Creates the leased generator from a generator for the first grant.
    ///
    /// # Errors
    /// Returns any error from the core crate.
    fn first(generator: Self::Generator) -> polyflake::Result<Self>;
    /// Switches to the next grant, and returns the number that identifies the new grant. `build` receives the time span of
    /// the previous grant's highest tick, and creates the generator.
    ///
    /// # Errors
    /// Returns any error from the core crate.
    fn next(
        &self,
        build: impl FnOnce(Option<Range<i64>>) -> polyflake::Result<Self::Generator>,
    ) -> polyflake::Result<u32>;
    /// Moves the end of a grant to a later time.
    ///
    /// # Errors
    /// Returns any error from the core crate.
    fn extend(&self, number: u32, end: i64) -> polyflake::Result<()>;
    /// Ends a grant, and returns the time span of its highest tick.
    ///
    /// # Errors
    /// Returns any error from the core crate.
    fn seal(&self, number: u32) -> polyflake::Result<Option<Range<i64>>>;
    /// Stops generating IDs in this process, at the user's request.
    fn close(&self);
}

/// Implements [`Family`] for types of the core crate. Each method calls the corresponding method of the type, whose name
/// may differ from the trait method's name.
macro_rules! family {
    ($($family:ident),*) => {$(
        impl<C: Clock + 'static> Family for polyflake::$family::Leased<C> {
            type Generator = polyflake::$family::Generator<C>;

            fn first(generator: Self::Generator) -> polyflake::Result<Self> {
                Self::new(generator)
            }
            fn next(
                &self,
                build: impl FnOnce(Option<Range<i64>>) -> polyflake::Result<Self::Generator>,
            ) -> polyflake::Result<u32> {
                self.move_to(build)
            }
            fn extend(&self, number: u32, end: i64) -> polyflake::Result<()> {
                self.extend(number, end)
            }
            fn seal(&self, number: u32) -> polyflake::Result<Option<Range<i64>>> {
                self.seal(number)
            }
            fn close(&self) {
                self.close();
            }
        }
    )*};
}

family!(sno, randflake, hotguid, layout, uuid7);

/// A function that creates a generator for a worker ID and a window in Unix milliseconds. It can be shared between threads.
#[cfg(feature = "std")]
type BuildGeneratorFn<G> = dyn Fn(u64, Range<i64>) -> polyflake::Result<G> + Send + Sync;

/// A [`Granted`] that can be shared between threads.
#[cfg(feature = "std")]
pub(crate) type SharedGrantee<F> =
    Granted<F, alloc::boxed::Box<BuildGeneratorFn<<F as Family>::Generator>>>;

/// A leased generator, which becomes available with the first grant. The function `build` creates a core generator from a
/// worker ID and a window in Unix milliseconds.
#[derive(Debug)]
pub struct Granted<F, B> {
    leased: OnceLock<Arc<F>>,
    /// The number that identifies the latest grant.
    number: AtomicU32,
    /// The process in which the generator was closed, possibly before its first grant.
    closed_in: Mutex<Option<u32>>,
    /// The restore count when the lease began or when the generator was last sealed, whichever is later.
    restores: AtomicU32,
    build: B,
}

#[cfg(feature = "std")]
impl<F: Family + Send + Sync> SharedGrantee<F> {
    /// Creates a lease for a namespace in a store, and its generator. Wait for the first grant before you generate the first
    /// ID.
    pub(crate) fn lease(
        source: Source,
        options: Options,
        longest: Duration,
        build: impl Fn(u64, Range<i64>) -> polyflake::Result<F::Generator> + Send + Sync + 'static,
    ) -> Result<PendingGenerator<F>> {
        let longest_ms = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        let options = options.waits_for_ms(longest_ms);
        let granted = Arc::new(Self::new(alloc::boxed::Box::new(build)));
        let lease = source.lease(options, granted.clone())?;
        Ok(PendingGenerator { granted, lease, longest })
    }
}

impl<F: Family, B: Fn(u64, Range<i64>) -> polyflake::Result<F::Generator>> Granted<F, B> {
    /// Creates a leased generator without a grant.
    pub fn new(build: B) -> Self {
        let (leased, number) = (OnceLock::new(), AtomicU32::new(0));
        let restores = AtomicU32::new(fork::restores());
        Self { leased, number, closed_in: Mutex::new(None), restores, build }
    }

    /// Creates the generator for a grant.
    ///
    /// A grant that was acquired before a restore must not begin, because another copy of the process has the same grant.
    /// After a restore, the lease's keeper seals the generator before it begins another grant, and sealing stores the
    /// current restore count. If the stored count is no longer current, another restore has happened since then. In that
    /// case, this function discards the new generator, which may have been created before the latest restore, and returns
    /// an error.
    fn build_generator(&self, worker_id: u64, span: Range<i64>) -> polyflake::Result<F::Generator> {
        let generator = (self.build)(worker_id, span)?;
        if self.restores.load(Ordering::Acquire) == fork::restores() {
            return Ok(generator);
        }
        Err(polyflake::Error::new(polyflake::ErrorKind::LeaseMismatch))
    }

    /// Prepares for the grants of a lease that is about to begin. The lease's keeper calls this function before the lease's
    /// first grant, because this process may have been restored or forked since the generator was created.
    pub fn prepare(&self) {
        self.restores.store(fork::restores(), Ordering::Release);
    }

    /// Returns the leased generator, or `None` before the first grant.
    pub fn leased(&self) -> Option<&Arc<F>> {
        self.leased.get()
    }

    /// Returns whether the generator was closed in this process.
    #[cfg(feature = "std")]
    pub(crate) fn is_closed(&self) -> bool {
        let closed_in = self.closed_in.lock().unwrap_or_else(PoisonError::into_inner);
        *closed_in == Some(fork::process())
    }

    /// Starts a grant for a worker ID and a time span in Unix milliseconds.
    ///
    /// # Errors
    /// Returns `generator_closed` after [`Granted::close`], or any error from the function that creates the generator or
    /// from the core crate.
    pub fn begin(&self, worker_id: u64, span: Range<u64>) -> polyflake::Result<()> {
        let (start, end) = (saturating_ms(span.start), saturating_ms(span.end));
        let Some(leased) = self.leased.get() else {
            let first = self.build_generator(worker_id, start..end).and_then(F::first)?;
            let closed_in = self.closed_in.lock().unwrap_or_else(PoisonError::into_inner);
            if *closed_in == Some(fork::process()) {
                return Err(polyflake::Error::new(polyflake::ErrorKind::GeneratorClosed));
            }
            // Only the lease's keeper begins grants, so no other thread can have set the generator.
            return self
                .leased
                .set(Arc::new(first))
                .map_err(|_| polyflake::Error::new(polyflake::ErrorKind::LeaseMismatch));
        };
        let next = |last: Option<Range<i64>>| {
            let start = last.map_or(start, |last| last.start.max(start));
            self.build_generator(worker_id, start..end)
        };
        self.number.store(leased.next(next)?, Ordering::Release);
        Ok(())
    }

    /// Moves the end of the grant to a later time, in Unix milliseconds.
    pub fn extend(&self, end: u64) {
        if let Some(leased) = self.leased.get() {
            // This call fails only if a different grant has begun in the meantime. In that case, the end of the newer grant
            // applies.
            let _ = leased.extend(self.number.load(Ordering::Acquire), saturating_ms(end));
        }
    }

    /// Ends the grant. Returns the end of the highest tick that the grant used, in Unix milliseconds, or `None` if it used
    /// no tick.
    pub fn seal(&self) -> Option<u64> {
        self.prepare();
        let last = self.leased.get()?.seal(self.number.load(Ordering::Acquire));
        // If the highest tick is no longer known, the entire grant counts as used.
        last.map_or(Some(u64::MAX), |last| last.map(|last| last.end.max(0).cast_unsigned()))
    }

    /// Stops generating IDs in this process, at the user's request. [`Granted::seal`] still returns the end of the highest
    /// tick.
    pub fn close(&self) {
        // The process generation is stored while the lock is held. A first grant that begins concurrently is therefore
        // either closed here or rejected.
        *self.closed_in.lock().unwrap_or_else(PoisonError::into_inner) = Some(fork::process());
        if let Some(leased) = self.leased.get() {
            leased.close();
        }
    }
}

#[cfg(feature = "std")]
impl<F: Family + Send + Sync> Grantee for SharedGrantee<F> {
    fn prepare(&self) {
        self.prepare();
    }

    fn begin(&self, grant: Grant) -> Result<()> {
        let begun = self.begin(*grant.worker_ids().start(), grant.start()..grant.end());
        begun.map_err(|error| Error::new(ErrorKind::LeaseUnavailable, error.to_string()))
    }

    fn extend(&self, end: u64) {
        self.extend(end);
    }

    fn seal(&self) -> Option<u64> {
        self.seal()
    }

    fn close(&self) {
        self.close();
    }
}

fn saturating_ms(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}
