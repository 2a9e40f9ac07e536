//! Creates copies of a process, either forked children or imitations of a copied image.
//!
//! A copied image differs from a forked child in four respects: no fork hook runs, the image has its own copy of shared
//! memory, the kernel does not wipe any of its pages, and its process ID is the same. The imitation uses a raw `clone()`,
//! which runs no hook. It reproduces the other three properties as well. The kernel is instructed to keep the pages, shared
//! mappings are replaced with copies, and each of the two processes is the first process of its own PID namespace.
#![allow(unsafe_code, reason = "fork, clone, madvise and mmap have no safe door")]

use std::{fs, ptr};

unsafe extern "C" {
    // Available since glibc 2.34 and musl 1.2.2. The libc crate does not declare it.
    fn _Fork() -> libc::pid_t;
}

/// Creates a copy of this process. Returns `true` in the copy.
pub(super) fn create(shape: &str) -> bool {
    let copy = match shape {
        // SAFETY: a host forks before it starts threads, so the child may call any function, not only async-signal-safe
        // ones.
        "raw-fork" => unsafe { _Fork() },
        "image" => clone_image(),
        // SAFETY: this process has only one thread, so the child may call any function.
        _ => unsafe { libc::fork() },
    };
    assert!(copy >= 0, "cannot create a copy: {}", std::io::Error::last_os_error());
    copy == 0
}

/// Waits for all copies to exit.
pub(super) fn wait() {
    let mut status = 0;
    // SAFETY: `status` is a valid, writable integer.
    while unsafe { libc::wait(&raw mut status) } > 0 {
        assert_eq!(status, 0, "a copy failed");
    }
}

/// Terminates this process immediately, without running exit handlers.
pub(super) fn exit() -> ! {
    // SAFETY: `_exit` has no preconditions. It runs no destructors of this process.
    unsafe { libc::_exit(0) }
}

/// The memory mappings of this process, each as a start address and a length.
struct Mappings {
    /// Mappings that the kernel wipes in a forked child.
    wiped: Vec<(usize, usize)>,
    /// Mappings that a forked child shares.
    shared: Vec<(usize, usize)>,
}

impl Mappings {
    fn of_this_process() -> Self {
        let (mut found, mut last) = (Self { wiped: Vec::new(), shared: Vec::new() }, (0, 0));
        for line in fs::read_to_string("/proc/self/smaps").unwrap_or_default().lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let address = |text| usize::from_str_radix(text, 16).ok();
            let ends = words[0].split_once('-').map(|(start, end)| (address(start), address(end)));
            if let Some((Some(start), Some(end))) = ends {
                last = (start, end - start);
                if words[1].starts_with("rw") && words[1].ends_with('s') {
                    found.shared.push(last);
                }
            } else if words[0] == "VmFlags:" && words.contains(&"wf") {
                found.wiped.push(last);
            }
        }
        found
    }
}

/// Creates a copy of this process that imitates a copied image.
fn clone_image() -> libc::pid_t {
    let Mappings { wiped, shared } = Mappings::of_this_process();
    for (start, len) in wiped {
        // SAFETY: the range is a mapping of this process, and the advice does not change its content.
        let kept = unsafe { libc::madvise(start as *mut _, len, libc::MADV_KEEPONFORK) };
        assert_eq!(kept, 0, "cannot keep a page");
    }
    // Save the content before creating the copy, because this process may change its shared memory as soon as it continues.
    let saved = |(start, len): (usize, usize)| {
        // SAFETY: the mapping is readable, and no other thread exists that could change it.
        (start, unsafe { std::slice::from_raw_parts(start as *const u8, len) }.to_vec())
    };
    let shared: Vec<_> = shared.into_iter().map(saved).collect();
    let flags = libc::c_long::from(libc::SIGCHLD | libc::CLONE_NEWPID);
    // SAFETY: the flags do not request shared memory, so `clone` copies this process as `fork` does. The host has only one
    // thread.
    let copy = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    if copy == 0 {
        shared.iter().for_each(|(start, bytes)| make_mapping_private(*start, bytes));
    }
    copy.try_into().expect("a process ID")
}

/// Replaces a shared mapping with a private copy of it.
fn make_mapping_private(start: usize, bytes: &[u8]) {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the new mapping replaces an existing mapping of this process at the same address, and the same bytes are
    // written to it.
    unsafe {
        let page = libc::mmap(start as *mut _, bytes.len(), access, kind, -1, 0);
        assert_eq!(page, start as *mut _, "cannot replace a mapping");
        ptr::copy_nonoverlapping(bytes.as_ptr(), page.cast(), bytes.len());
    }
}
