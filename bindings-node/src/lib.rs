//! The native machine: the calls of `polyflake-js` as functions without arguments.
//!
//! Each thread that loads the addon has its own scratch area and generators. All copies of the package on a thread
//! share them, since the addon keeps the first area that it is given.
//!
//! Reading order: `machine` (the machine of a thread), `clock`, `table` (default partitions), `calls` (the functions).

mod calls;
mod clock;
mod machine;
mod table;

use clock::{JsClock, Read, Stalled};
use napi::{Env, bindgen_prelude::Object};
use napi_derive::napi;
use polyflake::clock::SystemClock;
use table::{Entry, Functions, Next, Swap};

/// Returns the machine of this thread as an object of `area`, `calls` and `makers`. Its scratch area is the argument `area`, or
/// the area of an earlier copy of the package.
///
/// # Errors
/// `InvalidArg` if the area is too small, or not a `Uint8Array`; `GenericFailure` in a second environment on a thread.
#[napi(catch_unwind)]
pub fn attach<'env>(env: &'env Env, area: Object<'env>) -> napi::Result<Object<'env>> {
    machine::attach(env, area)
}

/// Sets the clock for the next generator that is built: a function that returns Unix milliseconds, and a callback for stalls
/// that returns 1 if the call may wait. Neither throws.
#[napi(catch_unwind)]
pub fn clock(env: &Env, read: Read, stalled: Option<Stalled>) {
    machine::set_clock(JsClock::Functions { env: Env::from_raw(env.raw()), read, stalled });
}

/// Returns the source of the system's time: `counter` or `system_call`.
#[napi(catch_unwind)]
pub fn clock_source() -> &'static str {
    SystemClock::source().name()
}

/// Lends this thread the table of default partitions of another copy of the package. No function throws.
#[napi(catch_unwind)]
pub fn lend(env: &Env, next: Next, entry: Entry, swap: Swap) {
    machine::lend(Functions { env: Env::from_raw(env.raw()), next, entry, swap });
}
