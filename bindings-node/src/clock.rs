//! Time in Node: the system's clock or a function, and the thread's sleep.

use std::ptr;

use napi::{Env, JsValue as _, bindgen_prelude::FunctionRef, sys};
use polyflake::{
    Error, ErrorKind, Result,
    clock::{self, Clock, SystemClock},
};

/// The longest wait by default, in nanoseconds: nothing else runs on the thread meanwhile.
const LONGEST_WAIT: u64 = 10_000_000;

pub(crate) enum JsClock {
    System,
    Function(Env, FunctionRef<(), f64>),
}

impl JsClock {
    pub(crate) fn new(env: &Env, function: Option<FunctionRef<(), f64>>) -> Self {
        function.map_or(Self::System, |function| Self::Function(Env::from_raw(env.raw()), function))
    }
}

impl Clock for JsClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        match self {
            Self::System => SystemClock.unix_nanos(),
            Self::Function(env, function) => clock::nanos_from_float_ms(call(*env, function)?),
        }
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos)
    }

    fn default_max_wait(&self, tick_nanos: u64) -> u64 {
        tick_nanos.min(LONGEST_WAIT)
    }
}

/// Calls it, by hand: napi's own call turns an exception into text by calling JavaScript, which at the end of the stack throws
/// again, without end.
///
/// Generators are used on the thread and in the environment that made them, and die with it.
#[allow(unsafe_code, reason = "see above")]
fn call(env: Env, function: &FunctionRef<(), f64>) -> Result<f64> {
    let failed = || Error::new(ErrorKind::ClockFailed);
    let function = function.borrow_back(&env).map_err(|_| failed())?;
    let (env, no_arguments) = (env.raw(), ptr::null());
    let (mut this, mut value, mut reading) = (ptr::null_mut(), ptr::null_mut(), f64::NAN);
    // SAFETY: `env` is the one that is running this call (see above), so `function` and what these give are values of it.
    let status = unsafe {
        sys::napi_get_undefined(env, &raw mut this);
        sys::napi_call_function(env, this, function.raw(), 0, no_arguments, &raw mut value)
    };
    if status == sys::Status::napi_ok {
        // SAFETY: as above; `value` is what the function gave.
        unsafe { sys::napi_get_value_double(env, value, &raw mut reading) };
        return Ok(reading);
    }
    // SAFETY: as above. What was thrown is forgotten: the functions that get here throw only where the stack ends.
    unsafe { sys::napi_get_and_clear_last_exception(env, &raw mut value) };
    Err(failed())
}
