//! Hints about memory, for kernels that read or write much of it.

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, _mm_sfence};

/// Bytes of a page.
const PAGE: usize = 4096;

/// Prefetches the memory one page after these bytes, for kernels that will soon read it. By itself a processor prefetches no
/// further than to the end of a page.
#[inline]
pub(super) fn ask_ahead(bytes: &[u8]) {
    let ahead = bytes.as_ptr().wrapping_add(PAGE);
    // SAFETY: a hint, which reads nothing and is ignored where there is no memory.
    #[allow(unsafe_code)]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
    }
}

/// Orders non-temporal stores before all later ones, so that other threads see them. Miri knows neither.
#[inline]
pub(super) fn fence() {
    if cfg!(miri) {
        return;
    }
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory. Rust before 1.93 calls it unsafe.
    #[allow(unsafe_code, unused_unsafe)]
    unsafe {
        _mm_sfence();
    }
}
