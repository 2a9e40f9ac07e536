//! Randflake IDs with leased node IDs.

use core::time::Duration;

use polyflake::randflake::{self, Grant, Leased, Randflake};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{Begun, by_own_calls, calls},
    ids::granted::Threaded,
    rules::error::out_of_range,
    rules::place::Place,
};

/// A generator with a leased node ID. It renews its lease, switches to a different node ID if necessary, and releases its node
/// ID when it is dropped.
///
/// ```
/// let ids = polyflake_lease::randflake::Generator::new("memory:orders", "users", [7; 16])?;
/// let id = ids.generate()?;
/// let node = polyflake::randflake::Codec::new([7; 16]).inspect(id).node;
/// assert_eq!(Some(u64::from(node)), ids.lease().number());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has the same methods as the core crate's generators, which generate one ID or a batch, with or without waiting.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    /// Creates a generator with the default options. `url` specifies the store, as in [`open`](crate::open). All generators
    /// in the namespace share the secret. The namespace contains all node IDs. The call waits up to 10 seconds for the
    /// first grant.
    ///
    /// # Errors
    /// Returns the reason why there is no grant, such as `lease_unavailable`, or `namespace_mismatch` if the namespace is
    /// for a different secret.
    pub fn new(url: &str, namespace: &str, secret: [u8; 16]) -> Result<Self> {
        let place = Place::of(url, Some(namespace))?;
        let options = place.options(Shape::randflake(place.numbers(0..=131_071), &secret)?)?;
        Self::with(place.source(), options, secret, place.longest())
    }

    /// Creates a generator from environment variables. `POLYFLAKE_LEASE` contains the store's URL with the namespace, for
    /// example `sqlite:/var/lib/app/ids.db?namespace=orders`. If `POLYFLAKE_NODE` is set, the generator requires that
    /// worker ID. The call waits up to 10 seconds for the first grant, or up to 70 seconds if a worker ID is required.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if `POLYFLAKE_LEASE` is not set, or the same errors as [`Generator::new`].
    pub fn from_env(secret: [u8; 16]) -> Result<Self> {
        let place = Place::from_env(None)?;
        let options = place.options(Shape::randflake(place.numbers(0..=131_071), &secret)?)?;
        Self::with(place.source(), options, secret, place.longest())
    }

    /// Works like [`Generator::new`], but awaits `sleep`, for example `tokio::time::sleep`, instead of blocking the thread.
    /// If the future is dropped, any node ID leased in the meantime is released.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::new`].
    pub async fn new_async(
        url: &str,
        namespace: &str,
        secret: [u8; 16],
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        let place = Place::of(url, Some(namespace))?;
        let options = place.options(Shape::randflake(place.numbers(0..=131_071), &secret)?)?;
        Self::with_async(place.source(), options, secret, place.longest(), sleep).await
    }

    /// Creates a generator from any [`Source`] with custom options. The options must specify Randflake's shape and
    /// `secret`. The call waits up to `longest` for the first grant.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::new`], and `out_of_range` if the options are for a different format or
    /// secret.
    pub fn with(
        source: impl Into<Source>,
        options: Options,
        secret: [u8; 16],
        longest: Duration,
    ) -> Result<Self> {
        begin(source.into(), options, secret, longest)?.ready()
    }

    /// Works like [`Generator::with`], but awaits `sleep` instead of blocking the thread. If the future is dropped, any
    /// node ID leased in the meantime is released.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::with`].
    pub async fn with_async(
        source: impl Into<Source>,
        options: Options,
        secret: [u8; 16],
        longest: Duration,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        begin(source.into(), options, secret, longest)?.ready_async(sleep).await
    }

    calls!(Randflake);
}

by_own_calls!(Randflake, () => ());

/// Starts a generator that becomes usable when its lease is ready.
fn begin(
    source: Source,
    options: Options,
    secret: [u8; 16],
    longest: Duration,
) -> Result<Begun<Leased>> {
    if options.shape().family() != "randflake" || !options.shape().is_of_secret(&secret) {
        return Err(out_of_range("expected options of Randflake and of the secret"));
    }
    // The codec wipes its subkeys when it is dropped. The secret itself is not kept.
    let codec = randflake::Codec::new(secret);
    let waits = options.waits;
    Threaded::start(source, options, longest, move |number, window| {
        let node = u32::try_from(number).unwrap_or_else(|_| unreachable!("by the shape"));
        let grant = Grant::new(node, window.start / 1000, window.end / 1000)?;
        waits.give(randflake::Generator::builder(grant, codec.clone())).build()
    })
}
