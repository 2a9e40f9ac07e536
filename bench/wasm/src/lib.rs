//! SPARX-64 over a slice, to be timed in wasm. Each call works on the blocks that the last one left, and returns one byte of the
//! result.
#![allow(
    unsafe_code,
    reason = "without wasm-bindgen, a name is exported by an attribute that is unsafe"
)]

use std::cell::RefCell;

use polyflake::sparx64::{BLOCK_BYTES, KEY_BYTES, Sparx64};

const BLOCKS: usize = 4096;

struct Samples {
    cipher: Sparx64,
    blocks: Vec<[u8; BLOCK_BYTES]>,
}

thread_local! {
    static SAMPLES: RefCell<Samples> = RefCell::new(Samples {
        cipher: Sparx64::new([7; KEY_BYTES]),
        blocks: vec![[0; BLOCK_BYTES]; BLOCKS],
    });
}

fn apply(direction: fn(&Sparx64, &mut [[u8; BLOCK_BYTES]])) -> u8 {
    SAMPLES.with_borrow_mut(|Samples { cipher, blocks }| {
        direction(cipher, blocks);
        blocks[0][0]
    })
}

/// Encrypts 4096 blocks.
#[unsafe(no_mangle)]
pub extern "C" fn encrypt() -> u8 {
    apply(Sparx64::encrypt_blocks)
}

/// Decrypts 4096 blocks.
#[unsafe(no_mangle)]
pub extern "C" fn decrypt() -> u8 {
    apply(Sparx64::decrypt_blocks)
}
