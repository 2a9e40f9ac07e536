//! Detects forks by means of a *process generation*, and maps the pages that all processes of a fork tree share.
//!
//! ```text
//!                        parent                         forked child
//!
//! wiped page             generation 3        --.        0, until `renew_generation` stores 8
//! ordinary memory        LATEST_GENERATION = 3 |fork    LATEST_GENERATION = 3, a copy
//! shared pages           table, restores,      '------> the same pages
//!                        last generation 7
//! ```
//!
//! A child's generation is the greater of the last generation in the shared pages and `LATEST_GENERATION`, plus 1. The
//! private counter keeps a child apart from its ancestors, from which it inherits its generators. The shared counter keeps
//! siblings apart as well, which matters for random sources that two siblings inherit in the same state. The private
//! counter alone would suffice for a process that compares its generation with inherited ones. Therefore a system without
//! shared pages, or a child that writes to them, affects only siblings, whose process IDs still differ.
//!
//! Two mechanisms set the generation of a child to 0, because neither mechanism detects every fork. A `pthread_atfork` hook
//! is available on every Unix, but `_Fork()` and a raw `clone()` bypass the hook. Linux can wipe a page in every child that
//! has its own copy of the memory (`MADV_WIPEONFORK`). If neither mechanism is available, no generator can be created,
//! because an undetected fork would cause duplicate IDs.
#![allow(unsafe_code, reason = "the C library's fork hooks and shared memory have no safe door")]

use core::{mem::size_of, ptr};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use super::{
    FIRST_GENERATION,
    partitions::{Cells, PARTITION_COUNT},
};
use crate::{Error, ErrorKind, Result, sync::shared_atomics::AtomicU32 as Shared};

/// The process generation, stored here until a page for it exists.
static STATIC_GENERATION: Shared = Shared::new(FIRST_GENERATION);
/// The location of the process generation: [`STATIC_GENERATION`], or a page that contains 0 in a new child.
static GENERATION_LOCATION: AtomicPtr<Shared> =
    AtomicPtr::new((&raw const STATIC_GENERATION).cast_mut());
/// The highest generation of this process and its ancestors.
static LATEST_GENERATION: AtomicU32 = AtomicU32::new(FIRST_GENERATION);
static IS_READY: AtomicBool = AtomicBool::new(false);
static SHARED_CELLS: AtomicPtr<Cells<PARTITION_COUNT>> = AtomicPtr::new(ptr::null_mut());
/// The restore count, stored here until shared pages exist.
static STATIC_RESTORES: Shared = Shared::new(0);
/// The location of the restore count: [`STATIC_RESTORES`], or the counter in the shared table.
static RESTORES: AtomicPtr<Shared> = AtomicPtr::new((&raw const STATIC_RESTORES).cast_mut());

/// Returns the restore count. A caller that sees a new count also sees the table as it was when the count was advanced.
#[inline]
pub(super) fn restores() -> u32 {
    restore_counter().load(Ordering::Acquire)
}

/// Advances the restore count after a change to the table.
pub(super) fn record_restore() {
    advance_restore_count(&SHARED_CELLS, &STATIC_RESTORES);
}

