//! The native machine: the calls of `polyflake-js` as functions without arguments.
//!
//! Each thread that loads the addon has its own scratch area and generators. All copies of the package on a thread
//! share them, since the addon keeps the first area that it is given.
//!
//! Reading order: `machine` (what a thread has), `clock`, `table` (default partitions), `calls` (the functions).

mod calls;
mod clock;
mod machine;
mod table;

use clock::{JsClock, Read, Stalled};
use napi::{Env, bindgen_prelude::Object};
use napi_derive::napi;
use table::{Functions, Next, Swap, Until};

/// The machine of this thread as an object: `area`, its scratch area, which is `area` or the one that an earlier copy of
/// the package gave; `calls`; `makers`.
///
/// # Errors
/// `InvalidArg` if the area is too small, or no `Uint8Array`; `GenericFailure` in a second environment on a thread.
#[napi(catch_unwind)]
pub fn attach<'env>(env: &'env Env, area: Object<'env>) -> napi::Result<Object<'env>> {
    machine::attach(env, area)
}

/// Sets the clock of the generator that is built next: a function that gives Unix milliseconds, and one that hears of
/// stalls and says whether to wait. Neither throws.
#[napi(catch_unwind)]
pub fn clock(env: &Env, read: Read, stalled: Option<Stalled>) {
    machine::set_clock(JsClock::Functions { env: Env::from_raw(env.raw()), read, stalled });
}

/// Lends this thread the table of default partitions that another copy of the package has. No function throws.
#[napi(catch_unwind)]
pub fn lend(env: &Env, next: Next, until: Until, swap: Swap) {
    machine::lend(Functions { env: Env::from_raw(env.raw()), next, until, swap });
}
