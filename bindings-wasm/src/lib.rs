//! The wasm machine: the calls of `polyflake-js` as exports without arguments.
//!
//! It has no source of entropy, so JavaScript provides random bytes: `keys`. Its imports are in `host.js`.
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

/// Returns the address of the scratch area in the memory.
#[wasm_bindgen]
pub fn scratch() -> *const Scratch {
    machine().scratch()
}

/// Sets the clock for the next generator, by its number in `host.js`.
#[wasm_bindgen]
pub fn clock(number: u32) {
    machine().set_clock(JsClock(number));
}

/// Returns the time that JavaScript wrote into the scratch area for a call that generates one ID, because reading the clock
/// from within the module costs 13 ns more. For all other calls, it is 0.
macro_rules! call_time {
    (sno_generate) => {
        machine().scratch().now()
    };
    (randflake_generate) => {
        machine().scratch().now()
    };
    (randflake_generate_text) => {
        machine().scratch().now()
    };
    (hotguid_generate) => {
        machine().scratch().now()
    };
    (uuid7_generate) => {
        machine().scratch().now()
    };
    ($other:ident) => {
        0.0
    };
}

macro_rules! export {
    ($($call:ident => $name:tt,)*) => {$(
        #[doc = concat!("`", $name, "`, through the scratch area.")]
        #[wasm_bindgen(js_name = $name)]
        pub fn $call() -> u32 {
            clock::set_call_time(call_time!($call));
            machine().run(Machine::$call)
        }
    )*};
}

polyflake_js::shared_calls!(export);
#[cfg(any(
    feature = "sno",
    feature = "randflake",
    feature = "hotguid",
    feature = "layout",
    feature = "uuid7"
))]
polyflake_js::generator_calls!(export);
#[cfg(feature = "sno")]
polyflake_js::sno_calls!(export);
#[cfg(feature = "randflake")]
polyflake_js::randflake_calls!(export);
#[cfg(feature = "hotguid")]
polyflake_js::hotguid_calls!(export);
#[cfg(feature = "layout")]
polyflake_js::layout_calls!(export);
#[cfg(feature = "uuid7")]
polyflake_js::uuid7_calls!(export);
#[cfg(feature = "public")]
polyflake_js::public_calls!(export);
