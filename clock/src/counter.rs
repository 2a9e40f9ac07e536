//! The wall clock, read through the processor's counter if that can be trusted and is cheaper.
//!
//! A fence and a conversion take two thirds of the system call's time. The counter is read without the fence, so the processor
//! may read it some instructions too early: [`SLACK_NANOS`] covers that. [`anchor`] ties the counter to the wall clock.

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

/// A counter and a wall clock: the machine's, or simulated ones.
trait Hardware {
    /// The reason why the wall clock could not be read.
    type Error;

    /// Number of times that a thread checks whether another thread has renewed the anchor: together they take longer than a
    /// renewal.
    const SPINS: u32 = 64;

    /// The count, perhaps of a few instructions earlier or later.
    fn counter(&self) -> u64;

    /// The count, read in the order of the program: after the instructions before it and before the instructions after it.
    fn counter_in_order(&self) -> u64;

    /// The wall clock, in Unix nanoseconds.
    fn wall(&self) -> Result<i64, Self::Error>;
}

/// The processor that a thread runs on, with the system's wall clock.
struct Processor<W>(W);

impl<E, W: Fn() -> Result<i64, E>> Hardware for Processor<W> {
    type Error = E;

    #[inline]
    fn counter(&self) -> u64 {
        arch::counter()
    }
    fn counter_in_order(&self) -> u64 {
        arch::counter_in_order()
    }
    #[inline]
    fn wall(&self) -> Result<i64, E> {
        (self.0)()
    }
}

/// The largest lag of a reading behind another thread's: a load that waits for another processor's cache line takes a microsecond
/// or two, and two anchors differ by less than one microsecond.
const SLACK_NANOS: u64 = 10_000;

/// Number of readings of a thread that an anchor may serve, so that a counter that stopped is noticed.
const READINGS: u32 = 4096;

#[cfg(not(loom))]
static ANCHOR: Anchor = Anchor::new();
/// loom's atomics have no constants; under loom nothing reads it, since the counter is not trusted.
#[cfg(loom)]
static ANCHOR: std::sync::LazyLock<Anchor> = std::sync::LazyLock::new(Anchor::new);

/// [`UNDECIDED`], [`EXACT`] or [`COUNTER`].
static CHOICE: AtomicU32 = AtomicU32::new(UNDECIDED);
const UNDECIDED: u32 = 0;
const EXACT: u32 = 1;
const COUNTER: u32 = 2;

std::thread_local! {
    /// Number of readings that this thread may take before it renews the anchor: 0 for ever if the counter is not used.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// The wall clock, in Unix nanoseconds. All calls of a process pass the same `wall`; `epoch` returns a number that is different
/// in a forked child.
///
/// # Errors
/// The errors of `wall`.
#[inline]
pub fn now<E>(wall: impl Fn() -> Result<i64, E>, epoch: impl FnOnce() -> u32) -> Result<i64, E> {
    match CHOICE.load(Ordering::Relaxed) {
        COUNTER => match LEFT.with(|left| read(&ANCHOR, left, &Processor(&wall))) {
            Some(now) => Ok(now),
            None => renew_here(wall, epoch),
        },
        choice => {
            if choice == UNDECIDED {
                decide(&wall);
            }
            wall()
        }
    }
}

/// The time by the anchor, for a thread that may take `left` more readings of it.
#[inline]
fn read(anchor: &Anchor, left: &Cell<u32>, hardware: &impl Hardware) -> Option<i64> {
    let more = left.get().checked_sub(1)?;
    left.set(more);
    anchor.read(hardware)
}

/// A function of its own, since results are large and take time to pass on.
#[cold]
#[inline(never)]
fn renew_here<E>(wall: impl Fn() -> Result<i64, E>, epoch: impl FnOnce() -> u32) -> Result<i64, E> {
    LEFT.with(|left| renew(&ANCHOR, left, &Processor(wall), epoch()))
}

fn renew<H: Hardware>(
    anchor: &Anchor,
    left: &Cell<u32>,
    hardware: &H,
    epoch: u32,
) -> Result<i64, H::Error> {
    left.set(READINGS);
    anchor.renew(hardware, epoch)
}

/// Makes this thread's next reading look at the wall clock, since much may have happened during a sleep.
pub fn slept() {
    LEFT.set(0);
}

/// The largest lag of readings, in nanoseconds.
#[inline]
pub fn slack_nanos<E>(wall: impl Fn() -> Result<i64, E>) -> u64 {
    if is_counter_used(wall) { SLACK_NANOS } else { 0 }
}

/// Returns whether the counter is read, which is decided once.
#[inline]
pub fn is_counter_used<E>(wall: impl Fn() -> Result<i64, E>) -> bool {
    match CHOICE.load(Ordering::Relaxed) {
        UNDECIDED => decide(wall),
        choice => choice == COUNTER,
    }
}

/// Decides whether to read the counter. If two threads decide at the same time, the first decision counts for both.
#[cold]
fn decide<E>(wall: impl Fn() -> Result<i64, E>) -> bool {
    let choice = if trust::choose(&Processor(wall)) { COUNTER } else { EXACT };
    let decided = CHOICE.compare_exchange(UNDECIDED, choice, Ordering::Relaxed, Ordering::Relaxed);
    decided.map_or_else(|first| first, |_| choice) == COUNTER
}
