//! IDs of custom layouts under leased numbers: a field, or several, hold the number.

use core::time::Duration;

use polyflake::layout::{self, Batch, Id, Layout, Leased};

use crate::{
    Options, Result, Source,
    ids::generator::{Begun, by_own_calls},
    ids::granted::Threaded,
    rules::error::out_of_range,
    rules::numbered::Numbered,
    rules::place::Place,
};

pub use crate::rules::numbered::shape;

/// A generator whose constants or bindables of some names hold a leased number: it renews the lease, moves to another number if it
/// must, and returns its number when it is dropped.
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
/// let number = i128::from(ids.lease().number().unwrap());
/// assert_eq!((centre, worker), ((number >> 5).into(), (number & 31).into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It has the calls of the core's generators: one ID, a batch, and calls that never wait.
pub type Generator = crate::Generator<Leased>;

impl Generator {
    /// A generator with the defaults, from a store's URL as in [`open`](crate::open), the name of a namespace of all numbers that the
    /// fields can hold, and the fields, the most significant first. It waits up to 10 seconds for its first grant.
    ///
    /// # Errors
    /// The reason why there is no grant: `lease_unavailable`, `namespace_mismatch` for another layout, and others; as [`shape`] for
    /// the layout and the fields.
    pub fn new(url: &str, namespace: &str, layout: &Layout, fields: &[&str]) -> Result<Self> {
        let numbers = Numbered::new(layout, fields)?.all();
        let options = Options::new(namespace, shape(layout, fields, numbers)?)?;
        Self::with(url, options, layout, fields, Duration::from_secs(10))
    }

    /// A generator of the place that the variable `POLYFLAKE_LEASE` names, as in `sqlite:/var/lib/app/ids.db?namespace=orders`; it insists on the
    /// number in `POLYFLAKE_NODE`, if that is set. It waits up to 10 seconds for its first grant, and up to 70 for a number that it insists on.
    ///
    /// # Errors
    /// `lease_unavailable` without the variable; as [`Generator::new`].
    pub fn from_env(layout: &Layout, fields: &[&str]) -> Result<Self> {
        let place = Place::from_env(None)?;
        let numbers = Numbered::new(layout, fields)?.all();
        let options = place.options(shape(layout, fields, numbers)?)?;
        Self::with(place.url(), options, layout, fields, place.longest())
    }

    /// As [`Generator::new`], waiting in `sleep`, for example `tokio::time::sleep`, which does not block the thread. If the future is
    /// dropped, a number that was leased meanwhile is returned.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub async fn new_async(
        url: &str,
        namespace: &str,
        layout: &Layout,
        fields: &[&str],
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        let numbers = Numbered::new(layout, fields)?.all();
        let options = Options::new(namespace, shape(layout, fields, numbers)?)?;
        Self::with_async(url, options, layout, fields, Duration::from_secs(10), sleep).await
    }

    /// A generator from any [`Source`] with other options, whose shape is that of [`shape`] with this layout and these fields. It waits up to `longest`
    /// for its first grant.
    ///
    /// # Errors
    /// As [`Generator::new`]; `out_of_range` for options of another shape or with blocks.
    pub fn with(
        source: impl Into<Source>,
        options: Options,
        layout: &Layout,
        fields: &[&str],
        longest: Duration,
    ) -> Result<Self> {
        begin(source.into(), options, layout, fields, longest)?.ready()
    }

    /// As [`Generator::with`], waiting in `sleep`, which does not block the thread. If the future is dropped, a number that was leased
    /// meanwhile is returned.
    ///
    /// # Errors
    /// As [`Generator::with`].
    pub async fn with_async(
        source: impl Into<Source>,
        options: Options,
        layout: &Layout,
        fields: &[&str],
        longest: Duration,
        sleep: impl AsyncFn(Duration),
    ) -> Result<Self> {
        begin(source.into(), options, layout, fields, longest)?.ready_async(sleep).await
    }

    /// One new ID. It waits for a lease as for a tick: up to a second. The first ID in a forked child waits as long for a lease of the
    /// child's own as the generator waited for its first.
    ///
    /// # Errors
    /// `lease_unavailable` without a lease; its source says since when, and why. All else as the core's generator.
    #[inline]
    pub fn generate(&self) -> polyflake::Result<Id> {
        self.call(|leased| leased.generate(None))
    }

    /// Fills a slice with new IDs: `&mut [i64]` in an integer layout, else packed bytes. A batch across a move to another number goes
    /// on under that number.
    ///
    /// # Errors
    /// As [`Generator::generate`]; `written` is the number of valid IDs at the front of the slice.
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> polyflake::Result<()> {
        let mut ids = ids.into();
        self.call(|leased| leased.fill(None, again(&mut ids)))
    }

    /// One new ID without waiting, if there is one now. In a forked child the first call begins to lease a number.
    ///
    /// # Errors
    /// `lease_unavailable`, `sequence_exhausted` or `clock_behind` instead of a wait; all else as [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self) -> polyflake::Result<Id> {
        self.try_call(|leased| leased.try_generate(None))
    }

    /// Fills the front of a slice with as many new IDs as are available now, and returns their number. It never waits.
    ///
    /// # Errors
    /// As [`Generator::fill`], except `sequence_exhausted` and `clock_behind`, which only end the batch.
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> polyflake::Result<usize> {
        let ids = ids.into();
        self.try_call(|leased| leased.try_fill(None, ids))
    }

    /// One new ID. It waits in `sleep`, for example `tokio::time::sleep`, and does not block the thread.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> polyflake::Result<Id> {
        self.call_async(&sleep, async |leased| leased.generate_async(&sleep, None).await).await
    }

    /// Fills a slice with new IDs. It waits in `sleep` and does not block the thread. `written` counts the valid IDs at the
    /// front: all in the end, and as many as there were if the call is dropped before.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = polyflake::Result<()>> {
        *written = 0; // a call may be dropped before its first poll
        async move {
            let mut ids = ids.into();
            let fill = async |leased: &Leased| {
                leased.fill_async(&sleep, None, again(&mut ids), &mut *written).await
            };
            self.call_async(&sleep, fill).await
        }
    }
}

by_own_calls!(Id, () => ());

/// Starts a generator, which is of use once its lease is ready.
fn begin(
    source: Source,
    options: Options,
    layout: &Layout,
    fields: &[&str],
    longest: Duration,
) -> Result<Begun<Leased>> {
    let numbered = Numbered::new(layout, fields)?;
    let of_layout = shape(layout, fields, options.shape().numbers())?;
    if options.shape().family() != "layout" || *options.shape() != of_layout {
        return Err(out_of_range("expected options of the layout and its fields, without blocks"));
    }
    let waits = options.waits;
    Threaded::start(source, options, longest, move |number, window| {
        let layout = Layout::from_value(numbered.with(number))?;
        let generator = waits.give(layout::Generator::builder(layout));
        generator.window(window.start, window.end).build()
    })
}

/// The same buffer for another call.
fn again<'b>(ids: &'b mut Batch<'_>) -> Batch<'b> {
    match ids {
        Batch::Integers(ids) => Batch::Integers(ids),
        Batch::Bytes(ids) => Batch::Bytes(ids),
        _ => unreachable!("a buffer is of integers or of bytes"),
    }
}
