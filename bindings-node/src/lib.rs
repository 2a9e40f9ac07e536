//! The native machine: the calls of `polyflake-js` as exports without arguments.
//!
//! Each thread that loads the addon has its own scratch area and generators. All copies of the package on a thread
//! share them, since the addon keeps the first area that it is given.

mod clock;
mod machine;

use clock::JsClock;
use machine::run;
use napi::{
    Env,
    bindgen_prelude::{FunctionRef, Object},
};
use napi_derive::napi;
use polyflake::sno::Drawn;
use polyflake_js::Machine;

/// The scratch area of this thread: `area`, or the one that an earlier copy of the package gave.
///
/// # Errors
/// `InvalidArg` if the area is too small, or no `Uint8Array`.
#[napi(catch_unwind)]
pub fn scratch<'env>(env: &'env Env, area: Object<'env>) -> napi::Result<Object<'env>> {
    machine::attach(env, area)
}

/// A generator of the options in the scratch area; its clock is the system's or a function that gives Unix
/// milliseconds and never throws.
#[napi(catch_unwind)]
pub fn sno_build(env: &Env, clock: Option<FunctionRef<(), f64>>) -> u32 {
    run(|machine| machine.sno_build(JsClock::new(env, clock)))
}

/// A default partition and a lower bound for its sequences: the next of this process, whatever the thread.
#[napi(catch_unwind)]
pub fn sno_draw() -> u32 {
    run(|machine| machine.put_drawn(Drawn::from_system()))
}

macro_rules! export {
    ($($call:ident => $name:tt,)*) => {$(
        #[doc = concat!("`", $name, "`, through the scratch area.")]
        #[napi(catch_unwind, js_name = $name)]
        pub fn $call() -> u32 {
            run(Machine::$call)
        }
    )*};
}

polyflake_js::calls!(export);
