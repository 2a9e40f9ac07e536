//! Time in JavaScript without a system: `Date.now` or a function, and sleep where the runtime lets one sleep.

use js_sys::Int32Array;
use polyflake::{Error, ErrorKind, Result, clock};
use wasm_bindgen::prelude::*;

/// The longest wait by default, in nanoseconds: nothing else runs on the thread meanwhile.
const LONGEST_WAIT: u64 = 10_000_000;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Date)]
    fn now() -> f64;

    /// A function that gives Unix milliseconds.
    #[derive(Clone, Debug)]
    pub type Function;

    /// Its number crosses as it is, so that nothing is allocated.
    #[wasm_bindgen(catch, method)]
    fn call(this: &Function, this_value: &JsValue) -> core::result::Result<f64, JsValue>;

    type SharedArrayBuffer;

    /// Missing in pages that are not isolated.
    #[wasm_bindgen(catch, constructor)]
    fn new(bytes: u32) -> core::result::Result<SharedArrayBuffer, JsValue>;

    /// Refused where a thread must not block.
    #[wasm_bindgen(catch, js_namespace = Atomics)]
    fn wait(
        cell: &Int32Array,
        index: u32,
        value: i32,
        ms: f64,
    ) -> core::result::Result<JsValue, JsValue>;
}

thread_local! {
    /// A cell that nobody wakes.
    static SLEEPER: Option<Int32Array> =
        SharedArrayBuffer::new(4).ok().map(|buffer| Int32Array::new(&buffer));
}

#[derive(Debug)]
pub(crate) enum JsClock {
    System,
    Function(Function),
}

impl JsClock {
    pub(crate) fn new(function: Option<Function>) -> Self {
        function.map_or(Self::System, Self::Function)
    }
}

impl clock::Clock for JsClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        clock::nanos_from_float_ms(match self {
            Self::System => now(),
            Self::Function(function) => function
                .call(&JsValue::UNDEFINED)
                .map_err(|_| Error::new(ErrorKind::ClockFailed))?,
        })
    }

    /// Where the runtime refuses to sleep, this returns at once: the bound on unmoved readings then ends the wait.
    fn sleep(&self, nanos: u64) -> Result<()> {
        #[allow(clippy::cast_precision_loss, reason = "at most 10 ms")]
        let ms = nanos as f64 / 1e6;
        SLEEPER.with(|cell| cell.as_ref().map(|cell| wait(cell, 0, 0, ms)));
        Ok(())
    }

    fn default_max_wait(&self, tick_nanos: u64) -> u64 {
        tick_nanos.min(LONGEST_WAIT)
    }
}
