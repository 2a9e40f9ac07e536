//! The wall clock, read through the processor's counter if that counter is reliable and cheaper to read than the system's
//! clock.
//!
//! The system call that reads the clock spends two thirds of its time on a fence and a conversion. This module reads the
//! counter without the fence, so the processor may read it a few instructions too early. [`SLACK_NANOS`] allows for this
//! error. [`anchor`] synchronizes the counter with the wall clock.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering},
};

#[path = "anchor.rs"]
mod anchor;
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod arch;
#[cfg(all(test, loom))]
#[path = "model.rs"]
mod model;
#[cfg(all(test, not(any(loom, miri))))]
#[path = "tests.rs"]
mod tests;
#[path = "trust.rs"]
mod trust;

use anchor::Anchor;

/// A counter and a wall clock, either real or simulated.
trait Hardware {
    /// The error that is returned if the wall clock cannot be read.
    type Error;

    /// The number of times that a thread checks whether another thread has renewed the anchor. All checks together take
    /// longer than a renewal.
    const SPIN_LIMIT: u32 = 64;

    /// Returns the counter's value. The processor may execute the read a few instructions earlier or later than program
    /// order requires.
    fn counter(&self) -> u64;

    /// Returns the counter's value, read in program order: after all earlier instructions and before all later ones.
    fn ordered_counter(&self) -> u64;

    /// Returns the wall-clock time in Unix nanoseconds.
    fn wall_nanos(&self) -> Result<i64, Self::Error>;
}

/// The processor that the current thread runs on, together with the system's wall clock.
struct Processor<W>(W);

impl<E, W: Fn() -> Result<i64, E>> Hardware for Processor<W> {
    type Error = E;

    #[inline]
    fn counter(&self) -> u64 {
        arch::counter()
    }
    fn ordered_counter(&self) -> u64 {
        arch::ordered_counter()
    }
    #[inline]
    fn wall_nanos(&self) -> Result<i64, E> {
        (self.0)()
    }
}

/// The largest amount by which a clock reading can lag behind another thread's reading. A load that waits for another
/// processor's cache line takes one or two microseconds, and two anchors differ by less than one microsecond.
const SLACK_NANOS: u64 = 10_000;

/// The maximum number of clock readings that a thread may take before it renews the anchor. The limit ensures that a
/// stopped counter is detected.
const MAX_READINGS: u32 = 4096;

#[cfg(not(loom))]
static ANCHOR: Anchor = Anchor::new();
/// The anchor in loom builds, created lazily because loom's atomics cannot be created in constants. It is never read,
/// because the counter is not trusted under loom.
#[cfg(loom)]
static ANCHOR: std::sync::LazyLock<Anchor> = std::sync::LazyLock::new(Anchor::new);

/// The selected clock source: [`UNDECIDED`], [`EXACT`] or [`COUNTER`].
static SOURCE_CHOICE: AtomicU32 = AtomicU32::new(UNDECIDED);
const UNDECIDED: u32 = 0;
const EXACT: u32 = 1;
const COUNTER: u32 = 2;

std::thread_local! {
    /// The number of clock readings that this thread may take before it renews the anchor. It is always 0 if the counter is
    /// not used.
    static READINGS_LEFT: Cell<u32> = const { Cell::new(0) };
}

/// Returns the wall-clock time in Unix nanoseconds. All calls in a process must pass the same `wall`. `epoch` returns the
/// process generation, a number that changes in a forked child process.
///
/// # Errors
/// Returns any error that `wall` returns.
#[inline]
pub fn now<E>(wall: impl Fn() -> Result<i64, E>, epoch: impl FnOnce() -> u32) -> Result<i64, E> {
    // Relaxed ordering is sufficient, because the choice is a plain number that does not guard any other memory.
    match SOURCE_CHOICE.load(Ordering::Relaxed) {
        COUNTER => match READINGS_LEFT.with(|left| read_anchor(&ANCHOR, left, &Processor(&wall))) {
            Some(now) => Ok(now),
            None => renew_cold(wall, epoch),
        },
        choice => {
            if choice == UNDECIDED {
                decide_source(&wall);
            }
            wall()
        }
    }
}

/// Returns the time according to the anchor, and decrements `left`, the number of readings that the thread may still take
/// before it renews the anchor. Returns `None` if the anchor must be renewed.
#[inline]
fn read_anchor(anchor: &Anchor, left: &Cell<u32>, hardware: &impl Hardware) -> Option<i64> {
    // `left` limits how long a stopped counter goes unnoticed. It is kept per thread, because with a shared limit, every
    // clock reading would write to contended memory.
    let more = left.get().checked_sub(1)?;
    left.set(more);
    anchor.read(hardware)
}

/// Renews the anchor. This is a separate function, so that the thread-local access in [`now`] only returns a small
/// `Option<i64>` on the fast path. A large `Result` would be expensive to return.
#[cold]
#[inline(never)]
fn renew_cold<E>(wall: impl Fn() -> Result<i64, E>, epoch: impl FnOnce() -> u32) -> Result<i64, E> {
    READINGS_LEFT.with(|left| renew_anchor(&ANCHOR, left, &Processor(wall), epoch()))
}

fn renew_anchor<H: Hardware>(
    anchor: &Anchor,
    left: &Cell<u32>,
    hardware: &H,
    epoch: u32,
) -> Result<i64, H::Error> {
    left.set(MAX_READINGS);
    anchor.renew(hardware, epoch)
}

/// Makes this thread's next call to [`now`] read the wall clock directly. Call this function after a sleep, because the
/// wall clock and the counter may have diverged during the sleep.
pub fn invalidate_after_sleep() {
    READINGS_LEFT.set(0);
}

/// Returns how far a clock reading can lag behind another thread's reading, in nanoseconds.
#[inline]
pub fn slack_nanos<E>(wall: impl Fn() -> Result<i64, E>) -> u64 {
    if is_counter_used(wall) { SLACK_NANOS } else { 0 }
}

/// Returns whether the processor's counter is used. This is decided once per process.
#[inline]
pub fn is_counter_used<E>(wall: impl Fn() -> Result<i64, E>) -> bool {
    match SOURCE_CHOICE.load(Ordering::Relaxed) {
        UNDECIDED => decide_source(wall),
        choice => choice == COUNTER,
    }
}

/// Decides whether to use the counter. If two threads decide at the same time, the first decision applies to both.
#[cold]
fn decide_source<E>(wall: impl Fn() -> Result<i64, E>) -> bool {
    let choice = if trust::is_counter_trusted(&Processor(wall)) { COUNTER } else { EXACT };
    let decided =
        SOURCE_CHOICE.compare_exchange(UNDECIDED, choice, Ordering::Relaxed, Ordering::Relaxed);
    decided.map_or_else(|first| first, |_| choice) == COUNTER
}
