//! Clocks that call JavaScript, because the module has no system calls. A clock calls either `Date.now`, as it was at
//! import time, or a caller's function. A waiting call sleeps if the runtime allows it.
//!
//! Calling JavaScript from the module to get the time takes 13 ns longer than reading the time in the script. So for calls
//! that generate one ID, the script reads `Date.now` just before the call and passes the clock reading in the scratch area.
//! The clock returns that reading once. If the same call reads the clock again, for example after a wait, the module calls
//! JavaScript. Each call sets or clears the passed time, so the time is never older than the call.

use alloc::rc::Rc;
use core::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use polyflake::{
    Error, ErrorKind, Result,
    clock::{self, Clock, ClockInfo, Stall},
    fork::partitions::FindTable,
};
use polyflake_js::Host;
use wasm_bindgen::prelude::*;

use crate::{keys, table};

/// The unit of `Date.now` and of callers' clocks.
const MILLISECOND: Duration = Duration::from_millis(1);

#[wasm_bindgen(module = "/src/host.js")]
extern "C" {
    /// Stores a generator's clock functions and returns the clock's number. In the package, a script calls this function.
    /// It is exported only for tests.
    pub fn keep(clock: &JsValue) -> u32;

    fn forget(clock: u32);
    fn read(clock: u32) -> f64;
    fn stalled(clock: u32, reason: u32, unix_ms: f64, calls: u32, slept_ms: u32) -> u32;
    fn sleep(ms: f64);
    fn sleeps() -> u32;
    fn elapsed() -> f64;
    fn step() -> u32;
}

/// The time of the call in Unix milliseconds, as the bits of a float, or 0 if no time was passed. The module has only one
/// thread, so the type is atomic only because a static must be `Sync`.
static CALL_TIME: AtomicU64 = AtomicU64::new(0);
/// `true` if some of the module's calls receive the time.
const HAS_CALL_TIME: bool = cfg!(feature = "call-time");

/// Sets the system clock's first reading for the call that begins now, or clears it if the argument is 0. No other code can
/// run between the reading and the call.
#[inline]
pub(crate) fn set_call_time(unix_ms: f64) {
    if HAS_CALL_TIME {
        CALL_TIME.store(unix_ms.to_bits(), Ordering::Relaxed);
    }
}

/// Returns the time that was passed and clears it, or returns 0 if no time was passed.
#[inline]
fn take_call_time() -> f64 {
    let unix_ms =
        if HAS_CALL_TIME { f64::from_bits(CALL_TIME.load(Ordering::Relaxed)) } else { 0.0 };
    set_call_time(0.0);
    unix_ms
}

/// A clock, identified by its number in `host.js`. The system clock has the number 0.
#[derive(Debug)]
pub(crate) struct JsClock(pub(crate) u32);

impl Clock for JsClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        // Consume the passed time even if this is a caller's clock, so that no later reading in the same call can use it.
        let call_time = take_call_time();
        let is_passed = self.is_system() && call_time > 0.0;
        clock::nanos_from_float_ms(if is_passed { call_time } else { read(self.0) })
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        #[allow(clippy::cast_precision_loss, reason = "at most 10 ms")]
        sleep(nanos as f64 / 1e6);
        Ok(())
    }

    fn info(&self) -> ClockInfo {
        // The generator's option determines whether the first tick is skipped, because only TypeScript can identify the
        // platform.
        let mut info = ClockInfo::new();
        info.unit = MILLISECOND;
        // `step` detected a step size in past readings. Only the system clock is known to keep that step size.
        info.step = if self.is_system() { MILLISECOND * step() } else { Duration::ZERO };
        info.spins = sleeps() == 0;
        info.in_event_loop = true;
        info
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    fn monotonic(&self) -> Option<Duration> {
        let ms = elapsed();
        (ms >= 0.0).then_some(Duration::from_nanos((ms * 1e6) as u64))
    }

    #[allow(clippy::cast_precision_loss, reason = "a reading that was a float")]
    fn stalled(&self, stall: &Stall) -> Result<()> {
        let Stall { reason, unix_ms, stalled: calls, slept_ms, .. } = *stall;
        let reason = u32::from(reason == ErrorKind::ClockBehind);
        match stalled(self.0, reason, unix_ms as f64, calls, slept_ms) {
            0 => Err(Error::new(ErrorKind::ClockFailed)),
            _ => Ok(()),
        }
    }
}

impl Drop for JsClock {
    fn drop(&mut self) {
        forget(self.0);
    }
}

impl Host for JsClock {
    type Shared<G> = Rc<G>;
    /// A wasm instance has one thread, whose generators are shared in TypeScript.
    type SharingKey = ();

    fn take_sharing_key(&mut self) {}

    fn get_or_build<G: Send + Sync + 'static>(
        (): (),
        _: fn(&G) -> bool,
        build: impl FnOnce() -> Result<G>,
    ) -> Result<Rc<G>> {
        build().map(Rc::new)
    }

    fn system() -> Self {
        Self(0)
    }

    fn is_system(&self) -> bool {
        self.0 == 0
    }

    fn table_finder(_is_lent: bool) -> FindTable {
        table::find_lent
    }

    fn key() -> Result<[u8; 32]> {
        keys::key()
    }
}
