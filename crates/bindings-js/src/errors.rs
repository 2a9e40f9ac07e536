//! Writes an error to the scratch area for JavaScript. The error's numbers are written into the answer registers, and its
//! strings are written into the area's bytes, one after another.
//!
//! This code does not allocate. If the stack overflows, JavaScript may abandon a call halfway. An interrupted allocation
//! would leave the allocator's lists inconsistent for the rest of the module's lifetime.

use core::fmt::{self, Write};

use polyflake::Error;

use crate::{Scratch, protocol::BYTES};

/// Writes an error. `Machine.#error` in TypeScript reads its numbers in this order.
#[cold]
pub(crate) fn write(scratch: &Scratch, error: &Error) {
    // The name of a layout's field may have any length. The name is written in full or not at all, so that there is room
    // for the message.
    let name = error.field().filter(|name| name.len() <= BYTES / 2);
    let code = scratch.put_bytes(0, error.code().as_bytes());
    let field = scratch.put_bytes(code, name.unwrap_or_default().as_bytes());
    let mut message = Writer { scratch, start: code + field, length: 0 };
    // A write fails only when the area is full. The message is then truncated.
    let _ = write!(message, "{error}");
    let numbers = [
        optional_to_f64(error.position()),
        error.retry_at().map_or(f64::NAN, ms_to_f64),
        optional_to_f64(error.written()),
        optional_to_f64(error.item()),
        usize_to_f64(code),
        name.map_or(f64::NAN, |_| usize_to_f64(field)),
        usize_to_f64(message.length),
        error.may_succeed_with_another_grant().into(),
    ];
    scratch.put_results(&numbers);
}

/// A writer that writes a string into the scratch area's bytes.
struct Writer<'a> {
    scratch: &'a Scratch,
    start: usize,
    length: usize,
}

impl Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let written = self.scratch.put_bytes(self.start + self.length, text.as_bytes());
        self.length += written;
        if written == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

fn optional_to_f64(value: Option<usize>) -> f64 {
    value.map_or(f64::NAN, usize_to_f64)
}

#[allow(clippy::cast_precision_loss, reason = "positions and lengths are far below 2^53")]
fn usize_to_f64(value: usize) -> f64 {
    value as f64
}

#[allow(clippy::cast_precision_loss, reason = "every format's time ends below 2^53 ms")]
fn ms_to_f64(unix_ms: i64) -> f64 {
    unix_ms as f64
}
