//! Writing a run of IDs, which differ only in the counter, in the lower half of an ID.

use super::{HotGuid, LAST_COUNTER};
use crate::cpu::{self, Level};

/// Below this many IDs, scalar code is faster than asking for the machine's level.
const FEW: usize = 16;

/// Writes IDs with consecutive counters, beginning with the given ID; no counter passes the last one.
type Kernel = unsafe fn(&mut [HotGuid], HotGuid);

const fn kernel(level: Level) -> Kernel {
    match level.set() {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        cpu::Set::Avx2 | cpu::Set::Avx512 => with_avx2,
        // Vectors of 128 bits are no faster than words.
        _ => write,
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[target_feature(enable = "avx2")]
fn with_avx2(ids: &mut [HotGuid], first: HotGuid) {
    write(ids, first);
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "what is not inlined would lack the set's features")]
fn write(ids: &mut [HotGuid], first: HotGuid) {
    #[allow(clippy::cast_possible_truncation, reason = "it lies in the lower half")]
    const COUNTER: u64 = super::COUNTER.put(1) as u64;
    let [upper, lower] = first.halves();
    let mut lower = u64::from_be_bytes(lower);
    for id in ids {
        *id = HotGuid::of_halves([upper, lower.to_be_bytes()]);
        // Past the end of the run this may overflow, but it is not used there.
        lower = lower.wrapping_add(COUNTER);
    }
}

/// Writes IDs with consecutive counters, beginning with `first`; 0 follows the last counter. No counter may come twice.
#[inline]
pub(super) fn write_run(ids: &mut [HotGuid], first: HotGuid) {
    let level = if ids.len() < FEW { Level::SCALAR } else { cpu::level() };
    write_run_with(level, ids, first);
}

/// `write_run` at a given level.
pub fn write_run_with(level: Level, ids: &mut [HotGuid], first: HotGuid) {
    let up_to_last = (LAST_COUNTER - first.counter()) as usize + 1;
    let (ids, from_0) = ids.split_at_mut(up_to_last.min(ids.len()));
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    unsafe {
        kernel(level)(ids, first);
        kernel(level)(from_0, first.with_counter(0));
    }
}
