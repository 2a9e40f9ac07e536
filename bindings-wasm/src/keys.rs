//! Random bytes from JavaScript, used as keys for the random bits of IDs.
//!
//! The module requests one key per stream of random bits. The core's `ChaCha` derives the stream from the key. A call into
//! JavaScript for each ID would take longer than the rest of the work.

use polyflake::Result;
use polyflake_js::word_from_float;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/host.js")]
extern "C" {
    fn word(index: u32) -> f64;
}

/// Returns a new key. JavaScript passes the key as numbers, because it cannot write into the module's memory without
/// knowing the memory's layout.
pub(crate) fn key() -> Result<[u8; 32]> {
    let mut key = [0; 32];
    for (index, bytes) in (0..).zip(key.as_chunks_mut().0) {
        *bytes = word_from_float(word(index))?.to_le_bytes();
    }
    Ok(key)
}
