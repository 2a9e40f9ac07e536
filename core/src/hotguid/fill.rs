//! Writes a run of IDs that differ only in the counter, which is in the lower half of an ID.

use super::{COUNTER, HotGuid, LAST_COUNTER};
use crate::arch::{self, Level, scalar};

/// The number of IDs below which scalar code is faster than detecting the CPU's instruction-set level.
const MAX_SCALAR_LEN: usize = 16;

// The kernels must increment exactly the bits that contain the counter.
const _: () = assert!(COUNTER.insert(1) == scalar::fill::COUNTER_STEP as u128);

/// Writes IDs with consecutive counters, beginning with `first`. The counter wraps around to 0. `ids` must be short enough
/// that no counter occurs twice.
#[inline]
pub(super) fn write_run(ids: &mut [HotGuid], first: HotGuid) {
    let level = if ids.len() < MAX_SCALAR_LEN { Level::SCALAR } else { arch::level() };
    write_run_at_level(level, ids, first);
}

/// Works like `write_run`, but uses the kernel for the given instruction-set level.
pub fn write_run_at_level(level: Level, ids: &mut [HotGuid], first: HotGuid) {
    let up_to_last = (LAST_COUNTER - first.counter()) as usize + 1;
    let (ids, from_0) = ids.split_at_mut(up_to_last.min(ids.len()));
    level.count_up(arrays_mut(ids), first.to_bytes());
    level.count_up(arrays_mut(from_0), first.with_counter(0).to_bytes());
}

#[allow(unsafe_code)]
const fn arrays_mut(ids: &mut [HotGuid]) -> &mut [[u8; HotGuid::LEN]] {
    // SAFETY: `HotGuid` is `repr(transparent)` over `[u8; 16]`, so both slices have the same layout. Any 16 bytes are a
    // valid ID, so writing through the returned slice is sound.
    unsafe { &mut *(core::ptr::from_mut(ids) as *mut [[u8; HotGuid::LEN]]) }
}
