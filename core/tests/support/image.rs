//! Copies a single-threaded process to simulate a process that was restored from a memory image. The copy is created with a
//! raw `clone()`. Unlike a restored process, a cloned process would lose the page that the kernel wipes at a fork, and
//! would share memory with its parent. Therefore, this module preserves that page and makes the shared memory private.
#![allow(unsafe_code, reason = "clone, madvise and mmap have no safe door")]

use std::{
    fs,
    io::{Read, Write, pipe},
    ptr,
};

/// The memory mappings that differ between a forked child process and a process restored from an image. Each mapping is a
/// start address and a length.
struct Mappings {
    /// Mappings that the kernel wipes in a child process.
    wiped: Vec<(usize, usize)>,
    /// Anonymous mappings that a child process shares with its parent.
    shared: Vec<(usize, usize)>,
}

impl Mappings {
    fn from_current_process() -> Self {
        let (mut found, mut last) = (Self { wiped: Vec::new(), shared: Vec::new() }, (0, 0));
        for line in fs::read_to_string("/proc/self/smaps").unwrap().lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let ends = words[0].split_once('-').and_then(|(start, end)| {
                let address = |text| usize::from_str_radix(text, 16).ok();
                Some((address(start)?, address(end)?))
            });
            if let Some((start, end)) = ends {
                last = (start, end - start);
                if words[1].ends_with('s') && words.get(5).is_some_and(|path| *path == "/dev/zero")
                {
                    found.shared.push(last);
                }
            } else if words[0] == "VmFlags:" && words.contains(&"wf") {
                found.wiped.push(last);
            }
        }
        found
    }
}

/// Copies this process. Returns 0 in the child, and the child's process ID in the parent.
fn clone_process() -> libc::c_long {
    let Mappings { wiped, shared } = Mappings::from_current_process();
    // If this process has been copied before, `wiped` is empty, because the kernel no longer wipes the page at a fork.
    assert!(wiped.len() <= 1 && !shared.is_empty(), "expected the pages of a generator");
    for (start, len) in wiped {
        // SAFETY: the range is a mapping of this process, and `MADV_KEEPONFORK` does not change its contents.
        assert_eq!(unsafe { libc::madvise(start as *mut _, len, libc::MADV_KEEPONFORK) }, 0);
    }
    // The shared memory is saved before the copy is made, because this process may modify the memory as soon as it
    // continues.
    let image = |(start, len): (usize, usize)| {
        // SAFETY: the mapping is readable, and no other thread modifies it.
        (start, unsafe { std::slice::from_raw_parts(start as *const u8, len) }.to_vec())
    };
    let shared: Vec<_> = shared.into_iter().map(image).collect();
    // SAFETY: no flag makes the processes share memory, so `clone` copies this single-threaded process as `fork` does.
    let copy = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    assert!(copy >= 0, "expected a copy");
    for (start, bytes) in shared.into_iter().filter(|_| copy == 0) {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
        );
        // SAFETY: the new mapping replaces a mapping of this process at the same address, and receives the same bytes.
        unsafe {
            let page = libc::mmap(start as *mut _, bytes.len(), access, kind, -1, 0);
            assert_eq!(page, start as *mut _);
            ptr::copy_nonoverlapping(bytes.as_ptr(), page.cast(), bytes.len());
        }
    }
    copy
}

/// Runs `work` in this process and in a copy of the process, and returns the bytes of the IDs that each process generates.
/// `work` receives `true` in the copy.
pub(crate) fn run_in_both_copies(work: impl FnOnce(bool) -> Vec<[u8; 16]>) -> [Vec<[u8; 16]>; 2] {
    let (mut from, mut to) = pipe().unwrap();
    let copy = clone_process();
    let here = work(copy == 0);
    if copy == 0 {
        to.write_all(here.as_flattened()).unwrap();
        // SAFETY: `_exit` has no preconditions. It terminates the copy without running destructors.
        unsafe { libc::_exit(0) };
    }
    drop(to);
    let mut there = Vec::new();
    from.read_to_end(&mut there).unwrap();
    // SAFETY: `waitpid` accepts a null pointer for the status, and `copy` is the process ID of a child that was just
    // created.
    unsafe { libc::waitpid(copy.try_into().unwrap(), ptr::null_mut(), 0) };
    [here, there.as_chunks().0.to_vec()]
}
