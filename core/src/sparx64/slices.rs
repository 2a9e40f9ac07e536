//! The kernel of a level, for whole slices.

use super::{Block, Sparx64, schedule::Schedule};
use crate::cpu::{Level, kernels_of};

/// What each instruction set's file has. Both work in place, on as many blocks as there are.
pub(super) struct Kernels {
    pub(super) encrypt: unsafe fn(&Schedule, &mut [Block]),
    pub(super) decrypt: unsafe fn(&Schedule, &mut [Block]),
}

const fn kernels(level: Level) -> &'static Kernels {
    kernels_of!(level)
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
