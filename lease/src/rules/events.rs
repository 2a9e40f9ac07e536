//! Watching a lease: events as they happen, and figures at any time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    string::String,
    sync::Arc,
    time::Duration,
};

use core::fmt;

use crate::Error;

/// An event of a lease. Times are Unix milliseconds.
///
/// An event holds numbers, times and errors. It never holds a store's URL, so it holds no password either.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// There is a grant, and there was none.
    Acquired {
        /// The number.
        number: u64,
        /// The start of the grant.
        start: u64,
        /// The end of the grant.
        end: u64,
    },
    /// The store acknowledged a later end of the grant.
    Renewed {
        /// The number.
        number: u64,
        /// The new end of the grant.
        end: u64,
    },
    /// A grant replaces the last one before its end.
    Moved {
        /// The last grant's number.
        from: u64,
        /// The number.
        number: u64,
        /// The start of the grant.
        start: u64,
        /// The end of the grant.
        end: u64,
    },
    /// A request was refused or failed; the lease goes on.
    Refused(Error),
    /// The grant has ended, and no other replaced it: there are no IDs until an [`Event::Acquired`] or an [`Event::Renewed`].
    Expired {
        /// The number.
        number: u64,
        /// The end of the grant.
        end: u64,
    },
    /// The generator is sealed. Its number is returned next, unless the grant was lost.
    Sealed {
        /// The number.
        number: u64,
        /// The end of the highest tick that the generator reserved; `None` if it reserved none.
        used_until: Option<u64>,
    },
}

impl Event {
    /// A word for the event.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Acquired { .. } => "acquired",
            Self::Renewed { .. } => "renewed",
            Self::Moved { .. } => "moved",
            Self::Refused(_) => "refused",
            Self::Expired { .. } => "expired",
            Self::Sealed { .. } => "sealed",
        }
    }
}

/// For people.
///
/// ```
/// use polyflake_lease::{Error, ErrorKind, Event};
///
/// let event = Event::Refused(Error::new(ErrorKind::LeaseUnavailable, "expected an answer, found none"));
/// assert_eq!(event.to_string(), "refused: expected an answer, found none");
/// ```
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Self::Acquired { number, end, .. } | Self::Renewed { number, end } => {
                write!(f, "{name}: number {number} until {end}")
            }
            Self::Moved { from, number, end, .. } => {
                write!(f, "{name}: from number {from} to number {number} until {end}")
            }
            Self::Refused(error) => write!(f, "{name}: {error}"),
            Self::Expired { number, end } => write!(f, "{name}: number {number} at {end}"),
            Self::Sealed { number, used_until: Some(end) } => {
                write!(f, "{name}: number {number}, used until {end}")
            }
            Self::Sealed { number, used_until: None } => {
                write!(f, "{name}: number {number}, unused")
            }
        }
    }
}

/// Figures of a lease at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// Time until the end of the grant, by the system's clock; zero without a grant.
    pub remaining: Duration,
    /// Number of grants.
    pub grants: u64,
    /// Number of acknowledged renewals.
    pub renewals: u64,
    /// Number of requests that were refused or failed.
    pub failures: u64,
}

/// A function that hears of events.
#[derive(Clone)]
pub(crate) struct Watch(Arc<dyn Fn(&Event) + Send + Sync>);

impl Watch {
    pub(crate) fn new(watch: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(watch))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// The events of one lease: a grant, its end, and who hears of them.
#[derive(Debug)]
pub(crate) struct Events {
    #[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "for subscribers"))]
    namespace: String,
    watch: Option<Watch>,
    /// The number and the end of the grant, until its end was told.
    current: Option<(u64, u64)>,
    /// The number and the end of a grant whose end was told.
    ended: Option<(u64, u64)>,
}

impl Events {
    pub(crate) fn new(namespace: String, watch: Option<Watch>) -> Self {
        Self { namespace, watch, current: None, ended: None }
    }

    pub(crate) fn begun(&mut self, number: u64, (start, end): (u64, u64)) {
        let event = match self.current.replace((number, end)) {
            Some((from, _)) => Event::Moved { from, number, start, end },
            None => Event::Acquired { number, start, end },
        };
        self.ended = None;
        self.tell(&event);
    }

    pub(crate) fn renewed(&mut self, end: u64) {
        if let Some((number, _)) = self.current.take().or(self.ended.take()) {
            self.current = Some((number, end));
            self.tell(&Event::Renewed { number, end });
        }
    }

    pub(crate) fn refused(&self, error: Error) {
        self.tell(&Event::Refused(error));
    }

    pub(crate) fn sealed(&mut self, used_until: Option<u64>) {
        if let Some((number, end)) = self.current.take().or(self.ended.take()) {
            let used_until = used_until.map(|used| used.min(end));
            self.tell(&Event::Sealed { number, used_until });
        }
    }

    /// Tells of the grant's end if it has come. Returns the milliseconds until then, if it is still to be told.
    pub(crate) fn look(&mut self, wall_ms: u64) -> Option<u64> {
        let (number, end) = self.current?;
        if wall_ms < end {
            return Some(end - wall_ms);
        }
        self.ended = self.current.take();
        self.tell(&Event::Expired { number, end });
        None
    }

    fn tell(&self, event: &Event) {
        #[cfg(feature = "tracing")]
        outlive(|| trace(&self.namespace, event));
        if let Some(Watch(watch)) = &self.watch {
            outlive(|| watch(event));
        }
    }
}

/// Calls a function of the process: the lease outlives its panic.
fn outlive(call: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(call));
}

/// Hands an event to the process's subscriber.
#[cfg(feature = "tracing")]
fn trace(namespace: &str, event: &Event) {
    const TARGET: &str = "polyflake_lease";
    match event {
        Event::Acquired { number, start, end } => {
            tracing::info!(target: TARGET, namespace, number, start, end, "acquired");
        }
        Event::Renewed { number, end } => {
            tracing::debug!(target: TARGET, namespace, number, end, "renewed");
        }
        Event::Moved { from, number, start, end } => {
            tracing::warn!(target: TARGET, namespace, from, number, start, end, "moved");
        }
        Event::Refused(error) => {
            tracing::warn!(target: TARGET, namespace, code = error.code(), %error, "refused");
        }
        Event::Expired { number, end } => {
            tracing::error!(target: TARGET, namespace, number, end, "expired");
        }
        Event::Sealed { number, used_until } => {
            tracing::info!(target: TARGET, namespace, number, used_until, "sealed");
        }
    }
}
