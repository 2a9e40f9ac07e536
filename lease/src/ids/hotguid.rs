//! Hot Guids with leased machine numbers.
//!
//! ```
//! use std::time::Duration;
//! use polyflake_lease::{Options, Shape, hotguid};
//!
//! let options = Options::new("things", Shape::hotguid(0..=1023)?)?.preferred_worker_id(7)?;
//! let ids = hotguid::Generator::with("memory:hotguid", options, false, Duration::from_secs(10))?;
//! assert_eq!(ids.generate(1)?.machine(), [0, 0, 7, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::time::Duration;

use polyflake::hotguid::{self, HotGuid, Leased};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{
        PendingGenerator, constructors, generate_methods, impl_generate_by_delegation,
    },
    ids::granted::SharedGrantee,
    rules::error::out_of_range,
    rules::lease_url::LeaseUrl,
};

/// A generator with a leased machine number. It renews its lease, switches to a different machine number if necessary, and
/// releases its machine number when it is dropped.
///
/// ```
/// let ids = polyflake_lease::hotguid::Generator::new("memory:orders", "things")?;
/// let [.., a, b, c] = ids.lease().worker_id().unwrap().to_be_bytes();
/// assert_eq!(ids.generate(7)?.machine(), [a, b, c, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The leased machine number occupies the first three of the five machine bytes of an ID, in big-endian order. The other
/// two bytes are zero, except for bits of the version and the variant in version 8 UUIDs. Do not mix leased and unleased
/// generators, because unleased generators pick all five bytes at random and may pick the bytes of a leased generator.
///
/// It has the same methods as the core crate's generators, which generate one ID or a batch, with or without waiting.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    constructors!(
        "The namespace contains all machine numbers.",
        "The options must specify Hot Guid's shape. With `uuid8`, the generator creates version 8 UUIDs instead of the \
         compatible form. Generators for both forms may share a namespace.",
        (),
        uuid8: bool = false
    );

    generate_methods!(HotGuid, shard_key: u32);
}

impl_generate_by_delegation!(HotGuid, shard_key => u32, shard_key);

/// Returns the default options.
pub(crate) fn options(lease_url: &LeaseUrl) -> Result<Options> {
    lease_url.options(Shape::hotguid(lease_url.worker_id_range(0..=0xf_ffff))?)
}

/// Creates a generator that becomes usable when its lease is ready.
pub(crate) fn prepare(
    source: Source,
    options: Options,
    uuid8: bool,
    longest: Duration,
) -> Result<PendingGenerator<Leased>> {
    if options.shape().family() != "hotguid" {
        return Err(out_of_range("expected options of Hot Guid"));
    }
    let waits = options.waits;
    SharedGrantee::lease(source, options, longest, move |worker_id, window| {
        let generator = waits.apply(hotguid::Generator::builder().uuid8(uuid8));
        let generator = generator.window(window.start, window.end).build()?;
        generator.provide_identity(identity(worker_id)?)?;
        Ok(generator)
    })
}

/// Returns the identity of a generator with a leased machine number, in the form that `provide_identity` accepts. The
/// generator's counter starts at a random value.
///
/// Not part of the public API: used by the Python bindings.
///
/// # Errors
/// Returns `entropy_unavailable` if the operating system provides no random bytes.
#[doc(hidden)]
pub fn identity(worker_id: u64) -> polyflake::Result<[u8; 8]> {
    let [.., a, b, c] = worker_id.to_be_bytes();
    let [x, y, z] = polyflake::entropy::random_bytes()?;
    Ok([a, b, c, 0, 0, x, y, z])
}
