//! Values that belong to one process. A forked child process creates its own value and leaves its parent's value unchanged.
#![allow(
    unsafe_code,
    reason = "a lock could be held by another thread at a fork, so values are read without one"
)]

use std::boxed::Box;

use alloc::format;
use core::{
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use polyflake::fork;

use crate::{Error, ErrorKind, Result};

/// Returns a number that identifies this process and differs from those of all its ancestors.
pub(crate) fn process_generation() -> Result<u32> {
    fork::prepare().map_err(|error| Error::new(ErrorKind::LeaseUnavailable, format!("{error}")))?;
    Ok(fork::process())
}

/// Returns an error if this process is a forked child of `process`.
#[cfg(any(
    feature = "http",
    feature = "mysql",
    feature = "postgresql",
    feature = "redis",
    feature = "sqlite"
))]
pub(crate) fn check(process: u32) -> Result<()> {
    if process == fork::process() {
        return Ok(());
    }
    let reason = "expected the process that opened the store, found its child";
    Err(Error::new(ErrorKind::LeaseUnavailable, reason))
}

/// A value that each process creates separately. A forked child neither uses nor frees the value of an ancestor, because
/// other threads may have held its locks at the time of the fork.
pub(crate) struct PerProcess<T: Send + Sync>(AtomicPtr<(u32, T)>);

impl<T: Send + Sync> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns the value of this process, if it exists.
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: the pointer is null, or points to a box that `get_or_init` leaked and that only `drop` frees. The box
        // outlives the borrow of `self`, so the reference is valid.
        let (process, value) = unsafe { self.0.load(Ordering::Acquire).as_ref() }?;
        (*process == fork::process()).then_some(value)
    }

    /// Returns this process's value, and whether this call created it. Creates a new value if this process has no value, or
    /// if `is_good` rejects the current value. A rejected value is never freed, because other threads may still be using
    /// it.
    pub(crate) fn get_or_init(
        &self,
        is_good: impl Fn(&T) -> bool,
        make: impl Fn() -> T,
    ) -> (&T, bool) {
        loop {
            let before = self.0.load(Ordering::Acquire);
            if let Some(value) = self.get().filter(|value| is_good(value)) {
                return (value, false);
            }
            let made = Box::into_raw(Box::new((fork::process(), make())));
            // The previous value is never freed. Either another thread may still be using it, or it belongs to the parent
            // process, and its destructor must not run in this process.
            if self.0.compare_exchange(before, made, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                // SAFETY: the box was leaked above, and only `drop` frees it. The box outlives the borrow of `self`, so the
                // reference is valid.
                return (unsafe { &(*made).1 }, true);
            }
            // SAFETY: the pointer comes from the box that was leaked above, and no other thread has seen it, so this thread
            // may free the box.
            drop(unsafe { Box::from_raw(made) });
        }
    }
}

impl<T: Send + Sync> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.get().is_some() {
            // SAFETY: the box was leaked once, and `&mut self` proves that there are no other references to it, so it can
            // be freed here.
            drop(unsafe { Box::from_raw(*self.0.get_mut()) });
        }
    }
}
