//! sno IDs under leased partitions.

use core::time::Duration;

use polyflake::sno::{self, Leased, Sno};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{Begun, by_own_calls, calls},
    ids::granted::Threaded,
    rules::error::out_of_range,
    rules::place::Place,
};

/// A generator with a leased partition: it renews the lease, moves to another partition if it must, and returns its partition
/// when it is dropped.
///
/// ```
/// let ids = polyflake_lease::sno::Generator::new("memory:orders", "orders")?;
/// let (first, second) = (ids.generate(7)?, ids.generate(7)?);
/// assert!(first < second);
/// assert_eq!(Some(u64::from(first.partition())), ids.lease().number());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has the calls of the core's generators: one ID, its text, a batch, and calls that never wait.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    /// A generator with the defaults, from a store's URL as in [`open`](crate::open) and the name of a namespace of all partitions.
    /// It waits up to 10 seconds for its first grant.
    ///
    /// # Errors
    /// The reason why there is no grant: `lease_unavailable`, `numbers_exhausted` and others.
    pub fn new(url: &str, namespace: &str) -> Result<Self> {
        let options = Options::new(namespace, Shape::sno(0..=u64::from(u16::MAX))?)?;
        Self::with(url, options, Duration::from_secs(10))
    }

    /// A generator of the place that the variable `POLYFLAKE_LEASE` names, as in `sqlite:/var/lib/app/ids.db?namespace=orders`; it insists on the
    /// number in `POLYFLAKE_NODE`, if that is set. It waits up to 10 seconds for its first grant, and up to 70 for a number that it insists on.
    ///
    /// # Errors
    /// `lease_unavailable` without the variable; as [`Generator::new`].
    pub fn from_env() -> Result<Self> {
        let place = Place::from_env(None)?;
        let options = place.options(Shape::sno(0..=u64::from(u16::MAX))?)?;
        Self::with(place.url(), options, place.longest())
    }

    /// As [`Generator::new`], waiting in `sleep`, for example `tokio::time::sleep`, which does not block the thread. If the future is
    /// dropped, a number that was leased meanwhile is returned.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub async fn new_async(
        url: &str,
        namespace: &str,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        let options = Options::new(namespace, Shape::sno(0..=u64::from(u16::MAX))?)?;
        Self::with_async(url, options, Duration::from_secs(10), sleep).await
    }

    /// A generator from any [`Source`] with other options, whose shape must be sno's. It waits up to `longest` for its first grant.
    ///
    /// # Errors
    /// As [`Generator::new`]; `out_of_range` for options of another family or with blocks.
    pub fn with(source: impl Into<Source>, options: Options, longest: Duration) -> Result<Self> {
        begin(source.into(), options, longest)?.ready()
    }

    /// As [`Generator::with`], waiting in `sleep`, which does not block the thread. If the future is dropped, a number that was leased
    /// meanwhile is returned.
    ///
    /// # Errors
    /// As [`Generator::with`].
    pub async fn with_async(
        source: impl Into<Source>,
        options: Options,
        longest: Duration,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        begin(source.into(), options, longest)?.ready_async(sleep).await
    }

    calls!(Sno, metabyte: u8);
}

by_own_calls!(Sno, metabyte => u8, metabyte);

/// Starts a generator, which is of use once its lease is ready.
fn begin(source: Source, options: Options, longest: Duration) -> Result<Begun<Leased>> {
    if options.shape().family() != "sno" {
        return Err(out_of_range("expected options of sno without blocks"));
    }
    let waits = options.waits;
    Threaded::start(source, options, longest, move |number, window| {
        let partition = u16::try_from(number).unwrap_or_else(|_| unreachable!("by the shape"));
        let generator = waits.give(sno::Generator::builder().partition(partition));
        generator.window(window.start, window.end).build()
    })
}
