//! The virtual counter of AArch64.
#![allow(unsafe_code, reason = "system registers have no safe door")]

use core::arch::asm;

/// The Linux kernel's name for the counter.
pub(super) const CLOCK_SOURCE: &str = "arch_sys_counter";

#[inline]
pub(super) fn counter() -> u64 {
    let count;
    // SAFETY: Linux lets programs read the register, or emulates the read if the processor's register is faulty, so the
    // instruction is always allowed.
    unsafe {
        asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags));
    }
    count
}

pub(super) fn ordered_counter() -> u64 {
    // SAFETY: the instruction barrier accesses no memory, so it is always sound. A second barrier follows the counter read.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
    let count = counter();
    // SAFETY: the instruction barrier accesses no memory, so it is always sound.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
    count
}

/// Returns whether this process may read the counter. On AArch64, every process may read it.
pub(super) const fn is_readable() -> bool {
    true
}

/// Returns whether the counter runs at a constant rate in all states of the processor. The architecture guarantees this.
pub(super) const fn is_steady() -> bool {
    true
}
