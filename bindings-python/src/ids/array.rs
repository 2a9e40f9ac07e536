//! Many IDs of one size, packed: the code that the array classes of all families share.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::Arc,
};

use pyo3::{
    exceptions::{PyBufferError, PyIndexError},
    ffi, intern,
    prelude::*,
    types::{PyCapsule, PyDict, PyMemoryView, PySlice},
};

use super::{
    column::Chars,
    convert::Whole,
    fields::Mask,
    memory::{Kept, Spare, room},
};
use crate::arrow::export::{self, Capsules, Column};

/// A type whose memory is cells of one kind, and for which zero bytes are a value. Only [`plain`] implements it, for types
/// that are transparent around bytes or one integer.
pub(crate) trait Plain: Copy + 'static {
    /// Python's format of a cell.
    const FORMAT: &CStr;
    /// Bytes of a cell.
    const CELL: usize;
    /// Arrow's format of a column of these cells; empty if there is none.
    const ARROW: &str;
    /// Unused memory for values of this type.
    fn spare() -> &'static Spare<Self>;
}

/// Kinds of cells: the format, the bytes and the Arrow format of one.
macro_rules! plain {
    ($($type:ty: $format:literal, $cell:literal, $arrow:literal;)*) => {$(
        impl $crate::ids::array::Plain for $type {
            const FORMAT: &std::ffi::CStr = $format;
            const CELL: usize = $cell;
            const ARROW: &str = $arrow;
            fn spare() -> &'static $crate::ids::memory::Spare<Self> {
                static SPARE: $crate::ids::memory::Spare<$type> =
                    $crate::ids::memory::Spare::new(Vec::new());
                &SPARE
            }
        }
    )*};
}
pub(crate) use plain;

plain! {
    Chars: c"16s", 16, "";
    bool: c"?", 1, "";
    u8: c"B", 1, "C";
    u16: c"H", 2, "S";
    i32: c"i", 4, "i";
    i64: c"q", 8, "l";
}

/// IDs in one piece of memory: a table of bytes with a row for each ID, or a list of integers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Packed<T: Plain> {
    /// Shared, since exported Arrow arrays keep the memory alive without Python.
    ids: Arc<Kept<T>>,
    /// For exporting: rows, and cells of a row. They must live as long as the IDs.
    shape: [ffi::Py_ssize_t; 2],
    strides: [ffi::Py_ssize_t; 2],
    /// `true` for a table of cells, `false` for a list.
    is_table: bool,
}

/// The result of an index or a slice.
pub(crate) enum At<T> {
    One(T),
    Many(Vec<T>),
}

impl<T: Plain> Packed<T> {
    /// An array with one item for each ID.
    pub(crate) fn new(ids: Vec<T>) -> Self {
        Self { is_table: T::CELL < size_of::<T>(), ..Self::in_rows(ids, 1) }
    }

    /// An array with `items` items for each ID; `ids` is a whole number of IDs.
    pub(crate) fn in_rows(ids: Vec<T>, items: usize) -> Self {
        let (rows, columns) = (ids.len() / items, items * size_of::<T>() / T::CELL);
        // A vector has at most isize::MAX bytes.
        let [rows, columns, cell] = [rows, columns, T::CELL].map(usize::cast_signed);
        Self {
            ids: Arc::new(ids.into()),
            shape: [rows, columns],
            strides: [columns * cell, cell],
            is_table: true,
        }
    }

    /// All items.
    pub(crate) fn ids(&self) -> &[T] {
        &self.ids
    }

    /// All items, as a shared owner of them.
    pub(crate) fn shared(&self) -> Arc<Kept<T>> {
        self.ids.clone()
    }

    /// Number of IDs.
    pub(crate) fn len(&self) -> usize {
        self.shape[0].cast_unsigned()
    }

    /// Number of items in an ID.
    pub(crate) fn width(&self) -> usize {
        self.strides[0].cast_unsigned() / size_of::<T>()
    }

    /// The items of one ID.
    pub(crate) fn row(&self, position: usize) -> &[T] {
        &self.ids[position * self.width()..][..self.width()]
    }

    /// Some of the IDs.
    pub(crate) fn rows(&self, positions: &[usize]) -> PyResult<Self> {
        let mut items = room(positions.len() * self.width())?;
        positions.iter().for_each(|position| items.extend_from_slice(self.row(*position)));
        Ok(Self::in_rows(items, self.width()))
    }

    /// Arrow's format of the IDs: numbers, or bytes of one length.
    fn arrow_format(&self) -> String {
        if self.is_table { format!("w:{}", self.strides[0]) } else { T::ARROW.to_owned() }
    }

    /// Arrow's type of the IDs.
    pub(crate) fn arrow_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::capsule(py, export::schema(self.arrow_format())?)
    }

    /// The IDs, as an Arrow column.
    pub(crate) fn arrow_array<'py>(&self, py: Python<'py>) -> PyResult<Capsules<'py>>
    where
        T: Send + Sync + 'static,
    {
        let column = Column {
            format: self.arrow_format(),
            length: self.len(),
            buffers: vec![self.ids.as_ptr().cast()],
            owner: self.ids.clone(),
        };
        column.export(py)
    }

    /// The IDs of an index, of a slice as for lists, or of a mask.
    pub(crate) fn at(&self, index: &Bound<'_, PyAny>) -> PyResult<At<T>> {
        at(&self.ids, index)
    }

    /// Positions of the IDs of an index or a slice.
    pub(crate) fn positions(&self, index: &Bound<'_, PyAny>) -> PyResult<At<usize>> {
        positions(index, self.len())
    }

    /// Fills `view` with the IDs, read-only.
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
        } else if asks(ffi::PyBUF_F_CONTIGUOUS) && self.is_table && self.shape[0] > 1 {
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
            buf: self.ids.as_ptr().cast_mut().cast::<c_void>(),
            obj: owner.clone().into_ptr(),
            len: self.shape[0] * self.strides[0],
            itemsize: self.strides[1],
            readonly: 1,
            ndim: if has_shape && self.is_table { 2 } else { 1 },
            format: if asks(ffi::PyBUF_FORMAT) {
                T::FORMAT.as_ptr().cast_mut()
            } else {
                ptr::null_mut::<c_char>()
            },
            shape: or_null(has_shape, &self.shape),
            strides: or_null(asks(ffi::PyBUF_STRIDES), &self.strides),
            suboffsets: ptr::null_mut(),
            internal: ptr::null_mut(),
        };
        // SAFETY: the caller says that `view` may be written. `obj` keeps the owner, and so the IDs, the shape and the strides,
        // alive and in place until the view is released; the IDs are `len` bytes without padding, being `Plain`.
        unsafe { view.write(filled) };
        Ok(())
    }
}

/// The items of an index, of a slice as for lists, or of a mask.
pub(crate) fn at<T: Copy>(items: &[T], index: &Bound<'_, PyAny>) -> PyResult<At<T>> {
    if let Ok(mask) = index.cast::<Mask>() {
        return mask.get().choose(items).map(At::Many);
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
        return mask.get().positions(length).map(At::Many);
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

/// A copy of integers as Python's own array, whose pickle machines of either byte order can read.
pub(crate) fn portable<'py, T>(integers: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    let py = integers.py();
    let copy = PyMemoryView::from(integers.as_any())?.call_method0(intern!(py, "tobytes"))?;
    py.import("array")?.getattr(intern!(py, "array"))?.call1(("q", copy))
}
