//! The options of a keeper, such as the length of a lease.

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
use crate::rules::events::{Event, EventWatcher, emit};
use crate::{
    Result, Shape,
    rules::error::out_of_range,
    rules::record::{check_name, check_text},
    rules::volatile_store,
};

const HOUR_MS: u64 = 3_600_000;
const MINUTE_MS: u64 = 60_000;
/// The longest lease: a year.
const MAX_LEASE_MS: u64 = 366 * 24 * HOUR_MS;

/// The default time, in milliseconds, that a caller waits for the first grant. If the caller requires a worker ID, the time
/// is longer, because a killed process may still hold that worker ID until its one-minute lease ends. Hosts in other
/// languages also use this function.
pub(crate) const fn default_wait_ms(requires_worker_id: bool) -> u64 {
    if requires_worker_id { 70_000 } else { 10_000 }
}

/// A namespace, its shape, and the terms for leasing its worker IDs.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) namespace: String,
    /// The store's name without a password, for use in messages.
    #[cfg_attr(not(feature = "hosted"), allow(dead_code, reason = "for the messages of hosts"))]
    store_name: Option<String>,
    pub(super) shape: Shape,
    pub(super) lease_ms: u64,
    /// Whether the program explicitly set the lease length.
    #[cfg_attr(not(feature = "hosted"), allow(dead_code, reason = "hosts know the store"))]
    names_lease: bool,
    pub(super) holder: String,
    pub(super) preferred: Option<u64>,
    pub(super) requires_worker_id: bool,
    /// The time between renewals in milliseconds, or `None` for the default. Only values below the default have an effect.
    renew_ms: Option<u64>,
    /// Whether IDs are withheld after a gap between the clocks.
    pub(super) is_strict: bool,
    /// How long a caller waits for the first grant, in milliseconds, or `None` for the default.
    wait_ms: Option<u64>,
    #[cfg(feature = "std")]
    watch: Option<EventWatcher>,
    #[cfg(feature = "std")]
    pub(crate) waits: WaitOptions,
}

/// Whether calls to a leased generator wait, and for how long.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitOptions {
    longest: Option<Duration>,
    on_exhausted: OnExhausted,
}

#[cfg(feature = "std")]
impl WaitOptions {
    /// Applies the wait options to a builder.
    pub(crate) fn apply<F, C: Clock>(self, builder: Builder<F, C>) -> Builder<F, C> {
        // The previous grant may have had the same worker ID, and its generator may still exist.
        let builder = builder.unregistered();
        let builder = builder.on_exhausted(self.on_exhausted);
        match self.longest {
            Some(longest) => builder.max_wait(longest),
            None => builder,
        }
    }
}

impl Options {
    /// Creates options for one-hour leases of any available worker ID. The name of the ID format is appended to the
    /// namespace, for example `orders/sno` for `orders`, so that generators of different formats can use the same name.
    ///
    /// # Errors
    /// Returns `out_of_range` if the name is invalid.
    pub fn new(name: &str, shape: Shape) -> Result<Self> {
        let namespace = format!("{name}/{}", shape.family());
        check_name(&namespace)?;
        Ok(Self {
            namespace,
            store_name: None,
            shape,
            lease_ms: HOUR_MS,
            names_lease: false,
            holder: String::new(),
            preferred: None,
            requires_worker_id: false,
            renew_ms: None,
            is_strict: false,
            wait_ms: None,
            #[cfg(feature = "std")]
            watch: None,
            #[cfg(feature = "std")]
            waits: WaitOptions { longest: None, on_exhausted: OnExhausted::Wait },
        })
    }

    /// Returns the full name of the namespace, including the name of the ID format.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Sets the store's name in messages, such as "cannot lease a worker ID from the shop's database". If the source is a
    /// URL, the name is the URL without its password.
    #[must_use]
    pub fn store_name(self, store_name: &str) -> Self {
        Self { store_name: Some(store_name.to_string()), ..self }
    }

    /// Returns the store's name as a phrase for messages, such as `from sqlite:ids.db`. If no name was set, the phrase
    /// names the namespace, such as `for orders/sno`.
    #[cfg(feature = "hosted")]
    pub(crate) fn store_phrase(&self) -> String {
        match &self.store_name {
            Some(name) => format!("from {name}"),
            None => format!("for {}", self.namespace),
        }
    }

