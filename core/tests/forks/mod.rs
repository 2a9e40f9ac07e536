//! Forking in tests.

use std::{
    io::{Read, Write, pipe},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Makes a child process: returns 0 in the child, and the child's process ID here.
pub(crate) type Fork = fn() -> libc::pid_t;

/// Forks with the C library's hooks.
pub(crate) fn hooked() -> libc::pid_t {
    // SAFETY: the child runs what the tests give it, and leaves by `_exit`.
    unsafe { libc::fork() }
}

/// A function that forks past the C library's hooks, if the library has one.
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "not every test forks so")]
pub(crate) fn unhooked() -> Option<Fork> {
    type Raw = unsafe extern "C" fn() -> libc::pid_t;
    fn call() -> libc::pid_t {
        // SAFETY: a function of the C library's, of this type where it exists, which `unhooked` has looked for.
        unsafe { std::mem::transmute::<*mut libc::c_void, Raw>(find())() }
    }
    fn find() -> *mut libc::c_void {
        // SAFETY: looks a name up.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr()) }
    }
    (!find().is_null()).then_some(call)
}

#[cfg(not(target_os = "linux"))]
#[allow(dead_code, reason = "not every test forks so")]
pub(crate) fn unhooked() -> Option<Fork> {
    None
}

/// The result of `work` in a child that `fork` makes; a panic in the child shows as missing bytes.
pub(crate) fn in_child_by(fork: Fork, work: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let (mut from, mut to) = pipe().unwrap();
    let child = fork();
    if child == 0 {
        // A panic must not come back to the harness, whose other threads this process does not have.
        let found = catch_unwind(AssertUnwindSafe(work)).unwrap_or_default();
        to.write_all(&found).ok();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    drop(to);
    let mut found = Vec::new();
    from.read_to_end(&mut found).unwrap();
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
    found
}
