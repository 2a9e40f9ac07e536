//! Indices into arrays of IDs, and the members that all arrays and columns share.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use polyflake_columns::{Packed, Plain, arrow::Column};
use pyo3::{
    PyClass,
    exceptions::{PyBufferError, PyIndexError},
    ffi, intern,
    prelude::*,
    pyclass::boolean_struct::True,
    types::{PyDict, PyMemoryView, PySlice},
};

use super::{
    convert::Whole,
    fields::Mask,
    memory::{fault, room},
};

/// The result of an index or a slice.
pub(crate) enum At<T> {
    One(T),
    Many(Vec<T>),
}

/// The items of an index, of a slice as for lists, or of a mask.
pub(crate) fn at<T: Copy>(items: &[T], index: &Bound<'_, PyAny>) -> PyResult<At<T>> {
    if let Ok(mask) = index.cast::<Mask>() {
        return mask.get().mask().choose(items).map(At::Many).map_err(fault);
    }
    Ok(match positions(index, items.len())? {
        At::One(position) => At::One(items[position]),
        At::Many(positions) => {
            let mut chosen = room(positions.len())?;
            chosen.extend(positions.into_iter().map(|position| items[position]));
            At::Many(chosen)
        }
    })
}

/// Positions of the items of an index, a slice or a mask, in `length` items.
pub(crate) fn positions(index: &Bound<'_, PyAny>, length: usize) -> PyResult<At<usize>> {
    if let Ok(mask) = index.cast::<Mask>() {
        return mask.get().mask().positions(length).map(At::Many).map_err(fault);
    }
    if let Ok(slice) = index.cast::<PySlice>() {
        let span = slice.indices(length.cast_signed())?;
        let step = |k: usize| (span.start + k.cast_signed() * span.step).cast_unsigned();
        let mut positions = room(span.slicelength)?;
        positions.extend((0..span.slicelength).map(step));
        return Ok(At::Many(positions));
    }
    let whole = Whole::among(index, "int, slice or Mask", "index")?;
    let found = whole.to::<isize>().and_then(|index| position_of(index, length));
    found.map(At::One).ok_or_else(|| PyIndexError::new_err("index out of range"))
}

/// The position of an index; negative ones count from the end.
fn position_of(index: isize, length: usize) -> Option<usize> {
    let position =
        if index < 0 { length.checked_add_signed(index) } else { usize::try_from(index).ok() };
    position.filter(|position| *position < length)
}

/// Memory that is exported as a buffer, read-only.
pub(crate) struct Memory<'a> {
    start: *const c_void,
    format: &'static CStr,
    shape: &'a [isize; 2],
    strides: &'a [isize; 2],
    is_table: bool,
}

impl<'a, T: Plain> From<&'a Packed<T>> for Memory<'a> {
    fn from(packed: &'a Packed<T>) -> Self {
        Self {
            start: packed.items().as_ptr().cast(),
            format: T::FORMAT,
            shape: packed.shape(),
            strides: packed.strides(),
            is_table: packed.is_table(),
        }
    }
}

/// An array or a column, which NumPy and Arrow see without a copy.
pub(crate) trait Columnar: PyClass<Frozen = True> + Sync {
    /// Arrow's type of it.
    fn format(&self) -> String;

    /// The Arrow column of it.
    fn column(&self, py: Python<'_>) -> PyResult<Column>;

    /// The memory of it, which never changes.
    fn memory(&self, py: Python<'_>) -> PyResult<Memory<'_>>;
}

/// Implements [`Columnar`] for classes around one [`Packed`].
macro_rules! packs {
    ($($class:ty)*) => {$(
        impl $crate::ids::array::Columnar for $class {
            fn format(&self) -> String {
                self.0.arrow_format()
            }

            fn column(&self, _: pyo3::Python<'_>) -> pyo3::PyResult<polyflake_columns::arrow::Column> {
                Ok(self.0.to_arrow())
            }

            fn memory(&self, _: pyo3::Python<'_>) -> pyo3::PyResult<$crate::ids::array::Memory<'_>> {
                Ok((&self.0).into())
            }
        }
    )*};
}
pub(crate) use packs;

/// Defines the members that classes have as sequences, buffers and Arrow columns.
macro_rules! columnar {
    ($($class:ty)*) => {$(
        #[allow(unsafe_op_in_unsafe_fn, reason = "PyO3's own code, around a method of a macro")]
        const _: () = {
            use pyo3::prelude::*;
            use $crate::{arrow, ids::array::{self, Columnar}};

            #[pymethods]
            impl $class {
                fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                    array::iterate(slf)
                }

                fn __arrow_c_schema__<'py>(
                    &self,
                    py: Python<'py>,
                ) -> PyResult<Bound<'py, pyo3::types::PyCapsule>> {
                    arrow::schema(py, &self.format())
                }

                #[pyo3(signature = (requested_schema = None))]
                fn __arrow_c_array__<'py>(
                    &self,
                    py: Python<'py>,
                    requested_schema: Option<&Bound<'py, PyAny>>,
                ) -> PyResult<arrow::Capsules<'py>> {
                    let _ = requested_schema; // only a hint: there is one representation
                    arrow::export(py, self.column(py)?)
                }

                #[allow(unsafe_code)]
                unsafe fn __getbuffer__(
                    slf: &Bound<'_, Self>,
                    view: *mut pyo3::ffi::Py_buffer,
                    flags: std::ffi::c_int,
                ) -> PyResult<()> {
                    // SAFETY: Python calls this to have `view` filled.
                    unsafe { array::fill(slf, view, flags) }
                }
            }
        };
    )*};
}
pub(crate) use columnar;