    /// Sets how long a caller waits for the first grant, in milliseconds. The default is 10,000, or 70,000 for a required
    /// worker ID. During this time, the pause after a failed request is at most half a second or, if longer, an eighth of
    /// the time waited so far. The keeper therefore soon notices when a server becomes available.
    #[must_use]
    pub fn waits_for_ms(self, wait_ms: u64) -> Self {
        Self { wait_ms: Some(wait_ms), ..self }
    }

    /// Returns how long a caller waits for the first grant, in milliseconds.
    pub(crate) fn wait_ms(&self) -> u64 {
        self.wait_ms.unwrap_or(default_wait_ms(self.requires_worker_id))
    }

    /// Sets the length of a lease in milliseconds.
    ///
    /// # Errors
    /// Returns `out_of_range` unless the lease lasts at least two grid steps, at least half a second, and at most a year.
    pub fn lease_ms(self, lease_ms: u64) -> Result<Self> {
        // Both ends of a grant are rounded inward to the grid, so a lease of a single step could be empty.
        if lease_ms < (2 * self.shape.grid().interval()).max(500) || lease_ms > MAX_LEASE_MS {
            return Err(out_of_range(
                "expected a lease of at least two ticks and half a second, and at most a year",
            ));
        }
        Ok(Self { lease_ms, names_lease: true, ..self })
    }

    /// Returns the options for a volatile store, which grants only short leases.
    #[cfg(feature = "hosted")]
    pub(crate) fn for_volatile_store(mut self) -> Result<Self> {
        if self.names_lease {
            volatile_store::check_lease(self.lease_ms)?;
        }
        self.limit_lease();
        Ok(self)
    }

    /// Sets the time between renewals in milliseconds. By default, it is a quarter of the lease duration, which is also the
    /// maximum. If the clocks do not reveal that a running process was copied, the copy is detected at the next renewal.
    ///
    /// ```
    /// use polyflake_lease::{Options, Shape};
    ///
    /// let options = Options::new("orders", Shape::sno(0..=1023)?)?.renew_ms(10_000)?;
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` unless the time is at least a second and at most a year.
    pub fn renew_ms(self, renew_ms: u64) -> Result<Self> {
        if !(1000..=MAX_LEASE_MS).contains(&renew_ms) {
            return Err(out_of_range(
                "expected at least a second between renewals, and at most a year",
            ));
        }
        Ok(Self { renew_ms: Some(renew_ms), ..self })
    }

    /// Returns the time between renewals in milliseconds.
    pub(super) fn interval(&self) -> u64 {
        (self.lease_ms / 4).min(self.renew_ms.unwrap_or(u64::MAX))
    }

    /// Withholds IDs for up to a second after the process was restored from an image of its memory, until the store has
    /// distinguished the process from other copies. If the store does not reply in time, the generator continues, and
    /// [`Event::Unconfirmed`](crate::Event) reports this.
    ///
    /// With this option, the generator's window ends a few seconds from now instead of at the end of the grant, and the
    /// lease extends the window every second. Therefore, a copy of an older image finds that its window has ended. IDs are
    /// also withheld if the program prevents the lease from running for two seconds.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    /// Sets a human-readable name for the holder. It is stored in the record of the leased worker ID.
    ///
    /// # Errors
    /// Returns `out_of_range` if the name has more than 200 bytes or contains control characters.
    pub fn holder(self, holder: &str) -> Result<Self> {
        check_text(holder, 200)?;
        Ok(Self { holder: holder.to_string(), ..self })
    }

    /// Sets a preferred worker ID, which is leased if it is free.
    ///
    /// # Errors
    /// Returns `out_of_range` if the worker ID is not in the shape's range, or not in the first 2^20 records. The latter
    /// limit exists because leasing a preferred worker ID creates all records up to it.
    pub fn preferred_worker_id(self, worker_id: u64) -> Result<Self> {
        self.shape.record_index(worker_id)?;
        Ok(Self { preferred: Some(worker_id), ..self })
    }

    /// Sets a required worker ID. If another holder has the worker ID, the lease waits until the worker ID is free. Leases
    /// then last one minute, unless [`Options::lease_ms`] is called afterwards.
    ///
    /// # Errors
    /// Returns the same errors as [`Options::preferred_worker_id`].
    pub fn required_worker_id(self, worker_id: u64) -> Result<Self> {
        let options = self.preferred_worker_id(worker_id)?;
        // A restarted process accepts no other worker ID, so it must wait until the lease of its killed predecessor ends.
        // Therefore, the lease is short.
        Ok(Self { requires_worker_id: true, lease_ms: MINUTE_MS, ..options })
    }

    /// Sets a preferred worker ID from an ordinal. Ordinal 0 corresponds to the shape's first worker ID. The preferred
    /// worker ID is leased if it is free.
    ///
    /// ```
    /// use polyflake_lease::{Options, Ordinal, Shape};
    ///
    /// # fn main() -> polyflake_lease::Result<()> {
    /// let options = Options::new("orders", Shape::sno(100..=199)?)?;
    /// let index = Ordinal::variable("JOB_COMPLETION_INDEX");
    /// let options = match index.read() {
    ///     Ok(_) => options.preferred_ordinal(&index)?, // index 3 prefers worker ID 103
    ///     Err(_) => options, // on a developer's machine
    /// };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Ordinal::read`], and `out_of_range` if the shape has no worker ID for the ordinal.
    #[cfg(feature = "std")]
    pub fn preferred_ordinal(self, ordinal: &Ordinal) -> Result<Self> {
        let worker_id = self.worker_id_for(ordinal)?;
        self.preferred_worker_id(worker_id)
    }

