//! Randflake IDs with leased node IDs.
//!
//! ```
//! use std::time::Duration;
//! use polyflake_lease::{Options, Shape, randflake};
//!
//! let secret = [7; 16]; // in production, a secret that the processes share
//! let options = Options::new("users", Shape::randflake(0..=1023, &secret)?)?.preferred_worker_id(7)?;
//! let ids = randflake::Generator::with("memory:randflake", options, secret, Duration::from_secs(10))?;
//! let codec = polyflake::randflake::Codec::new(secret);
//! assert_eq!(codec.inspect(ids.generate()?).node, 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::time::Duration;

use polyflake::randflake::{self, Grant, Leased, Randflake};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{
        PendingGenerator, constructors, generate_methods, impl_generate_by_delegation,
    },
    ids::granted::SharedGrantee,
    rules::error::out_of_range,
    rules::lease_url::LeaseUrl,
};

/// A generator with a leased node ID. It renews its lease, switches to a different node ID if necessary, and releases its
/// node ID when it is dropped.
///
/// ```
/// let ids = polyflake_lease::randflake::Generator::new("memory:orders", "users", [7; 16])?;
/// let id = ids.generate()?;
/// let node = polyflake::randflake::Codec::new([7; 16]).inspect(id).node;
/// assert_eq!(Some(u64::from(node)), ids.lease().worker_id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has the same methods as the core crate's generators, which generate one ID or a batch, with or without waiting.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    constructors!(
        "All generators in the namespace share the secret. The namespace contains all node IDs.",
        "The options must specify Randflake's shape and `secret`.",
        (secret: [u8; 16])
    );

    generate_methods!(Randflake);
}

impl_generate_by_delegation!(Randflake, () => ());

/// Returns the default options.
fn options(lease_url: &LeaseUrl, secret: [u8; 16]) -> Result<Options> {
    lease_url.options(Shape::randflake(lease_url.worker_id_range(0..=131_071), &secret)?)
}

/// Creates a generator that becomes usable when its lease is ready.
fn prepare(
    source: Source,
    options: Options,
    secret: [u8; 16],
    longest: Duration,
) -> Result<PendingGenerator<Leased>> {
    if options.shape().family() != "randflake" || !options.shape().has_secret(&secret) {
        return Err(out_of_range("expected options of Randflake and of the secret"));
    }
    // The codec wipes its subkeys when it is dropped. The secret itself is not stored.
    let codec = randflake::Codec::new(secret);
    let waits = options.waits;
    SharedGrantee::lease(source, options, longest, move |worker_id, window| {
        let node = u32::try_from(worker_id).unwrap_or_else(|_| unreachable!("by the shape"));
        let grant = Grant::new(node, window.start / 1000, window.end / 1000)?;
        waits.apply(randflake::Generator::builder(grant, codec.clone())).build()
    })
}
