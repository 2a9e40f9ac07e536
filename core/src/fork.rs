//! State that `fork()` must not copy: the identity of the process, and the default partitions that are in use.
//!
//! Every process has a process generation that differs from those of its ancestors and siblings, and every generator checks
//! it for every ID. A hook in the child increments the process generation. On Linux, the process generation is also stored in a
//! page that the kernel wipes in every child, so that `_Fork()` and a raw `clone()` are detected too, unless the child
//! shares its parent's memory (`CLONE_VM`). The table of default partitions is stored in pages that parent and children
//! share, so that the generators of one fork tree have different partitions. This code uses no locks, because a child could
//! inherit a lock in its locked state.
//!
//! These mechanisms do not detect a copied process image, for example if a virtual machine is restored twice. Neither copy
//! can detect the restore, so the program must report it ([`after_restore`]). The report increments a *restore count* in
//! the shared pages, so one call reaches all processes of the fork tree. An identity belongs to a *generation*, which
//! combines the process generation and the restore count. The identity is used only while both values are current.
//!
//! Miri has neither hooks nor `fork()`, and models simulate the atomics. Therefore tests under Miri and models use the code
//! for platforms without forks.

#[cfg(feature = "std")]
mod lease_variable;
#[cfg(not(all(feature = "std", unix, not(any(miri, loom, shuttle, target_os = "emscripten")))))]
mod no_fork;
#[cfg(all(feature = "std", unix, not(any(miri, loom, shuttle, target_os = "emscripten"))))]
mod unix;
#[cfg(all(feature = "std", target_os = "linux", not(any(miri, loom, shuttle))))]
mod watch;

#[cfg(not(all(
    feature = "std",
    unix,
    not(any(miri, loom, shuttle, target_os = "emscripten"))
)))]
use no_fork as imp;
#[cfg(all(feature = "std", unix, not(any(miri, loom, shuttle, target_os = "emscripten"))))]
use unix as imp;

/// Functions that reserve default partitions from a table that the host provides. Bindings use this module.
pub mod partitions;

use crate::{Error, ErrorKind, Result, narrow};

/// Prepares this process for forks. If the program does not call this function, its first generator prepares the process.
/// Bindings call this function when they are loaded, so that child processes share the table of default partitions even if
/// they are forked before the first generator exists.
///
/// This function neither reads a clock nor requests random bytes.
///
/// # Errors
/// Returns `forked` if the system cannot provide the memory that is needed to detect forks. In this case, no generator can
/// be created.
pub fn prepare() -> Result<()> {
    #[cfg(feature = "std")]
    lease_variable::read();
    imp::prepare()
}

/// Returns the environment variable that requests leased worker IDs, or `None` if none was set when this process or an
/// ancestor was [prepared](prepare). Leases use this function.
#[cfg(feature = "std")]
pub fn lease_variable() -> Option<&'static str> {
    lease_variable::name()
}

/// Returns a number that distinguishes this process from all its ancestors. Bindings use it when they generate a batch in
/// several blocks.
pub fn process() -> u32 {
    imp::ensure_generation()
}

/// Returns how many times this process and the processes that share its pages have been restored. Leases use this count.
pub fn restores() -> u32 {
    imp::restores()
}

/// Returns the current generation of identities: the process generation and the restore count.
///
/// The process generation is read last. A caller that checks the result after it has finished its work therefore detects
/// every fork that happened before this read.
#[inline]
pub(crate) fn generation() -> u64 {
    let restores = imp::restores();
    combine(imp::generation(), restores)
}

/// Works like [`generation`], but first assigns a process generation to a child process that has not been assigned one.
pub(crate) fn ensure_generation() -> u64 {
    let restores = imp::restores();
    combine(imp::ensure_generation(), restores)
}

/// Returns whether a generation belongs to this process, regardless of its restore count.
pub(crate) fn belongs_to_this_process(generation: u64) -> bool {
    narrow::low_u32(generation.into()) == process()
}

/// Returns a key that distinguishes this process from all other processes that may have inherited the same random source in
/// the same state. It consists of the process generation and the process ID. Together with the bytes of a custom source,
/// it keeps siblings apart that would otherwise generate the same IDs.
///
/// The process ID matters for processes that do not share their pages, such as two children that were forked before
/// [`prepare`], or processes of a system without shared memory.
pub(crate) fn process_key(generation: u64) -> u64 {
    generation << 32 | u64::from(imp::process_id())
}

