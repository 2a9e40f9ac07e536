//! The interface between a lease and its generator.

use crate::{Result, protocol::Grant};

/// The owner of a lease's generator. Each grant gets a new generator with its own worker ID, window and state.
///
/// After [`polyflake::after_restore`], the core crate's generators stop on their own, because another copy of the process
/// has the same grant. An owner that uses the worker ID for another purpose continues to use it until the lease calls
/// [`Grantee::seal`]. The lease makes this call as soon as it notices the restore. This can take up to a second or, if a
/// request is in progress, until that request ends.
pub trait Grantee {
    /// Called when a lease begins in this process, before its first grant.
    fn prepare(&self) {}

    /// Seals the current generator, and replaces it with a generator that stays within `grant` and uses no tick before the
    /// last tick of the previous generator. If a restore of the process is reported during this call, [`Grantee::seal`] is
    /// called immediately afterwards.
    ///
    /// # Errors
    /// Returns the reason why the generator cannot be created.
    fn begin(&self, grant: Grant) -> Result<()>;

    /// Moves the end of the generator's window to `end`, in Unix milliseconds. Has no effect if `end` is earlier than the
    /// current end.
    fn extend(&self, end: u64);

    /// Ends the generator permanently. Returns the end, in Unix milliseconds, of the highest tick that the generator ever
    /// reserved, whether or not it used that tick. The call is atomic, so the generator reserves no slots after this call.
    /// Returns `None` if the generator reserved no tick, or if there is no generator.
    fn seal(&self) -> Option<u64>;

    /// Notifies the grantee that the user has closed the lease, before the worker ID is released. The generator creates no
    /// more IDs in this process, and calls to it no longer need to wait for another grant. [`Grantee::seal`] is called
    /// next. A forked child process may begin its own lease.
    fn close(&self) {}
}
