//! Monitoring of a lease: events are reported as they occur, and metrics are available at any time.

#[cfg(feature = "std")]
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use core::{fmt, time::Duration};

use crate::{Error, rules::error::format_unix_ms};

/// A lease event. Times are in Unix milliseconds.
///
/// An event contains worker IDs, times and errors. Error messages name the store without its password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A worker ID was leased, for the first time or after an interruption.
    Acquired {
        /// The worker ID.
        worker_id: u64,
        /// The start of the grant.
        start: u64,
        /// The end of the grant.
        end: u64,
    },
    /// The store acknowledged a later end for the grant.
    Renewed {
        /// The worker ID.
        worker_id: u64,
        /// The new end of the grant.
        end: u64,
    },
    /// A new grant replaced the previous grant before the previous one ended.
    Switched {
        /// The worker ID of the previous grant.
        previous_worker_id: u64,
        /// The new worker ID.
        worker_id: u64,
        /// The start of the grant.
        start: u64,
        /// The end of the grant.
        end: u64,
    },
    /// Since the last acknowledged write, the wall clock has moved by more than a second relative to the monotonic clock.
    /// Possible causes are that the process was paused, that its image was copied, or that a clock was set. The holder
    /// renews its lease within a second, and the renewal shows whether another copy of the process uses the worker ID.
    Gap {
        /// The worker ID.
        worker_id: u64,
        /// How far the wall clock moved, in milliseconds.
        milliseconds: i64,
    },
    /// The store did not acknowledge a write within a second after a gap. The generator continues, although another copy of
    /// the process may be using the worker ID. This event is reported only for leases with
    /// [`Options::strict`](crate::Options::strict).
    Unconfirmed {
        /// The worker ID.
        worker_id: u64,
    },
    /// A request was rejected or failed, for a different reason than the previous failure. The lease continues.
    Rejected(Error),
    /// The grant expired and was not replaced. No IDs are available until the next [`Event::Acquired`] or
    /// [`Event::Renewed`] event.
    Expired {
        /// The worker ID.
        worker_id: u64,
        /// The end of the grant.
        end: u64,
    },
    /// The generator has been sealed. Its worker ID is released next, unless the grant was lost.
    Sealed {
        /// The worker ID.
        worker_id: u64,
        /// The end of the highest tick that the generator reserved, or `None` if it reserved no tick.
        used_until: Option<u64>,
    },
}

impl Event {
    /// Returns the event's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Acquired { .. } => "acquired",
            Self::Renewed { .. } => "renewed",
            Self::Switched { .. } => "switched",
            Self::Gap { .. } => "gap",
            Self::Unconfirmed { .. } => "unconfirmed",
            Self::Rejected(_) => "rejected",
            Self::Expired { .. } => "expired",
            Self::Sealed { .. } => "sealed",
        }
    }
}

/// Formats an event in human-readable form.
///
/// ```
/// use polyflake_lease::{Error, ErrorKind, Event};
///
/// let event = Event::Rejected(Error::new(ErrorKind::LeaseUnavailable, "expected an answer, found none"));
/// assert_eq!(event.to_string(), "rejected: expected an answer, found none");
/// ```
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Self::Acquired { worker_id, end, .. } | Self::Renewed { worker_id, end } => {
                write!(f, "{name}: worker ID {worker_id} until {}", format_unix_ms(*end))
            }
            Self::Switched { previous_worker_id, worker_id, end, .. } => {
                write!(
                    f,
                    "{name}: from worker ID {previous_worker_id} to worker ID {worker_id} until {}",
                    format_unix_ms(*end)
                )
            }
            Self::Gap { worker_id, milliseconds } => {
                write!(
                    f,
                    "{name}: worker ID {worker_id}, the wall clock moved by {milliseconds} ms"
                )
            }
            Self::Unconfirmed { worker_id } => write!(f, "{name}: worker ID {worker_id}"),
            Self::Rejected(error) => write!(f, "{name}: {error}"),
            Self::Expired { worker_id, end } => {
                write!(f, "{name}: worker ID {worker_id} at {}", format_unix_ms(*end))
            }
            Self::Sealed { worker_id, used_until: Some(end) } => {
                write!(f, "{name}: worker ID {worker_id}, used until {}", format_unix_ms(*end))
            }
            Self::Sealed { worker_id, used_until: None } => {
                write!(f, "{name}: worker ID {worker_id}, unused")
            }
        }
    }
}

/// A lease's metrics at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// The time until the grant ends, according to the system clock. Zero if there is no grant.
    pub remaining: Duration,
    /// The number of grants so far.
    pub grants: u64,
    /// The number of acknowledged renewals so far.
    pub renewals: u64,
    /// The number of rejected or failed requests so far.
    pub failures: u64,
    /// The number of clock gaps so far (see [`Event::Gap`]).
    pub gaps: u64,
}

/// A function that receives events.
#[cfg(feature = "std")]
#[derive(Clone)]
pub(crate) struct EventWatcher(Arc<dyn Fn(&Event) + Send + Sync>);

#[cfg(feature = "std")]
impl EventWatcher {
    pub(crate) fn new(watch: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(watch))
    }
}

#[cfg(feature = "std")]
impl fmt::Debug for EventWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventWatcher")
    }
}

/// Reports a namespace's event to the process's tracing subscriber and to the program's callback.
#[cfg(feature = "std")]
pub(crate) fn emit(namespace: &str, watch: Option<&EventWatcher>, event: &Event) {
    // A panic in the program's callback must not end the lease.
    let outlive = |call: &dyn Fn()| drop(catch_unwind(AssertUnwindSafe(call)));
    #[cfg(feature = "tracing")]
    outlive(&|| trace(namespace, event));
    #[cfg(not(feature = "tracing"))]
    let _ = namespace;
    if let Some(EventWatcher(watch)) = watch {
        outlive(&|| watch(event));
    }
}

/// Passes an event to the tracing subscriber of the process.
#[cfg(feature = "tracing")]
fn trace(namespace: &str, event: &Event) {
    const TARGET: &str = "polyflake_lease";
    match event {
        Event::Acquired { worker_id, start, end } => {
            tracing::info!(target: TARGET, namespace, worker_id, start, end, "acquired");
        }
        Event::Renewed { worker_id, end } => {
            tracing::debug!(target: TARGET, namespace, worker_id, end, "renewed");
        }
        Event::Switched { previous_worker_id, worker_id, start, end } => {
            tracing::warn!(target: TARGET, namespace, previous_worker_id, worker_id, start, end, "switched");
        }
        Event::Gap { worker_id, milliseconds } => {
            tracing::warn!(target: TARGET, namespace, worker_id, milliseconds, "gap");
        }
        Event::Unconfirmed { worker_id } => {
            tracing::warn!(target: TARGET, namespace, worker_id, "unconfirmed");
        }
        Event::Rejected(error) => {
            tracing::warn!(target: TARGET, namespace, code = error.code(), %error, "rejected");
        }
        Event::Expired { worker_id, end } => {
            tracing::error!(target: TARGET, namespace, worker_id, end, "expired");
        }
        Event::Sealed { worker_id, used_until } => {
            tracing::info!(target: TARGET, namespace, worker_id, used_until, "sealed");
        }
    }
}
