//! The generator of a lease, of any family: it moves from grant to grant as the core's leased generators do.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use alloc::{
    boxed::Box,
    string::{String, ToString},
};
use core::ops::Range;

use crate::{
    Error, ErrorKind, Grant, Host, Lease, Leased, Options, Result, Store, error::damaged,
    holder::Begun, url::Address,
};

/// The leased generator of a family: a type of the core.
pub(crate) trait Family: Send + Sync + Sized + 'static {
    /// A generator under one grant.
    type Generator;

    /// Begins with a generator under the first grant.
    fn first(generator: Self::Generator) -> polyflake::Result<Self>;
    /// Moves to the next grant, given the span of the last grant's highest tick.
    fn next(
        &self,
        build: impl FnOnce(Option<Range<i64>>) -> polyflake::Result<Self::Generator>,
    ) -> polyflake::Result<u32>;
    /// Moves the end of a grant later.
    fn extend(&self, number: u32, end: i64) -> polyflake::Result<()>;
    /// Ends a grant, and returns the span of its highest tick.
    fn seal(&self, number: u32) -> polyflake::Result<Option<Range<i64>>>;
}

/// Implements the four calls of [`Family`], which the core's types have under other names.
macro_rules! family {
    ($family:ident) => {
        impl $crate::place::Family for polyflake::$family::Leased {
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

/// The source of a lease: a store's URL as in [`open`](crate::open), a store of one's own, or a [`Host`].
///
/// ```
/// use std::{sync::{Arc, Mutex}, time::Duration};
/// use polyflake_lease::{Memory, Options, Reply, Request, Result, Shape, Source, Store, sno};
///
/// struct Mine(Arc<Mutex<Memory>>); // in production: a client of a database
///
/// impl Store for Mine {
///     fn answer(&mut self, request: &Request) -> Result<Reply> {
///         self.0.lock().unwrap().answer(request)
///     }
/// }
///
/// # let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap();
/// let store = Arc::new(Mutex::new(Memory::new(now)));
/// let source = Source::store(move || Ok(Mine(store.clone())));
/// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
/// let ids = sno::Generator::with(source, options, Duration::from_secs(10))?;
/// assert_eq!(ids.lease().number(), Some(0));
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Debug)]
pub struct Source(Kind);

enum Kind {
    Url(String),
    Store(Box<Open>),
    Host(Host),
}

/// Opens a store.
type Open = dyn Fn() -> Result<Box<dyn Store>> + Send + Sync;

impl Source {
    /// A store that `open` opens, again after each pause and each failure. A thread keeps the lease.
    pub fn store<S: Store + 'static>(open: impl Fn() -> Result<S> + Send + Sync + 'static) -> Self {
        let open = move || -> Result<Box<dyn Store>> { Ok(Box::new(open()?)) };
        Self(Kind::Store(Box::new(open)))
    }
}

impl From<&str> for Source {
    fn from(url: &str) -> Self {
        Self(Kind::Url(url.into()))
    }
}

impl From<&String> for Source {
    fn from(url: &String) -> Self {
        Self(Kind::Url(url.clone()))
    }
}

impl From<Host> for Source {
    fn from(host: Host) -> Self {
        Self(Kind::Host(host))
    }
}

/// A URL may hold a password.
impl core::fmt::Debug for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Url(_) => "Url",
            Self::Store(_) => "Store",
            Self::Host(_) => "Host",
        })
    }
}

/// Makes a generator for a number and a window in Unix milliseconds.
type Build<G> = dyn Fn(u64, Range<i64>) -> polyflake::Result<G> + Send + Sync;

/// The leased generator, once there was a grant.
pub(crate) struct Place<F: Family> {
    leased: OnceLock<Arc<F>>,
    /// The number of its newest grant.
    number: AtomicU32,
    build: Box<Build<F::Generator>>,
}

impl<F: Family> Place<F> {
    /// Starts the generator and its lease, from a store and a namespace. Wait for the first grant before the first call.
    pub(crate) fn start(
        source: Source,
        options: Options,
        longest: Duration,
        build: impl Fn(u64, Range<i64>) -> polyflake::Result<F::Generator> + Send + Sync + 'static,
    ) -> Result<Begun<F>> {
        let (leased, number) = (OnceLock::new(), AtomicU32::new(0));
        let place = Arc::new(Self { leased, number, build: Box::new(build) });
        let lease = match source.0 {
            Kind::Url(url) => {
                let store = Address::of(&url)?;
                let longest = Duration::from_millis(options.answer_limit());
                Lease::start(move || store.open(longest), options, place.clone())?
            }
            Kind::Store(open) => Lease::start(open, options, place.clone())?,
            Kind::Host(host) => host.start(options, place.clone())?,
        };
        Ok(Begun { place, lease, longest })
    }

    /// The leased generator, once there was a grant.
    pub(crate) fn leased(&self) -> Option<Arc<F>> {
        self.leased.get().cloned()
    }
}

impl<F: Family> Leased for Place<F> {
    fn begin(&self, grant: Grant) -> Result<()> {
        let (number, start, end) = (*grant.numbers().start(), of(grant.start()), of(grant.end()));
        let Some(leased) = self.leased.get() else {
            let first = (self.build)(number, start..end).and_then(F::first).map_err(refused)?;
            let is_first = self.leased.set(Arc::new(first)).is_ok();
            return is_first.then_some(()).ok_or_else(|| damaged("expected one keeper of a place"));
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
