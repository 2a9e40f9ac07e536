//! A gate that makes forks and requests wait for each other. `SQLite` keeps a process's file locks in memory, and a forked
//! child process receives a copy of that memory. A child that is forked while a file is open would mistake its parent's
//! locks for its own. Therefore, a file is open only while a request is being processed, and a fork waits until the
//! requests in progress have ended.
//!
//! A fork that bypasses the C library's hooks does not wait, and no fork waits forever. A child process that was forked in
//! the middle of a request cannot open files.
#![allow(unsafe_code, reason = "the C library's fork hooks have no safe door")]

#[cfg(unix)]
use std::{sync::atomic::AtomicBool, time::Instant};
use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use crate::{Error, ErrorKind, Result, rules::forks};

/// The process generation (upper half) and the number of requests in progress (lower half).
static ACTIVE_REQUESTS: AtomicU64 = AtomicU64::new(0);
/// The number of threads of this process that are forking.
static FORKING_THREADS: AtomicU32 = AtomicU32::new(0);
#[cfg(unix)]
static HAS_HOOKS: AtomicBool = AtomicBool::new(false);

/// The maximum time that a fork waits for requests to end. While a fork is waiting, no request waits for a locked file.
#[cfg(unix)]
const MAX_WAIT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// A guard that marks a request as in progress until it is dropped.
#[derive(Debug)]
pub(super) struct RequestGuard {
    process: u32,
}

impl RequestGuard {
    /// Marks a request as in progress. Waits while another thread forks.
    ///
    /// # Errors
    /// Returns `lease_unavailable` in a child process that was forked in the middle of a request.
    pub(super) fn enter() -> Result<Self> {
        let process = forks::process_generation()?;
        install_hooks();
        loop {
            let next = |busy: u64| match from_word(busy) {
                (found, count) if found == process => Some(to_word(process, count + 1)),
                (_, 0) => Some(to_word(process, 1)),
                _ => None,
            };
            // All accesses are sequentially consistent, because the result depends on two atomics. A request increments
            // `ACTIVE_REQUESTS` and then reads `FORKING_THREADS`; a fork increments `FORKING_THREADS` and then reads
            // `ACTIVE_REQUESTS`. With any weaker ordering, both could read the old values, and a fork would happen while a
            // file is open.
            if ACTIVE_REQUESTS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).is_err() {
                let reason =
                    "expected a process forked while no SQLite file was open, found an open one";
                return Err(Error::new(ErrorKind::LeaseUnavailable, reason));
            }
            let pass = Self { process };
            if !is_forking() {
                return Ok(pass);
            }
            // The guard is dropped before the pause. Otherwise, the fork would wait for this request.
            drop(pass);
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        if forks::check(self.process).is_ok() {
            ACTIVE_REQUESTS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Returns whether a thread of this process is forking. If so, requests should end soon.
pub(super) fn is_forking() -> bool {
    FORKING_THREADS.load(Ordering::SeqCst) > 0
}

/// Installs the fork hooks unless they are already installed. Calls from several threads have the same effect as a single
/// call.
fn install_hooks() {
    #[cfg(unix)]
    if !HAS_HOOKS.swap(true, Ordering::AcqRel) {
        // SAFETY: the handlers only access atomics, read clocks and sleep, so it is sound to run them around a fork in any
        // thread.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child))
        };
    }
}

#[cfg(unix)]
extern "C" fn before_fork() {
    FORKING_THREADS.fetch_add(1, Ordering::SeqCst);
    let began = Instant::now();
    while from_word(ACTIVE_REQUESTS.load(Ordering::SeqCst)).1 > 0 && began.elapsed() < MAX_WAIT {
        thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(unix)]
extern "C" fn after_fork() {
    FORKING_THREADS.fetch_sub(1, Ordering::SeqCst);
}

/// Resets the number of forking threads in a forked child process, which has no other threads.
#[cfg(unix)]
extern "C" fn after_fork_in_child() {
    FORKING_THREADS.store(0, Ordering::SeqCst);
}

const fn from_word(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_be_bytes();
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
}

const fn to_word(process: u32, count: u32) -> u64 {
    (process as u64) << 32 | count as u64
}
