//! Texts of one width in buffers, as in `NumPy` arrays.
#![allow(unsafe_code, reason = "a buffer is a pointer and a length")]

use std::{borrow::Cow, ops::Range, slice};

use polyflake::Error;
use pyo3::{
    buffer::PyUntypedBuffer,
    exceptions::{PyBufferError, PyTypeError, PyValueError},
    ffi, intern,
    prelude::*,
    types::{PyBytes, PyMemoryView},
};

use super::{
    array::NATIVE,
    column::{COLUMN, Chars, NAME, Texts, Textual, decoded, gather, placed, text_in, unpadded},
    convert::{multiple, raise_named, wrong_kind},
    integers::buffer_of,
};

/// The content of a row.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// Bytes without padding.
    Byte,
    /// Bytes, padded with NULs: `NumPy`'s `S`.
    PaddedByte,
    /// Characters of 4 bytes, padded with NULs: `NumPy`'s `U`.
    PaddedChar,
}

/// Texts in a buffer. If other code may write to it meanwhile, they are copied first.
pub(super) struct Rows<'py> {
    memory: Memory<'py>,
    /// Bytes of a row.
    width: usize,
    unit: Unit,
}

enum Memory<'py> {
    /// A buffer in one piece.
    InPlace(PyUntypedBuffer),
    Copied(Bound<'py, PyBytes>),
}

impl Unit {
    /// The unit of a buffer with this format and number of dimensions, if it holds texts.
    fn of(format: &str, dimensions: usize) -> Option<Self> {
        let kind =
            format.trim_start_matches(NATIVE).trim_start_matches(|c: char| c.is_ascii_digit());
        match (kind, dimensions) {
            ("s", 1) => Some(Self::PaddedByte),
            ("w", 1) => Some(Self::PaddedChar),
            ("B" | "c", 1 | 2) => Some(Self::Byte),
            _ => None,
        }
    }
}

impl<'py> Rows<'py> {
    /// The texts of a value's buffer; `None` if it has no buffer, or a buffer of Python objects.
    pub(super) fn of(value: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        // SAFETY: the value is alive.
        if unsafe { ffi::PyObject_CheckBuffer(value.as_ptr()) } == 0 {
            return Ok(None);
        }
        let buffer = match buffer_of(value) {
            Ok(Some(buffer)) => buffer,
            Ok(None) => return Ok(None),
            // `NumPy` refuses the buffers of some kinds of arrays.
            Err(raised) if is_refusal(&raised, value)? => return Ok(None),
            Err(raised) => return Err(raised),
        };
        let format = buffer.format().to_string_lossy();
        if format == "O" {
            return Ok(None);
        }
        let Some(unit) = Unit::of(&format, buffer.dimensions()) else {
            let found = format!("a buffer of format {format}, {} dimensions", buffer.dimensions());
            return Err(wrong_kind(NAME, COLUMN, &found));
        };
        let width = width_of(&buffer, unit).map_err(|error| raise_named(error, NAME))?;
        let memory = if buffer.is_c_contiguous() {
            Memory::InPlace(buffer)
        } else {
            let bytes = PyMemoryView::from(value)?.call_method0(intern!(value.py(), "tobytes"))?;
            Memory::Copied(bytes.cast_into()?)
        };
        Ok(Some(Self { memory, width, unit }))
    }

    fn bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::InPlace(buffer) if buffer.len_bytes() == 0 => &[],
            // SAFETY: the buffer is held and C-contiguous: it has this many bytes, and any bytes are valid.
            Memory::InPlace(buffer) => unsafe {
                slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes())
            },
            Memory::Copied(bytes) => bytes.as_bytes(),
        }
    }

    fn row(&self, index: usize) -> &[u8] {
        &self.bytes()[index * self.width..][..self.width]
    }

    /// The text of a row, padded; characters past ASCII become a byte that no format allows.
    fn chars<I: Textual>(&self, index: usize) -> Option<Chars> {
        let row = self.row(index);
        match self.unit {
            Unit::Byte => placed::<I>(text_in::<I>(row)),
            Unit::PaddedByte => placed::<I>(unpadded(row, 0)),
            Unit::PaddedChar => {
                let (text, mut narrow) = (unpadded(row.as_chunks().0, [0; 4]), Chars::default());
                for (place, char) in narrow.get_mut(..text.len())?.iter_mut().zip(text) {
                    *place = u8::try_from(u32::from_ne_bytes(*char)).unwrap_or(u8::MAX);
                }
                placed::<I>(&narrow[..text.len()])
            }
        }
    }
}

/// Returns `true` for an error of a value that does not give access to its memory but can be iterated.
fn is_refusal(raised: &PyErr, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let is_refusal = raised.is_instance_of::<PyValueError>(py)
        || raised.is_instance_of::<PyBufferError>(py)
        || raised.is_instance_of::<PyTypeError>(py);
    Ok(is_refusal && value.get_type().hasattr(intern!(py, "__iter__"))?)
}

/// Bytes of a row.
fn width_of(buffer: &PyUntypedBuffer, unit: Unit) -> polyflake::Result<usize> {
    const WIDTH: usize = size_of::<Chars>();
    let wrong = |found| Err(Error::invalid_length(found, WIDTH, WIDTH));
    match buffer.shape() {
        _ if unit != Unit::Byte => Ok(buffer.item_size()),
        [_, width] if *width != WIDTH => wrong(*width),
        [bytes] if bytes % WIDTH != 0 => Err(multiple(NAME, WIDTH, *bytes)),
        _ => Ok(WIDTH),
    }
}

impl<I: Textual> Texts<I> for Rows<'_> {
    fn len(&self) -> usize {
        self.bytes().len().checked_div(self.width).unwrap_or(0)
    }

    fn read(&self, range: Range<usize>, room: &mut [Chars], ids: &mut [I]) -> usize {
        if self.width != size_of::<Chars>() || self.unit == Unit::PaddedChar {
            return gather(range, room, ids, |index| self.chars::<I>(index));
        }
        let texts = &self.bytes().as_chunks().0[range];
        if cfg!(not(Py_GIL_DISABLED)) {
            return decoded(texts, ids); // nobody else writes while this thread has the interpreter
        }
        room.copy_from_slice(texts);
        decoded(room, ids)
    }

    fn item(&self, index: usize) -> Cow<'_, [u8]> {
        let row = self.row(index);
        match self.unit {
            Unit::Byte => text_in::<I>(row).into(),
            Unit::PaddedByte => unpadded(row, 0).into(),
            Unit::PaddedChar => {
                let chars = unpadded(row.as_chunks().0, [0; 4]).iter();
                let chars = chars.map(|char| char::from_u32(u32::from_ne_bytes(*char)));
                let text = chars.map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER));
                text.collect::<String>().into_bytes().into()
            }
        }
    }
}
