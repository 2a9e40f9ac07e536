//! A call that reserves slots in steps. A step never sleeps. Instead, it returns how long the caller should sleep before
//! the next step.
//!
//! Threads, futures and the event loops of other languages can therefore each sleep in their own way, while sharing one
//! implementation of the waiting rules.

use super::{
    Mode,
    wait::{WaitPolicy, Waits},
};
use crate::fork;

/// The result of a step.
#[derive(Debug)]
pub enum Progress<T> {
    /// The call is done.
    Done(T),
    /// The caller should sleep for this many nanoseconds, then take the next step.
    Sleep(u64),
}

impl<T> Progress<T> {
    /// Converts the result of a completed call.
    pub(crate) fn map<V>(self, convert: impl FnOnce(T) -> V) -> Progress<V> {
        match self {
            Self::Done(value) => Progress::Done(convert(value)),
            Self::Sleep(nanos) => Progress::Sleep(nanos),
        }
    }
}

/// The state of a call between its steps.
pub struct Call<'s> {
    pub(super) mode: Mode,
    /// Whether the call blocks its thread between steps, using the generator's clock to sleep.
    is_sync: bool,
    /// The wait state for the generator from which the call is currently requesting slots.
    waits: Option<Waits<'s>>,
    /// Under a lease, the number of the grant to which the current generator belongs.
    grant: Option<u32>,
    /// The wait state for a grant, if the call has had to wait for a grant.
    of_grants: Option<Waits<'s>>,
}

impl<'s> Call<'s> {
    /// Creates a call that blocks its thread while it waits. Under a lease, the call first tries the generator of `grant`.
    pub(super) const fn new(mode: Mode, grant: Option<u32>) -> Self {
        Self { mode, is_sync: true, waits: None, grant, of_grants: None }
    }

    /// Creates a call that waits without blocking its thread.
    pub const fn asynchronous() -> Self {
        Self { mode: Mode::Wait, is_sync: false, waits: None, grant: None, of_grants: None }
    }

    /// Returns the call's wait state for the current generator.
    pub(super) fn waits_mut(&mut self, policy: &'s WaitPolicy) -> &mut Waits<'s> {
        self.waits.get_or_insert_with(|| Waits::new(policy, self.is_sync))
    }

    /// Returns the call's wait state for a grant.
    pub(super) fn waits_for_grant(&mut self, policy: &'s WaitPolicy) -> &mut Waits<'s> {
        self.of_grants.get_or_insert_with(|| Waits::new(policy, self.is_sync))
    }

    /// Starts an attempt with the generator of a grant. If the call was previously trying a different generator, discards
    /// that generator's wait state and returns `false`.
    pub(super) fn start_attempt(&mut self, grant: u32) -> bool {
        let is_same = self.grant == Some(grant);
        if !is_same {
            (self.grant, self.waits) = (Some(grant), None);
        }
        is_same
    }

    /// Discards the wait state for a generator that rejected the reservation.
    pub(super) fn reset_waits(&mut self) {
        self.waits = None;
    }
}

/// The number of IDs written to a buffer, and the process generation in which they were generated.
///
/// A child process that is forked during the call has a copy of the IDs that the parent has written so far. The child's
/// call therefore either fills the buffer from the start, or fails with 0 IDs written.
#[derive(Debug)]
pub struct WrittenCount {
    pub(super) written: usize,
    pub(super) generation: u64,
}

impl WrittenCount {
    /// Creates the count for an empty buffer.
    #[allow(clippy::new_without_default, reason = "it reads the process generation")]
    pub fn new() -> Self {
        Self { written: 0, generation: fork::ensure_generation() }
    }
}
