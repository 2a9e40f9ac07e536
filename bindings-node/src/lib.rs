//! The native backend, which exports the calls of `polyflake-js` as functions without arguments.
//!
//! Each thread that loads the addon has its own scratch area and generators. All copies of the package on a thread share
//! them, because the addon keeps the first scratch area that it receives.
//!
//! Reading order: `machine` (a thread's backend), `clock`, `shared` (generators that several threads use), `table` (default
//! partitions), and `calls` (the functions).

mod calls;
mod clock;
mod machine;
mod shared;
mod table;

use std::borrow::Cow;

use clock::{JsClock, ReadCallback, StallCallback};
use napi::{Env, bindgen_prelude::Object};
use napi_derive::napi;
use polyflake::{SharingKey, clock::SystemClock};
use table::{EntryFunction, Functions, NextFunction, SwapFunction};

/// Returns this thread's backend as an object with the properties `area`, `calls` and `makers`. The backend's scratch area
/// is the argument `area`, or the area that an earlier copy of the package passed.
///
/// # Errors
///
/// `InvalidArg` if the area is too small or is not a `Uint8Array`; `GenericFailure` if a second environment runs on the
/// thread.
#[napi(catch_unwind)]
pub fn attach<'env>(env: &'env Env, area: Object<'env>) -> napi::Result<Object<'env>> {
    machine::attach(env, area)
}

/// Sets the clock for the next generator that is built. The clock consists of a function that returns Unix milliseconds,
/// and a callback for stalls that returns 1 if the call may wait. Neither function may throw.
#[napi(catch_unwind)]
pub fn clock(read: ReadCallback, stalled: Option<StallCallback>) {
    machine::set_clock(JsClock::Functions { read, stalled });
}

/// Shares the next generator that is built with all threads that build one with equal options. `worker` is the format and
/// the worker ID, followed by the names and the values of all other options.
#[napi(catch_unwind)]
pub fn share(worker: String, names: Vec<String>, values: Vec<String>) {
    let options = names.into_iter().map(Cow::Owned).zip(values).collect();
    machine::set_clock(JsClock::System(Some(Box::new(SharingKey { worker, options }))));
}

/// Returns the source of the system time: `counter` or `system_call`.
#[napi(catch_unwind)]
pub fn clock_source() -> &'static str {
    SystemClock::source().name()
}

/// Returns how many restores of this process have been reported to the addon.
#[napi(catch_unwind)]
pub fn restores() -> u32 {
    polyflake::fork::restores()
}

/// Starts the thread that reports the restores that the kernel detects. If the thread cannot be started, returns the
/// reason.
#[napi(catch_unwind)]
pub fn watch_restores() -> Option<String> {
    polyflake::watch_restores().err().map(|error| error.to_string())
}

/// Passes this thread a table of default partitions that belongs to another copy of the package. The table's functions must
/// not throw.
#[napi(catch_unwind)]
pub fn lend(env: &Env, next: NextFunction, entry: EntryFunction, swap: SwapFunction) {
    machine::lend(Functions { env: Env::from_raw(env.raw()), next, entry, swap });
}
