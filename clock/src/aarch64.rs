//! The virtual counter of AArch64.
#![allow(unsafe_code, reason = "system registers have no safe door")]

use core::arch::asm;

/// The kernel's name of the counter.
pub(super) const CLOCK_SOURCE: &str = "arch_sys_counter";

#[inline]
pub(super) fn counter() -> u64 {
    let count;
    // SAFETY: Linux lets programs read the register, or reads it for them if the processor's register is faulty.
    unsafe {
        asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags));
    }
    count
}

pub(super) fn counter_in_order() -> u64 {
    // SAFETY: a barrier of the instruction stream, which touches no memory; another follows the reading.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
    let count = counter();
    // SAFETY: as above.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
    count
}

/// Returns whether this process may read the counter: every process may.
pub(super) const fn is_readable() -> bool {
    true
}

/// Returns whether it counts at one rate in all states of the processor, which the architecture guarantees.
pub(super) const fn is_steady() -> bool {
    true
}