/// Returns whether a generation belongs to a child process, and not to the program's first process.
pub(crate) fn is_of_child(generation: u64) -> bool {
    narrow::low_u32(generation.into()) > FIRST_GENERATION
}

/// The process generation of the program's first process. No generation is 0.
const FIRST_GENERATION: u32 = 1;

/// Returns the error of a generator, handle or identity that was created in another generation: before a fork, or before
/// this process was restored.
#[cold]
pub(crate) fn foreign_error(generation: u64) -> Error {
    if belongs_to_this_process(generation) {
        let reason = "generator was created before the process was restored";
        Error::with_reason(ErrorKind::Forked, reason)
    } else {
        Error::new(ErrorKind::Forked)
    }
}

#[inline]
const fn combine(process: u32, restores: u32) -> u64 {
    (restores as u64) << 32 | process as u64
}

/// Reports that this process was restored from an image of its memory, from which other copies may also have been restored.
/// Examples are a snapshot of a virtual machine, AWS Lambda `SnapStart` and CRIU. Call this function in each copy before
/// that copy generates IDs.
///
/// Copies have the same worker IDs, random bytes and sequences, so without this call they generate the same IDs. One call
/// reaches all threads. It also reaches all processes that were forked from one another after the program generated its
/// first ID, created its first generator with an explicit worker ID or a window, or first called this function. To reach
/// processes that are forked earlier, call this function once before the program forks, or call it in each process. The
/// call has these effects:
///
/// - Generators get new default worker IDs and new random bytes. A generator with `identity_from` calls its function again,
///   or fails with `forked` if it has a window. Handles drop the sequence slots that they had reserved.
/// - Generators with an explicit worker ID, grant or window fail with `forked`. Create new ones with a worker ID that no
///   other copy uses.
///
/// The guarantee covers calls that begin after this function has returned. A call that is already in progress may return an
/// ID that another copy also returns. If the program took a generator's snapshot before the restore, every copy has that
/// snapshot.
///
/// ```
/// let ids = polyflake::sno::Generator::new();
/// let before = ids.generate(7)?;
/// polyflake::after_restore()?;
/// assert_ne!(ids.generate(7)?.partition(), before.partition());
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns `entropy_unavailable` if the operating system provides no random bytes. In this case, explicit worker IDs are
/// still rejected, and default worker IDs are assigned as soon as random bytes are available. Returns `forked` if the
/// system cannot provide the memory that is needed to detect forks.
#[cfg(feature = "std")]
pub fn after_restore() -> Result<()> {
    imp::prepare()?;
    if let Ok(table) = imp::shared_table() {
        return table.restore(partitions::random_base, imp::record_restore);
    }
    // The system could not provide memory for a table, so no default generator has a partition.
    imp::record_restore();
    Ok(())
}

/// Starts a thread that calls [`after_restore`] whenever the kernel notices that this virtual machine is a restored copy.
/// If the thread is already running, the call has no effect.
///
/// This function requires Linux 5.18 or later and a hypervisor that changes the virtual machine's generation ID (VMGENID),
/// such as Firecracker, Cloud Hypervisor or QEMU. It also requires permission to read `/dev/kmsg`, where the kernel reports
/// the restore. The thread does not detect copies of a process that are made in other ways, such as by CRIU or AWS Lambda.
///
/// The thread detects a restore with a short delay. IDs that the program generates during this delay may also exist in
/// another copy.
///
/// The thread reaches the same processes as [`after_restore`]. A forked child does not inherit the thread: if the parent
/// ends before the child does, call this function in the child.
///
/// ```
/// if let Err(error) = polyflake::watch_restores() {
///     assert_eq!(error.code(), "watch_unavailable");
///     println!("{error}"); // call after_restore() by other means
/// }
/// ```
///
/// # Errors
/// Returns `watch_unavailable` on other systems, on a machine without a generation ID, and without permission to read the
/// log. Returns `forked` if the system cannot provide the memory that is needed to detect forks.
#[cfg(feature = "std")]
pub fn watch_restores() -> Result<()> {
    #[cfg(all(target_os = "linux", not(any(miri, loom, shuttle))))]
    return watch::start();
    #[cfg(not(all(target_os = "linux", not(any(miri, loom, shuttle)))))]
    Err(Error::with_reason(
        ErrorKind::WatchUnavailable,
        "expected Linux, found another system; call after_restore() in each copy",
    ))
}

/// Works like `after_restore`, for a host that keeps the table of default partitions itself, for example in JavaScript. The
/// host replaces the table's base before it calls this function.
pub fn record_restore() {
    imp::record_restore();
}