/// Fills `view` with the memory of a column.
///
/// # Safety
/// `view` may be written.
#[allow(unsafe_code)]
pub(crate) unsafe fn fill<T: Columnar>(
    owner: &Bound<'_, T>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let memory = owner.get().memory(owner.py())?;
    let asks = |flag: c_int| flags & flag == flag;
    let refusal = if asks(ffi::PyBUF_WRITABLE) {
        Some("expected a read-only request, found a writable one")
    } else if asks(ffi::PyBUF_F_CONTIGUOUS) && memory.is_table && memory.shape[0] > 1 {
        Some("expected a C-contiguous request, found a Fortran one")
    } else {
        None
    };
    if let Some(refusal) = refusal {
        return Err(PyBufferError::new_err(refusal));
    }
    let has_shape = asks(ffi::PyBUF_ND);
    let or_null = |wanted: bool, numbers: &[ffi::Py_ssize_t; 2]| {
        if wanted { numbers.as_ptr().cast_mut() } else { ptr::null_mut() }
    };
    let filled = ffi::Py_buffer {
        buf: memory.start.cast_mut(),
        obj: owner.clone().into_any().into_ptr(),
        len: memory.shape[0] * memory.strides[0],
        itemsize: memory.strides[1],
        readonly: 1,
        ndim: if has_shape && memory.is_table { 2 } else { 1 },
        format: if asks(ffi::PyBUF_FORMAT) {
            memory.format.as_ptr().cast_mut()
        } else {
            ptr::null_mut::<c_char>()
        },
        shape: or_null(has_shape, memory.shape),
        strides: or_null(asks(ffi::PyBUF_STRIDES), memory.strides),
        suboffsets: ptr::null_mut(),
        internal: ptr::null_mut(),
    };
    // SAFETY: the caller says that `view` may be written. `obj` keeps the owner, and so its memory, shape and strides, alive and in
    // place until the view is released: a `Packed` never moves them while its owner, which is frozen, lives. They are `len` bytes
    // without padding, being `Plain`.
    unsafe { view.write(filled) };
    Ok(())
}

/// The content of an array or column as one argument: integers as Python's own array, whose pickle machines of either byte order can
/// read; everything else as bytes.
pub(crate) fn content<'py, T: Columnar>(array: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let copy = PyMemoryView::from(array.as_any())?.call_method0(intern!(py, "tobytes"))?;
    let memory = array.get().memory(py)?;
    let is_integers =
        !memory.is_table && matches!(memory.format.to_bytes(), b"q" | b"I" | b"H" | b"B");
    if !is_integers {
        return Ok(copy);
    }
    let code = memory.format.to_string_lossy();
    py.import("array")?.getattr(intern!(py, "array"))?.call1((code, copy))
}

/// Defines how arrays of one packing are copied and pickled: as their class and its argument.
macro_rules! copied {
    ($($class:ty)*) => {$(
        #[pyo3::pymethods]
        impl $class {
            fn __reduce__<'py>(
                slf: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<(pyo3::Bound<'py, pyo3::types::PyType>, (pyo3::Bound<'py, pyo3::PyAny>,))> {
                Ok((pyo3::types::PyAnyMethods::get_type(slf.as_any()), ($crate::ids::array::content(slf)?,)))
            }
        }
    )*};
}
pub(crate) use copied;

/// The `NumPy` array of a column, by `__array__`: the column's own memory unless a copy is wanted or needed.
pub(crate) fn to_numpy<'py, T>(
    column: &Bound<'py, T>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = column.py();
    let options = PyDict::new(py);
    options.set_item(intern!(py, "dtype"), dtype)?;
    options.set_item(intern!(py, "copy"), copy)?;
    let view = PyMemoryView::from(column.as_any())?;
    py.import("numpy")?.call_method(intern!(py, "array"), (view,), Some(&options))
}

/// Python's own iterator over a sequence.
#[allow(unsafe_code)]
pub(crate) fn iterate<'py, T>(sequence: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `sequence` is alive, and the call gives a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(sequence.py(), ffi::PySeqIter_New(sequence.as_ptr())) }
}

/// Prefixes of a format whose cells are in the machine's own byte order.
pub(super) const NATIVE: [char; 3] =
    ['@', '=', if cfg!(target_endian = "little") { '<' } else { '>' }];
