//! How a refusal gets out: its numbers in the first slots, its texts one after the other among the bytes.
//!
//! Nothing is allocated: where the stack ends, JavaScript may leave a call in the middle, and memory being
//! handed out in that moment would never be right again.

use core::fmt::{self, Write as _};

use polyflake::Error;

use crate::{Scratch, scratch::BYTES};

/// Writes an error: position, retry-at, written and item (NaN where they say nothing), then the lengths of code, field and
/// message (NaN where there is none).
#[cold]
pub(crate) fn write(scratch: &Scratch, error: &Error) {
    // A name of a layout's field may be of any length, and is told whole or not at all; the message has room all the same.
    let name = error.field().filter(|name| name.len() <= BYTES / 2);
    let code = scratch.put_bytes(0, error.code().as_bytes());
    let field = scratch.put_bytes(code, name.unwrap_or_default().as_bytes());
    let mut message = Writer { scratch, start: code + field, length: 0 };
    // Only a full area ends it early, which cuts the message.
    let _ = write!(message, "{error}");
    scratch.put_numbers([
        number(error.position()),
        error.retry_at().map_or(f64::NAN, milliseconds),
        number(error.written()),
        number(error.item()),
        length(code),
        name.map_or(f64::NAN, |_| length(field)),
        length(message.length),
    ]);
}

/// Writes a text among the bytes.
struct Writer<'a> {
    scratch: &'a Scratch,
    start: usize,
    length: usize,
}

impl fmt::Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let written = self.scratch.put_bytes(self.start + self.length, text.as_bytes());
        self.length += written;
        if written == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

fn number(value: Option<usize>) -> f64 {
    value.map_or(f64::NAN, length)
}

#[allow(clippy::cast_precision_loss, reason = "positions and lengths are far below 2^53")]
fn length(value: usize) -> f64 {
    value as f64
}

#[allow(clippy::cast_precision_loss, reason = "every format's time ends below 2^53 ms")]
fn milliseconds(unix_ms: i64) -> f64 {
    unix_ms as f64
}
