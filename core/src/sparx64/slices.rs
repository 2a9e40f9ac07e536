//! Encrypts and decrypts slices of blocks with the kernels of an instruction-set level.

use super::Sparx64;
use crate::arch::{Block, Level};

/// Encrypts each block in place, using the kernel for the given instruction-set level.
pub fn encrypt_blocks(level: Level, cipher: &Sparx64, blocks: &mut [Block]) {
    level.encrypt(&cipher.schedule, blocks);
}

/// Decrypts each block in place, using the kernel for the given instruction-set level.
pub fn decrypt_blocks(level: Level, cipher: &Sparx64, blocks: &mut [Block]) {
    level.decrypt(&cipher.schedule, blocks);
}
