//! The native machine: the calls of `polyflake-js` as exports without arguments.
//!
//! Each thread that loads the addon has its own scratch area and generators. All copies of the package on a thread
//! share them, since the addon keeps the first area that it is given.

mod clock;
mod machine;

use clock::{JsClock, Read, Stalled};
use machine::run;
use napi::{Env, bindgen_prelude::Object};
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

/// Sets the clock of the generator that is built next: a function that gives Unix milliseconds, and one that hears of
/// stalls and says whether to wait. Neither throws.
#[napi(catch_unwind)]
pub fn clock(env: &Env, read: Read, stalled: Option<Stalled>) {
    machine::set_clock(JsClock::Functions { env: Env::from_raw(env.raw()), read, stalled });
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

polyflake_js::shared_calls!(export);
polyflake_js::sno_calls!(export);
polyflake_js::randflake_calls!(export);
polyflake_js::hotguid_calls!(export);
polyflake_js::layout_calls!(export);
