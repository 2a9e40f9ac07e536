//! UUIDs of version 7 with leased worker IDs.

use core::time::Duration;

use polyflake::uuid7::{self, Leased, Uuid7};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{Begun, by_own_calls, calls},
    ids::granted::Threaded,
    rules::error::out_of_range,
    rules::place::Place,
};

/// A generator with a leased worker ID, which is part of its IDs. It renews its lease, switches to a different worker ID if
/// necessary, and releases its worker ID when it is dropped.
///
/// ```
/// use polyflake::uuid7::worker_id;
///
/// let ids = polyflake_lease::uuid7::Generator::new("memory:orders", "things")?;
/// let (first, second) = (ids.generate()?, ids.generate()?);
/// assert!(first < second);
/// assert_eq!(Some(u64::from(worker_id(first))), ids.lease().number());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// IDs remain sorted if the lease switches to another worker ID, because the first ID of a grant belongs to a later millisecond
/// than the last one of the grant before.
///
/// It has the same methods as the core crate's generators, which generate one ID or a batch, with or without waiting.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    /// Creates a generator with the default options. `url` specifies the store, as in [`open`](crate::open). The namespace
    /// contains all worker IDs. The call waits up to 10 seconds for the first grant.
    ///
    /// # Errors
    /// Returns the reason why there is no grant, such as `lease_unavailable` or `numbers_exhausted`.
    pub fn new(url: &str, namespace: &str) -> Result<Self> {
        let place = Place::of(url, Some(namespace))?;
        let options = place.options(Shape::uuid7(place.numbers(0..=u64::from(u16::MAX)))?)?;
        Self::with(place.source(), options, place.longest())
    }

    /// Creates a generator from environment variables. `POLYFLAKE_LEASE` contains the store's URL with the namespace, for
    /// example `sqlite:/var/lib/app/ids.db?namespace=orders`. If `POLYFLAKE_NODE` is set, the generator requires that
    /// worker ID. The call waits up to 10 seconds for the first grant, or up to 70 seconds if a worker ID is required.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if `POLYFLAKE_LEASE` is not set, or the same errors as [`Generator::new`].
    pub fn from_env() -> Result<Self> {
        let place = Place::from_env(None)?;
        let options = place.options(Shape::uuid7(place.numbers(0..=u64::from(u16::MAX)))?)?;
        Self::with(place.source(), options, place.longest())
    }

    /// Works like [`Generator::new`], but awaits `sleep`, for example `tokio::time::sleep`, instead of blocking the thread.
    /// If the future is dropped, any worker ID leased in the meantime is released.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::new`].
    pub async fn new_async(
        url: &str,
        namespace: &str,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        let place = Place::of(url, Some(namespace))?;
        let options = place.options(Shape::uuid7(place.numbers(0..=u64::from(u16::MAX)))?)?;
        Self::with_async(place.source(), options, place.longest(), sleep).await
    }

    /// Creates a generator from any [`Source`] with custom options. The options must specify UUID v7's shape. The call waits up to
    /// `longest` for the first grant.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::new`], and `out_of_range` if the options are for a different format.
    pub fn with(source: impl Into<Source>, options: Options, longest: Duration) -> Result<Self> {
        begin(source.into(), options, longest)?.ready()
    }

    /// Works like [`Generator::with`], but awaits `sleep` instead of blocking the thread. If the future is dropped, any
    /// worker ID leased in the meantime is released.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::with`].
    pub async fn with_async(
        source: impl Into<Source>,
        options: Options,
        longest: Duration,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        begin(source.into(), options, longest)?.ready_async(sleep).await
    }

    calls!(Uuid7);
}

by_own_calls!(Uuid7, () => ());

/// Starts a generator that becomes usable when its lease is ready.
fn begin(source: Source, options: Options, longest: Duration) -> Result<Begun<Leased>> {
    if options.shape().family() != "uuid7" {
        return Err(out_of_range("expected options of UUID v7"));
    }
    let waits = options.waits;
    Threaded::start(source, options, longest, move |number, window| {
        let worker_id = u16::try_from(number).unwrap_or_else(|_| unreachable!("by the shape"));
        let generator = waits.give(uuid7::Generator::builder().worker_id(worker_id));
        // The grant before may have used the first millisecond of this one, under another worker ID.
        generator.resume_after(window.start).window(window.start, window.end).build()
    })
}
