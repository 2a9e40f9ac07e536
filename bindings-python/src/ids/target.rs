//! Buffers that the caller owns, to be filled with IDs.
#![allow(unsafe_code, reason = "a buffer is a pointer and a length")]

use polyflake::Error;
use pyo3::{buffer::PyUntypedBuffer, prelude::*};

use super::{
    array::{NATIVE, Plain},
    convert::{has_buffer, mistyped, multiple, raise_named, wrong_kind, wrong_type},
    integers::{INTEGERS, buffer_of, is_integer},
    memory::{Written, room_for},
};
use crate::errors::detached;

/// The parameter of every method that fills.
const NAME: &str = "buffer";

/// So many bytes of IDs fit the processor's nearest memory.
const BLOCK: usize = 1 << 15;

/// A writable buffer in one piece.
///
/// While a clock is asked or a call waits, other code of Python's may read and write it. So no reference leads there: IDs
/// are made in memory of our own, block by block, and copied.
pub(crate) struct Target {
    buffer: PyUntypedBuffer,
    /// Bytes of an ID.
    row: usize,
}

/// What an ID is in a buffer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Item {
    /// A signed 64-bit integer.
    Integer,
    /// So many bytes.
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

    /// Refuses a buffer of anything else, and one that does not hold whole IDs.
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

    /// Fills it with IDs by a function that writes as many as there is room for, or fewer and then no more, and returns how many;
    /// other threads run meanwhile. An error that says how many IDs were made before says how many are in the buffer.
    pub(crate) fn fill<T: Plain + Send, W: Written>(
        &self,
        py: Python<'_>,
        refused: impl FnOnce(Error) -> PyErr,
        make: impl Fn(&mut [T]) -> polyflake::Result<W> + Send,
    ) -> PyResult<usize> {
        let at_once = self.count().min((BLOCK / self.row).max(1));
        let mut block = room_for(at_once * self.row / size_of::<T>())?;
        detached(py, || self.fill_by(&mut block, make)).map_err(refused)
    }

    /// How many IDs it holds.
    fn count(&self) -> usize {
        self.buffer.len_bytes() / self.row
    }

    fn fill_by<T: Plain, W: Written>(
        &self,
        block: &mut [T],
        make: impl Fn(&mut [T]) -> polyflake::Result<W>,
    ) -> polyflake::Result<usize> {
        let items = self.row / size_of::<T>();
        let mut written = 0;
        while written < self.count() {
            let most = (block.len() / items).min(self.count() - written);
            let made = make(&mut block[..most * items]).map(|made| made.of(most));
            let whole =
                made.as_ref().map_or_else(|error| error.written().unwrap_or(0), |&made| made);
            self.put(written, &block[..whole * items]);
            written += whole;
            made.map_err(|error| match error.written() {
                Some(_) => error.after_writing(written),
                None => error,
            })?;
            if whole < most {
                break;
            }
        }
        Ok(written)
    }

    /// Copies IDs to those places that follow so many others.
    fn put<T: Plain>(&self, others: usize, ids: &[T]) {
        let (place, bytes) = (others * self.row, size_of_val(ids));
        assert!(place + bytes <= self.buffer.len_bytes());
        // SAFETY: the buffer is held, so it stays where it is and as long as it is; it is writable and C-contiguous, and the bytes lie
        // within it, as was just checked. `T` is `Plain`: all of its bytes are initialised. What other threads write there at the
        // same time is as undefined as for `readinto` of Python's own files, which releases the interpreter too.
        unsafe {
            let start = self.buffer.buf_ptr().cast::<u8>().add(place);
            ids.as_ptr().cast::<u8>().copy_to_nonoverlapping(start, bytes);
        }
    }
}
