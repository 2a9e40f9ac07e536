//! Random bytes from JavaScript, which key the random bits of IDs.
//!
//! A key is requested once per stream of random bits, which the core's `ChaCha` derives from it, because a call into JavaScript
//! for each ID would be slower than the rest of the call.

use polyflake::Result;
use polyflake_js::word_of_float;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/host.js")]
extern "C" {
    fn word(index: u32) -> f64;
}

/// Returns a new key. It consists of numbers, because JavaScript cannot write into the memory without knowing its layout.
pub(crate) fn key() -> Result<[u8; 32]> {
    let mut key = [0; 32];
    for (index, bytes) in (0..).zip(key.as_chunks_mut().0) {
        *bytes = word_of_float(word(index))?.to_le_bytes();
    }
    Ok(key)
}