/// Advances the restore count of the shared table, if a shared table exists. In this case, `STATIC_RESTORES` is no longer
/// used for counting, even if no thread has published the location of the table's count yet.
fn advance_restore_count(shared: &AtomicPtr<Cells<PARTITION_COUNT>>, unshared: &Shared) {
    // SAFETY: the pointer is null, or points to pages that are never unmapped once they are in `SHARED_CELLS`, so the
    // reference stays valid.
    let find = || unsafe { shared.load(Ordering::Acquire).as_ref() };
    // By the time `STATIC_RESTORES` is advanced, another thread may have published a table, so the lookup is repeated.
    let found = find().or_else(|| {
        unshared.fetch_add(1, Ordering::AcqRel);
        find()
    });
    if let Some(table) = found {
        raise_restore_count(table, unshared);
        table.restores.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// Raises the table's restore count to the number of restores counted in `unshared`, unless the table's count is already
/// higher. The table must already be published.
///
/// Both this function and `advance_restore_count` access `unshared` with an atomic addition, so the later of the two
/// additions sees the earlier one. Either this function includes the restore, or `advance_restore_count` finds the table.
fn raise_restore_count(table: &Cells<PARTITION_COUNT>, unshared: &Shared) {
    table.restores.0.fetch_max(unshared.fetch_add(0, Ordering::AcqRel), Ordering::AcqRel);
}

#[inline]
fn restore_counter() -> &'static Shared {
    // SAFETY: `RESTORES` points to a static, or to shared pages that are never unmapped once `RESTORES` contains their
    // address, so the reference stays valid.
    unsafe { &*RESTORES.load(Ordering::Relaxed) }
}

/// Returns the process generation, or 0 in a child to which no generation has been assigned yet.
#[inline]
pub(super) fn generation() -> u32 {
    // Relaxed, because this load runs for every ID. A forked child begins with one thread, which sees everything that the
    // forking thread in the parent wrote before the fork.
    page_counter().load(Ordering::Relaxed)
}

/// Returns the generation of this process. Assigns a generation first if the process does not have one yet.
pub(super) fn ensure_generation() -> u32 {
    match generation() {
        0 => renew_generation(),
        generation => generation,
    }
}

#[inline]
fn page_counter() -> &'static Shared {
    // SAFETY: `GENERATION_LOCATION` points to a static, or to a page that is never unmapped once `GENERATION_LOCATION`
    // contains the page's address, so the reference stays valid.
    unsafe { &*GENERATION_LOCATION.load(Ordering::Relaxed) }
}

/// Assigns this process a generation that differs from the generations of all its ancestors, and from those of all
/// processes with which it shares its pages.
#[cold]
fn renew_generation() -> u32 {
    // SAFETY: the pointer is null, or points to pages that are never unmapped once they are in `SHARED_CELLS`, so the
    // reference stays valid.
    let table = unsafe { SHARED_CELLS.load(Ordering::Acquire).as_ref() };
    let generation = count_generation(table.map(|table| &table.generations), &LATEST_GENERATION);
    assign_generation(page_counter(), generation)
}

/// Assigns a generation to a process that has none, and returns the generation of the process. If another thread of a child
/// assigned one first, that generation is used.
fn assign_generation(page: &Shared, generation: u32) -> u32 {
    let raced = page.compare_exchange(0, generation, Ordering::AcqRel, Ordering::Acquire);
    raced.err().unwrap_or(generation)
}

/// Counts one more generation in the shared pages and in ordinary memory, and returns it.
fn count_generation(shared: Option<&Shared>, latest: &AtomicU32) -> u32 {
    let private = latest.load(Ordering::Relaxed);
    let generation = loop {
        let Some(shared) = shared else { break next_generation(private, private) };
        let found = shared.load(Ordering::Acquire);
        let next = next_generation(found, private);
        if shared.compare_exchange(found, next, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            break next;
        }
    };
    latest.fetch_max(generation, Ordering::Relaxed);
    generation
}

/// Returns the greater of the two counts, plus 1. A shared count that is implausibly far ahead is ignored, because a child
/// that writes to the pages could otherwise make the sum wrap around to the generation of an ancestor.
const fn next_generation(shared: u32, private: u32) -> u32 {
    const MAX_LEAD: u32 = 1 << 24;
    let is_plausible = shared > private && shared - private <= MAX_LEAD && shared < u32::MAX;
    let last = if is_plausible { shared } else { private };
    // After 2^32 generations, the count starts over. No process has that many ancestors with generators.
    if last == u32::MAX { FIRST_GENERATION } else { last + 1 }
}

/// Returns the ID of this process. Siblings that were forked without shared pages have only this number to differ by.
pub(super) fn process_id() -> u32 {
    std::process::id()
}

extern "C" fn after_fork_in_child() {
    // On Linux, the kernel has already wiped the page. Everywhere else, the counter still contains the parent's generation.
    page_counter().store(0, Ordering::Relaxed);
    renew_generation();
}

/// Prepares this process for forks by installing a fork hook, mapping a page that is wiped in each child, or both.
pub(super) fn prepare() -> Result<()> {
    // A lock is not an option, because a child could inherit it in the locked state. Two threads may therefore both install
    // the hook, which is harmless: process generations then increase by two.
    if !IS_READY.load(Ordering::Acquire) {
        let is_wiped = wipe_in_children();
        // SAFETY: the handler only accesses atomics, so it is safe to run in the child before fork() returns.
        let is_hooked = unsafe { libc::pthread_atfork(None, None, Some(after_fork_in_child)) } == 0;
        if !is_wiped && !is_hooked {
            return Err(missing_fork_hook_error());
        }
        IS_READY.store(true, Ordering::Release);
    }
    // The table is mapped before any child is forked, so that all children share it. An error is ignored here, because only
    // generators with default partitions need the table, and they try to map it again.
    let _ = shared_table();
    Ok(())
}

