//! The services that each host provides: a clock and a source of random bytes.

use core::ops::Deref;

use polyflake::{
    Error, ErrorKind, Result,
    clock::Clock,
    fork::{self, partitions::FindTable},
};

/// The clock of a [`Machine`](crate::Machine), and the other services of its host.
pub trait Host: Clock + Send + Sync + 'static {
    /// A pointer to a generator. With the addon, several threads may have one to the same generator.
    type Shared<G>: Deref<Target = G> + Clone;

    /// The options by which a generator is shared with other threads.
    type SharingKey;

    /// Returns the options by which the next generator is shared with other threads, if JavaScript passed them.
    fn take_sharing_key(&mut self) -> Self::SharingKey;

    /// Returns the live generator with these options, or builds it. `is_usable` returns whether a generator is open and
    /// belongs to this process.
    ///
    /// # Errors
    /// Returns the errors of `build`.
    fn get_or_build<G: Send + Sync + 'static>(
        key: Self::SharingKey,
        is_usable: fn(&G) -> bool,
        build: impl FnOnce() -> Result<G>,
    ) -> Result<Self::Shared<G>>;

    /// Returns the system clock.
    fn system() -> Self;

    /// Returns `true` for the system clock, which never calls back into JavaScript.
    fn is_system(&self) -> bool;

    /// Returns a function that finds the table from which default partitions are reserved: the table that JavaScript
    /// passed, or else the host's table, if it has one.
    fn table_finder(is_lent: bool) -> FindTable;

    /// Returns random bytes from the operating system. On a host without such a source, a generator uses bytes that
    /// JavaScript provided.
    ///
    /// # Errors
    ///
    /// `entropy_unavailable`.
    fn random_bytes() -> Result<[u8; 8]> {
        fail_without_entropy()
    }

    /// Returns random bytes, to be used as the key for the random bits of IDs.
    ///
    /// # Errors
    /// `entropy_unavailable`.
    fn key() -> Result<[u8; 32]>;

    /// Reports that the process was restored from an image of its memory. The default implementation notifies only this
    /// backend. It is meant for hosts whose table of default partitions is stored in JavaScript.
    ///
    /// # Errors
    ///
    /// The errors of `polyflake::after_restore`.
    fn after_restore() -> Result<()> {
        fork::record_restore();
        Ok(())
    }
}

/// Returns the error for a host that has no source of random bytes. On such a host, the caller provides the bytes before a
/// generator's first ID.
pub(crate) fn fail_without_entropy<T>() -> Result<T> {
    Err(Error::new(ErrorKind::EntropyUnavailable))
}
