//! Time in Node: the system's clock or a function, and the thread's sleep.

use napi::{Env, bindgen_prelude::FunctionRef};
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

/// Generators are used on the thread and in the environment that made them, and die with it.
fn call(env: Env, function: &FunctionRef<(), f64>) -> Result<f64> {
    let reading = function.borrow_back(&env).and_then(|function| function.call(()));
    reading.map_err(|_| Error::new(ErrorKind::ClockFailed))
}