/// Returns the error for a process without a fork hook. A child of such a process would duplicate its parent's IDs.
#[cold]
fn missing_fork_hook_error() -> Error {
    Error::with_reason(
        ErrorKind::Forked,
        "the system has no memory for a fork hook, without which a child process would duplicate IDs",
    )
}

/// Moves the process generation to a page that reads as zeros in every child, even in a child that is created without
/// running the C library's hooks. Linux has supported such pages since version 4.14.
#[cfg(target_os = "linux")]
fn wipe_in_children() -> bool {
    let Some(page) = new_page::<Shared>(libc::MAP_PRIVATE) else { return false };
    // SAFETY: `new_page` has just mapped the page with this size, and no other code has its address.
    if unsafe { libc::madvise(page.cast(), size_of::<Shared>(), libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: no other thread has seen the page, so no thread uses it after it is unmapped.
        unsafe { libc::munmap(page.cast(), size_of::<Shared>()) };
        return false;
    }
    let unwiped = (&raw const STATIC_GENERATION).cast_mut();
    // SAFETY: the page is aligned and writable, and no other thread has its address yet.
    unsafe { page.write(Shared::new(ensure_generation())) };
    if GENERATION_LOCATION
        .compare_exchange(unwiped, page, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        // SAFETY: another thread published its page first, so no other thread has seen the address of this page, and
        // no thread uses it after it is unmapped.
        unsafe { libc::munmap(page.cast(), size_of::<Shared>()) };
    }
    true
}

#[cfg(not(target_os = "linux"))]
fn wipe_in_children() -> bool {
    false
}

/// Returns the fork tree's table of default partitions. Each page of the table takes up memory only after one of the page's
/// entries has been accessed.
pub(super) fn shared_table() -> Result<&'static Cells<PARTITION_COUNT>> {
    let mut table = SHARED_CELLS.load(Ordering::Acquire);
    if table.is_null() {
        table = publish_table(new_page(libc::MAP_SHARED).ok_or_else(unshared_table_error)?);
    }
    // SAFETY: the pointer is not null after `publish_table`, and the pages are never unmapped once they are in
    // `SHARED_CELLS`. Any bytes are a valid table, including bytes written by a child that has dropped its privileges.
    let table = unsafe { &*table };
    let count = ptr::from_ref(&table.restores.0).cast_mut();
    // Every thread that finds the table publishes the location of its count, because the thread that mapped the table may
    // not have done so yet, and that thread does not exist in a child that was forked in between. The location is written
    // only once, because it is loaded for every ID.
    if RESTORES.load(Ordering::Relaxed) != count {
        raise_restore_count(table, &STATIC_RESTORES);
        RESTORES.store(count, Ordering::Release);
    }
    Ok(table)
}

/// Returns the error for a system without shared pages. On such a system, a parent and its child would pick the same
/// partitions.
#[cold]
fn unshared_table_error() -> Error {
    let reason = "the system has no shared memory for default partitions; set a partition";
    Error::with_reason(ErrorKind::PartitionsExhausted, reason)
}

/// Makes `table` the shared table, unless another thread has set one first.
fn publish_table(table: *mut Cells<PARTITION_COUNT>) -> *mut Cells<PARTITION_COUNT> {
    match SHARED_CELLS.compare_exchange(ptr::null_mut(), table, Ordering::AcqRel, Ordering::Acquire)
    {
        Ok(_) => table,
        Err(earlier) => {
            // SAFETY: `table` came from mmap with this size, and no other thread has seen it, so no thread uses it after it
            // is unmapped.
            unsafe { libc::munmap(table.cast(), size_of::<Cells<PARTITION_COUNT>>()) };
            earlier
        }
    }
}

