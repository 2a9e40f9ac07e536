//! The wasm backend, which exports the calls of `polyflake-js` as functions without arguments.
//!
//! WebAssembly has no source of entropy, so JavaScript provides random bytes (see `keys`). The functions that the module
//! imports are in `host.js`.
#![cfg_attr(all(feature = "bare", target_arch = "wasm32"), no_std)]

extern crate alloc;

#[cfg(all(feature = "bare", target_arch = "wasm32"))]
mod bare;
mod clock;
mod keys;
mod machine;
mod table;

use clock::JsClock;
pub use clock::keep;
use machine::machine;
use polyflake_js::{Machine, Scratch};
pub use table::lend;
use wasm_bindgen::prelude::*;

/// Returns the address of the scratch area in the module's memory.
#[wasm_bindgen]
pub fn scratch() -> *const Scratch {
    machine().scratch()
}

/// Sets the next generator's clock to the clock with the given number in `host.js`.
#[wasm_bindgen]
pub fn clock(number: u32) {
    machine().set_clock(JsClock(number));
}

/// Returns the time that JavaScript wrote into the scratch area for a call that generates one ID. Reading the clock from
/// within the module would take 13 ns longer. For all other calls, the time is 0.
macro_rules! call_time {
    ($now:ident) => {
        machine().scratch().$now()
    };
    () => {
        0.0
    };
}

macro_rules! export {
    ($($call:ident => $name:tt $(at $now:ident)? $(-> $answer:expr)?,)*) => {$(
        #[doc = concat!("`", $name, "`, through the scratch area.")]
        #[wasm_bindgen(js_name = $name)]
        pub fn $call() -> u32 {
            clock::set_call_time(call_time!($($now)?));
            machine().run(Machine::$call)
        }
    )*};
}

polyflake_js::calls!(export);
