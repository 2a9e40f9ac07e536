//! The options that all builders share.

use core::time::Duration;

use super::{OnExhausted, WaitPolicy, Window};
use crate::{
    Result,
    clock::{Clock, OnStall, Stall},
    format::{Ticks, UnixTime},
};

/// Clock, window and waiting.
#[derive(Clone, Debug)]
pub(crate) struct Options<C> {
    pub(crate) clock: C,
    /// A half-open span.
    pub(crate) window: Option<(UnixTime, UnixTime)>,
    pub(crate) on_exhausted: OnExhausted,
    pub(crate) max_wait: Option<Duration>,
}

impl<C> Options<C> {
    pub(crate) const fn new(clock: C) -> Self {
        Self { clock, window: None, on_exhausted: OnExhausted::Wait, max_wait: None }
    }

    /// The same options with another clock.
    pub(crate) fn clock<D>(self, clock: D) -> Options<D> {
        self.map_clock(|_| clock)
    }

    /// The same options, with `callback` called for each stall.
    pub(crate) fn on_stall<F: Fn(&Stall)>(self, callback: F) -> Options<OnStall<C, F>>
    where
        C: Clock,
    {
        self.map_clock(|clock| OnStall::new(clock, callback))
    }

    fn map_clock<D>(self, map: impl FnOnce(C) -> D) -> Options<D> {
        let Self { clock, window, on_exhausted, max_wait } = self;
        Options { clock: map(clock), window, on_exhausted, max_wait }
    }

    /// The window in ticks: all of them if none was given.
    pub(crate) fn window(&self, ticks: &impl Ticks) -> Result<Window> {
        Ok(match self.window {
            None => Window::all(ticks.last()),
            Some((start, end)) => Window::new(ticks.ticks_within(start, end)?),
        })
    }

    /// The wait policy of a generator with ticks of this length.
    pub(crate) fn policy(&self, tick_nanos: u64) -> WaitPolicy {
        WaitPolicy::new(self.on_exhausted, self.max_wait, tick_nanos)
    }
}
