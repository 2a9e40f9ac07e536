//! Clocks in Node.js: the system clock, and clocks that call a caller's function. Both kinds sleep by blocking the thread.
//!
//! The package wraps a caller's clock so that it never throws. The wrapper returns NaN, and keeps the exception for the
//! call's error. Therefore an exception can reach this file only if the stack overflows. In that case, only `clock_error`
//! can be reported.

use std::{ptr, sync::Arc, time::Duration};

use napi::{
    Env, JsValue as _,
    bindgen_prelude::{FnArgs, FunctionRef},
    sys,
};
use polyflake::{
    Error, ErrorKind, Result, SharingKey,
    clock::{self, Clock, ClockInfo, Stall, SystemClock},
    entropy,
    fork::partitions::{self, FindTable},
};
use polyflake_js::Host;

use crate::{machine, shared, table};

/// The unit of callers' clocks.
const MILLISECOND: Duration = Duration::from_millis(1);

/// A function that returns Unix milliseconds.
pub(crate) type ReadCallback = FunctionRef<(), f64>;

/// A callback for stalls, which returns 1 if the call may wait. Its arguments are the reason (0 for `sequence_exhausted`, 1
/// for `clock_behind`), the time in Unix milliseconds, the number of calls that are waiting, and the number of milliseconds
/// that this call has slept.
pub(crate) type StallCallback = FunctionRef<FnArgs<(f64, f64, f64, f64)>, f64>;

/// A generator's clock. Its functions are used only on the thread and in the environment that created them, and are freed
/// with that environment, because a generator with functions is not shared with other threads.
pub(crate) enum JsClock {
    /// The system clock. It has the options by which a generator is shared with other threads, until the generator is built.
    System(Option<Box<SharingKey>>),
    Functions {
        read: ReadCallback,
        stalled: Option<StallCallback>,
    },
}

impl Clock for JsClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        match self {
            Self::System(_) => SystemClock.unix_nanos(),
            Self::Functions { read, .. } => {
                let env = machine::env().ok_or_else(clock_error)?;
                let read = read.borrow_back(&env).map_err(|_| clock_error())?;
                clock::nanos_from_float_ms(call_function(env, read.raw(), &[])?)
            }
        }
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos)
    }

    #[inline]
    fn info(&self) -> ClockInfo {
        let info = if self.is_system() { SystemClock.info() } else { ClockInfo::new() };
        // TypeScript passes an option that determines whether to skip the first tick, because in wasm only TypeScript can
        // identify the platform.
        let mut info = info;
        info.unit = MILLISECOND;
        info.in_event_loop = true;
        info
    }

    fn monotonic(&self) -> Option<Duration> {
        SystemClock.monotonic()
    }

    #[allow(clippy::cast_precision_loss, reason = "a reading that was a float")]
    fn stalled(&self, stall: &Stall) -> Result<()> {
        let Self::Functions { stalled: Some(stalled), .. } = self else { return Ok(()) };
        let env = machine::env().ok_or_else(clock_error)?;
        let stalled = stalled.borrow_back(&env).map_err(|_| clock_error())?;
        let reason = f64::from(u8::from(stall.reason == ErrorKind::ClockBehind));
        let notice = [reason, stall.unix_ms as f64, stall.stalled.into(), stall.slept_ms.into()];
        if call_function(env, stalled.raw(), &notice)? > 0.0 { Ok(()) } else { Err(clock_error()) }
    }
}

impl Host for JsClock {
    type Shared<G> = Arc<G>;
    type SharingKey = Option<SharingKey>;

    fn take_sharing_key(&mut self) -> Option<SharingKey> {
        match self {
            Self::System(key) => key.take().map(|key| *key),
            Self::Functions { .. } => None,
        }
    }

    fn get_or_build<G: Send + Sync + 'static>(
        key: Option<SharingKey>,
        is_usable: fn(&G) -> bool,
        build: impl FnOnce() -> Result<G>,
    ) -> Result<Arc<G>> {
        shared::get_or_build(key, is_usable, build)
    }

    fn system() -> Self {
        Self::System(None)
    }

    fn is_system(&self) -> bool {
        matches!(self, Self::System(_))
    }

    fn table_finder(is_lent: bool) -> FindTable {
        if is_lent { table::find_lent } else { partitions::shared_table }
    }

    fn random_bytes() -> Result<[u8; 8]> {
        entropy::random_bytes()
    }

    fn key() -> Result<[u8; 32]> {
        entropy::random_bytes()
    }

    fn after_restore() -> Result<()> {
        polyflake::after_restore()
    }
}

fn clock_error() -> Error {
    Error::new(ErrorKind::ClockFailed)
}

/// Calls a function with numbers directly through Node-API.
///
/// napi's own call converts an exception to a string by calling JavaScript. After a stack overflow, that conversion throws
/// as well, and napi recurses forever.
#[allow(unsafe_code, reason = "see above")]
pub(crate) fn call_function(env: Env, function: sys::napi_value, numbers: &[f64]) -> Result<f64> {
    let env = env.raw();
    let (mut this, mut value, mut result) = (ptr::null_mut(), ptr::null_mut(), f64::NAN);
    let mut arguments = [ptr::null_mut(); 4];
    for (argument, number) in arguments.iter_mut().zip(numbers) {
        // SAFETY: functions are called only in the environment that created them, so `env` is running this call and is
        // valid.
        unsafe { sys::napi_create_double(env, *number, argument) };
    }
    // SAFETY: `env` is running this call, and `function` was borrowed from `env`. The loop above wrote `count` arguments,
    // and the results are written into local variables.
    let status = unsafe {
        sys::napi_get_undefined(env, &raw mut this);
        let count = numbers.len().min(arguments.len());
        sys::napi_call_function(env, this, function, count, arguments.as_ptr(), &raw mut value)
    };
    if status == sys::Status::napi_ok {
        // SAFETY: the status shows that `value` is the function's result, which stays alive until this call returns.
        unsafe { sys::napi_get_value_double(env, value, &raw mut result) };
        return Ok(result);
    }
    // SAFETY: `env` is running this call. The exception is discarded, because these functions throw only if the stack
    // overflows. A pending exception would make every further Node-API call fail.
    unsafe { sys::napi_get_and_clear_last_exception(env, &raw mut value) };
    Err(clock_error())
}
