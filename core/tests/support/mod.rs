//! Helpers shared by the core crate's tests: test vectors, and clocks that follow a script.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use polyflake::{
    Error, ErrorKind, Result,
    clock::{Clock, ClockInfo},
};
use serde_json::Value;

/// Reads one of the repository's test vector files.
#[track_caller]
pub fn vectors(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors").join(name);
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

/// Reads one of the repository's test vector files and deserializes it as the type `T`.
#[track_caller]
pub fn typed_vectors<T: serde::de::DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(vectors(name)).unwrap()
}

/// Returns the number of times to repeat a test. The argument is the number without Miri. Under Miri, a thousandth of that
/// number is returned, because Miri is about a thousand times slower.
pub const fn rounds(natively: usize) -> usize {
    if cfg!(miri) { natively.div_ceil(1000) } else { natively }
}

/// The length of an input that is much longer than any valid input.
pub const LONG_INPUT: usize = if cfg!(miri) { 1000 } else { 1 << 20 };

/// Returns the step for an iterator, which is `n` under Miri and 1 otherwise.
pub const fn miri_step(n: usize) -> usize {
    if cfg!(miri) { n } else { 1 }
}

/// Returns the result that this library must produce for a test case. This is the `ours` member of the test case if it has
/// one, or the test case itself otherwise.
pub fn expected_result(case: &Value) -> &Value {
    case.get("ours").unwrap_or(case)
}

/// Decodes bytes from hexadecimal.
pub fn unhex<const N: usize>(hex: &str) -> [u8; N] {
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    bytes.try_into().unwrap()
}

/// Encodes bytes as hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(digit.into(), 16).unwrap())
        .collect()
}

/// Asserts that a call failed with the given code, and returns the error.
#[track_caller]
pub fn assert_code<T>(result: Result<T>, code: &str) -> Error {
    let Err(error) = result else { panic!("expected {code}, found a value") };
    assert_eq!(error.code(), code, "{error}");
    error
}

type ReadingHook = Box<dyn FnOnce() + Send>;

/// A clock that shows scripted readings one after another and repeats the last reading. A hook can run during a reading, to
/// simulate another thread.
#[derive(Clone, Default)]
pub struct ScriptedClock(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    readings: VecDeque<i64>,
    last: i64,
    inside: Option<(usize, ReadingHook)>,
    pub slept: u64,
}

impl ScriptedClock {
    pub fn set_readings(&self, unix_ms: impl IntoIterator<Item = i64>) {
        self.0.lock().unwrap().readings = unix_ms.into_iter().map(|ms| ms * 1_000_000).collect();
    }

    /// Runs `hook` during the clock reading that follows the next `skip` readings.
    pub fn run_inside_reading(&self, skip: usize, hook: impl FnOnce() + Send + 'static) {
        self.0.lock().unwrap().inside = Some((skip, Box::new(hook)));
    }

    pub fn slept_nanos(&self) -> u64 {
        self.0.lock().unwrap().slept
    }
}

impl Clock for ScriptedClock {
    fn unix_nanos(&self) -> Result<i64> {
        let hook = {
            let mut script = self.0.lock().unwrap();
            match script.inside.take() {
                Some((0, hook)) => Some(hook),
                Some((skip, hook)) => {
                    script.inside = Some((skip - 1, hook));
                    None
                }
                None => None,
            }
        };
        if let Some(hook) = hook {
            hook();
        }
        let mut script = self.0.lock().unwrap();
        if let Some(next) = script.readings.pop_front() {
            script.last = next;
        }
        Ok(script.last)
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        self.0.lock().unwrap().slept += nanos;
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// A clock whose readings come from a function.
pub struct ReadingsClock<F>(pub F);

impl<F: Fn() -> Result<i64>> Clock for ReadingsClock<F> {
    fn unix_nanos(&self) -> Result<i64> {
        (self.0)()
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// A clock that does not advance and declares the given resolution, in nanoseconds.
pub struct CoarseClock(pub u64);

impl Clock for CoarseClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(1_763_650_000_000_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true).resolution(Duration::from_nanos(self.0))
    }
}

/// A clock that always fails.
pub struct BrokenClock;

impl Clock for BrokenClock {
    fn unix_nanos(&self) -> Result<i64> {
        Err(Error::new(ErrorKind::ClockFailed))
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}
