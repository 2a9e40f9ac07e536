//! Buffers of the caller, to be filled with IDs.
#![allow(unsafe_code, reason = "a buffer is a pointer and a length")]

use std::ops::Range;

use polyflake::{Error, fork};
use polyflake_columns::Plain;
use pyo3::{buffer::PyUntypedBuffer, prelude::*};

use super::{
    array::NATIVE,
    convert::{has_buffer, mistyped, multiple, raise_named, wrong_kind, wrong_type},
    integers::{INTEGERS, buffer_of, is_integer},
    memory::room_for,
};
use crate::{errors::detached, generators::clock::Signals};

/// The parameter of every method that fills.
const NAME: &str = "buffer";

/// The number of bytes of IDs that fit in the first-level cache.
const BLOCK: usize = 1 << 15;

/// A writable buffer in one piece.
///
/// Other Python code may read and write it while a clock is asked or a call waits. So there is no reference to it: IDs are
/// made in our own memory, block by block, and copied.
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
    /// A number of bytes.
    Bytes(usize),
}

impl Item {
    fn bytes(self) -> usize {
        match self {
            Self::Integer => size_of::<i64>(),
            Self::Bytes(size) => size,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Integer => INTEGERS,
            Self::Bytes(_) => "a buffer of bytes",
        }
    }

    /// Rejects a buffer of anything else, and one that does not consist of whole IDs.
    fn check(self, buffer: &PyUntypedBuffer) -> polyflake::Result<()> {
        let format = buffer.format().to_string_lossy();
        let kind = format.trim_start_matches(NATIVE);
        let found = || format!("one of format {format}, {} dimensions", buffer.dimensions());
        let wrong_type = || Err(mistyped(NAME, self.expected(), &found()));
        let Self::Bytes(size) = self else {
            let fits = is_integer(kind, buffer.item_size());
            return if fits { Ok(()) } else { wrong_type() };
        };
        let length = match (kind.trim_start_matches(|c: char| c.is_ascii_digit()), buffer.shape()) {
            // `NumPy`'s `S` and `V`.
            ("s" | "x", _) => buffer.item_size(),
            ("B" | "b" | "c", [bytes]) if bytes % size == 0 => size,
            ("B" | "b" | "c", [bytes]) => return Err(multiple(NAME, size, *bytes)),
            ("B" | "b" | "c", [.., row]) => *row,
            _ => return wrong_type(),
        };
        if length == size { Ok(()) } else { Err(Error::invalid_length(length, size, size)) }
    }
}

impl Target {
    /// The buffer of a value, for IDs.
    pub(crate) fn of(value: &Bound<'_, PyAny>, item: Item) -> PyResult<Self> {
        const EXPECTED: &str = "a writable buffer";
        if !has_buffer(value) {
            return Err(wrong_type(NAME, EXPECTED, value));
        }
        let Some(buffer) = buffer_of(value)? else {
            return Err(wrong_type(NAME, EXPECTED, value));
        };
        if buffer.readonly() {
            return Err(wrong_kind(NAME, EXPECTED, "a read-only one"));
        }
        if !buffer.is_c_contiguous() {
            return Err(wrong_kind(NAME, "a buffer in one piece", "a strided one"));
        }
        item.check(&buffer).map_err(|error| raise_named(error, NAME))?;
        Ok(Self { buffer, row: item.bytes() })
    }

    /// Fills it with IDs by a function that fills its slice, or writes fewer IDs when there are no more, and returns their
    /// number; other threads run meanwhile. The number of written IDs in an error is the number in the buffer.
    pub(crate) fn fill<T: Plain + Send>(
        &self,
        py: Python<'_>,
        refused: impl FnOnce(Error) -> PyErr,
        make: impl Fn(&mut [T]) -> polyflake::Result<Option<usize>> + Sync,
    ) -> PyResult<usize> {
        let most = (BLOCK / self.row).max(1);
        let mut block = self.block(most)?;
        let fill = || {
            let (mut filling, mut signals) = (Filling::new(self.count()), Signals::default());
            while let Some(places) = filling.next(most) {
                let ids = &mut block[..places.len() * self.row / size_of::<T>()];
                let made = make(ids).map(|made| made.unwrap_or(places.len()));
                self.take(&mut filling, places, ids, made)?;
                filling.look(&mut signals)?;
            }
            Ok(filling.written)
        };
        detached(py, fill).map_err(refused)
    }

    /// Returns memory for a block of at most `most` IDs.
    pub(crate) fn block<T: Plain>(&self, most: usize) -> PyResult<Vec<T>> {
        room_for(self.count().min(most) * self.row / size_of::<T>())
    }

    /// Returns the number of IDs that fit in it.
    pub(crate) fn count(&self) -> usize {
        self.buffer.len_bytes() / self.row
    }

    /// Copies the IDs that were generated in a block to their places.
    pub(crate) fn take<T: Plain>(
        &self,
        filling: &mut Filling,
        places: Range<usize>,
        ids: &[T],
        made: polyflake::Result<usize>,
    ) -> polyflake::Result<()> {
        let whole = written(&made);
        self.put(places.start, &ids[..whole * self.row / size_of::<T>()]);
        filling.wrote(made, places)
    }

    /// Copies IDs to the places that follow `others` IDs.
    fn put<T: Plain>(&self, others: usize, ids: &[T]) {
        let (place, bytes) = (others * self.row, size_of_val(ids));
        assert!(place + bytes <= self.buffer.len_bytes());
        // SAFETY: the buffer is held, so its address and length do not change; it is writable and C-contiguous, and the bytes
        // lie within it, as was just checked. `T` is `Plain`: all of its bytes are initialised. What other threads write there
        // at the same time is as undefined as for `readinto` of Python's own files, which releases the interpreter too.
        unsafe {
            let start = self.buffer.buf_ptr().cast::<u8>().add(place);
            ids.as_ptr().cast::<u8>().copy_to_nonoverlapping(start, bytes);
        }
    }
}

/// A batch that is generated in blocks.
///
/// A child that is forked in its middle has a copy of the blocks that its parent made, so it begins again.
pub(crate) struct Filling {
    all: usize,
    written: usize,
    /// `true` after a block that was not filled: there are no more IDs.
    is_short: bool,
    process: u32,
}

impl Filling {
    pub(crate) fn new(all: usize) -> Self {
        Self { all, written: 0, is_short: false, process: fork::process() }
    }

    /// Returns the places of the next block, of at most `most` IDs.
    pub(crate) fn next(&self, most: usize) -> Option<Range<usize>> {
        let end = self.all.min(self.written.saturating_add(most));
        (self.written < end && !self.is_short).then_some(self.written..end)
    }

    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// Looks for signals between two blocks.
    pub(crate) fn look(&self, signals: &mut Signals) -> polyflake::Result<()> {
        if self.written < self.all { signals.look() } else { Ok(()) }
    }

    /// Counts the IDs of a block. The number of written IDs in an error becomes the number of the whole batch.
    pub(crate) fn wrote(
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

/// Returns the number of IDs that were generated in a block, including those before an error.
fn written(made: &polyflake::Result<usize>) -> usize {
    made.as_ref().map_or_else(|error| error.written().unwrap_or(0), |&made| made)
}
