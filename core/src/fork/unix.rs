//! `pthread_atfork` and, on Linux, a page that the kernel wipes in children; and a page that all of a fork tree share.
#![allow(unsafe_code, reason = "the C library's fork hooks and shared memory have no safe door")]

use core::{mem::size_of, ptr};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use super::partitions::{COUNT, Cells};
use crate::{Error, ErrorKind, Result};

/// The epoch of the program's first process. No epoch is 0.
const FIRST: u32 = 1;

/// Holds the epoch until there is a page for it.
static UNWIPED: AtomicU32 = AtomicU32::new(FIRST);
/// Where the epoch lies: in [`UNWIPED`], or in a page that reads 0 in a new child.
static PLACE: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const UNWIPED).cast_mut());
/// The highest epoch of this process and its ancestors.
static LATEST: AtomicU32 = AtomicU32::new(FIRST);
static IS_READY: AtomicBool = AtomicBool::new(false);
static SHARED: AtomicPtr<Cells<COUNT>> = AtomicPtr::new(ptr::null_mut());

/// The epoch, or 0 in a child that has none yet.
#[inline]
pub(crate) fn epoch() -> u32 {
    place().load(Ordering::Relaxed)
}

/// The epoch of this process.
pub(crate) fn current() -> u32 {
    match epoch() {
        0 => renew(),
        epoch => epoch,
    }
}

#[inline]
fn place() -> &'static AtomicU32 {
    // SAFETY: it leads to a static, or to a page that is never unmapped once it is in PLACE.
    unsafe { &*PLACE.load(Ordering::Relaxed) }
}

/// Gives this process an epoch that none of its ancestors had.
#[cold]
fn renew() -> u32 {
    let mine = LATEST.fetch_add(1, Ordering::Relaxed) + 1;
    // Another thread of this child may be faster; then its epoch is the one.
    let raced = place().compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire);
    raced.map_or_else(|theirs| theirs, |_| mine)
}

extern "C" fn in_child() {
    place().store(0, Ordering::Relaxed);
    renew();
}

/// Readies this process for forks: by a hook, by a wiped page, or by both.
pub(super) fn prepare() -> Result<()> {
    // Two threads may both install the hook: epochs then go up by two, which is as good. A lock could be inherited held.
    if !IS_READY.load(Ordering::Acquire) {
        let is_wiped = wipe_in_children();
        // SAFETY: the handler only touches atomics, so it may run between fork() and the child's first own instruction.
        let is_hooked = unsafe { libc::pthread_atfork(None, None, Some(in_child)) } == 0;
        if !is_wiped && !is_hooked {
            return Err(unready());
        }
        IS_READY.store(true, Ordering::Release);
    }
    // Before there are children, so that they share it.
    shared_table().map(drop)
}

/// Without a hook, a child would repeat its parent's IDs.
#[cold]
fn unready() -> Error {
    Error::because(ErrorKind::Forked, "expected memory for a fork hook, found none")
}

/// Moves the epoch into a page that children get as zeros, however they are made: also past the C library's hooks. Linux
/// has had such pages since 4.14.
#[cfg(target_os = "linux")]
fn wipe_in_children() -> bool {
    let Some(page) = new_page::<AtomicU32>(libc::MAP_PRIVATE) else { return false };
    // SAFETY: the page is ours alone, and of as many bytes.
    if unsafe { libc::madvise(page.cast(), size_of::<AtomicU32>(), libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: nobody else has seen it.
        unsafe { libc::munmap(page.cast(), size_of::<AtomicU32>()) };
        return false;
    }
    let unwiped = (&raw const UNWIPED).cast_mut();
    // SAFETY: a fresh page of zeros, which are an atomic.
    unsafe { &*page }.store(current(), Ordering::Relaxed);
    if PLACE.compare_exchange(unwiped, page, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: another thread was faster, so nobody has seen this one.
        unsafe { libc::munmap(page.cast(), size_of::<AtomicU32>()) };
    }
    true
}

#[cfg(not(target_os = "linux"))]
fn wipe_in_children() -> bool {
    false
}

/// The fork tree's table of default partitions. Its pages are touched as its entries are.
pub(super) fn shared_table() -> Result<&'static Cells<COUNT>> {
    let mut table = SHARED.load(Ordering::Acquire);
    if table.is_null() {
        table = first_of(new_page(libc::MAP_SHARED).ok_or_else(unshared)?);
    }
    // SAFETY: never null after `first_of`; it points to pages that are never unmapped once they are in SHARED, and any bytes are a
    // table: a child that gave up its privileges can write to them still.
    Ok(unsafe { &*table })
}

/// Without shared pages, parent and child would take the same partitions.
#[cold]
fn unshared() -> Error {
    let reason = "expected shared memory for default partitions, found none";
    Error::because(ErrorKind::PartitionsExhausted, reason)
}

/// Makes `mine` the shared table, unless another thread was faster.
fn first_of(mine: *mut Cells<COUNT>) -> *mut Cells<COUNT> {
    match SHARED.compare_exchange(ptr::null_mut(), mine, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => mine,
        Err(theirs) => {
            // SAFETY: `mine` came from mmap with this size and nobody else has seen it.
            unsafe { libc::munmap(mine.cast(), size_of::<Cells<COUNT>>()) };
            theirs
        }
    }
}

/// Pages of zeros with room for a `T`: private ones, or such as children share.
fn new_page<T>(kind: libc::c_int) -> Option<*mut T> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, kind | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping at an address of the system's choice touches nothing of ours.
    let page = unsafe { libc::mmap(ptr::null_mut(), size_of::<T>(), access, kind, -1, 0) };
    (page != libc::MAP_FAILED).then_some(page.cast())
}
