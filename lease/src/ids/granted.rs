//! The core's generator under a lease, of any family: it moves from grant to grant.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use alloc::{boxed::Box, string::ToString};
use core::ops::Range;

use crate::{
    Error, ErrorKind, Grant, Grantee, Options, Result, Source, ids::generator::Begun,
    rules::error::damaged,
};

/// The leased generator of a family: a type of the core.
pub trait Family: Send + Sync + Sized + 'static {
    /// A generator under one grant.
    type Generator;

    /// Begins with a generator under the first grant.
    ///
    /// # Errors
    /// As the core's.
    fn first(generator: Self::Generator) -> polyflake::Result<Self>;
    /// Moves to the next grant, given the span of the last grant's highest tick.
    ///
    /// # Errors
    /// As the core's.
    fn next(
        &self,
        build: impl FnOnce(Option<Range<i64>>) -> polyflake::Result<Self::Generator>,
    ) -> polyflake::Result<u32>;
    /// Moves the end of a grant later.
    ///
    /// # Errors
    /// As the core's.
    fn extend(&self, number: u32, end: i64) -> polyflake::Result<()>;
    /// Ends a grant, and returns the span of its highest tick.
    ///
    /// # Errors
    /// As the core's.
    fn seal(&self, number: u32) -> polyflake::Result<Option<Range<i64>>>;
}

/// Implements the four calls of [`Family`], which the core's types have under other names.
macro_rules! family {
    ($family:ident) => {
        impl $crate::ids::granted::Family for polyflake::$family::Leased {
            type Generator = polyflake::$family::Generator;

            fn first(generator: Self::Generator) -> polyflake::Result<Self> {
                Self::new(generator)
            }
            fn next(
                &self,
                build: impl FnOnce(Option<core::ops::Range<i64>>) -> polyflake::Result<Self::Generator>,
            ) -> polyflake::Result<u32> {
                self.move_to(build)
            }
            fn extend(&self, number: u32, end: i64) -> polyflake::Result<()> {
                self.extend(number, end)
            }
            fn seal(&self, number: u32) -> polyflake::Result<Option<core::ops::Range<i64>>> {
                self.seal(number)
            }
        }
    };
}

pub(crate) use family;

/// Makes a generator for a number and a window in Unix milliseconds.
type Build<G> = dyn Fn(u64, Range<i64>) -> polyflake::Result<G> + Send + Sync;

/// The leased generator, once there was a grant.
pub(crate) struct Granted<F: Family> {
    leased: OnceLock<Arc<F>>,
    /// The number of its newest grant.
    number: AtomicU32,
    build: Box<Build<F::Generator>>,
}

impl<F: Family> Granted<F> {
    /// Starts the generator and its lease, from a store and a namespace. Wait for the first grant before the first call.
    pub(crate) fn start(
        source: Source,
        options: Options,
        longest: Duration,
        build: impl Fn(u64, Range<i64>) -> polyflake::Result<F::Generator> + Send + Sync + 'static,
    ) -> Result<Begun<F>> {
        let (leased, number) = (OnceLock::new(), AtomicU32::new(0));
        let granted = Arc::new(Self { leased, number, build: Box::new(build) });
        let lease = source.start(options, granted.clone())?;
        Ok(Begun { granted, lease, longest })
    }

    /// The leased generator, once there was a grant.
    pub(crate) fn leased(&self) -> Option<Arc<F>> {
        self.leased.get().cloned()
    }
}

impl<F: Family> Grantee for Granted<F> {
    fn begin(&self, grant: Grant) -> Result<()> {
        let (number, start, end) = (*grant.numbers().start(), of(grant.start()), of(grant.end()));
        let Some(leased) = self.leased.get() else {
            let first = (self.build)(number, start..end).and_then(F::first).map_err(refused)?;
            let is_first = self.leased.set(Arc::new(first)).is_ok();
            return is_first
                .then_some(())
                .ok_or_else(|| damaged("expected one keeper of a generator"));
        };
        let next = |last: Option<Range<i64>>| {
            let start = last.map_or(start, |last| last.start.max(start));
            (self.build)(number, start..end)
        };
        let number = leased.next(next).map_err(refused)?;
        self.number.store(number, Ordering::Release);
        Ok(())
    }

    fn extend(&self, end: u64) {
        if let Some(leased) = self.leased.get() {
            // Refused only if another grant came between; then its own end counts.
            let _ = leased.extend(self.number.load(Ordering::Acquire), of(end));
        }
    }

    fn seal(&self) -> Option<u64> {
        let last = self.leased.get()?.seal(self.number.load(Ordering::Acquire));
        // If the highest tick is not known any more, the whole grant counts as used.
        last.map_or(Some(u64::MAX), |last| last.map(|last| last.end.max(0).cast_unsigned()))
    }
}

fn of(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err calls it")]
fn refused(error: polyflake::Error) -> Error {
    Error::new(ErrorKind::LeaseUnavailable, error.to_string())
}
