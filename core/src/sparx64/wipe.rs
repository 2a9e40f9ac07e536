//! Overwriting secrets so that the compiler cannot leave it out.

use core::sync::atomic::{Ordering, compiler_fence};

/// Overwrites everything with zeros, even if nothing reads it again.
#[allow(unsafe_code, reason = "only a volatile write is sure to be kept before the value dies")]
pub(super) fn wipe<T: Copy + Default>(secret: &mut [T]) {
    for item in secret {
        // SAFETY: `item` is a live exclusive reference: valid, aligned, and of a type that needs no drop (it is Copy).
        unsafe { core::ptr::write_volatile(item, T::default()) };
    }
    compiler_fence(Ordering::SeqCst);
}
