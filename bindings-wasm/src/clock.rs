//! Clocks in JavaScript, where no system calls exist: `Date.now` as it was at the import, or a function. Calls sleep if the
//! runtime allows it.

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

/// `Date.now` and callers' clocks count milliseconds.
const MILLISECOND: Duration = Duration::from_millis(1);

#[wasm_bindgen(module = "/src/host.js")]
extern "C" {
    /// Keeps a generator's functions. Exported for tests: in the package, a script calls it.
    pub fn keep(clock: &JsValue) -> u32;

    fn forget(clock: u32);
    fn read(clock: u32) -> f64;
    fn stalled(clock: u32, reason: u32, unix_ms: f64, calls: u32, slept_ms: u32) -> u32;
    fn sleep(ms: f64);
    fn sleeps() -> u32;
    fn elapsed() -> f64;
    fn step() -> u32;
}

/// The time of the call in Unix milliseconds, as the bits of a float, or 0 if no time was passed. The system clock returns it
/// once.
static GIVEN: AtomicU64 = AtomicU64::new(0);
/// `true` if the module has calls that receive the time.
const IS_GIVEN: bool =
    cfg!(any(feature = "sno", feature = "randflake", feature = "hotguid", feature = "uuid7"));

/// Sets the system clock's first reading for the call that begins now, or clears it with 0. Nothing else can run between the
/// reading and the call.
#[inline]
pub(crate) fn give(unix_ms: f64) {
    if IS_GIVEN {
        GIVEN.store(unix_ms.to_bits(), Ordering::Relaxed);
    }
}

/// Takes the time that was passed, or 0 if no time was passed.
#[inline]
fn take() -> f64 {
    let given = if IS_GIVEN { f64::from_bits(GIVEN.load(Ordering::Relaxed)) } else { 0.0 };
    give(0.0);
    given
}

/// A clock, identified by its number in `host.js`. 0 is the system clock.
#[derive(Debug)]
pub(crate) struct JsClock(pub(crate) u32);

impl Clock for JsClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        let given = take();
        let is_given = self.0 == 0 && given > 0.0;
        clock::nanos_from_float_ms(if is_given { given } else { read(self.0) })
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        #[allow(clippy::cast_precision_loss, reason = "at most 10 ms")]
        sleep(nanos as f64 / 1e6);
        Ok(())
    }

    fn info(&self) -> ClockInfo {
        // The generator's option decides about the first tick, because only TypeScript knows the platform.
        let mut info = ClockInfo::new().skips_first_tick(true);
        info.unit = MILLISECOND;
        // Only the system clock is known to keep the step that `step` found in past readings.
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
    fn system() -> Self {
        Self(0)
    }

    fn is_system(&self) -> bool {
        self.0 == 0
    }

    fn table(_is_lent: bool) -> FindTable {
        table::find
    }

    fn key() -> Result<[u8; 32]> {
        keys::key()
    }
}
