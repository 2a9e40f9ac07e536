//! The lease rules as a wasm module without imports. Each instance manages one lease.
//!
//! Strings pass through one memory area in both directions. JavaScript calls `room` to reserve space for a string, writes
//! the string there, and passes its length to a function. The function returns the length of its answer, which JavaScript
//! then reads at `room(0)`. Times are Unix milliseconds, or milliseconds of a monotonic clock. For [`next`], the random
//! bytes precede the string.
#![allow(unsafe_code, reason = "exports have names of their own")]

use std::cell::RefCell;

use polyflake::fork;
use polyflake_lease::{
    Error, ErrorKind, Result,
    protocol::{
        Moment, Random,
        hosted::{Hosted, LeaseUrl, RANDOMS},
        steps::{check_file_system, check_single_path, file_error, name_of_file},
    },
};
use serde_json::{Value, json};

/// The number of random bytes that precede the string passed to [`next`].
const ENTROPY_BYTES: usize = 16 * RANDOMS;

thread_local! {
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static LEASE: RefCell<Option<Hosted>> = const { RefCell::new(None) };
}

/// Reserves space for a string of at least `length` bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        if text.len() < length {
            text.resize(length, 0);
        }
        text.as_mut_ptr()
    })
}

/// Parses the URL of a lease from `{"url":..,"namespace":..}`, or from
/// `{"variables":[POLYFLAKE_LEASE,POLYFLAKE_WORKER_ID],"namespace":..}`. All values except the URL may be null.
#[unsafe(no_mangle)]
pub extern "C" fn lease_url(length: usize) -> usize {
    answer(&take_string(length), |asked| {
        let namespace = asked["namespace"].as_str();
        let lease_url = match &asked["variables"] {
            Value::Array(values) => {
                LeaseUrl::of_variables(values[0].as_str(), values[1].as_str(), namespace)
            }
            _ => LeaseUrl::parse(asked["url"].as_str().unwrap_or_default(), namespace),
        };
        lease_url?.to_json()
    })
}

/// Returns the name that identifies a file. The file is described as
/// `{"inode":TEXT,"birth":TEXT,"links":NUMBER,"mount":BOOLEAN,"system":NUMBER,"allows_overlayfs":BOOLEAN}`. The birth time
/// is in Unix milliseconds, or null. `links` is the number of hard links, and `mount` states whether the file is a mount
/// point of its own. The file system's number is present only on Linux. With `"folder":true`, only the file system is checked, and the
/// result is null. If a file could not be opened, `{"error":TEXT}` gives the name of the error, such as `ENOENT`.
#[unsafe(no_mangle)]
pub extern "C" fn name(length: usize) -> usize {
    answer(&take_string(length), |facts| {
        if let Some(code) = facts["error"].as_str() {
            return Err(file_error(code));
        }
        let number = facts["system"].as_u64().and_then(|number| u32::try_from(number).ok());
        let allows_overlayfs = facts["allows_overlayfs"] == true;
        number.map_or(Ok(()), |number| check_file_system(number, allows_overlayfs))?;
        if facts["folder"] == true {
            return Ok("null".to_owned());
        }
        check_single_path(facts["links"].as_u64().unwrap_or(1), facts["mount"] == true)?;
        let inode = facts["inode"].as_str().and_then(|inode| inode.parse().ok());
        // Fail instead of inventing an inode number, because two files with the same number would be treated as one store.
        let none = || Error::new(ErrorKind::StoreNotDurable, "expected a file's inode, found none");
        Ok(json!(name_of_file(inode.ok_or_else(none)?, facts["birth"].as_str())?).to_string())
    })
}

/// Starts the lease with the given settings. Returns how long a caller waits for the first worker ID, in milliseconds.
#[unsafe(no_mangle)]
pub extern "C" fn begin(length: usize) -> usize {
    answer(&take_string(length), |settings| {
        let lease = Hosted::new(&settings.to_string())?;
        let wait_ms = lease.wait_ms();
        LEASE.set(Some(lease));
        Ok(wait_ms.to_string())
    })
}

/// Reads the random bytes and the outcome of the last command, and returns the next command.
#[unsafe(no_mangle)]
pub extern "C" fn next(length: usize, wall_ms: f64, elapsed_ms: f64) -> usize {
    let bytes = take_string(length);
    let (entropy, text) = bytes.split_at(ENTROPY_BYTES.min(length));
    let now = Moment { wall_ms: to_ms(wall_ms), elapsed_ms: to_ms(elapsed_ms) };
    let mut numbers = entropy.chunks_exact(16).map(|bytes| bytes.try_into().unwrap_or_default());
    let random =
        [(); RANDOMS].map(|()| Random(u128::from_le_bytes(numbers.next().unwrap_or_default())));
    let text = str::from_utf8(text).unwrap_or_default();
    with_hosted(|lease| lease.next(now, random, text))
}

/// Reports that the process was restored from an image of its memory. The next call to `next` then abandons the lease.
#[unsafe(no_mangle)]
pub extern "C" fn restored() {
    fork::record_restore();
}

/// Begins to release the worker ID.
#[unsafe(no_mangle)]
pub extern "C" fn close() {
    LEASE.with_borrow_mut(|lease| lease.as_mut().map(Hosted::close));
}

/// Returns the lease's status.
#[unsafe(no_mangle)]
pub extern "C" fn status(wall_ms: f64) -> usize {
    with_hosted(|lease| lease.status(to_ms(wall_ms)))
}

/// Returns the reason why no ID is available now.
#[unsafe(no_mangle)]
pub extern "C" fn reason(wall_ms: f64) -> usize {
    with_hosted(|lease| lease.reason(to_ms(wall_ms)))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are positive")]
const fn to_ms(ms: f64) -> u64 {
    ms as u64
}

/// Returns the string that JavaScript wrote, and erases it, because settings may contain a secret.
fn take_string(length: usize) -> Vec<u8> {
    TEXT.with_borrow_mut(|text| {
        let taken = text[..length].to_vec();
        text[..length].fill(0);
        taken
    })
}

/// Parses a JSON string, and returns the result of `call`. Returns `{"rejected":{"code":..,"message":..}}` if the call
/// fails.
fn answer(text: &[u8], call: impl FnOnce(&Value) -> Result<String>) -> usize {
    let asked = serde_json::from_slice(text).unwrap_or_default();
    store_reply(call(&asked).unwrap_or_else(|error| error_json(&error)))
}

fn error_json(error: &Error) -> String {
    json!({ "rejected": { "code": error.code(), "message": error.to_string() } }).to_string()
}

fn with_hosted(call: impl FnOnce(&mut Hosted) -> String) -> usize {
    LEASE.with_borrow_mut(|lease| lease.as_mut().map_or(0, |lease| store_reply(call(lease))))
}

fn store_reply(answer: String) -> usize {
    let length = answer.len();
    TEXT.set(answer.into_bytes());
    length
}
