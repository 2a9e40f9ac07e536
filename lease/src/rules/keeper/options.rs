//! The options of a keeper.

use alloc::{
    format,
    string::{String, ToString},
};
#[cfg(feature = "std")]
use core::time::Duration;

#[cfg(feature = "std")]
use polyflake::{Builder, OnExhausted, clock::Clock};

#[cfg(feature = "std")]
use crate::Ordinal;
#[cfg(feature = "std")]
use crate::rules::events::{Event, Watch, tell};
use crate::{
    Result, Shape,
    rules::error::out_of_range,
    rules::record::{check_name, check_text},
};

const HOUR: u64 = 3_600_000;
const MINUTE: u64 = 60_000;
/// The longest lease: a year.
const LONGEST: u64 = 366 * 24 * HOUR;

/// A namespace, its shape, and the terms of leasing its numbers.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) namespace: String,
    pub(super) shape: Shape,
    pub(super) lease_ms: u64,
    pub(super) holder: String,
    pub(super) preferred: Option<u64>,
    pub(super) insists: bool,
    #[cfg(feature = "std")]
    watch: Option<Watch>,
    #[cfg(feature = "std")]
    pub(crate) waits: Waits,
}

/// The waits of a generator under a lease.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    longest: Option<Duration>,
    on_exhausted: OnExhausted,
}

#[cfg(feature = "std")]
impl Waits {
    /// A builder with these waits.
    pub(crate) fn give<F, C: Clock>(self, builder: Builder<F, C>) -> Builder<F, C> {
        let builder = builder.on_exhausted(self.on_exhausted);
        match self.longest {
            Some(longest) => builder.max_wait(longest),
            None => builder,
        }
    }
}

impl Options {
    /// Leases of an hour, of any number. The namespace is named after the family as well, `orders/sno` for `orders`, so that generators of
    /// different families may have the same name.
    ///
    /// # Errors
    /// `out_of_range` for a name that no namespace can have.
    pub fn new(name: &str, shape: Shape) -> Result<Self> {
        let namespace = format!("{name}/{}", shape.family());
        check_name(&namespace)?;
        Ok(Self {
            namespace,
            shape,
            lease_ms: HOUR,
            holder: String::new(),
            preferred: None,
            insists: false,
            #[cfg(feature = "std")]
            watch: None,
            #[cfg(feature = "std")]
            waits: Waits { longest: None, on_exhausted: OnExhausted::Wait },
        })
    }

    /// The whole name of the namespace, with the family's.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Sets the length of a lease, in milliseconds.
    ///
    /// # Errors
    /// `out_of_range` unless the lease lasts at least two steps of the grid and half a second, and at most a year.
    pub fn lease_ms(self, lease_ms: u64) -> Result<Self> {
        if lease_ms < (2 * self.shape.grid().step()).max(500) || lease_ms > LONGEST {
            return Err(out_of_range(
                "expected a lease of two steps of the grid and half a second to a year",
            ));
        }
        Ok(Self { lease_ms, ..self })
    }

    /// Sets a name for people, which is written in the record of the leased number.
    ///
    /// # Errors
    /// `out_of_range` for more than 200 bytes, or control characters.
    pub fn holder(self, holder: &str) -> Result<Self> {
        check_text(holder, 200)?;
        Ok(Self { holder: holder.to_string(), ..self })
    }

    /// Sets a number to take if it is free.
    ///
    /// # Errors
    /// `out_of_range` unless it is one of the shape's numbers, and in one of the first 2^20 records: all up to it are made.
    pub fn prefer(self, number: u64) -> Result<Self> {
        self.shape.reach(number)?;
        Ok(Self { preferred: Some(number), ..self })
    }

    /// Sets a number to take or to wait for. Leases then last a minute, unless [`Options::lease_ms`] is called afterwards.
    ///
    /// # Errors
    /// As [`Options::prefer`].
    pub fn insist(self, number: u64) -> Result<Self> {
        let options = self.prefer(number)?;
        Ok(Self { insists: true, lease_ms: MINUTE, ..options })
    }

    /// Sets a number to take if it is free, by an ordinal counted from the shape's first number.
    ///
    /// ```
    /// use polyflake_lease::{Options, Ordinal, Shape};
    ///
    /// # fn main() -> polyflake_lease::Result<()> {
    /// let options = Options::new("orders", Shape::sno(100..=199)?)?;
    /// let index = Ordinal::variable("JOB_COMPLETION_INDEX");
    /// let options = match index.read() {
    ///     Ok(_) => options.prefer_ordinal(&index)?, // index 3 prefers number 103
    ///     Err(_) => options, // at a desk
    /// };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `out_of_range` as [`Ordinal::read`], and for an ordinal that the shape has no number for.
    #[cfg(feature = "std")]
    pub fn prefer_ordinal(self, ordinal: &Ordinal) -> Result<Self> {
        let number = self.number_of(ordinal)?;
        self.prefer(number)
    }

    /// Sets a number to take or to wait for, by an ordinal counted from the shape's first number. Leases then last a minute, as with
    /// [`Options::insist`].
    ///
    /// # Errors
    /// As [`Options::prefer_ordinal`].
    #[cfg(feature = "std")]
    pub fn insist_ordinal(self, ordinal: &Ordinal) -> Result<Self> {
        let number = self.number_of(ordinal)?;
        self.insist(number)
    }

    #[cfg(feature = "std")]
    fn number_of(&self, ordinal: &Ordinal) -> Result<u64> {
        let (index, capacity) = (ordinal.read()?, self.shape.capacity());
        if index >= capacity {
            let reason = format!("expected an ordinal below {capacity}, found {index}");
            return Err(out_of_range(reason));
        }
        Ok(self.shape.first_of(index))
    }

    /// Sets a function that hears of the lease's events, each as it happens. It is called on the thread that keeps the lease, so it
    /// returns soon, and does not close the lease; on the thread that closes it only where the store does not answer. If it panics,
    /// the lease goes on.
    ///
    /// ```
    /// use polyflake_lease::{Options, Shape, sno::Generator};
    ///
    /// let options = Options::new("orders", Shape::sno(0..=1023)?)?;
    /// let options = options.watch(|event| eprintln!("orders: {event}"));
    /// Generator::with("memory:watched", options, std::time::Duration::from_secs(5))?.close();
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn watch(self, watch: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { watch: Some(Watch::new(watch)), ..self }
    }

    /// Sets the longest wait of a call for a tick or a lease, as the builders of the core do.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn max_wait(self, max_wait: Duration) -> Self {
        Self { waits: Waits { longest: Some(max_wait), ..self.waits }, ..self }
    }

    /// Sets whether a call waits for a tick or a lease, as the builders of the core do.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn on_exhausted(self, on_exhausted: OnExhausted) -> Self {
        Self { waits: Waits { on_exhausted, ..self.waits }, ..self }
    }

    /// Tells those who hear of the lease's events.
    #[cfg(feature = "std")]
    pub(crate) fn tell(&self, event: &Event) {
        tell(&self.namespace, self.watch.as_ref(), event);
    }

    #[cfg(feature = "std")]
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The longest wait for an answer, in milliseconds: a quarter of a lease, so that three tries fit into what a renewal leaves.
    pub(crate) fn answer_limit(&self) -> u64 {
        (self.lease_ms / 4).clamp(1000, 15_000)
    }

    /// The largest difference allowed between the claimant's clock and the store's, in milliseconds.
    pub(super) fn skew(&self) -> u64 {
        MINUTE.min(self.lease_ms / 3)
    }
}
