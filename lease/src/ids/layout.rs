//! IDs with custom layouts in which one or more fields contain a leased worker ID.
//!
//! ```
//! use std::time::Duration;
//! use polyflake::layout::preset;
//! use polyflake_lease::{Options, layout};
//!
//! let sonyflake = preset("sonyflake", [])?;
//! let shape = layout::shape(&sonyflake, &["machine"], 0..=1023)?;
//! let options = Options::new("posts", shape)?.preferred_worker_id(7)?;
//! let ids = layout::Generator::with(
//!     "memory:layout", options, &sonyflake, &["machine"], Duration::from_secs(10),
//! )?;
//! assert_eq!(sonyflake.parse(&ids.generate()?)?.bindable("machine")?, 7.into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::time::Duration;

use polyflake::layout::{self, Batch, Id, Layout, Leased};

use crate::{
    Options, Result, Source,
    ids::generator::{PendingGenerator, constructors, impl_generate_by_delegation},
    ids::granted::SharedGrantee,
    rules::error::out_of_range,
    rules::lease_url::LeaseUrl,
    rules::worker_id_layout::WorkerIdLayout,
};

pub use crate::rules::worker_id_layout::shape;

/// A generator that stores a leased worker ID in one or more fields of its layout, which are integer constants or bindable
/// fields. The generator renews its lease, switches to a different worker ID if necessary, and releases its worker ID when
/// it is dropped.
///
/// ```
/// use polyflake::layout::preset;
/// use polyflake_lease::layout::Generator;
///
/// let twitter = preset("twitter", [])?;
/// let ids = Generator::new("memory:orders", "posts", &twitter, &["datacenter", "worker"])?;
/// let id = ids.generate()?;
/// let parsed = twitter.parse(&id)?;
/// let (centre, worker) = (parsed.bindable("datacenter")?, parsed.bindable("worker")?);
/// let worker_id = i128::from(ids.lease().worker_id().unwrap());
/// assert_eq!((centre, worker), ((worker_id >> 5).into(), (worker_id & 31).into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has the same methods as the core crate's generators, which generate one ID or a batch, with or without waiting.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    constructors!(
        "`fields` lists the fields that contain the worker ID, starting with the most significant one. The namespace \
         contains all worker IDs that fit in these fields. The errors of [`shape`] are also returned.",
        "The options must specify the shape that [`shape`] returns for the same layout and fields.",
        (layout: &Layout, fields: &[&str])
    );

    /// Generates a new ID. The call waits up to a second for a lease or for an available tick. The first call in a forked
    /// child process waits for the child's own lease. The time limit of this wait is the same as for the generator's first
    /// grant.
    ///
    /// # Errors
    /// Returns `lease_unavailable` if the generator currently has no worker ID. The error's source states the reason and,
    /// if a lease has ended, the time at which it ended. All other errors are the same as for the core crate's generator.
    #[inline]
    pub fn generate(&self) -> polyflake::Result<Id> {
        self.call(|leased| leased.generate(None))
    }

    /// Fills a slice with new IDs. The slice is `&mut [i64]` for an integer layout, or packed bytes for a byte layout. If
    /// the lease switches to a different worker ID during the batch, the remaining IDs use that worker ID.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`]. `written` is the number of valid IDs at the front of the slice.
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> polyflake::Result<()> {
        let mut ids = ids.into();
        self.call(|leased| leased.fill(None, reborrow(&mut ids)))
    }

    /// Generates a new ID if one is available without waiting. In a forked child process, the first call starts leasing a
    /// worker ID.
    ///
    /// # Errors
    /// Returns `lease_unavailable`, `sequence_exhausted` or `clock_behind` instead of waiting. All other errors are the
    /// same as for [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self) -> polyflake::Result<Id> {
        self.try_call(|leased| leased.try_generate(None))
    }

    /// Fills the front of a slice with as many new IDs as are available without waiting, and returns the number of IDs
    /// written.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill`], except `sequence_exhausted` and `clock_behind`, which only end the
    /// batch.
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> polyflake::Result<usize> {
        let ids = ids.into();
        self.try_call(|leased| leased.try_fill(None, ids))
    }

    /// Generates a new ID. If the call has to wait, it awaits `sleep`, for example `tokio::time::sleep`, instead of
    /// blocking the thread.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> polyflake::Result<Id> {
        self.call_async(&sleep, async |leased| leased.generate_async(&sleep, None).await).await
    }

    /// Fills a slice with new IDs. If the call has to wait, it awaits `sleep` instead of blocking the thread. `written`
    /// counts the valid IDs at the front of the slice, and remains correct if the future is dropped early.
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = polyflake::Result<()>> {
        *written = 0; // the future may be dropped before its first poll
        async move {
            let mut ids = ids.into();
            let fill = async |leased: &Leased| {
                leased.fill_async(&sleep, None, reborrow(&mut ids), &mut *written).await
            };
            self.call_async(&sleep, fill).await
        }
    }
}

impl_generate_by_delegation!(Id, () => ());

/// Returns the default options.
fn options(lease_url: &LeaseUrl, layout: &Layout, fields: &[&str]) -> Result<Options> {
    let worker_ids =
        lease_url.worker_id_range(WorkerIdLayout::new(layout, fields)?.all_worker_ids());
    lease_url.options(shape(layout, fields, worker_ids)?)
}

/// Creates a generator that becomes usable when its lease is ready.
fn prepare(
    source: Source,
    options: Options,
    layout: &Layout,
    fields: &[&str],
    longest: Duration,
) -> Result<PendingGenerator<Leased>> {
    let worker_id_layout = WorkerIdLayout::new(layout, fields)?;
    let of_layout = shape(layout, fields, options.shape().worker_ids())?;
    if options.shape().family() != "layout" || *options.shape() != of_layout {
        return Err(out_of_range("expected options of the layout and its fields"));
    }
    let waits = options.waits;
    SharedGrantee::lease(source, options, longest, move |worker_id, window| {
        let layout = Layout::from_value(worker_id_layout.to_json(worker_id))?;
        let generator = waits.apply(layout::Generator::builder(layout));
        generator.window(window.start, window.end).build()
    })
}

/// Reborrows the batch so that it can be passed to another call.
fn reborrow<'b>(ids: &'b mut Batch<'_>) -> Batch<'b> {
    match ids {
        Batch::Integers(ids) => Batch::Integers(ids),
        Batch::Bytes(ids) => Batch::Bytes(ids),
        _ => unreachable!("a buffer is of integers or of bytes"),
    }
}
