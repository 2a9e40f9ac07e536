//! The wasm machine: the calls of `polyflake-js` as exports without arguments.
//!
//! It reads the time with `Date.now` and takes no entropy: default partitions are offered from outside.

mod clock;

pub use clock::Function;
use clock::JsClock;
use polyflake_js::{Machine, Scratch};
use wasm_bindgen::prelude::*;

thread_local! {
    static MACHINE: Machine<JsClock> = Machine::new(Box::leak(Box::default()));
}

/// Where the scratch area lies in the memory.
#[wasm_bindgen]
pub fn scratch() -> *const Scratch {
    MACHINE.with(Machine::scratch)
}

/// A generator of the options in the scratch area; its clock is `Date.now` or a function that gives Unix milliseconds
/// and never throws.
#[wasm_bindgen(js_name = snoBuild)]
pub fn sno_build(clock: Option<Function>) -> u32 {
    MACHINE.with(|machine| machine.run(|machine| machine.sno_build(JsClock::new(clock))))
}

macro_rules! export {
    ($($call:ident => $name:tt,)*) => {$(
        #[doc = concat!("`", $name, "`, through the scratch area.")]
        #[wasm_bindgen(js_name = $name)]
        pub fn $call() -> u32 {
            MACHINE.with(|machine| machine.run(Machine::$call))
        }
    )*};
}

polyflake_js::calls!(export);
