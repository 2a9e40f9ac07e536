//! Version 7 UUIDs with leased worker IDs.
//!
//! ```
//! use std::time::Duration;
//! use polyflake_lease::{Options, Shape, uuid7};
//!
//! let options = Options::new("rows", Shape::uuid7(0..=1023)?)?.preferred_worker_id(7)?;
//! let ids = uuid7::Generator::with("memory:uuid7", options, Duration::from_secs(10))?;
//! assert_eq!(polyflake::uuid7::worker_id(ids.generate()?), 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::time::Duration;

use polyflake::uuid7::{self, Leased, Uuid7};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{
        PendingGenerator, constructors, generate_methods, impl_generate_by_delegation,
    },
    ids::granted::SharedGrantee,
    rules::error::out_of_range,
    rules::lease_url::LeaseUrl,
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
/// assert_eq!(Some(u64::from(worker_id(first))), ids.lease().worker_id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// IDs remain sorted if the lease switches to another worker ID, because the first ID of a grant belongs to a later
/// millisecond than the last ID of the previous grant.
///
/// It has the same methods as the core crate's generators, which generate one ID or a batch, with or without waiting.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    constructors!(
        "The namespace contains all worker IDs.",
        "The options must specify UUID v7's shape.",
        ()
    );

    generate_methods!(Uuid7);
}

impl_generate_by_delegation!(Uuid7, () => ());

/// Returns the default options.
pub(crate) fn options(lease_url: &LeaseUrl) -> Result<Options> {
    lease_url.options(Shape::uuid7(lease_url.worker_id_range(0..=u64::from(u16::MAX)))?)
}

/// Creates a generator that becomes usable when its lease is ready.
pub(crate) fn prepare(
    source: Source,
    options: Options,
    longest: Duration,
) -> Result<PendingGenerator<Leased>> {
    if options.shape().family() != "uuid7" {
        return Err(out_of_range("expected options of UUID v7"));
    }
    let waits = options.waits;
    SharedGrantee::lease(source, options, longest, move |worker_id, window| {
        let worker_id = u16::try_from(worker_id).unwrap_or_else(|_| unreachable!("by the shape"));
        let generator = waits.apply(uuid7::Generator::builder().worker_id(worker_id));
        // The previous grant may have used the first millisecond of this grant with a different worker ID, so this
        // generator starts after that millisecond.
        generator.resume_after(window.start).window(window.start, window.end).build()
    })
}
