//! Callers' buffers, which are filled with IDs.
//!
//! A buffer stays exported during a call, so it cannot be moved or resized, but other Python code may read and write it.
//! Therefore no Rust reference to the buffer's memory may exist while this thread is detached from the interpreter. The IDs
//! are generated in separate memory, and each block is copied to the buffer through a raw pointer (`making.rs`).
#![allow(unsafe_code, reason = "a buffer is a pointer and a length")]

use std::ops::Range;

use polyflake::{Error, fork};
use polyflake_columns::Plain;
use pyo3::{buffer::PyUntypedBuffer, prelude::*};

use super::{
    array::NATIVE_PREFIXES,
    convert::{
        has_buffer, raise_named, uneven_length_error, wrong_kind_exception, wrong_type_error,
        wrong_type_exception,
    },
    integers::{INTEGERS, describe_buffer, get_buffer, is_integer},
};
use crate::generators::{clock::SignalChecker, making::Rows};

/// The name of the buffer parameter in every method that fills a buffer.
const NAME: &str = "buffer";

/// A writable, contiguous buffer.
pub(crate) struct Target {
    buffer: PyUntypedBuffer,
    /// The number of bytes in an ID.
    row: usize,
}

/// The type of an ID in a buffer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Item {
    /// A signed 64-bit integer.
    Integer,
    /// A byte string of this size.
    Bytes(usize),
}

impl Item {
    /// Returns the number of bytes in an ID.
    pub(crate) const fn byte_size(self) -> usize {
        match self {
            Self::Integer => size_of::<i64>(),
            Self::Bytes(size) => size,
        }
    }

    /// Returns the number of IDs in a block of at most `bytes` bytes, but at least 1.
    pub(crate) fn ids_per_block(self, bytes: usize) -> usize {
        (bytes / self.byte_size()).max(1)
    }

    fn expected_type(self) -> &'static str {
        match self {
            Self::Integer => INTEGERS,
            Self::Bytes(_) => "a buffer of bytes",
        }
    }

    /// Rejects a buffer whose items have the wrong type, and a buffer that does not contain a whole number of IDs. `name` is
    /// the name of the parameter.
    pub(crate) fn check(self, buffer: &PyUntypedBuffer, name: &str) -> polyflake::Result<()> {
        let format = buffer.format().to_string_lossy();
        let kind = format.trim_start_matches(NATIVE_PREFIXES);
        let reject_type =
            || Err(wrong_type_error(name, self.expected_type(), &describe_buffer(buffer)));
        let Self::Bytes(size) = self else {
            let fits = is_integer(kind, buffer.item_size());
            return if fits { Ok(()) } else { reject_type() };
        };
        let length = match (kind.trim_start_matches(|c: char| c.is_ascii_digit()), buffer.shape()) {
            // The `S` and `V` types of `NumPy`.
            ("s" | "x", _) => buffer.item_size(),
            ("B" | "b" | "c", [bytes]) if bytes % size == 0 => size,
            ("B" | "b" | "c", [bytes]) => return Err(uneven_length_error(name, size, *bytes)),
            ("B" | "b" | "c", [.., row]) => *row,
            _ => return reject_type(),
        };
        if length == size { Ok(()) } else { Err(Error::invalid_length(length, size, size)) }
    }
}

impl Target {
    /// Checks that a value is a buffer for IDs, and returns the buffer.
    pub(crate) fn from_value(value: &Bound<'_, PyAny>, item: Item) -> PyResult<Self> {
        const EXPECTED: &str = "a writable buffer";
        if !has_buffer(value) {
            return Err(wrong_type_exception(NAME, EXPECTED, value));
        }
        let Some(buffer) = get_buffer(value)? else {
            return Err(wrong_type_exception(NAME, EXPECTED, value));
        };
        if buffer.readonly() {
            return Err(wrong_kind_exception(NAME, EXPECTED, "a read-only one"));
        }
        if !buffer.is_c_contiguous() {
            return Err(wrong_kind_exception(NAME, "a buffer in one piece", "a strided one"));
        }
        item.check(&buffer, NAME).map_err(|error| raise_named(error, NAME))?;
        Ok(Self { buffer, row: item.byte_size() })
    }

    /// Returns the number of IDs that fit in the buffer.
    pub(crate) fn count(&self) -> usize {
        self.buffer.len_bytes() / self.row
    }

    /// Copies IDs into the buffer, after its first `others` IDs.
    pub(crate) fn write_ids<T: Plain>(&self, others: usize, ids: &[T]) {
        let (place, bytes) = (others * self.row, size_of_val(ids));
        assert!(place + bytes <= self.buffer.len_bytes());
        // SAFETY: the buffer is held, so its address and length do not change. It is writable and C-contiguous, and the
        // check above ensures that the bytes lie within it. `T` is `Plain`, so all of its bytes are initialized. If other
        // threads write to the buffer at the same time, its content is unspecified. The same applies to the `readinto`
        // method of Python's file objects, which also releases the GIL.
        unsafe {
            let start = self.buffer.buf_ptr().cast::<u8>().add(place);
            ids.as_ptr().cast::<u8>().copy_to_nonoverlapping(start, bytes);
        }
    }
}

/// The progress of a batch that is generated in blocks.
///
/// A child process that is forked in the middle of a batch has a copy of the blocks that its parent generated. Therefore
/// the child starts over.
pub(crate) struct FillProgress {
    all: usize,
    written: usize,
    /// Whether a block was filled only in part, because no more IDs were available.
    is_short: bool,
    process: u32,
}

impl FillProgress {
    pub(crate) fn new(all: usize) -> Self {
        Self { all, written: 0, is_short: false, process: fork::process() }
    }

    /// Returns the positions of the next block, which contains at most `most` IDs.
    pub(crate) fn next(&self, most: usize) -> Option<Range<usize>> {
        let end = self.all.min(self.written.saturating_add(most));
        (self.written < end && !self.is_short).then_some(self.written..end)
    }

    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// Checks for signals between two blocks.
    pub(crate) fn check_signals(&self, signals: &mut SignalChecker) -> polyflake::Result<()> {
        if self.written < self.all { signals.run_handlers() } else { Ok(()) }
    }

    /// Copies the IDs of a block to their positions in a buffer, and counts them.
    pub(crate) fn copy_and_count(
        &mut self,
        made: polyflake::Result<usize>,
        places: Range<usize>,
        rows: &dyn Rows,
        target: &Target,
    ) -> polyflake::Result<()> {
        rows.copy(written(&made), target, places.start);
        self.count_written(made, places)
    }

    /// Counts the IDs in a block. If the block failed, adds the number of IDs in earlier blocks to the error's count of
    /// written IDs.
    pub(crate) fn count_written(
        &mut self,
        made: polyflake::Result<usize>,
        places: Range<usize>,
    ) -> polyflake::Result<()> {
        let whole = written(&made);
        if self.process == fork::process() {
            self.written += whole;
            self.is_short = whole < places.len();
        } else {
            *self = Self::new(self.all);
        }
        made.map(drop).map_err(|error| match error.written() {
            Some(_) => error.after_writing(self.written),
            None => error,
        })
    }
}

/// Returns the number of IDs generated in a block, including those generated before an error.
fn written(made: &polyflake::Result<usize>) -> usize {
    made.as_ref().map_or_else(|error| error.written().unwrap_or(0), |&made| made)
}
