//! Collects the events of a lease for tests.

use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

use polyflake_lease::{Event, Options};

const LONG_TIMEOUT: Duration = Duration::from_secs(30);

/// A receiver of a lease's events.
pub struct ReceivedEvents(pub mpsc::Receiver<Event>);

impl ReceivedEvents {
    pub fn watch_events(options: Options) -> (Options, Self) {
        let (sender, receiver) = mpsc::channel();
        let send = move |event: &Event| drop(sender.send(event.clone()));
        (options.watch(send), Self(receiver))
    }

    /// Returns the next event whose name is in `names`, and skips all other events.
    #[track_caller]
    pub fn next(&self, names: &str) -> Event {
        let until = Instant::now() + LONG_TIMEOUT;
        let left = || until.saturating_duration_since(Instant::now());
        let events = std::iter::from_fn(|| self.0.recv_timeout(left()).ok());
        let found =
            events.into_iter().find(|event| names.split(' ').any(|name| event.name() == name));
        found.unwrap_or_else(|| panic!("expected one of `{names}`, found none"))
    }

    pub fn names(self) -> Vec<&'static str> {
        self.0.into_iter().map(|event| event.name()).collect()
    }
}
