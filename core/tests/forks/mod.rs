//! Helpers for tests that fork.

use std::{
    io::{Read, Write, pipe},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// A function that forks. It returns 0 in the child, and the child's process ID in the parent.
pub(crate) type Fork = fn() -> libc::pid_t;

/// Forks with the C library's hooks.
pub(crate) fn fork_with_hooks() -> libc::pid_t {
    // SAFETY: the child runs only the test's closure and then calls `_exit`, so it never returns to the test harness.
    unsafe { libc::fork() }
}

/// Returns a function that forks without the C library's hooks, if the C library has one.
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "not every test forks so")]
pub(crate) fn fork_without_hooks() -> Option<Fork> {
    type RawFork = unsafe extern "C" fn() -> libc::pid_t;
    fn call_raw_fork() -> libc::pid_t {
        // SAFETY: `fork_without_hooks` has checked that the C library has this function, and `RawFork` is its C signature.
        unsafe { std::mem::transmute::<*mut libc::c_void, RawFork>(find_raw_fork())() }
    }
    fn find_raw_fork() -> *mut libc::c_void {
        // SAFETY: `dlsym` only looks up a symbol, and the symbol's name is NUL-terminated.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr()) }
    }
    (!find_raw_fork().is_null()).then_some(call_raw_fork)
}

#[cfg(not(target_os = "linux"))]
#[allow(dead_code, reason = "not every test forks so")]
pub(crate) fn fork_without_hooks() -> Option<Fork> {
    None
}

/// Runs `work` in a child created with `fork`, and returns its result. If the child panics, the result is empty.
pub(crate) fn run_in_child_with(fork: Fork, work: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let (mut from, mut to) = pipe().unwrap();
    let child = fork();
    if child == 0 {
        // A panic must not unwind into the test harness, whose other threads do not exist in this process.
        let found = catch_unwind(AssertUnwindSafe(work)).unwrap_or_default();
        to.write_all(&found).ok();
        // SAFETY: `_exit` has no preconditions. It terminates the child without running destructors.
        unsafe { libc::_exit(0) };
    }
    drop(to);
    let mut found = Vec::new();
    from.read_to_end(&mut found).unwrap();
    // SAFETY: `waitpid` accepts a null pointer for the status, and `child` was just forked.
    assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
    found
}