    /// Sets a required worker ID from an ordinal. Ordinal 0 corresponds to the shape's first worker ID. If another holder
    /// has the worker ID, the lease waits until the worker ID is free. Leases then last one minute, as with
    /// [`Options::required_worker_id`].
    ///
    /// # Errors
    /// Returns the same errors as [`Options::preferred_ordinal`].
    #[cfg(feature = "std")]
    pub fn required_ordinal(self, ordinal: &Ordinal) -> Result<Self> {
        let worker_id = self.worker_id_for(ordinal)?;
        self.required_worker_id(worker_id)
    }

    #[cfg(feature = "std")]
    fn worker_id_for(&self, ordinal: &Ordinal) -> Result<u64> {
        let (index, capacity) = (ordinal.read()?, self.shape.capacity());
        if index >= capacity {
            let reason = format!("expected an ordinal below {capacity}, found {index}");
            return Err(out_of_range(reason));
        }
        Ok(self.shape.first_id_at(index))
    }

    /// Sets a function that receives the lease's events as they occur. The function is called on the thread that maintains
    /// the lease, so it must return quickly and must not close the lease. If the store is unresponsive, the function may
    /// also be called on the thread that closes the lease. If the function panics, the lease continues.
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
        Self { watch: Some(EventWatcher::new(watch)), ..self }
    }

    /// Sets the maximum time that a call waits for a tick or a lease, as in the core crate's builders.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn max_wait(self, max_wait: Duration) -> Self {
        Self { waits: WaitOptions { longest: Some(max_wait), ..self.waits }, ..self }
    }

    /// Sets whether a call waits or fails while no tick or lease is available, as in the core crate's builders.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn on_exhausted(self, on_exhausted: OnExhausted) -> Self {
        Self { waits: WaitOptions { on_exhausted, ..self.waits }, ..self }
    }

    /// Reports an event to the program's callback and, with the `tracing` feature, to the tracing subscriber.
    #[cfg(feature = "std")]
    pub(crate) fn report(&self, event: &Event) {
        emit(&self.namespace, self.watch.as_ref(), event);
    }

    #[cfg(feature = "std")]
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Shortens the lease to the maximum length that a volatile store grants, if it is longer.
    pub(super) fn limit_lease(&mut self) {
        self.lease_ms = self.lease_ms.min(volatile_store::MAX_VOLATILE_LEASE_MS);
    }

    /// Returns how long to wait for a reply, in milliseconds. The timeout is a quarter of the lease duration, so that three
    /// attempts fit into the time that remains for a renewal.
    pub(crate) fn reply_timeout(&self) -> u64 {
        (self.lease_ms / 4).clamp(1000, 15_000)
    }

    /// Returns the largest allowed difference between the claimant's clock and the store's clock, in milliseconds.
    pub(super) fn skew(&self) -> u64 {
        MINUTE_MS.min(self.lease_ms / 3)
    }
}
