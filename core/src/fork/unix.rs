//! `pthread_atfork` and a shared page.
#![allow(unsafe_code, reason = "the C library's fork hooks and shared memory have no safe door")]

use core::{mem::size_of, ptr};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use super::partitions::Counter;

static EPOCH: AtomicU32 = AtomicU32::new(0);
static HOOKED: AtomicBool = AtomicBool::new(false);
static SHARED: AtomicPtr<Counter> = AtomicPtr::new(ptr::null_mut());
/// Stands in where the system gives no shared page; children then draw anew.
static OWN: Counter = Counter::new();

/// How many forks lie between the program's start and this process.
#[inline]
pub(crate) fn epoch() -> u32 {
    EPOCH.load(Ordering::Relaxed)
}

pub(super) fn prepare() {
    // Two threads may both install the hook: it then counts in twos, which is as good. A lock could be inherited held.
    if !HOOKED.load(Ordering::Acquire) {
        // SAFETY: the handler only touches atomics, so it may run between fork() and the child's first own instruction.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        HOOKED.store(true, Ordering::Release);
    }
    shared_counter();
}

extern "C" fn in_child() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
    if ptr::eq(SHARED.load(Ordering::Acquire), &raw const OWN) {
        OWN.forget();
    }
}

/// The fork tree's counter of default partitions.
pub(super) fn shared_counter() -> &'static Counter {
    let mut counter = SHARED.load(Ordering::Acquire);
    if counter.is_null() {
        counter = first_of(new_page());
    }
    // SAFETY: never null after `first_of`; it points to `OWN` or to a page that is never unmapped once it is in SHARED.
    unsafe { &*counter }
}

/// Makes `mine` the shared counter, unless another thread was faster.
fn first_of(mine: *mut Counter) -> *mut Counter {
    match SHARED.compare_exchange(ptr::null_mut(), mine, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => mine,
        Err(theirs) => {
            if !ptr::eq(mine, &raw const OWN) {
                // SAFETY: `mine` came from mmap with this size and nobody else has seen it.
                unsafe { libc::munmap(mine.cast(), size_of::<Counter>()) };
            }
            theirs
        }
    }
}

/// A page of zeros that children will share, or [`OWN`].
fn new_page() -> *mut Counter {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping at an address of the system's choice touches nothing of ours.
    let page = unsafe { libc::mmap(ptr::null_mut(), size_of::<Counter>(), access, kind, -1, 0) };
    if page == libc::MAP_FAILED { (&raw const OWN).cast_mut() } else { page.cast() }
}