/// Maps zeroed pages with space for a `T`. Depending on `kind`, the pages are private or shared with child processes.
fn new_page<T>(kind: libc::c_int) -> Option<*mut T> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, kind | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping at an address that the system chooses touches no existing memory.
    let page = unsafe { libc::mmap(ptr::null_mut(), size_of::<T>(), access, kind, -1, 0) };
    (page != libc::MAP_FAILED).then_some(page.cast())
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;

    use super::*;
    use crate::sync::watched_atomics::run_with_interruption;

    /// Simulates a thread that has published the table, but not yet the location of the table's restore count.
    #[test]
    fn a_restore_is_counted_in_the_table_before_its_count_is_published() {
        let table: &'static mut Cells<PARTITION_COUNT> = Box::leak(Box::new(Cells::new()));
        let (shared, unshared) = (AtomicPtr::new(&raw mut *table), Shared::new(0));
        advance_restore_count(&shared, &unshared);
        // SAFETY: the table was leaked above, so it is never freed.
        let table = unsafe { &*shared.load(Ordering::Acquire) };
        assert_eq!(table.restores.0.load(Ordering::Acquire), 1);
        shared.store(ptr::null_mut(), Ordering::Release);
        advance_restore_count(&shared, &unshared);
        assert_eq!(unshared.load(Ordering::Acquire), 1);
    }

    /// A child may be forked before the thread that mapped the table has published the location of its count.
    #[test]
    fn every_thread_that_finds_the_table_publishes_its_count() {
        let table = shared_table().unwrap();
        // No test in this program reports a restore, so other tests see the same value in both counts.
        RESTORES.store((&raw const STATIC_RESTORES).cast_mut(), Ordering::Release);
        shared_table().unwrap();
        assert!(ptr::eq(restore_counter(), &raw const table.restores.0));
    }

    #[test]
    fn the_threads_of_a_child_have_one_generation() {
        for at in 0.. {
            let page: &'static _ = Box::leak(Box::new(Shared::new(0)));
            let other = move || assert_eq!(assign_generation(page, 8), 8);
            let found = run_with_interruption(at, other, || assign_generation(page, 7));
            let Ok(found) = found else { return assert!(at > 0, "never interrupted") };
            assert_eq!((found, page.load(Ordering::Acquire)), (8, 8));
        }
    }

    #[test]
    fn a_generation_is_greater_than_both_counts() {
        let (shared, latest) = (Shared::new(0), AtomicU32::new(FIRST_GENERATION));
        let sibling = AtomicU32::new(FIRST_GENERATION);
        let next = |latest| count_generation(Some(&shared), latest);
        assert_eq!([next(&latest), next(&sibling), next(&latest), next(&sibling)], [2, 3, 4, 5]);
        assert_eq!((latest.into_inner(), sibling.into_inner()), (4, 5));
        assert_eq!(count_generation(None, &AtomicU32::new(7)), 8);
    }

    /// Any bytes may be in the shared pages, because a child that has dropped its privileges can write to them.
    #[test]
    fn no_shared_count_leads_back_to_an_ancestor() {
        for private in [FIRST_GENERATION, 2, 1000, u32::MAX - 1] {
            for shared in [0, 1, private, private.wrapping_add(1), 1 << 24, u32::MAX - 1, u32::MAX]
            {
                let next = next_generation(shared, private);
                assert!(next > private, "{next} after {private} with {shared}");
            }
        }
        assert_eq!(next_generation(0, u32::MAX), FIRST_GENERATION, "no generation is 0");
    }

    /// Counts a restore in one thread before a table exists, and publishes a table in another thread. Each iteration
    /// interrupts one of the threads at one of its accesses and runs the other thread.
    #[test]
    fn a_restore_that_is_counted_without_a_table_is_not_lost() {
        for (reports, access) in
            [true, false].into_iter().flat_map(|it| (0..4).map(move |at| (it, at)))
        {
            let table: &'static Cells<PARTITION_COUNT> = Box::leak(Box::new(Cells::new()));
            let world: &'static _ =
                Box::leak(Box::new((AtomicPtr::new(ptr::null_mut()), Shared::new(0))));
            let (shared, unshared) = world;
            let report = move || advance_restore_count(shared, unshared);
            let put = move || {
                shared.store(ptr::from_ref(table).cast_mut(), Ordering::Release);
                raise_restore_count(table, unshared);
            };
            let run_with_interruption = if reports {
                run_with_interruption(access, put, report)
            } else {
                run_with_interruption(access, report, put)
            };
            // If the interrupted thread ended before access number `access`, the other thread has not run yet, so it runs
            // now.
            if run_with_interruption.is_err() {
                if reports { put() } else { report() }
            }
            assert_ne!(table.restores.0.load(Ordering::Acquire), 0, "{reports} at {access}");
        }
    }
}
