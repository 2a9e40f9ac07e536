//! sno IDs with leased partitions.
//!
//! ```
//! use std::time::Duration;
//! use polyflake_lease::{Options, Shape, sno};
//!
//! let options = Options::new("orders", Shape::sno(0..=1023)?)?.preferred_worker_id(7)?;
//! let ids = sno::Generator::with("memory:sno", options, Duration::from_secs(10))?;
//! assert_eq!(ids.generate(1)?.partition(), 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::time::Duration;

use polyflake::sno::{self, Leased, Sno};

use crate::{
    Options, Result, Shape, Source,
    ids::generator::{
        PendingGenerator, constructors, generate_methods, impl_generate_by_delegation,
    },
    ids::granted::SharedGrantee,
    rules::error::out_of_range,
    rules::lease_url::LeaseUrl,
};

/// A generator with a leased partition. It renews its lease, switches to a different partition if necessary, and releases
/// its partition when it is dropped.
///
/// ```
/// let ids = polyflake_lease::sno::Generator::new("memory:orders", "orders")?;
/// let (first, second) = (ids.generate(7)?, ids.generate(7)?);
/// assert!(first < second);
/// assert_eq!(Some(u64::from(first.partition())), ids.lease().worker_id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has the same methods as the core crate's generators, which generate one ID or a batch, with or without waiting.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    constructors!(
        "The namespace contains all partitions.",
        "The options must specify sno's shape.",
        ()
    );

    generate_methods!(Sno, metabyte: u8);
}

impl_generate_by_delegation!(Sno, metabyte => u8, metabyte);

/// Returns the default options.
pub(crate) fn options(lease_url: &LeaseUrl) -> Result<Options> {
    lease_url.options(Shape::sno(lease_url.worker_id_range(0..=u64::from(u16::MAX)))?)
}

/// Creates a generator that becomes usable when its lease is ready.
pub(crate) fn prepare(
    source: Source,
    options: Options,
    longest: Duration,
) -> Result<PendingGenerator<Leased>> {
    if options.shape().family() != "sno" {
        return Err(out_of_range("expected options of sno"));
    }
    let waits = options.waits;
    SharedGrantee::lease(source, options, longest, move |worker_id, window| {
        let partition = u16::try_from(worker_id).unwrap_or_else(|_| unreachable!("by the shape"));
        let generator = waits.apply(sno::Generator::builder().partition(partition));
        generator.window(window.start, window.end).build()
    })
}
