//! The time stamp counter of x86-64.
#![allow(unsafe_code, unused_unsafe, reason = "instructions that Rust before 1.93 calls unsafe")]

use core::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

/// The Linux kernel's name for the counter.
pub(super) const CLOCK_SOURCE: &str = "tsc";

#[inline]
pub(super) fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and `is_readable` has checked that this process may use it, so
    // executing it is sound.
    unsafe { _rdtsc() }
}

/// Reads the counter between two fences. The first fence lets all earlier instructions finish, and the second fence keeps
/// later instructions from starting before the count is read. Without the fences, a sample could be shorter than the
/// wall-clock reading that it encloses.
pub(super) fn ordered_counter() -> u64 {
    // SAFETY: every x86-64 processor has these instructions, `is_readable` has checked that this process may read the
    // counter, and the fences access no memory.
    unsafe {
        _mm_lfence();
        let count = _rdtsc();
        _mm_lfence();
        count
    }
}

/// Returns whether this process may read the counter. Tools that record a program's execution use `PR_SET_TSC` to forbid
/// such reads.
pub(super) fn is_readable() -> bool {
    const PR_GET_TSC: libc::c_int = 25;
    const PR_TSC_ENABLE: libc::c_int = 1;
    let mut permission: libc::c_int = 0;
    // SAFETY: `PR_GET_TSC` writes one integer, and `permission` is a valid, writable integer.
    let asked = unsafe { libc::prctl(PR_GET_TSC, &raw mut permission) };
    asked == 0 && permission == PR_TSC_ENABLE
}

/// Returns whether the counter is invariant, that is, whether it runs at a constant rate in all states of the processor.
pub(super) fn is_steady() -> bool {
    const POWER_MANAGEMENT_LEAF: u32 = 0x8000_0007;
    // SAFETY: every x86-64 processor has the instruction, and the leaf is read only if it exists.
    unsafe {
        __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT_LEAF
            && __cpuid(POWER_MANAGEMENT_LEAF).edx & 1 << 8 != 0
    }
}
