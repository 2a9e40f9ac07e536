//! The kernel of a level, for whole slices.

use super::{Block, Sparx64, scalar, schedule::Schedule};
use crate::cpu::{Level, Set};

/// What each instruction set's file has. Both work in place, on as many blocks as there are.
pub(super) struct Kernels {
    pub(super) encrypt: unsafe fn(&Schedule, &mut [Block]),
    pub(super) decrypt: unsafe fn(&Schedule, &mut [Block]),
}

const fn kernels(level: Level) -> &'static Kernels {
    match level.set() {
        Set::Scalar => &scalar::KERNELS,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Set::Sse41 => &super::sse41::KERNELS,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Set::Avx2 => &super::avx2::KERNELS,
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Set::Avx512 => &super::avx512::KERNELS,
        #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
        Set::Neon => &super::neon::KERNELS,
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Set::Simd128 => &super::simd128::KERNELS,
    }
}

/// Encrypts every block.
pub fn encrypt_blocks(level: Level, cipher: &Sparx64, blocks: &mut [Block]) {
    // SAFETY: a level is one of this machine.
    #[allow(unsafe_code)]
    unsafe {
        (kernels(level).encrypt)(&cipher.schedule, blocks);
    }
}

/// Decrypts every block.
pub fn decrypt_blocks(level: Level, cipher: &Sparx64, blocks: &mut [Block]) {
    // SAFETY: a level is one of this machine.
    #[allow(unsafe_code)]
    unsafe {
        (kernels(level).decrypt)(&cipher.schedule, blocks);
    }
}
