//! Writing a run of IDs, which differ only in the last two bytes.

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod lanes;
mod scalar;

use super::Sno;
use crate::cpu::{self, Level, Set};

/// Below this many IDs, scalar code is faster.
const FEW: usize = 32;

/// Writes IDs with consecutive sequences, beginning with the given ID, into packed bytes whose length is a multiple of 10.
type Kernel = unsafe fn(&mut [u8], Sno);

const fn kernel(level: Level) -> Kernel {
    match level.set() {
        Set::Scalar => scalar::write_run,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Set::Sse41 => lanes::with_sse41,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Set::Avx2 | Set::Avx512 => lanes::with_avx2,
        #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
        Set::Neon => lanes::with_neon,
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Set::Simd128 => lanes::with_simd128,
    }
}

/// Writes IDs with consecutive sequences, beginning with `first`, into packed bytes whose length is a multiple of 10.
#[inline]
pub(super) fn write_run(ids: &mut [u8], first: Sno) {
    if ids.len() < FEW * Sno::LEN {
        return scalar::write_run(ids, first);
    }
    write_run_with(cpu::level(), ids, first);
}

/// `write_run` at a given level.
pub fn write_run_with(level: Level, ids: &mut [u8], first: Sno) {
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    unsafe {
        kernel(level)(ids, first);
    }
}

/// The bytes of a slice of IDs.
#[allow(unsafe_code)]
pub(super) fn bytes_of(ids: &mut [Sno]) -> &mut [u8] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, and every 10 bytes are an ID.
    let arrays = unsafe {
        core::slice::from_raw_parts_mut(ids.as_mut_ptr().cast::<[u8; Sno::LEN]>(), ids.len())
    };
    arrays.as_flattened_mut()
}
