//! The kernel of a level, for whole slices.

use super::{Block, Sparx64, schedule::Schedule};
use crate::cpu::{Level, kernels_of};

/// The functions of each instruction set's file. Both work in place, on any number of blocks.
pub(super) struct Kernels {
    pub(super) encrypt: unsafe fn(&Schedule, &mut [Block]),
    pub(super) decrypt: unsafe fn(&Schedule, &mut [Block]),
}

const fn kernels(level: Level) -> &'static Kernels {
    kernels_of!(level)
}

/// Encrypts every block.
pub fn encrypt_blocks(level: Level, cipher: &Sparx64, blocks: &mut [Block]) {
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    unsafe {
        (kernels(level).encrypt)(&cipher.schedule, blocks);
    }
}

/// Decrypts every block.
pub fn decrypt_blocks(level: Level, cipher: &Sparx64, blocks: &mut [Block]) {
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    unsafe {
        (kernels(level).decrypt)(&cipher.schedule, blocks);
    }
}
