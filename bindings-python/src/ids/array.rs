//! Many IDs of one size, packed: what the array classes of all families share.

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

use pyo3::{
    exceptions::{PyBufferError, PyIndexError},
    ffi,
    prelude::*,
    types::PySlice,
};

use super::convert::Whole;

/// IDs whose slice in memory is their packed bytes, `SIZE` an ID.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Packed<T, const SIZE: usize> {
    ids: Vec<T>,
    /// As a table of bytes, for exporting: it must live as long as the IDs.
    shape: [ffi::Py_ssize_t; 2],
    strides: [ffi::Py_ssize_t; 2],
}

/// What an index or a slice gives.
pub(crate) enum At<T> {
    One(T),
    Many(Vec<T>),
}

impl<T: Copy + AsRef<[u8]>, const SIZE: usize> Packed<T, SIZE> {
    const IS_PACKED: () = assert!(size_of::<T>() == SIZE && align_of::<T>() == 1);

    pub(crate) fn new(ids: Vec<T>) -> Self {
        let () = Self::IS_PACKED;
        // A vector has at most isize::MAX bytes.
        let (length, size) = (ids.len().cast_signed(), SIZE.cast_signed());
        Self { ids, shape: [length, size], strides: [size, 1] }
    }

    pub(crate) fn ids(&self) -> &[T] {
        &self.ids
    }

    /// The IDs of an index or a slice, as lists have it.
    pub(crate) fn at(&self, index: &Bound<'_, PyAny>) -> PyResult<At<T>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            let span = slice.indices(self.shape[0])?;
            let step =
                |k: usize| self.ids[(span.start + k.cast_signed() * span.step).cast_unsigned()];
            return Ok(At::Many((0..span.slicelength).map(step).collect()));
        }
        let found = Whole::of(index)?
            .to::<isize>()
            .and_then(|index| self.ids.get(self.position_of(index)?));
        found.map(|id| At::One(*id)).ok_or_else(|| PyIndexError::new_err("index out of range"))
    }

    /// Counts negative indices from the end.
    fn position_of(&self, index: isize) -> Option<usize> {
        if index < 0 {
            self.ids.len().checked_add_signed(index)
        } else {
            usize::try_from(index).ok()
        }
    }

    /// Fills `view` with a read-only table of bytes, a row an ID.
    ///
    /// # Safety
    /// `view` may be written, and `owner` owns `self`, which never changes.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn export(
        &self,
        owner: &Bound<'_, PyAny>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let asks = |flag: c_int| flags & flag == flag;
        let refusal = if asks(ffi::PyBUF_WRITABLE) {
            Some("expected a read-only request, found a writable one")
        } else if asks(ffi::PyBUF_F_CONTIGUOUS) && self.ids.len() > 1 {
            Some("expected a C-contiguous request, found a Fortran one")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return Err(PyBufferError::new_err(refusal));
        }
        let table = asks(ffi::PyBUF_ND);
        let or_null = |wanted: bool, numbers: &[ffi::Py_ssize_t; 2]| {
            if wanted { numbers.as_ptr().cast_mut() } else { ptr::null_mut() }
        };
        let filled = ffi::Py_buffer {
            buf: self.ids.as_ptr().cast_mut().cast::<c_void>(),
            obj: owner.clone().into_ptr(),
            len: self.shape[0] * self.shape[1],
            itemsize: 1,
            readonly: 1,
            ndim: if table { 2 } else { 1 },
            format: if asks(ffi::PyBUF_FORMAT) {
                c"B".as_ptr().cast_mut()
            } else {
                ptr::null_mut::<c_char>()
            },
            shape: or_null(table, &self.shape),
            strides: or_null(asks(ffi::PyBUF_STRIDES), &self.strides),
            suboffsets: ptr::null_mut(),
            internal: ptr::null_mut(),
        };
        // SAFETY: the caller says that `view` may be written. `obj` keeps the owner, and so the IDs, the shape and the strides,
        // alive and in place until the view is released; `IS_PACKED` makes the IDs `len` bytes.
        unsafe { view.write(filled) };
        Ok(())
    }
}

/// Python's own iterator over a sequence.
#[allow(unsafe_code)]
pub(crate) fn iterate<'py, T>(sequence: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `sequence` is alive, and the call gives a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(sequence.py(), ffi::PySeqIter_New(sequence.as_ptr())) }
}

/// A vector of `count` IDs to be filled; refused, not aborted, where memory is short.
pub(crate) fn room_for<T: Copy>(count: usize, blank: T) -> PyResult<Vec<T>> {
    let mut ids = Vec::new();
    ids.try_reserve_exact(count).map_err(|_| pyo3::exceptions::PyMemoryError::new_err(()))?;
    ids.resize(count, blank);
    Ok(ids)
}
