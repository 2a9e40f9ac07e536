//! Hot Guids under leased machines.

use core::time::Duration;

use polyflake::hotguid::{self, HotGuid, Leased};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{Begun, by_own_calls, calls},
    ids::granted::Threaded,
    rules::error::out_of_range,
    rules::numbered,
    rules::place::Place,
};

/// A generator with a leased machine: it renews the lease, moves to another machine if it must, and returns its machine when it is
/// dropped.
///
/// ```
/// let ids = polyflake_lease::hotguid::Generator::new("memory:orders", "things")?;
/// let [.., a, b, c] = ids.lease().number().unwrap().to_be_bytes();
/// assert_eq!(ids.generate(7)?.machine(), [a, b, c, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The first three of an ID's five machine bytes are the leased number, big endian; the others are zero, or hold a part of version
/// and variant in UUIDs of version 8. Unleased generators draw these bytes at random and may draw the same: do not mix both.
///
/// It has the calls of the core's generators: one ID, a batch, and calls that never wait.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    /// A generator with the defaults, from a store's URL as in [`open`](crate::open) and the name of a namespace of all machines. It
    /// waits up to 10 seconds for its first grant.
    ///
    /// # Errors
    /// The reason why there is no grant: `lease_unavailable`, `numbers_exhausted` and others.
    pub fn new(url: &str, namespace: &str) -> Result<Self> {
        let options = Options::new(namespace, Shape::hotguid(0..=0xf_ffff)?)?;
        Self::with(url, options, false, Duration::from_secs(10))
    }

    /// A generator of the place that the variable `POLYFLAKE_LEASE` names, as in `sqlite:/var/lib/app/ids.db?namespace=orders`; it insists on the
    /// number in `POLYFLAKE_NODE`, if that is set. It waits up to 10 seconds for its first grant, and up to 70 for a number that it insists on.
    ///
    /// # Errors
    /// `lease_unavailable` without the variable; as [`Generator::new`].
    pub fn from_env() -> Result<Self> {
        let place = Place::from_env(None)?;
        let options = place.options(Shape::hotguid(0..=0xf_ffff)?)?;
        Self::with(place.url(), options, false, place.longest())
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
        let options = Options::new(namespace, Shape::hotguid(0..=0xf_ffff)?)?;
        Self::with_async(url, options, false, Duration::from_secs(10), sleep).await
    }

    /// A generator from any [`Source`] with other options, whose shape must be Hot Guid's. With `uuid8` it makes UUIDs of version 8 instead of the
    /// compatible form; generators of both forms may share a namespace. It waits up to `longest` for its first grant.
    ///
    /// # Errors
    /// As [`Generator::new`]; `out_of_range` for options of another family or with blocks.
    pub fn with(
        source: impl Into<Source>,
        options: Options,
        uuid8: bool,
        longest: Duration,
    ) -> Result<Self> {
        begin(source.into(), options, uuid8, longest)?.ready()
    }

    /// As [`Generator::with`], waiting in `sleep`, which does not block the thread. If the future is dropped, a number that was leased
    /// meanwhile is returned.
    ///
    /// # Errors
    /// As [`Generator::with`].
    pub async fn with_async(
        source: impl Into<Source>,
        options: Options,
        uuid8: bool,
        longest: Duration,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        begin(source.into(), options, uuid8, longest)?.ready_async(sleep).await
    }

    calls!(HotGuid, shard_key: u32);
}

by_own_calls!(HotGuid, shard_key => u32, shard_key);

/// Starts a generator, which is of use once its lease is ready.
fn begin(
    source: Source,
    options: Options,
    uuid8: bool,
    longest: Duration,
) -> Result<Begun<Leased>> {
    if options.shape().family() != "hotguid" {
        return Err(out_of_range("expected options of Hot Guid without blocks"));
    }
    let waits = options.waits;
    Threaded::start(source, options, longest, move |number, window| {
        let generator = waits.give(hotguid::Generator::builder().uuid8(uuid8));
        let generator = generator.window(window.start, window.end).build()?;
        generator.provide_identity(identity(number)?)?;
        Ok(generator)
    })
}

/// The identity of a machine's generator, whose counter begins at random.
fn identity(number: u64) -> polyflake::Result<[u8; 8]> {
    let mut start = [0; 3];
    getrandom::fill(&mut start).map_err(|error| {
        polyflake::Error::new(polyflake::ErrorKind::EntropyUnavailable).with_source(error)
    })?;
    Ok(numbered::identity(number, start))
}
